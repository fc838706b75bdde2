"""The punctuality bench."""

from __future__ import annotations

import itertools
from contextlib import closing

from bench.speed import punctuality


def test_answers_are_measured_against_their_clock() -> None:
    """The time left decreases by the time used and increases by the increment."""
    clock = punctuality.Clock(1000, 0, 200)
    assert clock.go([300, 400]) == "go btime 300 wtime 400 binc 200 winc 200"
    with closing(punctuality.Engine(["Threads=1", "USI_OwnBook=false", "EvalFile=material"])) as engine:
        taken = list(itertools.islice(punctuality.answers(engine, clock), 3))
    assert [answer.allowed for answer in taken[:2]] == [1000, 1000]
    assert taken[2].allowed == 1000 - int(taken[0].used) + 200
    assert punctuality.row(clock, taken)[:2] == ["1000 + 200", "3"]


def test_late_is_after_the_flag() -> None:
    """An answer exactly at the flag is not late."""
    answers = [punctuality.Answer(100.0, 100), punctuality.Answer(101.0, 100)]
    assert punctuality.row(punctuality.Clock(0, 100), answers)[-2:] == ["-1", "1"]
