"""Records to text: every record is read back and compared in what its format can hold."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from usi_engine.language import _
from usi_engine.records import jkf
from usi_engine.records.faults import RecordError
from usi_engine.records.formats import FORMATS
from usi_engine.records.kakinoki import header_lines
from usi_engine.records.tree import End, Node, Record

Comments = Callable[[Any], str | None]
own_comment: Comments = attrgetter("comment")
# CSA's name of the end of a game that was broken off; every format has it.
INTERRUPTED = "CHUDAN"


@dataclass(frozen=True)
class Holds:
    """The abilities of a format beside start and moves. `unit`: of times, in milliseconds; 0: no times."""

    unit: int
    comments: bool = True
    variations: bool = True
    ends: bool = True


HOLDS = {
    "kif": Holds(1000), "ki2": Holds(0), "csa": Holds(1, variations=False), "jkf": Holds(1000),
    "usi": Holds(0, comments=False, variations=False, ends=False),
}  # fmt: skip


@dataclass(frozen=True)
class TimedMove:
    """A move in USI, the time it took in milliseconds, and its comment."""

    usi: str
    milliseconds: int
    comment: str = ""


def local_time(seconds: float | None = None) -> str:
    """Return the time, or the present one, in the form of records."""
    return time.strftime("%Y/%m/%d %H:%M:%S", time.localtime(seconds))


def loss(name: str, loser: str, turn: str) -> End:
    """Return the end of a game that `loser` (`+`, `-`) lost; `name` is CSA's if the loser is to move.

    Of the player who is not to move, CSA has only losses by breaking the rules; other games end as interrupted.
    """
    if loser == turn:
        return End(name)
    return End(f"{loser}ILLEGAL_ACTION" if name == "ILLEGAL_MOVE" else INTERRUPTED)


def text_of_moves(kind: str, start: str, moves: Iterable[TimedMove], end: End, header: Mapping[str, str]) -> str:
    """Return a game as text of this format. RecordError."""
    return text_of(record_of_moves(start, moves, end, header), kind)


def record_of_moves(start: str, moves: Iterable[TimedMove], end: End, header: Mapping[str, str]) -> Record:
    """Return the record of a game without variations; empty lines of the header are left out."""
    record = Record(start, header={key: value for key, value in header.items() if value})
    node = record.root
    for move in moves:
        node = node.add(move.usi, move.milliseconds, move.comment or None)
    node.end = end
    return record


def text_of(record: Record, kind: str) -> str:
    """Return the record in a format. RecordError if it reads back differently."""
    text: str = FORMATS[kind].write(record)
    verify(text, record, kind)
    return text


def verify(text: str, record: Record, kind: str, comment_of: Comments = own_comment) -> None:
    """Raise RecordError if the text does not read back as the record, with the comments that `comment_of` returns."""
    try:
        again = FORMATS[kind].read(text)
    except ValueError as error:
        message = _("the text of the record cannot be read back: {reason}")
        raise RecordError(message.format(reason=error)) from None
    before, after = held(record, kind, comment_of), held(again, kind)
    if before != after:
        differing = next((pair for pair in zip(before, after, strict=False) if pair[0] != pair[1]), (before, after))
        message = _("the text of the record reads back differently: {after} instead of {before}")
        raise RecordError(message.format(before=differing[0], after=differing[1]))


def held(record: Record, kind: str, comment_of: Comments = own_comment) -> list[Any]:
    """Return what the format holds of a record: start, then by node move, number of variations, time, comment, end."""
    holds = HOLDS[kind]
    parts: list[Any] = [record.start.split()[:3]]
    turns: dict[Node | None, str] = {None: "-" if record.start.split()[1] == "b" else "+"}
    for node in nodes_of(record, holds):
        turns[node] = turn = "-" if turns[node.parent] == "+" else "+"
        variations, end = len(node.variations) if holds.variations else 0, None
        if node.end and (name := end_in(node, kind, turn)):
            end = (name, *details(node.end, holds))
        parts.append((node.move, variations, *details(node, holds, comment_of), end))
    return parts


def nodes_of(record: Record, holds: Holds) -> list[Node]:
    """Return the nodes that the format holds."""
    return list(record.root.nodes()) if holds.variations else [record.root, *record.main_line]


def details(owner: Node | End, holds: Holds, comment_of: Comments = own_comment) -> tuple[int, str | None]:
    """Return the time, in the format's units, and the comment of a move or end."""
    return (owner.milliseconds or 0) // holds.unit if holds.unit else 0, comment_of(owner) if holds.comments else None


def end_in(node: Node, kind: str, turn: str = "") -> str:
    """Return the end of the node's line as the format names it, empty if it cannot hold it.

    An illegal action of the side to move, `turn`, is an illegal move.
    """
    if not node.end or not HOLDS[kind].ends:
        return ""
    word, name = node.end.word, jkf.end_name(node) if kind == "jkf" else node.end.name
    if name == f"{turn}ILLEGAL_ACTION":
        name = "ILLEGAL_MOVE"
    return name if kind in ("csa", "jkf") else word or name


def losses(record: Record, kind: str) -> str:
    """Return what the format cannot hold, as `3 variations, 1 comment`; empty if it holds everything."""
    holds = HOLDS[kind]
    nodes = nodes_of(record, holds)
    owners = [owner for node in nodes for owner in (node, node.end) if owner]
    left_out = [node.end for node in nodes if node.end and not end_in(node, kind)]
    commented = [owner for owner in (left_out if holds.comments else owners) if owner.comment is not None]
    timed = [owner for owner in (left_out if holds.unit else owners) if owner.milliseconds]
    fractional = [owner for owner in owners if holds.unit and (owner.milliseconds or 0) % holds.unit]
    lost: dict[tuple[str, ...], int] = {
        (_("move number of the start"),): int(kind != "usi" and record.start.split()[3:] not in ([], ["1"])),
        (_("variation"), _("variations")): 0 if holds.variations else record.count_variations(),
        (_("comment"), _("comments")): len(commented),
        (_("time"), _("times")): len(timed),
        (_("fractional time"), _("fractional times")): len(fractional),
        (_("header line"), _("header lines")): headers_lost(record, kind),
        (_("end"), _("ends")): sum(not is_end_held(node.end, kind) for node in nodes if node.end),
    }
    counted = _("{count} {things}")
    return _(", ").join(counted.format(count=count, things=names[count > 1]) for names, count in lost.items() if count)


def headers_lost(record: Record, kind: str) -> int:
    """Return the number of the header's lines that the format cannot hold."""
    if kind in ("kif", "ki2"):
        return list(header_lines(record).values()).count(False)
    if kind == "csa":
        return sum(":" in key for key in record.header)
    return len(record.header) if kind == "usi" else 0


def is_end_held(end: End, kind: str) -> bool:
    """Return True if the format has the end's own word."""
    if kind in ("csa", "jkf"):
        return not end.word and (kind == "csa" or end.name in jkf.ENDS)
    return HOLDS[kind].ends
