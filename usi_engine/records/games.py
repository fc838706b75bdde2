"""Game records from files: decoded, split into games, read strictly, replayed by our own rules."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from usi_engine.core import load_core
from usi_engine.records.faults import FaultyText, RecordError
from usi_engine.records.formats import FORMATS, decoded, format_of, has_moves, parts_of
from usi_engine.records.tree import Node, Record
from usi_engine.usi.output import printable

if TYPE_CHECKING:
    from core_ext.board import Board


@dataclass(frozen=True)
class Game:
    """A game: start as sfen, moves of the main line in USI, the whole record; game `number` of `count` in the file."""

    path: Path
    number: int
    count: int
    kind: str
    start: str
    moves: tuple[str, ...]
    record: Record

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
    def variations(self) -> list[Node]:
        """The moves made from the start, the root of the record's tree; the first begins the main line."""
        return self.record.root.variations

    @property
    def players(self) -> tuple[str, str]:
        """Black and White; empty if the record does not name them."""
        black, white = self.record.players
        return printable(black), printable(white)


def read_games(path: Path) -> Iterator[Game | RecordError]:
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
            record: Record = FORMATS[kind].read(part)
        except FaultyText as error:
            yield RecordError(f"{path}, {error.fault.text(line)}")
            continue
        moves = tuple(node.move for node in record.main_line)
        game = Game(path, number, len(parts), kind, record.start, moves, record)
        if not moves and not record.fault and has_moves(part, record.start):
            yield RecordError(f"{game.name}: no moves read")
            continue
        yield game
        if record.fault:
            yield RecordError(f"{path}, {record.fault.text(line)}")


def load_games(path: str | os.PathLike[str]) -> Iterator[Game]:
    """Yield the games of a file in KIF, KI2, CSA, JKF or USI. RecordError, a ValueError of one line, at a fault."""
    for game in read_games(Path(path)):
        if isinstance(game, RecordError):
            raise game
        yield game
