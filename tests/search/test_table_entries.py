"""The transposition table through the probe: every field and its range, replacement, torn entries, mate values."""

import random

import pytest

from core_ext._probe import TableProbe, table_value
from core_ext.engine import MATE, MATE_BOUND

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
    for _ in range(5000):
        table.new_search()
        move, value, static_value = rng.randrange(1, 1 << 16), rng.randint(-32768, 32767), rng.randint(-32768, 32767)
        data = (move, value, static_value, rng.randint(-8, 247), rng.choice((1, 2, 3)), rng.random() < 0.5)
        key = rng.getrandbits(64)
        table.store(key, *data)
        assert table.probe(key) == data


@pytest.mark.parametrize("place, least, greatest", [(1, -32768, 32767), (2, -32768, 32767), (3, -8, 247)])
def test_fields_at_their_limits_keep_the_others(table: TableProbe, place: int, least: int, greatest: int) -> None:
    for end in (least, greatest):
        fields: list[int] = [0x5A5A, -1, 1, 7, EXACT, 0]
        fields[place] = end
        table.store(KEY, *fields)
        assert table.probe(KEY) == tuple(fields)
        table.clear()


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
    "a bound on a PV may be two plies shallower": [
        ((1, 10, 0, 20, LOWER, False), (1, 10, 0, 20, LOWER, False)),
        ((2, 20, 0, 14, LOWER, True), (2, 10, 0, 20, LOWER, False)),
        ((2, 20, 0, 15, LOWER, True), (2, 20, 0, 15, LOWER, True)),
    ],
}


@pytest.mark.parametrize("case", REPLACEMENT)
def test_replacement_within_a_position(table: TableProbe, case: str) -> None:
    for stored, found in REPLACEMENT[case]:
        table.store(KEY, *stored)
        assert table.probe(KEY) == found
    assert sum(data != 0 for _, data in table.bucket(KEY)) == 1


def test_a_bound_of_a_later_search_replaces_a_deeper_one(table: TableProbe) -> None:
    table.store(KEY, 1, 10, 0, 20, LOWER, False)
    table.new_search()
    table.store(KEY, 2, 20, 0, 3, LOWER, False)
    assert table.probe(KEY) == (2, 20, 0, 3, LOWER, False)


def test_the_shallowest_of_a_full_bucket_is_replaced(table: TableProbe) -> None:
    *keys, new = in_one_bucket(5)
    for key, depth in zip(keys, (9, 4, 7, 8), strict=True):
        table.store(key, 1, 0, 0, depth, EXACT, False)
    table.store(new, 1, 0, 0, 1, UPPER, False)
    assert stored_depths(table, [*keys, new]) == {keys[0]: 9, keys[2]: 7, keys[3]: 8, new: 1}


@pytest.mark.parametrize("extra, replaced", [(8, 0), (9, 1)])
def test_one_search_of_age_counts_as_eight_plies(table: TableProbe, extra: int, replaced: int) -> None:
    """The first entry is one search older and `extra` plies deeper than the second; the rest are deep and new."""
    *keys, new = in_one_bucket(5)
    table.store(keys[0], 1, 0, 0, 10 + extra, EXACT, False)
    table.new_search()
    table.store(keys[1], 1, 0, 0, 10, EXACT, False)
    for key in keys[2:]:
        table.store(key, 1, 0, 0, 60, EXACT, False)
    table.store(new, 1, 0, 0, 1, EXACT, False)
    assert set(stored_depths(table, [*keys, new])) == {*keys, new} - {keys[replaced]}


def test_generations_wrap_round(table: TableProbe) -> None:
    """After 32 searches the counter is back at its start; an entry from the search before is still one search old."""
    *keys, new = in_one_bucket(5)
    for _ in range(31):
        table.new_search()
    table.store(keys[0], 1, 0, 0, 17, EXACT, False)
    table.new_search()
    for key in keys[1:]:
        table.store(key, 1, 0, 0, 10, EXACT, False)
    table.store(new, 1, 0, 0, 1, EXACT, False)
    assert set(stored_depths(table, [*keys, new])) == {*keys, new} - {keys[0]}


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


@pytest.mark.parametrize("value", [0, 1, -1, 500, -28000, 28000])
def test_other_values_are_stored_unchanged(value: int) -> None:
    assert abs(value) < MATE_BOUND
    assert table_value(value, 9) == (value, value)
