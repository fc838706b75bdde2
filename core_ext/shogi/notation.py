"""Moves as CSA text (`+7776FU`), from and to USI, and as KIF text (`７六歩(77)`), which shogi.ki2 reads.

Pieces are given by their sfen letters in either case, legal moves in USI.
"""

from __future__ import annotations

import re
from typing import Protocol

CSA_PIECES = {
    "P": "FU", "L": "KY", "N": "KE", "S": "GI", "G": "KI", "B": "KA", "R": "HI", "K": "OU",
    "+P": "TO", "+L": "NY", "+N": "NK", "+S": "NG", "+B": "UM", "+R": "RY",
}  # fmt: skip
CSA_LETTERS = {name: letters for letters, name in CSA_PIECES.items()}
KIF_PIECES = {
    "P": "歩", "L": "香", "N": "桂", "S": "銀", "G": "金", "B": "角", "R": "飛", "K": "玉",
    "+P": "と", "+L": "成香", "+N": "成桂", "+S": "成銀", "+B": "馬", "+R": "龍",
}  # fmt: skip
PASS = "pass"  # the text of a null move
PASSES = (PASS, "0000")  # as engines write it
KIF_PASS = "パス"
CSA_SIGNS = ("+", "-")  # by colour
SIDE_MARKS = ("▲▼☗", "△▽☖")
CSA_MOVE = re.compile("([+-]?)((?:00|[1-9]{2})[1-9]{2}[A-Z]{2})")
RANKS = "abcdefghi"
WIDE_FILES, KANJI_RANKS = "１２３４５６７８９", "一二三四五六七八九"
NARROW = str.maketrans(WIDE_FILES + KANJI_RANKS, "123456789" * 2)

PIECE_OR_GAP = re.compile(r"\+?[A-Za-z]|[1-9]|/")
FLIPPED = str.maketrans("123456789abcdefghi", "987654321ihgfedcba")  # files and ranks count from the other side


class Position(Protocol):
    """The part of Board that notation needs, here because Board imports this module."""

    @property
    def turn(self) -> int: ...
    def peek(self) -> str: ...
    def piece_at(self, square: str) -> str | None: ...
    def attackers(self, color: int, square: str) -> list[str]: ...
    def is_legal(self, move: str) -> bool: ...


def digits(square: str) -> str:
    """Return `77` for `7g`."""
    return square[0] + str(RANKS.index(square[1]) + 1)


def origin_digits(move: str) -> str:
    """Return the digits of a move's origin, `00` for a drop."""
    return "00" if move[1] == "*" else digits(move[:2])


def flip_sfen(sfen: str) -> str:
    """Return the position rotated by half a turn with the colours exchanged; the move number stays."""
    board, side, hands, *number = sfen.split()
    pieces = "".join(reversed(PIECE_OR_GAP.findall(board))).swapcase()
    groups = re.findall(r"\d*[A-Za-z]", hands.swapcase())
    hands = "".join(sorted(groups, key=str.islower)) or "-"  # Black's hand comes first
    return " ".join([pieces, "bw"[side == "b"], hands, *number])


def flip_move(move: str) -> str:
    """Return the move on the flipped board; the piece of a drop is a capital letter for both colours."""
    if move == PASS:
        return move
    piece, star, square = move.partition("*")
    return f"{piece}*{square.translate(FLIPPED)}" if star else move.translate(FLIPPED)


def csa_text(move: str, piece: str, color: int) -> str:
    """Write a move as CSA text."""
    letters = ("+" if move.endswith("+") else "") + piece.upper()
    return CSA_SIGNS[color] + origin_digits(move) + digits(move[2:4]) + CSA_PIECES[letters]


def target_text(square: str, previous: str) -> str:
    """Write the target of a move; `previous` is the square of the last move (written as 同), or empty."""
    place = digits(square)
    return "同　" if square == previous else WIDE_FILES[int(place[0]) - 1] + KANJI_RANKS[int(place[1]) - 1]


def kif_text(move: str, piece: str, previous: str) -> str:
    """Write a move as KIF text; `previous` as for target_text."""
    place = target_text(move[2:4], previous)
    if move[1] == "*":
        return f"{place}{KIF_PIECES[piece.upper()]}打"
    return f"{place}{KIF_PIECES[piece.upper()]}{'成' if move.endswith('+') else ''}({origin_digits(move)})"


def usi_of_csa(text: str, board: Position) -> str:
    """Return the move that `7776FU` means, legal or not; empty if the piece, named as after it, is not there."""
    letter, to = CSA_LETTERS.get(text[4:], ""), text[2] + RANKS[int(text[3]) - 1]
    if text[:2] == "00":
        return f"{letter}*{to}"
    origin = text[0] + RANKS[int(text[1]) - 1]
    moved = (board.piece_at(origin) or "").upper()
    return {moved: origin + to, f"+{moved}": f"{origin}{to}+"}.get(letter, "")


def find_csa(text: str, board: Position) -> str:
    """Return the legal move that a CSA text means, with or without its sign. ValueError quotes the text."""
    match = CSA_MOVE.fullmatch(text)
    if not match:
        raise ValueError(f"not a CSA move: '{text}'")
    move = usi_of_csa(match[2], board)
    if match[1] not in ("", CSA_SIGNS[board.turn]) or not board.is_legal(move):
        raise ValueError(f"illegal move '{text}'")
    return move
