"""The decision when to stop, and what stands when a search is stopped."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator

import pytest

from core_ext.board import Board
from tests.engine.fake_core import INFINITE, MATE_BOUND, Script, StopToken, make_core
from tests.engine.usi_transport import InProcess, Lines
from usi_engine.clock import Limits
from usi_engine.control import Control
from usi_engine.deepening import Deepening, Goals, Outcome, legal_part
from usi_engine.options import Options
from usi_engine.output import Writer
from usi_engine.patience import LEAST_FACTOR, MOST_FACTOR, Patience
from usi_engine.report import Count, Reporter
from usi_engine.team import Team, Window

TIMED = Limits(soft=300, hard=600)


def search(script: Script, limits: Limits = TIMED, goals: Goals | None = None, threads: int = 1) -> tuple[Outcome, int]:
    """One search of the start position; returns its outcome and how long it took in milliseconds."""
    core, stop = make_core(script), StopToken()
    team = Team(core, stop, 1, threads)
    control = Control(stop, limits)
    writer = Writer(Lines(queue.Queue()))  # type: ignore[arg-type]
    reporter = Reporter(writer, core, 300, lambda: Count(team.nodes, control.total, 0))
    board = Board()
    count = team.set_root(board, None, Options())
    control.start()
    begun = time.perf_counter()
    outcome = Deepening(core, team, control, goals or Goals(60, 0, 1), reporter).run(board, count)
    control.finish()
    return outcome, int((time.perf_counter() - begun) * 1000)


def patience_of(moves: str, values: list[int]) -> float:
    """The factor after depths with these best moves and values."""
    patience = Patience()
    for move, value in zip(moves, values, strict=True):
        patience.depth_done(move, value)
    return patience.factor()


def test_patience() -> None:
    """A best move that stands saves time; one that changes, or whose value falls, costs more; all within bounds."""
    steady = patience_of("aaaaaaaaaa", [20] * 10)
    usual = patience_of("a", [20])
    assert steady < usual
    assert patience_of("aaaaab", [20] * 6) > patience_of("aaaaaa", [20] * 6)
    assert patience_of("ababab", [20] * 6) > patience_of("aaabab", [20] * 6)
    assert patience_of("aaaaaa", [20, 20, 20, 20, 0, -40]) > patience_of("aaaaaa", [20] * 6)
    assert patience_of("aaaaaa", [20, 20, 20, 20, 60, 90]) < patience_of("aaaaaa", [20] * 6)
    assert patience_of("ab" * 20, list(range(0, -4000, -100))) == MOST_FACTOR
    assert patience_of("a" * 30, list(range(0, 3000, 100))) >= LEAST_FACTOR


def test_a_steady_move_is_played_sooner() -> None:
    """The same clock: a move that stands is decided well before one that changes at every depth."""
    steady, short = search(Script(seconds=lambda depth: 0.01))
    restless, long = search(Script(seconds=lambda depth: 0.01, best=lambda depth: depth))
    assert 50 < short < 400
    assert short * 1.5 < long <= 900
    assert steady.depth < restless.depth


def test_the_hard_limit_cuts_a_depth_short() -> None:
    """A depth that would never end is left when the hard limit comes; the depth before it stands."""
    outcome, taken = search(Script(seconds=lambda depth: 0.001 if depth < 6 else 30.0), Limits(soft=400, hard=100))
    assert 95 <= taken < 500
    assert outcome.depth == 5 and outcome.lines[0].bound == "exact"


def test_no_time_at_all_still_gives_a_searched_move() -> None:
    """Where the clock has run out before anything was searched, depth 1 is searched all the same."""
    script = Script(seconds=lambda depth: 0.05, best=lambda depth: 7)
    outcome, taken = search(script, Limits(soft=0, hard=0))
    assert outcome.depth == 1 and outcome.lines[0].value == 11
    assert outcome.lines[0].move == sorted(Board().legal_moves())[7]
    assert taken < 500


def test_round_up_waits_for_its_second() -> None:
    """A decision within the first second is played at its end, less the delay; the search goes on until then."""
    limits = Limits(soft=50, hard=5000, round_up=True, delay=800)
    _, taken = search(Script(seconds=lambda depth: 0.01), limits)
    assert 150 <= taken < 600


def test_node_limit_is_shared_out() -> None:
    """All threads together keep the limit."""
    script = Script(seconds=lambda depth: 0.0)
    goals = Goals(60, 4000, 1)
    alone, _ = search(script, Limits(), goals)
    together, _ = search(script, Limits(), goals, threads=4)
    assert alone.depth > together.depth >= 3


def test_depth_limit() -> None:
    """No depth beyond the limit is begun, on any thread."""
    script = Script(seconds=lambda depth: 0.0)
    outcome, _ = search(script, Limits(), Goals(7, 0, 1), threads=3)
    assert outcome.depth == 7
    assert max(window[0] for window in script.windows) == 7


def test_helpers_stop_with_the_leader() -> None:
    """However long a helper's depth would take, the search ends when the leader has ended."""
    script = Script(seconds=lambda depth: 0.002 if depth <= 4 else 30.0)
    _, taken = search(script, Limits(), Goals(4, 0, 1), threads=3)
    assert taken < 1000


def test_workers_vote() -> None:
    """Where the helpers go deeper than the leader and prefer another move, that move is played."""

    def best(depth: int) -> int:
        return 0 if threading.current_thread().name != "helper" else 1

    def seconds(depth: int) -> float:
        return 0.02 * depth if threading.current_thread().name != "helper" else 0.0

    alone, _ = search(Script(best=best, seconds=seconds), Limits(), Goals(5, 0, 1))
    voted, _ = search(Script(best=best, seconds=seconds), Limits(), Goals(5, 0, 1), threads=3)
    assert voted.lines[0].move != alone.lines[0].move
    assert len(voted.lines) == 1


def test_multipv_lines_are_sorted() -> None:
    """Best first, each of another move."""
    outcome, _ = search(Script(), Limits(), Goals(6, 0, 4))
    values = [line.value for line in outcome.lines]
    assert len({line.move for line in outcome.lines}) == 4
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("value", [0, 500, -500, MATE_BOUND + 5, -MATE_BOUND - 5])
@pytest.mark.parametrize("guess", [0, 490, -3000, MATE_BOUND + 1])
def test_window_always_finds_the_value(value: int, guess: int) -> None:
    """Whatever the guess, the window holds the value after few steps, and its bounds stay in order."""
    window = Window(make_core(Script()), 9, guess)
    for _step in range(12):
        assert -INFINITE <= window.alpha < window.beta <= INFINITE
        bound = window.failed(max(min(value, window.beta), window.alpha))
        if bound == "exact":
            break
        assert bound == ("lower" if value > guess else "upper")
    else:
        pytest.fail("the window never held the value")


def test_legal_part() -> None:
    """A line is cut before its first move that is not legal; the board is left as it was."""
    board = Board()
    assert legal_part(board, ["7g7f", "3c3d", "8h2b+", "8h7g", "2c2d"]) == ("7g7f", "3c3d", "8h2b+")
    assert legal_part(board, ["7g7e"]) == ()
    assert board.moves() == []


@pytest.fixture
def engine() -> Iterator[InProcess]:
    """An engine whose depths take 10 ms."""
    transport = InProcess(lambda: make_core(Script(seconds=lambda depth: 0.01)))
    transport.send("setoption name USI_Hash value 1", "isready")
    transport.expect("^readyok$")
    yield transport
    transport.close()


def test_a_hit_after_enough_is_answered_at_once(engine: InProcess) -> None:
    """Who has pondered longer than the move deserves need not think again when the move is played."""
    engine.send("go ponder btime 5001 wtime 5001")
    engine.silent("^bestmove", 0.4)
    begun = time.perf_counter()
    engine.send("ponderhit")
    engine.expect("^bestmove")
    assert time.perf_counter() - begun < 0.15


def test_the_clock_starts_at_the_hit(engine: InProcess) -> None:
    """Time pondered is not the engine's: a byoyomi given is used up after the hit."""
    engine.send("go ponder btime 0 wtime 0 byoyomi 300")
    engine.silent("^bestmove", 0.35)
    begun = time.perf_counter()
    engine.send("ponderhit")
    engine.expect("^bestmove")
    assert 0.2 < time.perf_counter() - begun < 0.4


def test_a_go_that_waits_in_line_has_its_whole_time(engine: InProcess) -> None:
    """The clock of a go starts when it was read, or when the answer before it was out."""
    begun = time.perf_counter()
    engine.send("go movetime 300", "go movetime 300")
    engine.expect("^bestmove")
    engine.expect("^bestmove")
    assert time.perf_counter() - begun >= 0.5
