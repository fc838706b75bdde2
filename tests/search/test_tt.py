"""The transposition table: fields, replacement, torn entries, mate values; what a search stores; random content."""

import itertools
import os
import random
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import pytest

from core_ext._probe import TableProbe, fill_table, scramble_table, table_entry, table_value, wrong_finds
from core_ext.board import Board
from core_ext.engine import INFINITE, MATE, MATE_BOUND, KppWeights, StopToken, Table, Worker
from tests.conftest import deepen
from tests.positions import MATSURI, MIDGAME, random_boards
from tests.programs import resident_megabytes
from tests.shogi.slow_shogi import START
from usi_engine.match.runs import OPENINGS
from usi_engine.records.games import opening_boards

UPPER, LOWER, EXACT = 1, 2, 3
KEY = 0x0123_4567_89AB_CDEF


@pytest.fixture
def table() -> TableProbe:
    return TableProbe(1)


def in_one_bucket(count: int) -> list[int]:
    """Return keys that differ only in the lower 32 bits."""
    return [KEY + i * 0x1001 for i in range(count)]


def stored_depths(table: TableProbe, keys: list[int]) -> dict[int, int]:
    found = {key: table.probe(key) for key in keys}
    return {key: data[3] for key, data in found.items() if data}


def test_every_field_comes_back(table: TableProbe) -> None:
    assert table.probe(KEY) is table.probe(0) is None  # the table is empty
    rng = random.Random(1)
    ranges = (1, 0xFFFF), (-32768, 32767), (-32768, 32767), (-8, 247), (1, 3)
    for _ in range(5000):
        table.new_search()
        fields = [rng.choice((least, most, rng.randint(least, most))) for least, most in ranges]
        key, on_pv = rng.getrandbits(64), rng.random() < 0.5
        table.store(key, *fields, on_pv)
        assert table.probe(key) == (*fields, on_pv)


# Stores into one position (move, value, static value, depth, bound, PV flag) and what is found after each.
REPLACEMENT = {
    "a store without a move keeps the old move": [
        ((77, 10, 0, 5, LOWER, False), (77, 10, 0, 5, LOWER, False)),
        ((0, 20, 0, 6, UPPER, False), (77, 20, 0, 6, UPPER, False)),
    ],
    "a bound replaces only the move of a much deeper one": [
        ((1, 10, 0, 20, LOWER, False), (1, 10, 0, 20, LOWER, False)),
        ((2, 20, 0, 15, LOWER, False), (2, 10, 0, 20, LOWER, False)),
        ((0, 20, 0, 16, LOWER, False), (2, 10, 0, 20, LOWER, False)),
        ((3, 30, 0, 17, LOWER, False), (3, 30, 0, 17, LOWER, False)),
        ((4, 40, 0, 1, EXACT, False), (4, 40, 0, 1, EXACT, False)),
    ],
    "a bound of a later search replaces a deeper one": [
        ((1, 10, 0, 20, LOWER, False), (1, 10, 0, 20, LOWER, False)),
        ((2, 20, 0, 3, LOWER, False), (2, 20, 0, 3, LOWER, False)),
    ],
    "a bound on a PV may be two plies shallower": [
        ((1, 10, 0, 20, LOWER, False), (1, 10, 0, 20, LOWER, False)),
        ((2, 20, 0, 14, LOWER, True), (2, 10, 0, 20, LOWER, False)),
        ((2, 20, 0, 15, LOWER, True), (2, 20, 0, 15, LOWER, True)),
    ],
}


@pytest.mark.parametrize("case", REPLACEMENT)
def test_replacement_within_a_position(table: TableProbe, case: str) -> None:
    for stored, found in REPLACEMENT[case]:
        if "later search" in case:
            table.new_search()
        table.store(KEY, *stored)
        assert table.probe(KEY) == found
    assert sum(data != 0 for _, data in table.bucket(KEY)) == 1


def test_the_shallowest_of_a_full_bucket_is_replaced(table: TableProbe) -> None:
    *keys, new = in_one_bucket(5)
    for key, depth in zip(keys, (9, 4, 7, 8), strict=True):
        table.store(key, 1, 0, 0, depth, EXACT, False)
    table.store(new, 1, 0, 0, 1, UPPER, False)
    assert stored_depths(table, [*keys, new]) == {keys[0]: 9, keys[2]: 7, keys[3]: 8, new: 1}


@pytest.mark.parametrize("before", [0, 31])
@pytest.mark.parametrize("extra, replaced", [(8, 0), (9, 1)])
def test_one_search_of_age_counts_as_eight_plies(table: TableProbe, before: int, extra: int, replaced: int) -> None:
    """The first entry is one search older and `extra` plies deeper than the second; the rest are deep and new.

    After 32 searches the counter is back at its start.
    """
    *keys, new = in_one_bucket(5)
    for _ in range(before):
        table.new_search()
    table.store(keys[0], 1, 0, 0, 10 + extra, EXACT, False)
    table.new_search()
    table.store(keys[1], 1, 0, 0, 10, EXACT, False)
    for key in keys[2:]:
        table.store(key, 1, 0, 0, 60, EXACT, False)
    table.store(new, 1, 0, 0, 1, EXACT, False)
    assert set(stored_depths(table, [*keys, new])) == {*keys, new} - {keys[replaced]}


def test_a_torn_entry_is_not_found(table: TableProbe) -> None:
    """The entry has the check word of one store and the data word of another, as if two threads wrote at once."""
    one, two = in_one_bucket(2)
    table.store(one, 11, 100, 1, 5, LOWER, False)
    table.store(two, 22, -100, 2, 9, UPPER, True)
    (first_check, first_data), (second_check, second_data), *_ = table.bucket(one)
    table.write(one, 0, first_check, second_data)
    table.write(one, 1, second_check, first_data)
    assert table.probe(one) is table.probe(two) is None


def test_any_flipped_bit_is_noticed(table: TableProbe) -> None:
    table.store(KEY, 11, 100, 1, 5, LOWER, False)
    (check, data), *_ = table.bucket(KEY)
    for bit in range(64):
        table.write(KEY, 0, check ^ 1 << bit, data)
        assert table.probe(KEY) is None
        table.write(KEY, 0, check, data ^ 1 << bit)
        assert table.probe(KEY) is None


@pytest.mark.parametrize("ply", [0, 1, 7, 120])
def test_mates_and_wins_by_rule_count_from_the_stored_position(ply: int) -> None:
    for stored in (MATE - 1, MATE - 2, MATE - 33, 30_000):  # mates, a perpetual check
        assert table_value(stored - ply, ply) == (stored, stored - ply)
        assert table_value(ply - stored, ply) == (-stored, ply - stored)
    for value in (0, 1, -1, 500, -28000, 28000):  # others are stored unchanged
        assert abs(value) < MATE_BOUND and table_value(value, ply) == (value, value)


# ---- through the search ----

ON_PV = 5  # place in an entry


def new_worker(table: Table, weights: KppWeights | None = None) -> Worker:
    worker = Worker(table, StopToken(), weights)
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
    deepen(new_worker(table), "startpos", 9)
    table.new_search()
    assert table.hashfull() == 0  # of this search
    for part, parts in ((-1, 3), (3, 3), (0, 0)):
        with pytest.raises(ValueError, match=f"part {part} of {parts}"):
            table.clear(part, parts)
        with pytest.raises(ValueError, match=f"part {part} of {parts}"):
            table.touch(part, parts)


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
    for board in islice(opening_boards(OPENINGS), 40):
        table, sfen = Table(4), board.sfen()
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


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")
def test_a_table_is_provided_in_parts() -> None:
    """The constructor only allocates."""
    table, resident = Table(512), [resident_megabytes(os.getpid())]
    for part in range(2):
        table.touch(part, 2)
        resident.append(resident_megabytes(os.getpid()))
    assert [after - before for before, after in itertools.pairwise(resident)] == [pytest.approx(256, abs=20)] * 2


def test_several_threads_find_only_stored_entries() -> None:
    table = Table(1)
    with ThreadPoolExecutor(4) as pool:
        # Sixteen keys of one bucket: every store races with others.
        assert [*pool.map(lambda seed: wrong_finds(table, seed, 400_000, 16), range(1, 5))] == [0, 0, 0, 0]


def check_lines(worker: Worker, board: Board) -> None:
    """Check that every move of every line is legal."""
    for line in worker.lines(3):
        Board.from_moves(line.pv, board.sfen())


@pytest.mark.parametrize("sfen", [START, MATSURI, MIDGAME, "4k4/9/9/9/9/9/9/9/4K4 b 2R2B4G4S4N4L18P 1"])
@pytest.mark.parametrize("seed", range(4))
def test_random_results_yield_no_illegal_move(sfen: str, seed: int, weights: KppWeights) -> None:
    """Before each depth, all positions two plies on get random moves, values, depths and bounds."""
    board, table = Board(sfen), Table(8)
    fill_table(table, seed + 1)
    worker = new_worker(table, weights if seed % 2 else None)
    worker.set_root(board)
    for depth in range(1, 6):
        scramble_table(table, board, 2 if len(board.legal_moves()) < 150 else 1, 100 * seed + depth)
        worker.search(depth, -INFINITE, INFINITE, 0, 30_000)
        check_lines(worker, board)
    deepen(worker, board, 1)
    check_lines(worker, board)


def test_a_thread_that_scrambles_the_table_during_the_search() -> None:
    table, ended = Table(4), threading.Event()
    worker = new_worker(table)
    boards = [board.copy() for board in random_boards(7, 60)][::6]
    now = [boards[0]]

    def scramble() -> None:
        seed = 0
        while not ended.is_set():
            seed += 1
            scramble_table(table, now[0].copy(), 2, seed)

    with ThreadPoolExecutor(1) as pool:
        scrambling = pool.submit(scramble)
        for board in boards:
            now[0] = board
            worker.set_root(board)
            for depth in range(1, 7):
                worker.search(depth, -INFINITE, INFINITE, 0, 20_000)
                check_lines(worker, board)
        ended.set()
        scrambling.result()
