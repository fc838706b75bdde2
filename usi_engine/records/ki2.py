"""KI2: moves as people write them, `▲７六歩 △３四歩 ▲６八金右`, six in a line."""

from __future__ import annotations

from collections.abc import Iterator

from core_ext.shogi.ki2 import ki2_text
from usi_engine.columns import cells
from usi_engine.records.kakinoki import comment_lines, head_lines, read, result_text, sides, steps
from usi_engine.records.tree import Record

__all__ = ["read", "write"]

IN_LINE, COLUMNS = 6, 12


def write(record: Record) -> str:
    """Write KI2 with variations. It has no times."""
    return "\n".join([*head_lines(record), *move_lines(record)]) + "\n"


def move_lines(record: Record) -> Iterator[str]:
    """Yield the lines of all moves, ends and comments."""
    moves = list[str]()
    for step in steps(record, ki2_text):
        if step.begins_variation or len(moves) == IN_LINE:
            yield from joined(moves)
        if step.begins_variation:
            yield from ("", f"変化：{step.ply}手")
        if step.text:
            moves.append(step.text)
        end = step.node.end
        after = comment_lines(step.node.comment)
        if end:
            result = result_text(end, step.turn, sides(record))
            after += ["", f"まで{step.ply}手で{result}", *comment_lines(end.comment)]
        if after:
            yield from joined(moves)
            yield from after
    yield from joined(moves)


def joined(moves: list[str]) -> Iterator[str]:
    """Yield the moves as one line and forget them; nothing if there are none."""
    if moves:
        yield "".join(move + " " * max(COLUMNS - cells(move), 1) for move in moves).rstrip()
        moves.clear()
