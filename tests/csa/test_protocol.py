"""The protocol's text, lines to events; the connection; a game on a server, its moves and its record."""

import contextlib
import errno
import os
import queue
import re
import time
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.csa.conftest import InstantEngine, game_of
from tests.csa.server import START_POSITION, Script, Server, Talk, summary
from tests.positions import described, described_rows
from usi_engine import language
from usi_engine.clock import LONGEST_MS, TimeControl
from usi_engine.csa import protocol
from usi_engine.csa.connection import MOST_EVENTS, Connection, Cut
from usi_engine.csa.game import ServerGame
from usi_engine.csa.protocol import Event, LoggedIn, MoveMade, Reader, Started
from usi_engine.csa.record import RunningRecord, make_stem
from usi_engine.records.games import load_games
from usi_engine.usi.process import Answer, EngineGone


def move_made(csa: str, units: str) -> protocol.MoveMade:
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
    assert event.moves == (move_made("+7776FU", "3"), move_made("-3334FU", "4"))
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


class Line(Connection):
    """A connection to a server with a script, and its events."""

    def __init__(self, script: Script, keep_alive: float = KEEP_ALIVE) -> None:
        self.server, self.events = Server(script), queue.Queue[Event | Cut]()
        address = ("127.0.0.1", self.server.port)
        super().__init__(address, lambda _, event: self.events.put(event), keep_alive, print)

    def next(self) -> Event | Cut:
        """Return the next event; keep the connection alive until then."""
        for _ in range(400):
            self.tick()
            with contextlib.suppress(queue.Empty):
                return self.events.get(timeout=0.05)
        raise AssertionError("no event")

    def close(self) -> None:
        super().close()
        self.server.finish()


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

    with closing(Line(script)) as line:
        assert line.next() == Started("id")
    assert sum(gaps) > 8 * KEEP_ALIVE * 0.8  # a late line shortens the next gap


def test_pieces_and_line_ends() -> None:
    """Lines may come in pieces, with CR LF, and with bytes that are not UTF-8; a line without meaning is no event."""

    def script(talk: Talk) -> None:
        for piece in (b"LOGIN:", b"us OK\r", b"\n##\xff\nSTART:id\n"):
            talk.send_bytes(piece)
            time.sleep(0.02)

    with closing(Line(script, 60)) as line:
        assert [line.next(), line.next(), line.next()] == [LoggedIn("us"), Started("id"), Cut()]


def test_an_error_of_the_reading_thread_is_the_last_event(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(reader: Reader, text: str) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr(Reader, "feed", fail)
    with closing(Line(lambda talk: talk.send("hello"), 60)) as line:
        assert line.next() == Cut("MemoryError: no room")


def test_events_that_nobody_takes() -> None:
    """The thread stops reading at a limit, and goes on when events are taken; closing does not wait for that."""

    def script(talk: Talk) -> None:
        with contextlib.suppress(ConnectionError):
            talk.send(*["START:id"] * (2 * MOST_EVENTS))

    with closing(Line(script, 60)) as line:
        while line.events.qsize() < MOST_EVENTS:
            line.tick()
            time.sleep(0.01)
        time.sleep(0.1)
        assert line.events.qsize() == MOST_EVENTS
        line.next()
        line.taken()
        while line.events.qsize() < MOST_EVENTS:
            time.sleep(0.01)


# ---- games ----

HANDICAP = START_POSITION.replace("P2 * -HI *  *  *  *  * -KA *", "P2 *  *  *  *  *  *  *  *  *")[:-1] + "-"


def moved(*moves: str, position: str = START_POSITION) -> tuple[ServerGame, InstantEngine]:
    """Return a game after these moves, and its engine."""
    engine = InstantEngine(lambda event: None)
    return game_of(*moves, position=position, engine=engine), engine


def test_moves() -> None:
    """Captures with promotion and drops."""
    played, _ = moved("+7776FU", "-3334FU", "+8822UM", "-3122GI", "+0055KA")
    assert played.game.position == "startpos moves 7g7f 3c3d 8h2b+ 3a2b B*5e"
    handicap, _ = moved("-3334FU", position=HANDICAP)
    assert handicap.game.position == "sfen lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1 moves 3c3d"


@pytest.mark.parametrize("csa", ["+7775FU", "-3334FU", "+0055FU", "+7776KI", "+7776XX", "+5958KA"])
def test_illegal_moves(csa: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault is in the language of messages."""
    monkeypatch.setattr(language, "_translate", "{} (translated)".format)
    with pytest.raises(ValueError, match=rf"^illegal move: '{re.escape(csa)}' \(translated\)$"):
        game_of(position=f"{START_POSITION}\n{csa}")
    played, engine = moved(csa)
    assert played.game.moves == [] and not engine.goes


def test_an_engine_that_answers_too_early_searches_again() -> None:
    """It must not answer a search on the opponent's time before the ponderhit, which would then have no answer."""
    engine = InstantEngine(lambda event: None)
    played = game_of(engine=engine, ponder=True)
    played.begin()
    played.handle(Answer(1, "7g7f", "3c3d"))
    played.handle(MoveMade("+7776FU"))
    played.handle(MoveMade("-3334FU"))
    assert engine.goes[1:] == ["7g7f 3c3d ponder", "7g7f 3c3d"]


def test_the_end_of_an_earlier_process_is_ignored() -> None:
    """It was started again between two games."""
    played, engine = moved()
    played.begin()
    played.handle(EngineGone(engine.starts - 1, ""))
    assert len(engine.goes) == 1
    played.handle(EngineGone(engine.starts, ""))
    assert len(engine.goes) == 2


def moves_of(path: Path) -> tuple[str, ...]:
    """Return the moves of a file's only game."""
    return next(iter(load_games(path))).moves


def save(game: ServerGame, folder: Path) -> Path:
    return RunningRecord(game, folder, print).finish()


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("game_id", ["id", ""])
def test_another_game_of_the_same_id_is_kept(tmp_path: Path, game_id: str) -> None:
    """A later game of the same id gets a name of its own, even if it begins with the same moves."""
    first = game_of("+7776FU", game_id=game_id)
    first.finish("unknown", "CUT")
    paths = [save(first, tmp_path)]
    paths += [save(game_of("+7776FU", *more, game_id=game_id), tmp_path) for more in ([], ["-3334FU"], ["-8384FU"])]
    stem = game_id or "game"
    assert names_in(tmp_path) == [f"{stem}-2.csa", f"{stem}-3.csa", f"{stem}-4.csa", f"{stem}.csa"]
    assert [len(moves_of(path)) for path in paths] == [1, 1, 2, 2]


def test_a_resumed_game_replaces_its_first_part(tmp_path: Path) -> None:
    """The record of a game with another end or other moves stays, and that of a game which another client plays."""
    other = game_of("+7776FU")
    other.handle(MoveMade("-3334FU"))
    other.finish("lose", "RESIGN")
    first = game_of("+7776FU", "-3334FU")
    first.finish("unknown", "CUT")
    assert [save(other, tmp_path).name, save(first, tmp_path).name] == ["id.csa", "id-2.csa"]
    resumed = game_of("+2726FU", position=START_POSITION + "\n+7776FU,T1\n-3334FU,T1")
    assert save(resumed, tmp_path).name == "id-2.csa"
    assert moves_of(tmp_path / "id-2.csa") == ("7g7f", "3c3d", "2g2f")
    assert moves_of(save(game_of(position=START_POSITION + "\n+2726FU,T1"), tmp_path)) == ("2g2f",)
    assert names_in(tmp_path) == ["id-2.csa", "id-3.csa", "id.csa"]
    for _ in range(2):
        assert RunningRecord(game_of(position=START_POSITION + "\n+9796FU,T1"), tmp_path, print)._writer.close()
    assert names_in(tmp_path) == [*(f"id-{number}.csa" for number in range(2, 6)), "id.csa"]


def test_two_clients_in_one_folder(tmp_path: Path) -> None:
    """They play each other; each has a record of its own, from the first move on."""
    games = [game_of("+7776FU"), game_of("+2726FU")]
    records = [RunningRecord(game, tmp_path, print) for game in games]
    for game, record in zip(games, records, strict=True):
        game.handle(MoveMade("-3334FU"))
        record.follow()
        assert record._writer.close()
    found = [next(iter(load_games(path))) for path in (tmp_path / "id.csa", tmp_path / "id-2.csa")]
    assert {game.moves for game in found} == {("7g7f", "3c3d"), ("2g2f", "3c3d")}
    assert [game.end.name for game in found if game.end] == ["CHUDAN", "CHUDAN"]
    assert names_in(tmp_path) == ["id-2.csa", "id.csa"]


def test_a_record_that_cannot_be_replaced_gets_another_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows replaces no file that another program, such as a viewer, has open."""
    record, real = RunningRecord(game := game_of("+7776FU"), tmp_path, print), os.replace
    assert record._writer.close()
    game.handle(MoveMade("-3334FU"))

    def replace(source: Path, target: Path) -> None:
        if target.name == "id.csa":
            raise PermissionError(errno.EACCES, "Permission denied", str(target))
        real(source, target)

    monkeypatch.setattr("os.replace", replace)
    assert len(moves_of(record.finish())) == 2
    assert names_in(tmp_path) == ["id-2.csa", "id.csa"]


@pytest.mark.parametrize(
    ("game_id", "stem"),
    [("wdoor+test-1-2+a+b+2026", "wdoor+test-1-2+a+b+2026"), ("../../x", "_.._x"), ("..", "game"), ("", "game"),
     ("NUL", "_NUL"), ("com1.x", "_com1.x"), ("a b/c\\d:e\x1b", "a_b_c_d_e_"), ("x" * 999, "x" * 200)],
)  # fmt: skip
def test_names(game_id: str, stem: str) -> None:
    assert make_stem(game_id) == stem
