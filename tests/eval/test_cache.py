"""The cache of unfolded weights: it reads what it wrote and ignores damaged files."""

import os
import sys
from pathlib import Path

import pytest

from tests.damage import cuts, flips
from usi_engine.evaluation import cache, kpp_file
from usi_engine.evaluation.kpp_file import load_weights
from usi_engine.evaluation.names import KPP
from usi_engine.files import user_folder


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
    load_weights(KPP)
    (path,) = cache_folder.iterdir()
    kept = path.read_bytes()
    for damage in (b"", b"\x55" * 8192):
        with path.open("r+b") as stream:
            stream.seek(40_000)
            stream.write(damage)
        loaded: object = load_weights(KPP)
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
