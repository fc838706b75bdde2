"""Mate in one and mate in three against brute force, which tries every check."""

import random

import pytest

from core_ext.board import Board
from tests.conftest import MateProblem
from tests.positions import HANDS, MATSURI, MIDGAME, MOST_MOVES, SPARSE, random_boards

# sfen, whether there is a mate in one.
CASES = [
    ("4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1", True),  # a gold on the king's head
    ("4k4/9/4P4/9/9/9/9/9/9 b P2r2b4g4s4n4l16p 1", False),  # a pawn may not mate by a drop
    ("4k4/9/4G4/9/9/9/9/9/9 b P2r2b3g4s4n4l17p 1", False),
    ("3gkg3/9/4P4/4L4/9/9/9/9/9 b 2r2b2g4s4n3l17p 1", False),  # the pawn's promotion is taken
    ("7nk/7pp/9/8N/9/9/9/9/9 b N2r2b4g4s1n4l16p 1", False),  # neither knight mates while 1b is free to flee
    ("8k/9/8K/9/9/9/9/9/R8 b r2b4g4s4n4l18p 1", False),  # a distant check met by an interposition
    ("k8/9/K8/9/9/9/9/9/8R b - 1", True),  # the same without a piece to interpose
    ("9/9/9/9/9/9/9/9/4K4 b RB 1", False),  # no king to mate
]


def is_mate_after(board: Board, move: str) -> bool:
    board.push(move)
    mate = not board.legal_moves(include_all=True)
    board.pop()
    return mate


def brute_force(board: Board) -> set[str]:
    """Return the moves that mate at once."""
    return {move for move in board.checking_moves(include_all=True) if is_mate_after(board, move)}


def compare(board: Board) -> bool:
    """Compare mate_in_one with brute force; return whether there is a mate."""
    mates, found = brute_force(board), board.mate_in_one()
    assert (found in mates) if mates else found is None, f"{board.sfen()}: {found}, by force {sorted(mates)}"
    return bool(mates)


def scattered(rng: random.Random) -> Board:
    """A random position: kings and pieces anywhere, random hands."""
    while True:
        cells = rng.sample(range(81), rng.randint(6, 24))
        letters = [rng.choice(["P", "L", "N", "S", "G", "B", "R", "+P", "+L", "+N", "+S", "+B", "+R"]) for _ in cells]
        placed = {cell: rng.choice([letter, letter.lower()]) for cell, letter in zip(cells, letters, strict=True)}
        placed[cells[0]] = "k"
        if rng.random() < 0.8:
            placed[cells[1]] = "K"
        rows = ["".join(placed.get(9 * rank + file, "1") for file in range(9)) for rank in range(9)]
        hands = "".join(f"{rng.randint(1, 2)}{letter}" for letter in "RBGSNLPrbgsnlp" if rng.random() < 0.25)
        hands = hands.replace("1", "")
        try:
            return Board(f"{'/'.join(rows)} b {hands or '-'} 1")
        except ValueError:
            continue


@pytest.mark.parametrize("sfen, mate", CASES)
def test_known_positions(sfen: str, mate: bool) -> None:
    assert compare(Board(sfen)) == mate


@pytest.mark.parametrize("start", ["startpos", MATSURI, MOST_MOVES, MIDGAME, HANDS, *SPARSE])
def test_random_games(start: str) -> None:
    for board in random_boards(1, 800, (start,), checks=0.4, include_all=True):
        compare(board)


def test_scattered_positions() -> None:
    rng = random.Random(20)
    mates = sum(compare(scattered(rng)) for _ in range(10000))
    assert mates > 100


def test_problems_of_one_ply(mate_problems: list[MateProblem]) -> None:
    for length, sfen, _ in mate_problems:
        assert compare(Board(sfen)) == (length == 1), sfen


def holds_in_three(board: Board, check: str) -> bool:
    """Return whether a mate in one follows every evasion of the check, by brute force."""
    board.push(check)
    answers = board.legal_moves(include_all=True) if board.is_check() else []
    held = bool(answers) and all(mates_after(board, answer) for answer in answers)
    board.pop()
    return held


def mates_after(board: Board, answer: str) -> bool:
    board.push(answer)
    mates = brute_force(board)
    board.pop()
    return bool(mates)


def compare_three(board: Board) -> bool:
    """Return whether a mate in three is found; check that it is one."""
    line = board.mate_in_three()
    if line:
        assert not board.mate_in_one()
        assert holds_in_three(board, line[0]), f"{board.sfen()}: {line}"
        assert len(line) == 3 and Board.from_moves(line, board.sfen()).is_checkmate()
    return bool(line)


def test_a_mate_in_three_is_a_mate() -> None:
    rng = random.Random(33)
    assert sum(compare_three(scattered(rng)) for _ in range(4000)) > 50
    assert sum(compare_three(board) for board in random_boards(4, 800, (MATSURI,), 0.4, True)) > 0


def test_no_mate_in_three_is_missed() -> None:
    rng, mates = random.Random(34), 0
    for _ in range(700):
        board = scattered(rng)
        if not brute_force(board):
            there = any(holds_in_three(board, check) for check in board.checking_moves())
            assert there == bool(board.mate_in_three(8)), board.sfen()
            mates += there
    assert mates > 5


def test_problems_of_three_plies(mate_problems: list[MateProblem]) -> None:
    for length, sfen, _ in mate_problems:
        if length != 1:
            assert compare_three(Board(sfen)) == (length == 3), sfen
