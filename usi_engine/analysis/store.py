"""Results kept in the user's cache folder, one line of JSON a position, so that an analysis can resume.

The files are in `analysis/` of the cache folder (evaluation.cache). A file's name is a checksum of the game and of
everything that the results depend on: limits, threads, table size, evaluation, version. Later runs that write other
outputs use them too.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from usi_engine import __version__
from usi_engine.analysis.judgement import Evaluated
from usi_engine.analysis.limits import Limits
from usi_engine.evaluation.cache import cache_folder
from usi_engine.evaluation.load import evaluation_file
from usi_engine.records.games import Game
from usi_engine.records.usi_text import MOVE

KEPT_FILES = 500  # of about 40 KB each


def store_path(game: Game, limits: Limits) -> Path | None:
    """Return the file for this game and these limits; None without a cache folder. WeightsError, OSError."""
    folder = cache_folder()
    if folder is None:
        return None
    weights = evaluation_file(limits.evaluation)
    state = [weights.stat().st_size, weights.stat().st_mtime_ns] if weights and weights.is_file() else []
    key = json.dumps([__version__, game.start, game.moves, asdict(limits), state])
    return folder / "analysis" / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.jsonl"


class Store:
    """The results of one game by ply (0: the start); in memory only if there is no file or it cannot be written.

    `anew`: drop the contents of the file.
    """

    def __init__(self, path: Path | None, *, anew: bool = False) -> None:
        self._path = path
        self._results: dict[int, Evaluated] = {}
        if path is not None:
            with contextlib.suppress(OSError):
                path.parent.mkdir(parents=True, exist_ok=True)
                delete_old(path.parent)
                if anew:
                    path.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                for line in path.read_text(encoding="utf-8").splitlines():
                    self._add_line(line)

    def get(self, ply: int) -> Evaluated | None:
        """Return the kept result, if there is one."""
        return self._results.get(ply)

    def put(self, ply: int, result: Evaluated) -> None:
        """Keep a result."""
        self._results[ply] = result
        if self._path is not None:
            with contextlib.suppress(OSError), self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([ply, asdict(result)]) + "\n")

    def _add_line(self, line: str) -> None:
        """Add the result of a line of the file; a damaged line is skipped."""
        with contextlib.suppress(ValueError, TypeError, KeyError):
            ply, fields = json.loads(line)
            self._results[int(ply)] = checked(fields)


def checked(fields: dict[str, Any]) -> Evaluated:
    """Return the result of a line. ValueError, TypeError or KeyError if it is not one."""
    numbers = [int(fields[name]) for name in ("value", "depth", "nodes", "milliseconds")]
    mate = None if fields["mate"] is None else int(fields["mate"])
    if not all(MOVE.fullmatch(move) for move in fields["pv"]):
        raise ValueError
    value, depth, nodes, milliseconds = numbers
    return Evaluated(value, mate, depth, nodes, milliseconds, tuple(fields["pv"]))


def delete_old(folder: Path) -> None:
    """Delete the oldest files beyond KEPT_FILES."""
    files = sorted(folder.glob("*.jsonl"), key=lambda file: file.stat().st_mtime, reverse=True)
    for old in files[KEPT_FILES:]:
        old.unlink(missing_ok=True)
