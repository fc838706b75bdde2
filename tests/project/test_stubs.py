"""Stubs of the public modules: same names and parameters as the `.pyx`, which alone has the docstrings."""

import ast
import importlib
import inspect
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

CORE = Path(__file__).resolve().parents[2] / "core_ext"
Definition = ast.FunctionDef | ast.ClassDef

STUBS = [path for path in sorted(CORE.rglob("*.pyi")) if path.with_suffix(".pyx").exists()]
MODULES = [".".join(path.relative_to(CORE).with_suffix("").parts) for path in STUBS]


def definitions(body: Sequence[ast.stmt]) -> dict[str, Definition]:
    return {node.name: node for node in body if isinstance(node, Definition)}


def parsed(module: str) -> ast.Module:
    return ast.parse((CORE / module.replace(".", "/")).with_suffix(".pyi").read_text(encoding="utf-8"))


def functions(body: Sequence[ast.stmt], prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the qualified name and stub of every declared function, method and property."""
    for name, node in definitions(body).items():
        if isinstance(node, ast.FunctionDef):
            yield prefix + name, node
        else:
            yield from functions(node.body, f"{name}.")


def resolve(module: str, qualified: str) -> Any:
    found: Any = importlib.import_module(f"core_ext.{module}")
    for part in filter(None, qualified.split(".")):
        found = getattr(found, part)
    return found


CASES = [(module, name, node) for module in MODULES for name, node in functions(parsed(module).body)]
# Everything that help() shows: modules, classes, functions, methods and properties.
DOCUMENTED = [
    *((module, "") for module in MODULES),
    *((module, name) for module in MODULES for name in definitions(parsed(module).body)),
    *((module, name) for module, name, _ in CASES if "." in name and "__" not in name),
]


@pytest.mark.parametrize("module, name, node", CASES, ids=[f"{module}.{name}" for module, name, _ in CASES])
def test_declared_names_exist_with_the_same_parameters(module: str, name: str, node: ast.FunctionDef) -> None:
    found = resolve(module, name)
    if "__" in name:
        return
    if not callable(found):
        assert any(ast.unparse(mark) in ("property", f"{node.name}.setter") for mark in node.decorator_list)
        return
    parameters = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    assert list(inspect.signature(found).parameters) == [name for name in parameters if name != "cls"]


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


@pytest.mark.parametrize("module, name", DOCUMENTED, ids=[f"{module}.{name}" for module, name in DOCUMENTED])
def test_public_names_have_docstrings(module: str, name: str) -> None:
    """A docstring must say more than the signature. C attributes have none; the docstring of the class names them."""
    found, (owner, _, attribute) = resolve(module, name), name.rpartition(".")
    if inspect.isdatadescriptor(found) and not isinstance(found, property) and not found.__doc__:
        assert re.search(rf"\b{attribute}\b", resolve(module, owner).__doc__), f"{module}.{owner} does not name it"
    else:
        assert description(name, found.__doc__), f"no docstring: {module}.{name}"


@pytest.mark.parametrize("module", MODULES)
def test_stubs_hold_types_only(module: str) -> None:
    tree = parsed(module)
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Module | Definition)]
    found = [getattr(node, "name", module) for node in nodes if ast.get_docstring(node) is not None]
    assert not found, f"docstrings belong in {module}.pyx: {found}"


def test_description_leaves_out_the_signature() -> None:
    signature = "Board.push(self, str move: str)"
    docstrings = [None, signature, f"{signature}\n\nMake a move.", "push: a move", "Pushes a move."]
    assert [description("Board.push", text) for text in docstrings] == ["", "", "Make a move.", "", "Pushes a move."]
