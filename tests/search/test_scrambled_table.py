"""A table written by several threads or filled with random data: no entry mixes two stores, no move is illegal."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from core_ext._probe import fill_table, scramble_table, wrong_finds
from core_ext.board import Board
from core_ext.engine import INFINITE, KppWeights, StopToken, Table, Worker
from tests.conftest import deepen
from tests.positions import random_boards

POSITIONS = [
    "startpos",
    "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1",
    "8l/1l+R2P3/p2pBG1pp/kps1p4/Nn1P2G2/P1P1P2PP/1PS6/1KSG3+r1/LN2+p3L w Sbgn3p 1",
    "4k4/9/9/9/9/9/9/9/4K4 b 2R2B4G4S4N4L18P 1",
]


def test_several_threads_find_only_stored_entries() -> None:
    table = Table(1)
    with ThreadPoolExecutor(4) as pool:
        # Sixteen keys of one bucket: every store races with others.
        jobs = [pool.submit(wrong_finds, table, seed, 400_000, 16) for seed in range(1, 5)]
        assert [job.result() for job in jobs] == [0, 0, 0, 0]


def check_lines(worker: Worker, board: Board) -> None:
    """Check that every move of every line is legal."""
    for line in worker.lines(3):
        Board.from_moves(line.pv, board.sfen())


@pytest.mark.parametrize("sfen", POSITIONS)
@pytest.mark.parametrize("seed", range(4))
def test_random_results_yield_no_illegal_move(sfen: str, seed: int, weights: KppWeights) -> None:
    """Before each depth, all positions two plies on get random moves, values, depths and bounds."""
    board, table = Board(sfen), Table(8)
    fill_table(table, seed + 1)
    worker = Worker(table, StopToken(), weights if seed % 2 else None)
    worker.configure()
    worker.set_root(board)
    for depth in range(1, 6):
        scramble_table(table, board, 2 if len(board.legal_moves()) < 150 else 1, 100 * seed + depth)
        worker.search(depth, -INFINITE, INFINITE, 0, 30_000)
        check_lines(worker, board)
    deepen(worker, board, 1)
    check_lines(worker, board)


def test_a_thread_that_scrambles_the_table_during_the_search() -> None:
    table, ended = Table(4), threading.Event()
    worker = Worker(table, StopToken())
    worker.configure()
    boards = [board.copy() for board in random_boards(7, 60)][::6]
    now = [boards[0]]

    def scramble() -> None:
        seed = 0
        while not ended.is_set():
            seed += 1
            scramble_table(table, now[0].copy(), 2, seed)

    thread = threading.Thread(target=scramble)
    thread.start()
    try:
        for board in boards:
            now[0] = board
            worker.set_root(board)
            for depth in range(1, 7):
                worker.search(depth, -INFINITE, INFINITE, 0, 20_000)
                check_lines(worker, board)
    finally:
        ended.set()
        thread.join()
