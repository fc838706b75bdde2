"""Start positions: piece by piece, as CSA text, and as in KIF and KI2 the names of handicaps and diagrams (BOD).

CSA's standard: http://www2.computer-shogi.org/protocol/record_v22.html. KIF and KI2 are formats of Kifu for Windows,
http://kakinoki.o.oo7.jp/kif_format.html, whose list has the handicaps of STARTS. Those of OTHER_STARTS and GAINED are
81Dojo's (system.81dojo.com), set up as in lishogi's shogiops (src/handicaps.ts). 81Dojo writes its 右端歩得, 左端歩得
and 両端歩得 as diagrams.
"""

import re
from collections import Counter
from collections.abc import Iterable

from core_ext.board import Board
from core_ext.shogi.ki2 import PIECES
from core_ext.shogi.notation import CSA_LETTERS, CSA_PIECES, NARROW, RANKS
from usi_engine.language import _
from usi_engine.usi.output import excerpt
from usi_engine.usi.protocol import START_SFEN

# CSA's names of the pieces by the letters of sfen.
NAMES = CSA_PIECES
FULL_SET = {"R": 2, "B": 2, "G": 4, "S": 4, "N": 4, "L": 4, "P": 18}  # in the order of an sfen's hands
START = START_SFEN.partition(" ")[0]
SQUARES = [[f"{x}{y}" for x in range(9, 0, -1)] for y in range(1, 10)]  # by ranks, as an sfen names them
ROW = re.compile(r"P[1-9]((?:\*|[+-][A-Z]{2}){9})")
SQUARE = re.compile(r"\*|[+-][A-Z]{2}")
PLACED = re.compile(r"(?:[0-9]{2}[A-Z]{2})*")


class Setup:
    """A position that is set up piece by piece. `board` has sfen's letters by CSA square (`77`), White's in lower case;
    `hands` count letters, Black's hand first.
    """

    def __init__(self) -> None:
        self.board: dict[str, str] = {}
        self.hands: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        self.turn = 0
        self._takes_rest: Counter[str] | None = None  # the hand that gets all pieces not placed

    def fill(self, board: str) -> None:
        """Set the board from sfen text."""
        for y, rank in enumerate(board.split("/")):
            pieces = re.findall(r"\d|\+?[A-Za-z]", rank)
            cells = [cell for piece in pieces for cell in ([""] * int(piece) if piece.isdigit() else [piece])]
            self.board.update({square: cell for square, cell in zip(SQUARES[y], cells, strict=False) if cell})

    def add_line(self, line: str) -> None:
        """Read a line of CSA: PI, a row, pieces of one side, or the side to move. ValueError."""
        row = ROW.fullmatch("".join(line.split()))
        placed = "".join(line.split())
        if line.startswith("PI") and PLACED.fullmatch(placed[2:]):
            self.fill(START)
            for at in range(2, len(placed), 4):
                square, name = placed[at : at + 2], placed[at + 2 : at + 4]
                if name not in CSA_LETTERS or self.board.get(square, "").upper() != CSA_LETTERS[name]:
                    raise ValueError(_("no such piece: '{text}'").format(text=square + name))
                del self.board[square]
        elif row:
            for x, cell in enumerate(SQUARE.findall(row[1])):
                if cell != "*":
                    self.place(f"{9 - x}{line[1]}", cell[1:], white=cell[0] == "-")
        elif line[:2] in ("P+", "P-") and PLACED.fullmatch(placed[2:]):
            for at in range(2, len(placed), 4):
                self.place(placed[at : at + 2], placed[at + 2 : at + 4], white=line[1] == "-")
        elif line in ("+", "-"):
            self.turn = "+-".index(line)
        else:
            raise ValueError(_("cannot be read: '{text}'").format(text=line))

    def place(self, square: str, name: str, *, white: bool) -> None:
        """Put a piece on an empty square, or into the hand if the square is `00`. ValueError."""
        hand = self.hands[white]
        if square == "00" and name == "AL":
            self._takes_rest = hand
        elif name not in CSA_LETTERS or (name == "OU" and square == "00"):
            raise ValueError(_("no such piece: '{text}'").format(text=square + name))
        elif square == "00":
            hand[CSA_LETTERS[name][-1]] += 1
        elif "0" in square or square in self.board:
            raise ValueError(_("not an empty square: '{text}'").format(text=square + name))
        else:
            self.board[square] = CSA_LETTERS[name].lower() if white else CSA_LETTERS[name]

    def sfen(self) -> str:
        """Return the position as sfen with its hands in the order of USI. ValueError if there are too many pieces."""
        placed = "".join(self.board.values()).upper()
        for letter, count in FULL_SET.items():
            used = placed.count(letter) + self.hands[0][letter] + self.hands[1][letter]
            if used > count:
                message = _("{number} pieces {name}, a set has {count}")
                raise ValueError(message.format(number=used, name=NAMES[letter], count=count))
            if self._takes_rest is not None:
                self._takes_rest[letter] += count - used
        ranks = "/".join(["".join([self.board.get(square, " ") for square in rank]) for rank in SQUARES])
        board = re.sub(" +", lambda empty: str(len(empty[0])), ranks)
        hands = in_hand(self.hands[0]) + in_hand(self.hands[1]).lower()
        return f"{board} {'bw'[self.turn]} {hands or '-'} 1"


def in_hand(hand: Counter[str]) -> str:
    """Return a hand as in an sfen, in upper case."""
    return "".join(f"{hand[letter] if hand[letter] > 1 else ''}{letter}" for letter in FULL_SET if hand[letter])


def read_position(lines: Iterable[str]) -> str:
    """Return the sfen of a position that is given as lines of CSA. ValueError."""
    setup, first = Setup(), ""
    try:
        for line in lines:
            first = first or line
            setup.add_line(line.rstrip())
        if not first.startswith("P"):
            raise ValueError(_("it begins '{text}'").format(text=first[:20].strip()))
        return setup.sfen()
    except ValueError as error:
        raise ValueError(_("not a CSA position: {reason}").format(reason=error)) from None


def position_lines(board: Board) -> list[str]:
    """Return the lines of a position, the last one with the side to move."""
    lines = ["PI"]
    if board.sfen().partition(" ")[0] != START:
        pieces = [[board.piece_at(f"{x}{rank}") or "" for x in range(9, 0, -1)] for rank in RANKS]
        lines = [f"P{y}{''.join(map(cell, rank))}" for y, rank in enumerate(pieces, 1)]
    for color, mark in enumerate("+-"):
        if hand := board.hand(color):
            lines.append(f"P{mark}" + "".join(f"00{NAMES[letter]}" * hand.get(letter, 0) for letter in FULL_SET))
    return [*lines, "+-"[board.turn]]


def cell(letter: str) -> str:
    """Return a square's three characters."""
    return f"{'+' if letter.isupper() else '-'}{NAMES[letter.upper()]}" if letter else " * "


# ---- KIF and KI2 ----

BLACK_CAMP = "ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL"
EVEN = "平手"
# Each start by its name in KIF: White's camp, its name in JKF, English words for what White plays without.
STARTS = {
    EVEN: ("lnsgkgsnl/1r5b1", "HIRATE", ""),
    "香落ち": ("lnsgkgsn1/1r5b1", "KY", "lance"), "右香落ち": ("1nsgkgsnl/1r5b1", "KY_R", "right lance"),
    "角落ち": ("lnsgkgsnl/1r7", "KA", "bishop"), "飛車落ち": ("lnsgkgsnl/7b1", "HI", "rook"),
    "飛香落ち": ("lnsgkgsn1/7b1", "HIKY", "rook and lance"), "二枚落ち": ("lnsgkgsnl/9", "2", "two pieces"),
    "三枚落ち": ("lnsgkgsn1/9", "3", "three pieces"), "四枚落ち": ("1nsgkgsn1/9", "4", "four pieces"),
    "五枚落ち": ("2sgkgsn1/9", "5", "five pieces"), "左五枚落ち": ("1nsgkgs2/9", "5_L", "five pieces"),
    "六枚落ち": ("2sgkgs2/9", "6", "six pieces"), "左七枚落ち": ("2sgkg3/9", "7_L", "seven pieces"),
    "右七枚落ち": ("3gkgs2/9", "7_R", "seven pieces"), "八枚落ち": ("3gkg3/9", "8", "eight pieces"),
    "十枚落ち": ("4k4/9", "10", "ten pieces"),
}  # fmt: skip
# Starts that JKF has no name for: White's camp, White's hand, English words.
OTHER_STARTS = {
    "両香落ち": ("1nsgkgsn1/1r5b1/ppppppppp", "-", "both lances"),
    "飛銀落ち": ("lnsgkg1nl/7b1/ppppppppp", "-", "rook and silver"),
    "九枚落ち": ("4kg3/9/ppppppppp", "-", "nine pieces"),
    "トンボ": ("4k4/1r5b1/ppppppppp", "-", "all but king, rook, bishop and pawns"),
    "トンボ＋香": ("l3k3l/1r5b1/ppppppppp", "-", "golds, silvers and knights"),
    "トンボ＋桂香": ("ln2k2nl/1r5b1/ppppppppp", "-", "golds and silvers"),
    "歩三兵": ("4k4/9/9", "3p", "all but the king and three pawns in hand"),
    "裸玉": ("4k4/9/9", "-", "all but the king"),
}
# What Black has in hand if White's pieces are not removed (落ち) but given to Black (得).
GAINED = {"香": "L", "角": "B", "飛車": "R", "飛香": "RL", "二枚": "RB", "四枚": "RB2L", "六枚": "RB2N2L",
          "八枚": "RB2S2N2L"}  # fmt: skip
# Other names; if one of two pieces is missing, it is the right one unless the name says 左.
SYNONYMS = {"七枚落ち": "右七枚落ち", "一丁半": "飛香落ち", "定先": EVEN}
HANDICAPS = {name: f"{camp}/{BLACK_CAMP} {'b' if name == EVEN else 'w'} - 1" for name, (camp, *_) in STARTS.items()}
HANDICAPS |= {
    name: f"{camp}{BLACK_CAMP.removeprefix('ppppppppp')} w {hand} 1"
    for name, (camp, hand, _words) in OTHER_STARTS.items()
}
HANDICAPS |= {f"{name}得": HANDICAPS[f"{name}落ち"].replace("-", hand) for name, hand in GAINED.items()}
HANDICAPS["青空将棋"] = "lnsgkgsnl/1r5b1/9/9/9/9/9/1B5R1/LNSGKGSNL b - 1"  # both sides without pawns
PRESETS = {preset: HANDICAPS[name] for name, (_camp, preset, _words) in STARTS.items()}
# Handicaps that some readers do not know, and take for an even game: their diagram is written too.
RARE = {"三枚落ち", "五枚落ち", "左五枚落ち", "左七枚落ち", "右七枚落ち", *(HANDICAPS.keys() - STARTS.keys())}
HANDICAP_NAMES = {sfen: name for name, sfen in HANDICAPS.items()}
HANDICAPS |= {name: HANDICAPS[other] for name, other in SYNONYMS.items()}
EVEN_SIDES, HANDICAP_SIDES = ("先手", "後手"), ("下手", "上手")  # Black and White

DIAGRAM_ROW = re.compile(r"[|｜│]([^|｜│]*)[|｜│]?(.?)")
CELL = re.compile(r"[ 　]*([vV^+]?)([歩香桂銀金角飛玉王と杏圭全馬龍竜・･])")
NUMBERS = ["", *"一二三四五六七八九", "十", *("十" + ones for ones in "一二三四五六七八")]
HELD = re.compile(r"([飛角金銀桂香歩])([0-9０-９]+|[一二三四五六七八九十]*)[\s、]*")


def sides_at(start: str) -> tuple[str, str]:
    """Return the names of the sides in a game from this start."""
    return HANDICAP_SIDES if start in HANDICAP_NAMES and start.split()[1] == "w" else EVEN_SIDES


def unknown_handicap(name: str, known: Iterable[str]) -> ValueError:
    """Return the error for a handicap without a diagram."""
    message = _("unknown handicap without a diagram; known are {names}: '{text}'")
    return ValueError(message.format(names=_(", ").join(known), text=excerpt(name)))


class Start:
    """Collects the lines that give a start position."""

    def __init__(self) -> None:
        self.handicap = ""
        self.ranks = 0  # read of a diagram
        self.setup = Setup()
        self.has_hands = False
        self.turn: int | None = None
        self.is_drawn = False  # an edge of a diagram was read

    def sfen(self) -> str:
        """Return the position; the start of an even game if the lines give none. ValueError."""
        if self.is_drawn or self.ranks:
            if self.ranks != 9:
                raise ValueError(_("the diagram has {count} ranks, not 9").format(count=self.ranks))
            self.setup.turn = self.turn or 0
            return self.setup.sfen()
        if self.has_hands and (any(self.setup.hands) or not self.handicap):
            raise ValueError(_("hands without a diagram"))
        named = HANDICAPS.get(self.handicap or EVEN)
        if named is None:
            raise unknown_handicap(self.handicap, HANDICAPS)
        board, turn, rest = named.split(" ", 2)
        return f"{board} {turn if self.turn is None else 'bw'[self.turn]} {rest}"

    def add_row(self, line: str) -> None:
        """Add a rank of a diagram, from the top. ValueError."""
        match, number = DIAGRAM_ROW.fullmatch(line), self.ranks + 1
        if not match or (match[2] and match[2].translate(NARROW) != f"{number}"):
            raise ValueError(_("not rank {number} of a 9x9 diagram").format(number=number))
        cells, rest = leading(CELL, match[1])
        if rest.strip() or len(cells) != 9:
            raise ValueError(_("not a rank of nine squares"))
        for x, cell in enumerate(cells):
            if letters := PIECES.get(cell[2]):
                self.setup.board[f"{9 - x}{number}"] = letters.lower() if cell[1] in ("v", "V") else letters
        self.ranks = number

    def set_hand(self, color: int, text: str) -> None:
        """Set what a side has in hand: `飛二　歩十七`, `なし` or nothing. ValueError."""
        found, rest = leading(HELD, text.strip())
        if rest not in ("", "なし"):
            raise ValueError(_("not pieces in hand: '{text}'").format(text=excerpt(rest)))
        self.has_hands = True
        hand = self.setup.hands[color]
        hand.clear()
        for held in found:
            hand[PIECES[held[1]]] += number_of(held[2])


def leading(pattern: re.Pattern[str], text: str) -> tuple[list[re.Match[str]], str]:
    """Return the matches that follow each other from the beginning, and the rest of the text."""
    found, end = [], 0
    while match := pattern.match(text, end):
        found.append(match)
        end = match.end()
    return found, text[end:]


def number_of(text: str) -> int:
    """Parse the number of a piece in hand. ValueError."""
    if text.isdigit() and len(text) < 3:
        return int(text)
    if text not in NUMBERS:
        raise ValueError(_("not a number of pieces: '{text}'").format(text=excerpt(text)))
    return NUMBERS.index(text) or 1


def start_lines(board: Board, names: tuple[str, str]) -> list[str]:
    """Return the lines of a start position; `names` of the sides are 先手 and 後手, or 下手 and 上手."""
    name = HANDICAP_NAMES.get(board.sfen())
    named = [f"手合割：{name}"] if name else []
    if name and name not in RARE:
        return named
    rows = board.kanji().replace("先手の", f"{names[0]}の").replace("後手の", f"{names[1]}の").splitlines()
    return named + rows + ([f"{names[1]}番"] if board.turn else [])
