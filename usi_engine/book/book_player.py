"""Book moves for play: look up the position or the flipped one, skip illegal moves, choose by YaneuraOu's options.

The flipped position is rotated by 180 degrees with the colours swapped. A move that is good for Black is good for White
in it, so a book needs only one of the two.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from usi_engine.book.entry import Book, BookError, BookMove
from usi_engine.book.libraries import AperyBook, ShogiHomeBook
from usi_engine.book.yaneuraou import YaneuraOuBook
from usi_engine.core import Board
from usi_engine.evaluation.names import DATA, INTERNAL, Fault, named_errors
from usi_engine.language import _
from usi_engine.usi.options import Options
from usi_engine.usi.output import excerpt

PACKAGED = DATA / "book.db"
YBB_TO_DB = "makebook/convert_ybb_to_db.py of YaneuraOu-ScriptCollection"
NARROW_SHARE = 0.1  # NarrowBook skips moves that were played in a smaller share of the games


def open_book(name: str) -> Book:
    """Open the book that BookFile names: .sbk, .bin, or any other suffix but .ybb for YaneuraOu's format. BookError."""
    with named_errors("book", name, BookError):
        path = str(PACKAGED if name == INTERNAL else Path(name).expanduser())
        if (suffix := Path(path).suffix.lower()) == ".ybb":
            raise Fault(_("turn it into a .db with {script}").format(script=YBB_TO_DB))
    try:
        if suffix == ".sbk":
            return ShogiHomeBook(path)
        if suffix == ".bin":
            return AperyBook(path)
    except ImportError as error:
        library = (error.name or "").partition(".")[0]
        message = _("book '{path}' needs {library}: pip install {library}")
        raise BookError(message.format(path=path, library=library)) from None
    return YaneuraOuBook(path)


@dataclass(frozen=True)
class Rules:
    """The options for one side. A move may be at most `margin` centipawns below the best one, but not below `least`."""

    last_ply: int
    margin: int
    least: int
    narrow: bool
    by_count: bool
    ignored_percent: int
    flipped: bool


def rules_of(options: Options, black: bool) -> Rules:
    """Return the rules for the side to move."""
    return Rules(
        last_ply=options.number("BookMoves"),
        margin=options.number("BookEvalDiff"),
        least=options.number("BookEvalBlackLimit" if black else "BookEvalWhiteLimit"),
        narrow=options.flag("NarrowBook"),
        by_count=options.flag("ConsiderBookMoveCount"),
        ignored_percent=options.number("BookIgnoreRate"),
        flipped=options.flag("FlippedBook"),
    )


def choose(moves: Sequence[BookMove], rules: Rules, rng: random.Random) -> BookMove | None:
    """Draw one of the allowed moves, evenly or in proportion to their counts; None if there is none."""
    kept = allowed(moves, rules)
    if not kept:
        return None
    return rng.choices(kept, [max(move.count, 1) if rules.by_count else 1 for move in kept])[0]


def allowed(moves: Sequence[BookMove], rules: Rules) -> list[BookMove]:
    """Return the moves that the rules allow."""
    least_count = NARROW_SHARE * sum(move.count for move in moves) if rules.narrow else 0
    kept = [move for move in moves if move.count >= least_count]
    best = max((move.value for move in kept), default=0)
    return [move for move in kept if move.value >= max(best - rules.margin, rules.least)]


class BookPlayer:
    """A book to choose moves from. `tell` gets one sentence about the faults of the first position that has any."""

    def __init__(self, book: Book, tell: Callable[[str], None]) -> None:
        self._book, self._tell, self._told = book, tell, False

    def choose(self, board: Board, rules: Rules, rng: random.Random) -> BookMove | None:
        """Return a move to play; None if the book has none that the rules allow."""
        if board.ply > rules.last_ply or rng.random() * 100 < rules.ignored_percent:
            return None
        return choose(self.moves(board, rules.flipped), rules, rng)

    def moves(self, board: Board, flipped: bool) -> list[BookMove]:
        """Return the legal moves, best first; if there are none and `flipped`, those of the flipped position."""
        sfen = board.sfen()
        found = self._legal(board, self._probe(sfen))
        if found or not flipped:
            return found
        # `usi` is answered without a module of the core.
        from core_ext.shogi.notation import flip_move, flip_sfen  # noqa: PLC0415

        mirrored = self._probe(flip_sfen(sfen))  # values are for the side to move and stay
        return self._legal(board, [replace(m, move=flip_move(m.move), reply=flip_move(m.reply)) for m in mirrored])

    def _probe(self, sfen: str) -> tuple[BookMove, ...]:
        entry = self._book.probe(sfen)
        self._report(entry.faults)
        return entry.moves

    def _legal(self, board: Board, moves: Iterable[BookMove]) -> list[BookMove]:
        found, illegal = list[BookMove](), list[str]()
        for move in moves:
            if board.is_legal(move.move):
                found.append(move)
            else:
                illegal.append(f"'{excerpt(move.move)}': not a legal move")
        self._report(illegal)
        return found

    def _report(self, faults: Sequence[str]) -> None:
        if faults and not self._told:
            self._told = True
            self._tell(f"book '{self._book.path}': left out {len(faults)} of a position's lines, first {faults[0]}")
