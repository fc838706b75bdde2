"""Clock and stop of one go."""

from __future__ import annotations

import time

from core_ext.engine import StopToken
from usi_engine.search.search_control import SearchControl
from usi_engine.search.timeman import TimeLimits


def test_the_stop_token_holds_the_deadline() -> None:
    stop = StopToken()
    control = SearchControl(stop, TimeLimits(maximum=10_000), begun=time.perf_counter() - 9)
    assert not stop.is_set()
    assert control.elapsed >= 9_000
    SearchControl(stop, TimeLimits(maximum=10_000), begun=time.perf_counter() - 11)
    assert stop.is_set()


def test_pondering_has_no_deadline_until_ponderhit() -> None:
    """ponderhit sets the deadline, counted from its own arrival."""
    stop = StopToken()
    control = SearchControl(stop, TimeLimits(maximum=1), pondering=True, begun=time.perf_counter() - 5)
    assert not stop.is_set()
    control.ponderhit(TimeLimits(maximum=10_000))
    assert not stop.is_set()
    control = SearchControl(stop, TimeLimits(maximum=1), pondering=True)
    control.ponderhit(TimeLimits(maximum=1_000), begun=time.perf_counter() - 2)
    assert stop.is_set()


def test_try_stop_brings_the_deadline_forward() -> None:
    """A search that is done early ends when its minimum time has passed."""
    stop = StopToken()
    control = SearchControl(stop, TimeLimits(optimum=20, maximum=10_000, minimum=50))
    assert not control.try_stop()
    assert not stop.is_set()
    time.sleep(0.06)
    assert stop.is_set()


def test_a_forced_move_or_a_proved_mate_ends_before_the_minimum_time() -> None:
    """It waits for a full second neither now nor after ponderhit."""
    slow = TimeLimits(optimum=5_000, maximum=10_000, minimum=2_000)
    assert not SearchControl(StopToken(), slow).try_stop()
    stop = StopToken()
    assert SearchControl(stop, slow).try_stop(without_minimum=True)
    assert stop.is_set()
    stop = StopToken()
    control = SearchControl(stop, slow, pondering=True)
    assert not control.try_stop(without_minimum=True)  # not before ponderhit
    assert not stop.is_set()
    control.try_stop()  # a deeper search that does not know it any more changes nothing
    control.ponderhit(slow)
    assert stop.is_set()


def test_a_search_done_while_pondering_has_its_minimum_time_after_ponderhit() -> None:
    stop, slow = StopToken(), TimeLimits(optimum=5_000, maximum=10_000, minimum=2_000)
    control = SearchControl(stop, slow, pondering=True)
    assert not control.try_stop()
    control.ponderhit(slow, begun=time.perf_counter() - 1)
    assert not stop.is_set()
    control = SearchControl(stop, slow, pondering=True)
    assert not control.try_stop()
    control.ponderhit(slow, begun=time.perf_counter() - 3)
    assert stop.is_set()


def test_lateness_is_measured_after_the_deadline() -> None:
    """An answer before the deadline is not late; after a stop, or without a clock, the lateness is unknown."""
    assert lateness(10_000) == 0
    assert 50 <= (lateness(100) or 0) < 5_000
    assert lateness(100, stopped=True) is None
    assert lateness(None) is None


def lateness(maximum: int | None, stopped: bool = False) -> float | None:
    """Return the lateness of an answer after 150 ms."""
    control = SearchControl(StopToken(), TimeLimits(maximum=maximum), begun=time.perf_counter() - 0.15)
    if stopped:
        control.stop()
    control.answer_sent()
    return control.lateness


def test_a_fail_low_while_pondering_takes_the_decision_to_stop_back() -> None:
    """But a proved mate or a forced move is answered at ponderhit all the same."""
    for proved in (False, True):
        stop, limits = StopToken(), TimeLimits(optimum=50, maximum=10_000)
        control = SearchControl(stop, limits, pondering=True)
        control.try_stop(without_minimum=proved)
        control.keep_searching()
        control.ponderhit(limits)
        assert stop.is_set() == proved
