"""What a search leaves behind for the next one: marks in the table, and what the root teaches the histories."""

from core_ext._probe import table_entry
from core_ext.board import Board
from core_ext.engine import INFINITE, StopToken, Table, Worker
from tests.positions import data_file
from usi_engine.player import read_openings

ON_PV = 5
UPPER = 1


def one_ply(table: Table, worker: Worker, board: Board) -> int:
    """Search one ply with an empty table; returns the nodes. Below the root everything is quiescence."""
    table.clear()
    worker.set_root(board)
    worker.search(1, -INFINITE, INFINITE)
    return worker.nodes


def test_quiescence_marks_no_leaf_as_on_the_principal_variation() -> None:
    """A mark would keep reverse futility pruning away from the position in every later search."""
    table, board = Table(4), Board()
    one_ply(table, Worker(table, StopToken()), board)
    assert table_entry(table, board)[ON_PV]
    stored = 0
    for move in board.legal_moves():
        board.push(move)
        entry = table_entry(table, board)
        board.pop()
        if entry:
            stored += 1
            assert not entry[ON_PV], move
    assert stored > 20


def test_the_root_teaches_the_histories() -> None:
    """Quiescence teaches nothing, so only the root can bring its best quiet move to the front of the next search."""
    fewer = []
    for sfen in read_openings(data_file("openings.sfen"))[:40]:
        opening, table = Board(sfen), Table(4)
        worker = Worker(table, StopToken())
        first = one_ply(table, worker, opening)
        again = one_ply(table, worker, opening)
        fewer.append(first - again)
    assert min(fewer) >= 0
    assert sum(saved > 0 for saved in fewer) > len(fewer) // 5


def test_a_root_that_fails_low_is_stored_as_a_bound() -> None:
    table, board = Table(4), Board()
    worker = Worker(table, StopToken())
    worker.set_root(board)
    value = worker.search(2, 900, 901)
    assert value <= 900
    move, stored, _, depth, bound, _ = table_entry(table, board)
    assert (stored, depth, bound) == (value, 2, UPPER) and not move
