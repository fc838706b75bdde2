"""Which module of usi_engine may import which: only those before it in ORDER."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "usi_engine"
# From the text of the protocol up to the program; packages stand for all modules in them.
ORDER = [
    "protocol", "options", "arguments", "output", "core", "timeman", "memory", "book", "cache", "weights", "nnue_file",
    "piece_values", "evaluation", "report", "search_control", "threads", "iterative", "skill", "engine", "resources",
    "console", "thinking", "mating", "tools", "analysis", "session", "usi", "learn", "book_tool", "csa", "play",
    "__main__",
]  # fmt: skip
MODULES = sorted(PACKAGE.glob("*.py"))


def used(path: Path) -> set[str]:
    """First part below usi_engine of everything a module imports from there."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("usi_engine."):
            names.add((node.module or "").split(".")[1])
    return names


@pytest.mark.parametrize("path", [path for path in MODULES if path.stem != "__init__"], ids=lambda path: path.stem)
def test_imports_point_down(path: Path) -> None:
    """Every module has a place in ORDER and imports only those before it."""
    assert path.stem in ORDER, f"{path.name} has no place yet"
    place = ORDER.index(path.stem)
    assert not {name for name in used(path) if ORDER.index(name) >= place}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_files_are_small(path: Path) -> None:
    """A longer file is split."""
    assert len(path.read_text(encoding="utf-8").splitlines()) < 600
