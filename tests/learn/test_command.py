"""The learn commands, from games to weights."""

import sys
from pathlib import Path
from typing import Any

import pytest

from core_ext import processor
from core_ext.board import Board
from tests.conftest import NewWorker
from tests.positions import described_rows
from usi_engine.core import load_core
from usi_engine.evaluation.kpp_file import load_weights, read_blocks
from usi_engine.files import KeptRows
from usi_engine.learn import command as learn_command
from usi_engine.learn.command import main, run
from usi_engine.learn.files import TRAINING
from usi_engine.learn.settings import Corpus, train_settings
from usi_engine.learn.training import LOG


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
