"""The programs of docs/python.md run, and its table lists the methods of Board."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from core_ext.board import Board

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda text: text.splitlines()[-1][:40])
def test_programs_run(program: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    exec(compile(program.replace("100_000", "5_000"), "docs/python.md", "exec"), names)
    assert capsys.readouterr().out.strip()


def test_every_method_of_board_is_in_the_table() -> None:
    _, _, table = PAGE.partition("| wanted | method |\n")
    named = set(re.findall(r"`(?:Board\.)?(\w+)", table.partition("\n\n")[0])) - {"Board", "print"}
    assert named == {name for name in vars(Board) if not name.startswith("_")} - {"copy"}
