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


@pytest.mark.parametrize("module", MODULES)
def test_declared_names_exist_with_the_same_parameters(module: str) -> None:
    for name, node in functions(parsed(module).body):
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
    names = ["", *definitions(body), *(name for name, _ in functions(body) if "." in name and "__" not in name)]
    for name in names:
        found, (owner, _, attribute) = resolve(module, name), name.rpartition(".")
        if inspect.isdatadescriptor(found) and not isinstance(found, property) and not found.__doc__:
            assert re.search(rf"\b{attribute}\b", resolve(module, owner).__doc__), f"{owner} does not name {attribute}"
        else:
            assert description(name, found.__doc__), f"no docstring: {module}.{name}"
