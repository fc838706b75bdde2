"""The learn commands; damaged files, commands that are refused: one line, an exit status, and nothing destroyed."""

import gzip
import lzma
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core_ext import processor
from core_ext.board import Board
from core_ext.corpus import NO_RESULT, NO_SCORE, TRAINING_POSITION, check_positions
from core_ext.training import Trainer
from tests.conftest import NewWorker
from tests.damage import accepted, random_flips
from tests.learn.conftest import RATES, SMALL, build_corpus, items_of, read_games
from tests.positions import described_rows
from tests.programs import INTERRUPTIBLE, ROOT
from usi_engine.core import load_core
from usi_engine.evaluation.kpp_file import load_weights, read_blocks
from usi_engine.files import KeptRows
from usi_engine.learn import command as learn_command
from usi_engine.learn.command import main, run
from usi_engine.learn.corpus.chances import Positions
from usi_engine.learn.files import CARD, HELD_OUT, TRAINING
from usi_engine.learn.game import LARGEST_SCORE, SourceError
from usi_engine.learn.settings import Corpus, TrainKpp, train_settings
from usi_engine.learn.training import CHECKPOINT, LOG, open_checkpoint, save_checkpoint

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
    trainer = Trainer(SMALL)
    for action in (lambda: trainer.values(some), lambda: trainer.learn(some, RATES)):
        with pytest.raises(ValueError, match="is damaged"):
            action()


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


# ---- from games to weights ----


def test_from_games_to_weights(
    teacher: Path,
    new_worker: NewWorker,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    corpus, out = tmp_path / "corpus", tmp_path / "my.kpp"
    assert main(["corpus", str(teacher), "--out", str(corpus), "--every", "10"]) == 0
    command = ["train", str(corpus), "--out", str(out), "--network", "P", "--epochs", "2"]
    assert main(command) == 0
    assert read_blocks(out.read_bytes())[0]["card"]["plan"]["epochs"] == 2
    rows = KeptRows(tmp_path / "my.kpp.run" / LOG).rows
    assert [row["positions"] for row in rows] == [rows[-1]["positions"] // 2, rows[-1]["positions"]]
    assert all(row["loss"] > 0 < row["rate"] and row["positions_a_second"] > 0 for row in rows)
    assert main([*command[:-1], "3", "--keep", "2"]) == 0  # one more
    assert len(KeptRows(tmp_path / "my.kpp.run" / LOG).rows) == 3 and not (tmp_path / "my.2.kpp").exists()
    assert main([*command[:-1], "4", "--keep", "2"]) == 0
    assert (tmp_path / "my.4.kpp").read_bytes() == out.read_bytes()
    assert main(command) == 2  # fewer
    assert "another plan (epochs 4)" in capsys.readouterr().err
    command[-1] = "4"
    monkeypatch.setenv("KOMADORI_CACHE", "")  # the packaged weights stay in the cache of the tests
    assert len(new_worker(load_weights(str(out))).evaluate(Board())) == 6
    assert main([*command, "--positions", "100"]) == 2
    assert "another plan (positions 0); choose another --out or remove this file" in capsys.readouterr().err


def test_options_come_from_a_file_and_python_calls_do_the_same(few_games: Path, tmp_path: Path) -> None:
    """The command line overrides the file."""
    config, corpus, out = tmp_path / "learn.toml", tmp_path / "corpus", tmp_path / "my.kpp"
    train = f"network = 'P'\ncorpus = '{corpus}'\nout = '{out}'\nepochs = 5\nresults = [0, 0.5]"
    config.write_text(f"[corpus]\nout = '{corpus}'\nalso = ['{few_games}']\n[train]\n{train}\n")
    assert main(["corpus", "--config", str(config)]) == main(["train", "--config", str(config), "--epochs", "2"]) == 0
    plan = read_blocks(out.read_bytes())[0]["card"]["plan"]
    assert (plan["epochs"], plan["results"]) == (2, [0.0, 0.5])
    card = run(Corpus(also=(few_games,), out=tmp_path / "again"))
    assert (tmp_path / "again" / TRAINING).read_bytes() == (corpus / TRAINING).read_bytes() and card["training"] > 100
    values: dict[str, Any] = {"corpus": str(corpus), "out": str(tmp_path / "again.kpp"), "network": "P", "epochs": 2}
    assert run(train_settings(**values, results=[0, "0.5"]))["positions_learned"] == 2 * card["training"]
    assert read_blocks((tmp_path / "again.kpp").read_bytes())[1] == read_blocks(out.read_bytes())[1]


@pytest.mark.parametrize(
    ("text", "fault"), [*described_rows("learn_options.jsonl"), ("a = " + "[" * 9999, "recursion")]
)
def test_a_bad_file_of_options_is_named(
    text: str | None, fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "learn.toml"
    if text is not None:
        config.write_text(text)
    assert main(["train", "--config", str(config)]) == 2
    said = capsys.readouterr().err
    assert fault in said and said.count("\n") == 1 and (said.startswith(str(config)) or "expected" in said)


def test_without_pytorch_the_training_of_networks_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "usi_engine.learn.nnue.train", raising=False)
    arguments = ["train", str(tmp_path), "--network", "NNUE_kp_512x2_32_32", "--out", str(tmp_path / "nn.bin")]
    assert main(arguments) == 2
    assert capsys.readouterr().err.endswith("': pip install 'komadori[learn]'\n")


def test_an_unsupported_processor_is_an_error_of_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    load_core.cache_clear()
    monkeypatch.setattr(processor, "processor_error", lambda: "this processor lacks AVX2")
    assert main(["train", str(tmp_path / "corpus"), "--out", str(tmp_path / "out.kpp")]) == 2
    assert capsys.readouterr().err == "this processor lacks AVX2\n"


AGAIN = {"export": "begins anew", "train": "resumes from the last checkpoint", "rescore": "resumes where the file ends"}


@pytest.mark.parametrize(("command", "again"), AGAIN.items())
def test_a_stopped_command_says_what_it_does_again(
    command: str, again: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(learn_command, "run", stop)
    assert main([command, "x", "--out", "y"]) == 130
    assert capsys.readouterr().err.startswith(f"stopped; the same command {again}")
