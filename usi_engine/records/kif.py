"""KIF and KI2 written, the formats of Kifu for Windows, http://kakinoki.o.oo7.jp/kif_format.html.

KIF has a numbered line for each move, `1 ７六歩(77)   ( 0:03/00:00:03)`; KI2 has moves as people write them, `▲７六歩
△３四歩 ▲６八金右`, six in a line.
"""

import re
from collections.abc import Callable, Iterator

from core_ext.board import Board
from core_ext.shogi.ki2 import ki2_text
from usi_engine.columns import cells
from usi_engine.records.ends import End, result_text, word_of
from usi_engine.records.faults import one_line
from usi_engine.records.kakinoki import LINE_END, Reader, method_for
from usi_engine.records.position import EVEN_SIDES, HANDICAP_SIDES, sides_at, start_lines
from usi_engine.records.tree import Node, Record, Step, marked_text

MOVE_COLUMNS = 13
IN_LINE, COLUMNS = 6, 12  # of KI2
# Ends that all readers know in the line `まで120手で...`; the others only have their numbered line.
WITH_RESULT = ("TORYO", "TIME_UP", "ILLEGAL", "CHUDAN", "JISHOGI", "SENNICHITE", "TSUMI", "FUZUMI")

CommentOf = Callable[[Step], str | None]


# ---- both ----


def sides(record: Record) -> tuple[str, str]:
    """Return the names of the sides, those that the record's header has or else those of its start."""
    named = (names for names in (HANDICAP_SIDES, EVEN_SIDES) if {*names} & set(record.header))
    return next(named, sides_at(record.start))


def head_lines(record: Record) -> list[str]:
    """Return the lines of the header and the start."""
    lines = [line for line, is_held in header_lines(record).items() if is_held]
    return lines + start_lines(Board(record.start), sides(record))


def header_lines(record: Record) -> dict[str, bool]:
    """Return the lines of the header, without those that would give the start; True for those that are read back."""
    lines = {f"{one_line(key)}：{one_line(value)}": key for key, value in record.header.items()}
    return {line: is_header(key, line) for line, key in lines.items() if method_for(line) != Reader.part_of_start}


def is_header(key: str, line: str) -> bool:
    """Return True if a line is read as a header with this key; a key from another format may be none."""
    is_plain = not line.startswith(("*", "&", "{")) and not re.search("[：:]", key)  # `{` begins JKF
    return is_plain and method_for(line) == Reader.header


def comment_lines(comment: str | None) -> list[str]:
    """Return the lines of a comment. Bookmarks, lines of `&`, are kept as a part of it."""
    lines = [] if comment is None else LINE_END.split(comment)
    return [line if line.startswith("&") else "*" + marked_text(line) for line in lines]


# ---- KIF ----


def write_kif(record: Record, comment_of: CommentOf = lambda step: step.node.comment) -> str:
    """Write KIF with variations. Times are whole seconds."""
    return "\n".join([*head_lines(record), "手数----指手---------消費時間--", *kif_lines(record, comment_of)]) + "\n"


def kif_lines(record: Record, comment_of: CommentOf) -> Iterator[str]:
    """Yield the lines of all moves, ends and comments."""
    last = record.root.last()
    for step in record.walk():
        node = step.node
        if step.begins_variation:
            yield from ("", f"変化：{step.ply}手")
        if node.parent:
            yield numbered(
                step.ply, step.before.kif(node.move), node, step.spent[0], node is not node.parent.variations[-1]
            )
        yield from comment_lines(comment_of(step))
        if node.end:
            yield from end_lines(step, node.end, sides(record) if node is last else None)


def end_lines(step: Step, end: End, names: tuple[str, str] | None) -> Iterator[str]:
    """Yield the lines of an end; with the result if `names` of the sides are given."""
    turn, spent = step.board.turn, step.spent[1] + (end.milliseconds or 0)
    yield numbered(step.ply + 1, word_of(end, turn), end, spent, bool(step.node.variations))
    yield from comment_lines(end.comment)
    if names and not end.word and end.name.lstrip("+-").startswith(WITH_RESULT):
        yield f"まで{step.ply}手で{result_text(end, turn, names)}"


def numbered(number: int, text: str, owner: Node | End, spent: int, follows: bool) -> str:
    """Return the line of a move or end with its time and its side's total, `( 0:05/00:01:25)`."""
    mark = "+" if follows else ""
    if owner.milliseconds is None:
        return f"{number:4} {text}{mark}"
    minutes, seconds = divmod(owner.milliseconds // 1000, 60)
    total = f"{spent // 3600000:02}:{spent // 60000 % 60:02}:{spent // 1000 % 60:02}"
    return f"{number:4} {text}{' ' * max(MOVE_COLUMNS - cells(text), 1)}({minutes:2}:{seconds:02}/{total}){mark}"


# ---- KI2 ----


def write_ki2(record: Record) -> str:
    """Write KI2 with variations. It has no times."""
    return "\n".join([*head_lines(record), *ki2_lines(record)]) + "\n"


def ki2_lines(record: Record) -> Iterator[str]:
    """Yield the lines of all moves, ends and comments."""
    moves, names = list[str](), sides(record)
    for step in record.walk():
        if step.begins_variation or len(moves) == IN_LINE:
            yield from joined(moves)
        if step.begins_variation:
            yield from ("", f"変化：{step.ply}手")
        if step.ply:
            moves.append(ki2_text(step.before, step.node.move))
        end = step.node.end
        after = comment_lines(step.node.comment)
        if end:
            result = result_text(end, step.board.turn, names)
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
