"""Several threads on one mate problem."""

import os
import random
import threading
import time
from pathlib import Path

import pytest

from core_ext.board import Board
from core_ext.engine import MateSolver, StopToken
from tests.mate.test_dfpn import BARE_KING, ends_in_mate, mates_within, scattered
from tests.positions import HARD_MATE
from usi_engine.api.mate_lines import is_mate
from usi_engine.mate_tool.problems import ThreadShares

TASKS = Path("/proc/self/task")


def test_a_long_mate_is_found() -> None:
    for threads in (2, 4):
        solver = MateSolver(32, StopToken(), threads=threads)
        status, line = solver.solve(Board(BARE_KING), 0, "first")
        assert status == "mate" and is_mate(Board(BARE_KING), line)
        assert solver.nodes > 100_000 and solver.expanded > 40_000


def test_answers_by_brute_force_and_by_one_thread() -> None:
    """About 40 of these take so many nodes that helpers start."""
    rng, team, alone = random.Random(40), MateSolver(16, StopToken(), threads=4), MateSolver(16, StopToken())
    found = {"mate": 0, "nomate": 0, "unknown": 0}
    for _ in range(250):
        board = scattered(rng)
        team.clear()
        status, line = team.solve(board, 20_000)
        if team.nodes < 1500:
            continue
        found[status] += 1
        assert {status, alone.solve(board, 20_000)[0]} != {"mate", "nomate"}, board.sfen()
        assert status != "mate" or ends_in_mate(board, line), board.sfen()
        assert status != "nomate" or not mates_within(board, 3), board.sfen()
    assert found["mate"] > 10 and found["nomate"] > 20


def test_a_node_limit_counts_all_threads() -> None:
    for threads in (2, 4, 16):
        solver = MateSolver(16, StopToken(), threads=threads)
        assert solver.solve(Board(HARD_MATE), 60_000) == ("unknown", [])
        assert 60_000 <= solver.nodes < 62_000 + 300 * threads


def test_one_thread_repeats_exactly_after_several() -> None:
    solver, counts = MateSolver(16, StopToken()), set[int]()
    for threads in (1, 3, 1):
        solver.threads = threads
        solver.clear()
        solver.solve(Board(HARD_MATE), 30_000)
        counts |= {solver.nodes} if threads == 1 else set()
    assert len(counts) == 1


@pytest.mark.skipif(not TASKS.exists(), reason="counts threads in /proc")
def test_threads_join_a_running_solve_and_end_with_it() -> None:
    def threads_in_use() -> int:
        return len(os.listdir(TASKS))

    solver, before = MateSolver(16, stop := StopToken()), threads_in_use()
    thread = threading.Thread(target=solver.solve, args=(Board(HARD_MATE),))
    thread.start()
    solver.threads = 4
    until = time.monotonic() + 60
    while threads_in_use() < before + 4 and time.monotonic() < until:
        time.sleep(0.01)
    joined = threads_in_use()
    stop.set()
    thread.join(60)
    assert not thread.is_alive()
    while threads_in_use() > before and time.monotonic() < until:  # the last one may still be leaving
        time.sleep(0.01)
    assert (joined, threads_in_use()) == (before + 4, before)


@pytest.mark.parametrize("threads", [0, -1, 513, 1 << 70])
def test_a_number_of_threads_out_of_range_is_refused(threads: int) -> None:
    solver = MateSolver(1, StopToken())
    with pytest.raises(ValueError, match=f"^threads must be from 1 to 512, not {threads}$"):
        MateSolver(1, StopToken(), threads=threads)
    with pytest.raises(ValueError, match="threads must be"):
        solver.threads = threads
    assert solver.threads == 1


def test_the_last_problems_share_all_threads() -> None:
    first, second, third = solvers = [MateSolver(1, StopToken()) for _ in range(3)]
    shares = ThreadShares(5, 3)
    with shares.for_problem(first):
        with shares.for_problem(second):
            assert [solver.threads for solver in solvers] == [1, 1, 1]
            with shares.for_problem(third):
                assert sorted(solver.threads for solver in solvers) == [1, 2, 2]
            assert sorted(solver.threads for solver in (first, second)) == [2, 3]
        assert first.threads == 5
