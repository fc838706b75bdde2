"""core_ext.board: errors quote the text, and a refused call leaves the board unchanged."""

from collections.abc import Callable
from typing import Any

import pytest

from core_ext.board import BLACK, WHITE, Board
from tests import positions
from tests.shogi.slow_shogi import START, Position

SHORT_GAME = ["7g7f", "3c3d", "8h2b+", "3a2b", "B*5e", "2b3c", "5e3c+", "2a3c"]
SHUFFLE = ["5i5h", "5a5b", "5h5i", "5b5a"]


def test_push_and_pop(board: Board) -> None:
    for move in SHORT_GAME:
        board.push(move)
    assert board.moves() == SHORT_GAME
    assert (board.ply, board.turn) == (9, BLACK)
    assert (board.hand(BLACK), board.hand(WHITE)) == ({"S": 1}, {"B": 2})
    assert [board.pop() for _ in SHORT_GAME] == SHORT_GAME[::-1]
    assert board.sfen() == START
    for method in (board.pop, board.peek):
        with pytest.raises(IndexError):
            method()


UNREADABLE = ["", "7g", "7g7", "7g7f7e", "7g7fx", "7g7f++", "0g7f", "7j7i", "77-76", "P*", "P*5", "K*5e", "p*5e",
              "+P*5e", "P*5e+", "X*5e", "resign", "win", "none", "7G7F", " 7g7f", "7g7f ", "７g７f", "歩"]  # fmt: skip
ILLEGAL = ["7g7e", "7g7f+", "3c3d", "5e5d", "P*5e", "8h2b+", "8h8h", "1a1b", "5i5g", "2h7h+", "5i6i"]


@pytest.mark.parametrize("text", UNREADABLE + ILLEGAL)
def test_other_moves_are_refused(board: Board, text: str) -> None:
    assert not board.is_legal(text)
    for method in (board.push, board.gives_check, board.see):
        with pytest.raises(ValueError) as error:
            method(text)
        assert f"'{text}'" in str(error.value)
    assert board.sfen() == START
    assert board.moves() == []


WRONG: list[tuple[list[Callable[[Board, Any], object]], list[Any]]] = [
    ([Board.piece_at, lambda board, square: board.attackers(BLACK, square)],
     ["", "5", "5j", "0e", "5e ", "e5", "55", "5E", "５e"]),
    ([Board.hand, Board.king_square, lambda board, color: board.attackers(color, "5e")], [-1, 2, 7]),
    ([Board.can_declare, Board.declaration_move, Board.outcome, Board.is_game_over],
     ["", "CSARule", "csarule27", "Try"]),
]  # fmt: skip


@pytest.mark.parametrize(("methods", "arguments"), WRONG, ids=["squares", "colours", "rules"])
def test_other_arguments_are_refused(
    board: Board, methods: list[Callable[[Board, Any], object]], arguments: list[Any]
) -> None:
    for method in methods:
        for argument in arguments:
            with pytest.raises(ValueError) as error:
                method(board, argument)
            assert (f"'{argument}'" if isinstance(argument, str) else str(argument)) in str(error.value)


def test_other_types_are_refused(board: Board) -> None:
    nothing: Any = None
    for method in (board.push, board.set_sfen, board.piece_at, board.is_legal, Board):
        with pytest.raises(TypeError):
            method(nothing)


def test_a_copy_is_independent(board: Board) -> None:
    board.push("7g7f")
    twin = board.copy()
    twin.push("3c3d")
    assert board.moves() == ["7g7f"]
    assert [twin.pop(), twin.pop()] == ["3c3d", "7g7f"]
    assert board.sfen() != twin.sfen() == START


def test_a_copy_remembers_the_game_and_a_new_position_does_not() -> None:
    board = Board.from_moves(SHUFFLE * 2)
    twin = board.copy()
    for move in SHUFFLE:
        twin.push(move)
    assert (twin.repetition(), board.repetition()) == ("draw", "none")
    twin.set_sfen(START)
    assert (twin.moves(), twin.repetition()) == ([], "none")


def test_a_long_game(board: Board) -> None:
    """Many times the plies that a new board allocates."""
    key = board.key
    for move in SHUFFLE * 500:
        board.push(move)
    assert (board.ply, board.key, len(board.moves())) == (2001, key, 2000)
    for _ in range(2000):
        board.pop()
    assert board.sfen() == START


def test_the_key_tells_positions_apart() -> None:
    keys: dict[int, str] = {}
    for scene in positions.all_scenes():
        core, key = scene.position.core(), Board(scene.position.sfen()).key
        assert 0 <= key < 2**64
        assert keys.setdefault(key, core) == core
    assert len(keys) > 400
    bare = "4k4/9/9/9/9/9/9/9/4K4 {} {} 1"
    texts = [bare.format(side, hand) for side in "bw" for hand in ("-", "P", "2P", "p", "Pp", "L", "G", "R2b")]
    assert len({Board(text).key for text in texts}) == len(texts)


def test_pseudo_legal_moves() -> None:
    """They ignore pins, checks and drop-pawn mates, but not two pawns on a file."""
    board = Board("4k4/9/9/9/9/4r4/9/P3G4/4K4 b P 1")
    found = board.pseudo_legal_moves()
    assert "5h4h" in found and not board.is_legal("5h4h")
    assert "P*9e" not in found and set(filter(board.is_legal, found)) == set(board.legal_moves())
    board.set_sfen("7nk/9/7G1/9/9/9/9/9/4K4 b P 1")
    assert "P*1b" in board.pseudo_legal_moves() and not board.is_legal("P*1b")


def test_ascii_and_kanji_contain_every_piece(board: Board) -> None:
    lines = board.ascii().splitlines()
    assert str(board) == board.ascii() and board.ascii().isascii()
    assert eval(repr(board), {"Board": Board}).sfen() == board.sfen()
    assert [line.split()[-1] for line in lines[2:11]] == list("abcdefghi")
    assert [lines[row].split()[:9] for row in (2, 10)] == [list("lnsgkgsnl"), list("LNSGKGSNL")]
    board.set_sfen(positions.MATSURI)
    letters = [cell for line in board.ascii().splitlines()[2:11] for cell in line.split()[:-1] if cell != "."]
    assert sorted(letters) == sorted(Position(positions.MATSURI).board.values())
    kanji = board.kanji()
    assert (kanji.count("と"), kanji.count("玉")) == (1, 2)
    assert "先手の持駒：飛　金　" in kanji and "後手の持駒：金　銀　桂　歩五　" in kanji


@pytest.mark.parametrize(
    ("board", "faults"),
    [
        ("4k4/9/9/9/9/9/P1P6/9/4K4", []),
        ("4k4/2P6/2p6/2+P6/9/2p6/9/9/4K4", ["two pawns on file 7"]),
        ("P3k3l/1N5n1/9/9/9/9/9/1N5n1/L3K3p",
         ["'P' on '9a' can never move", "'N' on '8b' can never move", "'n' on '2h' can never move",
          "'p' on '1i' can never move"]),
    ],
)  # fmt: skip
def test_positions_that_no_game_reaches(board: str, faults: list[str]) -> None:
    found = Board(f"{board} b - 1")
    assert (sorted(found.faults()), found.is_valid()) == (sorted(faults), not faults)
