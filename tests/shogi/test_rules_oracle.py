"""The core against the slow twin, and against cshogi where it is installed, on seeded random games."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from core_ext.board import Board
from tests import positions
from tests.shogi.slow_shogi import Position

CASES = [(positions.STARTS[seed % len(positions.STARTS)], seed) for seed in range(14)]


@pytest.mark.parametrize("start, seed", CASES)
def test_moves_of_the_twin(start: str, seed: int) -> None:
    for position, moves in positions.walk(seed, 50, start):
        board = Board(position.sfen())
        assert sorted(board.legal_moves(include_all=True)) == sorted(moves), position.sfen()
        undominated = [move for move in moves if not position.is_dominated(move)]
        assert sorted(board.legal_moves()) == sorted(undominated), position.sfen()


@pytest.mark.parametrize("start, seed", CASES)
def test_checks_of_the_twin(start: str, seed: int) -> None:
    for position, moves in positions.walk(seed + 100, 25, start):
        board = Board(position.sfen())
        checking = {move for move in moves if position.gives_check(move)}
        assert set(board.checking_moves(include_all=True)) == checking, position.sfen()
        undominated = {move for move in checking if not position.is_dominated(move)}
        assert set(board.checking_moves()) == undominated, position.sfen()
        assert {move for move in moves if board.gives_check(move)} == checking, position.sfen()


@pytest.mark.parametrize("start, seed", CASES)
def test_pieces_and_checkers_of_the_twin(start: str, seed: int) -> None:
    for position, _ in positions.walk(seed + 200, 40, start):
        board = Board(position.sfen())
        assert board.is_check() == position.is_check()
        assert sorted(board.checkers()) == sorted(positions.square_name(square) for square in position.checkers())
        for color, letter in enumerate("bw"):
            assert board.hand(color) == positions.hand_dict(position, letter)
            king = position.king(letter)
            assert board.king_square(color) == (king and positions.square_name(king))
        for square in positions.ALL_SQUARES:
            assert board.piece_at(positions.square_name(square)) == position.board.get(square)


@pytest.mark.parametrize("start, seed", CASES)
def test_playing_a_game_through(start: str, seed: int) -> None:
    """push and pop, with the sfen and the key after each move the same as those of a board set up afresh."""
    board, played = Board(start), []
    for position, move in positions.random_game(seed + 300, 60, start):
        assert board.sfen() == position.sfen()
        assert board.key == Board(position.sfen()).key
        played.append((position.sfen(), move))
        board.push(move)
    for sfen, move in reversed(played):
        assert board.pop() == move
        assert board.sfen() == sfen


@pytest.mark.parametrize("start, seed", CASES)
def test_no_other_text_is_legal(start: str, seed: int) -> None:
    """Every well-formed move text is legal exactly when the twin lists it."""
    for position, moves in positions.walk(seed + 400, 6, start):
        board, legal = Board(position.sfen()), set(moves)
        assert {move for move in positions.every_move_text() if board.is_legal(move)} == legal, position.sfen()


def random_positions(count: int, seed: int) -> Iterator[Board]:
    """Boards of seeded random games, both colours and many in check; games end at 200 plies or without a move."""
    rng = random.Random(seed)
    board = Board()
    for number in range(count):
        moves = board.legal_moves(include_all=True)
        if not moves or len(board.moves()) > 200:
            board = Board(positions.STARTS[number % len(positions.STARTS)])
            moves = board.legal_moves(include_all=True)
        yield board
        checking = board.checking_moves() if rng.random() < 0.25 else []
        board.push(rng.choice(checking or moves))


def compare_with_cshogi(cshogi: Any, count: int, seed: int) -> int:
    in_check = 0
    for board in random_positions(count, seed):
        twin = cshogi.Board(board.sfen())
        legal = {cshogi.move_to_usi(move): move for move in twin.legal_moves}
        assert set(board.legal_moves(include_all=True)) == set(legal), board.sfen()
        slow = Position(board.sfen())
        assert set(board.legal_moves()) == {move for move in legal if not slow.is_dominated(move)}, board.sfen()
        checking = {text for text, move in legal.items() if checks(twin, move)}
        assert set(board.checking_moves(include_all=True)) == checking, board.sfen()
        in_check += board.is_check()
    return in_check


def checks(twin: Any, move: int) -> bool:
    twin.push(move)
    answer = bool(twin.is_check())
    twin.pop()
    return answer


@pytest.mark.parametrize("seed", range(10))
def test_moves_of_cshogi(cshogi: Any, seed: int) -> None:
    """20,000 positions in all."""
    assert compare_with_cshogi(cshogi, 2000, seed=100 + seed) > 100
