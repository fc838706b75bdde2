"""Results kept in the user's cache folder, one line of JSON for each position, so that an analysis can resume.

The files are in `analysis/` of the cache folder (evaluation.cache). A file's name is a checksum of the game and of
everything that the results depend on: limits, threads, table size, evaluation, version. Later runs that write other
outputs use them too. A damaged file never stops a run: invalid lines are skipped, and only regular files are read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from usi_engine import __version__
from usi_engine.analysis.analyst import Limits
from usi_engine.core import load_core
from usi_engine.evaluation.cache import cache_folder
from usi_engine.evaluation.load import evaluation_file
from usi_engine.records.games import Game
from usi_engine.records.usi_text import MOVE
from usi_engine.search.results import Analysis, Score, Variation

if TYPE_CHECKING:
    from core_ext.board import Board

KEPT_FILES = 500  # of about 40 KB each
LARGEST_FILE = 64 * 2**20  # bytes
# Raised for an invalid line: bad bytes, other JSON, numbers such as 1e999, deep nesting.
INVALID = (ValueError, TypeError, LookupError, OverflowError, RecursionError)


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
        self._kept: dict[object, Any] = {}  # what a line has for a ply
        with suppress(OSError):
            # A pipe would block for ever; a link could lead anywhere.
            if path is None or path.is_symlink() or (path.exists() and not path.is_file()):
                return
            self._path = path
            if anew:
                path.unlink(missing_ok=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            delete_old(path.parent)
            if path.stat().st_size <= LARGEST_FILE:
                self._read(path.read_bytes().splitlines())

    def _read(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            with suppress(*INVALID):
                ply, *fields = json.loads(line)
                self._kept[ply] = fields

    def get(self, ply: int, board: Board) -> Analysis | None:
        """Return the kept result of this position, if there is a valid one whose lines begin with legal moves."""
        with suppress(*INVALID):
            value, depth, nodes, milliseconds, *lines = self._kept[ply]
            found = tuple(line_of(board, *fields) for fields in lines)
            return Analysis(found, score_in(board, value), int(depth), int(nodes), int(milliseconds) / 1000)
        return None

    def put(self, ply: int, result: Analysis) -> None:
        """Keep a result."""
        lines = [[line.score.value, line.depth, line.seldepth, *line.pv] for line in result.lines]
        fields = [result.score.value, result.depth, result.nodes, round(result.time * 1000), *lines]
        self._kept[ply] = fields
        if self._path is not None:
            with suppress(OSError), self._path.open("a", encoding="ascii") as file:
                file.write(f"\n{json.dumps([ply, *fields])}\n")  # the first newline ends a line that was cut off


def line_of(board: Board, value: Any, depth: Any, seldepth: Any, *pv: Any) -> Variation:
    """Return the line in these fields. One of INVALID."""
    if not all(MOVE.fullmatch(move) for move in pv) or not board.is_legal(pv[0]):
        raise ValueError
    return Variation(score_in(board, value), pv, int(depth), int(seldepth))


def score_in(board: Board, value: Any) -> Score:
    """Return the score for the side to move. One of INVALID."""
    core = load_core()
    if abs(value) > core.mate:
        raise ValueError
    return Score(int(value), board.turn)


def delete_old(folder: Path) -> None:
    """Delete the oldest files beyond KEPT_FILES. OSError."""
    files = sorted(folder.glob("*.jsonl"), key=lambda file: file.lstat().st_mtime, reverse=True)
    for old in files[KEPT_FILES:]:
        old.unlink(missing_ok=True)
