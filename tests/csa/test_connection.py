"""The line: keep-alive, a server that falls silent, text in pieces."""

from __future__ import annotations

import queue
import threading
import time

from tests.csa.server import Server, Talk
from usi_engine.csa.connection import Connection, Cut, TrafficLog
from usi_engine.csa.protocol import Event, LoggedIn, Started

KEEP_ALIVE = 0.1


class Line:
    """A connection to a server, and what it posts."""

    def __init__(self, server: Server, keep_alive: float = KEEP_ALIVE) -> None:
        self.events: queue.Queue[Event | Cut] = queue.Queue()
        address = ("127.0.0.1", server.port)
        self.line = Connection(address, lambda _, event: self.events.put(event), keep_alive, TrafficLog())

    def next(self) -> Event | Cut:
        """The next event; the connection is kept alive meanwhile."""
        for _ in range(400):
            self.line.tick()
            try:
                return self.events.get(timeout=0.05)
            except queue.Empty:
                continue
        raise AssertionError("no event")


def test_empty_lines_keep_it_alive() -> None:
    """After a silence an empty line goes out, and not more often."""
    gaps = []

    def script(talk: Talk) -> None:
        begun = time.monotonic()
        for _ in range(3):
            assert talk.raw_line() == "\n"
            gaps.append(time.monotonic() - begun)
            begun = time.monotonic()
        talk.send("START:id")

    server = Server(script)
    line = Line(server)
    assert line.next() == Started("id")
    line.line.close()
    server.finish()
    assert sum(gaps) > 3 * KEEP_ALIVE * 0.8  # one that comes late shortens the next


def test_server_that_falls_silent() -> None:
    """One that answered empty lines and stops doing so is left."""
    done = threading.Event()

    def script(talk: Talk) -> None:
        assert talk.raw_line() == "\n"
        talk.send("")
        done.wait(20)

    server = Server(script)
    line = Line(server)
    assert line.next() == Cut()
    done.set()
    line.line.close()
    server.finish()


def test_server_that_never_answers_empty_lines() -> None:
    """Its silence means nothing."""

    def script(talk: Talk) -> None:
        for _ in range(8):
            assert talk.raw_line() == "\n"
        talk.send("START:id")

    server = Server(script)
    line = Line(server)
    assert line.next() == Started("id")
    line.line.close()
    server.finish()


def test_pieces_and_line_ends() -> None:
    """Lines may come in pieces, with CR LF, and with bytes that are no UTF-8."""

    def script(talk: Talk) -> None:
        for piece in (b"LOGIN:", b"us OK\r", b"\n##\xff\nSTART:id\n"):
            talk.send_bytes(piece)
            time.sleep(0.02)

    server = Server(script)
    line = Line(server, 60)
    assert [line.next(), line.next(), line.next(), line.next()][0::2] == [LoggedIn("us"), Started("id")]
    line.line.close()
    server.finish()
