"""Leaf counts on which several other engines agree; the large ones are marked slow."""

from typing import Any

import pytest

from core_ext.board import Board
from tests import positions

QUICK = 6_000_000  # leaves


def rows() -> list[Any]:
    found = []
    for name, sfen, depth, nodes, _ in positions.data_rows("perft.tsv"):
        marks = [pytest.mark.slow] * (int(nodes) > QUICK)
        found.append(pytest.param(sfen, int(depth), int(nodes), id=f"{name}-{depth}", marks=marks))
    return found


@pytest.mark.parametrize("sfen, depth, nodes", rows())
def test_known_counts(sfen: str, depth: int, nodes: int) -> None:
    assert Board(sfen).perft(depth) == nodes


def test_the_board_is_unchanged() -> None:
    board = Board(positions.MATSURI)
    board.perft(3)
    assert (board.perft(0), board.sfen(), board.moves()) == (1, positions.MATSURI, [])


@pytest.mark.parametrize("depth", [-1, 65, 2**31])
def test_a_depth_out_of_range_is_refused(depth: int) -> None:
    with pytest.raises(ValueError, match=str(depth)):
        Board().perft(depth)
