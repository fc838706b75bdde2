"""The list of benches, and the data that benches and tests read."""

from __future__ import annotations

import re
import sys

import pytest

from bench import DATA, OPENINGS, ROOT
from bench.__main__ import benches
from core_ext.board import Board
from tests.programs import run_command
from usi_engine.learn.player import read_openings


def test_every_bench_has_one_line_of_description() -> None:
    for name, text in benches():
        assert text.endswith("."), name
        assert len(text) < 120, name


@pytest.mark.parametrize("name", [name for name, _ in benches()])
def test_every_bench_starts(name: str) -> None:
    assert run_command([sys.executable, "-m", name, "--help"]).stdout.startswith("usage:")


def test_no_file_outside_the_repository_is_read() -> None:
    """parents[2] of a module in a package's folder is the repository."""
    paths = [path for folder in ("usi_engine", "tests", "bench") for path in (ROOT / folder).rglob("*.py")]
    assert len(paths) > 50
    assert not [path for path in paths if re.search(r"parents\[[3-9]\]", path.read_text(encoding="utf-8"))]


def test_the_data_page_names_every_file() -> None:
    page = (DATA / "README.md").read_text(encoding="utf-8")
    for path in DATA.iterdir():
        assert path.name == "README.md" or path.name in page, path.name


def test_openings_are_legal_and_end_in_different_positions() -> None:
    lines = OPENINGS.read_text(encoding="utf-8").splitlines()
    assert len(lines) >= 400
    assert all(len(line.removeprefix("startpos moves ").split()) == 24 for line in lines)
    assert len({Board(sfen).key for sfen in read_openings(OPENINGS)}) == len(lines)
