"""Layers of core_ext: a module imports only modules below it. The program imports only the public modules."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.programs import ROOT

# Folders from the bottom layer up; "" is the public API. A module may import only modules listed before it.
LAYERS: dict[str, str] = {
    "base": "arithmetic atomic debug leb128 lock memory large_memory stop thread",
    "shogi": "types hand bitboard zobrist position movegen ending see outcome notation sfen packed ki2 diagram "
    "labels planes",
    "eval": "bonapiece symmetry incremental material piece_values kpp.weights kpp.sums nnue.kernels "
    "nnue.features nnue.selector nnue.stacks nnue.accumulator nnue.forward nnue.network evaluate",
    "mate": "mate_in_one proof_table proof_pieces shared solver dfpn team mating_line",
    "search": "tt tune history movepick searcher correction node pruning history_updates search",
    "learn": "training_position factorized kpp_model",
    "": "processor board replay engine corpus training features _probe _nnue_probe _nnue_kernels _nnue_portable",
}
NAMES = [f"{folder}.{name}".lstrip(".") for folder, names in LAYERS.items() for name in names.split()]
ORDER = {name: place for place, name in enumerate(NAMES)}
# `processor` is public because it checks the processor before the program imports the rest; the notations are
# plain Python.
PUBLIC = {
    "board", "replay", "corpus", "training", "engine", "features", "base.leb128", "processor", "shogi.ki2",
    "shogi.notation",
}  # fmt: skip
STATEMENT = re.compile(r"^[ \t]*(?:from +(core_ext[\w.]*|\.\w*) +c?import +([^#\n]*)|c?import +(core_ext[\w.]*))", re.M)
PRODUCT_IMPORT = re.compile(r"^\s*(?:from|c?import)\s+(?:usi_engine|tests|bench)\b", re.M)

CORE_ROOT = ROOT / "core_ext"
SOURCES = ("*.pxd", "*.pyx", "*.py")
CORE = sorted(path for pattern in SOURCES for path in CORE_ROOT.rglob(pattern) if path.stem != "__init__")
PRODUCT = sorted((ROOT / "usi_engine").rglob("*.py"))


def module_name(path: Path, root: Path = CORE_ROOT) -> str:
    """Return a module's name below core_ext, such as `shogi.movegen`, or below another package."""
    return ".".join(path.relative_to(root).with_suffix("").parts)


def cimports(path: Path) -> Iterator[str]:
    """Yield the names of the core's modules that a Cython file imports or cimports."""
    for match in STATEMENT.finditer(path.read_text(encoding="utf-8")):
        package, names, module = match.groups()
        prefix = (package or module).removeprefix("core_ext").lstrip(".")
        if package and prefix not in ORDER:
            parts = (name.split()[0] for name in names.strip("() ").split(",") if name.strip())
            yield from (f"{prefix}.{part}".lstrip(".") for part in parts)
        else:
            yield prefix


@cache
def imports(path: Path) -> list[str]:
    """Return the full names that a Python file imports, at the top or in a function."""
    found = list[str]()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


def test_layers_list_every_module() -> None:
    assert {module_name(path) for path in CORE} == set(ORDER)


def test_core_imports_only_lower_modules() -> None:
    found = [(module_name(path), name) for path in CORE for name in cimports(path)]
    assert ("shogi.movegen", "shogi.bitboard") in found
    assert not [(own, name) for own, name in found if name != own and ORDER[name] >= ORDER[own]]


def test_program_imports_only_public_modules() -> None:
    """It imports neither the rest of the core nor tests, benches and oracles."""
    for path in PRODUCT:
        for name in imports(path):
            package, _, module = name.partition(".")
            assert package not in {"tests", "bench", "cshogi", "rsshogi"}, (path, name)
            assert package != "core_ext" or module.startswith(tuple(PUBLIC)), (path, name)


def test_core_does_not_import_the_program() -> None:
    assert not [path for path in CORE if PRODUCT_IMPORT.search(path.read_text(encoding="utf-8"))]
