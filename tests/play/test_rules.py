"""A game without a screen: its ends, its clock, moves taken back."""

import time
from collections.abc import Callable

import pytest

from tests.engine.fake_core import Script, make_core
from usi_engine.clock import LONGEST_MS, Clock, TimeControl
from usi_engine.play.opponent import Opponent
from usi_engine.rules import End, LiveGame
from usi_engine.usi.protocol import STARTPOS, Times

MATE_IN_ONE = "4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1"
# Black declares: king in the camp, ten pieces there, enough points.
DECLARABLE = "KRBG5/SSSNNN3/LLL6/9/9/9/9/9/4k4 b RBGG12P 1"
SHUFFLE = "2h3h 8b7b 3h2h 7b8b " * 3


def quick_opponent(tell: Callable[[str], None], script: Script) -> Opponent:
    """Return an opponent that plays by a script, without a book."""
    opponent = Opponent(tell, lambda: make_core(script))
    for name, value in (("USI_Hash", 4), ("EvalFile", "material"), ("USI_OwnBook", "false")):
        opponent.set(name, value)
    return opponent


@pytest.mark.parametrize(
    ("start", "answers", "end"),
    [
        (MATE_IN_ONE, "G*5b", End("checkmate", 0)),
        ("4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1", "", End("checkmate", 0)),
        ("k8/1R7/2K6/9/9/9/9/9/9 w - 1", "", End("no moves", 0)),
        (STARTPOS, SHUFFLE, End("repetition")),
        ("4k4/9/9/9/9/9/9/4r4/K8 w - 1", "5h5i 9i9h 5i5h 9h9i " * 4, End("perpetual check", 0)),
        (STARTPOS, "7g7f resign", End("resignation", 0)),
        (DECLARABLE, "win", End("declaration", 0)),
        (STARTPOS, "7g7f 3c3d 2g2f 8c8d", End("move limit")),
        (STARTPOS, "7g7f", None),
    ],
)
def test_ends(start: str, answers: str, end: End | None) -> None:
    game = LiveGame(start, max_moves=4 if end == End("move limit") else 0)
    for answer in answers.split():
        if game.end is None:
            game.answer(answer)
    assert game.end == end


def test_what_is_not_legal_changes_nothing() -> None:
    game = LiveGame(moves=["7g7f"])
    for answer in ("7g7f", "win", "none", "", "pass", "0000"):
        with pytest.raises(ValueError, match=r"move|declared"):
            game.answer(answer)
    assert (game.moves, game.milliseconds, game.end, game.position) == (["7g7f"], [0], None, "startpos moves 7g7f")
    with pytest.raises(ValueError, match="move 2 '7g7f'"):
        LiveGame(moves=["7g7f", "7g7f"])


def test_a_move_taken_back_gives_its_time_back() -> None:
    game = LiveGame(moves=["7g7f"], clock=Clock(TimeControl(5000, 0, 2000), TimeControl(9000)))
    game.push("3c3d", 3000)
    game.push("2g2f", 500)
    assert (game.clock.left, game.milliseconds) == ([6500, 6000], [0, 3000, 500])
    assert game.lose_on_time(6001) and game.end == End("time", 0)
    assert [game.pop(), game.pop()] == ["2g2f", "3c3d"] and game.end is None
    assert game.clock.left == [5000, 9000]
    assert game.pop() == "7g7f" and game.clock.left == [5000, 9000]
    assert not game.lose_on_time(7000) and game.lose_on_time(7001)


@pytest.mark.parametrize(
    ("control", "spent", "left", "allowed"),
    [
        (TimeControl(5000, 1000), 700, 4300, 5300),
        (TimeControl(5000, 0, 2000), 60_000, 0, 2000),  # as servers count: what is left is never negative
        (TimeControl(LONGEST_MS, 0, LONGEST_MS), 1, LONGEST_MS, 2 * LONGEST_MS),  # engines count in 32 bits
    ],
)
def test_clock(control: TimeControl, spent: int, left: int, allowed: int) -> None:
    clock = Clock(control)
    clock.spend(1, spent)
    assert (clock.left, clock.allowed(1)) == ([control.main, left], allowed)


def test_a_running_clock() -> None:
    clock = Clock(TimeControl())
    assert not clock and clock.spent < 1000
    time.sleep(0.02)
    assert clock.spent >= 20
    clock.start()
    assert clock.spent < 20


@pytest.mark.parametrize(
    ("controls", "side", "margin", "words"),
    [
        ((TimeControl(9000, 0, 1000), TimeControl(5000, 3000)), 0, 0, "btime 9000 wtime 5000 binc 1000 winc 0"),
        ((TimeControl(9000, 0, 1000), TimeControl(5000, 3000)), 1, 0, "btime 9000 wtime 5000 byoyomi 3000"),
        ((TimeControl(9000, 0, 1000), TimeControl(5000)), 1, 0, "btime 9000 wtime 5000 byoyomi 0"),
        ((TimeControl(9000, 0, 1000), TimeControl(5000, 0, 2000)), 1, 0, "btime 9000 wtime 5000 binc 1000 winc 2000"),
        ((TimeControl(9, 500, 1000), TimeControl(5, 300)), 0, 0, "btime 9 wtime 5 byoyomi 500 binc 1000 winc 0"),
        ((TimeControl(9000), TimeControl()), 1, 0, "btime 0 wtime 0 byoyomi 10000"),
        ((TimeControl(5000),), 0, 1000, "btime 4000 wtime 5000 byoyomi 0"),
        ((TimeControl(5000, 2000),), 0, 1000, "btime 4000 wtime 5000 byoyomi 2000"),
        ((TimeControl(300, 2000),), 0, 1000, "btime 0 wtime 300 byoyomi 1300"),
        ((TimeControl(0, 500),), 0, 1000, "btime 0 wtime 0 byoyomi 0"),
        ((TimeControl(300, 0, 2000),), 0, 1000, "btime 0 wtime 300 binc 1300 winc 2000"),
    ],
)
def test_times_of_a_go(controls: tuple[TimeControl, ...], side: int, margin: int, words: str) -> None:
    """The side's own control decides: USI has no byoyomi of one side only."""
    assert Times.of(Clock(*controls), side, margin=margin).words() == words


@pytest.mark.parametrize(
    ("control", "text"),
    [(TimeControl(300_000, 0, 10_000), "300 s + 10 s a move"), (TimeControl(600_000, 30_000), "600 s + 30 s byoyomi"),
     (TimeControl(), "0 s")],
)  # fmt: skip
def test_control_as_text(control: TimeControl, text: str) -> None:
    assert str(control) == text
