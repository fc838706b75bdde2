"""Answers and info lines of an engine with a scripted search."""

from __future__ import annotations

import itertools
import re
import threading
import time

import pytest

from core_ext.board import Board
from core_ext.engine import tunable
from tests.engine.conftest import SMALL_TABLE, ScriptedEngine
from tests.engine.fake_core import Script
from tests.engine.usi_transport import InProcess
from usi_engine.core import Core, CoreError, load_core
from usi_engine.game import session, thinking
from usi_engine.game.console import perft
from usi_engine.game.loop import LONGEST_LINE
from usi_engine.game.mating import PATIENCE_NODES


def depth_of(line: str) -> int:
    """The depth in an info line."""
    return int(line.split()[2])


def test_mate_found_ends_the_search_in_a_game(scripted: ScriptedEngine) -> None:
    """A mate no longer than the depth is played at once, however much time is left."""
    engine = scripted(Script(value=lambda depth: 31997 if depth >= 5 else 50))
    engine.send("go btime 600000 wtime 600000")
    last = engine.expect("^bestmove", timeout=2)
    assert last and depth_of(engine.seen[-2]) == 5
    assert " score mate 3 " in engine.seen[-2]


def test_mated_is_negative(scripted: ScriptedEngine) -> None:
    """Being mated in four plies is `mate -4`."""
    engine = scripted(Script(value=lambda depth: -31996))
    engine.send("go btime 600000 wtime 600000")
    engine.expect("^info .* score mate -4 ")
    engine.expect("^bestmove [1-9]")


def test_resign_value(scripted: ScriptedEngine) -> None:
    """With a clock or movetime a value at or below -ResignValue resigns, in analysis it does not."""
    engine = scripted(Script(value=lambda depth: -1500))
    engine.send("setoption name ResignValue value 1500")
    for go in ("go byoyomi 100", "go movetime 50"):
        engine.send(go)
        engine.expect("^bestmove resign$")
    engine.send("go depth 2")
    engine.expect("^bestmove [1-9]")


def test_fail_high_and_low_are_reported(scripted: ScriptedEngine) -> None:
    """A value outside the window prints its bound, then the exact value; no bound stands right before pv."""
    engine = scripted(Script(value=lambda depth: 800 if depth == 6 else 0))
    engine.send("go infinite")
    low = engine.expect("lowerbound")
    assert depth_of(low) == 6 and "lowerbound nodes" in low
    exact = engine.expect("^info depth 6 ")
    while "bound" in exact:
        exact = engine.expect("^info depth 6 ")
    assert "score cp 800 nodes" in exact
    assert "upperbound nodes" in engine.expect("upperbound")
    engine.send("stop")
    engine.expect("^bestmove")
    assert "bound" not in engine.seen[-2] and "multipv 1 pv" in engine.seen[-2]


def test_windows_widen_until_they_hold(scripted: ScriptedEngine) -> None:
    """Depth 6, and again a ply less deep each time, in growing windows, the last of which holds the value."""
    script = Script(value=lambda depth: 500 if depth == 6 else 0)
    engine = scripted(script)
    engine.send("go depth 6")
    engine.expect("^bestmove")
    depths, tried = zip(*((depth, (alpha, beta)) for depth, alpha, beta, _ in script.windows[5:]), strict=True)
    assert len(tried) >= 3 and depths == tuple(range(6, 6 - len(tried), -1))
    assert all(new[1] >= old[1] for old, new in itertools.pairwise(tried))
    assert tried[-1][0] < 500 < tried[-1][1]


def test_pv_interval(scripted: ScriptedEngine) -> None:
    """In a game a fast search prints only its last line; with PvInterval 0 it prints every depth."""
    engine = scripted(Script(seconds=lambda depth: 0.0))
    engine.send("go depth 9")
    engine.expect("^bestmove")
    assert [depth_of(line) for line in engine.seen if line.startswith("info depth")] == [9]
    engine.seen.clear()
    engine.send("setoption name PvInterval value 0", "go depth 9")
    engine.expect("^bestmove")
    assert [depth_of(line) for line in engine.seen if line.startswith("info depth")] == [*range(1, 10), 9]


def test_consideration_mode_prints_all(scripted: ScriptedEngine) -> None:
    """ConsiderationMode prints every depth too."""
    engine = scripted(Script(seconds=lambda depth: 0.0))
    engine.send("setoption name ConsiderationMode value true", "go depth 4")
    engine.expect("^info depth 1 ")
    engine.expect("^bestmove")


def test_stop_in_mid_depth_keeps_the_last_depth(scripted: ScriptedEngine) -> None:
    """A depth that was cut short does not spoil the result of the one before."""
    engine = scripted(Script(seconds=lambda depth: 0.0 if depth < 4 else 30.0))
    engine.send("go infinite")
    engine.expect("^info depth 3 ")
    engine.send("stop")
    engine.expect("^bestmove", timeout=1)
    assert depth_of(engine.seen[-2]) == 3


def test_interrupted_multipv_reprints_no_old_line_as_a_new_depth(scripted: ScriptedEngine) -> None:
    """Where the second line of depth 4 was cut short, the first is of depth 4, the others still of depth 3."""
    engine = scripted(Script(seconds=lambda depth: 0.0, value=lambda depth: 100 * depth, stuck=(4, 1)))
    engine.send("setoption name MultiPV value 3", "go infinite")
    engine.expect("^info depth 3 .* multipv 3 ")
    engine.silent("^bestmove", 0.1)
    engine.seen.clear()
    engine.send("stop")
    engine.expect("^bestmove", timeout=1)
    printed = [(depth_of(line), line.split(" multipv ")[1].split()[0], line) for line in engine.seen[:-1]]
    assert [head[:2] for head in printed] == [(3, "3"), (3, "2"), (4, "1")]
    assert [line.split(" cp ")[1].split()[0] for *_, line in printed] == ["200", "250", "400"]
    assert len({line.split(" pv ")[1].split()[0] for *_, line in printed}) == 3


def test_memory_that_cannot_be_had(scripted: ScriptedEngine) -> None:
    """The table is made smaller, one info string a step, and the game goes on."""
    engine = scripted(Script(most_megabytes=8))
    engine.send("setoption name USI_Hash value 32", "isready")
    engine.expect("^info string 32 MB cannot be had")
    engine.expect("^info string 16 MB cannot be had")
    engine.expect("^readyok$")
    engine.send("getoption USI_Hash", "go depth 1")
    engine.expect("^USI_Hash = 8$")
    engine.expect("^bestmove")


def test_workers_that_cannot_be_had(scripted: ScriptedEngine) -> None:
    """The search goes on with those there is memory for; it is told once, at isready, and not tried again."""
    script = Script(most_workers=3)
    engine = scripted(script)
    engine.send("setoption name Threads value 8", "isready")
    engine.expect("^info string 8 threads cannot be had; searching with 3$")
    engine.expect("^readyok$")
    engine.send("getoption Threads", "go depth 2", "isready")
    engine.expect("^Threads = 3$")
    engine.expect("^info depth 2 ")
    engine.expect("^bestmove")
    engine.expect("^readyok$")
    assert script.made["workers"] == 3
    assert sum("cannot be had" in line for line in engine.seen) == 1


def test_memory_errors_without_a_text(scripted: ScriptedEngine) -> None:
    """Python's own have none: the line says what it is, and the go has an answer."""
    engine = scripted(Script(most_workers=0))
    engine.send("isready", "go depth 1")
    engine.expect("^info string out of memory; trying half of 4 MB$")
    engine.expect("^info string out of memory$")
    engine.expect("^readyok$")
    engine.expect("^info string out of memory$")
    engine.expect("^bestmove [1-9]")


def test_threads_that_cannot_be_started(scripted: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search goes on with those that there are, and every go is answered; the pauses of loading stay empty."""
    left, start = iter(range(2)), threading.Thread.start

    def start_some(thread: threading.Thread) -> None:
        if thread.name == "repeated" or (thread.name == "helper" and next(left, None) is None):
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_some)
    engine = scripted(Script(solve_seconds=0.01))
    engine.send("setoption name Threads value 8", "isready")
    engine.expect("^info string 8 threads cannot be had; searching with 3$")
    engine.expect("^readyok$")
    engine.send("position sfen 7k1/9/9/9/9/9/9/9/4K4 b 2G 1")
    for go in ("go depth 2", "go byoyomi 50", "go infinite", "go mate 50"):
        engine.send(go, *(["stop"] if "infinite" in go else []))
        engine.expect("^(bestmove|checkmate)", timeout=2)


def test_no_memory_for_the_mate_search_of_the_root(scripted: ScriptedEngine) -> None:
    """It is left out, which is told once; the game's own search is made."""
    engine = scripted(Script(solvers=False))
    engine.send("isready", "go byoyomi 50", "go byoyomi 50")
    engine.expect("^info string no memory for a mate table of 16 MB; no mate search before a search$")
    for pattern in ("^readyok$", *["^info depth", "^bestmove"] * 2):
        engine.expect(pattern)
    assert sum("mate table" in line for line in engine.seen) == 1


def test_no_memory_for_a_mate_table(scripted: ScriptedEngine) -> None:
    """go mate takes a smaller one."""
    engine = scripted(Script(most_megabytes=1, solution=("mate", ["G*2b"])))
    engine.send("isready", "position sfen 7k1/9/9/9/9/9/9/9/4K4 b 2G 1")
    engine.expect("^readyok$")
    engine.send("setoption name USI_Hash value 4", "go mate nodes 100")
    engine.expect("^checkmate G.2b$")


@pytest.mark.parametrize("end", ["stop", "quit", "end of input"])
@pytest.mark.parametrize("job", ["perft 9", "bench 60"])
def test_perft_and_bench_can_be_stopped(job: str, end: str) -> None:
    """By stop, which says so, by quit and by the end of input."""
    engine = InProcess(load_core)
    engine.send("setoption name EvalFile value material", SMALL_TABLE, job)
    engine.silent("nodes", 0.1)
    if end == "end of input":
        engine.end_input()
    else:
        engine.send(end)
    engine.expect("^info string stopped$", timeout=10)
    if end == "stop":
        engine.send("isready", "quit")
    assert ("readyok" in engine.drain(10)) == (end == "stop")
    engine.close()


def test_perft_counts_in_parts() -> None:
    """Deep counts are put together from shallow ones; too deep a one is refused."""
    board = Board()
    for depth, leaves in ((1, 30), (4, 719731), (5, 19861490)):
        assert list(perft(board, depth))[-1].startswith(f"nodes {leaves} ")
    assert board.moves() == []
    with pytest.raises(ValueError, match="65"):
        next(perft(board, 65))


def test_quit_does_not_wait_for_loading(scripted: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does the end of input: a GUI that dies leaves nothing behind."""
    monkeypatch.setattr(session, "QUIT_SECONDS", 0.2)
    engine = scripted(Script(load_seconds=2))
    engine.send("isready", "go infinite")
    begun = time.monotonic()
    engine.end_input()
    engine.drain()
    assert time.monotonic() - begun < 1


@pytest.mark.parametrize("go", ["go movetime 9e18", "go btime 9e18 wtime 9e18", "go mate 9e18", "go nodes 9e18"])
def test_more_milliseconds_than_a_clock_counts(scripted: ScriptedEngine, go: str) -> None:
    """They are a long time, which `stop` ends."""
    engine = scripted(Script(solve_seconds=30))
    engine.send("position sfen 7k1/9/9/9/9/9/9/9/4K4 b 2G 1", go)
    engine.silent("error|checkmate|bestmove", 0.05)
    engine.send("stop")
    engine.expect("^(bestmove [1-9]|checkmate)", timeout=2)


def test_long_and_strange_text_is_quoted_in_part(scripted: ScriptedEngine) -> None:
    """In printable ASCII, and no longer than a line that a GUI can show."""
    engine = scripted(Script())
    engine.send("go depth 1 searchmoves " + "日本 " * 20_000, "position startpos moves " + "\x1b[31m" * 20_000)
    engine.send("setoption name " + "\x07x" * 20_000 + " value 1", "setoption name BookFile value a\x1b[31m")
    engine.send("getoption BookFile", "isready")
    engine.expect("^readyok$")
    assert all(len(line) < 1100 and line.isprintable() for line in engine.seen)
    assert "BookFile = a\\x1b[31m" in engine.seen


def test_loading_prints_empty_lines(scripted: ScriptedEngine) -> None:
    """While loading takes long, an empty line comes every second."""
    engine = scripted(Script(load_seconds=2.3))
    engine.send("isready")
    engine.expect("^$")
    engine.expect("^$")
    engine.expect("^readyok$")


def test_new_game_clears_only_what_was_used(scripted: ScriptedEngine) -> None:
    """Table and histories are cleared between games, and not before anything was searched."""
    script = Script()
    engine = scripted(script)
    engine.send("isready", "usinewgame", "go depth 1", "usinewgame", "isready")
    for pattern in ("^readyok$", "^bestmove", "^readyok$"):
        engine.expect(pattern)
    assert script.made == {"tables": 1, "workers": 1, "cleared": 1, "new_games": 1}


def test_isready_after_a_game_clears_for_the_next(scripted: ScriptedEngine) -> None:
    """What is not on the clock: usinewgame has nothing left to do. After a go the game is being analysed."""
    script = Script()
    engine = scripted(script)
    engine.send("isready", "go depth 1", "isready", "gameover win", "go depth 1", "isready")
    for pattern in ("^readyok$", "^bestmove", "^readyok$", "^bestmove", "^readyok$"):
        engine.expect(pattern)
    assert script.made["cleared"] == 0
    engine.send("gameover win", "isready", "usinewgame", "isready")
    for _ in range(2):
        engine.expect("^readyok$")
    assert script.made == {"tables": 1, "workers": 1, "cleared": 1, "new_games": 1}


def test_every_thread_clears_its_part(scripted: ScriptedEngine) -> None:
    script = Script(clear_seconds=0.3)
    engine = scripted(script)
    engine.send("setoption name Threads value 3", "isready", "go depth 1", "usinewgame", "isready")
    for pattern in ("^readyok$", "^bestmove", "^readyok$"):
        engine.expect(pattern)
    assert (script.made["cleared"], script.made["new_games"], script.cleared) == (1, 3, {(0, 3), (1, 3), (2, 3)})


def test_a_missing_book_costs_isready_nothing_else(scripted: ScriptedEngine) -> None:
    """It is tried again at each, but the table and what it holds stay."""
    script = Script()
    engine = scripted(script)
    engine.send("setoption name BookFile value /no/such/book.db", "isready", "isready", "isready")
    for _ in range(3):
        engine.expect("^info string book '/no/such/book.db'")
        engine.expect("^readyok$")
    assert script.made["tables"] == 1


def test_no_memory_for_the_position(scripted: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The go has an answer all the same."""
    engine = scripted(Script())
    engine.send("isready")
    engine.expect("^readyok$")

    def refuse(own: session.Session) -> Board:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(session.Session, "_current", refuse)
        engine.send("go mate nodes 10")
        engine.expect("^info string out of memory$")
        engine.expect("^checkmate")
    engine.send("go depth 1")
    engine.expect("^bestmove [1-9]")


def test_a_line_beyond_the_longest_is_cut(scripted: ScriptedEngine) -> None:
    """What is behind counts as another line, and the next lines are read as ever."""
    engine = scripted(Script())
    engine.send("x" * (LONGEST_LINE + 10), "isready", "go depth 1")
    engine.expect("^readyok$")
    engine.expect("^bestmove [1-9]")


def test_the_search_for_the_shortest_mate_has_a_limit(scripted: ScriptedEngine) -> None:
    """go mate infinite: ten times the nodes of the proof, and ten million at least; with a time the time alone."""
    script = Script(solution=("mate", ["G*2b"]), solve_seconds=0)
    engine = scripted(script)
    engine.send("isready", "position sfen 7k1/9/9/9/9/9/9/9/4K4 b 2G 1")
    engine.expect("^readyok$")
    for go in ("go mate infinite", "go mate 1000"):
        engine.send(go)
        engine.expect("^checkmate G\\*2b$")
    assert script.solved_within == [0, PATIENCE_NODES, 0, 0]


def test_a_constant_is_set_by_its_name(scripted: ScriptedEngine) -> None:
    """Constants of the search are undeclared options."""
    script = Script()
    engine = scripted(script)
    engine.send("setoption name Tune_LmrBase value 100", "isready")
    engine.expect("^readyok$")
    assert script.constants == {"LmrBase": 100}


def test_a_mate_is_searched_before_the_search(scripted: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(solution=("mate", ["G*2b"]))
    engine = scripted(script)
    monkeypatch.setattr(thinking, "MATE_NODES_PER_MS", 0)
    engine.send("isready", "position sfen 7k1/9/9/9/9/9/9/9/4K4 b 3G 1", "go byoyomi 100")
    engine.expect("^bestmove")
    assert script.solved == []
    monkeypatch.undo()
    engine.send("go byoyomi 100")
    engine.expect("^bestmove")
    assert script.solved == ["shortest"]


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("NoSuch", "3", "unknown constant 'NoSuch'"),
        ("LmrMinDepth", "21", "LmrMinDepth"),
        ("LmrMinDepth", "many", "many"),
        ("LmrMinDepth", "inf", "infinity"),
    ],
)
def test_a_constant_that_cannot_be_set(name: str, value: str, reason: str) -> None:
    """One line that quotes both; play goes on."""
    engine, before = InProcess(load_core), tunable("LmrMinDepth")
    engine.send(SMALL_TABLE, f"setoption name Tune_{name} value {value}", "go depth 1")
    assert reason in engine.expect(f"^info string option Tune_{name} cannot be '{value}': ")
    engine.expect("^bestmove")
    engine.close()
    assert tunable("LmrMinDepth") == before


def test_settings_reach_the_core(scripted: ScriptedEngine) -> None:
    """Draw values, move limit, declaration rule and GenerateAllLegalMoves reach the workers."""
    script = Script()
    engine = scripted(script)
    for name, value in (("DrawValueBlack", -100), ("DrawValueWhite", 50), ("MaxMovesToDraw", 320)):
        engine.send(f"setoption name {name} value {value}")
    engine.send("setoption name EnteringKingRule value CSARule24", "setoption name GenerateAllLegalMoves value true")
    engine.send("go depth 1")
    engine.expect("^bestmove")
    wanted = {"draw_black": -100, "draw_white": 50, "max_moves": 320, "declaration": "CSARule24", "include_all": True}
    assert script.configured == wanted


def test_a_crash_in_the_search_still_answers(scripted: ScriptedEngine) -> None:
    """An error in the search is one info string and a legal move."""
    engine = scripted(Script(crash=True))
    engine.send("go depth 3")
    engine.expect("^info string error in search: RuntimeError")
    engine.expect("^bestmove [1-9]")
    engine.send("isready")
    engine.expect("^readyok$")


def test_mate_solver_is_used(scripted: ScriptedEngine) -> None:
    """The result of the mate solver is printed."""
    place = "position sfen 7k1/9/9/9/9/9/9/9/4K4 b 2G 1"
    for solution, answer in ((("mate", ["G*2b"]), "G*2b"), (("nomate", []), "nomate"), (("unknown", []), "timeout")):
        engine = scripted(Script(solution=solution, solve_seconds=0))
        engine.send(place, "go mate infinite")
        assert engine.expect("^checkmate") == f"checkmate {answer}"


def test_mate_solver_is_stopped_by_its_clock(scripted: ScriptedEngine) -> None:
    """`go mate MS` that finds nothing in time is a timeout."""
    engine = scripted(Script(solution=("nomate", []), solve_seconds=30))
    engine.send("position sfen 7k1/9/9/9/9/9/9/9/4K4 b 2G 1", "go mate 50")
    assert engine.expect("^checkmate", timeout=1) == "checkmate timeout"


@pytest.mark.parametrize(
    ("seconds", "option", "answer"),
    [(0.0, "true", "G*2b"), (30.0, "true", "G*2b 2a2b G*2c"), (0.0, "false", "G*2b 2a2b G*2c")],
)
def test_a_shorter_mate_is_answered_where_there_is_time(
    scripted: ScriptedEngine, seconds: float, option: str, answer: str
) -> None:
    """With MateShortest the first mate is printed as it comes, and answered where no shorter one comes in time."""
    first = "G*2b 2a2b G*2c"
    script = Script(solution=("mate", first.split()), solve_seconds=0, shorten_seconds=seconds, shortest=["G*2b"])
    engine = scripted(script)
    engine.send(f"setoption name MateShortest value {option}")
    engine.send("position sfen 7k1/9/9/9/9/9/9/9/4K4 b 3G 1", "go mate 200")
    if option == "true":
        engine.expect(f"^info score mate 3 .* pv {re.escape(first)}$")
    assert engine.expect("^checkmate", timeout=1) == f"checkmate {answer}"


@pytest.mark.parametrize("go", ["go infinite", "go", "go ponder btime 1000 wtime 1000", "go mate infinite"])
@pytest.mark.parametrize("behind", ["isready", "usinewgame", "position startpos moves 7g7f", "go depth 1"])
def test_what_stops_a_waiting_search_may_arrive_before_it_begins(
    scripted: ScriptedEngine, go: str, behind: str
) -> None:
    """While the engine loads, a go that must wait for `stop` is queued, and behind it a command that would stop it."""
    engine = scripted(Script(load_seconds=0.1, solve_seconds=30))
    place = "position sfen 7k1/9/9/9/9/9/9/9/4K4 b 2G 1"
    engine.send("isready", place, go, "perft 1", behind)
    engine.expect("^readyok$")
    engine.expect("^(bestmove|checkmate)", timeout=2)
    engine.send("isready")
    engine.expect("^readyok$", timeout=2)


def test_a_queued_ponderhit_comes_before_what_is_behind_it(scripted: ScriptedEngine) -> None:
    """go, ponderhit, position, all while the engine loads: the search has its time, and is not stopped."""
    engine = scripted(Script(load_seconds=0.1, seconds=lambda depth: 0.02))
    engine.send(
        "setoption name PvInterval value 0", "isready", "go ponder movetime 300", "ponderhit", "position startpos"
    )
    engine.expect("^readyok$")
    engine.expect("^bestmove")
    assert max(depth_of(line) for line in engine.seen if line.startswith("info depth")) > 3


def test_a_core_that_cannot_run() -> None:
    """On the wrong processor each command is answered by one info string, and the engine goes on."""

    def load() -> Core:
        raise CoreError("this processor lacks AVX2")

    engine = InProcess(load)
    engine.send("usi", "isready")
    engine.expect("^usiok$")
    engine.expect("^info string this processor lacks AVX2$")
    engine.expect("^readyok$")
    engine.send("go btime 1000 wtime 1000")
    engine.expect("^bestmove resign$")
    engine.send("d", "quit")
    engine.expect("^info string this processor lacks AVX2$")
    engine.close()
