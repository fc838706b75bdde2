"""The positions of a book: a graph whose values are backed up from the deepest positions, and its text.

A short search errs by tens of centipawns, more than opening moves differ, and pure minimax picks the errors. So the
value of a move is the mean of its own search value and the value backed up from the positions after it.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace

from usi_engine.book.entry import BookMove, position_key, sorted_moves
from usi_engine.book.yaneuraou import MARK

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
