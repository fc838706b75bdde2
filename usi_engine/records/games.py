"""Game records from files: decoded, split into games, read strictly, replayed by our own rules."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from usi_engine.core import load_core
from usi_engine.records.faults import fault_of
from usi_engine.records.formats import KIF_HINT, READERS, RecordError, decoded, format_of

if TYPE_CHECKING:
    from core_ext.board import Board

# A line of CSA that is neither empty nor a comment.
CSA_STATEMENT = re.compile(r"^[^\S\n]*[^\s']", re.M)


@dataclass(frozen=True)
class Game:
    """A game: start as sfen, moves in USI, the rsshogi record it came from; `number` counts the games of the file."""

    path: Path
    number: int
    count: int
    kind: str
    start: str
    moves: tuple[str, ...]
    record: Any

    @property
    def name(self) -> str:
        """The file, and which game of it where it holds several."""
        return f"{self.path}, game {self.number}" if self.count > 1 else str(self.path)

    @property
    def stem(self) -> str:
        """The file's name without suffix, with the number of the game where it holds several."""
        return f"{self.path.stem}-{self.number}" if self.count > 1 else self.path.stem

    def board(self, plies: int | None = None) -> Board:
        """The position at the end, or after so many moves, with the game before it."""
        return load_core().board.from_moves(self.moves if plies is None else self.moves[:plies], self.start)

    @property
    def players(self) -> tuple[str, str]:
        """Black and White; empty where the record does not name them."""
        names = self.record.metadata
        return printable(names.black_player or ""), printable(names.white_player or "")


def printable(text: str) -> str:
    """The text without control characters, which could do anything to a terminal."""
    return "".join(letter for letter in text if letter.isprintable())


def read_games(path: Path, board: type[Board]) -> Iterator[Game | RecordError]:
    """The games of a file. A fault comes in the place of its game, or of all where the file cannot be read."""
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
            record = READERS[kind](part)
        except RecordError as error:
            yield RecordError(f"{path}: {error}")
        except ValueError as error:
            yield RecordError(f"{path}, {fault_of(kind, part, error).text(line)}")
        else:
            yield checked(
                Game(path, number, len(parts), kind, record.init_position_sfen, moves_of(record), record), board
            )


def load_games(path: str | os.PathLike[str]) -> Iterator[Game]:
    """The games of a file in KIF, KI2, CSA, JKF or USI. RecordError, a ValueError of one line, at the first fault."""
    for game in read_games(Path(path), load_core().board):
        if isinstance(game, RecordError):
            raise game
        yield game


def parts_of(kind: str, text: str) -> list[tuple[int, str]]:
    """The text of each game with the number of its first line, from 0. RecordError where there is none."""
    lines = text.splitlines()
    if kind == "usi":
        found = [(at, line) for at, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#")]
    elif kind == "csa":
        ends = [at for at, line in enumerate(lines) if line.strip() == "/"]
        spans = zip([0, *(at + 1 for at in ends)], [*ends, len(lines)], strict=True)
        found = [(begin, "\n".join(lines[begin:end]) + "\n") for begin, end in spans]
        found = [(at, part) for at, part in found if CSA_STATEMENT.search(part)]
    else:
        found = [(0, text)] if kind == "jkf" or KIF_HINT.search(text) or "▲" in text or "△" in text else []
    if not found:
        raise RecordError("the file holds no game")
    return found


def moves_of(record: Any) -> tuple[str, ...]:
    """The moves of the main line in USI."""
    return tuple(str(entry.move) for entry in record.moves)


def checked(game: Game, board: type[Board]) -> Game | RecordError:
    """The game where its position and moves are legal by our own rules too; else the fault."""
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
