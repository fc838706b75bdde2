"""The slow twin against known counts and cshogi; the core against both, on random games; symmetry."""

from typing import Any

import pytest

from core_ext.board import Board
from tests import positions
from tests.positions import flipped, flipped_move, flipped_square
from tests.shogi.slow_shogi import Position, name, to_square

RULES_OF_CSHOGI = {"CSARule24": "LAW_24", "CSARule27": "LAW_27"}


def test_known_perft_counts() -> None:
    rows = positions.data_rows("perft.tsv")
    small = [(sfen, int(depth), int(nodes)) for _, sfen, depth, nodes, _ in rows if int(nodes) < 3000]
    assert len(small) > 40
    for sfen, depth, nodes in small:
        assert Position(sfen).perft(depth) == nodes, sfen


def gives_check(board: Any, move: int) -> bool:
    board.push(move)
    answer = bool(board.is_check())
    board.pop()
    return answer


@pytest.mark.parametrize("rule", RULES_OF_CSHOGI)
def test_declarations_are_those_of_cshogi(cshogi: Any, rule: str) -> None:
    seen = set()
    for position in map(Position, positions.entered()):
        board = cshogi.Board(position.sfen())
        expected = board.is_nyugyoku(getattr(cshogi, RULES_OF_CSHOGI[rule]))
        assert (position.declaration_move(rule) == "win") == bool(expected), position.sfen()
        seen.add(bool(expected))
    assert seen == {True, False}


def test_repetitions_are_those_of_cshogi(cshogi: Any) -> None:
    names = {cshogi.REPETITION_DRAW: "draw", cshogi.REPETITION_WIN: "win", cshogi.REPETITION_LOSE: "lose"}
    seen = set()
    for seed in range(36):
        game, moves = positions.cycling_game(seed)
        board = cshogi.Board(game.positions[0].sfen())
        for move in moves:
            board.push_usi(move)
        verdict = game.repetition()
        seen.add(verdict)
        if verdict != "none":
            assert names.get(board.is_draw(), "none") == verdict, game.now.sfen()
    assert {"draw", "win"} <= seen or {"draw", "lose"} <= seen


# ---- the core ----


@pytest.mark.parametrize("seed", positions.SEEDS)
def test_pieces_and_checkers_are_those_of_the_twin(seed: int) -> None:
    for position, *_ in positions.scenes(seed):
        board = Board(position.sfen())
        assert board.is_check() == position.is_check()
        assert sorted(board.checkers()) == sorted(map(name, position.checkers()))
        for color, letter in enumerate("bw"):
            assert board.hand(color) == dict(+position.hands[letter])
            king = position.king(letter)
            assert board.king_square(color) == (king and name(king))
        for square in positions.ALL_SQUARES:
            assert board.piece_at(name(square)) == position.board.get(square)
        assert board.piece_map() == {name(square): piece for square, piece in position.board.items()}


def test_attackers_are_those_of_the_twin() -> None:
    for position, *_ in positions.all_scenes(10):
        board = Board(position.sfen())
        for square in ("5e", "1a", "9i", "5b", "8h", "3c"):
            for color, side in enumerate("bw"):
                expected = sorted(name(found) for found in position.attackers(to_square(square), side))
                assert sorted(board.attackers(color, square)) == expected, (position.sfen(), square, side)


@pytest.mark.parametrize("seed", range(10))
def test_moves_and_checks_are_those_of_cshogi(cshogi: Any, seed: int) -> None:
    in_check = 0
    for board in positions.random_boards(100 + seed, 1500, positions.STARTS, checks=0.25, include_all=True):
        twin = cshogi.Board(board.sfen())
        legal = {cshogi.move_to_usi(move): move for move in twin.legal_moves}
        assert set(board.legal_moves(include_all=True)) == set(legal), board.sfen()
        checks = {text for text, move in legal.items() if gives_check(twin, move)}
        assert set(board.checking_moves(include_all=True)) == checks, board.sfen()
        in_check += board.is_check()
    assert in_check > 100


@pytest.mark.parametrize("seed", positions.SEEDS)
def test_moves_of_the_flipped_board_are_the_flipped_moves(seed: int) -> None:
    for position, moves, *_ in positions.scenes(seed)[::3]:
        board, twin = Board(position.sfen()), Board(flipped(position.sfen()))
        assert twin.turn == 1 - board.turn
        for include_all in (False, True):
            assert set(twin.legal_moves(include_all)) == set(map(flipped_move, board.legal_moves(include_all)))
        assert set(twin.checking_moves()) == set(map(flipped_move, board.checking_moves()))
        assert sorted(twin.checkers()) == sorted(map(flipped_square, board.checkers()))
        assert twin.hand(0) == board.hand(1)
        for move in moves:
            assert board.see(move) == twin.see(flipped_move(move)), (position.sfen(), move)
