"""The rulebook twin itself, against counts agreed by other engines and against cshogi if it is installed."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from tests import positions
from tests.shogi.slow_shogi import Position

RULES_OF_CSHOGI = {"CSARule24": "LAW_24", "CSARule27": "LAW_27"}


def test_known_perft_counts() -> None:
    rows = positions.data_rows("perft.tsv")
    small = [(sfen, int(depth), int(nodes)) for _, sfen, depth, nodes, _ in rows if int(nodes) < 3000]
    assert len(small) > 90
    for sfen, depth, nodes in small:
        assert Position(sfen).perft(depth) == nodes, sfen


@pytest.mark.parametrize("seed", positions.SEEDS)
def test_moves_and_checks_are_those_of_cshogi(cshogi: Any, seed: int) -> None:
    for position, moves, checks, _ in positions.scenes(seed):
        assert Position(position.sfen()).sfen() == position.sfen()
        board = cshogi.Board(position.sfen())
        assert sorted(moves) == sorted(map(cshogi.move_to_usi, board.legal_moves)), position.sfen()
        assert checks == {cshogi.move_to_usi(move) for move in board.legal_moves if gives_check(board, move)}
        assert position.is_check() == board.is_check()


def gives_check(board: Any, move: int) -> bool:
    board.push(move)
    answer = bool(board.is_check())
    board.pop()
    return answer


@pytest.mark.parametrize("rule", RULES_OF_CSHOGI)
def test_declarations_are_those_of_cshogi(cshogi: Any, rule: str) -> None:
    seen = set()
    for position in entered_positions():
        board = cshogi.Board(position.sfen())
        expected = board.is_nyugyoku(getattr(cshogi, RULES_OF_CSHOGI[rule]))
        assert (position.declaration_move(rule) == "win") == bool(expected), position.sfen()
        seen.add(bool(expected))
    assert seen == {True, False}


def entered_positions() -> Iterator[Position]:
    """Entered kings with random helpers inside and in hand, about the points that a declaration needs."""
    rng = random.Random(5)
    for _ in range(300):
        position = Position("9/9/9/9/9/9/9/9/9 b - 1")
        position.board[rng.randint(1, 9), rng.randint(1, 4)] = "K"
        position.board[rng.randint(1, 9), 9] = "k"
        free = [(file, rank) for file in range(1, 10) for rank in range(1, 4) if (file, rank) not in position.board]
        for square, piece in zip(rng.sample(free, 12), ["+R", "+B", "+B", *["G"] * 4, *["+P"] * 5], strict=True):
            if rng.random() < 0.93:
                position.board[square] = piece
        position.hands["b"].update({"R": 1, "P": rng.randint(0, 4)})
        position.hands["w"].update({"P": 8})
        yield position if rng.random() < 0.5 else Position(positions.flipped(position.sfen()))


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
