"""core_ext.board: errors quote the text, and a refused call leaves the board unchanged."""

from typing import Any

import pytest

from core_ext.board import BLACK, WHITE, Board
from tests import positions
from tests.shogi.slow_shogi import START, Position

SHORT_GAME = ["7g7f", "3c3d", "8h2b+", "3a2b", "B*5e", "2b3c", "5e3c+", "2a3c"]


def test_start(board: Board) -> None:
    assert board.sfen() == START
    assert (board.turn, board.ply, board.moves()) == (BLACK, 1, [])
    assert len(board.legal_moves()) == 30
    assert not board.is_check()
    assert board.checkers() == []
    assert board.checking_moves() == []
    assert board.mate_in_one() is None
    assert board.repetition() == "none"


def test_push_and_pop(board: Board) -> None:
    for move in SHORT_GAME:
        board.push(move)
    assert board.moves() == SHORT_GAME
    assert board.ply == 9
    assert board.turn == BLACK
    assert [board.pop() for _ in SHORT_GAME] == SHORT_GAME[::-1]
    assert board.sfen() == START
    with pytest.raises(IndexError):
        board.pop()


def test_hands(board: Board) -> None:
    for move in SHORT_GAME:
        board.push(move)
    assert board.hand(BLACK) == {"S": 1}
    assert board.hand(WHITE) == {"B": 2}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "7g",
        "7g7",
        "7g7f7e",
        "7g7fx",
        "7g7f++",
        "0g7f",
        "7j7i",
        "77-76",
        "P*",
        "P*5",
        "K*5e",
        "p*5e",
        "+P*5e",
        "P*5e+",
        "X*5e",
        "resign",
        "win",
        "none",
        "7G7F",
        " 7g7f",
        "7g7f ",
        "７g７f",
        "歩",
    ],
)
def test_unreadable_move(board: Board, text: str) -> None:
    refuses(board, text)


@pytest.mark.parametrize(
    "text",
    [
        "7g7e",
        "7g7f+",
        "3c3d",
        "5e5d",
        "P*5e",
        "8h2b+",
        "8h8h",
        "1a1b",
        "5i5g",
        "2h7h+",
        "5i6i",
    ],
)
def test_illegal_move(board: Board, text: str) -> None:
    refuses(board, text)


def refuses(board: Board, text: str) -> None:
    assert not board.is_legal(text)
    for method in (board.push, board.gives_check, board.see):
        with pytest.raises(ValueError) as error:
            method(text)
        assert f"'{text}'" in str(error.value)
    assert board.sfen() == START
    assert board.moves() == []


@pytest.mark.parametrize("text", ["", "5", "5j", "0e", "5e ", "e5", "55", "5E", "５e"])
def test_not_a_square(board: Board, text: str) -> None:
    with pytest.raises(ValueError) as error:
        board.piece_at(text)
    assert f"'{text}'" in str(error.value)


@pytest.mark.parametrize("color", [-1, 2, 7])
def test_not_a_colour(board: Board, color: int) -> None:
    with pytest.raises(ValueError, match=str(color)):
        board.hand(color)
    with pytest.raises(ValueError, match=str(color)):
        board.king_square(color)


@pytest.mark.parametrize("rule", ["", "CSARule", "csarule27", "Try"])
def test_not_a_rule(board: Board, rule: str) -> None:
    for method in (board.can_declare, board.declaration_move):
        with pytest.raises(ValueError) as error:
            method(rule)
        assert f"'{rule}'" in str(error.value)


def test_wrong_types(board: Board) -> None:
    nothing: Any = None
    for method in (board.push, board.set_sfen, board.piece_at, board.is_legal):
        with pytest.raises(TypeError):
            method(nothing)
    with pytest.raises(TypeError):
        Board(nothing)


def test_a_copy_is_independent(board: Board) -> None:
    board.push("7g7f")
    twin = board.copy()
    twin.push("3c3d")
    assert board.moves() == ["7g7f"]
    assert twin.pop() == "3c3d"
    assert twin.pop() == "7g7f"
    assert board.sfen() != twin.sfen() == START


def test_a_copy_remembers_the_game(board: Board) -> None:
    for _ in range(2):
        shuffle_kings(board)
    twin = board.copy()
    shuffle_kings(twin)
    assert twin.repetition() == "draw"
    assert board.repetition() == "none"


def shuffle_kings(board: Board) -> None:
    for move in ("5i5h", "5a5b", "5h5i", "5b5a"):
        board.push(move)


def test_setting_up_forgets_the_game(board: Board) -> None:
    for _ in range(3):
        shuffle_kings(board)
    board.set_sfen(START)
    assert board.moves() == []
    assert board.repetition() == "none"


def test_a_long_game(board: Board) -> None:
    """Many times the plies that a new board allocates."""
    key = board.key
    for _ in range(500):
        shuffle_kings(board)
    assert board.ply == 2001
    assert board.key == key
    assert len(board.moves()) == 2000
    for _ in range(2000):
        board.pop()
    assert board.sfen() == START


def test_key_tells_positions_apart() -> None:
    keys: dict[int, str] = {}
    for position, _ in positions.sampled(21, 14, 50):
        core = position.core()
        key = Board(position.sfen()).key
        assert 0 <= key < 2**64
        assert keys.setdefault(key, core) == core
    assert len(keys) > 400


def test_key_is_independent_of_the_order_of_moves() -> None:
    """The same position by two orders of moves."""
    one, two = Board(), Board()
    for move in ("7g7f", "3c3d", "2g2f", "8c8d"):
        one.push(move)
    for move in ("2g2f", "8c8d", "7g7f", "3c3d"):
        two.push(move)
    assert one.key == two.key
    assert one.copy().key == one.key


def test_key_depends_on_hands_and_side() -> None:
    bare = "4k4/9/9/9/9/9/9/9/4K4 {} {} 1"
    texts = [bare.format(side, hand) for side in "bw" for hand in ("-", "P", "2P", "p", "Pp", "L", "G", "R2b")]
    assert len({Board(text).key for text in texts}) == len(texts)


def test_pieces(board: Board) -> None:
    assert board.piece_at("8h") == "B"
    assert board.piece_at("8b") == "r"
    assert board.piece_at("5e") is None
    assert board.king_square(BLACK) == "5i"
    assert board.king_square(WHITE) == "5a"
    board.set_sfen("3k5/9/9/4+R+b3/9/9/9/9/9 b - 1")
    assert board.piece_at("5d") == "+R"
    assert board.piece_at("4d") == "+b"
    assert board.king_square(BLACK) is None


def test_checkers() -> None:
    board = Board("4k4/9/9/9/9/9/9/4r4/4K4 b 2Gb 1")
    assert board.is_check()
    assert board.checkers() == ["5h"]
    assert set(board.legal_moves()) == set(Position(board.sfen()).legal_moves())


def test_pseudo_legal_moves() -> None:
    """They ignore pins, checks and drop-pawn mates, but not two pawns on a file."""
    board = Board("4k4/9/9/9/9/4r4/9/P3G4/4K4 b P 1")
    found = board.pseudo_legal_moves()
    assert "5h4h" in found and not board.is_legal("5h4h")
    assert "P*9e" not in found and set(filter(board.is_legal, found)) == set(board.legal_moves())
    board.set_sfen("7nk/9/7G1/9/9/9/9/9/4K4 b P 1")
    assert "P*1b" in board.pseudo_legal_moves() and not board.is_legal("P*1b")


def test_quiet_checks() -> None:
    board = Board("4k4/9/4p4/9/9/9/9/4R4/4K4 b RP 1")
    checks, quiet = board.checking_moves(), board.quiet_checks()
    assert "5h5c+" in checks and "R*9a" in quiet
    assert set(checks) - set(quiet) == {"5h5c+"}
    board.set_sfen("4k4/9/3P5/9/9/9/9/9/4K4 b G 1")
    assert set(board.checking_moves()) - set(board.quiet_checks()) == {"6c6b+"}
    board.set_sfen("4k4/4l4/9/9/9/9/9/9/4K4 b G 1")
    assert board.is_check() and board.quiet_checks() == []


def test_dominated_moves_are_legal_but_not_listed() -> None:
    board = Board("k8/9/4P4/9/9/9/9/9/4K4 b - 1")
    assert "5c5b+" in board.legal_moves()
    assert "5c5b" not in board.legal_moves()
    assert "5c5b" in board.legal_moves(include_all=True)
    assert board.is_legal("5c5b")
    board.push("5c5b")
    assert board.pop() == "5c5b"


@pytest.mark.parametrize(
    "sfen, mates",
    [
        ("4k4/9/4P4/9/9/9/9/9/4K4 b G 1", ["G*5b"]),
        ("7nk/9/7G1/9/9/9/9/9/4K4 b P 1", [None]),  # dropping the pawn would be illegal
        (START, [None]),
    ],
)
def test_mate_in_one_examples(sfen: str, mates: list[str | None]) -> None:
    assert Board(sfen).mate_in_one() in mates


def test_mate_in_one_of_the_twin() -> None:
    """Exact in both directions, on random positions of which many contain a mate in one."""
    mates = 0
    for seed in range(8):
        for position, _ in positions.walk(3100 + seed, 40, (positions.HANDS, positions.MIDGAME)[seed % 2]):
            expected = position.mates_in_one()
            found = Board(position.sfen()).mate_in_one()
            assert found in expected if expected else found is None, position.sfen()
            mates += bool(expected)
    assert mates > 15


def test_ascii(board: Board) -> None:
    text = board.ascii()
    assert str(board) == text
    assert text.isascii()
    lines = text.splitlines()
    assert [line.split()[-1] for line in lines[2:11]] == list("abcdefghi")
    assert lines[2].split()[:9] == list("lnsgkgsnl")
    assert lines[10].split()[:9] == list("LNSGKGSNL")


def test_ascii_and_kanji_contain_every_piece() -> None:
    board = Board(positions.MATSURI)
    position = Position(positions.MATSURI)
    letters = [cell for line in board.ascii().splitlines()[2:11] for cell in line.split()[:-1] if cell != "."]
    assert sorted(letters) == sorted(position.board.values())
    kanji = board.kanji()
    assert kanji.count("と") == 1
    assert kanji.count("玉") == 2
    assert "先手の持駒：飛 金" in kanji
    assert "後手の持駒：金2" not in kanji


def test_repr(board: Board) -> None:
    assert eval(repr(board), {"Board": Board}).sfen() == board.sfen()


def test_see_signs(board: Board) -> None:
    board.set_sfen("4k4/9/9/4p4/9/9/4P4/4R4/4K4 b - 1")
    assert board.see("5g5f") == 0
    board.set_sfen("4k4/4g4/9/4p4/9/4R4/9/9/4K4 b - 1")
    assert board.see("5f5d") > 0  # nothing guards the pawn
    board.set_sfen("4k4/9/4g4/4p4/9/4R4/9/9/4K4 b - 1")
    assert board.see("5f5d") < 0  # a rook for a pawn
