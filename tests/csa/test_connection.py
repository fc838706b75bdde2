"""The connection: keep-alive, a server that falls silent, text in pieces."""

from __future__ import annotations

import contextlib
import queue
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.csa.server import Script, Server, Talk
from usi_engine.csa.connection import MOST_EVENTS, Connection, Cut
from usi_engine.csa.protocol import Event, LoggedIn, Reader, Started

KEEP_ALIVE = 0.1


class Line:
    """A connection to a server, and its events."""

    def __init__(self, server: Server, keep_alive: float) -> None:
        self.events: queue.Queue[Event | Cut] = queue.Queue()
        address = ("127.0.0.1", server.port)
        self.connection = Connection(address, lambda _, event: self.events.put(event), keep_alive, print)

    def next(self) -> Event | Cut:
        """Return the next event; keep the connection alive until then."""
        for _ in range(400):
            self.connection.tick()
            try:
                return self.events.get(timeout=0.05)
            except queue.Empty:
                continue
        raise AssertionError("no event")


@contextmanager
def line_to(script: Script, keep_alive: float = KEEP_ALIVE) -> Iterator[Line]:
    server = Server(script)
    line = Line(server, keep_alive)
    yield line
    line.connection.close()
    server.finish()


def test_empty_lines_keep_it_alive() -> None:
    """An empty line is sent after each silence, even if the server never answers."""
    gaps = []

    def script(talk: Talk) -> None:
        begun = time.monotonic()
        for _ in range(8):
            assert talk.raw_line() == "\n"
            gaps.append(time.monotonic() - begun)
            begun = time.monotonic()
        talk.send("START:id")

    with line_to(script) as line:
        assert line.next() == Started("id")
    assert sum(gaps) > 8 * KEEP_ALIVE * 0.8  # a late line shortens the next gap


def test_pieces_and_line_ends() -> None:
    """Lines may come in pieces, with CR LF, and with bytes that are not UTF-8; a line without meaning is no event."""

    def script(talk: Talk) -> None:
        for piece in (b"LOGIN:", b"us OK\r", b"\n##\xff\nSTART:id\n"):
            talk.send_bytes(piece)
            time.sleep(0.02)

    with line_to(script, 60) as line:
        assert [line.next(), line.next(), line.next()] == [LoggedIn("us"), Started("id"), Cut()]


def test_an_error_of_the_reading_thread_is_the_last_event(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(reader: Reader, text: str) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr(Reader, "feed", fail)
    with line_to(lambda talk: talk.send("hello"), 60) as line:
        assert line.next() == Cut("MemoryError: no room")


def test_events_that_nobody_takes() -> None:
    """The thread stops reading at a limit, and goes on when events are taken; closing does not wait for that."""

    def script(talk: Talk) -> None:
        with contextlib.suppress(ConnectionError):
            talk.send(*["START:id"] * (2 * MOST_EVENTS))

    with line_to(script, 60) as line:
        while line.events.qsize() < MOST_EVENTS:
            line.connection.tick()
            time.sleep(0.01)
        time.sleep(0.1)
        assert line.events.qsize() == MOST_EVENTS
        line.next()
        line.connection.taken()
        while line.events.qsize() < MOST_EVENTS:
            time.sleep(0.01)
