"""Sources of the core: stubs have the names and parameters of the `.pyx`; hot modules call Python only in set-up.

The `.pyx` alone has the docstrings. Calls of Python's C API are counted in the generated C.
"""

import ast
import importlib
import inspect
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.programs import ROOT

CORE = ROOT / "core_ext"
Definition = ast.FunctionDef | ast.ClassDef

STUBS = [path for path in sorted(CORE.rglob("*.pyi")) if path.with_suffix(".pyx").exists()]
MODULES = [".".join(path.relative_to(CORE).with_suffix("").parts) for path in STUBS]


def definitions(body: Sequence[ast.stmt]) -> dict[str, Definition]:
    return {node.name: node for node in body if isinstance(node, Definition)}


def parsed(module: str) -> ast.Module:
    return ast.parse((CORE / module.replace(".", "/")).with_suffix(".pyi").read_text(encoding="utf-8"))


def stubbed(body: Sequence[ast.stmt], prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the qualified name and stub of every declared function, method and property."""
    for name, node in definitions(body).items():
        if isinstance(node, ast.FunctionDef):
            yield prefix + name, node
        else:
            yield from stubbed(node.body, f"{name}.")


def resolve(module: str, qualified: str) -> Any:
    found: Any = importlib.import_module(f"core_ext.{module}")
    for part in filter(None, qualified.split(".")):
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("module", MODULES)
def test_declared_names_exist_with_the_same_parameters(module: str) -> None:
    for name, node in stubbed(parsed(module).body):
        found = resolve(module, name)
        if "__" in name:
            continue
        if callable(found):
            declared = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            assert list(inspect.signature(found).parameters) == [one for one in declared if one != "cls"], name
        else:
            assert any(ast.unparse(mark) in ("property", f"{node.name}.setter") for mark in node.decorator_list), name


@pytest.mark.parametrize("module", MODULES)
def test_public_names_are_declared(module: str) -> None:
    declared = definitions(parsed(module).body)
    for name, value in vars(importlib.import_module(f"core_ext.{module}")).items():
        if inspect.isclass(value) and value.__module__ == f"core_ext.{module}":
            assert name in declared, name
            methods = definitions(declared[name].body)
            public = {attribute for attribute in vars(value) if not attribute.startswith("_")}
            assert public <= set(methods), f"{name} also has {public - set(methods)}"


def description(name: str, docstring: str | None) -> str:
    """Return a docstring without the signature that Cython's `embedsignature` puts in its first line."""
    first, _, rest = (docstring or "").partition("\n")
    signature = name and re.match(rf"(\w+\.)*{name.rpartition('.')[2]}\s*[(:]", first)
    return (rest if signature else f"{first}\n{rest}").strip()


@pytest.mark.parametrize("module", MODULES)
def test_public_names_have_docstrings(module: str) -> None:
    """The module, classes, functions, methods and properties have one that says more than the signature.

    C attributes have none; the docstring of the class names them.
    """
    body = parsed(module).body
    names = ["", *definitions(body), *(name for name, _ in stubbed(body) if "." in name and "__" not in name)]
    for name in names:
        found, (owner, _, attribute) = resolve(module, name), name.rpartition(".")
        if inspect.isdatadescriptor(found) and not isinstance(found, property) and not found.__doc__:
            assert re.search(rf"\b{attribute}\b", resolve(module, owner).__doc__), f"{owner} does not name {attribute}"
        else:
            assert description(name, found.__doc__), f"no docstring: {module}.{name}"


# ---- hot code ----

HOT = ("search/*", "shogi/bitboard", "shogi/position", "shogi/movegen", "shogi/see", "eval/**/*", "mate/*")
# Modules that only load weights.
SET_UP_MODULES = {"eval/kpp/weights", "eval/nnue/features", "eval/nnue/network", "eval/piece_values"}
# Functions that run before a search: they fill tables at import, allocate memory or convert text, and may raise.
SET_UP = {
    "shogi/bitboard": {"init_lines", "init_pairs", "init_ranks", "init_slides", "init_steps", "init_near_king",
                       "to_bitboard"},
    "shogi/position": {"allocate_position", "copy_position", "make_room", "reserve_plies"},
    "eval/bonapiece": {"number_board"},
    "eval/evaluate": {"init_evaluator", "evaluate_terms", "list_kpp_terms"},
    "eval/kpp/sums": {"init_kpp_state"},
    "eval/nnue/accumulator": {"allocate_sums"},
    "eval/nnue/selector": {"fill_hands", "fill_zones", "fill_steps", "fill_selector"},
    "eval/nnue/stacks": {"file_shapes", "check_shards", "check_hidden", "fill_sizes", "copy_biases", "copy_stack",
                         "copy_stacks"},
    "mate/solver": {"allocate_solver", "set_root"},
    "mate/team": {"idle_helper", "prepare_helper", "start_helper"},
    "mate/proof_table": {"proof_table_allocate"},
    "search/searcher": {"allocate_histories", "allocate_samples", "allocate_searcher"},
    "search/tt": {"tt_allocate"},
    "search/tune": {"text_name"},
}  # fmt: skip

C_FUNCTION = re.compile(r"^(?:static |__PYX\w+ |CYTHON_\w+ )*[\w* ]*?\b__pyx_f_(\w+)\(.*\) \{$")
PYTHON_CALL = re.compile(r"\b(?:_?Py_?[A-Z]\w*|__Pyx_\w+|__PYX_\w+)\s*\(")
SOURCE_LINE = re.compile(r'^\s*/\* "([^"]+)":(\d+)$')


def hot_modules() -> list[Path]:
    found = {path.with_suffix("") for pattern in HOT for path in CORE.glob(f"{pattern}.pyx")}
    return sorted(path for path in found if module_name(path) not in SET_UP_MODULES)


def module_name(module: Path) -> str:
    return module.relative_to(CORE).as_posix()


@lru_cache
def generated() -> dict[str, str]:
    """Return the C code of each hot module in the release profile; regenerate it if a source is newer."""
    setup = SimpleNamespace(**run_path(str(ROOT / "setup.py")))
    names = [module_name(path) for path in hot_modules()]
    extensions = [setup.Extension(f"core_ext.{name.replace('/', '.')}", [f"core_ext/{name}.pyx"],
                                  include_dirs=["core_ext"]) for name in names]  # fmt: skip
    directory = ROOT / (setup.BUILD_BASE if setup.PROFILE == "release" else "build/hot-code") / "cython"
    directives = setup.DIRECTIVES | setup.CHECKS["release"]
    setup.cythonize(extensions, build_dir=str(directory), quiet=True, compiler_directives=directives)
    return {name: (directory / "core_ext" / f"{name}.c").read_text(encoding="utf-8") for name in names}


def functions(module: str) -> dict[str, list[str]]:
    """Map each C function of a cdef function to the source lines at which it calls Python.

    Inline functions from the .pxd files of other modules are included, under their mangled names.
    """
    found: dict[str, list[str]] = {}
    current, line = None, ""
    for text in generated()[module].splitlines():
        if match := C_FUNCTION.match(text):
            current = found.setdefault(match[1], [])
        elif text.startswith("}"):
            current = None
        elif match := SOURCE_LINE.match(text):
            line = f"{match[1]}:{match[2]}"
        elif current is not None and PYTHON_CALL.search(text):
            current.append(line)
    return found


def mangled(module: str, name: str) -> str:
    return "".join(f"{len(part)}{part}_" for part in ("core_ext", *module.split("/"))) + name


def test_hot_functions_never_call_python() -> None:
    allowed = {mangled(module, name) for module, names in SET_UP.items() for name in names}
    calls = {name: lines for module in generated() for name, lines in functions(module).items() if lines}
    assert calls.keys() <= allowed, {name: lines for name, lines in calls.items() if name not in allowed}


def test_functions_and_calls_are_recognised() -> None:
    """Guard against a parser that finds nothing: hot functions exist, and set-up functions call Python."""
    counts = Counter({module: len(functions(module)) for module in generated()})
    assert counts["search/search"] > 80
    assert min(counts.values()) > 0
    assert mangled("search/search", "search_node") in functions("search/search")
    assert mangled("shogi/position", "do_move") in functions("shogi/position")
    for module, name in (("search/tt", "tt_allocate"), ("search/searcher", "allocate_searcher")):
        assert functions(module)[mangled(module, name)], name


def test_hot_modules_hold_no_python_functions() -> None:
    """Only modules of constants, weights and tables computed at import define `def` functions."""
    set_up = {"search/tune", "eval/evaluate", "shogi/bitboard"}
    with_def = {module_name(path) for path in hot_modules()
                if re.search(r"^\s*def ", path.with_suffix(".pyx").read_text(encoding="utf-8"), re.M)}  # fmt: skip
    assert with_def <= set_up
