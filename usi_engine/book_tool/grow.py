"""Positions and values of a new book: from game records, our own search, or both."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path

from core_ext.board import Board
from usi_engine.analysis.analyst import Analyst
from usi_engine.book.entry import BookError, BookMove, position_key
from usi_engine.book_tool.tree import Candidate, Position, Tree
from usi_engine.files import INVALID, KeptRows, OtherRowsError
from usi_engine.language import _
from usi_engine.progress import POSITIONS, Progress
from usi_engine.records.games import Game
from usi_engine.search.results import Score, Variation
from usi_engine.usi.info import MAX_EVALUATION

# A position of the games as sfen, and how often each of its moves was played.
PlayedMoves = tuple[str, Counter[str]]
# Cost of a move in the order of expansion, in centipawns; greater values make the book broader and shallower.
PLY_COST = 10
# Positions expanded per round: the minimum, and the share of the book. After a round all values are backed up again.
ROUND, ROUND_SHARE = 16, 1 / 100
# (last move number, factor): the first entry that applies multiplies the number of lines.
WIDER = ((2, 4), (6, 2))


def count_moves(games: Iterable[Game], plies: int, min_games: int) -> list[PlayedMoves]:
    """Return the positions with the moves that at least `min_games` games played within their first `plies` plies."""
    found: dict[str, PlayedMoves] = {}
    for game in games:
        board = Board(game.start)
        for move in game.moves[:plies]:
            sfen = board.sfen()
            found.setdefault(position_key(sfen), (sfen, Counter()))[1][move] += 1
            board.push(move)
    played = [
        (sfen, Counter({move: count for move, count in counts.items() if count >= min_games}))
        for sfen, counts in found.values()
    ]
    return [(sfen, counts) for sfen, counts in played if counts]


class Journal:
    """The journal of an unfinished book: a row for each position searched, so that a stopped run can continue.

    A run with the same settings takes its results from the journal, so the book is the same as that of an uninterrupted
    run, and a longer run continues a shorter one. OSError; BookError if the file has other settings or is not a
    journal.
    """

    def __init__(self, path: Path, settings: dict[str, str | int | float]) -> None:
        self._found: dict[str, tuple[Variation, ...]] = {}
        try:
            self._kept = KeptRows(path, settings)
        except OtherRowsError as error:
            text = _("'{path}' is not the journal of a book; move it or name another --out")
            if error.conditions is not None:
                text = _("'{path}' was made with other settings; delete it or name another --out")
            raise BookError(text.format(path=path)) from None
        for row in self._kept.rows:
            with suppress(*INVALID):
                sfen, words = row
                lines = [Variation(Score(int(value)), (move, *pv), int(depth)) for value, depth, move, *pv in words]
                self._found[position_key(sfen)] = tuple(lines)

    def __len__(self) -> int:
        return len(self._found)

    def get(self, sfen: str) -> tuple[Variation, ...] | None:
        """Return the lines of this position; None if it was not searched."""
        return self._found.get(position_key(sfen))

    def put(self, sfen: str, lines: tuple[Variation, ...]) -> None:
        """Keep the lines of a position. OSError."""
        self._found[position_key(sfen)] = lines
        self._kept.add([sfen, [[line.value, line.depth, *line.pv[:2]] for line in lines]])


class Searcher:
    """A search of positions that reuses the results in the journal."""

    def __init__(self, analyst: Analyst, journal: Journal, lines: int) -> None:
        self._analyst, self._journal, self._lines = analyst, journal, lines
        self._progress = Progress(POSITIONS)

    def expect(self, positions: int) -> Progress:
        """Return the progress towards this number of positions, which the next searches count."""
        self._progress = Progress(POSITIONS, positions, min(len(self._journal), positions))
        return self._progress

    def position(self, sfen: str, counts: Counter[str] | None = None) -> Position:
        """Return the position with its best moves or, if `counts` names moves, with these and the best move."""
        board, lines = Board(sfen), self._journal.get(sfen)
        wanted = tuple(counts or ())
        if lines is None or not is_complete(lines, board, wanted, 0 if counts else self._line_count(board.ply)):
            lines = self._search(board, wanted)
            self._journal.put(sfen, lines)
            self._progress.add()
        return make_position(sfen, lines, counts or Counter())

    def _search(self, board: Board, wanted: tuple[str, ...]) -> tuple[Variation, ...]:
        if wanted:
            best = self._analyst.evaluate(board)
            wanted = tuple(dict.fromkeys([*wanted, *best.pv[:1]]))
        count = len(wanted) or self._line_count(board.ply)
        # The same effort for each line, whatever their number.
        found = self._analyst.evaluate(board, count, wanted, effort=math.ceil(count / self._lines))
        return found.lines

    def _line_count(self, ply: int) -> int:
        """Return the number of lines, which is greater near the start of the game."""
        return self._lines * next((factor for last, factor in WIDER if ply <= last), 1)


def is_complete(lines: Sequence[Variation], board: Board, moves: Sequence[str], count: int) -> bool:
    """Return whether lines of an earlier run are legal, include these moves, and are `count` or all legal moves."""
    legal, found = board.legal_moves(include_all=True), {line.move for line in lines}
    return len(lines) >= min(count, len(board.legal_moves())) and set(legal) >= found >= set(moves)


def make_position(sfen: str, lines: Sequence[Variation], counts: Counter[str]) -> Position:
    """Return the position with the moves of these lines."""
    found, board = list[Candidate](), Board(sfen)
    for line in lines:
        board.push(line.move)
        reply = line.pv[1] if len(line.pv) > 1 else ""
        value = max(min(line.value, MAX_EVALUATION), -MAX_EVALUATION)
        found.append(Candidate(BookMove(line.move, reply, value, line.depth, counts[line.move]), board.sfen()))
        board.pop()
    return Position(sfen, tuple(found))


def tree_from_games(counted: Sequence[PlayedMoves], searcher: Searcher | None) -> Tree:
    """Return the positions of games; without a searcher all moves have value 0 at depth 0."""
    tree = Tree()
    with searcher.expect(len(counted)) if searcher else nullcontext():
        for sfen, counts in counted:
            lines = [Variation(Score(0), (move,), 0) for move in counts]
            tree.add(searcher.position(sfen, counts) if searcher else make_position(sfen, lines, counts))
    return tree


def grow(tree: Tree, searcher: Searcher, *, start: str, positions: int, plies: int, margin: int) -> None:
    """Add positions to the tree up to this number, within `plies` of `start`, those with the cheapest paths first.

    Moves that lose more than `margin` are not followed.
    """
    last_ply = int(start.split()[3]) + plies - 1
    with searcher.expect(positions):
        while len(tree) < positions and (leaves := tree.frontier(start, last_ply, margin, PLY_COST)):
            count = max(ROUND, int(len(tree) * ROUND_SHARE))
            for _, sfen in leaves[: min(count, positions - len(tree))]:
                tree.add(searcher.position(sfen))
