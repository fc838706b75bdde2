"""Positions in 32 bytes, against cshogi, and damaged ones."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core_ext.board import Board
from tests.positions import random_boards
from tests.shogi.slow_shogi import START

# The start, a handicap, and positions with large hands and with few pieces: what no side has is packed too.
STARTS = (
    START,
    "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "4k4/9/9/9/9/9/9/9/4K4 b 2R2B4G4S4N4L18P 1",
    "4k4/9/9/9/9/9/9/9/4K4 w RB3GSNLPrbg2s3n2l16p 1",
    "4k4/9/9/9/9/9/9/9/4K4 b G 1",
)


@pytest.mark.parametrize("count", [500, pytest.param(10_000, marks=pytest.mark.slow)])
def test_positions_are_packed_as_by_cshogi(cshogi: Any, count: int) -> None:
    data = np.zeros(32, np.uint8)
    for board in random_boards(1, count, STARTS, include_all=True):
        other = cshogi.Board(board.sfen())
        other.to_psfen(data)
        assert board.to_psv() == data.tobytes() and Board.from_psv(data) == board
        other.to_hcp(data)
        assert board.to_hcp() == data.tobytes() and Board.from_hcp(data) == board


@pytest.mark.parametrize("read", [Board.from_psv, Board.from_hcp])
def test_damaged_bytes_are_refused_or_a_position(read: Callable[[bytes], Board]) -> None:
    rng, refused = random.Random(2), 0
    for board in random_boards(1, 300, STARTS, include_all=True):
        data = bytearray(board.to_psv() if read == Board.from_psv else board.to_hcp())
        data[rng.randrange(32)] ^= 1 << rng.randrange(8)
        try:
            assert Board((found := read(bytes(data))).sfen()) == found
        except ValueError as error:
            assert data.hex() in str(error)
            refused += 1
    assert 100 < refused < 300
    for faulty in (b"", bytes(31), bytes(33), bytes(32), b"\xff" * 32):
        with pytest.raises(ValueError, match="packed position"):
            read(faulty)


def test_a_position_without_a_king_is_not_packed() -> None:
    board = Board("4k4/9/9/9/9/9/9/9/9 b P 1")
    for pack in (board.to_psv, board.to_hcp):
        with pytest.raises(ValueError, match="a king is missing in '4k4/"):
            pack()
