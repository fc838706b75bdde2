"""The learn commands, from games to weights."""

from __future__ import annotations

from pathlib import Path

import pytest

from core_ext.base import processor
from core_ext.board import Board
from tests.conftest import NewWorker
from usi_engine.evaluation.kpp_file import load_weights, read_blocks
from usi_engine.evaluation.names import WeightsError
from usi_engine.learn.command import RUN, main
from usi_engine.learn.corpus.build import new_reader


def test_from_games_to_weights(
    teacher: Path, board: Board, new_worker: NewWorker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["corpus", str(teacher), "--out", str(tmp_path / "corpus"), "--every", "10"]) == 0
    command = ["train", str(tmp_path / "corpus"), "--out", str(tmp_path / "my.kpp"), "--model", "PP", "--epochs", "2"]
    assert main(command) == 0
    first = (tmp_path / "my.kpp").read_bytes()
    assert read_blocks(first)[0]["card"]["plan"]["epochs"] == 2
    worker = new_worker(load_weights(str(tmp_path / "my.kpp")))
    assert len(worker.evaluate(board)) == 6
    # Again: the checkpoint is complete, so the same file is written.
    assert main(command) == 0
    assert (tmp_path / "my.kpp").read_bytes() == first
    assert main([*command, "--positions", "100"]) == 1
    assert "another plan" in capsys.readouterr().err


def test_material_finds_no_quiescence_leaves(teacher: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["corpus", str(teacher), "--out", str(tmp_path / "corpus"), "--leaves", "material"]) == 1
    assert "--leaves material" in capsys.readouterr().err


def test_leaves_by_nothing_are_refused(teacher: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An empty name, of a variable that is not set, built none, and the card said that it did."""
    assert main(["corpus", str(teacher), "--out", str(tmp_path / "corpus"), "--leaves", ""]) == 1
    assert "--leaves ''" in capsys.readouterr().err
    with pytest.raises(WeightsError):
        new_reader("")


def test_a_missing_file_is_an_error_of_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["corpus", str(tmp_path / "none.tsv"), "--out", str(tmp_path / "corpus")]) == 1
    assert "none.tsv" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["corpus", "train"])
def test_an_unsupported_processor_is_an_error_of_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(processor, "processor_error", lambda: "this processor lacks AVX2")
    assert main([command, str(tmp_path / "games.tsv"), "--out", str(tmp_path / "out.kpp")]) == 1
    assert capsys.readouterr().err == "this processor lacks AVX2\n"


@pytest.mark.parametrize(
    ("command", "again"),
    [
        (["corpus", "x", "--out", "y"], "begins anew"),
        (["export", "x", "--out", "y"], "begins anew"),
        (["train", "x", "--out", "y"], "resumes from the last checkpoint"),
        (["rescore", "x", "--out", "y"], "resumes where the file ends"),
    ],
)
def test_a_command_that_is_stopped_says_what_it_does_again(
    command: list[str], again: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(RUN, command[0], stop)
    assert main(command) == 130
    assert capsys.readouterr().err == f"stopped; the same command {again}\n"
