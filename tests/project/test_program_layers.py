"""Layers of usi_engine: a module imports only modules that come before it in LAYERS. There are no exceptions."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "usi_engine"
# From the bottom: a module at the top of the package, or a folder with its modules in order.
LAYERS: dict[str, str] = {
    "   ": "language columns",
    "usi": "options output protocol arguments driver",
    "": "core memory progress",
    "evaluation": "cache names files kpp_file features selectors architecture network_file piece_values load",
    "book": "entry apery choice flip shogihome yaneuraou book_player",
    "search": "report timeman search_control threads iterative",
    "api": "results mate_lines second_solutions mate_search stream search_engine usi_process engine async_engine",
    " ": "player",
    "game": "command_line console resources skill request bench mating thinking session loop",
    "records": "faults tree notation csa_position bod kakinoki kif ki2 time_words csa jkf usi_text formats files games "
    "writer convert",
    "mate_tool": "problems command",
    "analysis": "judgement analyst report words explain store kif puzzles page_nodes page terminal suite analyze",
    "book_tool": "journal show tree grow command",
    "learn": "game processes cluster pool files checkpoint",
    "learn.corpus": "packed packed_games sources smoothing buckets build export_packed files batches",
    "learn.selfplay": "game_file append_games play off_game rescore",
    "learn.kpp": "export warm_start train",
    "learn.nnue": "network_card features inputs device model progress export train",
    "learn ": "command",
    "csa": "background clock position protocol connection game record client command",
    "play": "game moves opponent screen view terminal record match words questions game_loop terms review table "
    "browser_server browser command",
    "  ": "__main__",
}
NAMES = [f"{folder.strip()}.{name}".lstrip(".") for folder, names in LAYERS.items() for name in names.split()]
ORDER = {name: place for place, name in enumerate(NAMES)}
MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.name != "__init__.py"]


def name_of(path: Path) -> str:
    """Return a module's name below usi_engine, as `search.threads`."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


def imported(path: Path) -> Iterator[str]:
    """Yield the names of the modules of usi_engine that a file imports, at the top or in a function."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "usi_engine":
            module = (node.module or "").removeprefix("usi_engine").lstrip(".")
            submodules = [f"{module}.{alias.name}".lstrip(".") for alias in node.names]
            yield from [module] if module in ORDER else [name for name in submodules if name in ORDER]


def test_layers_list_every_module() -> None:
    assert {name_of(path) for path in MODULES} == set(ORDER)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_program_imports_only_lower_modules(path: Path) -> None:
    own = name_of(path)
    assert not [name for name in imported(path) if ORDER[name] >= ORDER[own]], f"imports of {own} that come later"


def test_imports_are_recognised() -> None:
    assert {"evaluation.cache", "evaluation.load"} <= set(imported(PACKAGE / "analysis" / "store.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_files_are_small(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) < 600
