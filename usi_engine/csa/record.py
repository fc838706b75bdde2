"""Games of a server as CSA records."""

from __future__ import annotations

import re
import time
from pathlib import Path

from usi_engine.csa.clock import TimeControl
from usi_engine.csa.game import Ending, ServerGame
from usi_engine.records.files import write_text
from usi_engine.records.time_words import Limit, words_of
from usi_engine.records.tree import End
from usi_engine.records.writer import INTERRUPTED, local_time, loss, text_of_moves

# CSA's names of the ends by the server's cause: of a loss by the player to move, and of a draw.
LOST = {
    "RESIGN": "TORYO",
    "TIME_UP": "TIME_UP",
    "ILLEGAL_MOVE": "ILLEGAL_MOVE",
    "ILLEGAL_ACTION": "ILLEGAL_MOVE",
    "OUTE_SENNICHITE": "ILLEGAL_MOVE",
}
DRAWN = {"SENNICHITE": "SENNICHITE", "MAX_MOVES": "MAX_MOVES", "JISHOGI": "JISHOGI"}
OTHER = {"+": "-", "-": "+"}


def end_of(ending: Ending, color: str, turn: str) -> End:
    """Return the end in a record; `color` is ours, `turn` the side to move. A game that was cut off is interrupted."""
    if ending.result == "draw":
        return End(DRAWN.get(ending.cause, "HIKIWAKE"))
    loser = color if ending.result == "lose" else OTHER[color]
    if ending.cause == "JISHOGI" and ending.result != "unknown" and loser != turn:
        return End("KACHI")
    if ending.result == "unknown" or ending.cause not in LOST:
        return End(INTERRUPTED)
    return loss(LOST[ending.cause], loser, turn)


def header_of(game: ServerGame) -> dict[str, str]:
    """Return the players' names, the game's id and times, with the keys of KIF."""
    names, controls = game.summary.names, game.summary.controls
    header = {"先手": names["+"], "後手": names["-"], "棋戦": game.summary.game_id}
    header |= {"開始日時": local_time(game.begun), "終了日時": local_time(time.time())}
    if controls["+"] == controls["-"]:
        return header | {"持ち時間": words_of(limit(controls["+"]))}
    return header | {"先手持ち時間": words_of(limit(controls["+"])), "後手持ち時間": words_of(limit(controls["-"]))}


def limit(control: TimeControl) -> Limit:
    """Return a time control in whole seconds."""
    return Limit(control.total // 1000, control.byoyomi // 1000, control.increment // 1000)


def save(game: ServerGame, folder: Path) -> Path:
    """Write a file named by the game's id and return its path; a resumed game replaces its first part.

    OSError, RecordError.
    """
    end = end_of(game.ending or Ending("unknown", "CUT"), game.summary.color, game.position.turn)
    end.milliseconds = game.last_ms
    text = text_of_moves("csa", game.position.start, game.played, end, header_of(game))
    name = re.sub(r"[^\w.+-]", "_", game.summary.game_id, flags=re.ASCII).lstrip(".") or "game"
    path = folder / f"{name[:200]}.csa"
    write_text(path, text)
    return path
