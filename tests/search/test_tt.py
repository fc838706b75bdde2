"""The transposition table through the search: entries that a search stores, and their effect on the next search."""

import pytest

from core_ext._probe import table_entry
from core_ext.board import Board
from core_ext.engine import StopToken, Table, Worker
from tests.conftest import deepen
from tests.positions import DATA
from usi_engine.player import read_openings

ON_PV = 5  # place in an entry
UPPER = 1


def new_worker(table: Table) -> Worker:
    worker = Worker(table, StopToken())
    worker.configure()
    return worker


def test_a_table_is_filled_by_a_search_and_cleared_in_parts() -> None:
    table = Table(1)
    assert table.hashfull() == 0
    deepen(new_worker(table), "startpos", 9)
    filled = table.hashfull()
    assert 0 < filled <= 1000
    table.clear(2, 3)
    table.clear(1, 3)
    assert table.hashfull() == filled  # hashfull samples the first part
    table.clear(0, 3)
    assert table.hashfull() == 0
    for part, parts in ((-1, 3), (3, 3), (0, 0)):
        with pytest.raises(ValueError, match=f"part {part} of {parts}"):
            table.clear(part, parts)


def test_hashfull_counts_entries_of_this_search() -> None:
    table = Table(1)
    deepen(new_worker(table), "startpos", 9)
    table.new_search()
    assert table.hashfull() == 0


def test_a_second_search_of_the_same_window_takes_few_nodes() -> None:
    table, counts = Table(16), []
    for _ in range(2):
        worker = new_worker(table)
        worker.set_root(Board())
        worker.search(12, 49, 50)
        counts.append(worker.nodes)
    assert counts[1] < counts[0] / 4


def test_impossible_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="0 MB"):
        Table(0)
    with pytest.raises(MemoryError, match="1000000000 MB"):
        Table(1_000_000_000)


def one_ply(table: Table, worker: Worker, board: Board) -> int:
    """Search one ply with an empty table; return the nodes. Below the root there is only quiescence."""
    table.clear()
    deepen(worker, board, 1)
    return worker.nodes


def test_quiescence_does_not_set_the_pv_flag() -> None:
    """The flag would disable reverse futility pruning in the position in every later search."""
    table, board = Table(4), Board()
    one_ply(table, new_worker(table), board)
    assert table_entry(table, board)[ON_PV]
    entries = [table_entry(table, Board.from_moves([move])) for move in board.legal_moves()]
    assert len(list(filter(None, entries))) > 20
    assert not any(entry[ON_PV] for entry in entries if entry)


def test_the_root_updates_the_histories() -> None:
    """Quiescence updates none, so only the root can bring its best quiet move to the front of the next search."""
    saved = []
    for sfen in read_openings(DATA / "openings.sfen")[:40]:
        table = Table(4)
        worker = new_worker(table)
        saved.append(one_ply(table, worker, Board(sfen)) - one_ply(table, worker, Board(sfen)))
    assert min(saved) >= 0
    assert sum(nodes > 0 for nodes in saved) > len(saved) // 5


def test_a_root_that_fails_low_is_stored_as_an_upper_bound() -> None:
    table, board = Table(4), Board()
    worker = new_worker(table)
    worker.set_root(board)
    value = worker.search(2, 900, 901)
    assert value <= 900
    move, stored, _, depth, bound, _ = table_entry(table, board)
    assert (stored, depth, bound) == (value, 2, UPPER) and not move
