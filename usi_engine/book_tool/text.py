"""A book as text in YaneuraOu's format, sorted, so that every reader can search it on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from usi_engine.book.entry import BookMove, position_key
from usi_engine.book.yaneuraou import MARK
from usi_engine.book_tool.tree import Tree, within_margin

# Counts of moves without games: MOST_OFTEN for the best, halved with every HALF_AS_OFTEN centipawns that a move loses.
HALF_AS_OFTEN = 15
MOST_OFTEN = 100


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
