"""The program `usi_engine`: speaks USI without arguments, otherwise runs them as commands."""

from __future__ import annotations

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
from usi_engine.core import Core, CoreError, board_after, build_in_words, load_core
from usi_engine.game.loop import carry_out, serve
from usi_engine.usi.output import Writer, escaped
from usi_engine.usi.protocol import COMMAND_WORDS, Ignored, Malformed, SetPosition, parse

# Commands with a module of their own, imported only when called: play does not need them.
TOOLS = {
    "analyze": "usi_engine.analysis.analyze",
    "analyse": "usi_engine.analysis.analyze",
    "convert": "usi_engine.records.convert",
    "suite": "usi_engine.analysis.suite",
    "csa": "usi_engine.csa.command",
    "play": "usi_engine.play.command",
    "mate": "usi_engine.mate_tool.command",
    "book": "usi_engine.book_tool.command",
}
# Exit statuses.
WRONG_ARGUMENTS, INTERRUPTED = 2, 130
# Errors of a write to a pipe that its reader has closed.
PIPE_CLOSED = (errno.EPIPE, errno.EINVAL) if os.name == "nt" else (errno.EPIPE,)
HELP = f"""{NAME} {__version__}, a shogi engine for USI programs.

usi_engine                    speak USI on standard input and output (what a GUI starts)
usi_engine COMMAND ...        carry out commands, e.g. usi_engine perft 5, or
                              usi_engine position startpos moves 7g7f go depth 10, or each in quotes
usi_engine play               play a game here, in the terminal; --help lists levels, handicaps, clocks
usi_engine mate WHAT          find mates in an sfen, a file of sfens, a game record, or - (standard input)
usi_engine learn --help       train the evaluation from games
usi_engine csa --help         play on a CSA server such as floodgate
usi_engine analyze GAME ...   analyse game records; --kif FILE and --html FILE write the results
usi_engine convert GAME ...   convert game records: KIF, KI2, CSA, JKF, USI
usi_engine suite FILE         search positions whose best move is known
usi_engine book build ...     make an opening book from games or by search; book show SFEN
usi_engine --where            the path to register in a GUI
usi_engine --version, --help

Commands besides those of USI:
  d, sfen, key, side          the position
  moves, checks               its legal moves, those that give check
  eval                        its static value
  perft N                     number of leaf nodes at depth N
  bench [DEPTH] [MEGABYTES]   nodes and speed over fixed positions
  getoption [NAME]            current values of the options
  help                        a list for a person who types USI

Ctrl-C ends the search of a COMMAND with its bestmove."""
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


def commands_of(arguments: list[str]) -> list[str]:
    """Split arguments into commands. One argument may be a whole command, in quotes."""
    commands: list[list[str]] = []
    whole = True
    for argument in arguments:
        words = argument.split(" ")
        if whole or begins_command(words[0], commands[-1]):
            commands.append([])
            whole = len(words) > 1
        commands[-1] += words
    return [" ".join(words) for words in commands]


def begins_command(word: str, before: list[str]) -> bool:
    """Return whether a word begins a new command after `before`; `sfen` and `moves` may belong to a `position`."""
    if before[0] == "setoption" or word not in COMMAND_WORDS:
        return False
    if before[0] == "position":
        return not (word == "sfen" and len(before) == 1) and not (word == "moves" and "moves" not in before)
    return True


def fault_in(commands: list[str]) -> str | None:
    """Return the fault of the first bad command; None if all are good."""
    for command in commands:
        parsed = parse(command)
        if isinstance(parsed, Malformed):
            return parsed.text
        if isinstance(parsed, SetPosition) and not parsed.sfen:
            return f"give a position, `startpos` or `sfen ...`, not '{command}'"
        if isinstance(parsed, Ignored):
            return f"unknown command '{command}'"
    return None


def refused_position(commands: list[str], core: Core) -> str | None:
    """Return why the first bad position is refused; None if all are legal."""
    for parsed in map(parse, commands):
        if isinstance(parsed, SetPosition):
            try:
                board_after(core, parsed.sfen, parsed.moves)
            except ValueError as error:
                return f"position refused: {error}"
    return None


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
        # An optional library, or a module that the folder without Python lacks.
        except ModuleNotFoundError as error:
            print(f"this installation lacks '{error.name}', which the command needs", file=sys.stderr)
            return 1
        finally:  # also if a help text exits by SystemExit
            sys.stdout.flush()
    except OSError as error:
        if error.errno not in PIPE_CLOSED:
            raise
        os._exit(1)


def _run(arguments: list[str]) -> int:
    if arguments[:1] in (["--help"], ["-h"]):
        print(HELP)
    elif arguments[:1] == ["--version"]:
        print(f"{NAME} {__version__} ({build_in_words()})")
    elif arguments[:1] == ["--where"]:
        replace_missing_letters()
        print(where())
    elif arguments[:1] == ["learn"]:
        return _learn(arguments[1:])
    elif arguments and arguments[0] in TOOLS:
        return _tool(arguments)
    elif arguments:
        return _carry_out(arguments)
    else:
        _serve_standard_streams()
    return 0


def _learn(arguments: list[str]) -> int:
    from usi_engine.learn.command import main as learn  # noqa: PLC0415  (not needed in play)

    replace_missing_letters()
    # Raise an exception, as Ctrl-C does, so that temporary files are removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    return learn(arguments)


def _tool(arguments: list[str]) -> int:
    replace_missing_letters()
    status: int = import_module(TOOLS[arguments[0]]).main(arguments[1:])
    return status


def _carry_out(arguments: list[str]) -> int:
    commands = commands_of(arguments)
    fault = fault_in(commands)
    if fault:
        print(f"{escaped(fault)}; usi_engine --help lists the commands", file=sys.stderr)
        return WRONG_ARGUMENTS
    try:
        fault = refused_position(commands, load_core())
    except CoreError as error:
        print(error)
        return 1
    if fault:
        print(escaped(fault), file=sys.stderr)
        return WRONG_ARGUMENTS
    writer = Writer(sys.stdout.buffer)
    status = 0 if carry_out(commands, writer) else INTERRUPTED
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
