"""Bonapiece numbering against the rule written out by hand."""

from __future__ import annotations

from core_ext._probe import bonapiece_tables, bonapieces
from core_ext.board import Board
from tests.positions import random_boards

# First number of each hand range and of each kind on the board, Black then White, as published for Bonanza's features.
HANDS = {"P": (0, 19), "L": (38, 43), "N": (48, 53), "S": (58, 63), "G": (68, 73), "B": (78, 81), "R": (84, 87)}
KINDS = ["P", "L", "N", "S", "G", "B", "+B", "R", "+R"]
GOLDS = {"+P": "G", "+L": "G", "+N": "G", "+S": "G"}


def number_on_board(letters: str, square: int) -> int:
    kind = letters.upper()
    place = KINDS.index(GOLDS.get(kind, kind))
    return 90 + 81 * (2 * place + letters.islower()) + square


def numbers_by_hand(board: Board) -> list[int]:
    found = [number_on_board(letters, 9 * int(square[0]) + "abcdefghi".index(square[1]) - 9)
             for square, letters in board.piece_map().items() if letters.upper() != "K"]  # fmt: skip
    for color in (0, 1):
        for letters, held in board.hand(color).items():
            found += [HANDS[letters.upper()][color] + n for n in range(1, held + 1)]
    return sorted(found)


def test_numbers_are_those_of_bonanza() -> None:
    one_kind, one_king = Board("4k4/9/9/9/9/9/9/9/4K4 b 18p 1"), Board("4k4/9/9/9/9/9/9/9/9 b R 1")
    for board in [one_kind, one_king, *map(Board.copy, random_boards(1, 300))]:
        assert sorted(bonapieces(board.sfen())[0]) == numbers_by_hand(board)


def test_inverse_and_mirror_undo_themselves_and_commute() -> None:
    inverse, mirror = bonapiece_tables()
    for number in range(1548):
        assert inverse[inverse[number]] == number
        assert mirror[mirror[number]] == number
        assert inverse[mirror[number]] == mirror[inverse[number]]
