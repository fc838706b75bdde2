"""The folder of a long run, which is continued under the same conditions only."""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

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


def same_conditions(folder: Path, arguments: argparse.Namespace, free: Collection[str]) -> None:
    """Write the arguments but `free` into the folder, or compare with those there; SystemExit where they differ."""
    conditions = {name: str(value) for name, value in sorted(vars(arguments).items()) if name not in free}
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / CONDITIONS
    if file.exists() and json.loads(file.read_text(encoding="utf-8")) != conditions:
        raise SystemExit(f"{folder} holds a run under other conditions: name another folder")
    file.write_text(json.dumps(conditions, indent=1) + "\n", encoding="utf-8")
