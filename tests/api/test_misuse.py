"""Misuse of the public API never crashes the interpreter: it raises an exception or returns a result."""

import copy
import gc
import pickle
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from core_ext.board import Board
from core_ext.engine import INFINITE, PAIRS, KppWeights, MateSolver, Network, PieceValues, StopToken, Table, Worker
from tests.conftest import NewWorker
from tests.positions import HARD_MATE

OTHER = "4k4/9/9/9/9/9/9/9/4K4 b 2R2B 1"


def at_once(first: Callable[[], Any], second: Callable[[], Any], seconds: float = 0.2) -> set[str]:
    """Call both repeatedly in two threads; return the names of the exceptions."""
    end, raised = time.monotonic() + seconds, set[str]()

    def repeat(action: Callable[[], Any]) -> None:
        while time.monotonic() < end:
            try:
                action()
            except Exception as error:
                raised.add(type(error).__name__)

    threads = [threading.Thread(target=repeat, args=(action,)) for action in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


def test_objects_without_init() -> None:
    """`__new__` alone makes an empty board, and no table, worker or solver."""
    board = Board.__new__(Board)
    assert board.legal_moves() == [] and board.perft(3) == 0 and board.mate_in_one() is None
    for kind in (Table, Worker, MateSolver, Network):
        with pytest.raises(TypeError):
            kind.__new__(kind)


def test_views_of_weights_outlive_them() -> None:
    weights = KppWeights()
    with pytest.raises(ValueError, match="allocated"):
        weights.unfold_king(0, np.zeros(PAIRS, np.int16), np.zeros(PAIRS, np.int16), 1)
    weights.allocate()
    views = weights.memory()
    del weights
    gc.collect()
    for view in views:
        view[0] = view[-1] = 1
        assert (view[0], view.readonly, view.format) == (1, False, "B")


class Perverse(Board):
    """A board whose methods return None."""

    def _nothing(self, *arguments: Any) -> Any:
        return None

    copy = pop = moves = sfen = king_square = hand = piece_map = peek = push = set_sfen = _nothing  # type: ignore[assignment]


def test_a_subclass_that_breaks_every_promise() -> None:
    board = Perverse()
    assert board.perft(2) == 0 and board.legal_moves() == []
    for use in (pickle.dumps, copy.copy, copy.deepcopy, Board.svg, Board.kanji, lambda own: own == Board()):
        with suppress(Exception):
            use(board)
    assert Worker(Table(1), StopToken()).set_root(board) == 0
    for name in ("copy", "perft", "outcome", "moves", "is_checkmate", "mate_in_one"):
        with suppress(Exception):
            getattr(Board, name)(board)


def test_perft_works_on_a_copy() -> None:
    board, counts = Board(), set[int]()

    def play() -> None:
        board.push("7g7f")
        board.pop()

    assert not at_once(lambda: counts.add(board.perft(4)), play)
    assert counts <= {719731, Board.from_moves(["7g7f"]).perft(4)}


def test_a_worker_in_two_threads(new_worker: NewWorker) -> None:
    worker = new_worker()
    worker.set_root(Board())

    def disturb() -> None:
        for action in (lambda: worker.set_root(Board(OTHER)), worker.new_game, lambda: worker.lines(600)):
            with suppress(RuntimeError):
                action()
        worker.evaluate(Board())

    assert at_once(lambda: worker.search(7, -INFINITE, INFINITE), disturb) <= {"RuntimeError"}
    assert at_once(lambda: worker.search(7, -INFINITE, INFINITE), lambda: worker.search(6, -INFINITE, INFINITE))
    worker.set_root(Board())


def test_a_mate_solver_in_two_threads(solver: MateSolver) -> None:
    assert at_once(lambda: solver.solve(Board(HARD_MATE), 20_000), solver.clear) <= {"RuntimeError"}
    assert at_once(lambda: solver.solve(Board(HARD_MATE), 20_000), lambda: solver.solve(Board(HARD_MATE), 10_000))
    assert solver.solve(Board(HARD_MATE), 10_000)[0] == "unknown"


@pytest.mark.parametrize("value", [31_000, -31_000, (1 << 31) - 1, -(1 << 31), 1 << 63])
def test_a_draw_value_in_the_range_of_mates_is_refused(worker: Worker, value: int) -> None:
    for name in ("draw_black", "draw_white"):
        with pytest.raises((ValueError, OverflowError)):
            worker.configure(**{name: value})  # type: ignore[arg-type]


def test_piece_values_outlive_their_name(new_worker: NewWorker) -> None:
    values = PieceValues({"R": 2000})
    worker = new_worker(values)
    with suppress(Exception):
        values.__init__({"R": 3})  # type: ignore[misc]
    del values
    gc.collect()
    assert worker.evaluate(Board("4k4/9/9/9/9/9/9/9/4K4 b R 1")) == [("total", 2000)]
