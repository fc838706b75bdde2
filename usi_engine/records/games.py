"""Game records from files: decoded, split into games, read strictly, replayed by our own rules."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from usi_engine.core import load_core
from usi_engine.records.faults import RecordError
from usi_engine.records.formats import FORMATS, decoded, format_of, parts_of

if TYPE_CHECKING:
    from core_ext.board import Board


@dataclass(frozen=True)
class Game:
    """A game: start as sfen, moves in USI, the rsshogi record it came from; game `number` of `count` in the file."""

    path: Path
    number: int
    count: int
    kind: str
    start: str
    moves: tuple[str, ...]
    record: Any

    @property
    def name(self) -> str:
        """The file, with the number of the game if there are several."""
        return f"{self.path}, game {self.number}" if self.count > 1 else str(self.path)

    @property
    def stem(self) -> str:
        """The file's name without suffix, with the number of the game if there are several."""
        return f"{self.path.stem}-{self.number}" if self.count > 1 else self.path.stem

    def board(self, plies: int | None = None) -> Board:
        """Return the position after `plies` moves, or at the end, with its game history."""
        return load_core().board.from_moves(self.moves if plies is None else self.moves[:plies], self.start)

    @property
    def players(self) -> tuple[str, str]:
        """Black and White; empty if the record does not name them."""
        names = self.record.metadata
        return printable(names.black_player or ""), printable(names.white_player or "")


def printable(text: str) -> str:
    """Return the text without control characters, which could do anything to a terminal."""
    return "".join(letter for letter in text if letter.isprintable())


def read_games(path: Path, board: type[Board]) -> Iterator[Game | RecordError]:
    """Yield the games of a file. A fault takes the place of its game, or of all games if the file cannot be read."""
    try:
        text = decoded(path.read_bytes())
        kind = format_of(path, text)
        parts = parts_of(kind, text)
    except OSError as error:
        yield RecordError(f"{path}: {error.strerror or error}")
        return
    except RecordError as error:
        yield RecordError(f"{path}: {error}")
        return
    for number, (line, part) in enumerate(parts, 1):
        try:
            record = FORMATS[kind].read(part)
        except ValueError as error:
            yield RecordError(f"{path}, {FORMATS[kind].find_fault(part, error).text(line)}")
            continue
        moves = tuple(str(entry.move) for entry in record.moves)
        yield checked(Game(path, number, len(parts), kind, record.init_position_sfen, moves, record), board)


def load_games(path: str | os.PathLike[str]) -> Iterator[Game]:
    """Yield the games of a file in KIF, KI2, CSA, JKF or USI. RecordError, a ValueError of one line, at a fault."""
    for game in read_games(Path(path), load_core().board):
        if isinstance(game, RecordError):
            raise game
        yield game


def checked(game: Game, board: type[Board]) -> Game | RecordError:
    """Return the game if its position and moves are legal by our own rules, otherwise the fault."""
    try:
        position = board(game.start)
    except ValueError as error:
        return RecordError(f"{game.name}: {error}")
    for ply, move in enumerate(game.moves, 1):
        try:
            position.push(move)
        except ValueError as error:
            return RecordError(f"{game.name}, move {ply}: {error}")
    return game
