"""The protocol's text: lines to events, commands to lines, clocks."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.csa.server import START_POSITION, summary
from tests.positions import described, described_rows
from usi_engine import language
from usi_engine.clock import LONGEST_MS, TimeControl
from usi_engine.csa import protocol


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
