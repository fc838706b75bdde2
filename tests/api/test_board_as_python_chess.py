"""core_ext.board by the names of python-chess: end of a game, copies, equality, pickles, records."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from rsshogi.record import Record

from core_ext.board import BLACK, WHITE, Board, Outcome, Termination
from tests import positions
from tests.api.test_board import SHORT_GAME, SHUFFLE
from tests.positions import DECLARABLE, MATED
from tests.programs import output_of
from tests.shogi.slow_shogi import START

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
    bare = "4k4/9/9/9/9/9/9/9/4K4 {} {} 1"
    boards = [Board(bare.format(side, hand)) for side in "bw" for hand in ("-", "P", "p", "2P", "Pp")]
    assert [(a == b, a != b) for a in boards for b in boards] == [(a is b, a is not b) for a in boards for b in boards]
    assert all(board != other and not board == other for other in (board.sfen(), None, board.key))  # noqa: SIM201
    with pytest.raises(TypeError, match="unhashable"):
        hash(board)


class Named(Board):
    def __init__(self, label: str) -> None:
        super().__init__()
        self.label = [label]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_keeps_the_moves(protocol: int) -> None:
    board = Board.from_moves(SHORT_GAME)
    loaded = pickle.loads(pickle.dumps(board, protocol))
    assert (loaded, loaded.moves(), loaded.sfen()) == (board, SHORT_GAME, board.sfen())
    assert [loaded.pop() for _ in SHORT_GAME] == SHORT_GAME[::-1]


def test_a_pickle_remembers_repetitions() -> None:
    board = Board.from_moves(SHUFFLE * 3)
    assert pickle.loads(pickle.dumps(board)).repetition() == copy.deepcopy(board).repetition() == "draw"


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
