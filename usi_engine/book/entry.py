"""Contents of a book: moves by position, in any file format."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from usi_engine.language import _, reason_of


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


def unreadable(path: str, reason: object) -> BookError:
    """Return the error of a book that cannot be read."""
    return BookError(_("book '{path}' cannot be read: {reason}").format(path=path, reason=reason))


def check_file(path: str, most_bytes: int) -> None:
    """Raise BookError unless this is a regular file of at most `most_bytes`."""
    try:
        size, regular = Path(path).stat().st_size, Path(path).is_file()
    except OSError as error:
        raise unreadable(path, reason_of(error)) from error
    except ValueError as error:  # a path with a null character
        raise unreadable(path, error) from error
    if not regular:
        raise BookError(_("book '{path}' is not a regular file").format(path=path))
    if size > most_bytes:
        message = _("book '{path}' has {size} MB; the limit of this format is {most} MB")
        raise BookError(message.format(path=path, size=size >> 20, most=most_bytes >> 20))
