"""Games saved and resumed: records in any format that rsshogi writes, by the file's suffix."""

from __future__ import annotations

import re
import time
from pathlib import Path

from usi_engine import NAME
from usi_engine.core import Core
from usi_engine.play.game import OTHER, Ending, Game
from usi_engine.records.files import write_text
from usi_engine.records.formats import FORMATS, SUFFIXES, RecordError, rsshogi, written
from usi_engine.records.games import Game as RecordedGame
from usi_engine.records.games import read_games

PLAYER = "Player"
LEVEL = re.compile(rf"{NAME}.* level (\d{{1,2}})$")
COLOURS = {"b": "BLACK", "w": "WHITE"}
# The results of a draw, and of a won game after the winner's colour.
DRAWN, WON = "DRAW_BY_REPETITION", {"declaration": "_BY_DECLARATION", "time": "_BY_TIMEOUT"}
UNFINISHED = "PAUSED"


def engine_name(level: int) -> str:
    """As the record names it."""
    return f"{NAME} level {level}"


def result_name(ending: Ending | None) -> str:
    """The name of rsshogi's result."""
    if ending is None:
        return UNFINISHED
    return COLOURS[ending.winner] + "_WIN" + WON.get(ending.reason, "") if ending.winner else DRAWN


def record_text(game: Game, players: tuple[str, str], kind: str) -> str:
    """The game in this format; `players`: Black and White. RecordError."""
    library = rsshogi("record")
    entries = [
        library.MoveEntry(move, time_ms=spent) for move, spent in zip(game.moves, game.milliseconds, strict=True)
    ]
    names = library.RecordMetadata(
        black_player=players[0], white_player=players[1], start_date=time.strftime("%Y/%m/%d %H:%M:%S")
    )

    def text(result: str) -> str:
        end = library.SpecialMoveEntry.from_result(library.GameResult.from_str(result))
        return written(library.Record.from_main_line(game.start, entries, terminal=end, metadata=names), kind)

    try:
        return text(result_name(game.ending))
    except RecordError:  # no word for the loss of a player who is not to move: perpetual check, time
        return text(UNFINISHED)


def save(game: Game, path: Path, players: tuple[str, str]) -> None:
    """Write the game. RecordError, OSError."""
    kind = SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise RecordError(f"{path}: name the format by the suffix: {', '.join('.' + name for name in FORMATS)}")
    write_text(path, record_text(game, players, kind))


def load(path: Path, core: Core) -> tuple[Game, str, int | None]:
    """The first game of a file, the side of the person who played it (`b`, `w`, or empty), the level. RecordError."""
    found = next(read_games(path, core.board))
    if isinstance(found, RecordError):
        raise found
    game = Game(core, found.start, found.moves)
    game.milliseconds = [entry.time_ms or 0 for entry in found.record.moves]
    return (game, *side_and_level(found))


def side_and_level(found: RecordedGame) -> tuple[str, int | None]:
    """Of a game that was saved here."""
    for side, name in zip("bw", found.players, strict=True):
        match = LEVEL.match(name)
        if match:
            return OTHER[side], int(match[1])
    return "", None
