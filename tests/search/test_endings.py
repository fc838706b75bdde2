"""Repetition, judged by the whole game, and declaration by every rule."""

import pytest

from core_ext.board import Board
from core_ext.engine import DECLARATION, INFINITE, MATE, StopToken, Table, Worker
from tests import positions
from tests.shogi.slow_shogi import START, Game, Position

RULES = ("NoEnteringKing", "CSARule24", "CSARule24H", "CSARule27", "CSARule27H", "TryRule")


# ---- repetition ----


SHUFFLE = "5i5h 5a5b 5h5i 5b5a "
WAIT = "5h5g 9a8a 5g5h 8a9a "
CHECKS = "5h6h 6a5a 6h5h 5a6a "
# A cycle of 36 plies: Black's king goes along two ranks, White's to and fro.
PATH = [*(f"{file}i" for file in range(1, 10)), *(f"{file}h" for file in range(9, 0, -1)), "1i"]
TOUR = [f"{PATH[i]}{PATH[i + 1]} {('9a8a', '8a9a')[i % 2]}" for i in range(18)]
BARE, GAIN, ROOK = "4k4/9/9/9/9/9/9/9/4K4 b - 1", "k8/9/9/4p4/9/9/9/4R4/3K5 b - 1", "4k4/9/9/9/9/9/9/4R4/K8 w - 1"


@pytest.mark.parametrize(
    ("sfen", "moves", "verdict"),
    [
        (START, SHUFFLE * 2, "none"),
        (START, SHUFFLE * 3, "draw"),
        # The first of the four has the other side to move.
        (BARE, "5i5h 5a5b 5h5i 5b6a 5i5h 6a5a 5h5i " + "5a5b 5i5h 5b5a 5h5i " * 2, "none"),
        (BARE, "5i5h 5a5b 5h5i 5b6a 5i5h 6a5a 5h5i " + "5a5b 5i5h 5b5a 5h5i " * 3, "draw"),
        # Four times the same board; a pawn is captured after the second.
        (GAIN, WAIT + "5h5d 9a8a 5d5h 8a9a " + WAIT * 2, "none"),
        (GAIN, WAIT + "5h5d 9a8a 5d5h 8a9a " + WAIT * 3, "draw"),
        (ROOK, "5a6a " + CHECKS * 3, "lose"),
        (ROOK, "5a6a " + CHECKS * 3 + "5h6h", "win"),
        (ROOK, "5a6a " + CHECKS + "5h5i 6a7a 5i5h 7a6a " + CHECKS * 2, "draw"),  # with a quiet move
        ("k8/9/9/9/9/9/9/9/8K b - 1", " ".join(TOUR * 3), "draw"),  # longer than any window of recent moves
    ],
)
def test_known_repetitions(sfen: str, moves: str, verdict: str) -> None:
    board, twin, verdicts = Board(sfen), Game(sfen), list[str]()
    for move in moves.split():
        board.push(move)
        twin.push(move)
        verdicts.append(twin.repetition())
        assert board.repetition() == verdicts[-1]
    last = board.pop()
    assert (board.repetition(), verdicts[-1]) == (verdicts[-2], verdict)
    board.push(last)
    assert board.repetition() == verdict


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


@pytest.mark.parametrize("rule", RULES)
def test_declaration_is_that_of_the_twin(rule: str) -> None:
    seen: dict[str | None, int] = {"win": 0, None: 0}
    for sfen in positions.entered():
        expected = Position(sfen).declaration_move(rule)
        board = Board(sfen)
        assert board.declaration_move(rule) == expected, sfen
        assert board.can_declare(rule) == (expected is not None)
        seen[expected] = seen.get(expected, 0) + 1
    assert seen[None] > 20
    assert rule == "NoEnteringKing" or sum(seen.values()) - seen[None] > 20


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


def test_a_try_named_by_searchmoves_wins() -> None:
    """Also on the last move before the limit, and if the other king could reach its square next."""
    tries = [("9/4K4/9/9/9/9/9/9/k8 b - 1", "5b5a"), ("8K/9/9/9/9/9/9/4k4/9 w - 1", "5h5i")]
    for sfen, move in [*tries, ("9/4K4/9/9/9/9/9/4k4/9 b - 10", "5b5a")]:
        worker = Worker(Table(1), StopToken())
        for rule, value in (("TryRule", DECLARATION - 1), ("CSARule27", 0)):
            worker.configure(declaration=rule, max_moves=10)
            worker.set_root(Board(sfen), [move])
            found = worker.search(2, -INFINITE, INFINITE)
            assert found == value if value else abs(found) < MATE // 2
    worker.set_root(Board("+R+RK+B+B4/PPPPPPPPP/SSSS5/9/9/9/9/9/8k w 4G4N4L9P 10"))
    assert worker.search(1, -INFINITE, INFINITE) == 2 - DECLARATION  # also a declaration after it


@pytest.mark.parametrize(
    "sfen, move",
    [
        ("9/4K4/9/9/9/9/9/9/k8 b - 1", "5b5a"),
        ("4+p4/4K4/9/9/9/9/9/9/k8 b - 1", "5b5a"),  # it may capture
        ("4G4/4K4/9/9/9/9/9/9/k8 b - 1", None),
        ("9/4K4/9/9/4r4/9/9/9/k8 b - 1", None),  # the rook would attack through the king
        ("9/9/4K4/9/9/9/9/9/k8 b - 1", None),
        (START, None),
    ],
)
def test_try(sfen: str, move: str | None) -> None:
    assert Board(sfen).declaration_move("TryRule") == move
    twin = Board(positions.flipped(sfen))
    assert twin.declaration_move("TryRule") == (move and positions.flipped_move(move))
