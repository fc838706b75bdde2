"""The positions of a new book: from game records, our own search, or both; their values, and the book's text.

They are a graph whose values are backed up from the deepest positions. A short search errs by tens of centipawns, more
than opening moves differ, and pure minimax picks the errors. So the value of a move is the mean of its own search value
and the value backed up from the positions after it.
"""

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from core_ext.board import Board
from usi_engine.analysis.analyst import Analyst
from usi_engine.book.entry import BookError, BookMove, position_key, sorted_moves
from usi_engine.book.yaneuraou import MARK
from usi_engine.files import INVALID, KeptRows, OtherRowsError
from usi_engine.language import _
from usi_engine.progress import POSITIONS, Progress
from usi_engine.records.games import Game
from usi_engine.search.results import Score, Variation
from usi_engine.usi.info import MAX_EVALUATION

# Counts of moves without games: MOST_OFTEN for the best, halved with every HALF_AS_OFTEN centipawns that a move loses.
HALF_AS_OFTEN = 15
MOST_OFTEN = 100


@dataclass(frozen=True)
class Candidate:
    """A move with its own value, and the sfen after it."""

    move: BookMove
    after: str


@dataclass(frozen=True)
class Position:
    """A position of the book; its sfen ends with the move number."""

    sfen: str
    candidates: tuple[Candidate, ...]

    @property
    def ply(self) -> int:
        return int(self.sfen.split()[3])


class Tree:
    """Positions by their key."""

    def __init__(self) -> None:
        self._positions: dict[str, Position] = {}

    def __len__(self) -> int:
        return len(self._positions)

    def add(self, position: Position) -> None:
        self._positions[position_key(position.sfen)] = position

    def moves(self) -> dict[str, list[BookMove]]:
        """Return the moves of each position by its sfen, best first, with backed-up values.

        A move to a position of the book gets the mean of its own value and the negated value of the best move there. A
        move to a position whose move number is not higher keeps its own value, which avoids cycles.
        """
        found: dict[str, list[BookMove]] = {}
        for key, position in sorted(self._positions.items(), key=lambda item: -item[1].ply):
            moves = [self._backed_up(candidate, position.ply, found) for candidate in position.candidates]
            found[key] = list(sorted_moves(moves))
        return {self._positions[key].sfen: moves for key, moves in found.items()}

    def _backed_up(self, candidate: Candidate, ply: int, found: dict[str, list[BookMove]]) -> BookMove:
        key, own = position_key(candidate.after), candidate.move
        after = found.get(key)
        if not after or self._positions[key].ply <= ply:
            return own
        best = after[0]
        depth = best.depth + 1 if best.depth else 0  # 0: not searched
        return replace(own, reply=best.move, value=round((own.value - best.value) / 2), depth=depth)

    def frontier(self, start: str, last_ply: int, margin: int, ply_cost: int) -> list[tuple[int, str]]:
        """Return (cost, sfen) of the positions outside the tree that moves within `margin` lead to, cheapest first.

        Move numbers go up to `last_ply`. The cost of a path in centipawns is the sum of what its moves lose against the
        best ones, plus `ply_cost` for each move.
        """
        values = {position_key(sfen): moves for sfen, moves in self.moves().items()}
        queue, seen, found = [(0, start)], set[str](), list[tuple[int, str]]()
        while queue:
            cost, sfen = heapq.heappop(queue)
            key = position_key(sfen)
            if key in seen or int(sfen.split()[3]) > last_ply:
                continue
            seen.add(key)
            if key not in self._positions:
                found.append((cost, sfen))
                continue
            after = {candidate.move.move: candidate.after for candidate in self._positions[key].candidates}
            for move in within_margin(values[key], margin):
                loss = values[key][0].value - move.value
                heapq.heappush(queue, (cost + ply_cost + loss, after[move.move]))
        return found


def within_margin(moves: Sequence[BookMove], margin: int) -> list[BookMove]:
    """Return the moves, which are sorted by value, that lose no more than `margin` against the best."""
    return [move for move in moves if move.value >= moves[0].value - margin]


# ---- the file ----


def book_text(tree: Tree, margin: int | None, note: str) -> tuple[str, int, int]:
    """Return the file, its number of positions and of moves. `margin` None: no move is left out for its value."""
    lines, count = [f"{MARK.decode()} 1.00", f"# {note}"], 0
    positions = [(sfen, moves) for sfen, moves in tree.moves().items() if moves]
    for sfen, moves in sorted(positions, key=lambda item: position_key(item[0]).encode()):
        kept = weighted(moves if margin is None else within_margin(moves, margin))
        lines += [f"sfen {sfen}", *(f"{m.move} {m.reply or 'none'} {m.value} {m.depth} {m.count}" for m in kept)]
        count += len(kept)
    return "\n".join([*lines, ""]), len(positions), count


def weighted(moves: Sequence[BookMove]) -> list[BookMove]:
    """Return the moves with counts: those of games or, if there are none, counts that fall with the move's loss."""
    if any(move.count for move in moves):
        return list(moves)
    best = moves[0].value
    return [replace(m, count=max(round(MOST_OFTEN * 0.5 ** ((best - m.value) / HALF_AS_OFTEN)), 1)) for m in moves]


# ---- games and searches ----


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
