"""Which module of usi_engine.csa may import which: only those before it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import usi_engine.csa

FOLDER = Path(usi_engine.csa.__file__).parent
ORDER = ["clock", "protocol", "notation", "driver", "connection", "game", "record", "client", "command"]


def used(name: str) -> set[str]:
    """The modules of the package that one imports, within functions too."""
    tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("usi_engine.csa"):
            rest = (node.module or "").removeprefix("usi_engine.csa").lstrip(".")
            found |= {rest} if rest else {alias.name for alias in node.names}
    return found


def test_every_module_has_a_place() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == {"__init__", *ORDER}


@pytest.mark.parametrize("name", ORDER)
def test_imports_point_down(name: str) -> None:
    assert used(name) <= set(ORDER[: ORDER.index(name)])


@pytest.mark.parametrize("name", ["clock", "protocol"])
def test_text_needs_no_library(name: str) -> None:
    """The protocol's text is read without rsshogi, sockets or processes."""
    tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    plain = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert modules | plain <= {"__future__", "collections.abc", "dataclasses", "re", "usi_engine.csa.clock"}
