"""Results kept in the user's cache folder, one line of JSON for each position, so that an analysis can resume.

The files are in `analysis/` of the cache folder (evaluation.cache). A file's name is a checksum of the game and of
everything that the results depend on: limits, threads, table size, evaluation, version. Later runs that write other
outputs use them too. A damaged file never stops a run: invalid lines are skipped, and only regular files are read.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from usi_engine import __version__
from usi_engine.analysis.judgement import Candidate, Evaluated
from usi_engine.analysis.limits import Limits
from usi_engine.evaluation.cache import cache_folder
from usi_engine.evaluation.load import evaluation_file
from usi_engine.records.games import Game
from usi_engine.records.usi_text import MOVE

if TYPE_CHECKING:
    from core_ext.board import Board

KEPT_FILES = 500  # of about 40 KB each
LARGEST_FILE = 64 * 2**20  # bytes
LARGEST = 32000  # the value of a mate on the board
# Raised for an invalid line: bad bytes, other JSON, numbers such as 1e999, deep nesting.
INVALID = (ValueError, TypeError, KeyError, OverflowError, RecursionError)


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
    """The results of one game by ply (0: the start); in memory only if there is no file or it cannot be used.

    `anew`: drop the contents of the file.
    """

    def __init__(self, path: Path | None, *, anew: bool = False) -> None:
        self._path: Path | None = None
        self._results: dict[int, Evaluated] = {}
        if path is None or (path.exists() and not path.is_file()):  # a pipe would block for ever
            return
        self._path = path
        with contextlib.suppress(OSError):
            if anew:
                path.unlink(missing_ok=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            delete_old(path.parent)
            if path.stat().st_size <= LARGEST_FILE:
                self._read(path.read_bytes().splitlines())

    def _read(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            with contextlib.suppress(*INVALID):
                ply, fields = json.loads(line)
                self._results[int(ply)] = checked(fields)

    def get(self, ply: int, board: Board) -> Evaluated | None:
        """Return the kept result of this position, if there is one whose lines begin with legal moves."""
        found = self._results.get(ply)
        if found is None:
            return None
        lines = [found.pv, *(other.pv for other in found.others)]
        return found if all(board.is_legal(pv[0]) for pv in lines if pv) else None

    def put(self, ply: int, result: Evaluated) -> None:
        """Keep a result."""
        self._results[ply] = result
        if self._path is not None:
            with contextlib.suppress(OSError), self._path.open("a", encoding="ascii") as file:
                # The newline before it ends a line that was cut off.
                file.write(f"\n{json.dumps([ply, asdict(result)])}\n")


def checked(fields: dict[str, Any]) -> Evaluated:
    """Return the result in the fields of a line. One of INVALID."""
    depth, nodes, milliseconds = (int(fields[name]) for name in ("depth", "nodes", "milliseconds"))
    best, *others = (checked_line(line) for line in (fields, *fields["others"]))
    return Evaluated(best.value, best.mate, depth, nodes, milliseconds, best.pv, tuple(others))


def checked_line(fields: dict[str, Any]) -> Candidate:
    """Return the candidate in these fields. One of INVALID."""
    value, mate = int(fields["value"]), None if fields["mate"] is None else int(fields["mate"])
    if max(abs(value), abs(mate or 0)) > LARGEST or not all(MOVE.fullmatch(move) for move in fields["pv"]):
        raise ValueError
    return Candidate(value, mate, tuple(fields["pv"]))


def delete_old(folder: Path) -> None:
    """Delete the oldest files beyond KEPT_FILES. OSError."""
    files = sorted(folder.glob("*.jsonl"), key=lambda file: file.lstat().st_mtime, reverse=True)
    for old in files[KEPT_FILES:]:
        old.unlink(missing_ok=True)
