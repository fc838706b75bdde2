"""Moves as 16 bits: the same moves as the texts, for every method that takes a move; other programs' bits."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core_ext.board import Board, MoveLike
from tests import positions
from usi_engine import Engine, PieceValues, move_from_usi, move_to_usi
from usi_engine.features import from_cshogi, from_yaneuraou, to_cshogi, to_yaneuraou

METHODS: list[Callable[[Board, MoveLike], Any]] = [
    Board.is_legal, Board.gives_check, Board.see, Board.csa, Board.kif, Board.ki2,
    lambda board, move: move in board.legal_moves,
    lambda board, move: move in board.pseudo_legal_moves,
    lambda board, move: board.from_moves([move], board.sfen()).sfen(),
]  # fmt: skip


def test_every_method_takes_the_bits_as_it_takes_the_text() -> None:
    for board in positions.random_boards(5, 60, positions.STARTS):
        for include_all in (False, True):
            words, texts = board.legal_array(include_all), board.legal_moves(include_all)
            assert words.dtype == np.uint16
            assert list(map(move_to_usi, words)) == texts
            assert list(map(move_from_usi, texts)) == words.tolist()
        for word, text in zip(words, texts, strict=True):
            for method in METHODS:
                assert method(board, text) == method(board, int(word)) == method(board, word), (board.sfen(), text)


def test_a_list_of_moves_follows_its_board(board: Board) -> None:
    moves = board.legal_moves
    for move in ("7g7f", 2581, "8h2b+", "pass", 129):
        expected = moves()
        assert list(moves) == expected and len(moves) == len(expected)
        board.push(move)
    assert board.moves() == ["7g7f", "3c3d", "8h2b+", "pass", "pass"]
    assert board.copy().moves() == board.from_moves(board.moves()).moves() == board.moves()
    assert board.pop() == "pass" and board.peek() == "pass"


NO_MOVES: list[MoveLike] = ["", "7g", "7g7f=", "7g7g", "1a1a", "K*5e", "P*5e+", "７g7f", "P*0e", "\udc80g7f"]
NO_MOVES += [0, -1, 1 << 15, 1 << 70, 81, 81 << 7, 89 << 7, 82 << 7 | 1 << 14]


@pytest.mark.parametrize("move", NO_MOVES)
def test_what_is_no_move(board: Board, move: MoveLike) -> None:
    assert move not in board.legal_moves and move not in board.pseudo_legal_moves
    assert not board.is_legal(move)
    for method in (board.push, board.csa, move_to_usi, move_from_usi):
        with pytest.raises(ValueError, match="not a move: "):
            method(move)


def test_illegal_moves_and_other_types(board: Board) -> None:
    with pytest.raises(ValueError, match="illegal move '7738' in 'lnsgkgsnl"):
        board.push(7738)
    for other in (None, 1.5, b"7g7f"):
        assert other not in board.legal_moves
        with pytest.raises(TypeError):
            board.push(other)  # type: ignore[arg-type]


def test_an_engine_searches_the_moves_given_as_bits(board: Board) -> None:
    with Engine(PieceValues({})) as engine:
        found = engine.analyse(board, depth=1, multipv=9, moves=board.legal_array()[:3])
    assert sorted(line.pv[0] for line in found.lines) == sorted(board.legal_moves()[:3])


@pytest.mark.parametrize("seed", range(3))
def test_bits_of_other_programs_are_those_of_cshogi(cshogi: Any, seed: int) -> None:
    for board in positions.random_boards(seed, 100, positions.STARTS):
        twin, words = cshogi.Board(board.sfen()), board.legal_array(include_all=True)
        theirs = {cshogi.move_to_usi(move): move for move in twin.legal_moves}
        for text, word in zip(board.legal_moves(include_all=True), words.tolist(), strict=True):
            assert to_cshogi(word) == cshogi.move16(theirs[text])
            assert to_yaneuraou(word) == cshogi.move16_to_psv(cshogi.move16(theirs[text]))
            assert from_cshogi(theirs[text]) == word
        assert (from_cshogi(to_cshogi(words)) == words).all() and (from_yaneuraou(to_yaneuraou(words)) == words).all()
