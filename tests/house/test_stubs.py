"""The stubs beside the doors say what the compiled modules hold: the same names with the same parameters."""

import ast
import importlib
import inspect
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

CORE = Path(__file__).resolve().parents[2] / "core_ext"
Definition = ast.FunctionDef | ast.ClassDef

STUBS = [path for path in sorted(CORE.rglob("*.pyi")) if path.with_suffix(".pyx").exists()]
DOORS = [".".join(path.relative_to(CORE).with_suffix("").parts) for path in STUBS]


def definitions(body: Sequence[ast.stmt]) -> dict[str, Definition]:
    return {node.name: node for node in body if isinstance(node, Definition)}


def stub(door: str) -> dict[str, Definition]:
    return definitions(ast.parse((CORE / door.replace(".", "/")).with_suffix(".pyi").read_text(encoding="utf-8")).body)


def functions(door: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """(qualified name, stub) of every function and method that the stub declares."""
    for name, node in stub(door).items():
        if isinstance(node, ast.FunctionDef):
            yield name, node
            continue
        for inner, method in definitions(node.body).items():
            if isinstance(method, ast.FunctionDef):
                yield f"{name}.{inner}", method


def resolve(door: str, qualified: str) -> Any:
    found: Any = importlib.import_module(f"core_ext.{door}")
    for part in qualified.split("."):
        found = getattr(found, part)
    return found


CASES = [(door, name, node) for door in DOORS for name, node in functions(door)]
NAMES = [f"{door}.{name}" for door, name, _ in CASES]
PLAIN = [case for case in CASES if "__" not in case[1]]


@pytest.mark.parametrize("door, name, node", CASES, ids=NAMES)
def test_declared_is_there(door: str, name: str, node: ast.FunctionDef) -> None:
    assert resolve(door, name) is not None


@pytest.mark.parametrize("door, name, node", PLAIN, ids=[f"{door}.{name}" for door, name, _ in PLAIN])
def test_same_parameters(door: str, name: str, node: ast.FunctionDef) -> None:
    found = resolve(door, name)
    if not callable(found):
        assert any(isinstance(mark, ast.Name) and mark.id == "property" for mark in node.decorator_list)
        return
    parameters = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    assert list(inspect.signature(found).parameters) == parameters


@pytest.mark.parametrize("door", DOORS)
def test_nothing_public_is_undeclared(door: str) -> None:
    module, declared = importlib.import_module(f"core_ext.{door}"), stub(door)
    for name, value in vars(module).items():
        if inspect.isclass(value) and value.__module__ == f"core_ext.{door}":
            assert name in declared, name
            methods = definitions(declared[name].body)
            public = {attribute for attribute in vars(value) if not attribute.startswith("_")}
            assert public <= set(methods), f"{name} also has {public - set(methods)}"
