"""Games saved and resumed, in any record format, by the file's suffix."""

from __future__ import annotations

import re
from pathlib import Path

from usi_engine import NAME
from usi_engine.core import Core
from usi_engine.language import _
from usi_engine.play.game import OTHER, SIGNS, Ending, LiveGame
from usi_engine.records.bod import EVEN_SIDES, HANDICAP_SIDES, sides_at
from usi_engine.records.faults import RecordError
from usi_engine.records.files import write_text
from usi_engine.records.formats import FORMATS, SUFFIXES
from usi_engine.records.games import Game, read_games
from usi_engine.records.tree import End, Record
from usi_engine.records.writer import INTERRUPTED, TimedMove, local_time, loss, record_of_moves, text_of

PLAYER = "Player"
LEVEL = re.compile(rf"{NAME}.* level (1?\d|20)$")
DATE = "開始日時"
HEADER = {*EVEN_SIDES, *HANDICAP_SIDES, DATE}
# CSA's names of the losses of the player to move.
LOST = {"mate": "TSUMI", "time": "TIME_UP", "perpetual": "ILLEGAL_MOVE"}


def engine_name(level: int, word: str = "level") -> str:
    """Return the engine's name in a record; on a screen, with another `word`."""
    return f"{NAME} {word} {level}"


def end_of(ending: Ending | None, turn: str) -> End:
    """Return the end in a record; `turn` is the side to move."""
    if ending is None:
        return End(INTERRUPTED)
    if not ending.winner:
        return End("SENNICHITE")
    if ending.reason == "declaration":
        return End("KACHI")
    return loss(LOST.get(ending.reason, "TORYO"), SIGNS[OTHER[ending.winner]], SIGNS[turn])


def save(game: LiveGame, path: Path, players: tuple[str, str]) -> None:
    """Write the game; `players` are Black and White. RecordError, OSError."""
    kind = SUFFIXES.get(path.suffix.lower())
    if kind is None:
        suffixes = ", ".join("." + name for name in FORMATS)
        raise RecordError(_("{file}: name the format by the suffix: {suffixes}").format(file=path, suffixes=suffixes))
    write_text(path, text_of(record_of(game, players), kind))


def record_of(game: LiveGame, players: tuple[str, str]) -> Record:
    """Return the record of a game; `players` are Black and White.

    A saved game keeps its date, and its end until a move is made.
    """
    saved = game.saved or Record(game.start)
    header = dict(zip(sides_at(game.start), players, strict=True)) | {DATE: saved.header.get(DATE) or local_time()}
    moves, end = map(TimedMove, game.moves, game.milliseconds), end_of(game.ending, game.turn)
    if saved.end and not game.ending and game.moves == saved.root.last().moves():
        end = saved.end
    return record_of_moves(game.start, moves, end, header)


def load(path: Path, core: Core) -> tuple[LiveGame, str, int | None]:
    """Return the first game of a file, its player's side (`b`, `w`, or empty) and level. RecordError."""
    first = next(read_games(path))
    if isinstance(first, RecordError):
        raise first
    if first.record.fault:
        raise RecordError(f"{path}, {first.record.fault.text()}")
    game = LiveGame(core, first.start, first.moves)
    game.saved = first.record
    game.milliseconds = [node.milliseconds or 0 for node in first.record.main_line]
    return (game, *side_and_level(first))


def is_own(path: Path) -> bool:
    """Return True if the file holds one game and nothing that `save` would not write."""
    game, *others = read_games(path)
    if others or not isinstance(game, Game):
        return False
    plain = all(owner.comment is None for node in game.record.root.nodes() for owner in (node, node.end) if owner)
    named = all(name in ("", PLAYER) or LEVEL.match(name) for name in game.players)
    return plain and named and not game.record.count_variations() and set(game.record.header) <= HEADER


def side_and_level(game: Game) -> tuple[str, int | None]:
    """Return the player's side and the level of a game that `save` wrote."""
    for side, name in zip("bw", game.players, strict=True):
        match = LEVEL.match(name)
        if match:
            return OTHER[side], int(match[1])
    return "", None
