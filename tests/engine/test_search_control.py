"""A go's clock and its stop."""

from __future__ import annotations

import time

from core_ext.engine import StopToken
from usi_engine.search.search_control import SearchControl
from usi_engine.search.timeman import TimeLimits


def test_the_stop_token_holds_the_deadline() -> None:
    """The token is set once the maximum time since the arrival of the go has passed."""
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
    control = SearchControl(stop, TimeLimits(optimum=100, maximum=10_000, minimum=150))
    assert not control.try_stop()
    assert not stop.is_set()
    time.sleep(0.2)
    assert stop.is_set()


def test_what_more_time_would_not_change_waits_for_no_minimum() -> None:
    """A forced move or a proved mate; a full second is not waited for either, nor after ponderhit."""
    slow = TimeLimits(optimum=5_000, maximum=10_000, minimum=2_000)
    assert not SearchControl(StopToken(), slow).try_stop()
    stop = StopToken()
    assert SearchControl(stop, slow).try_stop(without_minimum=True)
    assert stop.is_set()
    stop = StopToken()
    control = SearchControl(stop, slow, pondering=True)
    assert not control.try_stop(without_minimum=True)  # not before ponderhit
    assert not stop.is_set()
    control.ponderhit(slow)
    assert stop.is_set()


def test_lateness_is_measured_where_the_deadline_passed() -> None:
    """An answer before the deadline is not late; of one after a stop, or without a clock, nothing is known."""
    control = SearchControl(StopToken(), TimeLimits(maximum=10_000))
    control.answer_sent()
    assert control.lateness == 0
    control = SearchControl(StopToken(), TimeLimits(maximum=100), begun=time.perf_counter() - 0.15)
    control.answer_sent()
    assert control.lateness is not None
    assert 50 <= control.lateness < 5_000
    control = SearchControl(StopToken(), TimeLimits(maximum=100), begun=time.perf_counter() - 0.15)
    control.stop()
    control.answer_sent()
    assert control.lateness is None
    control = SearchControl(StopToken(), TimeLimits())
    control.answer_sent()
    assert control.lateness is None
