"""The board as text: kanji or letters, in colour or not, seen from either side."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from core_ext.board import Board

KANJI = {
    "P": "歩", "L": "香", "N": "桂", "S": "銀", "G": "金", "B": "角", "R": "飛", "K": "玉",
    "+P": "と", "+L": "杏", "+N": "圭", "+S": "全", "+B": "馬", "+R": "龍",
}  # fmt: skip
RANKS, NUMERALS, FILES = "abcdefghi", "一二三四五六七八九", "１２３４５６７８９"
HAND = "RBGSNLP"
# ANSI codes of squares, the last move's square, Black's pieces, White's pieces, promoted pieces.
SQUARE, LAST, BLACK, WHITE, PROMOTED = "43", "103", "30", "34", "31"


@dataclass(frozen=True)
class Style:
    """The capabilities of the terminal."""

    kanji: bool = True
    colour: bool = True


def style_of(stream: TextIO, environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Style:
    """Return kanji if the encoding has them, and colour if a terminal takes ANSI codes and NO_COLOR is not set."""
    try:
        "歩龍".encode(stream.encoding or "ascii")
        kanji = True
    except (LookupError, UnicodeEncodeError):
        kanji = False
    ansi = platform != "win32" or "WT_SESSION" in environment or "TERM" in environment
    plain = environment.get("NO_COLOR") or environment.get("TERM") == "dumb"
    return Style(kanji, stream.isatty() and ansi and not plain)


class Screen:
    """A renderer of positions. `flipped`: White at the bottom."""

    def __init__(self, style: Style, flipped: bool = False) -> None:
        self.style, self.flipped = style, flipped

    def draw(self, board: Board, labels: tuple[str, str]) -> str:
        """Return the board between both hands; `labels` come before Black's hand and White's."""
        near, far = (1, 0) if self.flipped else (0, 1)
        return "\n".join([self._hand(board, far, labels), *self._rows(board), self._hand(board, near, labels)])

    def _rows(self, board: Board) -> list[str]:
        files = range(1, 10) if self.flipped else range(9, 0, -1)
        ranks = RANKS[::-1] if self.flipped else RANKS
        last = board.moves()[-1][2:4] if board.moves() else ""
        head = "  " + "".join(f" {FILES[file - 1]}" if self.style.kanji else f"{file:>3}" for file in files)
        edge = [" +" + "-" * 27 + "+"]
        return [head, *edge, *(self._row(board, rank, files, last) for rank in ranks), *edge]

    def _row(self, board: Board, rank: str, files: range, last: str) -> str:
        cells = [self._cell(board.piece_at(f"{file}{rank}"), f"{file}{rank}" == last) for file in files]
        numeral = NUMERALS[RANKS.index(rank)] if self.style.kanji else ""
        return f" |{''.join(cells)}|{numeral}{rank}"

    def _cell(self, piece: str | None, last: bool) -> str:
        """Return a square, three columns wide."""
        if not self.style.kanji:
            text = f"{piece or '.':>3}"
        elif piece:
            text = ("v" if piece.islower() else " ") + KANJI[piece.upper()]
        else:
            text = " ・"
        if not self.style.colour:
            return text
        side = WHITE if piece and piece.islower() else BLACK
        ink = PROMOTED if piece and piece.startswith("+") else side
        return f"\x1b[{LAST if last else SQUARE};{ink}m{text}\x1b[0m"

    def _hand(self, board: Board, color: int, labels: tuple[str, str]) -> str:
        held = board.hand(color)
        names = KANJI if self.style.kanji else {letter: letter for letter in HAND}
        pieces = [names[letter] + (str(held[letter]) if held[letter] > 1 else "") for letter in HAND if letter in held]
        mark = "▲△"[color] if self.style.kanji else ("Black:", "White:")[color]
        return f" {mark} {labels[color]}  [{' '.join(pieces) or '-'}]"
