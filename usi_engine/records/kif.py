"""KIF: a numbered line for each move, `1 ７六歩(77)   ( 0:03/00:00:03)`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from usi_engine.columns import cells
from usi_engine.records.kakinoki import comment_lines, head_lines, read, result_text, sides, steps, word_of
from usi_engine.records.tree import Node, Record

__all__ = ["HINT", "read", "write"]

HINT = re.compile(r"^(手合割|手数-|先手|後手|下手|上手|攻方|玉方)|^[^\S\n]*[0-9]+[^\S\n]+[１-９同]", re.M)
MOVE_COLUMNS = 13
# Ends that all readers know in the line `まで120手で...`; the others only have their numbered line.
WITH_RESULT = ("TORYO", "TIME_UP", "ILLEGAL", "CHUDAN", "JISHOGI", "SENNICHITE", "TSUMI", "FUZUMI")


def write(record: Record, comment_of: Callable[[Node], str | None] = lambda node: node.comment) -> str:
    """Write KIF with variations. Times are whole seconds."""
    return "\n".join([*head_lines(record), "手数----指手---------消費時間--", *move_lines(record, comment_of)]) + "\n"


def move_lines(record: Record, comment_of: Callable[[Node], str | None]) -> Iterator[str]:
    """Yield the lines of all moves, ends and comments."""
    totals: dict[Node, int] = {}
    last = record.root.last()
    for step in steps(record, lambda board, move: board.kif(move)):
        node, end = step.node, step.node.end
        if step.begins_variation:
            yield from ("", f"変化：{step.ply}手")
        if node.parent:
            follows = "+" if node is not node.parent.variations[-1] else ""
            yield numbered(step.ply, step.text, timed(node.parent, node.milliseconds, totals, node)) + follows
        yield from comment_lines(comment_of(node))
        if end:
            follows = "+" if node.variations else ""
            yield numbered(step.ply + 1, word_of(end, step.turn), timed(node, end.milliseconds, totals)) + follows
            yield from comment_lines(end.comment)
        if end and node is last and not end.word and end.name.lstrip("+-").startswith(WITH_RESULT):
            yield f"まで{step.ply}手で{result_text(end, step.turn, sides(record))}"


def numbered(number: int, text: str, time: str) -> str:
    """Return the line of a move or end."""
    return f"{number:4} {text}{' ' * max(MOVE_COLUMNS - cells(text), 1) + time if time else ''}"


def timed(before: Node, milliseconds: int | None, totals: dict[Node, int], node: Node | None = None) -> str:
    """Return `( 0:05/00:01:25)`: the time of the move after `before`, and its side's total, which is kept by node."""
    total = (milliseconds or 0) + (totals.get(before.parent, 0) if before.parent else 0)
    if node:
        totals[node] = total
    if milliseconds is None:
        return ""
    minutes, seconds = divmod(milliseconds // 1000, 60)
    return f"({minutes:2}:{seconds:02}/{total // 3600000:02}:{total // 60000 % 60:02}:{total // 1000 % 60:02})"
