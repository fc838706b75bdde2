"""Each write of each writer fails once, as on a full disk: one line names the file, and no half file is left."""

import _pyio  # type: ignore[import-not-found]
import builtins
import errno
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.csa.instant_engine import game_of
from tests.eval.nnue.networks import random_network
from tests.eval.test_weights import Arrays
from tests.learn.helpers import random_game
from tests.records.common import RECORDS, valued
from usi_engine.analysis.analyst import Store
from usi_engine.book_tool.command import main as book
from usi_engine.core import load_core
from usi_engine.csa.protocol import MoveMade
from usi_engine.csa.record import RunningRecord, write_new
from usi_engine.evaluation import cache
from usi_engine.evaluation.architecture import Architecture
from usi_engine.evaluation.network_file import write_network
from usi_engine.files import atomic_write
from usi_engine.learn.command import main as learn
from usi_engine.learn.training import save_checkpoint
from usi_engine.records.convert import main as convert
from usi_engine.records.formats import write_text

FULL = "No space left on device"
MOST_WRITES = 1000
NETWORK = random_network(Architecture("K+P", 128, 8, 8))


class Disk:
    """Counts what the program writes: files created, blocks written, files renamed. Number `failing` fails."""

    def __init__(self, failing: int) -> None:
        self.failing, self.count = failing, 0

    def step(self, *names: Any) -> None:
        """Count; the failing one is an OSError with these names."""
        self.count += 1
        if self.count == self.failing:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), *names)

    @contextmanager
    def mounted(self) -> Iterator[None]:
        """Count in this process while the block runs."""
        real_open, real_replace = io.open, os.replace
        disk = self

        class Raw(io.FileIO):
            def write(self, data: Any) -> int:
                disk.step()
                return super().write(data)

        def opened(file: Any, mode: str = "r", *rest: Any, **named: Any) -> Any:
            if not set(mode) & set("wax+"):
                return real_open(file, mode, *rest, **named)
            disk.step(*([] if isinstance(file, int) else [str(file)]))
            return _pyio.open(file, mode, *rest, **named)  # it makes a Raw

        def replaced(old: Any, new: Any) -> None:
            disk.step(str(old), None, str(new))
            real_replace(old, new)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_pyio, "FileIO", Raw)
            patch.setattr(io, "open", opened)
            patch.setattr(builtins, "open", opened)
            patch.setattr(os, "replace", replaced)
            yield


def network(folder: Path) -> None:
    with atomic_write(folder / "nn.bin") as part:
        write_network(part, NETWORK)


GAME = str(RECORDS / "game.kif")
BOOK = ["build", GAME, "--min-games", "1", "--out"]
SEARCH = ["--nodes", "50", "--positions", "2", "--hash", "1", "--eval", "material"]


def remaking(folder: Path) -> list[str]:
    return [str(folder / "games.tsv"), "--out", str(folder / "out.tsv"), *PLAYER]


PLAYER = ["--nodes", "20", "--weights", "material"]
# Writers by name: they write into a folder; commands return an exit status.
WRITERS: dict[str, Callable[[Path], int | None]] = {
    "record": lambda folder: convert([GAME, "--out", str(folder / "game.csa")]),
    "text": lambda folder: write_text(folder / "page.html", "x" * 100_000),
    "book": lambda folder: book([*BOOK, str(folder / "book.db")]),
    "searched book": lambda folder: book([*BOOK, str(folder / "book.db"), *SEARCH]),
    "network": network,
    "checkpoint": lambda folder: save_checkpoint(folder, {}, [], {"weights": 127}),
    "corpus": lambda folder: learn(["corpus", str(folder / "games.tsv"), "--out", str(folder), "--leaves", "none"]),
    "server game": lambda folder: print(write_new(folder, "id", "V2.2\nPI\n+\n")),
    "trained weights": lambda folder: learn(
        ["train", str(folder.parent / "corpus"), "--out", str(folder / "out.kpp"), "--network", "P", "--epochs", "1"]
    ),
    "self-play": lambda folder: learn(["selfplay", "--games", "3", "--out", str(folder / "out.tsv"), *PLAYER]),
    "packed self-play": lambda folder: learn(["selfplay", "--games", "9", "--out", str(folder / "out.games"), *PLAYER]),
    "rescore": lambda folder: learn(["rescore", *remaking(folder)]),
    "off-game": lambda folder: learn(["off-game", *remaking(folder)]),
    "packed games": lambda folder: learn(["export", str(folder / "games.tsv"), "--out", str(folder / "out.psv")]),
}
# What a stopped run keeps for the next one.
KEPT = {
    "searched book": {"book.db.journal"},
    **{name: {"out.tsv"} for name in ("self-play", "rescore", "off-game")},
    "packed self-play": {"out.games"},
    "trained weights": {"out.kpp.run/checkpoint.npz", "out.kpp.run/curve.json"},
}


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def prepare(folder: Path) -> dict[str, bytes]:
    """Make a folder with games for the writers that read some; return what it contains."""
    folder.mkdir()
    (folder / "games.tsv").write_text("".join(random_game(seed) for seed in range(3)), encoding="utf-8")
    return content(folder)


LOG = "out.kpp.run/log.jsonl"  # has times
SLOW = {"corpus", "trained weights"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in WRITERS]
)
def test_each_write_fails_once(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard.compat.proto", None)  # its files have times
    write, whole = WRITERS[name], dict[str, bytes]()
    if name == "trained weights":
        prepare(tmp_path / "games")
        games, corpus = tmp_path / "games" / "games.tsv", tmp_path / "corpus"
        assert learn(["corpus", str(games), "--out", str(corpus), "--leaves", "none"]) == 0
    for failing in range(MOST_WRITES):
        folder = tmp_path / str(failing)
        before, disk = prepare(folder), Disk(failing)
        capsys.readouterr()
        with disk.mounted():
            try:
                status = write(folder) or 0
            except OSError as error:  # which commands print
                print(error, file=sys.stderr)
                status = 1
        said = capsys.readouterr().err
        after = content(folder)
        if not failing:
            whole = after
            assert status == 0 and len(whole) > len(before)
        elif disk.count < failing:
            break
        else:
            assert status != 0, failing
            assert (said.count("\n"), FULL in said, str(folder) in said) == (1, True, True), (failing, said)
            left = {file: data for file, data in after.items() if file not in before | {LOG: b""}}
            assert set(left) <= KEPT.get(name, set()) or left.items() <= whole.items(), (failing, set(left))
    else:
        raise AssertionError("it writes without end")


def test_caches_fail_silently(tmp_path: Path) -> None:
    """The program goes on without them."""
    for failing in range(1, 20):
        folder, disk = tmp_path / str(failing), Disk(failing)
        with disk.mounted():
            cache.keep(Arrays(bytes(100_000), bytes(10)), folder / "weights.unfolded")
            store = Store(folder / "game.jsonl")
            store.put(0, valued(1, "7g7f"))
        assert store.get(0, load_core().board()) is not None
        assert set(content(folder)) <= {"weights.unfolded", "game.jsonl"}
    assert set(content(folder)) == {"weights.unfolded", "game.jsonl"}


def test_the_record_of_a_running_game_fails_with_one_note(tmp_path: Path) -> None:
    """The game goes on; no empty file is left."""
    for failing in range(1, 20):
        folder, disk, notes = tmp_path / str(failing), Disk(failing), list[str]()
        folder.mkdir()
        with disk.mounted():
            game = game_of("+7776FU")
            record = RunningRecord(game, folder, notes.append)
            game.handle(MoveMade("-3334FU"))
            record.follow()
            assert record._writer.close()
        failed = disk.count >= failing
        assert [FULL in note for note in notes] == [True] * failed
        assert all(content(folder).values())
    assert not failed


@pytest.mark.skipif(sys.platform == "win32", reason="needs links and pipes")
def test_links_pipes_and_permissions_stay(tmp_path: Path) -> None:
    file, link, pipe = tmp_path / "a.csa", tmp_path / "link.csa", tmp_path / "pipe.csa"
    file.write_text("before")
    file.chmod(0o600)
    link.symlink_to(file)
    os.mkfifo(pipe)
    write_text(link, "after")
    assert (link.is_symlink(), file.read_text(), file.stat().st_mode & 0o777) == (True, "after", 0o600)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_text(pipe, "piped")
    assert (os.read(reader, 9), pipe.is_fifo()) == (b"piped", True)
    os.close(reader)
    with pytest.raises(NotADirectoryError):
        write_text(file / "b.csa", "")


def test_no_position_replaces_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games, out = tmp_path / "games.tsv", tmp_path / "out.psv"
    games.write_text("")
    out.write_bytes(b"before")
    assert learn(["export", str(games), "--out", str(out)]) == 2
    assert "no position for" in capsys.readouterr().err and out.read_bytes() == b"before"
