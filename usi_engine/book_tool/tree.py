"""The positions of a book in the making: a graph by position, its values backed up from the deepest positions.

A short search errs by tens of centipawns, more than moves of the opening differ, and pure minimax picks the errors. So
a move's value is the mean of what its own search and what the positions after it say.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace

from usi_engine.book.entry import BookMove, position_key, sorted_moves


@dataclass(frozen=True)
class Candidate:
    """A move, its value for the side to move, depth, reply (may be empty), how often it was played, the sfen after."""

    move: str
    value: int
    depth: int
    reply: str
    count: int
    after: str


@dataclass(frozen=True)
class Position:
    """A position of the book; its sfen ends with the number of the move."""

    sfen: str
    candidates: tuple[Candidate, ...]

    @property
    def ply(self) -> int:
        """The number of the move."""
        return int(self.sfen.split()[3])


@dataclass(frozen=True)
class Place:
    """A position that a book could hold, and what the play that leads there loses, with the price of its length."""

    cost: int
    sfen: str


class Tree:
    """Positions by their key."""

    def __init__(self) -> None:
        self._positions: dict[str, Position] = {}

    def __len__(self) -> int:
        return len(self._positions)

    def __contains__(self, sfen: str) -> bool:
        return position_key(sfen) in self._positions

    def add(self, position: Position) -> None:
        """Add a position."""
        self._positions[position_key(position.sfen)] = position

    def moves(self) -> dict[str, list[BookMove]]:
        """Sfen of each position -> its moves, best first, their values backed up: a move that leads to a position of
        the book is worth the mean of its own value and that of the best move there, with the sign turned.

        A move that leads to a position with no higher number keeps its own value, so that no cycle arises.
        """
        found: dict[str, list[BookMove]] = {}
        for key, position in sorted(self._positions.items(), key=lambda item: -item[1].ply):
            moves = [self._backed_up(candidate, position.ply, found) for candidate in position.candidates]
            found[key] = list(sorted_moves(moves))
        return {self._positions[key].sfen: moves for key, moves in found.items()}

    def _backed_up(self, candidate: Candidate, ply: int, found: dict[str, list[BookMove]]) -> BookMove:
        key = position_key(candidate.after)
        own = BookMove(candidate.move, candidate.reply, candidate.value, candidate.depth, candidate.count)
        after = found.get(key)
        if not after or self._positions[key].ply <= ply:
            return own
        best = after[0]
        depth = best.depth + 1 if best.depth else 0  # 0: nothing was searched
        return replace(own, reply=best.move, value=round((own.value - best.value) / 2), depth=depth)

    def frontier(self, start: str, last_ply: int, margin: int, ply_cost: int) -> list[Place]:
        """The positions, up to number `last_ply`, that moves within `margin` of the best lead to and that are not in
        the tree, cheapest first. A path costs what its moves lose against the best, and `ply_cost` for each of them.
        """
        values = {position_key(sfen): moves for sfen, moves in self.moves().items()}
        queue, seen, found = [(0, start)], set[str](), list[Place]()
        while queue:
            cost, sfen = heapq.heappop(queue)
            key = position_key(sfen)
            if key in seen or int(sfen.split()[3]) > last_ply:
                continue
            seen.add(key)
            if key not in self._positions:
                found.append(Place(cost, sfen))
                continue
            after = {candidate.move: candidate.after for candidate in self._positions[key].candidates}
            for move in within(values[key], margin):
                loss = values[key][0].value - move.value
                heapq.heappush(queue, (cost + ply_cost + loss, after[move.move]))
        return found


def within(moves: Sequence[BookMove], margin: int) -> list[BookMove]:
    """Of moves sorted by value, those that lose no more than `margin` against the best."""
    return [move for move in moves if move.value >= moves[0].value - margin]
