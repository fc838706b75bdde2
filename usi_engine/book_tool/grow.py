"""Where the positions and values of a new book come from: game records, our own search, or both."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from usi_engine.analysis.analyst import Analyst, Wanted
from usi_engine.book.entry import position_key
from usi_engine.book_tool.journal import Journal
from usi_engine.book_tool.tree import Candidate, Position, Tree
from usi_engine.core import Core
from usi_engine.progress import POSITIONS, Progress
from usi_engine.records.games import Game
from usi_engine.search.report import Line

if TYPE_CHECKING:
    from core_ext.board import Board

# What a move costs in the order of expansion, in centipawns: the greater, the broader and shallower the book.
PLY_COST = 10
# Positions that are chosen at a time, at least, and as a share of those there are; then all values are backed up anew.
ROUND, ROUND_SHARE = 16, 1 / 100
# Up to this number of the move, so many times the lines.
WIDER = ((2, 4), (6, 2))


@dataclass(frozen=True)
class Played:
    """A position of the games and how often each of its moves was played."""

    sfen: str
    counts: Counter[str]


def played(games: Iterable[Game], core: Core, plies: int, min_games: int) -> list[Played]:
    """The positions with the moves that at least `min_games` games played within their first `plies` plies."""
    found: dict[str, Played] = {}
    for game in games:
        board = core.board(game.start)
        for move in game.moves[:plies]:
            sfen = board.sfen()
            found.setdefault(position_key(sfen), Played(sfen, Counter())).counts[move] += 1
            board.push(move)
    often = (Played(at.sfen, Counter({m: n for m, n in at.counts.items() if n >= min_games})) for at in found.values())
    return [at for at in often if at.counts]


@dataclass(frozen=True)
class Growth:
    """How a book of our own search grows: from `start`, by so many positions, for moves of the first `plies` plies that
    lose no more than `margin`.
    """

    start: str
    positions: int
    plies: int
    margin: int


class Searcher:
    """Searches positions, unless the journal holds the result."""

    def __init__(self, core: Core, analyst: Analyst, journal: Journal, lines: int) -> None:
        self._core, self._analyst, self._journal, self._lines = core, analyst, journal, lines
        self._progress = Progress(POSITIONS)

    def expect(self, positions: int) -> None:
        """Show progress towards so many positions from now on."""
        self._progress = Progress(POSITIONS, max(positions - len(self._journal), 0), len(self._journal))

    def position(self, sfen: str, counts: Counter[str] | None = None) -> Position:
        """The position with its best moves; or with the moves that `counts` names and, to compare them, the best."""
        board, lines = self._core.board(sfen), self._journal.get(sfen)
        wanted = tuple(counts or ())
        if lines is None or not holds(lines, board, wanted, 0 if counts else self._width(board.ply)):
            lines = self._search(board, wanted)
            self._journal.put(sfen, lines)
            self._progress.add(1, 1)
        return position_of(self._core, sfen, lines, counts or Counter())

    def _search(self, board: Board, wanted: tuple[str, ...]) -> tuple[Line, ...]:
        if not wanted:
            return self._analyst.lines(board, self._wanted(self._width(board.ply)))
        best = self._analyst.lines(board, Wanted())
        moves = tuple(dict.fromkeys([*wanted, *(line.move for line in best)]))
        return self._analyst.lines(board, self._wanted(len(moves), moves))

    def _width(self, ply: int) -> int:
        """More moves near the start of the game, where each is worth the most."""
        return self._lines * next((factor for last, factor in WIDER if ply <= last), 1)

    def _wanted(self, lines: int, moves: tuple[str, ...] = ()) -> Wanted:
        """As much effort for each line, however many there are."""
        return Wanted(lines, moves, effort=math.ceil(lines / self._lines))


def holds(lines: Sequence[Line], board: Board, moves: Sequence[str], count: int) -> bool:
    """Whether the lines of an earlier run hold these moves and so many, if there are so many."""
    return len(lines) >= min(count, len(board.legal_moves())) and {line.move for line in lines} >= set(moves)


def position_of(core: Core, sfen: str, lines: Sequence[Line], counts: Counter[str]) -> Position:
    """The position with the moves of these lines."""
    found, board = list[Candidate](), core.board(sfen)
    for line in lines:
        board.push(line.move)
        reply = line.pv[1] if len(line.pv) > 1 else ""
        value = max(min(line.value, core.max_evaluation), -core.max_evaluation)
        found.append(Candidate(line.move, value, line.depth, reply, counts[line.move], board.sfen()))
        board.pop()
    return Position(sfen, tuple(found))


def from_games(found: Sequence[Played], core: Core, searcher: Searcher | None) -> Tree:
    """The positions of games; their moves are searched if there is a searcher, else worth 0 at depth 0."""
    tree = Tree()
    if searcher:
        searcher.expect(len(found))
    for at in found:
        lines = [Line((move,), 0, 0) for move in at.counts]
        tree.add(searcher.position(at.sfen, at.counts) if searcher else position_of(core, at.sfen, lines, at.counts))
    return tree


def grow(tree: Tree, growth: Growth, searcher: Searcher) -> None:
    """Add positions to the tree from the start on, those first that the least loss leads to."""
    last = int(growth.start.split()[3]) + growth.plies - 1
    searcher.expect(growth.positions)
    while len(tree) < growth.positions:
        places = tree.frontier(growth.start, last, growth.margin, PLY_COST)
        if not places:
            break
        count = max(ROUND, int(len(tree) * ROUND_SHARE))
        for place in places[: min(count, growth.positions - len(tree))]:
            tree.add(searcher.position(place.sfen))
