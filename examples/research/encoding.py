"""Boards as planes and moves as actions, both from the view of the side to move, for the environments beside it.

Action: (origin x 81 + target) x 2 + promotion. Origins: the squares 1a, 1b, ... 9i, then drops of P L N S B R G.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from usi_engine import Board

LETTERS = ["P", "L", "N", "S", "B", "R", "G", "K", "+P", "+L", "+N", "+S", "+B", "+R"]
PLANES = 2 * len(LETTERS) + 14  # own pieces, the other side's, own hand by type, the other hand
SHAPE = (PLANES, 9, 9)
ORIGINS = 81 + 7
ACTIONS = ORIGINS * 81 * 2
Planes = NDArray[np.float32]


def planes(board: Board) -> Planes:
    """Return the pieces as planes of 0 and 1, and each hand as planes of its number of pieces divided by 18."""
    out, turn = np.zeros((PLANES, 81), np.float32), board.turn
    for square, letters in board.piece_map().items():
        place = 9 * (int(square[0]) - 1) + "abcdefghi".index(square[1])
        own = letters.isupper() == (turn == 0)
        plane = LETTERS.index(letters.upper()) + (0 if own else len(LETTERS))
        out[plane, 80 - place if turn else place] = 1
    for color in (0, 1):
        for letter, count in board.hand(color).items():
            out[2 * len(LETTERS) + 7 * (color != turn) + LETTERS.index(letter)] = count / 18
    return out.reshape(SHAPE)


def actions_of(moves: NDArray[np.uint16], turn: int) -> NDArray[np.int64]:
    """Return the actions of moves, given as 16 bits, of the side to move."""
    words = moves.astype(np.int64)
    targets, origins = words & 127, words >> 7 & 127
    origins -= origins > 81  # the first drop is 82
    if turn:
        targets, origins = 80 - targets, np.where(origins < 81, 80 - origins, origins)
    return np.asarray((origins * 81 + targets) * 2 + (words >> 14 & 1), np.int64)


def legal_actions(board: Board) -> dict[int, int]:
    """Return the legal moves, as 16 bits, by their actions."""
    moves = board.legal_array()
    return dict(zip(actions_of(moves, board.turn).tolist(), moves.tolist(), strict=True))


def action_mask(board: Board) -> NDArray[np.int8]:
    """Return 1 for each legal action, else 0."""
    mask = np.zeros(ACTIONS, np.int8)
    mask[actions_of(board.legal_array(), board.turn)] = 1
    return mask


def result_of(board: Board, most_moves: int) -> int | None:
    """Return 1 if Black has won, -1 if White has, 0 for a draw, None while the game goes on."""
    outcome = board.outcome("CSARule27", most_moves)
    return None if outcome is None else {0: 1, 1: -1, None: 0}[outcome.winner]
