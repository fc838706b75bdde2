"""The USI loop: a thread reads lines and hands them in; the session carries them out."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import BinaryIO

from usi_engine.core import Core, load_core
from usi_engine.output import Writer
from usi_engine.protocol import Go, GoMate, Quit, decode, parse
from usi_engine.session import Leave, Load, Session


def serve(source: BinaryIO, writer: Writer, load: Callable[[], Core] = load_core) -> None:
    """Speak USI with whoever is at the other end until quit or the end of input."""
    session = Session(writer, load)
    threading.Thread(target=read, args=(source, session), name="reader", daemon=True).start()
    session.run()


def read(source: BinaryIO, session: Session) -> None:
    """Hand in every line until quit; the end of input, or an input that fails, means quit."""
    try:
        while line := source.readline():
            command = parse(decode(line))
            session.post(command)
            if isinstance(command, Quit):
                return
    except (OSError, ValueError):
        pass
    session.post(Quit())


def carry_out(commands: list[str], writer: Writer, load: Callable[[], Core] = load_core) -> None:
    """Carry out these commands, one after the other, and return when all are done; loading is on nobody's clock."""
    session = Session(writer, load)
    for command in map(parse, commands):
        if isinstance(command, (Go, GoMate)):
            session.post(Load())
        session.post(command)
    session.post(Leave())
    session.run()
