"""Mate in one and mate in three against brute force, which tries every check."""

import random
from collections.abc import Iterator

import pytest

from core_ext.board import Board
from tests.conftest import MateProblem
from tests.positions import HANDS, MATSURI, MIDGAME, MOST_MOVES, SPARSE

# sfen, whether there is a mate in one.
CASES = [
    ("4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1", True),  # a gold on the king's head
    ("4k4/9/4P4/9/9/9/9/9/9 b P2r2b4g4s4n4l16p 1", False),  # a pawn may not mate by a drop
    ("4k4/9/4G4/9/9/9/9/9/9 b P2r2b3g4s4n4l17p 1", False),
    ("3gkg3/9/4P4/4L4/9/9/9/9/9 b 2r2b2g4s4n3l17p 1", False),  # the pawn's promotion is taken
    ("7nk/7pp/9/8N/9/9/9/9/9 b N2r2b4g4s1n4l16p 1", False),  # neither knight mates while 1b is free to flee
    ("8k/9/8K/9/9/9/9/9/R8 b r2b4g4s4n4l18p 1", False),  # a distant check met by an interposition
    ("k8/9/K8/9/9/9/9/9/8R b - 1", True),  # the same where nobody has a piece to interpose
    ("9/9/9/9/9/9/9/9/4K4 b RB 1", False),  # nobody to mate
]


def brute_force(board: Board) -> set[str]:
    """The moves that mate at once."""
    mates = set()
    for move in board.checking_moves(include_all=True):
        board.push(move)
        if not board.legal_moves(include_all=True):
            mates.add(move)
        board.pop()
    return mates


def compare(board: Board) -> bool:
    """Whether there is a mate in one; fails if mate_in_one disagrees."""
    mates, found = brute_force(board), board.mate_in_one()
    assert (found in mates) if mates else found is None, f"{board.sfen()}: {found}, by force {sorted(mates)}"
    return bool(mates)


def random_walk(seed: int, start: str, plies: int) -> Iterator[Board]:
    """Boards of one random game with many checks."""
    rng, board = random.Random(seed), Board(start)
    for _ in range(plies):
        yield board
        moves = board.legal_moves(include_all=rng.random() < 0.2)
        if not moves:
            return
        checks = board.checking_moves()
        board.push(rng.choice(checks if checks and rng.random() < 0.4 else moves))


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
def test_cases(sfen: str, mate: bool) -> None:
    assert compare(Board(sfen)) == mate


@pytest.mark.parametrize("start", ["startpos", MATSURI, MOST_MOVES, MIDGAME, HANDS, *SPARSE])
def test_random_games(start: str) -> None:
    for seed in range(6):
        for board in random_walk(seed, start, 200):
            compare(board)


def test_scattered_positions() -> None:
    rng = random.Random(20)
    mates = sum(compare(scattered(rng)) for _ in range(20000))
    assert mates > 300


def test_problems_of_one_ply(mate_problems: list[MateProblem]) -> None:
    for length, sfen, _ in mate_problems:
        assert compare(Board(sfen)) == (length == 1), sfen


def wins_after(board: Board) -> bool:
    """Whether some check mates at once."""
    return bool(brute_force(board))


def holds_in_three(board: Board, check: str) -> bool:
    """Whether a mate in one follows every evasion of the check, by brute force."""
    board.push(check)
    answers = board.legal_moves(include_all=True) if board.is_check() else []
    held = bool(answers)
    for answer in answers:
        board.push(answer)
        held = held and wins_after(board)
        board.pop()
    board.pop()
    return held


def compare_three(board: Board) -> bool:
    """Whether a mate in three is found; fails if it is no mate, or its line is not one."""
    line = [] if board.mate_in_one() else board.mate_in_three()
    if line:
        assert holds_in_three(board, line[0]), f"{board.sfen()}: {line}"
        end = board.copy()
        for move in line:
            end.push(move)
        assert len(line) == 3 and end.is_check() and not end.legal_moves(include_all=True)
    return bool(line)


def test_no_mate_in_three_is_false() -> None:
    rng = random.Random(33)
    assert sum(compare_three(scattered(rng)) for _ in range(6000)) > 80
    assert sum(compare_three(board) for seed in range(4) for board in random_walk(seed, MATSURI, 200)) > 0


def test_no_mate_in_three_is_missed() -> None:
    """With all escape squares allowed; dominated moves are left out."""
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
