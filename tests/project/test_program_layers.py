"""Layers of usi_engine: a module imports only modules that come before it in LAYERS. There are no exceptions."""

from pathlib import Path

from tests.programs import ROOT
from tests.project.test_core_layers import imports, module_name

PACKAGE = ROOT / "usi_engine"
# From the bottom: a module at the top of the package, or a folder with its modules in order.
LAYERS: dict[str, str] = {
    "   ": "language columns clock waiting",
    "usi": "options output protocol arguments info process",
    "": "files core rules memory progress",
    "evaluation": "cache names kpp_file parts architecture network_file load",
    " ": "features cluster workers",
    "book": "entry libraries yaneuraou book_player",
    "search": "results timeman search_control skill threads spec iterative resources search",
    "api": "mate_lines second_solutions mate_search search_engine usi_process engine async_engine",
    "game": "command_line console bench thinking mating session loop",
    "records": "faults ends tree notation position kif csa jkf usi_text formats games convert",
    "mate_tool": "problems command",
    "analysis": "judgement analyst words formations tactics reasons kif puzzles page terminal suite analyze",
    "book_tool": "tree command",
    "learn": "settings game player files",
    "learn.corpus": "packed packed_games sources positions dataset chances buckets build batches",
    "learn ": "game_file selfplay training kpp",
    "learn.nnue": "inputs model export train",
    "learn  ": "command",
    "csa": "background protocol connection game record client command",
    "match": "elo runs game engines report spsa command",
    "play": "moves game opponent screen terminal library words dialogue browser_server shared_game "
    "analysis_tree live_engine analysis_place browser command analyze",
    "  ": "__main__",
}
NAMES = [f"{folder.strip()}.{name}".lstrip(".") for folder, names in LAYERS.items() for name in names.split()]
ORDER = {name: place for place, name in enumerate(NAMES)}
MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.name != "__init__.py"]


def imported(path: Path) -> set[str]:
    """Return the names of the modules of usi_engine that a file imports, such as `search.threads`."""
    names = [name.removeprefix("usi_engine.") for name in imports(path) if name.startswith("usi_engine.")]
    return {name if name in ORDER else name.rpartition(".")[0] for name in names} & ORDER.keys()


def test_layers_list_every_module() -> None:
    assert {module_name(path, PACKAGE) for path in MODULES} == set(ORDER)


def test_program_imports_only_lower_modules() -> None:
    found = [(module_name(path, PACKAGE), name) for path in MODULES for name in imported(path)]
    assert {("analysis.analyst", "evaluation.names"), ("analysis.analyst", "evaluation.load")} <= set(found)
    assert not [(own, name) for own, name in found if ORDER[name] >= ORDER[own]]


def test_files_are_small() -> None:
    assert not [path for path in MODULES if len(path.read_text(encoding="utf-8").splitlines()) >= 600]
