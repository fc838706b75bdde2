"""Samples of evaluated positions: legal lines from all over the search."""

from __future__ import annotations

import pytest

from core_ext.board import Board
from core_ext.engine import Worker
from tests.conftest import NewWorker, deepen


def search(worker: Worker, root: str, depth: int = 8) -> list[list[str]]:
    deepen(worker, root, depth)
    return worker.samples()


def test_lines_are_legal_and_of_several_lengths(worker: Worker) -> None:
    worker.sample(20)
    lines = search(worker, "startpos")
    assert worker.nodes // 200 < len(lines) <= worker.nodes // 20
    for line in lines:
        assert not Board.from_moves(line).is_check()  # ValueError for an illegal move
    assert len({len(line) for line in lines}) > 3
    assert len(set(map(tuple, lines))) > len(lines) // 2


def test_there_are_no_more_than_asked_for(worker: Worker) -> None:
    worker.sample(1, 10)
    first = search(worker, "startpos")
    other = search(worker, "4k4/9/9/9/9/9/9/3R5/4K4 b - 1")
    assert len(first) == len(other) == 10 and other != first  # those of the last root alone


def test_sampling_changes_nothing_and_can_be_switched_off(worker: Worker, new_worker: NewWorker) -> None:
    sampling = new_worker(megabytes=16)
    sampling.sample(3)
    assert search(worker, "startpos") == [] != search(sampling, "startpos")
    assert worker.nodes == sampling.nodes
    sampling.sample(0)
    assert search(sampling, "startpos", 4) == []


@pytest.mark.parametrize(("every", "room"), [(-1, 10), (1, 0), (1, -1), (1, 1 << 20)])
def test_numbers_out_of_range_are_refused(worker: Worker, every: int, room: int) -> None:
    with pytest.raises(ValueError, match=f"every {every}th position, {room} at most"):
        worker.sample(every, room)
