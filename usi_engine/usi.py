"""The USI loop: a thread reads lines and hands them in; the session carries them out."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO

from usi_engine import protocol
from usi_engine.core import Core, load_core
from usi_engine.output import Writer
from usi_engine.protocol import Go, GoMate, Quit, decode, parse
from usi_engine.session import Leave, Load, Session

# These need neither the core nor its weights.
LIGHT = (protocol.Usi, protocol.SetOption, protocol.GetOption, protocol.Ignored, protocol.Problem, Quit)


def serve(source: BinaryIO, writer: Writer, load: Callable[[], Core] = load_core) -> None:
    """Speak USI with whoever is at the other end until quit or the end of input."""
    session = Session(writer, load)
    threading.Thread(target=read, args=(source, session), name="reader", daemon=True).start()
    session.run()


def read(source: BinaryIO, session: Session) -> None:
    """Hand in every line until quit; the end of input, or an input that fails, means quit.

    No other thread may be the first to load numpy: on Windows its libraries look at standard input while they are
    loaded, and that waits until a read that waits there has got something (numpy's issue 24290): a GUI that waits for
    `readyok` would wait for ever. So it is loaded here, between two reads, before the first command that may need it.
    """
    try:
        while line := source.readline():
            command = parse(decode(line))
            if not isinstance(command, LIGHT):
                load_numpy()
            session.post(command)
            if isinstance(command, Quit):
                return
    except (OSError, ValueError):
        pass
    session.post(Quit())


def load_numpy() -> None:
    """Have it imported; whoever needs it says if it is missing."""
    with suppress(ImportError):
        import numpy  # noqa: F401, PLC0415  (`usi` is answered without it)


def carry_out(commands: list[str], writer: Writer, load: Callable[[], Core] = load_core) -> None:
    """Carry out these commands, one after the other, and return when all are done; loading is on nobody's clock."""
    session = Session(writer, load)
    for command in map(parse, commands):
        if isinstance(command, (Go, GoMate)):
            session.post(Load())
        session.post(command)
    session.post(Leave())
    session.run()
