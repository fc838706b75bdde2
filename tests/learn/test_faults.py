"""Damaged files, commands that are refused: one line, an exit status, and nothing destroyed."""

import gzip
import lzma
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from core_ext.corpus import NO_RESULT, NO_SCORE, TRAINING_POSITION, check_positions
from core_ext.training import Trainer
from tests.damage import accepted, random_flips
from tests.eval.nnue.networks import random_network
from tests.learn.helpers import RATES, SMALL, build_corpus, items_of, random_game, read_games
from tests.positions import described_rows
from tests.programs import INTERRUPTIBLE, ROOT
from usi_engine.evaluation.architecture import Architecture
from usi_engine.evaluation.network_file import write_network
from usi_engine.learn.command import main, run
from usi_engine.learn.corpus.chances import Positions
from usi_engine.learn.files import CARD, HELD_OUT, TRAINING
from usi_engine.learn.game import LARGEST_SCORE, SourceError
from usi_engine.learn.settings import TrainKpp
from usi_engine.learn.training import CHECKPOINT, open_checkpoint, save_checkpoint

Refusal = Callable[..., str]
Setting = tuple[str, tuple[int, ...], int]  # field, index in it, number
OUT_OF_RANGE: list[Setting] = [
    *(("pieces", (0,), 1548), ("pieces", (37,), 65535), ("king", (0,), 81), ("king", (1,), 255)),
    *(("side", (), 2), ("side", (), -1), ("result", (), 101), ("result", (), -101)),
]


@pytest.fixture
def refusal(capsys: pytest.CaptureFixture[str]) -> Refusal:
    """Run a command that must fail; return the one line of its message."""

    def refused(*arguments: str | Path) -> str:
        capsys.readouterr()
        assert main([str(argument) for argument in arguments]) == 2
        said = capsys.readouterr().err
        assert said.endswith("\n") and said.count("\n") == 1, said
        return said

    return refused


# ---- positions ----


def is_learned(trainer: Trainer, positions: Positions) -> bool:
    """Return whether the positions are valued and learned from; otherwise both must refuse them."""
    refused = 0
    for action in (lambda: trainer.values(positions), lambda: trainer.learn(positions, RATES)):
        try:
            action()
        except ValueError as error:
            assert "is damaged" in str(error)
            refused += 1
    assert refused in (0, 2)
    return not refused


@pytest.mark.parametrize(("field", "place", "number"), OUT_OF_RANGE)
def test_numbers_out_of_range_are_refused(
    positions: Positions, field: str, place: tuple[int, ...], number: int
) -> None:
    some = positions[:20].copy()
    some["pieces"][7] = np.arange(100, 138)
    check_positions(some)
    at = (7, *place)
    some[field][at] = number
    with pytest.raises(ValueError, match=rf"position 8 is damaged: .*(?<!\d){number}(?!\d)"):
        check_positions(some)
    assert not is_learned(Trainer(SMALL), some)


def test_repeated_pieces_and_missing_values_are_refused(positions: Positions) -> None:
    repeated, valueless = positions[:3].copy(), positions[:3].copy()
    repeated["pieces"][2, 5] = repeated["pieces"][2, 6]
    valueless["score"][2], valueless["result"][2] = NO_SCORE, NO_RESULT
    for some in (repeated, valueless):
        with pytest.raises(ValueError, match="position 13 is damaged"):
            check_positions(some, 11)


# ---- corpora ----


Mutate = Callable[[bytes], bytes | None]
NINE = 9 * TRAINING_POSITION.itemsize
WRONG_PIECE, WRONG_MOVE = NINE + 14 + 2 * 3, NINE + 12
CHECKPOINT_FILE = f"out.kpp.run/{CHECKPOINT}"
# Weights to train, a file, its new contents and the fault. The checkpoint is that of out.kpp.
DAMAGE: list[tuple[str, str, Mutate, str]] = [
    *(("new", CARD, lambda _, text=text: text.encode(), CARD)
      for text in ("", "{", "[" * 100000, "[1]", '{"training": "many"}', "\0")),
    ("new", CARD, lambda _: b"{}", f"{CARD} is of an older version"),
    *(("new", name, lambda data: data[:NINE], f"{name} has 9 positions, but {CARD} says ")
      for name in (TRAINING, HELD_OUT)),
    ("new", TRAINING, lambda data: data[: NINE - 1], f"{TRAINING} is damaged: it ends within position 9"),
    *(("new", name, lambda data: data[:WRONG_PIECE] + b"\x40\x9c" + data[WRONG_PIECE + 2 :],
       f"{name}: position 10 is damaged: piece number 40000") for name in (TRAINING, HELD_OUT)),
    ("new", TRAINING, lambda data: data[:WRONG_MOVE] + b"\0\x80" + data[WRONG_MOVE + 2 :],
     f"{TRAINING}: position 10 is damaged: move 32768"),
    ("new", TRAINING, lambda _: None, f"{TRAINING}: No such file"),
    ("new", CARD, lambda _: None, f"{CARD}: No such file"),
    ("out", CARD, lambda data: data.replace(b"games.tsv", b"others.tsv"), "belongs to another corpus"),
    ("out", TRAINING, lambda data: data[:-98] + data[-98:].replace(b"\0", b"\1", 1), "belongs to another corpus"),
    *(("out", CHECKPOINT_FILE, lambda data, part=part: part or data[: len(data) // 2], f"{CHECKPOINT} is damaged: ")
      for part in (b"PK", b"\x93NUMPY", b"cos\nsystem\n.", b"")),
    ("out", CHECKPOINT_FILE, lambda data: data[:-30], f"{CHECKPOINT} is damaged: "),
    ("out", CHECKPOINT_FILE, lambda _: b"", f"{CHECKPOINT} is damaged: No data left"),
]  # fmt: skip


@pytest.fixture(scope="module")
def trained(teacher: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a corpus and of weights that were trained from it."""
    folder = tmp_path_factory.mktemp("trained")
    build_corpus([teacher], folder, every=5)
    run(TrainKpp(corpus=folder, out=folder / "out.kpp", network="P", epochs=1))
    return folder


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_corpus_or_checkpoint_is_named(
    trained: Path, refusal: Refusal, damage: tuple[str, str, Mutate, str]
) -> None:
    """A corpus that was built again, from files of other names or with other positions, is another one."""
    out, name, mutate, fault = damage
    before = (trained / name).read_bytes()
    (trained / name).unlink() if (data := mutate(before)) is None else (trained / name).write_bytes(data)
    try:
        said = refusal("train", trained, "--out", trained / f"{out}.kpp", "--network", "P", "--epochs", "1")
    finally:
        (trained / name).write_bytes(before)
    assert str(trained) in said and fault in said
    assert not (trained / "new.kpp").exists()


def test_an_error_without_a_text_means_a_cut_file(tmp_path: Path) -> None:
    save_checkpoint(tmp_path, {}, [], {})
    with pytest.raises(ValueError, match="is damaged: it is cut off; "), open_checkpoint(tmp_path, {}):
        raise EOFError


# ---- files of games ----


@pytest.mark.parametrize(("ending", "pack"), [(".tsv.gz", gzip.compress), (".tsv.xz", lzma.compress)])
def test_a_cut_or_damaged_archive_is_named(
    teacher: Path, tmp_path: Path, refusal: Refusal, ending: str, pack: Callable[[bytes], bytes]
) -> None:
    whole, path = pack(teacher.read_bytes()), tmp_path / f"games{ending}"
    path.write_bytes(whole[: len(whole) // 2])
    assert f"{path}: damaged or cut off" in refusal("corpus", path, "--out", tmp_path / "corpus")
    assert not list((tmp_path / "corpus").iterdir())
    assert accepted(lambda file: list(items_of(file)), path, random_flips(whole, 60), SourceError, str(path)) < 60


def test_scores_of_any_size_are_accepted(tmp_path: Path) -> None:
    """Huge scores are clamped; text that is not a number names its line."""
    path = tmp_path / "games.tsv"
    words = " ".join(f"{move} {score}" for move, score in [("7g7f", "9" * 400), ("3c3d", "-" + "9" * 4000)])
    games = (words, "7g7f 1e5", f"7g7f {'9' * 5000}")
    path.write_text("".join(f"b\tscore\tstartpos\t{game}\n" for game in games))
    card = build_corpus([path], tmp_path / "corpus")
    assert (card["broken_games"], card["training"]) == (2, 2)
    assert "line 2: not a score" in card["first_broken"]
    assert [game.scores for game in read_games(path)] == [[LARGEST_SCORE, -LARGEST_SCORE]]


# ---- folders and outputs ----


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends processes without asking")
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_ended_leaves_nothing(tmp_path: Path, ending: signal.Signals) -> None:
    """The run is stopped while it waits for games."""
    pipe, folder = tmp_path / "games.tsv", tmp_path / "corpus"
    os.mkfifo(pipe)
    command = [*INTERRUPTIBLE, "learn", "corpus", str(pipe), "--out", str(folder), "--leaves", "none"]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE) as started:
        while not (folder / "bucket63.tmp").exists():
            assert started.poll() is None
            time.sleep(0.05)
        started.send_signal(ending)
        said = started.communicate(timeout=60)[1]
    assert started.returncode == 128 + ending and said.count(b"\n") <= 1
    assert not list(folder.iterdir())


def test_a_folder_that_cannot_hold_the_buckets(teacher: Path, tmp_path: Path, refusal: Refusal) -> None:
    folder = tmp_path / "corpus"
    (folder / "bucket40.tmp").mkdir(parents=True)
    assert "bucket40.tmp" in refusal("corpus", teacher, "--out", folder)
    assert [path.name for path in folder.iterdir()] == ["bucket40.tmp"]


def test_a_letter_that_the_output_encoding_lacks_is_no_error(tmp_path: Path) -> None:
    """Redirected output on Windows may lack Japanese."""
    out = tmp_path / "棋譜.tsv"
    arguments = ["learn", "selfplay", "--games", "1", "--nodes", "20", "--weights", "material", "--out", str(out)]
    western = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    command = [sys.executable, "-m", "usi_engine", *arguments]
    done = subprocess.run(command, capture_output=True, check=False, cwd=ROOT, timeout=60, env=western)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"??.tsv" in done.stdout and len(read_games(out)) == 1


FOREIGN = {"a": b"my notes\n", "b": b"my notes", "c": b"\0" * 5000, "d": b"b\tx\n"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, teacher: Path) -> Path:
    """A folder with games, a corpus, weights and foreign files."""
    folder = tmp_path_factory.mktemp("refusals")
    build_corpus([teacher], folder / "corpus", every=5)
    (folder / "corpus.kpp").mkdir()
    for name in ("g", "few"):
        (folder / f"{name}.tsv").write_text(random_game(1, 10))
    (folder / "illegal.tsv").write_text("b\tscore\tstartpos\t7g7f 1 7g7f 2\n")
    assert main(["export", str(folder / "g.tsv"), "--out", str(folder / "g.psv")]) == 0
    write_network(folder / "net.bin", random_network(Architecture("K+P", 128, 8, 8)))
    for version in (1, 2):
        (folder / f"kpp{version}.bin").write_bytes(f"KOMAKPP{version}rest".encode())
    for name, data in FOREIGN.items():
        for suffix in (".tsv", ".games", ".kpp"):
            (folder / f"{name}{suffix}").write_bytes(data)
    return folder


def contents(folder: Path) -> dict[Path, bytes]:
    """Return the files that are not empty."""
    return {path: data for path in folder.rglob("*") if path.is_file() and (data := path.read_bytes())}


@pytest.mark.parametrize(("words", "fault"), described_rows("refused_learn.jsonl"))
def test_a_refused_command_names_the_fault_and_changes_nothing(
    folder: Path, words: str, fault: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    before = contents(folder)
    try:
        status = main(words.split())
    except SystemExit as ended:
        status = int(str(ended.code))
    said = capsys.readouterr().err
    assert status == 2 and fault in said
    assert said.count("\n") == 1 or said.startswith("usage: ")
    assert contents(folder) == before and not list(folder.glob("*.run"))
