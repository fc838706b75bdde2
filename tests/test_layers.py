"""Who may import whom: the floors of ARCHITECTURE.md, read from the cimports and imports of the source."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# From the bottom; a module may import from the floors below and from names to its left.
FLOORS = [
    ["types", "hand", "debug", "memory", "halt"],
    ["processor", "bitboard", "zobrist", "tt", "tune", "prooftable"],
    ["position"],
    ["movegen", "see", "sfen", "features", "folding"],
    ["evaluate", "mate", "history", "perft"],
    ["settle", "movepick", "proofhand", "dfpn", "solution", "searcher", "rules", "node", "teaching", "search"],
    ["board", "records", "coarse", "parts", "learning", "engine"],
    ["_probe"],
]
ORDER = {name: (floor, place) for floor, names in enumerate(FLOORS) for place, name in enumerate(names)}
# `processor` is no door of the rules or the search: it is asked whether the doors may be opened at all.
DOORS = {"board", "records", "coarse", "learning", "engine", "processor"}
STATEMENT = re.compile(r"^[ \t]*(?:from +(core_ext[\w.]*|\.\w*) +c?import +([^#\n]*)|c?import +(core_ext[\w.]*))", re.M)
PRODUCT_IMPORT = re.compile(r"^\s*(?:from|c?import)\s+(?:usi_engine|tests|bench)\b", re.M)

SOURCES = [path for pattern in ("*.pxd", "*.pyx") for path in (ROOT / "core_ext").glob(pattern)]
CORE = sorted(path for path in SOURCES if path.stem != "__init__")
PRODUCT = sorted((ROOT / "usi_engine").rglob("*.py"))


def cimports(path):
    """Names of the core's modules that a Cython file imports or cimports."""
    for match in STATEMENT.finditer(path.read_text(encoding="utf-8")):
        package, names, module = match.groups()
        if package == "core_ext":
            yield from (name.split()[0] for name in names.strip("() ").split(",") if name.strip())
        else:
            yield (package or module).rpartition(".")[2]


def imports(path):
    """Full names of what a Python file imports, lazily or not."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_every_module_has_a_floor():
    assert {path.stem for path in CORE} <= set(ORDER)
    assert len(CORE) > 10


@pytest.mark.parametrize("path", CORE, ids=lambda path: path.name)
def test_no_arrow_runs_up(path):
    wrong = [name for name in cimports(path) if name != path.stem and ORDER[name] >= ORDER[path.stem]]
    wrong = [name for name in wrong if not left_of(name, path.stem)]
    assert not wrong, f"{path.name} imports {wrong}, which stand above it or to its right"


def left_of(name, importer):
    """Whether both stand on the lowest floor, whose words may use each other, or `name` stands to the left."""
    return ORDER[name][0] == ORDER[importer][0] == 0 or ORDER[name] < ORDER[importer]


def test_the_reader_sees_cimports():
    found = set(cimports(ROOT / "core_ext" / "movegen.pyx"))
    assert {"bitboard", "position", "types"} <= found


@pytest.mark.parametrize("path", PRODUCT, ids=lambda path: str(path.relative_to(ROOT)))
def test_product_uses_the_doors_only(path):
    core = {name.split(".")[1] for name in imports(path) if name.startswith("core_ext.")}
    assert core <= DOORS, f"{path.name} goes past the doors: {sorted(core - DOORS)}"
    assert "core_ext" not in set(imports(path)), f"{path.name} imports the whole core"


@pytest.mark.parametrize("path", CORE, ids=lambda path: path.name)
def test_core_knows_nothing_of_the_product(path):
    assert not PRODUCT_IMPORT.search(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", PRODUCT, ids=lambda path: str(path.relative_to(ROOT)))
def test_product_imports_no_tests(path):
    assert not [name for name in imports(path) if name.partition(".")[0] in ("tests", "bench", "cshogi", "rsshogi")]
