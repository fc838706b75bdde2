"""Scores shown to the user are evaluations or mates, never internal values of the search."""

from core_ext.board import Board
from core_ext.engine import INFINITE, MATE_BOUND, MAX_DEPTH, MAX_EVALUATION, StopToken, Table, Worker
from usi_engine.core import load_core, load_weights
from usi_engine.iterative import iterative_deepening
from usi_engine.report import score_text

# Black is mated, but delays it by giving up pieces in hand for checks that change nothing on the board.
DELAYED_MATE = "5k1nl/5g3/4p2p1/2pB2p1p/1l1PS4/nPP3P1P/2SS5/1+p7/1KL+rG3L b G2N6Prbgsp 135"


def values(sfen: str, nodes: int) -> list[int]:
    worker = Worker(Table(16), StopToken(), load_weights("<internal>"))
    worker.set_root(Board(sfen))
    return [worker.lines(1)[0].value for _ in iterative_deepening(load_core(), worker, MAX_DEPTH, nodes)]


def test_a_superior_position_is_no_score() -> None:
    found = values(DELAYED_MATE, 150_000)
    assert len(found) > 6
    assert all(abs(value) <= MAX_EVALUATION or abs(value) >= MATE_BOUND for value in found)


def test_a_win_by_rule_is_shown_as_the_greatest_evaluation() -> None:
    core = load_core()
    assert score_text(core, 29_994) == f"score cp {MAX_EVALUATION}"
    assert score_text(core, -29_994, "upper") == f"score cp {-MAX_EVALUATION} upperbound"
    assert score_text(core, MAX_EVALUATION) == f"score cp {MAX_EVALUATION}"
    assert score_text(core, -MATE_BOUND) == "score mate -1000"
    assert MAX_EVALUATION < MATE_BOUND < INFINITE
