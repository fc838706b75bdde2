"""Piece values that the user sets: in Python, as a file, in the static value and in the search."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from core_ext.board import Board
from core_ext.engine import INFINITE, PieceValues
from tests.conftest import NewWorker
from tests.engine.usi_transport import Program
from tests.positions import VALUES, material, random_boards
from usi_engine.evaluation.load import load_evaluation
from usi_engine.evaluation.names import WeightsError

# Each piece has its own value, so that none can be taken for another.
ODD = {"P": 101, "L": 302, "N": 403, "S": 504, "G": 605, "B": 806, "R": 907, "+P": 508, "+L": 509, "+N": 510, "+S": 511,
       "+B": 1012, "+R": 1113}  # fmt: skip


@pytest.mark.parametrize("values", [None, ODD])
def test_the_static_value_is_the_sum_of_the_piece_values(new_worker: NewWorker, values: dict[str, int] | None) -> None:
    worker = new_worker(values and PieceValues(values))
    for board in random_boards(17, 300):
        assert dict(worker.evaluate(board))["total"] == material(board.sfen(), values or VALUES)


def test_a_piece_that_is_not_named_keeps_its_value() -> None:
    assert PieceValues().as_dict() == VALUES
    assert PieceValues({"+R": 1}).as_dict() == VALUES | {"+R": 1}
    assert eval(repr(PieceValues(ODD)), {"PieceValues": PieceValues}).as_dict() == ODD


@pytest.mark.parametrize("letters", ["K", "p", "", "+G", "PP", " P", 1, None, ("P",)])
def test_other_pieces_are_refused(letters: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(letters))):
        PieceValues({letters: 1})


@pytest.mark.parametrize("value", [-1, 10_001, 1 << 70, 1.5, "90", None, True])
def test_values_out_of_range_are_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=f"'P' is .* not {re.escape(repr(value))}"):
        PieceValues({"P": value})


def test_extreme_values_are_clamped_to_evaluations(new_worker: NewWorker) -> None:
    worker = new_worker(PieceValues(dict.fromkeys(ODD, 10_000)))
    board = Board("4k4/9/9/9/9/9/9/9/4K4 b 2R2B4G4S4N4L18P 1")
    assert dict(worker.evaluate(board))["total"] == 20_000
    worker.set_root(board)
    assert abs(worker.search(3, -INFINITE, INFINITE)) <= 32_000


# ---- files ----


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "values.txt"


def test_a_file_is_read(file: Path) -> None:
    file.write_text("\ufeff# my values\r\n\nP 100\n  +P\t600 # a tokin\n")
    found = load_evaluation(str(file), 16)
    assert isinstance(found, PieceValues)
    assert found.as_dict() == VALUES | {"P": 100, "+P": 600}


LINES = {line: line for line in ("P", "P 90 80", "P ninety", "P 9.5", "P 10001", "P -1", "K 100", "+G 100")}
LINES |= {"P ９０": "P ９０", "P " + "9" * 400: "P 99999"}
LINES |= {"P 90\nL 200\nP 91": "P 91", "\x1b[2J 1": "\\x1b[2J 1"}


@pytest.mark.parametrize(("text", "line"), LINES.items())
def test_bad_lines_are_quoted(file: Path, text: str, line: str) -> None:
    file.write_text(text, encoding="utf-8")
    with pytest.raises(WeightsError) as refusal:
        load_evaluation(str(file), 16)
    message = str(refusal.value)
    assert f"'{file}': line {text.count(chr(10)) + 1} '{line}" in message
    assert message.isprintable() and len(message) < 400


def test_unreadable_files_are_refused(file: Path) -> None:
    (file.parent / "folder.txt").mkdir()
    (file.parent / "binary.txt").write_bytes(b"\xff\xfe\x00")
    (file.parent / "long.txt").write_bytes(b"#" * 70_000)
    for name in ("absent.txt", "folder.txt", "binary.txt", "long.txt"):
        with pytest.raises(WeightsError, match=name):
            load_evaluation(str(file.parent / name), 16)


def test_the_program_plays_with_a_file_or_names_its_fault(file: Path) -> None:
    file.write_text("R 2000")
    program = Program(evaluation=str(file))
    try:
        program.ask("position sfen 4k4/9/9/9/9/9/9/9/4K4 b R 1", "eval", answer="^total 2000$")
        file.write_text("R 20000")
        program.send(f"setoption name EvalFile value {file.with_name('none.txt')}", "isready")
        assert "none.txt" in program.expect("^info string cannot use the piece values")
        program.expect("^readyok$")
        program.send("quit")
    finally:
        program.close()
