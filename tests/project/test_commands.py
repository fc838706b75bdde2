"""What all commands share: the end by Ctrl-C, names of files, long runs, progress, full disks."""

import _pyio  # type: ignore[import-not-found]
import builtins
import errno
import io
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.csa.conftest import game_of
from tests.eval.nnue.networks import random_network
from tests.eval.test_weights import Arrays
from tests.learn.conftest import build_corpus, random_game
from tests.positions import described_rows
from tests.programs import interrupted
from tests.records.common import RECORDS, valued
from usi_engine.__main__ import TOOLS, main
from usi_engine.analysis.analyst import Store
from usi_engine.analysis.analyze import main as analyze
from usi_engine.book_tool.command import main as book
from usi_engine.core import load_core
from usi_engine.csa.protocol import MoveMade
from usi_engine.csa.record import RunningRecord, write_new
from usi_engine.evaluation import cache
from usi_engine.evaluation.architecture import Architecture
from usi_engine.evaluation.network_file import write_network
from usi_engine.files import KeptRows, OtherRowsError, atomic_write
from usi_engine.learn.command import main as learn
from usi_engine.learn.training import save_checkpoint
from usi_engine.progress import Progress
from usi_engine.records.convert import main as convert
from usi_engine.records.formats import write_text

SEARCH = "setoption name USI_OwnBook value false/setoption name EvalFile value material"
LONG = "--seconds/100/--eval/material"


@pytest.mark.skipif(os.name == "nt", reason="sends Ctrl-C as Unix does")
@pytest.mark.usefixtures("cache_folder")
@pytest.mark.parametrize(
    ("words", "begun", "printed", "error"),
    [
        (f"{SEARCH}/go", "info depth", "bestmove ", ""),
        (f"{SEARCH}/go btime 3600000", "info depth", "bestmove ", ""),
        ("play/--eval/material/--side/black", "Player", "", ""),
        ("play/--side/white/--level/20/" + LONG, "Player", "", ""),
        (f"analyze/GAME/{LONG}", "analysis", "", "stopped; "),
        (f"book/build/--out/OUT/{LONG}", "*.journal", "", "stopped; "),
        ("match/usi_engine/B=usi_engine/--movetime/9999/--keep/KEEP", "games.jsonl", "games and page: ", "stopped; "),
    ],
)
def test_ctrl_c(words: str, begun: str, printed: str, error: str, tmp_path: Path) -> None:
    """`begun` is printed, or names a file or folder that is made, when the work begins."""
    names = {"GAME": str(RECORDS / "game.kif"), "OUT": str(tmp_path / "book.db"), "KEEP": str(tmp_path / "kept")}

    def until(started: subprocess.Popen[str]) -> None:
        assert started.stdout is not None
        if error:
            while not list(tmp_path.rglob(begun)):
                assert started.poll() is None
                time.sleep(0.05)
            time.sleep(0.3)
        else:
            seen = b""
            while begun.encode() not in seen:
                assert started.poll() is None
                seen += os.read(started.stdout.fileno(), 1000)

    status, output, errors = interrupted([names.get(word, word) for word in words.split("/")], until)
    assert status == 130 and errors.count("\n") == bool(error), errors
    assert (output.splitlines() or [""])[-1].startswith(printed)
    assert errors.startswith(error)


QUICK = ["--nodes", "10", "--hash", "1", "--eval", "material"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names")
@pytest.mark.parametrize(
    ("command", "words"),
    [(analyze, [*QUICK, "--kif"]), (convert, ["--to", "csa", "--out"]), (book, ["--min-games", "1", "--out"])],
)
def test_names_of_files(
    command: Callable[[list[str]], int], words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game, out = tmp_path / "clear\x1b[2J.kifu", tmp_path / "out\x1b[2J.db"
    shutil.copy(RECORDS / "variations.kifu", game)
    if command is analyze:
        out.mkdir()
    first = ["build"] if command is book else []
    command([*first, str(game), str(tmp_path / "none\x1b[2J.kif"), *words, str(out)])
    printed = "".join(capsys.readouterr())
    assert "none\\x1b[2J.kif" in printed and "\x1b" not in printed


def test_lines_of_training_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games = tmp_path / "games.tsv"
    games.write_text("a\x1b[2Jb\n", encoding="utf-8")
    assert learn(["export", str(games), "--out", str(tmp_path / "out.psv")]) == 2
    printed = capsys.readouterr().err
    assert "a\\x1b[2Jb" in printed and "\x1b" not in printed


# ---- commands that are refused ----

FOREIGN = {"a": b"my notes\n", "b": b"my notes", "c": b"\0" * 5000, "d": b"b\tx\n"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with games, a corpus, weights and foreign files."""
    folder = tmp_path_factory.mktemp("refusals")
    (folder / "games.tsv").write_text("".join(random_game(seed) for seed in range(60)))
    build_corpus([folder / "games.tsv"], folder / "corpus", every=5)
    (folder / "empty").touch()
    (folder / "game.usi").write_text("startpos moves 7g7f\n")
    (folder / "strange").write_text("\nx\x1by\n")
    (folder / "corpus.kpp").mkdir()
    for name in ("g", "few"):
        (folder / f"{name}.tsv").write_text(random_game(1, 10))
    (folder / "illegal.tsv").write_text("b\tscore\tstartpos\t7g7f 1 7g7f 2\n")
    assert learn(["export", str(folder / "g.tsv"), "--out", str(folder / "g.psv")]) == 0
    write_network(folder / "net.bin", random_network(Architecture("K+P", 128, 8, 8)))
    for version in (1, 2):
        (folder / f"kpp{version}.bin").write_bytes(f"KOMAKPP{version}rest".encode())
    for name, data in FOREIGN.items():
        for suffix in (".tsv", ".games", ".kpp", ".db.journal"):
            (folder / f"{name}{suffix}").write_bytes(data)
    return folder


@pytest.mark.parametrize(("words", "fault"), described_rows("refused.jsonl"))
def test_a_refused_command_names_the_fault_and_changes_nothing(
    folder: Path, words: str, fault: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one line without control characters, or below the usage."""
    first, *rest = shlex.split(words.replace("RECORDS", str(RECORDS)))
    monkeypatch.setattr(sys, "argv", ["usi_engine", first, *rest])
    monkeypatch.chdir(folder)
    before = {name: data for name, data in content(folder).items() if data}
    try:
        status = import_module(TOOLS[first]).main(rest) if first in TOOLS else main()
    except SystemExit as ended:
        status = ended.code
    printed, said = capsys.readouterr()
    assert (status, printed) == (1 if first == "csa" else 2, "")
    assert fault in " ".join(said.split())
    assert said[:-1].isprintable() or said.startswith("usage: ")
    after = {name: data for name, data in content(folder).items() if data}
    assert after == before and not list(folder.glob("*.run"))


# ---- rows of JSON that a later run continues; progress ----

DAMAGED = b"\xff\n[1\n" + b"[" * 100_000 + b'\nnull\n{"a": 1'


@pytest.mark.parametrize("conditions", [None, {"nodes": 5}])
def test_rows_are_kept(tmp_path: Path, conditions: dict[str, Any] | None) -> None:
    """Damaged lines are no rows, and one that was cut off does not damage the next."""
    path = tmp_path / "folder" / "rows.jsonl"
    path.parent.mkdir()
    KeptRows(path, conditions).add([1, "é"])
    for row in ({"b": 2.5}, [3]):
        with path.open("ab") as file:
            file.write(DAMAGED)
        KeptRows(path, conditions).add(row)
    assert KeptRows(path, conditions).rows == [[1, "é"], {"b": 2.5}, [3]]


@pytest.mark.parametrize(("data", "is_kept"), [(b'{"nodes": 6}\n[1]\n', True), (b"notes", False), (b"7\n", False)])
def test_other_files_stay(tmp_path: Path, data: bytes, is_kept: bool) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(data)
    with pytest.raises(OtherRowsError) as raised:
        KeptRows(path, {"nodes": 5})
    assert (raised.value.conditions is not None) == is_kept and path.read_bytes() == data


@pytest.mark.parametrize("terminal", [True, False])
def test_a_bar_is_shown_on_a_terminal_only(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress("game.kif", 3, every=0) as progress:
        for _ in range(3):
            progress.add()
    assert ("game.kif" in stream.getvalue()) == terminal


def test_a_log_has_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts of earlier runs are in the count, not in the rate."""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress("games", 40, 10, every=1e-9) as progress:
        progress.add(2, 100, "a note")
    assert stream.getvalue().startswith("12/40 games, 100 positions, ")
    assert progress.line(10) == "12/40 games, 100 positions, 10 a second, 2.3 min left"
    progress = Progress("positions")
    progress.add(5)
    assert progress.line(10, "a note") == "5 positions, 0.5 a second, a note"


# ---- each write of each writer fails once ----

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
SEARCHED = ["--nodes", "50", "--positions", "2", "--hash", "1", "--eval", "material"]


def remaking(folder: Path) -> list[str]:
    return [str(folder / "games.tsv"), "--out", str(folder / "out.tsv"), *PLAYER]


PLAYER = ["--nodes", "20", "--weights", "material"]
# Writers by name: they write into a folder; commands return an exit status.
WRITERS: dict[str, Callable[[Path], int | None]] = {
    "record": lambda folder: convert([GAME, "--out", str(folder / "game.csa")]),
    "text": lambda folder: write_text(folder / "page.html", "x" * 100_000),
    "book": lambda folder: book([*BOOK, str(folder / "book.db")]),
    "searched book": lambda folder: book([*BOOK, str(folder / "book.db"), *SEARCHED]),
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
    """Return the files of a folder."""
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
