"""core_ext.board: moves, texts, refusals that change nothing; by python-chess's names: ends, copies, pickles."""

import copy
import itertools
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from rsshogi.record import Record

from core_ext.board import BLACK, WHITE, Board, Outcome, Termination
from tests import positions
from tests.positions import DECLARABLE, MATED
from tests.programs import output_of
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


def test_a_copy_or_pickle_remembers_the_game_and_a_new_position_does_not() -> None:
    board = Board.from_moves(SHUFFLE * 2)
    pickles = [pickle.dumps(board, protocol) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    for twin in (board.copy(), copy.deepcopy(board), *map(pickle.loads, pickles)):
        assert (twin, twin.moves(), twin.sfen()) == (board, SHUFFLE * 2, board.sfen())
        for move in SHUFFLE:
            twin.push(move)
        assert (twin.repetition(), board.repetition()) == ("draw", "none")
        assert [twin.pop() for _ in SHUFFLE * 3] == (SHUFFLE * 3)[::-1]
        twin.set_sfen(START)
        assert (twin.moves(), twin.repetition(), board.moves()) == ([], "none", SHUFFLE * 2)


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


NO_MOVES = "8k/6K2/7G1/9/9/9/9/9/9 w - 1"


# ---- the end of a game ----


@pytest.mark.parametrize(
    ("sfen", "termination", "checkmate"),
    [(MATED, Termination.CHECKMATE, True), (NO_MOVES, Termination.NO_MOVES, False)],
)
def test_without_a_move_the_side_to_move_has_lost(sfen: str, termination: Termination, checkmate: bool) -> None:
    board = Board(sfen)
    assert board.outcome() == Outcome(termination, BLACK)
    assert (board.is_game_over(), board.is_checkmate()) == (True, checkmate)


def test_outcomes_of_random_games() -> None:
    """By the rulebook twin: the game is over if and only if there is no move."""
    ended = 0
    for seed, start in ((1, positions.HANDS), (8, positions.MIDGAME)):
        for position, moves, *_ in positions.walk(seed, 30, start):
            board = Board(position.sfen())
            expected = None
            if not moves:
                kind = Termination.CHECKMATE if position.is_check() else Termination.NO_MOVES
                expected = Outcome(kind, 1 - board.turn)
            assert board.outcome() == expected
            assert board.is_checkmate() == (expected is not None and expected.termination is Termination.CHECKMATE)
            ended += expected is not None
    assert ended == 2


def test_perpetual_check_loses_as_by_the_twin() -> None:
    kinds = set()
    for seed in (0, 3, 10, 21):
        game, played = positions.cycling_game(seed)
        kind = game.repetition()
        kinds.add(kind)
        board = Board.from_moves(played, game.positions[0].sfen())
        winner = {"draw": None, "win": board.turn, "lose": 1 - board.turn}[kind]
        expected = Termination.REPETITION if kind == "draw" else Termination.PERPETUAL_CHECK
        assert board.outcome() == Outcome(expected, winner)
    assert kinds == {"draw", "win", "lose"}


def test_a_declaration_counts_only_if_a_rule_is_given() -> None:
    assert (Board().outcome(), Board.from_moves((SHUFFLE * 3)[:-1]).outcome()) == (None, None)
    board = Board(DECLARABLE)
    assert board.can_declare("CSARule27")
    assert board.outcome() is None
    assert board.outcome("CSARule27") == Outcome(Termination.DECLARATION, BLACK)
    assert board.is_game_over("CSARule27") and not board.is_game_over("CSARule24")


def test_a_king_on_the_goal_of_the_try_rule_wins() -> None:
    board = Board("9/3K5/9/9/9/9/9/9/k8 b - 1")
    assert board.outcome("TryRule") is None
    board.push("6b5a")
    assert board.outcome("TryRule") == Outcome(Termination.TRY, BLACK)
    assert board.outcome() is None
    assert Board().outcome("TryRule") is None


def test_the_move_limit(board: Board) -> None:
    board.push("7g7f")
    assert board.outcome(max_moves=2) is None
    board.push("3c3d")
    assert board.outcome(max_moves=2) == Outcome(Termination.MOVE_LIMIT, None)
    assert Board(MATED.replace(" 1", " 3")).outcome(max_moves=2) == Outcome(Termination.CHECKMATE, BLACK)


# ---- moves ----


def test_lists_of_moves_need_no_call(board: Board) -> None:
    for moves in (board.legal_moves, board.pseudo_legal_moves):
        assert list(moves) == moves() == str(moves).split() and len(moves) == 30
        assert "7g7f" in moves and "7g7e" not in moves and 7 not in moves
        assert str(moves) in repr(moves)
    lance = Board("4k4/9/L8/9/9/9/9/9/4K4 b - 1").legal_moves
    assert "9c9b" in lance and "9c9b" not in list(lance) and "9c9b" in lance(include_all=True)
    assert not Board(MATED).legal_moves
    legal = board.legal_moves
    board.push("7g7f")
    assert "7g7f" not in legal and "3c3d" in legal


def test_null_moves(board: Board) -> None:
    assert board.push_usi("7g7f") == "7g7f"
    assert (board.kif("pass"), board.ki2("pass")) == ("パス", "△パス") and board.parse_kif("△パス") == "pass"
    board.push("0000")
    assert (board.turn, board.ply, board.moves(), board.peek()) == (BLACK, 3, ["7g7f", "pass"], "pass")
    assert "8h2b+" not in board.legal_moves and board.ki2("2g2f") == "▲２六歩" and board.svg()
    for twin in (board.copy(), pickle.loads(pickle.dumps(board)), Board.from_moves(board.moves())):
        assert twin == board and twin.moves() == board.moves()
        assert [twin.pop(), twin.turn, twin.pop(), twin.sfen()] == ["pass", WHITE, "7g7f", START]
    checked = Board("4k4/9/9/9/9/9/9/4r4/4K4 b - 1")
    with pytest.raises(ValueError, match="cannot pass in check"):
        checked.push_ki2("▲パス")
    assert checked.moves() == [] and not board.is_legal("pass")
    passes = Board()
    for _ in range(8):
        passes.push_pass()
    assert passes.repetition() == "none"


def test_a_mirrored_board(board: Board) -> None:
    for move in SHORT_GAME:
        board.push(move)
    board.push_pass()
    twin = board.mirror()
    assert (twin.turn, twin.hand(WHITE), twin.moves()[:2]) == (BLACK, board.hand(BLACK), ["3c3d", "7g7f"])
    assert set(twin.legal_moves) == set(map(positions.flipped_move, board.legal_moves))
    assert (twin.mirror(), twin.mirror().moves()) == (board, board.moves()) and twin != board


# ---- equality, copies, pickles ----


def test_boards_of_the_same_position_are_equal(board: Board) -> None:
    """Neither the moves before it nor the move number count. Boards have keys but no hash."""
    one = Board.from_moves(["7g7f", "3c3d", "2g2f"])
    other = Board.from_moves(["2g2f", "3c3d", "7g7f"])
    assert one == other == Board(one.sfen()) == Board(one.sfen().rsplit(" ", 1)[0] + " 77") and one.key == other.key
    hands = ("-", "P", "p", "2P", "Pp", "L", "G", "R2b")
    boards = [Board(f"4k4/9/9/9/9/9/9/9/4K4 {side} {hand} 1") for side in "bw" for hand in hands]
    for a, b in itertools.product(boards, repeat=2):
        assert (a == b, a != b, a.key == b.key) == (a is b, a is not b, a is b)
    assert all(board != other and not board == other for other in (board.sfen(), None, board.key))  # noqa: SIM201
    with pytest.raises(TypeError, match="unhashable"):
        hash(board)


class Named(Board):
    def __init__(self, label: str) -> None:
        super().__init__()
        self.label = [label]


def test_copies_of_a_subclass() -> None:
    board = Named("mine")
    board.push("7g7f")
    for twin, shared in ((copy.copy(board), True), (copy.deepcopy(board), False)):
        assert type(twin) is Named and twin.moves() == ["7g7f"]
        assert (twin.label, twin.label is board.label) == (["mine"], shared)
        twin.push("3c3d")
    assert board.moves() == ["7g7f"]
    assert type(board.copy()) is Named
    assert type(Named.from_moves(["7g7f"])) is Named


def test_keys_are_the_same_in_every_process(board: Board) -> None:
    assert int(output_of("from core_ext.board import Board; print(Board().key)")) == board.key


# ---- from moves and records ----


def test_from_moves() -> None:
    board = Board.from_moves(iter(SHORT_GAME))
    assert board.moves() == SHORT_GAME
    with pytest.raises(ValueError, match="'7g7e'"):
        Board.from_moves(["7g7e"])
    with pytest.raises(ValueError, match="'nothing'"):
        Board.from_moves([], "nothing")
    wrong: Any = [1.5]
    with pytest.raises(TypeError):
        Board.from_moves(wrong)


def test_from_a_record() -> None:
    record = Record.from_usi_position("startpos moves " + " ".join(SHORT_GAME))
    assert Board.from_record(record).moves() == SHORT_GAME
    assert Board.from_record(record, 3).moves() == SHORT_GAME[:3]
    assert Board.from_record(Record.from_csa_str("PI82HI22KA\n-\n-3334FU\n")).moves() == ["3c3d"]
    with pytest.raises(AttributeError):
        Board.from_record("7g7f")
