"""Leaf counts on which several other engines agree; the large ones are marked slow."""

import pytest

from core_ext.board import Board
from tests import positions

QUICK = 6_000_000  # leaves
KNOWN = [(1, 30), (2, 900), (3, 25470), (4, 719731), (5, 19861490)]


def rows():
    return [
        pytest.param(
            sfen, int(depth), int(nodes), id=f"{name}-{depth}", marks=[pytest.mark.slow] * (int(nodes) > QUICK)
        )
        for name, sfen, depth, nodes, _ in positions.data_rows("perft.tsv")
    ]


@pytest.mark.parametrize("sfen, depth, nodes", rows())
def test_counts(sfen, depth, nodes):
    assert Board(sfen).perft(depth) == nodes


@pytest.mark.parametrize("depth, nodes", KNOWN)
def test_start(depth, nodes):
    assert Board().perft(depth) == nodes


def test_depth_zero_is_one_leaf():
    assert Board().perft(0) == 1


def test_board_is_as_before():
    board = Board(positions.MATSURI)
    board.perft(3)
    assert board.sfen() == positions.MATSURI
    assert board.moves() == []


@pytest.mark.parametrize("depth", [-1, 65, 10**6])
def test_senseless_depth(depth):
    with pytest.raises(ValueError, match=str(depth)):
        Board().perft(depth)
