"""The file of KPP weights: round trip, damage, any header, refusals, size."""

from __future__ import annotations

import contextlib
import hashlib
import threading
import tracemalloc
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core_ext.engine import BONAPIECES, HALF_SQUARES, PAIRS, SQUARES
from core_ext.training import king_zones
from tests.damage import accepted, cuts, flips
from usi_engine.evaluation import kpp_file
from usi_engine.evaluation.kpp_file import (
    FEATURES,
    KINGS_OF_ZONE,
    MAGIC,
    ZONES,
    Folded,
    compress,
    decompress,
    file_bytes,
    king_zone,
    load_weights,
    pack_zone,
    read_blocks,
    read_file,
    read_folded,
    read_header,
    run_all,
    save_weights,
    unpack_pieces,
    unpack_zone,
)
from usi_engine.evaluation.names import KPP, PACKAGED, Fault, WeightsError


def some_weights() -> Folded:
    return Folded(
        piece=np.arange(BONAPIECES, dtype=np.int32), tempo=7, kp=np.arange(HALF_SQUARES * BONAPIECES).astype(np.int16),
        pp=np.zeros(PAIRS, np.int16), kkp=np.zeros(HALF_SQUARES * SQUARES * BONAPIECES, np.int16), kkp_step=4,
        kpp=np.zeros(HALF_SQUARES * PAIRS, np.int16), kpp_step=4, pp_tempo=np.zeros(PAIRS, np.int16), tempo_step=4,
        kp_tempo=np.zeros(HALF_SQUARES * BONAPIECES, np.int16),
    )  # fmt: skip


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KOMADORI_CACHE", "")


@pytest.fixture(scope="module", autouse=True)
def equal_blocks_are_packed_once() -> Iterator[None]:
    """Compress and decompress equal blocks, most of which are zeros here, only once."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("compress", "decompress"):
            patch.setattr(kpp_file, name, cache(getattr(kpp_file, name)))
        yield


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("weights") / "some.kpp"
    save_weights(path, some_weights(), {"note": "empty"})
    return path


def test_a_file_comes_back_as_it_was_saved(saved: Path) -> None:
    header, blocks = read_blocks(saved.read_bytes())
    assert (header["card"], len(blocks)) == ({"note": "empty"}, 6 + ZONES + HALF_SQUARES)
    found, expected = (asdict(folded) for folded in (read_folded(str(saved)), some_weights()))
    assert all(np.array_equal(found[name], expected[name]) for name in expected)


def test_the_kings_of_a_zone_come_back_as_they_were_packed() -> None:
    """Their differences wrap. Zones are those of training."""
    rng, kings = np.random.default_rng(2), KINGS_OF_ZONE[1]
    kpp = np.zeros((HALF_SQUARES, PAIRS), np.int16)
    for king in kings:
        kpp[king, rng.integers(0, PAIRS, 1000)] = rng.integers(-32768, 32768, 1000)
    kpp[kings, 0] = [-32768, 32767, 32767, 0]
    unpacked = dict(unpack_zone(pack_zone(1, kpp), 1))
    assert list(unpacked) == kings
    assert all((unpacked[king] == kpp[king]).all() for king in kings)
    assert [king_zone(king) for king in range(HALF_SQUARES)] == list(king_zones()[:HALF_SQUARES])


def test_tempo_pairs_in_other_steps_are_refused(saved: Path, tmp_path: Path) -> None:
    header, blocks = read_blocks(saved.read_bytes())
    (tmp_path / "other.kpp").write_bytes(file_bytes(header | {"turn_step": 8}, blocks.values()))
    with pytest.raises(WeightsError, match="steps of 8, not 4"):
        load_weights(str(tmp_path / "other.kpp"))


def test_damaged_and_truncated_files_are_refused(saved: Path, tmp_path: Path) -> None:
    data = saved.read_bytes()
    damaged = [*flips(data, (0, 9, 40, 3000, len(data) - 5)), *cuts(data, 4)]
    assert accepted(lambda path: load_weights(str(path)), tmp_path / "damaged.kpp", damaged, WeightsError) == 0


def test_every_byte_of_the_header_is_checked(saved: Path) -> None:
    data = saved.read_bytes()
    _, end = read_header(data)
    for damaged in flips(data[: end + 8], range(end)):
        with pytest.raises(WeightsError):
            read_header(damaged)


def piece_block(value: int) -> bytes:
    """Return the block of piece values with one that is not zero."""
    pieces = np.zeros(BONAPIECES, "<i4")
    pieces[700] = value
    return compress(pieces.tobytes())


def test_a_piece_value_out_of_range_is_refused(saved: Path, tmp_path: Path) -> None:
    for value in (-(2**20), 2**20):
        assert unpack_pieces({"piece": piece_block(value)})[700] == value
    for value in (-(2**31), -(2**20) - 1, 2**20 + 1, 2**31 - 1):
        with pytest.raises(Fault, match=rf"piece value {value} is not -1048576 to 1048576"):
            unpack_pieces({"piece": piece_block(value)})
    header, blocks = read_blocks(saved.read_bytes())
    blocks["piece"] = piece_block(2**20 + 1)
    header["blocks"][0][1:] = [len(blocks["piece"]), hashlib.sha256(blocks["piece"]).hexdigest()]
    (tmp_path / "other.kpp").write_bytes(file_bytes(header, blocks.values()))
    for read in (load_weights, read_folded):
        with pytest.raises(WeightsError, match=r"other\.kpp.*piece value 1048577"):
            read(str(tmp_path / "other.kpp"))


def test_jobs_run_without_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[int] = []
    jobs = [partial(done.append, number) for number in range(9)]

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    run_all(jobs, 2)
    assert sorted(done) == list(range(9))


def test_the_packaged_weights_are_small_and_have_a_card() -> None:
    assert PACKAGED[KPP].stat().st_size < 15_000_000
    assert read_blocks(read_file(KPP))[0]["card"]["corpus"]["training"] > 1_000_000


def test_reading_takes_no_more_memory_than_the_file() -> None:
    tracemalloc.start()
    size = len(read_file(KPP))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size < peak < 1.5 * size


def small_header(blocks: dict[str, bytes]) -> dict[str, Any]:
    table = [[name, len(block), hashlib.sha256(block).hexdigest()] for name, block in blocks.items()]
    numbers = {"tempo": 7, "kkp_step": 8, "kpp_step": 8, "turn_step": 4}
    return {"features": FEATURES, **numbers, "card": {"note": "small"}, "blocks": table}


BLOCKS = {"piece": compress(bytes(4 * BONAPIECES)), "kp": compress(bytes(8)), "pp": b"no block"}
SMALL = file_bytes(small_header(BLOCKS), BLOCKS.values())


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "some.kpp"


def check(path: Path, data: bytes) -> None:
    """Check that readers raise WeightsError only, and that none accepts the weights, whose blocks are too small."""
    path.write_bytes(data)
    with contextlib.suppress(WeightsError):
        read_blocks(data)
    with pytest.raises(WeightsError):
        read_folded(str(path))


def test_a_block_that_expands_to_much_takes_no_memory() -> None:
    bomb = compress(bytes(1 << 24))
    assert len(bomb) < 1 << 15
    tracemalloc.start()
    with pytest.raises(WeightsError, match="does not have 8 bytes"):
        decompress(bomb, 8)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1 << 23  # the dictionary has 4 MB


GOOD = small_header(BLOCKS)
WRONG: list[Any] = [None, True, -1, 0, 2.5, 10**30, float("inf"), float("nan"), "", "x", [], {}, [[]], ["x"], {"x": 1}]
ROWS = [["kp", size, digest] for size in WRONG for digest in ("", None)] + [["kkp", 8, ""], [{}, 8, ""], ["kp"]]


def test_a_header_with_any_value_or_table_or_without_a_field_or_nested_too_deeply(path: Path) -> None:
    header, blocks = read_blocks(SMALL)
    assert (header["tempo"], blocks) == (7, BLOCKS)
    lacking = [{name: GOOD[name] for name in GOOD if name != missing} for missing in GOOD]
    changed = [GOOD | {name: value} for name in GOOD for value in WRONG]
    for header in [*WRONG, *lacking, *changed, *(GOOD | {"blocks": [row]} for row in ROWS)]:
        check(path, file_bytes(header, BLOCKS.values()))
    text = b"[" * 200_000
    check(path, MAGIC + len(text).to_bytes(4, "little") + hashlib.sha256(text).digest() + text)
