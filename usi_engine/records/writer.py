"""Records to text, by rsshogi.

Values in comments are Black's in every format, as on floodgate. rsshogi passes those of CSA on unchanged, writes those
of KI2 unchanged, and negates those of KIF by side.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rsshogi.record import GameResult, MoveEntry, Record, RecordMetadata, SpecialMoveEntry

from usi_engine.records.faults import RecordError
from usi_engine.records.kif import GUARD

INTERRUPTED = "PAUSED"  # rsshogi's result of a game without an end


@dataclass(frozen=True)
class TimedMove:
    """A move in USI, the time it took in milliseconds, and its comment."""

    usi: str
    milliseconds: int
    comment: str = ""


def local_time(seconds: float | None = None) -> str:
    """Return the time, or the present one, in the form of records."""
    return time.strftime("%Y/%m/%d %H:%M:%S", time.localtime(seconds))


def text_of_moves(
    kind: str, start: str, moves: Iterable[TimedMove], result: str, names: RecordMetadata, *, last_ms: int | None = None
) -> str:
    """Return a game as text of this format. RecordError.

    `result` is the name of an rsshogi result, and `last_ms` the time of the action that ended the game. If the format
    cannot express the result (a loss of the player who is not to move), the game is written as interrupted.
    """
    entries = [MoveEntry(move.usi, time_ms=move.milliseconds, comment=move.comment or None) for move in moves]

    def text(result: str) -> str:
        end = SpecialMoveEntry.from_result(GameResult.from_str(result), time_ms=last_ms)
        return written(Record.from_main_line(start, entries, terminal=end, metadata=names), kind)

    try:
        return text(result)
    except RecordError:
        return text(INTERRUPTED)


def entries_of(record: Any, kind: str) -> list[Any]:
    """Return the moves of a record read from this format, with comments; values are the mover's."""
    entries = record.moves
    white_begins = record.init_position_sfen.split()[1] == "w"
    for ply, entry in enumerate(entries):
        if entry.comment:
            entry.comment = entry.comment.replace(GUARD, "*")
        if kind == "csa":
            change_view(entry, ply, white_begins)
    return list(entries)


def change_view(entry: Any, ply: int, white_begins: bool) -> None:
    """Change the value of a move between the mover's and Black's view."""
    info = entry.engine_info
    if info is not None and info.eval is not None and (ply % 2 == 1) != white_begins:
        info.eval = -info.eval
        entry.engine_info = info


def comment_before(record: Any) -> str | None:
    """Return the comment before the first move."""
    comment: str | None = record.initial_comment
    return comment.replace(GUARD, "*") if comment else comment


def rebuilt(record: Any, entries: list[Any], initial_comment: str | None) -> Any:
    """Return a record with the start, metadata and end of `record`, and these moves and this comment."""
    return Record.from_main_line(
        record.init_position_sfen, entries, record.main_terminal, record.metadata, initial_comment
    )


def text_of(record: Any, read_from: str, kind: str) -> str:
    """Return the record in format `kind`, ending with a newline; it was read from format `read_from`. RecordError."""
    entries = entries_of(record, read_from)
    if kind in ("csa", "ki2"):
        white_begins = record.init_position_sfen.split()[1] == "w"
        for ply, entry in enumerate(entries):
            change_view(entry, ply, white_begins)
    return written(rebuilt(record, entries, comment_before(record)), kind)


def written(record: Any, kind: str) -> str:
    """Return the text of an rsshogi record. RecordError if its end contradicts its winner."""
    try:
        text = record.to_usi_position() if kind == "usi" else getattr(record, f"to_{kind}")()
    except ValueError as error:
        raise RecordError(f"the record cannot be written: {error}") from None
    return str(text).rstrip("\n") + "\n"
