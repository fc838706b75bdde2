"""usi_engine.Engine and analyse: limits, results, threads, Ctrl-C; and the names of usi_engine."""

import inspect
import math
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, cast

import pytest

import usi_engine
from core_ext.board import BLACK, WHITE, Board, Outcome, Termination
from core_ext.engine import MATE, MATE_BOUND
from tests.positions import DECLARABLE, HARD_MATE, MATE_IN_ONE, MATED
from tests.programs import HEED_CTRL_C, output_of
from tests.scripted_engine import scripted
from usi_engine import Analysis, Engine, Limit, Score, WeightsError, analyse, mate, second_solutions
from usi_engine.api.engine import OF_A_MOVE
from usi_engine.api.search_engine import OptionValues
from usi_engine.book.entry import BookError

LIMIT = 400.0  # seconds of a search that is ended from outside
MOST_MOMENTS = 50


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine("material", megabytes=1) as made:
        yield made


# ---- results ----


def test_one_search(engine: Engine) -> None:
    board = Board()
    found = engine.analyse(board, nodes=3000)
    assert found.move == found.pv[0] == found.lines[0].move
    assert Board.from_moves(found.pv)
    assert len(found.lines) == 1 and found.lines[0].score == found.score
    assert 0 < found.nodes <= 3500 and found.depth >= 1 and found.time > 0 and found.outcome is None
    assert board == Board() and board.moves() == []


def test_limits_of_depth_and_time(engine: Engine) -> None:
    found = engine.analyse(Board(), depth=3)
    assert found.depth == found.lines[0].depth == 3 <= found.lines[0].seldepth
    found = engine.analyse(Board(), time=0.2)
    assert 0.15 < found.time < 3 and found.nodes > 100


def test_several_lines_and_chosen_moves(engine: Engine) -> None:
    found = engine.analyse(Board(), depth=4, multipv=3)
    assert len({line.move for line in found.lines}) == 3
    assert sorted(found.lines, key=lambda line: line.score, reverse=True) == list(found.lines)
    assert engine.analyse(Board(), depth=2, moves=["1g1f"]).move == "1g1f"
    found = engine.analyse(Board(), depth=2, moves=("1g1f", "9g9f"), multipv=5)
    assert {line.move for line in found.lines} == {"1g1f", "9g9f"}


def test_mates(engine: Engine) -> None:
    found = engine.analyse(Board(MATE_IN_ONE), depth=3)
    assert (found.move, found.score.mate, found.score.cp, str(found.score)) == ("G*5b", 1, None, "mate 1")
    assert found.score.value == MATE - 1
    score = engine.analyse(Board("4k4/9/3GPG3/9/9/9/9/9/4K4 w G 1"), depth=6).score
    assert score.mate is not None and score.mate < 0 and score.value < -MATE_BOUND
    assert str(score) == f"mate {score.mate}"


def test_a_new_engine_and_a_new_game_search_alike(engine: Engine) -> None:
    one = analyse(Board(), depth=6, evaluation="material")
    with Engine("material") as other:
        other.analyse(Board(MATE_IN_ONE), depth=6)
        other.new_game()
        again = other.analyse(Board(), depth=6)
    assert (one.nodes, one.lines) == (again.nodes, again.lines)


def test_watch_sees_each_depth_and_may_raise(engine: Engine) -> None:
    seen = list[Analysis]()
    found = engine.analyse(Board(), depth=4, watch=seen.append)
    assert [part.depth for part in seen] == [1, 2, 3, 4]
    assert seen[-1].lines == found.lines

    def fail(found: Analysis) -> None:
        raise KeyError(found.depth)

    with pytest.raises(KeyError):
        engine.analyse(Board(), depth=4, watch=fail)
    assert engine.analyse(Board(), depth=1).depth == 1


def test_scores_from_a_point_of_view(engine: Engine) -> None:
    score = engine.analyse(Board("4k4/9/9/9/9/9/9/9/4K4 w r 1"), depth=1).score
    assert score.turn == WHITE == score.pov(WHITE).turn and score.pov(WHITE) is score
    assert (score.pov(BLACK).value, score.pov(BLACK).cp, score.pov(BLACK).turn) == (-score.value, -score.value, BLACK)
    assert score.win_chance > 0.8 and score.win_chance + score.pov(BLACK).win_chance == pytest.approx(1)
    mated = Score(-MATE + 4, WHITE)
    assert (str(mated.pov(BLACK)), mated.win_chance, mated.pov(BLACK).win_chance) == ("mate 4", 0.0, 1.0)
    with pytest.raises(ValueError, match="not a colour: 2"):
        score.pov(2)


def test_play(engine: Engine) -> None:
    for limit in (Limit(depth=3), Limit(black_clock=1, white_clock=1), Limit(byoyomi=0.2)):
        result = engine.play(Board(), limit)
        assert result.move and Board.from_moves(filter(None, (result.move, result.ponder))) and result.score
    assert (engine.play(Board(MATED), Limit(depth=1)).move, engine.play(Board(MATED), nodes=1).end) == (
        None, "resign",
    )  # fmt: skip
    assert engine.play(Board(DECLARABLE), depth=1).end == "win"
    with pytest.raises(ValueError, match="either a Limit or"):
        engine.analyse(Board(), Limit(depth=1), nodes=1)


TRY = "9/4K4/9/9/9/9/9/9/k8 b RB2G2S2N2L9Prb2g2s2n2l9p 1"
MATE_IN_NINE = "6B2/7Rl/6S2/7GB/8k/8N/9/9/9 b r3g3s3n3l18p 1"  # a search prefers 2b1b+ at -2800


def test_the_mate_solver_goes_first() -> None:
    """In a move and in an analysis, among several lines too, and if its first move is among those to search."""
    board = Board(MATE_IN_NINE)
    with Engine(megabytes=1) as engine:
        played = engine.play(board, Limit(black_clock=0, white_clock=0, byoyomi=1))
        assert (played.move, played.source, str(played.score)) == ("2d2e", "mate", "mate 9")
        found = engine.analyse(board, nodes=10_000)
        assert (found.move, found.source, found.score.mate, found.pv) == ("2d2e", "mate", 9, played.pv)
        found = engine.analyse(board, nodes=10_000, multipv=3)
        assert [line.score.mate for line in found.lines] == [9, None, None] and len({*found.lines}) == 3
        assert engine.analyse(board, nodes=10_000, moves=["2d2e", "2b1b+"]).source == "mate"
        assert engine.analyse(board, nodes=10_000, moves=["2b1b+"]).score.mate is None
        assert engine.analyse(board, depth=1).source == "search"


def test_the_book_and_a_level_play() -> None:
    with Engine("material", megabytes=1) as engine:
        clock = Limit(black_clock=60, white_clock=60)
        assert engine.play(Board(), clock).source == "book"
        assert engine.analyse(Board(), Limit(byoyomi=0.1)).source == "search"
        engine.configure({"usi_ownbook": False, "SkillLevel": 0})
        played = engine.play(Board(), clock)
        assert played.source == "search" and played.move in Board().legal_moves
        assert engine.analyse(Board(), nodes=2000).depth > 1
        engine.configure({"SkillLevel": 20, "ResignValue": 100})
        behind = Board("4k4/9/9/9/9/9/9/9/4K4 b r 1")
        assert engine.play(behind, Limit(byoyomi=0.1)).end == "resign" and engine.play(behind, depth=1).move


def test_a_win_by_declaration_or_try_is_no_mate(engine: Engine) -> None:
    """At the root and one ply before, as 20000 centipawns."""
    before = DECLARABLE.replace(" b ", " w ")
    for sfen, rule, cp in ((DECLARABLE, "CSARule27", 20_000), (before, "CSARule27", -20_000), (TRY, "TryRule", 20_000)):
        engine.configure({"EnteringKingRule": rule})
        score = engine.analyse(Board(sfen), nodes=5000).score
        assert (score.cp, score.mate, score.plies_to_end) == (cp, None, 2 if sfen == before else 1)
    assert engine.play(Board(TRY), depth=5).move == "5b5a"


def test_a_stream_gives_each_depth_until_its_block_ends(engine: Engine) -> None:
    with engine.analysis(Board(), multipv=2) as stream:
        parts = [next(stream) for _ in range(3)]
        with pytest.raises(RuntimeError, match="another thread"):
            engine.analyse(Board(), depth=1)
    assert [part.depth for part in parts] == [1, 2, 3] and len(parts[-1].lines) == 2
    assert stream.result().depth >= 3
    with engine.analysis(Board(), depth=4) as stream:
        assert [part.depth for part in stream] == [1, 2, 3, 4] and next(stream, None) is None
    with pytest.raises(ValueError, match="'7g7e'"), engine.analysis(Board(), moves=["7g7e"]):
        pass


def test_the_static_value(engine: Engine) -> None:
    assert engine.static_value(Board("4k4/9/9/9/9/9/9/9/4K4 w R 1")) == -990
    with Engine({"R": 2000}, megabytes=1) as other:
        assert other.static_value(Board("4k4/9/9/9/9/9/9/9/4K4 b R 1")) == 2000


def test_games_that_are_over(engine: Engine) -> None:
    found = engine.analyse(Board(MATED), nodes=100)
    assert found.outcome == Outcome(Termination.CHECKMATE, BLACK)
    assert (found.move, found.pv, found.score.mate, found.score.value, found.nodes) == (None, (), 0, -MATE, 0)
    found = engine.analyse(Board(DECLARABLE), nodes=100)
    assert found.outcome == Outcome(Termination.DECLARATION, BLACK)
    assert (found.score.cp, found.score.mate, str(found.score)) == (20_000, None, "+20000")
    draw = Board.from_moves(["2h3h", "8b7b", "3h2h", "7b8b"] * 3)
    assert engine.analyse(draw, nodes=100).score.value == 0


# ---- refusals ----


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({}, "a search needs an end"), ({"nodes": 0}, "nodes must be from 1"), ({"nodes": -5}, "-5"),
        ({"nodes": 1 << 60}, str(1 << 60)), ({"depth": 0}, "depth must be from 1 to 127, not 0"),
        ({"depth": 128}, "128"), ({"time": 0}, "time must be a number of seconds above 0, not 0"),
        ({"time": -1.5}, "-1.5"), ({"time": math.nan}, "nan"), ({"time": math.inf}, "inf"),
        ({"depth": 1, "multipv": 0}, "MultiPV must be from 1 to 593, not 0"), ({"depth": 1, "moves": []}, "no moves"),
        ({"depth": 1, "moves": ["7g7e"]}, "'7g7e'"),
        ({"limit": Limit(time=1, black_clock=1)}, "give either a time or clocks"),
        ({"nodes": 1.5}, "float"), ({"depth": "3"}, "str"), ({"depth": 1, "multipv": 1.0}, "float"),
    ],
)  # fmt: skip
def test_limits_out_of_range_are_refused(engine: Engine, limits: dict[str, Any], reason: str) -> None:
    with pytest.raises((ValueError, TypeError), match=re.escape(reason)):
        engine.analyse(Board(), **limits)


def test_other_arguments_of_an_engine_are_refused() -> None:
    for threads, megabytes in ((0, 1), (513, 1), (1, 0)):
        with pytest.raises(ValueError, match="must be from 1"):
            Engine("material", threads=threads, megabytes=megabytes)
    wrong: list[tuple[Any, type[Exception], str]] = [
        ("none.bin", WeightsError, "none.bin"), ({"P": 10_001}, ValueError, "10001"), (3, TypeError, "not int"),
    ]  # fmt: skip
    for evaluation, kind, reason in wrong:
        with pytest.raises(kind, match=reason):
            Engine(evaluation)


def test_something_else_than_a_board_is_refused(engine: Engine) -> None:
    calls: list[Callable[[Any], object]] = [
        lambda board: engine.analyse(board, depth=1), lambda board: engine.play(board, Limit(depth=1)),
        engine.analysis, engine.static_value, mate,
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(TypeError, match=r"give a Board, such as Board\(\) .*, not 'startpos'"):
            call("startpos")
    with pytest.raises(TypeError, match="give a Limit, or nodes=, depth= or time=, not 1000"):
        engine.analyse(Board(), cast("Limit", 1000))


def test_options(engine: Engine) -> None:
    """A refused option leaves the others as they were."""
    assert str(engine.options["Threads"]).startswith("spin default 1 ") and engine.options.keys() == set(OF_A_MOVE)
    assert engine.analyse(Board(DECLARABLE), depth=1).outcome
    engine.configure({"EnteringKingRule": "NoEnteringKing", "Threads": 2})
    assert engine.analyse(Board(DECLARABLE), depth=1).outcome is None and engine.threads == 2
    wrong: list[tuple[OptionValues, str]] = [
        ({"PvInterval": 0}, "Engine has no option 'PvInterval'; it has USI_Hash,"), ({"BookFile": "x.db"}, "'x.db'"),
        ({"Threads": 1, "SlowMover": "fast"}, "option SlowMover cannot be 'fast'; it stays 100"),
        ({"Threads": 513}, "Threads must be from 1 to 512, not 513"), ({"EvalFile": "none.bin"}, "none.bin"),
    ]  # fmt: skip
    for options, reason in wrong:
        with pytest.raises((ValueError, WeightsError, BookError), match=re.escape(reason)):
            engine.configure(options)
    assert engine.analyse(Board(DECLARABLE), depth=1).outcome is None and engine.threads == 2
    engine.configure({"EvalFile": "<internal>"})
    lone_rook = "4k4/9/9/9/9/9/9/9/4K4 b R 1"
    assert engine.static_value(Board(lone_rook)) != 990
    with Engine(megabytes=1, options={"EvalFile": "material", "USI_Hash": 2}) as other:
        assert other.static_value(Board(lone_rook)) == 990


def refuses_all(engine: Engine, reason: str) -> None:
    for call in (lambda: engine.analyse(Board(), depth=1), engine.new_game, lambda: engine.static_value(Board())):
        with pytest.raises(RuntimeError, match=reason):
            call()


# ---- threads and Ctrl-C ----


def searching(engine: Engine, found: list[Analysis]) -> threading.Thread:
    """Start a long search in a thread."""
    begun = threading.Event()

    def search() -> None:
        found.append(engine.analyse(Board(), time=60, watch=lambda part: begun.set()))

    thread = threading.Thread(target=search)
    thread.start()
    assert begun.wait(10)
    return thread


def test_one_search_at_a_time(engine: Engine) -> None:
    for end in (engine.stop, engine.close):
        found = list[Analysis]()
        thread = searching(engine, found)
        refuses_all(engine, "another thread")
        end()
        thread.join(10)
        assert found and found[0].move
    engine.close()
    refuses_all(engine, "closed")


@pytest.mark.parametrize("threads", [1, 2])
def test_close_within_watch_ends_the_search_around_it(threads: int) -> None:
    engine, seen = Engine("material", threads=threads, megabytes=1), list[int]()

    def watch(found: Analysis) -> None:
        seen.append(found.depth)
        if found.depth == 2:
            engine.close()
            engine.close()
            with pytest.raises(RuntimeError):
                engine.new_game()

    found = engine.analyse(Board(), time=60, watch=watch)
    assert (seen, found.move is not None, engine._resources) == ([1, 2], True, None)
    assert found.depth >= 2  # the other thread may be deeper by then, and its result the better one
    refuses_all(engine, "closed")


def test_a_board_may_change_during_its_search(engine: Engine) -> None:
    board, changed = Board(), threading.Event()

    def watch(found: Analysis) -> None:
        board.set_sfen(MATE_IN_ONE)
        changed.set()

    assert Board().is_legal(engine.analyse(board, depth=5, watch=watch).move or "")
    assert changed.is_set()


def test_ctrl_c_ends_a_search() -> None:
    code = (
        HEED_CTRL_C + "import _thread\nfrom usi_engine import Board, Engine\n"
        "def interrupt(found):\n    if found.depth == 2:\n        _thread.interrupt_main()\n"
        "with Engine('material', megabytes=1) as engine:\n"
        "    try:\n        engine.analyse(Board(), time=1000, watch=interrupt)\n"
        "    except KeyboardInterrupt:\n        print('stopped')\n"
        "    print(engine.analyse(Board(), depth=1).depth)\n"
    )
    assert output_of(code) == "stopped\n1\n"


@pytest.mark.skipif(os.name == "nt", reason="a signal of POSIX")
def test_ctrl_c_while_the_result_of_a_stream_is_awaited_ends_its_search() -> None:
    code = (
        HEED_CTRL_C + "import os, threading\nfrom usi_engine import Board, Engine\n"
        "timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))\n"
        "with Engine('material', megabytes=1) as engine:\n    timer.start()\n"
        "    try:\n        with engine.analysis(Board()) as stream:\n            stream.result()\n"
        "    except KeyboardInterrupt:\n        print('stopped')\n"
        "    print(engine.analyse(Board(), depth=1).depth)\n"
    )
    assert output_of(code) == "stopped\n1\n"


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_at_any_moment_ends_a_search(threads: int) -> None:
    """From handing it to its thread until the wait for it; nothing goes on afterwards."""
    with Engine("material", threads=threads, megabytes=1) as engine:
        for moment in range(1, MOST_MOMENTS):
            waiting = interrupted_at(engine, moment)
            begun = time.monotonic()
            assert engine.analyse(Board(), depth=1).depth == 1
            assert time.monotonic() - begun < LIMIT / 4, "the search before went on"
            if waiting:
                return
    raise AssertionError(f"no wait within {MOST_MOMENTS} moments")


def interrupted_at(engine: Engine, moment: int) -> bool:
    """Interrupt a long search at the n-th check for signals; return whether it was already being waited for.

    Python checks at the beginning of a function and after each call of a C function.
    """
    seen: list[str] = []

    def profile(frame: FrameType, event: str, argument: object) -> None:
        if event != "return" and (seen or frame.f_code.co_name == "submit"):
            seen.append(frame.f_code.co_name)
            if len(seen) == moment:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sys.setprofile(profile)
        try:
            engine.analyse(Board(), time=LIMIT)
        finally:
            sys.setprofile(None)
    return "poll" in seen


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork()")
def test_a_forked_engine_refuses_to_search(tmp_path: Path) -> None:
    """A search would wait for threads that do not exist; `close` leaves the other process alone."""
    code = (
        "import os\nfrom usi_engine import Board, Engine\n"
        f"engines = Engine('material', megabytes=1), Engine.popen({scripted(tmp_path / 'log')})\n"
        "with engines[0], engines[1], engines[0].analysis(Board()) as stream:\n"
        "    next(stream)\n    child = os.fork()\n"
        "    if child == 0:\n"
        "        for call in (*(engine.new_game for engine in engines), lambda: next(stream), stream.result):\n"
        "            try:\n                call()\n"
        "            except RuntimeError as error:\n                print(error, flush=True)\n"
        "        for engine in engines:\n            engine.close()\n        os._exit(0)\n"
        "    os.waitpid(child, 0)\n    next(stream)\n    engines[1].new_game()\n"
    )
    assert output_of(code) == 4 * "fork() does not copy the threads of an engine: make a new one in this process\n"


# ---- mates ----


def test_mates_are_found() -> None:
    found = mate(Board("4k4/9/4P4/9/9/9/9/9/9 b G 1"), aim="shortest", megabytes=1)
    assert found and found.found is True and found.moves == ("G*5b",)
    none = mate(Board(), nodes=1000, time=60)
    assert not none and (none.found, none.moves) == (False, ())
    undecided = mate(Board(HARD_MATE), nodes=100, megabytes=1)
    assert not undecided and undecided.found is None and undecided.nodes > 0
    wrong: list[dict[str, Any]] = [{"nodes": 0}, {"time": -1}, {"megabytes": 0}]
    for limits in wrong:
        with pytest.raises(ValueError):
            mate(Board(), **limits)


def test_second_solutions_are_found() -> None:
    board = Board("5B3/7Pk/2R6/9/9/9/9/9/9 b rb4g4s4n4l17p 1")
    line = ["7c2c+", "1b1a", "2b2a+"]
    (second,) = second_solutions(board, line, megabytes=1)
    assert (second.ply, second.moves, second.kind.value) == (1, ("4a2c+", "1b1a", "7c7a+"), "second solution")
    assert any(other.kind.value == "undecided" for other in second_solutions(board, line, nodes=1, megabytes=1))
    with pytest.raises(ValueError, match="no mate: '7c2c'"):
        second_solutions(board, ["7c2c"])


# ---- records, names ----


def test_games_of_a_folder(tmp_path: Path) -> None:
    """Games come in the order of names; other files are left alone."""
    (tmp_path / "b").mkdir()
    for name, text in (("b/1.csa", "+7776FU\n%TORYO\n"), ("a.KIF", "1 ７六歩(77)\n2 "), ("c.txt", "")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(usi_engine.RecordError, match=r"a\.KIF, line 2"):
        list(usi_engine.load_games(tmp_path))
    faults = list[usi_engine.RecordError]()
    (game,) = usi_engine.load_games(tmp_path, faults.append)
    assert (game.path, game.result, len(faults)) == (tmp_path / "b" / "1.csa", 1, 1)
    (tmp_path / "empty").mkdir()
    with pytest.raises(usi_engine.RecordError, match="empty: no game records in this folder"):
        list(usi_engine.load_games(tmp_path / "empty"))


def test_importing_loads_neither_core_nor_search() -> None:
    code = (
        "import sys, usi_engine\n"
        "print([name for name in sys.modules if name.startswith(('core_ext', 'usi_engine.'))])\n"
        "print(usi_engine.Board().ply, 'numpy' in sys.modules, hasattr(usi_engine, 'nothing'))"
    )
    assert output_of(code) == "[]\n1 False False\n"


def test_every_public_name_exists() -> None:
    assert all(getattr(usi_engine, name) is not None for name in usi_engine.__all__)  # without PyTorch, as import *
    assert {*usi_engine.__all__, "PositionDataset"} == set(usi_engine._HOMES)
    assert inspect.getmembers(usi_engine)  # as help() does
