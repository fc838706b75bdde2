"""Control of one go: `stop`, `ponderhit`, the time limits and the search itself end the search through it."""

import threading
import time

from usi_engine.core import StopToken
from usi_engine.search.timeman import TimeLimits


class NoStop(threading.Event):
    """A substitute for the stop token if the core could not be loaded."""

    def set_in(self, seconds: float) -> None:
        """Do nothing."""


class SearchControl:
    """Clock and stop of one go. Every method may be called from any thread.

    A go that ponders or is infinite must not be answered before `stop` or, if it ponders, `ponderhit`. The stop token
    holds the deadline, and workers and mate solvers compare it with the clock themselves: on a loaded machine a thread
    that sets a flag would wake up late.
    """

    def __init__(
        self,
        stop: StopToken | NoStop,
        limits: TimeLimits,
        pondering: bool = False,
        infinite: bool = False,
        begun: float | None = None,
    ) -> None:
        """Start the clock at `begun`, the arrival of the go by time.perf_counter; now if None."""
        self._stop = stop
        self._changed = threading.Condition()
        self._begun = self._clock_start = time.perf_counter() if begun is None else begun
        self.limits = limits  # in force now
        self._pondering = pondering
        self._infinite = infinite
        self._stopped = False
        self._stop_on_ponderhit = self._without_minimum = False
        self._deadline: float | None = None
        self._lateness: float | None = None
        self.answered_at = self._begun  # time of the answer by time.perf_counter; before it, of the go
        if not pondering and limits.maximum is not None:
            self._end_by(limits.maximum)

    @property
    def total(self) -> int:
        """Milliseconds since the go."""
        return int((time.perf_counter() - self._begun) * 1000)

    @property
    def elapsed(self) -> int:
        """Milliseconds on this move's clock: since the go, or since the ponderhit."""
        return int((time.perf_counter() - self._clock_start) * 1000)

    @property
    def stopped(self) -> bool:
        """True after `stop`."""
        return self._stopped

    @property
    def must_wait(self) -> bool:
        """True if the answer must wait for `stop` or `ponderhit`."""
        return not self._stopped and (self._pondering or self._infinite)

    def stop(self) -> None:
        """End the search and answer now."""
        with self._changed:
            self._stopped = True
            self._stop.set()
            self._changed.notify_all()

    def ponderhit(self, limits: TimeLimits, infinite: bool = False, begun: float | None = None) -> None:
        """Start the clock, at `begun` or now, because the expected move was played. No effect unless pondering."""
        with self._changed:
            if not self._pondering:
                return
            self._clock_start = time.perf_counter() if begun is None else begun
            self._pondering, self.limits, self._infinite = False, limits, infinite
            if limits.maximum is not None:
                self._end_by(limits.maximum)
            if limits.optimum is not None and self._stop_on_ponderhit:
                self._end_by(0 if self._without_minimum else limits.search_end(0))
            self._changed.notify_all()

    def try_stop(self, without_minimum: bool = False) -> bool:
        """Return whether the search may end now. If not, it will end when its second is full, or at ponderhit.

        `without_minimum`: ignore the minimum time and the full second, because more time would change nothing (a forced
        move, a proved mate).
        """
        with self._changed:
            if self._pondering or self._infinite:
                self._stop_on_ponderhit = True
                self._without_minimum = self._without_minimum or without_minimum
                return False
            elapsed = self.elapsed
            end = elapsed if without_minimum else self.limits.search_end(elapsed)
            self._end_by(end)
            return end <= elapsed

    def keep_searching(self) -> None:
        """Take back that the search ends at ponderhit, because its move has failed low since (as in Stockfish).

        A forced move or a proved mate stays.
        """
        with self._changed:
            self._stop_on_ponderhit = self._without_minimum

    def wait_to_answer(self) -> None:
        """Block until the answer may be given."""
        with self._changed:
            self._changed.wait_for(lambda: not self.must_wait)

    def answer_sent(self) -> None:
        """Record that the answer was written, and how late, unless `stop` ended the search."""
        now = time.perf_counter()
        with self._changed:
            self.answered_at = now
            if self._deadline is not None and not self._stopped:
                self._lateness = max(now - self._deadline, 0.0)

    @property
    def lateness(self) -> float | None:
        """Milliseconds from the deadline to the answer, at least 0; None if there was no deadline."""
        return None if self._lateness is None else self._lateness * 1000

    def _end_by(self, milliseconds: int) -> None:
        """End the search at this time of the clock, unless it ends sooner."""
        moment = self._clock_start + milliseconds / 1000
        self._deadline = moment if self._deadline is None else min(self._deadline, moment)
        self._stop.set_in(self._deadline - time.perf_counter())
