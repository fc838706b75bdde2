"""Iterative deepening: aspiration windows, the end of a search, interrupted ones; levels: moves considered, errors."""

import itertools
import threading
import time
from dataclasses import replace

import pytest

from core_ext.board import Board
from core_ext.engine import INFINITE, MATE_BOUND, StopToken, Worker
from tests.engine.conftest import ScriptedEngine
from tests.engine.fake_core import Script, make_core
from tests.engine.usi_transport import InProcess
from tests.positions import MATSURI
from tests.programs import quickest
from usi_engine.core import Core, load_core
from usi_engine.search import skill as skills
from usi_engine.search import threads as search_threads
from usi_engine.search.iterative import Search, Window, iterative_deepening
from usi_engine.search.results import Analysis, PlayResult, Score, Variation
from usi_engine.search.search import checked_move
from usi_engine.search.search_control import SearchControl
from usi_engine.search.skill import BLIND_LEVEL, FULL_STRENGTH, Skill, allows_mate, choose_line, is_tactical, skill_of
from usi_engine.search.spec import Spec, spec_of
from usi_engine.search.threads import ThreadPool, best_thread
from usi_engine.search.timeman import TimeLimits
from usi_engine.usi import info
from usi_engine.usi.options import Options
from usi_engine.usi.protocol import Go

TIMED = TimeLimits(optimum=300, maximum=600)


def search(script: Script, times: TimeLimits = TIMED, threads: int = 1, **limits: int) -> tuple[Analysis, int]:
    """Search the start position; return the result and the time in milliseconds."""
    begun = time.perf_counter()
    result = search_board(make_core(script), Board(), times, threads, **limits)
    return result, int((time.perf_counter() - begun) * 1000)


def search_board(core: Core, board: Board, times: TimeLimits, threads: int = 1, **limits: int) -> Analysis:
    """Search to depth 60; `limits` are `depth`, `nodes` and `multipv` of a Spec."""
    stop = StopToken()
    pool = ThreadPool(core, stop, 1, threads)
    go = Go(depth=limits.get("depth", 60), nodes=limits.get("nodes"))
    spec = spec_of(Options(), go, board, multipv=limits.get("multipv", 1))
    try:
        return Search(pool, SearchControl(stop, times), spec).run(pool.set_root(board, None, spec.rules))
    finally:
        pool.join_helpers()


def test_a_steady_move_is_played_sooner() -> None:
    """With the same clock a stable best move is played well before one that changes at every depth."""
    steady, short = search(Script(seconds=lambda depth: 0.01))
    unstable, long = search(Script(seconds=lambda depth: 0.01, best=lambda depth: depth))
    assert 50 < short < 400
    assert short * 1.5 < long <= 900
    assert steady.depth < unstable.depth


def test_the_maximum_time_cuts_a_depth_short() -> None:
    """A depth that would never end is cut short; the result is that of the depth before."""
    script = Script(seconds=lambda depth: 0.001 if depth < 6 else 30.0)
    result, taken = search(script, TimeLimits(optimum=400, maximum=100))
    assert 95 <= taken < 500
    assert result.depth == 5 and result.best.bound == "exact"


def test_a_search_that_ends_within_its_first_move(monkeypatch: pytest.MonkeyPatch) -> None:
    """If even the nodes of depth 1 do not suffice for one move, a root move has the static value."""
    monkeypatch.setattr(search_threads, "DEPTH_ONE_NODES", 1)
    script = Script(seconds=lambda depth: 0.0)
    result, _ = search(script, TimeLimits(), nodes=1, multipv=3)
    assert (result.depth, result.lines) == (1, (Variation(Score(7), (Board().legal_moves()[0],)),))


def test_node_limit_is_shared_out() -> None:
    script = Script(seconds=lambda depth: 0.0)
    (alone, _), (together, _) = (search(script, TimeLimits(), threads, nodes=4000) for threads in (1, 4))
    assert alone.depth > together.depth >= 3


def test_helpers_stop_with_the_main_thread() -> None:
    script = Script(seconds=lambda depth: 30.0 if threading.current_thread().name == "helper" else 0.0)
    _, taken = search(script, TimeLimits(), threads=3, depth=4)
    assert taken < 1000


def test_the_best_thread_is_played() -> None:
    """The helpers search deeper than the main thread and prefer another move, which is played."""

    def best(depth: int) -> int:
        return int(threading.current_thread().name == "helper")

    def seconds(depth: int) -> float:
        return 0.01 * depth * (1 - best(depth))

    script = Script(best=best, seconds=seconds)
    (alone, _), (voted, _) = (search(script, TimeLimits(), threads, depth=5) for threads in (1, 3))
    assert voted.best.move != alone.best.move
    assert len(voted.lines) == 1


def result(move: str, value: int, depth: int = 10) -> Analysis:
    return Analysis((Variation(Score(value), (move, "3c3d"), depth, depth + 2),), Score(value), depth)


@pytest.mark.parametrize(
    ("results", "chosen"),
    [
        ([result("7g7f", -50)], 0),  # without helpers
        ([result("7g7f", 30), result("2g2f", 30)], 0),  # the main thread wins ties
        ([result("7g7f", 30), result("2g2f", 30, 11), result("2g2f", 28)], 1),  # two against one
        ([result("7g7f", 10, 9), result("2g2f", 90, 11)], 1),  # deeper and better
        ([result("7g7f", 90, 9), result("2g2f", 10, 11)], 0),
        ([result("7g7f", 3000, 30), result("2g2f", 31990), result("5g5f", 31997)], 2),  # the shortest proved win
        ([result("7g7f", -31990, 20), result("2g2f", -900, 5)], 1),  # a proved loss only if all lose
        ([result("7g7f", -31990, 20), result("2g2f", -31980, 25)], 0),
    ],
)
def test_best_thread(results: list[Analysis], chosen: int) -> None:
    assert best_thread(results) == results[chosen]


@pytest.mark.parametrize(
    ("stuck", "lines"),
    [
        (None, [(4, 460), (4, 430), (4, 400)]),
        ((4, 2), [(4, 430), (4, 400), (3, 360)]),
        ((4, 1), [(4, 400), (3, 360), (3, 330)]),
    ],
)
def test_lines_of_one_depth_are_sorted(stuck: tuple[int, int] | None, lines: list[tuple[int, int]]) -> None:
    """Each line of a depth is better than the one before. Those that the time cuts off are still of depth 3."""
    script = Script(seconds=lambda depth: 0.0, stuck=stuck)
    script.value = lambda depth: 100 * depth + 80 * script.windows[-1][3]
    result, _ = search(script, TimeLimits(maximum=100 if stuck else None), depth=4, multipv=3)
    assert [(line.depth, line.value) for line in result.lines] == lines


@pytest.mark.parametrize("value", [0, 500, -500, MATE_BOUND + 5, -MATE_BOUND - 5])
@pytest.mark.parametrize("guess", [0, 490, -3000, MATE_BOUND + 1])
def test_window_always_finds_the_value(value: int, guess: int) -> None:
    window = Window(guess)
    for _step in range(12):
        assert -INFINITE <= window.alpha < window.beta <= INFINITE
        bound = window.widen(max(min(value, window.beta), window.alpha))
        if bound == "exact":
            break
        assert bound == ("lower" if value > guess else "upper")
    else:
        pytest.fail("no window contained the value")


@pytest.mark.parametrize("sign", [1, -1])
def test_windows_of_mates_are_full(sign: int) -> None:
    window = Window(sign * MATE_BOUND)
    assert (window.alpha, window.beta) == (-INFINITE, INFINITE)
    window = Window(sign * 100)
    window.widen(sign * MATE_BOUND)
    assert (window.beta, window.alpha)[sign < 0] == sign * INFINITE


def scripted_worker(script: Script) -> Worker:
    core = make_core(script)
    worker = core.worker(core.table(1), core.stop_token())
    worker.set_root(Board())
    return worker


def test_one_loop_yields_every_finished_depth() -> None:
    worker = scripted_worker(script := Script(seconds=lambda depth: 0.0))
    assert list(iterative_deepening(worker, 7)) == [1, 2, 3, 4, 5, 6, 7]
    assert {window[1:3] for window in script.windows if window[0] < 5} == {(-INFINITE, INFINITE)}
    assert (-INFINITE, INFINITE) not in {window[1:3] for window in script.windows if window[0] >= 5}
    worker.set_root(Board())
    assert list(iterative_deepening(worker, 7, 700)) == [1, 2, 3]
    assert worker.stopped
    script.windows.clear()
    assert list(iterative_deepening(worker, 9, aspiration=False))[-1] == 9
    assert {window[1:3] for window in script.windows} == {(-INFINITE, INFINITE)}


def test_search_again_less_deep() -> None:
    """The value of depth 9 fails high twice and is then found two plies less deep."""
    script = Script(value=lambda depth: 150 if len(script.windows) > 8 else 0)
    worker = scripted_worker(script)
    assert list(iterative_deepening(worker, 9))[-1] == 9
    assert [window[0] for window in script.windows] == [*range(1, 10), 8, 7]
    assert worker.lines(1)[0].value == 150


@pytest.mark.parametrize("other", [True, False])
def test_a_move_above_the_window_is_played_if_its_value_is_not_found(other: bool) -> None:
    """Depth 9 fails high, and the nodes end before the value is found: the bound is the result if it is another move,
    otherwise the depth before tells more.
    """
    script = Script(value=lambda depth: 500 if depth == 9 else 0, best=lambda depth: int(other and depth == 9))
    result, _ = search(script, TimeLimits(), nodes=100 * sum(range(10)) + 1)
    assert [window[0] for window in script.windows] == [*range(1, 10), 8]
    assert result.best.move == sorted(Board().legal_moves())[int(other)]
    assert (result.depth, result.best.value) == ((9, script.windows[8][2]) if other else (8, 0))


@pytest.mark.parametrize(
    ("pv", "answer"),
    [
        (("7g7f", "3c3d", "2g2f"), PlayResult("7g7f", "3c3d")),
        (("7g7f", "7g7f"), PlayResult("7g7f")),
        (("7g7e", "3c3d"), PlayResult(Board().legal_moves()[0])),
    ],
)
def test_best_move_and_ponder_move_are_checked(board: Board, pv: tuple[str, ...], answer: PlayResult) -> None:
    assert checked_move(board, pv) == answer
    assert checked_move(Board("7k1/7G1/7P1/9/9/9/9/9/4K4 w - 1"), pv).end == "resign"


@pytest.fixture
def engine(scripted: ScriptedEngine) -> InProcess:
    """An engine whose depths take 10 ms."""
    transport = scripted(Script(seconds=lambda depth: 0.01))
    transport.ask("isready", answer="^readyok$")
    return transport


def test_a_fail_low_of_the_first_line_prolongs_pondering(
    scripted: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The value rises at depth 7 and falls at depth 8."""
    told = list[str]()
    monkeypatch.setattr(SearchControl, "keep_searching", lambda own: told.append("low"))
    script = Script(seconds=lambda depth: 0.0, value=lambda depth: {7: 400, 8: -400}.get(depth, 0))
    engine = scripted(script)
    engine.ask("go depth 7")
    assert not told
    engine.ask("go depth 8")
    assert told


BYOYOMI = "go ponder btime 0 wtime 0 byoyomi 300"


@pytest.mark.parametrize(
    ("go", "pondered", "hit", "limits"),
    [
        ("go ponder btime 5001 wtime 5001", 0.4, "ponderhit", (0.0, 0.15)),  # long enough
        (BYOYOMI, 0.35, "ponderhit", (0.2, 0.4)),  # pondering uses no time of the engine
        # Other clocks keep searchmoves and those that they do not name. The only move to search is not a forced one.
        (f"{BYOYOMI} searchmoves 7g7f", 0.0, "ponderhit btime 0 wtime 0 byoyomi 301", (0.15, 5.0)),
        (f"{BYOYOMI} searchmoves 7g7f", 0.0, "ponderhit btime 0 wtime 0", (0.15, 5.0)),
    ],
)
def test_the_time_after_ponderhit(
    engine: InProcess, go: str, pondered: float, hit: str, limits: tuple[float, float]
) -> None:
    def seconds_to_answer() -> float:
        engine.send(go)
        engine.silent("^bestmove", pondered)
        begun = time.perf_counter()
        engine.ask(hit)
        return time.perf_counter() - begun

    assert limits[0] <= quickest(seconds_to_answer, limits[1]) < limits[1]


ONE_REPLY = "position sfen 4k4/9/9/9/9/9/9/r8/7rK b - 1"


@pytest.mark.parametrize(
    ("position", "go", "seconds", "depth"),
    [
        (ONE_REPLY, "go movetime 300", (0.2, 1.0), 4),
        (ONE_REPLY, "go nodes 20000", (0.15, 1.0), 4),
        ("position startpos", "go btime 0 wtime 0 byoyomi 300 searchmoves 7g7f", (0.15, 1.0), 4),
        (ONE_REPLY, "go btime 0 wtime 0 byoyomi 3000", (0.1, 1.0), 2),
        (ONE_REPLY, "go btime 300000 wtime 300000", (0.15, 1.5), 2),
    ],
)
def test_a_single_move_is_searched(
    engine: InProcess, position: str, go: str, seconds: tuple[float, float], depth: int
) -> None:
    """Given limits are used up; on a game clock the only legal move is searched briefly, not just to depth 1."""
    begun = time.perf_counter()
    engine.ask(position, go)
    assert seconds[0] < time.perf_counter() - begun < seconds[1]
    assert int(engine.seen[-2].split()[2]) >= depth


def test_a_queued_go_has_its_whole_time(engine: InProcess) -> None:
    """The clock of a go starts when it is read, or at the answer before it."""
    begun = time.perf_counter()
    engine.ask("go movetime 300", "go movetime 300")
    engine.expect("^bestmove")
    assert time.perf_counter() - begun >= 0.5


def searched_by_the_core(sfen: str, nodes: int, lines: int = 1) -> Analysis:
    board = Board(sfen)
    result = search_board(load_core(), board, TimeLimits(), nodes=nodes, multipv=lines)
    assert board.is_legal(result.best.move)
    return result


def test_a_node_limit_within_depth_one_keeps_what_was_searched() -> None:
    """The nodes do not suffice for all lines, but the first one is there."""
    assert searched_by_the_core(MATSURI, 3000, 593).depth == 1


def test_a_depth_cut_short_within_its_first_move_says_nothing_of_the_others() -> None:
    """At some depth the first move gets mated. No loss is shown if the nodes end before another move is searched."""
    sfen = "+B4k1nl/5g3/p2s1g1p1/2s2sp1p/1pp2N1R1/P1n1P1P1P/1P7/2K2S3/LN3b2L b RGL4Pg3p 83"
    values = [searched_by_the_core(sfen, nodes).best.value for nodes in range(100, 1500, 20)]
    assert min(values) > -MATE_BOUND


# ---- levels ----


# Black mates by G*5b; anything else does not.
MATE = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1"


def skill(level: int) -> Skill:
    found = skill_of(level)
    assert found is not None
    return found


def test_each_level_sees_more_than_the_one_before() -> None:
    levels = [skill(level) for level in range(FULL_STRENGTH)]
    for weaker, stronger in itertools.pairwise(levels):
        assert weaker.depth <= stronger.depth and weaker.error > stronger.error
    assert levels[0].depth == 1 and levels[-1].depth > 10 and levels[-1].lines > 1


def test_limits_of_a_go_are_narrowed() -> None:
    """They are never widened; MultiPV may ask for more lines."""
    assert skill_of(FULL_STRENGTH) is None
    wide = spec_of(Options(), Go(), Board())
    narrow = replace(wide, depth=3, nodes=500, multipv=90)
    assert limits(wide.at_level(skill(0))) == (1, skill(0).nodes, skill(0).lines)
    assert limits(narrow.at_level(skill(19))) == (3, 500, 90)


def limits(spec: Spec) -> tuple[int, int, int]:
    return spec.depth, spec.nodes, spec.multipv


def lines_for(board: Board, value: int = 0) -> list[Variation]:
    """Return all legal moves with the same value."""
    return [Variation(Score(value), (move,)) for move in board.legal_moves()]


def choices(level: int, seeds: range, board: Board, best: str, ahead: int) -> int:
    """Return in how many games of these seeds the level finds a move that is better by `ahead` centipawns."""
    lines = [Variation(Score(ahead * (line.move == best)), line.pv) for line in lines_for(board)]
    return sum(choose_line(board, lines, skill(level), seed).move == best for seed in seeds)


def test_stronger_levels_find_a_good_move_more_often() -> None:
    found = [choices(level, range(60), Board(), "7g7f", 200) for level in (0, 8, 14, 18)]
    assert found == sorted(found) and found[0] < 15 and found[-1] > 55


def test_a_game_is_consistent_and_games_differ() -> None:
    board = Board()
    moves, again = ([choose_line(board, lines_for(board), skill(3), seed).move for seed in range(40)]
                    for _ in range(2))  # fmt: skip
    assert moves == again and len(set(moves)) > 10


OPENING = Board.from_moves(["7g7f", "3c3d"])


def test_loud_moves_are_seen_sooner() -> None:
    """A capture, a promotion and a check are tactical."""
    assert all(is_tactical(OPENING, move) for move in ("8h2b", "8h2b+", "8h3c+"))
    assert not any(is_tactical(OPENING, move) for move in ("8h4d", "2g2f"))
    own, reply, none = (skills.visibility(OPENING, pv) for pv in (("8h2b+",), ("2g2f", "2b8h+"), ("2g2f", "8c8d")))
    assert own < reply < none == 1
    assert is_tactical(Board(MATE), "G*5b")


def test_a_capture_is_missed_less_often_than_a_quiet_move() -> None:
    quiet, capture = (choices(12, range(80), OPENING, best, 300) for best in ("2g2f", "8h2b+"))
    assert capture > quiet + 10


@pytest.mark.parametrize("level", [BLIND_LEVEL + 1, 12])
def test_a_mate_in_one_is_played(level: int) -> None:
    board = Board(MATE)
    for seed in range(20):
        assert choose_line(board, lines_for(board), skill(level), seed).move == "G*5b"


def test_no_mate_in_one_is_given_away() -> None:
    board = Board("4k4/9/9/9/9/9/4p4/9/4K4 b 2R2Bg3G4S4N4L17P 1")
    careless = {move for move in board.legal_moves() if allows_mate(board, move)}
    assert careless
    lines = [Variation(Score(500 * (move in careless)), (move,)) for move in board.legal_moves()]
    for seed in range(20):
        assert choose_line(board, lines, skill(BLIND_LEVEL + 1), seed).move not in careless
    assert choose_line(board, [Variation(Score(0), (min(careless),))], skill(9), 1).move == min(careless)
    assert board.moves() == []


@pytest.mark.parametrize(("level", "least", "most"), [(0, 0, 30), (BLIND_LEVEL, 0, 30), (BLIND_LEVEL + 1, 60, 60)])
def test_the_lowest_levels_overlook_mates(level: int, least: int, most: int) -> None:
    """They play a mate only by chance."""
    board = Board(MATE)
    lines = [Variation(Score((info.MATE - 1) * (move == "G*5b")), (move,)) for move in board.legal_moves()]
    found = sum(choose_line(board, lines, skill(level), seed).move == "G*5b" for seed in range(60))
    assert least <= found <= most


def test_mates_count_by_their_length() -> None:
    """A shorter mate is better, being mated later too; both are beyond any other value."""
    values = [info.MATE - 1, info.MATE - 9, 20000, 100, -20000, 8 - info.MATE, 2 - info.MATE]
    seen = [skills.certain(Score(value)) for value in values]
    assert seen == sorted(set(seen), reverse=True)


# ---- the engine ----


def test_does_not_resign_by_the_move_it_takes_for_the_best(scripted: ScriptedEngine) -> None:
    """All lines but the best are below -ResignValue, and the weakest level often takes one of those."""
    engine = scripted(Script(value=lambda depth: -480, seconds=lambda depth: 0.0))
    engine.send("setoption name SkillLevel value 0", "setoption name ResignValue value 500")
    answers = [engine.ask("usinewgame", "go byoyomi 100") for _ in range(8)]
    assert "bestmove resign" not in answers
    assert any(" cp -480 " not in line for line in engine.seen if line.startswith("info depth"))


def test_the_same_move_until_the_next_game(real: InProcess) -> None:
    """Searches in between change nothing; another game has other errors."""
    real.send("setoption name SkillLevel value 1", "setoption name USI_Hash value 4", "isready", "usinewgame")
    go = "go btime 60000 wtime 60000"
    first = real.ask("position startpos", go)
    real.ask("go infinite", answer="^info depth 6 ")
    real.ask("stop")
    assert real.ask(go) == first
    others = [real.ask("usinewgame", go) for _ in range(12)]
    assert set(others) != {first}
