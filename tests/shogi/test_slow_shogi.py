"""The rulebook twin itself, against counts agreed by other engines and against cshogi where it is installed."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from tests import positions
from tests.shogi.slow_shogi import START, Game, Position

RULES_OF_CSHOGI = {"CSARule24": "LAW_24", "CSARule27": "LAW_27"}


@pytest.mark.parametrize("depth, nodes", [(1, 30), (2, 900), (3, 25470)])
def test_perft_of_the_start(depth: int, nodes: int) -> None:
    assert Position().perft(depth) == nodes


def test_perft_rows() -> None:
    rows = positions.data_rows("perft.tsv")
    small = [(sfen, int(depth), int(nodes)) for _, sfen, depth, nodes, _ in rows if int(nodes) < 3000]
    assert len(small) > 90
    for sfen, depth, nodes in small:
        assert Position(sfen).perft(depth) == nodes, sfen


def test_sfen_comes_back() -> None:
    for position, _ in positions.sampled(1, 7, 40):
        assert Position(position.sfen()).sfen() == position.sfen()


def test_same_moves_as_cshogi(cshogi: Any) -> None:
    for position, moves in positions.sampled(2, 14, 60):
        board = cshogi.Board(position.sfen())
        assert sorted(moves) == sorted(map(cshogi.move_to_usi, board.legal_moves)), position.sfen()
        assert position.is_check() == board.is_check()


def test_same_checking_moves_as_cshogi(cshogi: Any) -> None:
    for position, moves in positions.sampled(3, 7, 40):
        board = cshogi.Board(position.sfen())
        theirs = {cshogi.move_to_usi(move) for move in board.legal_moves if checks(board, move)}
        assert {move for move in moves if position.gives_check(move)} == theirs, position.sfen()


def checks(board: Any, move: int) -> bool:
    board.push(move)
    answer = bool(board.is_check())
    board.pop()
    return answer


@pytest.mark.parametrize("rule", RULES_OF_CSHOGI)
def test_same_declarations_as_cshogi(cshogi: Any, rule: str) -> None:
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
        yield position if rng.random() < 0.5 else Position(positions.turned_sfen(position.sfen()))


def test_fourth_time_is_a_draw() -> None:
    game = Game()
    for cycle in range(3):
        assert game.repetition() == "none", cycle
        for move in ("5i5h", "5a5b", "5h5i", "5b5a"):
            game.push(move)
    assert game.repetition() == "draw"


def test_perpetual_check_loses() -> None:
    game = Game("4k4/9/9/9/9/9/9/4R4/K8 w - 1")
    game.push("5a6a")
    for _ in range(3):
        for move in ("5h6h", "6a5a", "6h5h", "5a6a"):
            game.push(move)
    assert game.repetition() == "lose"


def test_repetition_as_cshogi(cshogi: Any) -> None:
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


def test_try_rule() -> None:
    assert Position("9/4K4/9/9/9/9/9/9/k8 b - 1").declaration_move("TryRule") == "5b5a"
    assert Position("3g5/4K4/9/9/9/9/9/9/k8 b - 1").declaration_move("TryRule") is None
    assert Position(positions.turned_sfen("9/4K4/9/9/9/9/9/9/k8 b - 1")).declaration_move("TryRule") == "5h5i"
    assert Position(START).declaration_move("TryRule") is None


def test_handicap_counts_for_white() -> None:
    """27 points less the ten of the rook and bishop that White gave."""
    position = Position(positions.TWO_PIECE_HANDICAP)
    assert [position.required_points(rule) for rule in ("CSARule27", "CSARule27H", "CSARule24H")] == [27, 17, 21]
    position.turn = "b"
    assert [position.required_points(rule) for rule in ("CSARule27", "CSARule27H", "CSARule24H")] == [28, 28, 31]


def test_mates_in_one() -> None:
    assert Position("4k4/9/4P4/9/9/9/9/9/4K4 b G 1").mates_in_one() == ["G*5b"]
    assert Position("7nk/7gl/8P/9/9/9/9/9/4K4 b P 1").mates_in_one() == []


MATED_BY_PAWN = "7nk/9/7G1/9/9/9/9/9/4K4 b P 1"


def test_pawn_drop_mate_is_illegal() -> None:
    moves = Position(MATED_BY_PAWN).legal_moves()
    assert "P*1b" not in moves
    assert "P*1d" in moves


@pytest.mark.parametrize(
    "sfen",
    [
        "8k/9/7G1/9/9/9/9/9/4K4 b P 1",  # the king steps to 2a
        "6gnk/9/9/9/9/9/9/8L/4K4 b P 1",  # the king steps to 2b
        "6rnk/9/7G1/9/9/9/9/9/4K4 b P 1".replace("6rnk/9", "7nk/6r2"),  # the rook takes
    ],
)
def test_pawn_drop_check_is_legal(sfen: str) -> None:
    assert "P*1b" in Position(sfen).checking_moves()
