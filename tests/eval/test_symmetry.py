"""The board turned round with the colours swapped: everything mirrors."""

from __future__ import annotations

import pytest

from core_ext.board import Board
from tests import positions
from tests.shogi.slow_shogi import START


@pytest.mark.parametrize("seed", range(7))
def test_turned_round(seed: int) -> None:
    for position, _ in positions.walk(seed + 500, 50, positions.STARTS[seed]):
        board, turned = Board(position.sfen()), Board(positions.turned_sfen(position.sfen()))
        assert turned.turn == 1 - board.turn
        for include_all in (False, True):
            mirrored = {positions.turned_move(move) for move in board.legal_moves(include_all)}
            assert set(turned.legal_moves(include_all)) == mirrored
        assert set(turned.checking_moves()) == {positions.turned_move(move) for move in board.checking_moves()}
        assert sorted(turned.checkers()) == sorted(map(positions.turned_square, board.checkers()))
        assert turned.hand(0) == board.hand(1)


@pytest.mark.parametrize("start", sorted(set(positions.STARTS)))
def test_static_exchange_mirrors(start: str) -> None:
    for position, moves in positions.walk(600, 15, start):
        board, turned = Board(position.sfen()), Board(positions.turned_sfen(position.sfen()))
        for move in moves:
            assert board.see(move) == turned.see(positions.turned_move(move)), (position.sfen(), move)


def test_perft_mirrors() -> None:
    for sfen in (START, positions.MATSURI, positions.ENTERED, positions.MIDGAME):
        assert Board(sfen).perft(2) == Board(positions.turned_sfen(sfen)).perft(2)


def test_turning_twice() -> None:
    for sfen in positions.STARTS:
        assert positions.turned_sfen(positions.turned_sfen(sfen)) == sfen
