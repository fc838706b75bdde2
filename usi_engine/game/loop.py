"""The USI loop: one thread reads lines and posts commands, the session carries them out."""

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO

from usi_engine.core import Core, load_core
from usi_engine.game.session import Internal, Session, kind_of
from usi_engine.usi.output import Writer
from usi_engine.usi.protocol import GetOption, Go, GoMate, Malformed, SetOption, Word, decode, parse
from usi_engine.waiting import run_interruptibly

# Commands that need neither the core nor the evaluation.
LIGHT = {Word.USI, Word.HELP, Word.NONE, Word.QUIT, SetOption, GetOption, Malformed}

# Bytes read as one line; the rest counts as another line. A game of 100,000 moves takes half a million.
LONGEST_LINE = 1 << 22


def serve(source: BinaryIO, writer: Writer, load: Callable[[], Core] = load_core) -> None:
    """Speak USI on these streams until quit or the end of input."""
    session = Session(writer, load)
    unknown = writer.info if source.isatty() else None
    threading.Thread(target=read, args=(source, session, unknown), name="reader", daemon=True).start()
    session.run()


def read(source: BinaryIO, session: Session, unknown: Callable[[str], None] | None = None) -> None:
    """Post a command per line until quit; the end of input, or an error, means quit.

    `unknown` is called for each unknown command if a person types them; those of a GUI are ignored, as USI requires.

    On Windows numpy is imported here, between two reads, before the first command that may need it: its libraries
    access standard input while they load, which blocks while another thread reads from it (numpy's issue 24290), and a
    GUI would wait for `readyok` for ever. Elsewhere KPP weights import numpy when they are loaded.
    """
    try:
        while line := source.readline(LONGEST_LINE):
            command = parse(decode(line))
            if command is Word.QUIT:
                return
            if sys.platform == "win32" and kind_of(command) not in LIGHT:
                load_numpy()
            session.post(command)
            if unknown and command is Word.NONE and line.strip():
                unknown(f"unknown command '{decode(line)}'; help lists them")
    except (OSError, ValueError):
        pass
    finally:
        session.post(Word.QUIT)


def load_numpy() -> None:
    """Import numpy; its users report it if it is missing.

    Its linear algebra, which play does not use, would start a thread and keep memory for each processor.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with suppress(ImportError):
        import numpy  # noqa: F401, PLC0415  (`usi` is answered without it)


def carry_out(commands: list[str], writer: Writer, load: Callable[[], Core] = load_core) -> bool:
    """Carry out commands one after the other and return when all are done; no clock runs while loading.

    Ctrl-C ends a search with its bestmove; then the result is False.
    """
    session = Session(writer, load)
    for command in map(parse, commands):
        if isinstance(command, (Go, GoMate)):
            session.post(Internal.LOAD)
        session.post(Internal.QUIT_WHEN_DONE if command is Word.QUIT else command)
    session.post(Internal.QUIT_WHEN_DONE)
    try:
        run_interruptibly(session.run, lambda: session.post(Word.QUIT))
    except KeyboardInterrupt:
        return False
    return True
