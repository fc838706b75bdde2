"""Games of a server as CSA records."""

from __future__ import annotations

import re
import time
from pathlib import Path

from rsshogi.record import RecordMetadata, TimeControl

from usi_engine.csa.game import Ending, ServerGame
from usi_engine.records.files import write_text
from usi_engine.records.writer import INTERRUPTED, local_time, text_of_moves

# rsshogi's results by the cause: for a won game, the suffix after the winner's color; for a draw, the whole name.
WON = {
    "RESIGN": "",
    "TIME_UP": "_BY_TIMEOUT",
    "JISHOGI": "_BY_DECLARATION",
    "ILLEGAL_MOVE": "_BY_ILLEGAL_MOVE",
    "ILLEGAL_ACTION": "_BY_ILLEGAL_MOVE",
    "OUTE_SENNICHITE": "_BY_ILLEGAL_MOVE",
}
DRAWN = {
    "SENNICHITE": "DRAW_BY_REPETITION",
    "MAX_MOVES": "DRAW_BY_MAX_PLIES",
    "JISHOGI": "DRAW_BY_IMPASSE",
}


def result_name(ending: Ending, color: str) -> str:
    """Return the name of rsshogi's result; `color` is ours. A game that was cut off or interrupted has none."""
    if ending.result == "draw":
        return DRAWN.get(ending.cause, "DRAW_BY_ADJUDICATION")
    if ending.result == "unknown" or ending.cause not in WON:
        return INTERRUPTED
    black_won = (ending.result == "win") == (color == "+")
    return f"{'BLACK' if black_won else 'WHITE'}_WIN{WON[ending.cause]}"


def metadata_of(game: ServerGame) -> RecordMetadata:
    """Return the players' names, the game's id and times."""
    summary, control = game.summary, game.summary.controls[game.summary.color]
    seconds = [milliseconds // 1000 for milliseconds in (control.total, control.byoyomi, control.increment)]
    return RecordMetadata(
        black_player=summary.names["+"],
        white_player=summary.names["-"],
        event=summary.game_id,
        start_date=local_time(game.begun),
        end_date=local_time(time.time()),
        time_control=TimeControl(*seconds),
    )


def save(game: ServerGame, folder: Path) -> Path:
    """Write a file named by the game's id and return its path; a resumed game replaces its first part. OSError.

    CSA has no mark for a player who loses while the other is to move, except by illegal action: such a game, and one
    that has not ended, ends with %CHUDAN.
    """
    result = result_name(game.ending or Ending("unknown", "CUT"), game.summary.color)
    text = text_of_moves("csa", game.position.start, game.played, result, metadata_of(game), last_ms=game.last_ms)
    name = re.sub(r"[^\w.+-]", "_", game.summary.game_id, flags=re.ASCII).lstrip(".") or "game"
    path = folder / f"{name[:200]}.csa"
    write_text(path, text)
    return path
