"""Planes, labels and masks against cshogi; BoardBatch against Board."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core_ext.board import Board, Termination, move_from_usi
from core_ext.engine import PieceValues
from tests import positions
from tests.eval.nnue.reference import active_features
from tests.shogi import slow_shogi
from usi_engine import features
from usi_engine.evaluation.parts import FEATURE_SETS
from usi_engine.features import BoardBatch, dlshogi_label, dlshogi_planes, label_mask, nnue_indices, piece_planes

SAMPLE = [pytest.param(200, id="sample"), pytest.param(10_000, id="all", marks=pytest.mark.slow)]
LETTERS = "PLNSBRGK"
Pairs = Iterator[tuple[Board, Any]]


def copies(seed: int, plies: int, starts: Sequence[str] = (slow_shogi.START,)) -> list[Board]:
    return [board.copy() for board in positions.random_boards(seed, plies, starts)]


def twins(cshogi: Any, plies: int) -> Pairs:
    """Yield random positions as a Board and as cshogi's."""
    for board in positions.random_boards(11, plies, positions.STARTS, checks=0.1, include_all=True):
        yield board, cshogi.Board(board.sfen())


@pytest.mark.parametrize("plies", SAMPLE)
def test_planes_are_those_of_cshogi(cshogi: Any, plies: int) -> None:
    from cshogi.dlshogi import make_input_features  # noqa: PLC0415  (cshogi may be missing)

    planes1, planes2 = np.empty((1, 62, 9, 9), np.float32), np.empty((1, 57, 9, 9), np.float32)
    theirs1, theirs2 = planes1[0].copy(), planes2[0].copy()
    for board, twin in twins(cshogi, plies):
        make_input_features(twin, theirs1, theirs2)
        assert dlshogi_planes(board, planes1, planes2) == (planes1, planes2)
        assert (planes1[0] == theirs1).all() and (planes2[0] == theirs2).all(), board.sfen()


@pytest.mark.parametrize("plies", SAMPLE)
def test_labels_and_masks_are_those_of_cshogi(cshogi: Any, plies: int) -> None:
    """Every legal move has its own label, from which the move comes back."""
    from cshogi.dlshogi import make_move_label  # noqa: PLC0415

    for board, twin in twins(cshogi, plies):
        expected = {make_move_label(move, board.turn): cshogi.move_to_usi(move) for move in twin.legal_moves}
        assert np.flatnonzero(label_mask(board)[0]).tolist() == sorted(expected), board.sfen()
        found = features.label_moves(board)[0]
        words = {label: move_from_usi(move) for label, move in expected.items()}
        assert {int(label): int(found[label]) for label in np.flatnonzero(found)} == words
        moves = np.array(list(words.values()), np.uint16)
        assert dlshogi_label(moves, board.turn).tolist() == list(words)
        for label, move in list(expected.items())[:1]:
            assert dlshogi_label(move, board.turn) == label and features.dlshogi_move(label, board) == move


def test_piece_planes_show_pieces_and_hands() -> None:
    boards = copies(4, 60, positions.STARTS)
    for board, planes in zip(boards, piece_planes(boards), strict=True):
        expected = np.zeros((42, 9, 9), np.float32)
        seen = board.mirror() if board.turn else board  # the side to move plays upwards
        for square, piece in seen.piece_map().items():
            kind = LETTERS.index(piece[-1].upper()) + 8 * (len(piece) > 1)
            expected[kind + 14 * piece.islower(), int(square[0]) - 1, ord(square[1]) - ord("a")] = 1
        for color in (0, 1):
            for letter, count in seen.hand(color).items():
                expected[28 + 7 * color + LETTERS.index(letter)] = count
        assert (planes == expected).all(), board.sfen()


def test_indices_are_the_features_of_networks() -> None:
    """Against the numpy reader of networks; the trainer's are compared in tests/learn/nnue."""
    boards = copies(6, 12)
    for name, kind in FEATURE_SETS.items():
        found = nnue_indices(boards, name)
        assert found.shape == (12, 2, 38 + 2 * len(kind.kings))
        for i, board in enumerate(boards):
            for perspective, color in enumerate("bw" if board.turn == 0 else "wb"):
                expected = active_features(name, board.sfen(), color)
                assert sorted(found[i, perspective].tolist()) == sorted(expected), (name, board.sfen())
    handicap = nnue_indices(Board(positions.TWO_PIECE_HANDICAP), "HalfKP")
    assert (handicap[0, :, 36:] == 44 * 1548).all()  # missing pieces have number 0 of the king's bucket


@pytest.mark.parametrize("share", [1, 0.3])
@settings(max_examples=6, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_a_batch_is_exact_like_boards(share: float, seed: int, threads: int) -> None:
    """After random moves, passes, moves taken back and resets, with one thread and with several."""
    rng = np.random.default_rng(seed)
    batch, boards = BoardBatch(7, positions.MIDGAME, threads), [Board(positions.MIDGAME) for _ in range(7)]
    for ply in range(20):
        choices = [board.legal_array(include_all=True) for board in boards]
        words = np.array([rng.choice(moves) if len(moves) and rng.random() < share else 0 for moves in choices])
        if rng.random() < 0.1:
            words[:3] = [0 if board.is_check() else 129 for board in boards[:3]]
        batch.push(words.astype(np.uint16 if ply % 2 else np.int64))
        for board, word in zip(boards, words, strict=True):
            if word:
                board.push(int(word))
        back = rng.random(7) < 0.2
        back &= np.array([bool(board.moves()) for board in boards])
        batch.pop(back)
        for i in np.flatnonzero(back):
            boards[i].pop()
        if ply % 4 == 0:
            agree(batch, boards)
    batch.reset(back)
    batch[0] = boards[1]
    assert [batch[i + 1].sfen() for i in np.flatnonzero(back[1:]).tolist()] == [positions.MIDGAME] * int(back[1:].sum())
    assert batch[0] == boards[1] and batch[0].moves() == boards[1].moves()


def agree(batch: BoardBatch, boards: list[Board]) -> None:
    assert [one.sfen() for one in batch] == [board.sfen() for board in boards]
    assert batch.hashes().tolist() == [board.key for board in boards]
    assert batch.turns().tolist() == [board.turn for board in boards]
    assert (batch.legal_mask() == label_mask(boards)).all()
    assert all((ours == theirs).all() for ours, theirs in zip(batch.planes(), dlshogi_planes(boards), strict=True))
    for arguments in (("CSARule27", 90), ("TryRule", 0)):
        expected = [board.outcome(*arguments) for board in boards]
        ends, winners = batch.outcomes(*arguments)
        assert [end and list(Termination)[end - 1] for end in ends] == [o.termination if o else 0 for o in expected]
        assert winners.tolist() == [-1 if o is None or o.winner is None else o.winner for o in expected]
    assert batch.static_values().tolist() == [positions.material(board.sfen()) for board in boards]


def test_games_of_a_batch_end_as_games_of_boards() -> None:
    """With repetitions and perpetual checks."""
    seen = set()
    for seed in range(12):
        game, moves = positions.cycling_game(seed)
        batch, board = BoardBatch(1, game.positions[0].sfen()), Board(game.positions[0].sfen())
        for move in moves:
            batch.push([move])
            board.push(move)
        outcome, (ends, _) = board.outcome(), batch.outcomes()
        assert ends[0] == (1 + list(Termination).index(outcome.termination) if outcome else 0)
        seen.add(ends[0])
    assert len(seen) > 1


def test_static_values_of_an_evaluation() -> None:
    from usi_engine import Engine  # noqa: PLC0415

    boards = copies(8, 20)
    batch = BoardBatch(20, threads=2)
    for i, board in enumerate(boards):
        batch[i] = board
    evaluation = features.load_evaluation("<internal>")
    with Engine() as engine:
        expected = [engine.static_value(board) for board in boards]
    assert batch.static_values(evaluation).tolist() == expected
    assert batch.static_values(PieceValues({})).tolist() == [positions.material(board.sfen()) for board in boards]


def read_only(array: Any) -> Any:
    array.setflags(write=False)
    return array


TWO = np.array([7739, 7739], np.uint16)
WRONG: list[tuple[Callable[[BoardBatch, Board], object], str]] = [
    (lambda batch, _: batch.push(["7g7f", "7g7e"]), "board 1: illegal move '7g7e' in 'lnsg"),
    (lambda batch, _: batch.push(["7g7f", "rook"]), "'rook'"),
    (lambda batch, _: batch.push(["7g7f"]), r"a move for each of 2 boards, not int64\[1\]"),
    (lambda batch, _: batch.push([0, 1 << 14]), "not a move: '?16384"),
    (lambda batch, _: batch.push(np.array([7739, -1])), "board 1: illegal move '-1'"),
    (lambda batch, _: batch.push(np.array([7739, 1 << 40])), "board 1: illegal move '1099511627776'"),
    (lambda batch, _: batch.push(np.array([2**64 - 1, 7739], np.uint64)), "illegal move '18446744073709551615'"),
    (lambda batch, _: batch.push(np.ones(2)), r"not float64\[2\]"),
    (lambda batch, _: batch.push(TWO.reshape(1, 2)), r"not uint16\[1, 2\]"),
    (lambda batch, _: batch.push(5), "not iterable"),  # type: ignore[arg-type]
    (lambda batch, _: batch.pop(), "board 0: no move to take back"),
    (lambda batch, _: batch.pop(np.zeros(3, np.bool_)), r"a bool for each of 2 boards, not bool\[3\]"),
    (lambda batch, _: batch.pop(TWO), r"a bool for each of 2 boards, not uint16\[2\]"),  # type: ignore[arg-type]
    (lambda batch, _: batch.reset(sfen="nothing"), "'nothing'"),
    (lambda batch, _: batch[2], "no board 2 in a batch of 2"),
    (lambda batch, board: batch.__setitem__(-1, board), "no board -1 in a batch of 2"),
    (lambda batch, _: batch.__setitem__(0, "startpos"), "expected core_ext.board.Board, got str"),  # type: ignore[assignment]
    (lambda batch, _: batch.outcomes("rule"), "'rule'"),
    (lambda batch, _: batch.static_values("material"), "material|str"),  # type: ignore[arg-type]
    (lambda *_: BoardBatch(-1), "cannot make -1 boards with 1 threads"),
    (lambda *_: BoardBatch(1 << 25), "cannot make 33554432 boards"),
    (lambda *_: BoardBatch(2, threads=65), "2 boards with 65 threads: at most"),
    (lambda *_: BoardBatch(2, threads=0), "2 boards with 0 threads"),
    (lambda *_: BoardBatch(2, "9/9"), "'9/9'"),
    (lambda _, board: label_mask(board, np.zeros((1, 2187), np.uint8)), r"bool\[1, 2187\] in.*not uint8"),
    (lambda _, board: label_mask(board, np.zeros((1, 4374), np.bool_)[:, ::2]), r"in C order"),
    (lambda _, board: features.label_moves(board, read_only(np.zeros((1, 2187), np.uint16))), "that can be written"),
    (lambda batch, _: piece_planes(batch, np.zeros((1, 42, 9, 9), np.float32)), r"\[2, 42, 9, 9\].*not float32\[1,"),
    (lambda batch, _: dlshogi_planes(batch, [1.0]), r"not \[1.0\]"),  # type: ignore[arg-type]
    (lambda _, board: dlshogi_planes([board, None]), "expected core_ext.board.Board"),  # type: ignore[list-item]
    (lambda *_: dlshogi_label(0, 0), "not a move: '0'"),
    (lambda *_: dlshogi_label("7g7f", -1), "not a colour: -1"),
    (lambda *_: dlshogi_label(TWO, np.array([0, 2])), r"not a colour: array\(\[0, 2\]\)"),
    (lambda *_: dlshogi_label(np.array([7739, -1]), 0), "not moves of 15 bits: from -1 to 7739"),
    (lambda *_: dlshogi_label(TWO / 1, 0), "integer"),
    (lambda _, board: features.dlshogi_move(2187, board), "no legal move has the label 2187"),
    (lambda _, board: features.dlshogi_move(0, board), "no legal move has the label 0"),
    (lambda _, board: nnue_indices(board, "HalfKPE9"), "'HalfKPE9'"),
    (lambda _, board: nnue_indices([board, Board("4k4/9/9/9/9/9/9/9/9 b G 1")], "HalfKP"), "king is missing on board"),
]  # fmt: skip


@pytest.mark.parametrize(("action", "message"), WRONG, ids=[message for _, message in WRONG])
def test_wrong_arguments_change_nothing(
    action: Callable[[BoardBatch, Board], object], message: str, board: Board
) -> None:
    batch = BoardBatch(2, threads=3)
    with pytest.raises((ValueError, IndexError, TypeError), match=message):
        action(batch, board)
    assert batch.hashes().tolist() == [board.key] * 2 and board.moves() == []


def test_any_integers_are_moves_and_a_reset_begins_anew(board: Board) -> None:
    batch = BoardBatch(2)
    for words in (np.repeat(TWO, 2)[::2], read_only(TWO.astype(">i8")), TWO.tolist(), iter(["7g7f", np.int8(0)])):
        batch.push(words)  # type: ignore[arg-type]
        assert batch[0].moves() == ["7g7f"]
        batch.reset()
        with pytest.raises(IndexError, match="no move to take back"):
            batch.pop()
    assert batch.hashes().tolist() == [board.key] * 2
    assert [part.shape for part in (*BoardBatch(0).planes(), label_mask([]))] == [
        (0, 62, 9, 9),
        (0, 57, 9, 9),
        (0, 2187),
    ]


def test_a_batch_in_two_threads() -> None:
    """A call meets another one's work or a legal state; nothing else."""
    batch, raised = BoardBatch(200, threads=2), set[str]()

    def repeat() -> None:
        for _ in range(100):
            try:
                batch.push(["7g7f"] * 200)
                batch.reset()
            except (RuntimeError, ValueError) as error:
                raised.add(str(error))

    other = threading.Thread(target=repeat)
    other.start()
    while other.is_alive():
        with suppress(RuntimeError):
            batch.planes()
    other.join()
    assert raised <= {"another thread uses this batch"}
