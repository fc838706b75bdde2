"""Repetition, judged by the whole game, and declaration by every rule."""

import pytest

from core_ext.board import Board
from core_ext.engine import DECLARATION, INFINITE, MATE, StopToken, Table, Worker
from tests import positions
from tests.positions import described_rows
from tests.shogi.slow_shogi import Game, Position

RULES = ("NoEnteringKing", "CSARule24", "CSARule24H", "CSARule27", "CSARule27H", "TryRule")


# ---- repetition ----


@pytest.mark.parametrize(("sfen", "moves", "verdict"), [row[1:] for row in described_rows("repetitions.jsonl")])
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


@pytest.mark.parametrize(("sfen", "rule", "move", "flipped"), [row[1:] for row in described_rows("declarations.jsonl")])
def test_known_declarations(sfen: str, rule: str, move: str | None, flipped: str | None) -> None:
    """In the position and in the flipped one, whose move is flipped back here."""
    assert Board(sfen).declaration_move(rule) == move
    found = Board(positions.flipped(sfen)).declaration_move(rule)
    assert (found if found in ("win", None) else positions.flipped_move(found)) == flipped


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
