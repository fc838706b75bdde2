"""The board as rows of cells, kanji or letters, seen from either side; output and input as plain lines."""

from collections.abc import Callable
from typing import NamedTuple, TextIO

from core_ext.board import Board
from core_ext.shogi.notation import KANJI_RANKS, KIF_PIECES, RANKS, WIDE_FILES
from usi_engine.usi.output import show

KANJI = {**KIF_PIECES, "+L": "杏", "+N": "圭", "+S": "全"}  # one a square
HAND = "RBGSNLP"
WIDTH = 80  # of plain lines


class Cell(NamedTuple):
    """A part of a row. `ink`: `black`, `white` or `promoted` on a square, `turn` in the line of the side to move."""

    text: str
    ink: str = ""
    last: bool = False  # the square of the last move


def has_kanji(stream: TextIO) -> bool:
    """Return True if the stream can encode the kanji of the pieces."""
    try:
        "歩龍".encode(stream.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


class Screen:
    """A renderer of positions. `kanji`: kanji instead of letters; `flipped`: White at the bottom."""

    def __init__(self, kanji: bool = True, flipped: bool = False) -> None:
        self.kanji, self.flipped = kanji, flipped

    def text(self, board: Board, labels: tuple[str, str]) -> str:
        """Return the rows as lines of text."""
        return "\n".join("".join(cell.text for cell in row) for row in self.rows(board, labels))

    def rows(self, board: Board, labels: tuple[str, str]) -> list[list[Cell]]:
        """Return the board between both hands; `labels` come before Black's hand and White's."""
        near, far = (1, 0) if self.flipped else (0, 1)
        return [self._hand(board, far, labels), *self._board(board), self._hand(board, near, labels)]

    def _board(self, board: Board) -> list[list[Cell]]:
        files = range(1, 10) if self.flipped else range(9, 0, -1)
        ranks = RANKS[::-1] if self.flipped else RANKS
        last = board.moves()[-1][2:4] if board.moves() else ""
        head = "  " + "".join(f" {WIDE_FILES[file - 1]}" if self.kanji else f"{file:>3}" for file in files)
        edge = [Cell(" +" + "-" * 27 + "+")]
        return [[Cell(head)], edge, *(self._rank(board, rank, files, last) for rank in ranks), edge]

    def _rank(self, board: Board, rank: str, files: range, last: str) -> list[Cell]:
        cells = [self._square(board.piece_at(f"{file}{rank}"), f"{file}{rank}" == last) for file in files]
        numeral = KANJI_RANKS[RANKS.index(rank)] if self.kanji else ""
        return [Cell(" |"), *cells, Cell(f"|{numeral}{rank}")]

    def _square(self, piece: str | None, last: bool) -> Cell:
        """Return a square, three columns wide."""
        if not self.kanji:
            text = f"{piece or '.':>3}"
        elif piece:
            text = ("v" if piece.islower() else " ") + KANJI[piece.upper()]
        else:
            text = " ・"
        side = "white" if piece and piece.islower() else "black"
        return Cell(text, "promoted" if piece and piece.startswith("+") else side, last)

    def _hand(self, board: Board, color: int, labels: tuple[str, str]) -> list[Cell]:
        held = board.hand(color)
        names = KANJI if self.kanji else {letter: letter for letter in HAND}
        pieces = [names[letter] + (str(held[letter]) if held[letter] > 1 else "") for letter in HAND if letter in held]
        mark = "▲△"[color] if self.kanji else ("Black:", "White:")[color]
        return [Cell(f" {mark} {labels[color]}  [{' '.join(pieces) or '-'}]", "turn" if board.turn == color else "")]


class View:
    """The output and input of a dialogue. `read` returns a line for a prompt (EOFError at the end)."""

    def __init__(self, screen: Screen, read: Callable[[str], str] = input, width: int = WIDTH) -> None:
        self.screen, self.read, self.width = screen, read, width

    def show(self, board: Board, labels: tuple[str, str]) -> None:
        """Show the board; the labels come before Black's hand and White's."""
        self.say("\n" + self.screen.text(board, labels))

    def say(self, text: str) -> None:
        """Show lines of text, which need not be trusted."""
        show(*text.split("\n"))

    def wait(self, text: str) -> None:
        """Say that the person must wait; plain lines do not."""
