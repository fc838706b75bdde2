"""Layers of usi_engine: a module imports only modules before it in ORDER."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "usi_engine"
# From the bottom layer up. A package stands for all its modules.
ORDER = [
    "protocol", "options", "arguments", "output", "core", "timeman", "memory", "book", "cache", "weights", "nnue_file",
    "piece_values", "evaluation", "report", "search_control", "threads", "iterative", "skill", "engine", "resources",
    "console", "thinking", "mating", "tools", "analysis", "session", "usi", "learn", "book_tool", "csa", "play",
    "__main__",
]  # fmt: skip
MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]
# Allowed exceptions.
UPWARD = {("core", "evaluation")}


def place_of(path: Path) -> str:
    """Return a module's name in ORDER: its own or that of its package."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def used(path: Path) -> set[str]:
    """Return the names in ORDER that a module imports."""
    names = set[str]()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("usi_engine."):
            names.add((node.module or "").split(".")[1])
        if isinstance(node, ast.ImportFrom) and node.module == "usi_engine":
            names |= {alias.name for alias in node.names} & set(ORDER)
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_program_imports_only_lower_modules(path: Path) -> None:
    """Modules of the same package may import each other."""
    own = place_of(path)
    assert own in ORDER, f"add {path.name} to ORDER"
    above = {name for name in used(path) - {own} if ORDER.index(name) >= ORDER.index(own)}
    assert {(own, name) for name in above} <= UPWARD


def test_imports_are_recognised() -> None:
    assert {"cache", "evaluation"} <= used(PACKAGE / "analysis" / "store.py")
    assert "evaluation" in used(PACKAGE / "core.py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_files_are_small(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) < 600
