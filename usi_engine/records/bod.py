"""Start positions as in KIF and KI2: the names of handicaps, and diagrams (BOD) with hands and the side to move.

The forms are those of Kifu for Windows, http://kakinoki.o.oo7.jp/kif_format.html.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from core_ext.shogi.ki2 import PIECES
from core_ext.shogi.notation import NARROW
from usi_engine.language import _
from usi_engine.records.csa_position import in_hand
from usi_engine.records.faults import excerpt

if TYPE_CHECKING:
    from core_ext.board import Board

BLACK_CAMP = "ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL"
EVEN = "平手"
# The ranks of White's pieces in handicap games.
CAMPS = {
    "香落ち": "lnsgkgsn1/1r5b1", "右香落ち": "1nsgkgsnl/1r5b1", "角落ち": "lnsgkgsnl/1r7", "飛車落ち": "lnsgkgsnl/7b1",
    "飛香落ち": "lnsgkgsn1/7b1", "二枚落ち": "lnsgkgsnl/9", "三枚落ち": "lnsgkgsn1/9", "四枚落ち": "1nsgkgsn1/9",
    "五枚落ち": "2sgkgsn1/9", "左五枚落ち": "1nsgkgs2/9", "六枚落ち": "2sgkgs2/9", "左七枚落ち": "2sgkg3/9",
    "右七枚落ち": "3gkgs2/9", "八枚落ち": "3gkg3/9", "十枚落ち": "4k4/9",
}  # fmt: skip
HANDICAPS = {EVEN: f"lnsgkgsnl/1r5b1/{BLACK_CAMP} b - 1"} | {
    name: f"{camp}/{BLACK_CAMP} w - 1" for name, camp in CAMPS.items()
}
# Handicaps that some readers do not know, and take for an even game: their diagram is written too.
RARE = ("三枚落ち", "五枚落ち", "左五枚落ち", "左七枚落ち", "右七枚落ち")
HANDICAP_NAMES = {sfen: name for name, sfen in HANDICAPS.items()}
EVEN_SIDES, HANDICAP_SIDES = ("先手", "後手"), ("下手", "上手")  # Black and White

ROW = re.compile(r"[|｜│]([^|｜│]*)[|｜│]?(.?)")
CELL = re.compile(r"[ 　]*([vV^+]?)([歩香桂銀金角飛玉王と杏圭全馬龍竜・･])")
NUMBERS = ["", *"一二三四五六七八九", "十", *("十" + ones for ones in "一二三四五六七八")]
HELD = re.compile(r"([飛角金銀桂香歩])([0-9０-９]+|[一二三四五六七八九十]*)[\s、]*")


def sides_at(start: str) -> tuple[str, str]:
    """Return the names of the sides in a game from this start."""
    return EVEN_SIDES if HANDICAP_NAMES.get(start, EVEN) == EVEN else HANDICAP_SIDES


class Start:
    """Collects the lines that give a start position."""

    def __init__(self) -> None:
        self.handicap = ""
        self.rows: list[str] = []
        self.hands: dict[int, Counter[str]] = {}
        self.turn = ""
        self.is_drawn = False  # an edge of a diagram was read

    def sfen(self) -> str:
        """Return the position; the start of an even game if the lines give none. ValueError."""
        if self.is_drawn or self.rows:
            if len(self.rows) != 9:
                raise ValueError(_("the diagram has {count} ranks, not 9").format(count=len(self.rows)))
            return f"{'/'.join(self.rows)} {self.turn or 'b'} {hands_sfen(self.hands)} 1"
        if self.hands and (any(self.hands.values()) or not self.handicap):
            raise ValueError(_("hands without a diagram"))
        named = HANDICAPS.get(self.handicap or EVEN)
        if named is None:
            raise ValueError(_("unknown handicap: '{text}'").format(text=excerpt(self.handicap)))
        board, turn, rest = named.split(" ", 2)
        return f"{board} {self.turn or turn} {rest}"

    def add_row(self, line: str) -> None:
        """Add a rank of a diagram, from the top. ValueError."""
        match = ROW.fullmatch(line)
        if not match or (match[2] and match[2].translate(NARROW) != str(len(self.rows) + 1)):
            raise ValueError(_("not rank {number} of a 9x9 diagram").format(number=len(self.rows) + 1))
        cells, rest = leading(CELL, match[1])
        if rest.strip() or len(cells) != 9:
            raise ValueError(_("not a rank of nine squares"))
        self.rows.append(re.sub("1+", lambda empty: str(len(empty[0])), "".join(map(cell_sfen, cells))))

    def set_hand(self, color: int, text: str) -> None:
        """Set what a side has in hand: `飛二　歩十七`, `なし` or nothing. ValueError."""
        found, rest = leading(HELD, text.strip())
        if rest not in ("", "なし"):
            raise ValueError(_("not pieces in hand: '{text}'").format(text=excerpt(rest)))
        self.hands[color] = Counter()
        for held in found:
            self.hands[color][PIECES[held[1]]] += number_of(held[2])


def leading(pattern: re.Pattern[str], text: str) -> tuple[list[re.Match[str]], str]:
    """Return the matches that follow each other from the beginning, and the rest of the text."""
    found, end = [], 0
    while match := pattern.match(text, end):
        found.append(match)
        end = match.end()
    return found, text[end:]


def cell_sfen(cell: re.Match[str]) -> str:
    """Return the sfen letters of a square, `1` for an empty one."""
    letters = PIECES.get(cell[2], "1")
    return letters.lower() if cell[1] in ("v", "V") else letters


def number_of(text: str) -> int:
    """Parse the number of a piece in hand. ValueError."""
    if text.isdigit() and len(text) < 3:
        return int(text)
    if text not in NUMBERS:
        raise ValueError(_("not a number of pieces: '{text}'").format(text=excerpt(text)))
    return NUMBERS.index(text) or 1


def hands_sfen(hands: Mapping[int, Counter[str]]) -> str:
    """Return the hands by colour as in an sfen."""
    black, white = (in_hand(hands.get(color, Counter())) for color in (0, 1))
    return black + white.lower() or "-"


def start_lines(board: Board, names: tuple[str, str]) -> list[str]:
    """Return the lines of a start position; `names` of the sides are 先手 and 後手, or 下手 and 上手."""
    name = HANDICAP_NAMES.get(board.sfen())
    named = [f"手合割：{name}"] if name else []
    if name and name not in RARE:
        return named
    rows = board.kanji().replace("先手の", f"{names[0]}の").replace("後手の", f"{names[1]}の").splitlines()
    return named + rows + ([f"{names[1]}番"] if board.turn else [])
