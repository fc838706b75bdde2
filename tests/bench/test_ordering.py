"""The table of move ordering, and its counts, which only a counting build keeps."""

from __future__ import annotations

import importlib

import pytest

from bench.strength.ordering import DEPTHS, POSITIONS, cuts_by_depth, print_cuts, print_depths, row
from core_ext.board import Board


def test_counts_are_summed_by_depth_left(capsys: pytest.CaptureFixture[str]) -> None:
    cuts = cuts_by_depth({(1, 1): (10, 9, 12, 10), (1, 4): (30, 15, 90, 5), (DEPTHS + 3, 2): (4, 4, 4, 0)})
    assert row("1", cuts[1]) == ["1", "40", "2.55", "60.0", "37.5", "25.0", "0.0", "0.0", "75.0", "0.0", "0.0"]
    assert (cuts[DEPTHS]["cut"], cuts[2]["cut"]) == (4, 0)
    print_cuts(cuts)
    totals = [line.split() for line in capsys.readouterr().out.splitlines()][-3:-1]
    assert [line[-10:-8] for line in totals] == [["40", "2.55"], ["4", "1.00"]]


def test_nodes_are_compared_at_depths_that_every_position_finished(capsys: pytest.CaptureFixture[str]) -> None:
    print_depths([[10, 100], [10, 400, 900]])
    assert capsys.readouterr().out == "depth finished: 2.5 (2 3)\nnodes to depth 1: 10\nnodes to depth 2: 200\n"


def test_ten_different_positions() -> None:
    assert len({Board(sfen).key for sfen in POSITIONS}) == 10


def test_a_release_build_does_not_count() -> None:
    with pytest.raises(RuntimeError, match="CORE_EXT_PROFILE=count"):
        importlib.import_module("core_ext.search.counts").ordering_counts()
