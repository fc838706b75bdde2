"""Which thread's result is played."""

from __future__ import annotations

from usi_engine.search.report import Line, SearchResult
from usi_engine.search.threads import best_thread

MATE_BOUND = 31000


def result(move: str, value: int, depth: int = 10) -> SearchResult:
    return SearchResult(depth, (Line((move, "3c3d"), value, depth, depth + 2),))


def test_without_helpers_the_main_thread_decides() -> None:
    assert best_thread([result("7g7f", -50)], MATE_BOUND).best.move == "7g7f"


def test_the_main_thread_wins_ties() -> None:
    assert best_thread([result("7g7f", 30), result("2g2f", 30)], MATE_BOUND).best.move == "7g7f"


def test_two_agree_against_one() -> None:
    results = [result("7g7f", 30), result("2g2f", 30, 11), result("2g2f", 28)]
    assert best_thread(results, MATE_BOUND) == results[1]


def test_a_deeper_and_better_line_wins() -> None:
    assert best_thread([result("7g7f", 10, 9), result("2g2f", 90, 11)], MATE_BOUND).best.move == "2g2f"
    assert best_thread([result("7g7f", 90, 9), result("2g2f", 10, 11)], MATE_BOUND).best.move == "7g7f"


def test_a_proved_win_goes_before_all_the_shortest_first() -> None:
    results = [result("7g7f", 3000, 30), result("2g2f", 31990), result("5g5f", 31997)]
    assert best_thread(results, MATE_BOUND).best.move == "5g5f"


def test_a_proved_loss_is_left_where_another_move_is_open() -> None:
    assert best_thread([result("7g7f", -31990, 20), result("2g2f", -900, 5)], MATE_BOUND).best.move == "2g2f"
    assert best_thread([result("7g7f", -31990, 20), result("2g2f", -31980, 25)], MATE_BOUND).best.move == "7g7f"
