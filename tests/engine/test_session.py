"""Sessions, mostly with a scripted search: answers and info lines, work between searches, races."""

import itertools
import json
import random
import threading
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from core_ext.board import Board
from core_ext.engine import tunable
from tests.engine.conftest import SMALL_TABLE, ScriptedEngine
from tests.engine.fake_core import Script, ScriptedSolver, make_core
from tests.engine.test_usi import TRANSCRIPTS, converse
from tests.engine.usi_transport import InProcess
from usi_engine.core import Core, CoreError, load_core
from usi_engine.game import session
from usi_engine.game.console import perft
from usi_engine.game.loop import LONGEST_LINE
from usi_engine.search import search

# Black mates by G*2b, with a third gold also in three plies.
MATE = "position sfen 7k1/9/9/9/9/9/9/9/4K4 b 2G 1"
MATE_IN_THREE = MATE.replace("2G", "3G")
MATE_IN_ONE = ("mate", ["G*2b"])


@pytest.mark.parametrize("name", [name for name, text in TRANSCRIPTS.items() if text.startswith("=")])
def test_conversations(scripted: ScriptedEngine, name: str) -> None:
    """Each info string comes once."""
    first, *steps = TRANSCRIPTS[name].splitlines()
    script, seen = script_of(json.loads(first[2:])), "{}"
    if steps[-1].startswith("?"):
        seen = steps.pop()[2:]
    engine = scripted(script)
    converse(engine, "\n".join(steps))
    found = {attribute: getattr(script, attribute) for attribute in json.loads(seen)}
    assert json.loads(json.dumps(found, default=sorted)) == json.loads(seen)
    told = [line for line in engine.seen if line.startswith("info string could not start") or "mate table" in line]
    assert len(told) == len({*told})


def script_of(fields: dict[str, Any]) -> Script:
    """Return a script; values and times are the same at each depth, or those from some depths on."""
    for name in {"value", "seconds"} & fields.keys():
        given = fields[name] if isinstance(fields[name], dict) else {1: fields[name]}
        steps = {int(first): value for first, value in given.items()}
        fields[name] = partial(lambda steps, depth: steps[max(first for first in steps if first <= depth)], steps)
    return Script(**fields)


def test_the_rest_of_a_line_beyond_the_longest_counts_as_another_line(scripted: ScriptedEngine) -> None:
    engine = scripted(Script())
    engine.ask("x" * (LONGEST_LINE + 10), "isready", "go depth 1", answer=["^readyok$", "^bestmove [1-9]"])


@pytest.mark.parametrize(
    ("option", "printed"),
    [("PvInterval value 300", [9]), *((option, [*range(1, 10), 9]) for option in
                                      ("PvInterval value 0", "ConsiderationMode value true"))],
)  # fmt: skip
def test_printed_depths(scripted: ScriptedEngine, option: str, printed: list[int]) -> None:
    """In a game a fast search prints only its last line."""
    engine = scripted(Script(seconds=lambda depth: 0.0))
    engine.ask(f"setoption name {option}", "go depth 9", answer=["^bestmove"])
    assert [int(line.split()[2]) for line in engine.seen if line.startswith("info depth")] == printed


def test_threads_that_cannot_be_started(scripted: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search goes on with fewer, and every go is answered; no empty lines are printed while loading."""
    left, start = iter(range(2)), threading.Thread.start

    def start_some(thread: threading.Thread) -> None:
        if thread.name == "repeated" or (thread.name == "helper" and next(left, None) is None):
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_some)
    engine = scripted(Script(solve_seconds=0.01))
    fewer = "^info string could not start 8 threads; searching with 3$"
    engine.ask("setoption name Threads value 8", "isready", MATE, answer=[fewer, "^readyok$"])
    for go in ("go depth 2", "go byoyomi 50", "go infinite", "go mate 50"):
        engine.ask(go, *(["stop"] if "infinite" in go else []), answer=["^(bestmove|checkmate)"])


@pytest.mark.parametrize("end", ["stop", "quit", "end of input"])
@pytest.mark.parametrize("job", ["perft 9", "bench 60"])
def test_perft_and_bench_can_be_stopped(real: InProcess, job: str, end: str) -> None:
    real.send(SMALL_TABLE, job)
    real.silent("nodes", 0.1)
    real.end(end)
    real.expect("^info string stopped$", timeout=10)
    if end == "stop":
        real.send("isready", "quit")
    assert ("readyok" in real.drain(10)) == (end == "stop")


def test_perft_counts_in_parts() -> None:
    """Deep counts are added up from shallow ones."""
    board = Board()
    for depth, leaves in ((1, 30), (4, 719731)):
        assert list(perft(board, depth, lambda: False))[-1].startswith(f"nodes {leaves} ")
    assert board.moves() == []


def test_quit_does_not_wait_for_loading(scripted: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does the end of input: the engine of a GUI that dies ends."""
    monkeypatch.setattr(session, "QUIT_SECONDS", 0.2)
    engine = scripted(Script(load_seconds=1.5))
    engine.send("isready", "go infinite")
    begun = time.monotonic()
    engine.end_input()
    engine.drain()
    assert time.monotonic() - begun < 1


@pytest.mark.parametrize("end", ["quit", "end of input"])
def test_quit_while_a_large_table_is_allocated(scripted: ScriptedEngine, end: str) -> None:
    script = Script(touch_seconds=0.05)
    engine = scripted(script)
    engine.ask("go infinite", "stop")
    engine.send("setoption name USI_Hash value 9600", "isready")  # 15 s
    engine.silent("^readyok$", 0.2)
    begun = time.monotonic()
    engine.end(end)
    engine.drain()
    assert time.monotonic() - begun < 1
    assert 1 < sum(parts > 1 for _, parts, _ in script.touched) < 100


def test_all_threads_touch_the_table(scripted: ScriptedEngine) -> None:
    script = Script(touch_seconds=0.05)
    engine = scripted(script)
    engine.ask("setoption name USI_Hash value 300", "setoption name Threads value 4", "isready",
             answer=["^readyok$"])  # fmt: skip
    assert sorted(touched[:2] for touched in script.touched) == [(part, 10) for part in range(10)]
    assert len({thread for _, _, thread in script.touched}) == 4


def test_long_and_strange_text_is_quoted_in_part(scripted: ScriptedEngine) -> None:
    """It is printable, no longer than a line that a GUI can show, and Japanese stays Japanese."""
    engine = scripted(Script())
    engine.send("go depth 1 searchmoves " + "日本 " * 20_000, "position startpos moves " + "\x1b[31m" * 20_000)
    engine.send("setoption name " + "\x07x" * 20_000 + " value 1", "setoption name BookFile value 本\x1b[31m\u202e")
    engine.ask("getoption BookFile", "isready", answer=["^readyok$"])
    assert all(len(line) < 1100 and line.isprintable() for line in engine.seen)
    assert "BookFile = 本\\x1b[31m\\u202e" in engine.seen
    assert any("日本 日本 " in line for line in engine.seen)


def test_loading_prints_empty_lines(scripted: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("usi_engine.game.session.KEEPALIVE_SECONDS", 0.1)
    scripted(Script(load_seconds=0.35)).ask("isready", answer=["^$", "^$", "^readyok$"])


def test_no_memory_for_the_position(scripted: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(own: session.Session) -> Board:
        raise MemoryError

    engine = scripted(Script())
    with monkeypatch.context() as patch:
        patch.setattr(session.Session, "_current", refuse)
        engine.ask("go mate nodes 10", answer=["^info string out of memory$", "^checkmate"])
    engine.ask("go depth 1", answer="^bestmove [1-9]")


@pytest.mark.parametrize(("nodes", "solved"), [(0, []), (20, ["shortest"])])
def test_a_mate_is_searched_before_the_search(
    scripted: ScriptedEngine, monkeypatch: pytest.MonkeyPatch, nodes: int, solved: list[str]
) -> None:
    monkeypatch.setattr(search, "MATE_NODES_PER_MS", nodes)
    script = Script(solution=MATE_IN_ONE, solve_seconds=0)
    scripted(script).ask("isready", MATE_IN_THREE, "go byoyomi 100", answer=["^bestmove"])
    assert script.solved == solved


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [("NoSuch", "3", "unknown constant 'NoSuch'"), ("LmrMinDepth", "21", "LmrMinDepth"),
     ("LmrMinDepth", "many", "many"), ("LmrMinDepth", "2.5", "2.5")],
)  # fmt: skip
def test_a_constant_that_cannot_be_set(real: InProcess, name: str, value: str, reason: str) -> None:
    """One line quotes both; play goes on."""
    before = tunable("LmrMinDepth")
    real.send(SMALL_TABLE, f"setoption name Tune_{name} value {value}", "go depth 1")
    assert reason in real.expect(f"^info string option Tune_{name} cannot be '{value}': ")
    real.expect("^bestmove")
    assert tunable("LmrMinDepth") == before


@pytest.mark.parametrize("go", ["go infinite", "go", "go ponder btime 1000 wtime 1000", "go mate infinite"])
@pytest.mark.parametrize("after", ["usinewgame", "position startpos moves 7g7f", "go depth 1", "stop"])
def test_what_stops_a_waiting_search_may_arrive_before_it_begins(scripted: ScriptedEngine, go: str, after: str) -> None:
    """While the engine loads, a go that waits for `stop` is queued, and later a command that stops it."""
    engine = scripted(Script(load_seconds=0.05, solve_seconds=30))
    engine.ask("isready", MATE, go, "perft 1", after, answer=["^readyok$", "^(bestmove|checkmate)"])
    engine.ask("isready", answer=["^readyok$"])


WAITING = ["go infinite", "go ponder btime 0 wtime 0 byoyomi 10", "go mate infinite"]
OTHERS = ["setoption name MultiPV value 2", "getoption MultiPV", "isready", "eval", "d", "perft 1", "help"]
ENDING = ["usinewgame", "position startpos", "go depth 1", "stop", "gameover win"]
# The quick tests take every n-th of many conversations.
EVERY = pytest.mark.parametrize("every", [11, pytest.param(1, marks=pytest.mark.slow)])


@EVERY
@pytest.mark.parametrize("before", [[], ["isready"], ["usinewgame"], ["go movetime 20"], ["perft 1"]])
def test_no_command_waits_for_one_behind_it(scripted: ScriptedEngine, before: list[str], every: int) -> None:
    """Whatever two commands stand before it, in whatever state it arrives, `ponderhit` or `stop` is obeyed."""
    engine = scripted(Script(seconds=lambda depth: 0.0 if depth < 3 else 0.02, solve_seconds=30))
    for go, one, other in [*itertools.product(WAITING, ["", *OTHERS], OTHERS)][::every]:
        lines = [MATE, *before, go, *filter(None, (one, other)), "ponderhit" if "ponder" in go else "stop"]
        engine.ask(*lines, answer=["^(bestmove|checkmate)"] * (1 + ("go movetime 20" in before)))


@EVERY
def test_every_go_is_answered_once_among_any_three_commands(scripted: ScriptedEngine, every: int) -> None:
    engine = scripted(Script(seconds=lambda depth: 0.0 if depth < 3 else 0.02, solve_seconds=30))
    for lines in [*itertools.product([*WAITING, *OTHERS[:3], *ENDING, "ponderhit"], repeat=3)][::every]:
        engine.send(*lines, "stop", "position startpos", "isready")
        while not engine.is_settled():
            engine.expect("^(bestmove|checkmate|readyok)")


def test_stop_behind_many_queued_lines(scripted: ScriptedEngine) -> None:
    """Each line costs the same, however many wait (20,000 took minutes), and the last value counts."""
    engine = scripted(Script())
    engine.send(
        "position startpos", "go infinite", *(f"setoption name MaxMovesToDraw value {n}" for n in range(20_000))
    )
    engine.ask("stop", "getoption MaxMovesToDraw", answer=["^bestmove", "MaxMovesToDraw.* 19999"])


def test_a_core_that_cannot_run() -> None:
    """On the wrong processor each command is answered by one info string, and the engine goes on."""

    def load() -> Core:
        raise CoreError("this processor lacks AVX2")

    engine, lacks = InProcess(load), "^info string this processor lacks AVX2$"
    engine.ask("usi", "isready", answer=["^usiok$", lacks, "^readyok$"])
    engine.ask("go btime 1000 wtime 1000", answer=["^bestmove resign$"])
    engine.ask("d", "quit", answer=[lacks])
    engine.close()


# ---- between the searches of a game ----


def seconds_to_answer(engine: InProcess, *lines: str) -> float:
    begun = time.monotonic()
    engine.ask(*lines)
    return time.monotonic() - begun


def test_the_clearing_for_a_new_game_is_on_the_clock(scripted: ScriptedEngine) -> None:
    """A GUI does not wait after usinewgame: the clock of its go runs while the table is cleared."""
    engine = scripted(Script(clear_seconds=0.3, solve_seconds=0))
    seconds_to_answer(engine, "isready", "go depth 1")
    assert 0.3 < seconds_to_answer(engine, "usinewgame", "position startpos", "go byoyomi 500") < 0.7


def test_late_mate_searches_cost_the_game_no_time(scripted: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The margin depends on the lateness of moves alone."""
    solve = ScriptedSolver.solve

    def late(solver: ScriptedSolver, board: Board, node_limit: int = 0, aim: str = "short") -> Any:
        found = solve(solver, board, node_limit, aim)
        time.sleep(0.2 if aim == "first" else 0)
        return found

    monkeypatch.setattr(search, "MATE_NODES_PER_MS", 0)
    engine = scripted(Script(solve_seconds=0.1))
    engine.send("isready", MATE_IN_THREE)
    monkeypatch.setattr(ScriptedSolver, "solve", late)
    for _ in range(3):
        engine.ask("go mate 50", answer="^checkmate timeout")
    monkeypatch.setattr(ScriptedSolver, "solve", solve)
    for _ in range(4):  # the margin that is assumed before the first move fades
        seconds_to_answer(engine, "go byoyomi 100")
    assert seconds_to_answer(engine, "position startpos", "go byoyomi 500") > 0.4


def test_a_mate_at_the_root_is_within_the_rules(real: InProcess) -> None:
    """It must end before MaxMovesToDraw, and must not contain a fourth repetition by check, which would lose."""
    place = "position sfen 9/2k6/9/3LG4/7S1/1R7/9/9/8K b G 1"
    real.ask(SMALL_TABLE, "isready", answer="^readyok$")
    for last_ply, mated in ((3, True), (2, False)):
        real.ask(f"setoption name MaxMovesToDraw value {last_ply}", place, "go byoyomi 500")
        assert (" score mate 3 " in real.seen[-2]) == mated
    repeated = " ".join(["5d6c 7b6a 6c5c 6a7b", *["5c6c 7b6a 6c5c 6a7b"] * 2])
    real.send("setoption name MaxMovesToDraw value 0", f"{place} moves {repeated}", "go byoyomi 500")
    assert real.expect("^bestmove").split()[1] != "5c6c"


# ---- commands that arrive as a search ends ----

# Searches, and engines that are started for some of them; the slow tests take more.
TIMES = pytest.mark.parametrize("times", [60, pytest.param(300, marks=pytest.mark.slow)])
CORES = pytest.mark.parametrize("core", ["scripted", "real"])
SEARCH_SECONDS = 0.002
PONDER = "go ponder btime 1000 wtime 1000 byoyomi 50"


def ready_engine(core: str) -> InProcess:
    """Return an engine whose depths take about as long as the races wait."""
    script = Script(seconds=lambda depth: SEARCH_SECONDS / 4)
    engine = InProcess(load_core if core == "real" else lambda: make_core(script))
    small = ("EvalFile value material", "USI_Hash value 1", "Threads value 2")
    engine.send(*(f"setoption name {option}" for option in small))
    engine.ask("isready", answer="^readyok$")
    return engine


def waits(seed: int, times: int) -> Iterator[float]:
    """Yield waits around the length of a search, some of them 0."""
    rng = random.Random(seed)
    for number in range(times):
        yield 0.0 if number % 5 == 0 else rng.uniform(0, 2 * SEARCH_SECONDS)


@TIMES
@CORES
@pytest.mark.parametrize(
    ("go", "odd", "even"),
    [
        ("go depth 4", ["stop"], ["stop"]),
        (PONDER, ["ponderhit", "stop"], ["stop", "ponderhit"]),
        ("go infinite", *[["stop", "position startpos moves 7g7f", "go depth 2"]] * 2),
    ],
)
def test_stop_at_the_end_of_a_search(core: str, go: str, odd: list[str], even: list[str], times: int) -> None:
    """It may come with ponderhit, or with the next go, which it does not end."""
    engine = ready_engine(core)
    for number, wait in enumerate(waits(1, times), 1):
        engine.send(go)
        time.sleep(wait / 4 if "infinite" in go else wait)
        engine.send(*(odd if number % 2 else even))
        for _ in range(1 + ("go depth 2" in odd)):
            engine.expect("^bestmove", timeout=5)
        if number % 20 == 0:
            engine.ask("isready", answer="^readyok$")
            assert engine.is_settled()
    engine.close()
