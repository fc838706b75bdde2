"""The journal of a book in the making: a line of JSON for each position searched, so that a stopped run goes on.

The first line holds the settings that the results depend on. A run with the same settings takes from the journal what
it holds; so the book is the same as that of a run that was not stopped, and a longer run goes on where a shorter ended.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from usi_engine.book.entry import BookError, position_key
from usi_engine.records.files import write_text
from usi_engine.search.report import Line

Settings = Mapping[str, str | int | float]


class Journal:
    """Results by position. BookError where the file was made with other settings or is no journal; OSError."""

    def __init__(self, path: Path, settings: Settings) -> None:
        self._path = path
        self._found: dict[str, tuple[Line, ...]] = {}
        lines = path.read_text(encoding="ascii", errors="replace").splitlines() if path.exists() else []
        if lines:
            check_settings(path, read(lines[0]), dict(settings))
        whole = [line for line in lines[1:] if self._take(line)]
        # What a killed run has left of its last line goes.
        text = "\n".join([json.dumps(dict(settings)), *whole, ""])
        write_text(path, text)

    def __len__(self) -> int:
        return len(self._found)

    def get(self, sfen: str) -> tuple[Line, ...] | None:
        """The lines of this position; None where it was not searched."""
        return self._found.get(position_key(sfen))

    def put(self, sfen: str, lines: tuple[Line, ...]) -> None:
        """Keep the lines of a position. OSError."""
        self._found[position_key(sfen)] = lines
        words = [[line.value, line.depth, *line.pv[:2]] for line in lines]
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([sfen, words]) + "\n")

    def _take(self, text: str) -> bool:
        """Use a line; False where it is damaged. What `put` writes is ASCII."""
        try:
            text.encode("ascii")
            sfen, words = json.loads(text)
            lines = tuple(Line((move, *pv), int(value), int(depth)) for value, depth, move, *pv in words)
            self._found[position_key(sfen)] = lines
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
            return False
        return True


def check_settings(path: Path, found: Any, settings: dict[str, str | int | float]) -> None:
    """BookError unless these are the settings that the file of this path must hold."""
    if not isinstance(found, dict):
        raise BookError(f"'{path}' is no journal of a book; move it or name another --out")
    if found != settings:
        raise BookError(f"'{path}' was made with other settings; delete it or name another --out")


def read(line: str) -> Any:
    """The value of a line of JSON; None where it is none."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
