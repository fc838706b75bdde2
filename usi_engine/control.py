"""What the outside may do to a running search: stop it, turn its pondering into thinking, run its clock out."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from usi_engine.clock import Limits

if TYPE_CHECKING:
    from core_ext.engine import StopToken

# Seconds that the alarm waits behind the deadline, so as not to wake up in the way of who answers.
GRACE = 0.005


class NoStop(threading.Event):
    """A stop for where there is no core, and so no search to hear it."""

    def set_in(self, seconds: float) -> None:
        """Nothing searches that could be late."""


class Control:
    """One go's clock and its stop. Every method may be called from any thread.

    A go that ponders or is infinite is `closed`: it may search, but its answer waits until `stop` or, if it ponders,
    `ponderhit`. The stop holds the deadline, which the workers look up themselves: on a busy machine the alarm
    thread wakes up late. It is there for what does not look at a clock.
    """

    def __init__(
        self,
        stop: StopToken,
        limits: Limits,
        pondering: bool = False,
        infinite: bool = False,
        begun: float | None = None,
    ) -> None:
        """`begun`: when the go arrived, by time.monotonic; now, where it is not given."""
        self._stop = stop
        self._news = threading.Condition()
        self._begun = self._started = time.monotonic() if begun is None else begun
        self._limits = limits
        self._pondering = pondering
        self._infinite = infinite
        self._stopped = self._finished = False
        self._enough = self._at_once = False
        self._deadline: float | None = None
        self._late: float = 0
        self._ended = self._begun
        if not pondering:
            self._set_deadline(self._at(limits.hard))
        self._alarm: threading.Thread | None = None

    def start(self) -> None:
        """Start the alarm."""
        self._alarm = threading.Thread(target=self._watch, name="alarm", daemon=True)
        self._alarm.start()

    @property
    def limits(self) -> Limits:
        """The limits now in force."""
        return self._limits

    @property
    def total(self) -> int:
        """Milliseconds since the go."""
        return int((time.monotonic() - self._begun) * 1000)

    @property
    def elapsed(self) -> int:
        """Milliseconds on this move's clock: since the go, or since the ponderhit."""
        return int((time.monotonic() - self._started) * 1000)

    @property
    def closed(self) -> bool:
        """Whether the answer must wait."""
        return not self._stopped and (self._pondering or self._infinite)

    @property
    def stopped(self) -> bool:
        """Whether `stop`, or what counts as one, has come."""
        return self._stopped

    def stop(self) -> None:
        """Answer now."""
        with self._news:
            self._stopped = True
            if not self._finished:
                self._stop.set()
            self._news.notify_all()

    def hit(self, limits: Limits, infinite: bool = False, begun: float | None = None) -> None:
        """The pondered move was played: this move's clock starts, at `begun` as above. Nothing ponders: no effect."""
        with self._news:
            if not self._pondering:
                return
            self._started = time.monotonic() if begun is None else begun
            self._pondering, self._limits, self._infinite = False, limits, infinite
            self._set_deadline(self._at(limits.hard))
            if limits.soft is not None and (self._enough or self._at_once):
                self._bring_forward(0 if self._at_once else limits.end_of(0))
            self._news.notify_all()

    def decided(self, at_once: bool = False) -> bool:
        """The search would stop here. True where it should; else it goes on, until its second is full or until a hit.

        `at_once`: there is nothing to think about, so no least time and no full second is waited for.
        """
        with self._news:
            if self._pondering or self._infinite:
                self._enough, self._at_once = True, self._at_once or at_once
                return False
            elapsed = self.elapsed
            end = elapsed if at_once else self._limits.end_of(elapsed)
            self._bring_forward(end)
            return end <= elapsed

    def wait_open(self) -> None:
        """Block until the answer may be given."""
        with self._news:
            self._news.wait_for(lambda: not self.closed)

    def answered(self) -> None:
        """The answer is out. Where the deadline was what it waited for, how late it came is known from now on."""
        now = time.monotonic()
        with self._news:
            self._ended = now
            if self._deadline is not None and not self._stopped:
                self._late = max(now - self._deadline, 0.0)

    @property
    def late(self) -> int:
        """Milliseconds from the deadline to the answer; 0 where it came sooner."""
        return int(self._late * 1000)

    @property
    def ended(self) -> float:
        """When the answer was out, by time.monotonic; the beginning, where none was told."""
        return self._ended

    def finish(self) -> None:
        """No search watches the stop any more; the alarm ends by itself, and never touches the stop again."""
        with self._news:
            self._finished = True
            self._news.notify_all()

    def _at(self, milliseconds: int | None) -> float | None:
        return None if milliseconds is None else self._started + milliseconds / 1000

    def _bring_forward(self, milliseconds: int) -> None:
        wanted = self._started + milliseconds / 1000
        self._set_deadline(wanted if self._deadline is None else min(self._deadline, wanted))
        self._news.notify_all()

    def _set_deadline(self, moment: float | None) -> None:
        self._deadline = moment
        if moment is not None:
            self._stop.set_in(moment - time.monotonic())

    def _watch(self) -> None:
        with self._news:
            while not self._finished:
                left = None if self._deadline is None else self._deadline + GRACE - time.monotonic()
                if left is not None and left <= 0:
                    self._stop.set()
                    return
                self._news.wait(left)
