"""The samples of evaluated positions: legal lines, spread over the search, no more than there is room for."""

from __future__ import annotations

import pytest

from core_ext.board import Board
from core_ext.engine import INFINITE, StopToken, Table, Worker


@pytest.fixture
def worker() -> Worker:
    return Worker(Table(1), StopToken())


def search(worker: Worker, board: Board, depth: int = 8) -> list[list[str]]:
    """The samples of a search."""
    worker.set_root(board)
    for deeper in range(1, depth + 1):
        worker.search(deeper, -INFINITE, INFINITE)
    return worker.samples()


def test_lines_are_legal_and_of_several_lengths(worker: Worker) -> None:
    worker.sample(20)
    lines = search(worker, Board())
    assert worker.nodes // 200 < len(lines) <= worker.nodes // 20
    for line in lines:
        board = Board()
        for move in line:
            board.push(move)  # ValueError for an illegal move
        assert not board.is_check()
    assert len({len(line) for line in lines}) > 3
    assert len(set(map(tuple, lines))) > len(lines) // 2


def test_no_more_than_there_is_room_for(worker: Worker) -> None:
    worker.sample(1, 10)
    first = search(worker, Board())
    assert len(first) == 10
    other = search(worker, Board("4k4/9/9/9/9/9/9/3R5/4K4 b - 1"))
    assert len(other) == 10
    assert other != first  # those of the last root alone


def test_none_without_being_asked(worker: Worker) -> None:
    assert search(worker, Board(), 4) == []
    worker.sample(5)
    assert search(worker, Board(), 4)
    worker.sample(0)
    assert search(worker, Board(), 4) == []


def test_the_search_is_the_same(worker: Worker) -> None:
    search(worker, Board())
    nodes = worker.nodes
    other = Worker(Table(1), StopToken())
    other.sample(3)
    search(other, Board())
    assert other.nodes == nodes


@pytest.mark.parametrize(("every", "room"), [(-1, 10), (1, 0), (1, -1), (1, 1 << 20)])
def test_numbers_out_of_range(worker: Worker, every: int, room: int) -> None:
    with pytest.raises(ValueError, match=f"every {every}th position, {room} at most"):
        worker.sample(every, room)
