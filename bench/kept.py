"""Folder of a long run, which can be continued only under the same conditions and with the same program."""

import argparse
import hashlib
import json
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import core_ext
import usi_engine
from usi_engine.evaluation.network_file import network_path
from usi_engine.files import digest_of


def kept_rows(file: Path) -> list[Any]:
    """Read the JSON lines of an earlier run. An incomplete last line is removed from the file."""
    if not file.exists():
        return []
    data = file.read_bytes()
    end = data.rfind(b"\n") + 1
    if end < len(data):
        os.truncate(file, end)
    rows = []
    for number, line in enumerate(data[:end].splitlines(), 1):
        try:
            rows.append(json.loads(line))
        except ValueError as error:
            raise ValueError(f"{file}, line {number}: {error}") from None
    return rows


@contextmanager
def damage_named(file: Path) -> Iterator[None]:
    """Name the file in errors of the block, which reads its JSON. ValueError."""
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"{file} is damaged: {error}") from None


def program_digest() -> str:
    """Hash the core, the code of usi_engine and its data, because another build may play differently."""
    digest = hashlib.sha256()
    for package in (core_ext, usi_engine):
        folder = Path(package.__path__[0])
        for file in sorted(folder.rglob("*")):
            is_code = file.name.endswith((".py", *EXTENSION_SUFFIXES)) and "_probe" not in file.name
            if is_code or (file.parent == folder / "data" and file.is_file()):
                digest.update(file.relative_to(folder).as_posix().encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def file_digest(path: Path) -> str:
    """Return the hash of a file, or of the nn.bin of a folder; empty if there is none."""
    file = network_path(path)
    return digest_of(file) if file.is_file() else ""


def condition(value: object) -> str:
    """Return an argument as text; if it names a file or a network's folder, with a hash of the file."""
    digest = file_digest(Path(value).expanduser()) if value and isinstance(value, str | Path) else ""
    return f"{value} {digest}" if digest else str(value)


def same_conditions(folder: Path, arguments: argparse.Namespace, free: Collection[str]) -> None:
    """Write the arguments and the program's hash to the folder, or compare them with those of the earlier run.

    Raises SystemExit with the names of those that differ. Arguments in `free` may differ.
    """
    conditions = {name: condition(value) for name, value in sorted(vars(arguments).items()) if name not in free}
    conditions["program"] = program_digest()
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "conditions.json"
    with damage_named(file):
        before = dict(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else conditions
    other = [name for name in sorted({*before, *conditions}) if before.get(name) != conditions.get(name)]
    if other:
        raise SystemExit(f"{folder} holds a run under other conditions ({', '.join(other)}): name another folder")
    file.write_text(json.dumps(conditions, indent=1) + "\n", encoding="utf-8")
