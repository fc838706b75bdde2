"""Results kept in the user's cache folder, one line of JSON a position, so that an analysis resumes where it stopped.

The files are in `analysis/` of the cache folder (evaluation.cache). A file's name is a checksum of the game and of all
that the results depend on: limits, threads, table size, evaluation, version. What is kept also serves a later run that
writes another output.
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
from usi_engine.records.formats import USI_MOVE
from usi_engine.records.games import Game

KEPT_FILES = 500  # of about 40 KB each


def store_path(game: Game, limits: Limits) -> Path | None:
    """The file for this game and these limits; None without a cache folder. WeightsError, OSError."""
    folder = cache_folder()
    if folder is None:
        return None
    weights = evaluation_file(limits.evaluation)
    state = [weights.stat().st_size, weights.stat().st_mtime_ns] if weights and weights.is_file() else []
    key = json.dumps([__version__, game.start, game.moves, asdict(limits), state])
    return folder / "analysis" / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.jsonl"


class Store:
    """The results of one game by ply (0: the start). Without a file, or where it cannot be written, in memory only.

    `anew`: what the file holds is dropped.
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
                    self._take(line)

    def get(self, ply: int) -> Evaluated | None:
        """The kept result, if there is one."""
        return self._results.get(ply)

    def put(self, ply: int, result: Evaluated) -> None:
        """Keep a result."""
        self._results[ply] = result
        if self._path is not None:
            with contextlib.suppress(OSError), self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([ply, asdict(result)]) + "\n")

    def _take(self, line: str) -> None:
        """Use a line of the file; one that is cut off or damaged is skipped."""
        with contextlib.suppress(ValueError, TypeError, KeyError):
            ply, fields = json.loads(line)
            self._results[int(ply)] = checked(fields)


def checked(fields: dict[str, Any]) -> Evaluated:
    """The result of a line. ValueError, TypeError or KeyError where it is not one."""
    numbers = [int(fields[name]) for name in ("value", "depth", "nodes", "milliseconds")]
    mate = None if fields["mate"] is None else int(fields["mate"])
    if not all(USI_MOVE.fullmatch(move) for move in fields["pv"]):
        raise ValueError
    value, depth, nodes, milliseconds = numbers
    return Evaluated(value, mate, depth, nodes, milliseconds, tuple(fields["pv"]))


def delete_old(folder: Path) -> None:
    """Delete the oldest files beyond KEPT_FILES."""
    files = sorted(folder.glob("*.jsonl"), key=lambda file: file.stat().st_mtime, reverse=True)
    for old in files[KEPT_FILES:]:
        old.unlink(missing_ok=True)
