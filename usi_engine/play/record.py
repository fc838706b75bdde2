"""Games saved and resumed, in any record format, by the file's suffix."""

from __future__ import annotations

import re
from pathlib import Path

from rsshogi.record import RecordMetadata

from usi_engine import NAME
from usi_engine.core import Core
from usi_engine.play.game import OTHER, Ending, LiveGame
from usi_engine.records.faults import RecordError
from usi_engine.records.files import write_text
from usi_engine.records.formats import FORMATS, SUFFIXES
from usi_engine.records.games import Game, read_games
from usi_engine.records.writer import INTERRUPTED, TimedMove, local_time, text_of_moves

PLAYER = "Player"
LEVEL = re.compile(rf"{NAME}.* level (\d{{1,2}})$")
COLOURS = {"b": "BLACK", "w": "WHITE"}
# rsshogi's results: for a draw the whole name, for a won game the suffix after the winner's colour.
DRAWN, WON = "DRAW_BY_REPETITION", {"declaration": "_BY_DECLARATION", "time": "_BY_TIMEOUT"}


def engine_name(level: int) -> str:
    """Return the engine's name in a record."""
    return f"{NAME} level {level}"


def result_name(ending: Ending | None) -> str:
    """Return the name of rsshogi's result."""
    if ending is None:
        return INTERRUPTED
    return COLOURS[ending.winner] + "_WIN" + WON.get(ending.reason, "") if ending.winner else DRAWN


def save(game: LiveGame, path: Path, players: tuple[str, str]) -> None:
    """Write the game; `players` are Black and White. RecordError, OSError."""
    kind = SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise RecordError(f"{path}: name the format by the suffix: {', '.join('.' + name for name in FORMATS)}")
    names = RecordMetadata(black_player=players[0], white_player=players[1], start_date=local_time())
    moves = map(TimedMove, game.moves, game.milliseconds)
    write_text(path, text_of_moves(kind, game.start, moves, result_name(game.ending), names))


def load(path: Path, core: Core) -> tuple[LiveGame, str, int | None]:
    """Return the first game of a file, its player's side (`b`, `w`, or empty) and level. RecordError."""
    first = next(read_games(path, core.board))
    if isinstance(first, RecordError):
        raise first
    game = LiveGame(core, first.start, first.moves)
    game.milliseconds = [entry.time_ms or 0 for entry in first.record.moves]
    return (game, *side_and_level(first))


def side_and_level(game: Game) -> tuple[str, int | None]:
    """Return the player's side and the level of a game that `save` wrote."""
    for side, name in zip("bw", game.players, strict=True):
        match = LEVEL.match(name)
        if match:
            return OTHER[side], int(match[1])
    return "", None
