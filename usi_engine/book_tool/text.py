"""A book as text in YaneuraOu's format, sorted, so that every reader can search it on the disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from usi_engine.book.entry import BookMove, position_key
from usi_engine.book.yaneuraou import MARK
from usi_engine.book_tool.tree import Tree, within

# Of moves without games: a move that loses so many centipawns is played half as often.
HALF_AS_OFTEN = 15
MOST_OFTEN = 100


def book_text(tree: Tree, margin: int | None, note: str) -> tuple[str, int, int]:
    """The file, the number of its positions and of its moves. None as margin: no move is left out by its value."""
    lines, count = [f"{MARK.decode()} 1.00", f"# {note}"], 0
    positions = [(sfen, moves) for sfen, moves in tree.moves().items() if moves]
    for sfen, moves in sorted(positions, key=lambda item: position_key(item[0]).encode()):
        kept = weighted(moves if margin is None else within(moves, margin))
        lines += [f"sfen {sfen}", *(move_line(move) for move in kept)]
        count += len(kept)
    return "\n".join([*lines, ""]), len(positions), count


def weighted(moves: Sequence[BookMove]) -> list[BookMove]:
    """The moves with counts: those of the games, else by what each move loses against the best."""
    if any(move.count for move in moves):
        return list(moves)
    best = moves[0].value
    return [replace(m, count=max(round(MOST_OFTEN * 0.5 ** ((best - m.value) / HALF_AS_OFTEN)), 1)) for m in moves]


def move_line(move: BookMove) -> str:
    """A line of the file."""
    return f"{move.move} {move.reply or 'none'} {move.value} {move.depth} {move.count}"
