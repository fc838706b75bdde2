"""The program `usi_engine`: speaks USI without arguments, otherwise runs them as commands."""

import errno
import io
import os
import signal
import sys
import threading
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from usi_engine import NAME, __version__
from usi_engine.core import INTERRUPTED, CoreError, build_in_words, load_core, report
from usi_engine.game.loop import carry_out, serve
from usi_engine.language import _, choose, chosen, reason_of, split_language, text_of
from usi_engine.usi.output import Writer

# Commands with a module of their own, imported only when called: play does not need them.
TOOLS = {
    "analyze": "usi_engine.analysis.analyze",
    "convert": "usi_engine.records.convert",
    "suite": "usi_engine.analysis.suite",
    "csa": "usi_engine.csa.command",
    "play": "usi_engine.play.command",
    "mate": "usi_engine.mate_tool.command",
    "book": "usi_engine.book_tool.command",
    "learn": "usi_engine.learn.command",
    "match": "usi_engine.match.command",
}
BROWSER = {"analyze": "usi_engine.play.analyze"}  # with --browser: the command is a place of the page
SPELLINGS = {"analyse": "analyze"}
CANNOT_RUN = 2  # wrong arguments, or no core for this processor
# Errors of a write to a pipe that its reader has closed.
PIPE_CLOSED = (errno.EPIPE, errno.EINVAL) if os.name == "nt" else (errno.EPIPE,)
HINT = f"{NAME} {__version__} waits for USI commands: help lists them, quit ends. To play: usi_engine play"


def where() -> str:
    """Return the program file that a GUI should start."""
    import shutil  # noqa: PLC0415  (with sysconfig, a tenth of the time to usiok)
    import sysconfig  # noqa: PLC0415

    name = "usi_engine.exe" if os.name == "nt" else "usi_engine"
    started = Path(sys.argv[0])
    if started.name.startswith("usi_engine") and started.is_file():
        return str(started.resolve())
    installed = Path(sysconfig.get_path("scripts")) / name
    return str(installed) if installed.is_file() else shutil.which(name) or f"{sys.executable} -m usi_engine"


def mend_streams() -> None:
    """Replace closed standard streams by empty ones and make the others blocking.

    The program that starts this one may have closed them or made them non-blocking.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="ascii"))  # noqa: SIM115  (open until the end)
        with suppress(OSError, ValueError, AttributeError):  # not a file, or Windows before Python 3.12
            os.set_blocking(getattr(sys, name).fileno(), True)


def replace_missing_letters() -> None:
    """Print a question mark for letters that the encoding lacks: paths, names and moves may be Japanese."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def main() -> int:
    """Run the program; return the exit status."""
    mend_streams()
    try:
        try:
            return _run(sys.argv[1:])
        except CoreError as error:
            report(error)
            return CANNOT_RUN
        except ModuleNotFoundError as error:
            print(lacking(error.name or ""), file=sys.stderr)
            return 1
        except KeyboardInterrupt:  # while the command is loaded
            return INTERRUPTED
        finally:  # also if a help text exits by SystemExit
            sys.stdout.flush()
    except OSError as error:
        if error.errno not in PIPE_CLOSED:
            print(unwritten(error), file=sys.stderr, flush=True)
        os._exit(1)


def unwritten(error: OSError) -> str:
    """Return a message about an error that no command has caught; without a file it is one of standard output."""
    if error.filename is not None:
        return text_of(error)
    return _("cannot write the output: {reason}").format(reason=reason_of(error))


def lacking(module: str) -> str:
    """Return a message about a library, or a part that the folder without Python leaves out."""
    if module.partition(".")[0] in ("usi_engine", "core_ext"):
        return _("this command is not part of this installation; install the whole program with pip: docs/install.md")
    name = module.partition(".")[0]
    return _("this command needs the library '{name}': pip install {name}").format(name=name)


def _run(arguments: list[str]) -> int:
    try:
        language, arguments = split_language(arguments)
    except ValueError as error:
        print(error, file=sys.stderr)
        return CANNOT_RUN
    if arguments:
        choose(language)
    if arguments[:1] in (["--help"], ["-h"]):
        from usi_engine.game.command_line import help_text  # noqa: PLC0415  (not needed in play)

        replace_missing_letters()
        print(help_text())
    elif arguments[:1] == ["--version"]:
        print(f"{NAME} {__version__} ({build_in_words()})")
    elif arguments[:1] == ["--where"]:
        replace_missing_letters()
        print(where())
    elif arguments and (tool := SPELLINGS.get(arguments[0], arguments[0])) in TOOLS:
        return _tool(tool, arguments[1:])
    elif arguments:
        return _carry_out(arguments)
    else:
        _serve_standard_streams()
    return 0


def _tool(name: str, arguments: list[str]) -> int:
    replace_missing_letters()
    load_core()  # which their modules import
    if name in ("learn", "match"):
        # Raise an exception, as Ctrl-C does, so that temporary files are removed.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    module = BROWSER.get(name) if "--browser" in arguments else None
    status: int = import_module(module or TOOLS[name]).main(arguments)
    return status


def _carry_out(arguments: list[str]) -> int:
    from usi_engine.game import command_line  # noqa: PLC0415  (not needed in play)

    commands = command_line.commands_of(arguments)
    if fault := command_line.fault_in(commands, TOOLS) or command_line.refused(commands):
        print(fault, file=sys.stderr)
        return CANNOT_RUN
    language = chosen()
    choose("en")  # USI output is not translated
    writer = Writer(sys.stdout.buffer)
    status = 0 if carry_out(commands, writer) else INTERRUPTED
    if isinstance(writer.fault, OSError) and writer.fault.errno not in PIPE_CLOSED:
        choose(language)
        print(unwritten(writer.fault), file=sys.stderr, flush=True)
        status = 1
    _exit(writer, status)
    return status


def _serve_standard_streams() -> None:
    # Do not read sys.stdin: the interpreter locks it at shutdown, and the reader thread may still be blocked in it.
    with open(sys.stdin.fileno(), "rb", closefd=False) as source:
        writer = Writer(sys.stdout.buffer)
        if source.isatty():
            writer.line(HINT)
        try:
            serve(source, writer)
        except KeyboardInterrupt:
            os._exit(INTERRUPTED)
        _exit(writer)


def _exit(writer: Writer, status: int = 0) -> None:
    # An orderly shutdown would wait for a blocked thread (the reader), and print an error if the output is closed.
    # Nothing is left to save.
    if writer.closed or threading.active_count() > 1:
        os._exit(status)


if __name__ == "__main__":
    sys.exit(main())
