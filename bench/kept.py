"""The folder of a long run, which is continued under the same conditions and with the same program only."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Collection
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import core_ext
import usi_engine

CONDITIONS = "conditions.json"


def kept_rows(file: Path) -> list[Any]:
    """What an earlier run wrote, a line of JSON each; a last line that was cut short is removed from the file."""
    if not file.exists():
        return []
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines.pop()
        file.write_text("".join(lines), encoding="utf-8")
    return [json.loads(line) for line in lines]


def program_digest() -> str:
    """Of the compiled core and of usi_engine's code: another build may play otherwise."""
    digest = hashlib.sha256()
    for package in (core_ext, usi_engine):
        folder = Path(package.__path__[0])
        for file in sorted(folder.rglob("*")):
            if file.name.endswith((".py", *EXTENSION_SUFFIXES)):
                digest.update(file.relative_to(folder).as_posix().encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def same_conditions(folder: Path, arguments: argparse.Namespace, free: Collection[str]) -> None:
    """Write the arguments but `free`, and the program's digest, into the folder, or compare with those there.

    SystemExit where they differ, with their names.
    """
    conditions = {name: str(value) for name, value in sorted(vars(arguments).items()) if name not in free}
    conditions["program"] = program_digest()
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / CONDITIONS
    before = json.loads(file.read_text(encoding="utf-8")) if file.exists() else conditions
    other = [name for name in sorted({*before, *conditions}) if before.get(name) != conditions.get(name)]
    if other:
        raise SystemExit(f"{folder} holds a run under other conditions ({', '.join(other)}): name another folder")
    file.write_text(json.dumps(conditions, indent=1) + "\n", encoding="utf-8")
