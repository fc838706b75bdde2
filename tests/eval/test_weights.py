"""The file of KPP weights: round trip, damage, any header, refusals, size; the cache of unfolded ones."""

import contextlib
import functools
import hashlib
import os
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core_ext.engine import BONAPIECES, HALF_SQUARES, PAIRS, SQUARES
from core_ext.training import king_zones
from tests.damage import accepted, cuts, flips
from usi_engine.evaluation import cache, kpp_file
from usi_engine.evaluation.names import KPP, PACKAGED, Fault, WeightsError
from usi_engine.files import user_folder


def some_weights() -> kpp_file.Folded:
    return kpp_file.Folded(
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
            patch.setattr(kpp_file, name, functools.cache(getattr(kpp_file, name)))
        yield


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("weights") / "some.kpp"
    kpp_file.save_weights(path, some_weights(), {"note": "empty"})
    return path


def test_a_file_comes_back_as_it_was_saved(saved: Path) -> None:
    header, blocks = kpp_file.read_blocks(saved.read_bytes())
    assert (header["card"], len(blocks)) == ({"note": "empty"}, 6 + kpp_file.ZONES + HALF_SQUARES)
    found, expected = (asdict(folded) for folded in (kpp_file.read_folded(str(saved)), some_weights()))
    assert all(np.array_equal(found[name], expected[name]) for name in expected)


def test_the_kings_of_a_zone_come_back_as_they_were_packed() -> None:
    """Their differences wrap. Zones are those of training."""
    rng, kings = np.random.default_rng(2), kpp_file.KINGS_OF_ZONE[1]
    kpp = np.zeros((HALF_SQUARES, PAIRS), np.int16)
    for king in kings:
        kpp[king, rng.integers(0, PAIRS, 1000)] = rng.integers(-32768, 32768, 1000)
    kpp[kings, 0] = [-32768, 32767, 32767, 0]
    unpacked = dict(kpp_file.unpack_zone(kpp_file.pack_zone(1, kpp), 1))
    assert list(unpacked) == kings
    assert all((unpacked[king] == kpp[king]).all() for king in kings)
    assert [kpp_file.king_zone(king) for king in range(HALF_SQUARES)] == list(king_zones()[:HALF_SQUARES])


def test_tempo_pairs_in_other_steps_are_refused(saved: Path, tmp_path: Path) -> None:
    header, blocks = kpp_file.read_blocks(saved.read_bytes())
    (tmp_path / "other.kpp").write_bytes(kpp_file.file_bytes(header | {"turn_step": 8}, blocks.values()))
    with pytest.raises(WeightsError, match="steps of 8, not 4"):
        kpp_file.load_weights(str(tmp_path / "other.kpp"))


def test_damaged_and_truncated_files_are_refused(saved: Path, tmp_path: Path) -> None:
    data = saved.read_bytes()
    damaged = [*flips(data, (0, 9, 40, 3000, len(data) - 5)), *cuts(data, 4)]
    assert accepted(lambda path: kpp_file.load_weights(str(path)), tmp_path / "damaged.kpp", damaged, WeightsError) == 0


def test_every_byte_of_the_header_is_checked(saved: Path) -> None:
    data = saved.read_bytes()
    _, end = kpp_file.read_header(data)
    for damaged in flips(data[: end + 8], range(end)):
        with pytest.raises(WeightsError):
            kpp_file.read_header(damaged)


def piece_block(value: int) -> bytes:
    """Return the block of piece values with one that is not zero."""
    pieces = np.zeros(BONAPIECES, "<i4")
    pieces[700] = value
    return kpp_file.compress(pieces.tobytes())


def test_a_piece_value_out_of_range_is_refused(saved: Path, tmp_path: Path) -> None:
    for value in (-(2**20), 2**20):
        assert kpp_file.unpack_pieces({"piece": piece_block(value)})[700] == value
    for value in (-(2**31), -(2**20) - 1, 2**20 + 1, 2**31 - 1):
        with pytest.raises(Fault, match=rf"piece value {value} is not -1048576 to 1048576"):
            kpp_file.unpack_pieces({"piece": piece_block(value)})
    header, blocks = kpp_file.read_blocks(saved.read_bytes())
    blocks["piece"] = piece_block(2**20 + 1)
    header["blocks"][0][1:] = [len(blocks["piece"]), hashlib.sha256(blocks["piece"]).hexdigest()]
    (tmp_path / "other.kpp").write_bytes(kpp_file.file_bytes(header, blocks.values()))
    for read in (kpp_file.load_weights, kpp_file.read_folded):
        with pytest.raises(WeightsError, match=r"other\.kpp.*piece value 1048577"):
            read(str(tmp_path / "other.kpp"))


def test_jobs_run_without_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[int] = []
    jobs = [partial(done.append, number) for number in range(9)]

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    kpp_file.run_all(jobs, 2)
    assert sorted(done) == list(range(9))


def test_the_packaged_weights_are_small_and_have_a_card() -> None:
    assert PACKAGED[KPP].stat().st_size < 15_000_000
    assert kpp_file.read_blocks(kpp_file.read_file(KPP))[0]["card"]["corpus"]["training"] > 1_000_000


def test_reading_takes_no_more_memory_than_the_file() -> None:
    tracemalloc.start()
    size = len(kpp_file.read_file(KPP))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size < peak < 1.5 * size


def small_header(blocks: dict[str, bytes]) -> dict[str, Any]:
    table = [[name, len(block), hashlib.sha256(block).hexdigest()] for name, block in blocks.items()]
    numbers = {"tempo": 7, "kkp_step": 8, "kpp_step": 8, "turn_step": 4}
    return {"features": kpp_file.FEATURES, **numbers, "card": {"note": "small"}, "blocks": table}


BLOCKS = {"piece": kpp_file.compress(bytes(4 * BONAPIECES)), "kp": kpp_file.compress(bytes(8)), "pp": b"no block"}
SMALL = kpp_file.file_bytes(small_header(BLOCKS), BLOCKS.values())


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "some.kpp"


def check(path: Path, data: bytes) -> None:
    """Check that readers raise WeightsError only, and that none accepts the weights, whose blocks are too small."""
    path.write_bytes(data)
    with contextlib.suppress(WeightsError):
        kpp_file.read_blocks(data)
    with pytest.raises(WeightsError):
        kpp_file.read_folded(str(path))


def test_a_block_that_expands_to_much_takes_no_memory() -> None:
    bomb = kpp_file.compress(bytes(1 << 24))
    assert len(bomb) < 1 << 15
    tracemalloc.start()
    with pytest.raises(WeightsError, match="does not have 8 bytes"):
        kpp_file.decompress(bomb, 8)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1 << 23  # the dictionary has 4 MB


GOOD = small_header(BLOCKS)
WRONG: list[Any] = [None, True, -1, 0, 2.5, 10**30, float("inf"), float("nan"), "", "x", [], {}, [[]], ["x"], {"x": 1}]
ROWS = [["kp", size, digest] for size in WRONG for digest in ("", None)] + [["kkp", 8, ""], [{}, 8, ""], ["kp"]]


def test_a_header_with_any_value_or_table_or_without_a_field_or_nested_too_deeply(path: Path) -> None:
    header, blocks = kpp_file.read_blocks(SMALL)
    assert (header["tempo"], blocks) == (7, BLOCKS)
    lacking = [{name: GOOD[name] for name in GOOD if name != missing} for missing in GOOD]
    changed = [GOOD | {name: value} for name in GOOD for value in WRONG]
    for header in [*WRONG, *lacking, *changed, *(GOOD | {"blocks": [row]} for row in ROWS)]:
        check(path, kpp_file.file_bytes(header, BLOCKS.values()))
    text = b"[" * 200_000
    check(path, kpp_file.MAGIC + len(text).to_bytes(4, "little") + hashlib.sha256(text).digest() + text)


# ---- the cache of unfolded weights ----


class Arrays:
    """Small arrays instead of KppWeights."""

    def __init__(self, *contents: bytes) -> None:
        self.arrays = [bytearray(content) for content in contents]

    def allocate(self) -> None: ...

    def memory(self) -> list[memoryview]:
        return [memoryview(array) for array in self.arrays]

    def complete(self, tempo: int) -> None: ...


def test_stored_arrays_come_back_if_their_sizes_fit(cache_folder: Path) -> None:
    path = cache.cache_file(b"weights")
    assert path is not None and path.parent == cache_folder
    fresh = Arrays(bytes(3), bytes(5))
    assert not cache.fetch(fresh, path)
    cache.keep(Arrays(b"abc", b"defgh"), path)
    assert cache.fetch(fresh, path)
    assert fresh.arrays == [b"abc", b"defgh"]
    assert list(cache_folder.iterdir()) == [path]
    assert not cache.fetch(Arrays(bytes(4)), path)


def test_damage_is_found(cache_folder: Path) -> None:
    """Also if zeros follow up to the full length, as after a lost write."""
    path, content = cache_folder / "some.unfolded", bytes(range(1, 255)) * 330
    cache.keep(Arrays(content, content[:100]), path)
    data = path.read_bytes()
    flipped, short = flips(data, (0, 9, 4096 * 5 + 63, 4096 * 20 + 7, -1)), list(cuts(data, 12))
    for damaged in (*flipped, *short, *(part.ljust(len(data), b"\0") for part in short)):
        assert not fetched(path, damaged)
    assert fetched(path, data)


def fetched(path: Path, data: bytes) -> bool:
    """Return whether the arrays come from a cache with this content."""
    path.write_bytes(data)
    return cache.fetch(Arrays(bytes(254 * 330), bytes(100)), path)


def test_a_damaged_cache_is_written_again(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loaded weights are intact in both cases."""
    content, unfolded = bytes(range(1, 255)) * 330, list[Arrays]()

    def unfold(*_: object) -> Arrays:
        unfolded.append(Arrays(content))
        return unfolded[-1]

    monkeypatch.setattr(kpp_file, "KppWeights", lambda: Arrays(bytes(len(content))))
    monkeypatch.setattr(kpp_file, "unfold", unfold)
    kpp_file.load_weights(KPP)
    (path,) = cache_folder.iterdir()
    kept = path.read_bytes()
    for damage in (b"", b"\x55" * 8192):
        with path.open("r+b") as stream:
            stream.seek(40_000)
            stream.write(damage)
        loaded: object = kpp_file.load_weights(KPP)
        assert isinstance(loaded, Arrays) and loaded.arrays == [content]
        assert (len(unfolded), path.read_bytes()) == (2 if damage else 1, kept)


def test_old_files_are_removed(cache_folder: Path) -> None:
    """Partial ones, and the oldest: other weights have another file."""
    cache_folder.mkdir()
    for part, age in (("old.part", 0), ("new.part", 10**12)):
        (cache_folder / part).write_bytes(b"x")
        os.utime(cache_folder / part, (age, age))
    paths = {cache.cache_file(data) for data in (b"a", b"b", b"c", b"d")}
    for path in filter(None, paths):
        cache.keep(Arrays(b"x"), path)
    kept = set(cache_folder.iterdir())
    assert len(paths) == 4 and kept - paths == {cache_folder / "new.part"}
    assert len(kept & paths) == cache.KEPT_FILES


def test_without_a_folder_or_platformdirs_there_is_no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KOMADORI_CACHE", str(tmp_path / "file" / "below"))
    path = cache.cache_file(b"weights")
    assert path is not None
    cache.keep(Arrays(b"abc"), path)
    assert not cache.fetch(Arrays(bytes(3)), path)
    monkeypatch.setenv("KOMADORI_CACHE", "")
    assert cache.cache_file(b"weights") is None
    monkeypatch.delenv("KOMADORI_CACHE")
    monkeypatch.setitem(sys.modules, "platformdirs", None)
    assert cache.cache_file(b"weights") is None


@pytest.mark.skipif(sys.platform != "linux", reason="the folders of another system")
def test_the_folder_on_linux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KOMADORI_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_folder("cache") == tmp_path / ".cache" / "komadori"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert user_folder("cache") == tmp_path / "xdg" / "komadori"
