"""A go's clock and its stop, seen from the threads that touch it."""

from __future__ import annotations

import time

from core_ext.engine import StopToken
from usi_engine.clock import Limits
from usi_engine.control import Control


def test_the_signal_holds_the_deadline() -> None:
    """Without any alarm: the stop counts as set once the hard limit is over, reckoned from when the go arrived."""
    stop = StopToken()
    control = Control(stop, Limits(hard=10_000), begun=time.monotonic() - 9)
    assert not stop.is_set()
    assert control.elapsed >= 9_000
    Control(stop, Limits(hard=10_000), begun=time.monotonic() - 11)
    assert stop.is_set()


def test_pondering_has_no_deadline_until_the_hit() -> None:
    """A hit sets the deadline of the move that was waited for, from its own moment on."""
    stop = StopToken()
    control = Control(stop, Limits(hard=1), pondering=True, begun=time.monotonic() - 5)
    assert not stop.is_set()
    control.hit(Limits(hard=10_000))
    assert not stop.is_set()
    control = Control(stop, Limits(hard=1), pondering=True)
    control.hit(Limits(hard=1_000), begun=time.monotonic() - 2)
    assert stop.is_set()


def test_a_decision_moves_the_deadline_forward() -> None:
    """A move decided early is played when its second is full."""
    stop = StopToken()
    control = Control(stop, Limits(soft=100, hard=10_000, minimum=150))
    assert not control.decided()
    assert not stop.is_set()
    time.sleep(0.2)
    assert stop.is_set()


def test_lateness_is_measured_where_the_deadline_passed() -> None:
    """An answer before the deadline is not late; a stop from outside is nobody's lateness."""
    control = Control(StopToken(), Limits(hard=10_000))
    control.answered()
    assert control.late == 0
    control = Control(StopToken(), Limits(hard=100), begun=time.monotonic() - 0.15)
    control.answered()
    assert 50 <= control.late < 5_000
    control = Control(StopToken(), Limits(hard=100), begun=time.monotonic() - 0.15)
    control.stop()
    control.answered()
    assert control.late == 0


def test_the_alarm_is_there_for_who_looks_at_no_clock() -> None:
    """The flag itself is raised, soon after the deadline; and not any more once the search has finished."""
    stop = StopToken()
    control = Control(stop, Limits(hard=10))
    control.start()
    time.sleep(0.3)
    stop.set_in(1000)
    assert stop.is_set()
    stop.clear()
    control = Control(stop, Limits(hard=50))
    control.start()
    control.finish()
    stop.clear()
    time.sleep(0.2)
    assert not stop.is_set()
