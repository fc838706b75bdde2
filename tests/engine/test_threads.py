"""Choice of the thread whose result is played."""

from __future__ import annotations

import pytest

from usi_engine.search.report import Line, SearchResult
from usi_engine.search.threads import best_thread

MATE_BOUND = 31000


def result(move: str, value: int, depth: int = 10) -> SearchResult:
    return SearchResult(depth, (Line((move, "3c3d"), value, depth, depth + 2),))


@pytest.mark.parametrize(
    ("results", "chosen"),
    [
        ([result("7g7f", -50)], 0),  # without helpers
        ([result("7g7f", 30), result("2g2f", 30)], 0),  # the main thread wins ties
        ([result("7g7f", 30), result("2g2f", 30, 11), result("2g2f", 28)], 1),  # two against one
        ([result("7g7f", 10, 9), result("2g2f", 90, 11)], 1),  # deeper and better
        ([result("7g7f", 90, 9), result("2g2f", 10, 11)], 0),
        ([result("7g7f", 3000, 30), result("2g2f", 31990), result("5g5f", 31997)], 2),  # the shortest proved win
        ([result("7g7f", -31990, 20), result("2g2f", -900, 5)], 1),  # a proved loss only if all lose
        ([result("7g7f", -31990, 20), result("2g2f", -31980, 25)], 0),
    ],
)
def test_best_thread(results: list[SearchResult], chosen: int) -> None:
    assert best_thread(results, MATE_BOUND) == results[chosen]
