"""Misuse of the public API never crashes the interpreter: it raises an exception or returns a result."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pytest

from core_ext.board import Board
from core_ext.engine import INFINITE, PAIRS, KppWeights, MateSolver, Network, PieceValues, StopToken, Table, Worker
from tests.conftest import NewWorker
from tests.positions import HARD_MATE
from usi_engine.evaluation.architecture import parse_name

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


def test_a_second_init_leaves_the_table_to_its_workers() -> None:
    table = Table(1)
    worker = Worker(table, StopToken())
    for megabytes in (0, 1 << 30, 64):
        with suppress(Exception):
            table.__init__(megabytes)  # type: ignore[misc]
    assert (table.megabytes, table.hashfull()) == (1, 0)
    worker.set_root(Board())
    worker.search(5, -INFINITE, INFINITE)


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


def test_a_network_of_an_architecture_that_changes() -> None:
    """Its sizes are read once."""

    class Growing:
        def __init__(self) -> None:
            self.asked = 0

        def __getattr__(self, name: str) -> object:
            return getattr(parse_name("NNUE_kp_64x2_8_8"), name)

        @property
        def hidden1(self) -> int:
            self.asked += 1
            return 8 if self.asked == 1 else 128

    first = np.zeros(64, np.int16), np.zeros((1710, 64), np.int16)
    dense = bytes(4 + 8 * (4 + 128) + 8 * (4 + 32) + 4 + 32)
    growing = Growing()
    assert Network(growing, *first, dense, None, 16).width == 64
    assert growing.asked == 1


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


READERS: list[Callable[[Board], Any]] = [
    lambda board: board.perft(3),
    Board.copy, copy.deepcopy, pickle.dumps, Board.outcome, lambda board: board.legal_moves(), Board.piece_map,
    Board.svg, Board.kanji,
    lambda board: board == Board(OTHER), lambda board: board.attackers(0, "5e"), lambda board: board.push_kif("７六歩"),
    lambda board: [board.csa(move) for move in board.legal_moves()], Board.peek, Board.moves, Board.mate_in_three,
]  # fmt: skip


def test_reading_a_board_that_another_thread_changes() -> None:
    board = Board()

    def change() -> None:
        board.set_sfen(OTHER)
        for move in board.legal_moves()[:3]:
            board.push(move)
            board.pop()
        board.set_sfen("startpos")

    for reader in READERS:
        assert at_once(partial(reader, board), change, 0.05) <= {"ValueError", "IndexError"}
    assert Board(board.sfen()) == board


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
