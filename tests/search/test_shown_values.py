"""No value of the search's own conventions is shown as a score: evaluations and mates only."""

from core_ext.board import Board
from core_ext.engine import INFINITE, MATE_BOUND, MAX_DEPTH, MAX_EVALUATION, StopToken, Table, Worker
from usi_engine.core import load_core
from usi_engine.evaluation.load import load_evaluation
from usi_engine.search.iterative import iterative_deepening
from usi_engine.search.report import score_text

# Black is mated, but can put it off by giving pieces in hand away for checks that change nothing on the board.
DELAYED_MATE = "5k1nl/5g3/4p2p1/2pB2p1p/1l1PS4/nPP3P1P/2SS5/1+p7/1KL+rG3L b G2N6Prbgsp 135"


def values(sfen: str, nodes: int) -> list[int]:
    """The value of each depth finished within the nodes, by the packaged evaluation."""
    worker = Worker(Table(16), StopToken(), load_evaluation("<internal>"))
    worker.set_root(Board(sfen))
    return [worker.lines(1)[0].value for _ in iterative_deepening(load_core(), worker, MAX_DEPTH, nodes)]


def test_a_superior_position_is_no_score() -> None:
    """Pieces given away for a repetition of the board prove a bound, not a value."""
    found = values(DELAYED_MATE, 150_000)
    assert len(found) > 6
    assert all(abs(value) <= MAX_EVALUATION or abs(value) >= MATE_BOUND for value in found)


def test_what_is_won_by_rule_is_shown_as_the_greatest_evaluation() -> None:
    """Between the evaluations and the mates lie results by rule."""
    core = load_core()
    assert score_text(core, 29_994) == f"score cp {MAX_EVALUATION}"
    assert score_text(core, -29_994, "upper") == f"score cp {-MAX_EVALUATION} upperbound"
    assert score_text(core, MAX_EVALUATION) == f"score cp {MAX_EVALUATION}"
    assert score_text(core, -MATE_BOUND) == "score mate -1000"
    assert MAX_EVALUATION < MATE_BOUND < INFINITE
