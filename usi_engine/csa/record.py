"""Games of a server as CSA records, written by rsshogi."""

from __future__ import annotations

import re
import time
from pathlib import Path

from rsshogi.record import GameResult, MoveEntry, Record, RecordMetadata, SpecialMoveEntry, TimeControl

from usi_engine.csa.game import Ending, Game

# The result of a won game by its cause, after the winner's color; and of games without a winner.
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
INTERRUPTED = "PAUSED"


def result_name(ending: Ending, color: str) -> str:
    """The name of rsshogi's result; `color` is ours. A game that was cut or interrupted has none."""
    if ending.result == "draw":
        return DRAWN.get(ending.cause, "DRAW_BY_ADJUDICATION")
    if ending.result == "unknown" or ending.cause not in WON:
        return INTERRUPTED
    black_won = (ending.result == "win") == (color == "+")
    return f"{'BLACK' if black_won else 'WHITE'}_WIN{WON[ending.cause]}"


def clock_text(seconds: float) -> str:
    """Local time as records write it."""
    return time.strftime("%Y/%m/%d %H:%M:%S", time.localtime(seconds))


def metadata_of(game: Game) -> RecordMetadata:
    """Names, the game's id, times."""
    summary, control = game.summary, game.summary.controls[game.summary.color]
    seconds = [milliseconds // 1000 for milliseconds in (control.total, control.byoyomi, control.increment)]
    return RecordMetadata(
        black_player=summary.names["+"],
        white_player=summary.names["-"],
        event=summary.game_id,
        start_date=clock_text(game.begun),
        end_date=clock_text(time.time()),
        time_control=TimeControl(*seconds),
    )


def record_of(game: Game, ending: Ending) -> Record:
    """The game with the time and comment of each move."""
    moves = [MoveEntry(played.usi, time_ms=played.spent_ms, comment=played.comment or None) for played in game.played]
    result = GameResult.from_str(result_name(ending, game.summary.color))
    terminal = SpecialMoveEntry.from_result(result, time_ms=game.last_ms)
    return Record.from_main_line(game.position.start, moves, terminal=terminal, metadata=metadata_of(game))


def record_text(game: Game) -> str:
    """The CSA text. CSA has no mark for a player who loses while the other is to move, except by illegal action: such
    a game, and one that has not ended, ends with %CHUDAN.
    """
    ending = game.ending or Ending("unknown", "CUT")
    try:
        return record_of(game, ending).to_csa()
    except ValueError:
        return record_of(game, Ending("unknown", ending.cause)).to_csa()


def save(game: Game, folder: Path) -> Path:
    """Write the record to a file of the folder, named by the game's id; a resumed game replaces its first part."""
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^\w.+-]", "_", game.summary.game_id, flags=re.ASCII).lstrip(".") or "game"
    path = folder / f"{name[:200]}.csa"
    temporary = path.with_suffix(".new")
    temporary.write_text(record_text(game), encoding="utf-8")
    temporary.replace(path)
    return path
