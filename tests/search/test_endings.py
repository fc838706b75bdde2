"""Repetition, judged by the whole game, and declaration by every rule."""

import random
from functools import cache

import pytest

from core_ext.board import Board
from core_ext.engine import INFINITE, MATE, StopToken, Table, Worker
from tests import positions
from tests.shogi.slow_shogi import START, Game, Position

RULES = ("NoEnteringKing", "CSARule24", "CSARule24H", "CSARule27", "CSARule27H", "TryRule")


def play(board: Board, *moves: str) -> Board:
    for move in moves:
        board.push(move)
    return board


# ---- repetition ----


SHUFFLE = ("5i5h", "5a5b", "5h5i", "5b5a")


def test_the_fourth_time_is_a_draw_and_not_the_third() -> None:
    board = Board()
    for _ in range(3):
        assert board.repetition() == "none"
        play(board, *SHUFFLE)
    assert board.repetition() == "draw"
    assert board.pop() == "5b5a"
    assert board.repetition() == "none"
    assert play(board, "5b5a").repetition() == "draw"


def test_the_side_to_move_matters() -> None:
    board = Board("4k4/9/9/9/9/9/9/9/4K4 b - 1")
    once_with_black = ("5i5h", "5a5b", "5h5i", "5b6a", "5i5h", "6a5a", "5h5i")
    with_white = ("5a5b", "5i5h", "5b5a", "5h5i")
    play(board, *once_with_black, *with_white, *with_white)
    assert board.repetition() == twin_of(board).repetition() == "none"
    play(board, *with_white)
    assert board.repetition() == twin_of(board).repetition() == "draw"


def twin_of(board: Board) -> Game:
    """The twin's game with the same moves."""
    back, moves = board.copy(), board.moves()
    for _ in moves:
        back.pop()
    game = Game(back.sfen())
    for move in moves:
        game.push(move)
    return game


def test_the_hands_matter() -> None:
    board = Board("k8/9/9/4p4/9/9/9/4R4/3K5 b - 1")
    play(board, "5h5g", "9a8a", "5g5h", "8a9a")  # twice, with the pawn on the board
    play(board, "5h5d", "9a8a", "5d5h", "8a9a")  # in hand from here on
    for _ in range(2):
        play(board, "5h5g", "9a8a", "5g5h", "8a9a")
        assert board.repetition() == "none"
    play(board, "5h5g", "9a8a", "5g5h", "8a9a")
    assert board.repetition() == "draw"


def test_perpetual_check_loses_for_the_checker() -> None:
    board = play(Board("4k4/9/9/9/9/9/9/4R4/K8 w - 1"), "5a6a")
    for _ in range(3):
        play(board, "5h6h", "6a5a", "6h5h", "5a6a")
    assert board.repetition() == "lose"
    play(board, "5h6h")
    assert board.repetition() == "win"


def test_one_quiet_move_in_the_cycle_makes_it_a_draw() -> None:
    board = play(Board("4k4/9/9/9/9/9/9/4R4/K8 w - 1"), "5a6a")
    for cycle in range(3):
        if cycle == 1:
            play(board, "5h5i", "6a7a", "5i5h", "7a6a")
        play(board, "5h6h", "6a5a", "6h5h", "5a6a")
    assert board.repetition() == twin_of(board).repetition() == "draw"


def test_long_cycles_count() -> None:
    """A cycle of 64 plies: longer than any window of recent moves."""
    board = Board("k8/9/9/9/9/9/9/9/8K b - 1")
    away = [f"{file}i{file + 1}i" for file in range(1, 9)] + ["9i9h"]
    tour = away + [f"{file}h{file - 1}h" for file in range(9, 1, -1)] + ["1h1i"]
    for _ in range(3):
        assert board.repetition() == "none"
        for move in tour:
            play(board, move, "9a8a" if board.king_square(1) == "9a" else "8a9a")
    assert board.repetition() == "draw"


@pytest.mark.parametrize("seed", range(36))
def test_repetition_is_that_of_the_twin(seed: int) -> None:
    game, moves = positions.cycling_game(seed)
    start = game.positions[0].sfen()
    board, twin = Board(start), Game(start)
    for move in moves:
        board.push(move)
        twin.push(move)
        assert board.repetition() == twin.repetition(), board.moves()


# ---- declaration ----


@cache
def entered() -> list[str]:
    """Positions that can just be declared or just not: an entered king, helpers of every kind, handicaps too."""
    rng, found = random.Random(7), list[str]()
    for _ in range(700):
        position = Position("9/9/9/9/9/9/9/9/9 b - 1")
        inside = [(file, rank) for file in range(1, 10) for rank in range(1, 4)]
        position.board[rng.choice(inside) if rng.random() < 0.85 else (5, 4)] = "K"
        position.board[rng.randint(1, 9), rng.choice((8, 9))] = "k"
        pool = list("RBGGGSSNL") + ["+P"] * 7 + ["+B", "+S", "+N"]
        for piece in rng.sample(pool, rng.randint(10, 19)):
            square = rng.choice(inside) if rng.random() < 0.9 else (rng.randint(1, 9), rng.randint(4, 7))
            if square not in position.board and not (piece in "NL" and square[1] < 3):
                position.board[square] = piece
        position.hands["b"].update({"P": rng.randint(0, 5), "G": rng.randint(0, 1), "R": rng.randint(0, 1)})
        position.hands["w"].update({"P": rng.choice((0, 2, 6)), "S": rng.choice((0, 1)), "L": rng.choice((0, 2))})
        if position.checkers("w"):
            continue
        found.append(position.sfen() if rng.random() < 0.4 else positions.flipped(position.sfen()))
    return found


@pytest.mark.parametrize("rule", RULES)
def test_declaration_is_that_of_the_twin(rule: str) -> None:
    seen: dict[str | None, int] = {"win": 0, None: 0}
    for sfen in entered():
        expected = Position(sfen).declaration_move(rule)
        board = Board(sfen)
        assert board.declaration_move(rule) == expected, sfen
        assert board.can_declare(rule) == (expected is not None)
        seen[expected] = seen.get(expected, 0) + 1
    assert seen[None] > 20
    assert rule == "NoEnteringKing" or sum(seen.values()) - seen[None] > 20


# 10 pieces, 28 points with the hand; one pawn of the hand less is a point too few for Black.
# 10 pieces, 18 points and those of the hand.
INSIDE = "1+R+B1K4/GGGG5/+P+P+P+P5/9/9/9/9/9/4k4 b {} 1"


@pytest.mark.parametrize(
    "hand, rule, black, white",
    [
        ("RB", "CSARule27", True, True),  # 28
        ("R3P", "CSARule27", False, False),  # 26
        ("R4P", "CSARule27", False, True),  # White needs one less
        ("R5P", "CSARule27", True, True),
        ("R4P", "CSARule24", False, False),
        ("RB2P", "CSARule24", False, False),  # 30
        ("RB3P", "CSARule24", True, True),  # 31
        ("RB3P", "NoEnteringKing", False, False),
        ("P", "CSARule27", False, False),
        ("P", "CSARule27H", False, True),  # the pieces that are missing from the set count for White
        ("P", "CSARule24H", False, True),
    ],
)
def test_points(hand: str, rule: str, black: bool, white: bool) -> None:
    sfen = INSIDE.format(hand)
    assert (Board(sfen).can_declare(rule), Board(positions.flipped(sfen)).can_declare(rule)) == (black, white)


def test_no_declaration_in_check_outside_the_zone_or_with_nine_pieces() -> None:
    assert not Board(INSIDE.replace("GGGG5", "GGGG1s3").format("RB")).can_declare()
    assert not Board("1+R+B6/GGGG5/+P+P+P+P5/4K4/9/9/9/9/k8 b RB 1").can_declare()
    assert not Board("1+R+B1K4/GGGG5/+P+P+P6/9/9/9/9/9/4k4 b RB2P 1").can_declare()


def test_a_try_named_by_searchmoves_wins() -> None:
    for sfen, move in (("9/4K4/9/9/9/9/9/9/k8 b - 1", "5b5a"), ("8K/9/9/9/9/9/9/4k4/9 w - 1", "5h5i")):
        worker = Worker(Table(1), StopToken())
        for rule, value in (("TryRule", MATE - 1), ("CSARule27", 0)):
            worker.configure(declaration=rule)
            worker.set_root(Board(sfen), [move])
            found = worker.search(2, -INFINITE, INFINITE)
            assert found == value if value else abs(found) < MATE // 2


@pytest.mark.parametrize(
    "sfen, move",
    [
        ("9/4K4/9/9/9/9/9/9/k8 b - 1", "5b5a"),
        ("9/3K5/9/9/9/9/9/9/k8 b - 1", "6b5a"),
        ("4+p4/4K4/9/9/9/9/9/9/k8 b - 1", "5b5a"),  # it may capture
        ("4G4/4K4/9/9/9/9/9/9/k8 b - 1", None),
        ("3g5/4K4/9/9/9/9/9/9/k8 b - 1", None),
        ("9/4K4/9/9/4r4/9/9/9/k8 b - 1", None),  # the rook would attack through the king
        ("9/9/4K4/9/9/9/9/9/k8 b - 1", None),
        (START, None),
    ],
)
def test_try(sfen: str, move: str | None) -> None:
    assert Board(sfen).declaration_move("TryRule") == move
    twin = Board(positions.flipped(sfen))
    assert twin.declaration_move("TryRule") == (move and positions.flipped_move(move))
