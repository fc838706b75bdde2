"""Records to text: every record is read back and compared in what its format can hold."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from usi_engine.records import jkf
from usi_engine.records.faults import RecordError
from usi_engine.records.formats import FORMATS
from usi_engine.records.tree import End, Node, Record

# Ends that every format has, and the one of a game that was broken off.
INTERRUPTED = "CHUDAN"


@dataclass(frozen=True)
class Holds:
    """What a format holds beside start and moves. `unit` of times in milliseconds, 0: no times."""

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


def text_of_moves(kind: str, start: str, moves: Iterable[TimedMove], end: End, header: Mapping[str, str]) -> str:
    """Return a game as text of this format; if the format lacks the end, the game is written as interrupted.

    RecordError.
    """
    record = Record(start, header={key: value for key, value in header.items() if value})
    node = record.root
    for move in moves:
        node = node.add(move.usi, move.milliseconds, move.comment or None)
    node.end = end
    try:
        return text_of(record, kind)
    except RecordError:
        node.end = End(INTERRUPTED, milliseconds=end.milliseconds)
        return text_of(record, kind)


def text_of(record: Record, kind: str) -> str:
    """Return the record in a format. RecordError if the format lacks its end, or if it reads back differently."""
    text: str = FORMATS[kind].write(record)
    try:
        again = FORMATS[kind].read(text)
    except ValueError as error:
        raise RecordError(f"the text of the record cannot be read back: {error}") from None
    before, after = held(record, kind), held(again, kind)
    if before != after:
        differing = next((pair for pair in zip(before, after, strict=False) if pair[0] != pair[1]), (before, after))
        raise RecordError(f"the text of the record reads back differently: {differing[1]} instead of {differing[0]}")
    return text


def held(record: Record, kind: str) -> list[Any]:
    """Return what the format holds of a record: start, then by node move, number of variations, time, comment, end."""
    holds = HOLDS[kind]
    parts: list[Any] = [record.start.split()[:3]]
    for node in nodes_of(record, holds):
        variations = len(node.variations) if holds.variations else 0
        end = (end_in(node.end, kind), *details(node.end, holds)) if node.end and holds.ends else None
        parts.append((node.move, variations, *details(node, holds), end))
    return parts


def nodes_of(record: Record, holds: Holds) -> list[Node]:
    """Return the nodes that the format holds."""
    return list(record.root.nodes()) if holds.variations else [record.root, *record.main_line]


def details(owner: Node | End, holds: Holds) -> tuple[int, str | None]:
    """Return the time, in the format's units, and the comment of a move or end."""
    return (owner.milliseconds or 0) // holds.unit if holds.unit else 0, owner.comment if holds.comments else None


def end_in(end: End, kind: str) -> str:
    """Return the end as the format names it."""
    if kind == "jkf":
        return jkf.end_name(end)
    return end.name if kind == "csa" else end.word or end.name


def losses(record: Record, kind: str) -> str:
    """Return what the format cannot hold, as `3 variations, 2 comments`; empty if it holds everything."""
    holds, nodes = HOLDS[kind], nodes_of(record, HOLDS[kind])
    owners = [owner for node in nodes for owner in (node, node.end) if owner]
    times = [owner.milliseconds for owner in owners if owner.milliseconds]
    lost = {
        "variations": 0 if holds.variations else record.count_variations(),
        "comments": 0 if holds.comments else sum(owner.comment is not None for owner in owners),
        "times": 0 if holds.unit else len(times),
        "fractions of a second": sum(bool(one % holds.unit) for one in times) if holds.unit else 0,
        "header lines": len(record.header) if kind == "usi" else 0,
        "ends": sum(not ends_alike(node.end, kind) for node in nodes if node.end),
    }
    return ", ".join(f"{count} {thing}" for thing, count in lost.items() if count)


def ends_alike(end: End, kind: str) -> bool:
    """Return True if the format names an end as the record does."""
    return HOLDS[kind].ends and end_in(end, kind) == (end.word or end.name)
