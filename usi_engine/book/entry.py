"""What a book holds: moves by position, whatever the format of its file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


class BookError(Exception):
    """The file cannot be used as a book; the text names it and gives the reason."""


@dataclass(frozen=True)
class BookMove:
    """One move; `reply` may be empty. The value is in centipawns for the side to move."""

    move: str
    reply: str
    value: int
    depth: int
    count: int


@dataclass(frozen=True)
class Entry:
    """The moves of a position, best value first, those played most first among equals; the first line that cannot be
    read, or an empty text.
    """

    moves: tuple[BookMove, ...] = ()
    bad_line: str = ""


class Book(Protocol):
    """An open book file."""

    path: str

    def probe(self, sfen: str) -> Entry:
        """The moves of this position, whatever the number of its move; none where it is not in the book.

        Never raises.
        """


def sorted_moves(moves: list[BookMove]) -> tuple[BookMove, ...]:
    """In the order of an Entry."""
    return tuple(sorted(moves, key=lambda move: (-move.value, -move.count)))


def position_key(sfen: str) -> str:
    """Board, side to move and hands, without the number of the move."""
    return " ".join(sfen.split()[:3])


def check_file(path: str, most_bytes: int) -> None:
    """BookError unless this is a regular file of at most so many bytes."""
    try:
        size = Path(path).stat().st_size
        if not Path(path).is_file():
            raise BookError(f"book '{path}' is no regular file")
    except OSError as error:
        raise BookError(f"book '{path}' cannot be read: {error.strerror}") from error
    except ValueError as error:  # a path with a null character
        raise BookError(f"book '{path}' cannot be read: {error}") from error
    if size > most_bytes:
        raise BookError(f"book '{path}' has {size >> 20} MB; of this format {most_bytes >> 20} MB are read at most")
