"""A go command and the ply -> how long to think: a soft limit for calm positions, a hard one never overstepped.

All figures are milliseconds since the clock of this move started. The options mean what YaneuraOu's users know:

- NetworkDelay: a usual delay between engine and server; taken off where thinking is rounded up to a full second.
- NetworkDelay2: the worst delay; the hard limit stays this far from the fall of the flag. Where the time left is so
  short that the delay would eat it, a fifth of the time left is kept instead.
- MinimumThinkingTime: on clocks that count whole seconds, no move is decided sooner (book and forced moves aside).
- SlowMover: percent of the usual soft limit.
- RoundUpToFullSecond: on clocks that count whole seconds and round down, use the second that is paid for anyway.
"""

from __future__ import annotations

from dataclasses import dataclass

from usi_engine.options import Options
from usi_engine.protocol import Go, Times

# The answer's own way out: waking a thread, printing, a pipe.
LEAST_MARGIN = 30
LEAST_TIME = 10
# Moves a side still has to make, as planned at move 1 and at least. Strong engines' games last about 120 plies.
MOVES_AT_START = 48
MOVES_AT_LEAST = 30
PONDER_BONUS = 1.25
# How much longer than the soft limit a move in trouble may take, and its share of the main time.
HARD_RATIO = 4.0
HARD_SHARE = 0.15
SOFT_SHARE = 0.10


@dataclass(frozen=True)
class Limits:
    """When to stop one move. None = no such limit."""

    soft: int | None = None
    hard: int | None = None
    minimum: int = 0
    round_up: bool = False
    delay: int = 0

    def end_of(self, elapsed: int) -> int:
        """When a move decided at `elapsed` should be played: now, or just before its second is full."""
        wanted = max(elapsed, self.minimum)
        if self.round_up:
            full = -(-(wanted + self.delay) // 1000) * 1000 - self.delay
            wanted = max(wanted, full)
        return wanted if self.hard is None else min(wanted, max(self.hard, elapsed))


@dataclass(frozen=True)
class Clock:
    """What one side has: main time, byoyomi and increment, and how it is counted."""

    main: int
    byoyomi: int
    increment: int
    whole_seconds: bool

    @property
    def usable(self) -> int:
        """What may be spent on this move. Some GUIs have added the increment already: the sure part counts."""
        if self.byoyomi == 0 and self.main < self.increment:
            return self.main + self.increment
        return self.main + self.byoyomi


def plan(go: Go, black: bool, ply: int, options: Options) -> Limits:
    """Limits of this go for the side to move at game ply `ply`."""
    if go.movetime is not None:
        return _fixed(max(go.movetime - min(LEAST_MARGIN, go.movetime // 10), LEAST_TIME))
    if not go.times.given() or go.infinite:
        return Limits()
    clock = read_clock(go.times, black)
    cap = max(clock.usable - _margin(clock.usable, options), LEAST_TIME)
    if clock.byoyomi and clock.main < clock.byoyomi:
        return _fixed(cap)
    return _shared_out(clock, cap, ply, options)


def read_clock(times: Times, black: bool) -> Clock:
    """The clock of one side."""
    main = (times.btime if black else times.wtime) or 0
    increment = (times.binc if black else times.winc) or 0
    byoyomi = times.byoyomi or 0
    whole = all(figure % 1000 == 0 for figure in (main, increment, byoyomi))
    return Clock(main, byoyomi, increment, whole)


def moves_to_go(ply: int, max_moves: int) -> int:
    """How many moves this side should still have time for."""
    expected = max(MOVES_AT_START - ply // 4, MOVES_AT_LEAST)
    if max_moves:
        expected = min(expected, max((max_moves - ply) // 2 + 1, 1))
    return expected


def _fixed(milliseconds: int) -> Limits:
    return Limits(soft=milliseconds, hard=milliseconds, minimum=milliseconds)


def _margin(usable: int, options: Options) -> int:
    return min(max(options.number("NetworkDelay2"), LEAST_MARGIN), max(usable // 5, LEAST_MARGIN))


def _shared_out(clock: Clock, cap: int, ply: int, options: Options) -> Limits:
    left = moves_to_go(ply, options.number("MaxMovesToDraw"))
    free = clock.byoyomi + clock.increment * 4 // 5
    share = min(clock.main / left, max(clock.main * SOFT_SHARE, clock.main / left if left < 10 else 0))
    usual = (share + free) * options.number("SlowMover") / 100
    if options.flag("USI_Ponder"):
        usual *= PONDER_BONUS
    longest = min(usual * HARD_RATIO, clock.main * max(HARD_SHARE, 1 / left) + free, cap)
    soft = max(int(min(usual, longest)), LEAST_TIME)
    rounded = clock.whole_seconds and options.flag("RoundUpToFullSecond")
    hard = min(max(int(longest), soft, 1000 if rounded else 0), cap)
    return Limits(min(soft, hard), hard, _least(clock, hard, options), rounded, options.number("NetworkDelay"))


def _least(clock: Clock, hard: int, options: Options) -> int:
    if not clock.whole_seconds:
        return 0
    wanted = max(options.number("MinimumThinkingTime") - options.number("NetworkDelay"), 0)
    return min(wanted, hard, max(clock.usable // 20, clock.byoyomi))
