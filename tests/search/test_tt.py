"""The transposition table through the public API."""

import pytest

from core_ext.board import Board
from core_ext.engine import INFINITE, StopToken, Table, Worker


def test_fills_as_the_search_goes_and_empties() -> None:
    table = Table(1)
    worker = Worker(table, StopToken())
    worker.configure()
    assert table.hashfull() == 0
    worker.set_root(Board())
    for depth in range(1, 10):
        worker.search(depth, -INFINITE, INFINITE)
    filled = table.hashfull()
    assert 0 < filled <= 1000
    table.new_search()
    assert table.hashfull() == 0
    table.clear()
    table.new_search()
    assert table.hashfull() == 0


def test_cleared_in_parts() -> None:
    """Each thread clears one; hashfull looks at the first."""
    table = Table(1)
    worker = Worker(table, StopToken())
    worker.configure()
    worker.set_root(Board())
    for depth in range(1, 10):
        worker.search(depth, -INFINITE, INFINITE)
    filled = table.hashfull()
    table.clear(2, 3)
    table.clear(1, 3)
    assert table.hashfull() == filled > 0
    table.clear(0, 3)
    assert table.hashfull() == 0
    for part, parts in ((-1, 3), (3, 3), (0, 0)):
        with pytest.raises(ValueError, match=f"part {part} of {parts}"):
            table.clear(part, parts)


def test_a_second_search_uses_the_table() -> None:
    """The second search of a window by another worker takes far fewer nodes: the table cuts the nodes off the root."""
    table = Table(16)
    counts = []
    for _ in range(2):
        worker = Worker(table, StopToken())
        worker.configure()
        worker.set_root(Board())
        worker.search(12, 49, 50)
        counts.append(worker.nodes)
    assert counts[1] < counts[0] / 4


def test_impossible_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="0 MB"):
        Table(0)
    with pytest.raises(MemoryError, match="1000000000 MB"):
        Table(1_000_000_000)
