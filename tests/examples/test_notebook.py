"""Run the cells of examples/analysis.ipynb from top to bottom, without Jupyter."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest

from tests.programs import ROOT

EXAMPLES = ROOT / "examples"
NOTEBOOK = EXAMPLES / "analysis.ipynb"


BOOK: dict[str, Any] = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
CODE = [cell for cell in BOOK["cells"] if cell["cell_type"] == "code"]


def run_cell(source: str, names: dict[str, Any]) -> Any:
    """Run a cell; return the value of its last expression, as Jupyter shows it."""
    tree = ast.parse(source)
    last = tree.body.pop()
    exec(compile(tree, str(NOTEBOOK), "exec"), names)
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names)
    exec(compile(ast.Module([last], []), str(NOTEBOOK), "exec"), names)
    return None


def test_every_cell_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in CODE)
    monkeypatch.chdir(EXAMPLES)
    names: dict[str, Any] = {}
    shown = {cell["id"]: run_cell("".join(cell["source"]), names) for cell in CODE}
    assert "<svg" in shown["board"]._repr_svg_()
    assert shown["moves"] == names["board"].sfen()
    printed = capsys.readouterr().out
    assert "-3122GI 同　銀(31)" not in printed and "-3122GI ２二銀(31) 3a2b" in printed
    assert names["solved"].found and names["problem"].is_legal(names["solved"].moves[0])
    assert len(names["found"].lines) == 3
    assert len(names["scores"]) == len(names["game"].moves) + 1
