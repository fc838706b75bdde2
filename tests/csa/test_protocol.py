"""The protocol's text, lines to events; the connection: keep-alive, silence, text in pieces."""

import contextlib
import queue
import time
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import pytest

from tests.csa.server import START_POSITION, Script, Server, Talk, summary
from tests.positions import described, described_rows
from usi_engine import language
from usi_engine.clock import LONGEST_MS, TimeControl
from usi_engine.csa import protocol
from usi_engine.csa.connection import MOST_EVENTS, Connection, Cut
from usi_engine.csa.protocol import Event, LoggedIn, Reader, Started


def moved(csa: str, units: str) -> protocol.MoveMade:
    return protocol.MoveMade(csa, Decimal(units))


@pytest.mark.parametrize(("line", "event"), described_rows("csa_lines.jsonl"))
def test_events(line: str, event: dict[str, Any] | None) -> None:
    reader = protocol.Reader()
    assert reader.feed("") is None
    assert described(reader.feed(line)) == event


def read(text: str) -> protocol.Event | None:
    """Return the event of the last line; the lines before it complete none."""
    reader = protocol.Reader()
    *lines, last = text.splitlines()
    assert [reader.feed(line) for line in lines] == [None] * len(lines)
    return reader.feed(last)


def test_summary() -> None:
    event = read(summary("id", "-", position=START_POSITION + "\n+7776FU,T3\n-3334FU,T4"))
    assert isinstance(event, protocol.GameSummary)
    assert (event.game_id, event.side, event.names) == ("id", 1, ("them", "us"))
    assert event.position == tuple(START_POSITION.splitlines())
    assert event.moves == (moved("+7776FU", "3"), moved("-3334FU", "4"))
    assert event.max_moves == 256
    assert event.controls == (TimeControl(10_000, 0, 2000),) * 2


def test_times_of_each_player_and_units() -> None:
    own = "Total_Time:10\nEND Time\nBEGIN Time-\nTime_Unit:100msec\nTotal_Time:50"
    event = read(summary(time=own))
    assert isinstance(event, protocol.GameSummary)
    assert (event.controls, event.units) == ((TimeControl(10_000), TimeControl(5000)), (1000, 100))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("Your_Turn:+", "Your_Turn:", "Your_Turn is '', neither + nor -"),
        ("Time_Unit:1sec", "Time_Unit:1hour", "Time_Unit is '1hour', not a number of msec, sec or min"),
        ("Time_Unit:1sec", "Time_Unit:0sec", "Time_Unit is '0sec', not a number of msec, sec or min"),
        ("Total_Time:10", "Total_Time:-10", "Total_Time is '-10', not a number"),
        ("Time_Unit:1sec", "Time_Unit:999999999sec", "a time of more than 2147483 seconds"),
        ("Increment:2", "Increment:99999999999", "a time of more than 2147483 seconds"),
    ],
)
def test_bad_summary(old: str, new: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason is in the language of messages."""
    broken = summary("id").replace(old, new)
    assert read(broken) == protocol.BadSummary("id", reason)
    monkeypatch.setattr(language, "_translate", "{} (translated)".format)
    translated = read(broken)
    assert isinstance(translated, protocol.BadSummary) and translated.reason == f"{reason} (translated)"


def test_huge_numbers() -> None:
    """Engines count milliseconds in 32 bits."""
    event = read(summary(limits=f"Max_Moves:{10**11}").replace("1sec", "1min"))
    assert isinstance(event, protocol.GameSummary) and event.max_moves == protocol.MOST_MOVES
    assert event.milliseconds(Decimal("999999999.5"), 0) == LONGEST_MS


@pytest.mark.parametrize(
    ("unit", "units", "milliseconds"), [("1sec", "3.5", 3500), ("1msec", "250", 250), ("1min", "0.5", 30_000),
                                        ("100msec", "2.25", 225), ("sec", "12", 12_000)]
)  # fmt: skip
def test_units_of_time(unit: str, units: str, milliseconds: int) -> None:
    """A time may have a fraction."""
    event = read(summary().replace("1sec", unit))
    assert isinstance(event, protocol.GameSummary)
    assert event.milliseconds(Decimal(units), 1) == milliseconds


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
