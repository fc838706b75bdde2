"""Info lines: their text, times at which they are printed."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from core_ext.engine import MATE, MATE_BOUND, MAX_EVALUATION
from usi_engine.game.report import info_lines
from usi_engine.search.iterative import analysis_of
from usi_engine.search.results import Score, Variation
from usi_engine.usi.output import Writer


@pytest.mark.parametrize(
    ("value", "bound", "score"),
    [
        (-30, "exact", "cp -30"),
        (30, "lower", "cp 30 lowerbound"),
        (30, "upper", "cp 30 upperbound"),
        (MATE - 5, "exact", "mate 5"),
        (4 - MATE, "exact", "mate -4"),
        (MATE_BOUND - 1, "exact", f"cp {MAX_EVALUATION}"),  # won by rule
        (1 - MATE_BOUND, "exact", f"cp -{MAX_EVALUATION}"),
    ],
)
def test_info_line(value: int, bound: str, score: str) -> None:
    """The greatest ply is at least the depth: a line of an earlier depth may have been searched less far."""
    line = Variation(Score(value), ("7g7f", "3c3d"), 5, 7, bound)
    stats = f"score {score} nodes 3000 nps 2000 hashfull 9 time 1500 multipv 2 pv 7g7f 3c3d"
    for seldepth, shown in ((7, 7), (0, 5)):
        found = replace(analysis_of([replace(line, seldepth=seldepth)], 5), nodes=3000, time=1.5, hashfull=9)
        assert info_lines(found, 2) == [f"info depth 5 seldepth {shown} {stats}"]


@pytest.mark.parametrize("length", [1, 2])
def test_a_long_text_is_cut_without_a_space_at_its_end(length: int) -> None:
    written = io.BytesIO()
    Writer(written).info("x" * length + " y" * 1000)
    (line,) = written.getvalue().splitlines()
    assert len(line) < 1100 and line == line.strip()


def test_japanese_stays_and_what_acts_on_a_terminal_is_escaped() -> None:
    written = io.BytesIO()
    Writer(written).lines(["id name Komadori 日本", "info string ～/\x1b[2J\u202e\udc80"])
    assert written.getvalue().decode() == "id name Komadori 日本\ninfo string ～/\\x1b[2J\\u202e\\udc80\n"
