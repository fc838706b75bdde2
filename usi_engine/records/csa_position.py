"""Positions as CSA text: read from lines of P, written as rows of three characters a square.

CSA's standard: http://www2.computer-shogi.org/protocol/record_v22.html.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from core_ext.shogi.notation import CSA_PIECES
from usi_engine.language import _
from usi_engine.usi.protocol import START_SFEN

# CSA's names of the pieces by the letters of sfen, and the letters by names.
NAMES = CSA_PIECES
LETTERS = {name: letter for letter, name in NAMES.items()}
FULL_SET = {"R": 2, "B": 2, "G": 4, "S": 4, "N": 4, "L": 4, "P": 18}  # in the order of an sfen's hands
START = START_SFEN.partition(" ")[0]
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
        self.turn = "b"
        self._takes_rest: Counter[str] | None = None  # the hand that gets all pieces not placed

    def fill(self, board: str) -> None:
        """Set the board from sfen text."""
        for y, rank in enumerate(board.split("/"), 1):
            pieces = re.findall(r"\d|\+?[A-Za-z]", rank)
            cells = [cell for piece in pieces for cell in ([""] * int(piece) if piece.isdigit() else [piece])]
            self.board.update({f"{9 - x}{y}": cell for x, cell in enumerate(cells) if cell})

    def add_line(self, line: str) -> None:
        """Read a line of CSA: PI, a row, pieces of one side, or the side to move. ValueError."""
        row = ROW.fullmatch("".join(line.split()))
        placed = "".join(line.split())
        if line.startswith("PI") and PLACED.fullmatch(placed[2:]):
            self.fill(START)
            for at in range(2, len(placed), 4):
                self._remove(placed[at : at + 2], placed[at + 2 : at + 4])
        elif row:
            for x, cell in enumerate(SQUARE.findall(row[1])):
                if cell != "*":
                    self.place(f"{9 - x}{line[1]}", cell[1:], white=cell[0] == "-")
        elif line[:2] in ("P+", "P-") and PLACED.fullmatch(placed[2:]):
            for at in range(2, len(placed), 4):
                self.place(placed[at : at + 2], placed[at + 2 : at + 4], white=line[1] == "-")
        elif line in ("+", "-"):
            self.turn = "b" if line == "+" else "w"
        else:
            raise ValueError(_("cannot be read: '{text}'").format(text=line))

    def place(self, square: str, name: str, *, white: bool) -> None:
        """Put a piece on an empty square, or into the hand if the square is `00`. ValueError."""
        hand = self.hands[white]
        if square == "00" and name == "AL":
            self._takes_rest = hand
        elif name not in LETTERS or (name == "OU" and square == "00"):
            raise ValueError(_("no such piece: '{text}'").format(text=square + name))
        elif square == "00":
            hand[LETTERS[name][-1]] += 1
        elif "0" in square or square in self.board:
            raise ValueError(_("not an empty square: '{text}'").format(text=square + name))
        else:
            self.board[square] = LETTERS[name].lower() if white else LETTERS[name]

    def sfen(self) -> str:
        """Return the position as sfen with its hands in the order of USI. ValueError if there are too many pieces."""
        used = Counter(letter[-1].upper() for letter in self.board.values()) + self.hands[0] + self.hands[1]
        for letter, count in FULL_SET.items():
            if used[letter] > count:
                message = _("{number} pieces {name}, a set has {count}")
                raise ValueError(message.format(number=used[letter], name=NAMES[letter], count=count))
            if self._takes_rest is not None:
                self._takes_rest[letter] += count - used[letter]
        ranks = ["".join(self.board.get(f"{x}{y}", " ") for x in range(9, 0, -1)) for y in range(1, 10)]
        board = "/".join(re.sub(" +", lambda empty: str(len(empty[0])), rank) for rank in ranks)
        hands = in_hand(self.hands[0]) + in_hand(self.hands[1]).lower()
        return f"{board} {self.turn} {hands or '-'} 1"

    def _remove(self, square: str, name: str) -> None:
        if name not in LETTERS or self.board.get(square, "").upper() != LETTERS[name]:
            raise ValueError(_("no such piece: '{text}'").format(text=square + name))
        del self.board[square]


def in_hand(hand: Counter[str]) -> str:
    """Return a hand as in an sfen, in upper case."""
    return "".join(f"{hand[letter] if hand[letter] > 1 else ''}{letter}" for letter in FULL_SET if hand[letter])


def setup_of(sfen: str) -> Setup:
    """Return the position of a valid sfen."""
    board, turn, hands = sfen.split()[:3]
    setup = Setup()
    setup.fill(board)
    setup.turn = turn
    for count, letter in re.findall(r"(\d*)([A-Za-z])", hands):
        setup.hands[letter.islower()][letter.upper()] += int(count or 1)
    return setup


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


def position_lines(sfen: str) -> list[str]:
    """Return the lines of a position, the last one with the side to move."""
    setup = setup_of(sfen)
    lines = ["PI"]
    if sfen.split(maxsplit=1)[0] != START:
        lines = [f"P{y}" + "".join(cell(setup.board.get(f"{x}{y}", "")) for x in range(9, 0, -1)) for y in range(1, 10)]
    for mark, hand in zip("+-", setup.hands, strict=True):
        if hand:
            lines.append(f"P{mark}" + "".join(f"00{NAMES[letter]}" * hand[letter] for letter in FULL_SET))
    return [*lines, "+" if setup.turn == "b" else "-"]


def cell(letter: str) -> str:
    """Return a square's three characters."""
    return f"{'+' if letter.isupper() else '-'}{NAMES[letter.upper()]}" if letter else " * "
