"""The journal of an unfinished book: a line of JSON for each position searched, so that a stopped run can continue.

The first line has the settings that the results depend on. A run with the same settings takes its results from the
journal, so the book is the same as that of an uninterrupted run, and a longer run continues a shorter one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from usi_engine.book.entry import BookError, position_key
from usi_engine.language import _
from usi_engine.records.files import naming_errors, write_text
from usi_engine.search.report import Line

Settings = Mapping[str, str | int | float]


class Journal:
    """Results by position. OSError; BookError if the file has other settings or is not a journal."""

    def __init__(self, path: Path, settings: Settings) -> None:
        self._path = path
        self._found: dict[str, tuple[Line, ...]] = {}
        lines = path.read_text(encoding="ascii", errors="replace").splitlines() if path.exists() else []
        if lines:
            check_settings(path, parsed(lines[0]), dict(settings))
        complete = [line for line in lines[1:] if self._add_line(line)]
        write_text(path, "\n".join([json.dumps(dict(settings)), *complete, ""]))  # without a line cut off by a kill

    def __len__(self) -> int:
        return len(self._found)

    def get(self, sfen: str) -> tuple[Line, ...] | None:
        """Return the lines of this position; None if it was not searched."""
        return self._found.get(position_key(sfen))

    def put(self, sfen: str, lines: tuple[Line, ...]) -> None:
        """Keep the lines of a position. OSError."""
        self._found[position_key(sfen)] = lines
        words = [[line.value, line.depth, *line.pv[:2]] for line in lines]
        with naming_errors(self._path), self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([sfen, words]) + "\n")

    def _add_line(self, text: str) -> bool:
        """Take the result in a line; return False if the line is damaged (for example not ASCII)."""
        try:
            text.encode("ascii")
            sfen, words = json.loads(text)
            lines = tuple(Line((move, *pv), int(value), int(depth)) for value, depth, move, *pv in words)
            self._found[position_key(sfen)] = lines
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
            return False
        return True


def check_settings(path: Path, found: Any, settings: dict[str, str | int | float]) -> None:
    """Raise BookError unless the file holds these settings."""
    if not isinstance(found, dict):
        raise BookError(_("'{path}' is not the journal of a book; move it or name another --out").format(path=path))
    if found != settings:
        raise BookError(_("'{path}' was made with other settings; delete it or name another --out").format(path=path))


def parsed(line: str) -> Any:
    """Parse a line of JSON; return None if it is not JSON."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
