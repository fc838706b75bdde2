"""Contents of a book: moves by position, in any file format."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import Protocol

from usi_engine.evaluation.names import named_errors, open_file


class BookError(Exception):
    """The file cannot be used as a book; the text names it and says why."""


@dataclass(frozen=True)
class BookMove:
    """A move with the expected reply (may be empty) and its value in centipawns for the side to move."""

    move: str
    reply: str
    value: int
    depth: int
    count: int


@dataclass(frozen=True)
class Entry:
    """The moves of a position, by value and then by count; and the faults of lines that could not be read."""

    moves: tuple[BookMove, ...] = ()
    faults: tuple[str, ...] = ()


class Book(Protocol):
    """An open book file."""

    path: str

    def probe(self, sfen: str) -> Entry:
        """Return the moves of this position, whatever its move number; none if it is not in the book. Never raises."""


def sorted_moves(moves: list[BookMove]) -> tuple[BookMove, ...]:
    """Sort moves for an Entry."""
    return tuple(sorted(moves, key=lambda move: (-move.value, -move.count)))


def position_key(sfen: str) -> str:
    """Return board, side to move and hands: the sfen without the move number."""
    return " ".join(sfen.split()[:3])


@contextmanager
def open_book_file(path: str, most: int) -> Iterator[tuple[BufferedIOBase, int]]:
    """Open a file of at most `most` bytes; yield it and its size. BookError, for errors of the block too."""
    with named_errors("book", path, BookError), open_file(Path(path), most) as opened:
        yield opened
