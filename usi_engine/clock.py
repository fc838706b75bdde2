"""A go command and the ply -> how long to think: a soft limit for calm positions, a hard one never overstepped.

All figures are milliseconds since the clock of this move started. The options mean what YaneuraOu's users know:

- NetworkDelay: a usual delay between engine and server; taken off where thinking is rounded up to a full second.
- NetworkDelay2: the worst delay; the hard limit stays this far from the fall of the flag. Where the time left is so
  short that the delay would eat it, a fifth of the time left is kept instead, and more where answers came late before.
- MinimumThinkingTime: on clocks that count whole seconds, no move is decided sooner (book and forced moves aside).
- SlowMover: percent of the usual soft limit.
- RoundUpToFullSecond: on clocks that count whole seconds and round down, use the second that is paid for anyway.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from usi_engine.options import Options
from usi_engine.protocol import Go, Times

# The answer's own way out on a quiet machine: printing, a pipe, the other side waking up.
LEAST_MARGIN = 30
LEAST_TIME = 10
# With nothing left but the reserve, a glance must do.
GLANCE_TIME = 2
# What a move costs beyond its thinking, and how many such moves a clock that only falls keeps paid for.
USUAL_COST = 5
RESERVED_MOVES = 80
# Moves a side still has to make, as planned at move 1 and at least. Strong engines' games last about 120 plies.
MOVES_AT_START = 48
MOVES_AT_LEAST = 30
PONDER_BONUS = 1.25
# How much longer than the soft limit a move in trouble may take, and its share of the main time.
HARD_RATIO = 4.0
HARD_SHARE = 0.15
SOFT_SHARE = 0.10


# Of the worst lateness seen, so much is still feared one move later.
LATENESS_FADE = 0.98
# What the engine sees of its lateness is not all: the way of its answer through the other side is slowed down too.
UNSEEN = 2.0
MOST_LATENESS = 400
# Feared before anything is known; on a quiet machine it has faded after some dozens of moves.
FIRST_FEAR = 10.0
# However late we were, this share of what may be used is thought through.
LEAST_SHARE = 0.25


class Lateness:
    """How late after their deadlines the answers so far came, and the margin that follows for the next one.

    A machine that has other work lets a program wait for a processor. The worst is remembered and fades move by move,
    from game to game too: it says something of the machine. `feared`: milliseconds to begin with.
    """

    def __init__(self, feared: float = 0.0) -> None:
        self._worst = feared
        self._mean = 0.0

    def seen(self, milliseconds: float) -> None:
        """An answer came so long after its deadline; 0 for one in time."""
        late = min(max(milliseconds, 0.0), MOST_LATENESS)
        self._worst = max(self._worst * LATENESS_FADE, late)
        self._mean += (late - self._mean) / 8

    @property
    def margin(self) -> int:
        """Milliseconds to keep for it, besides the margin that is always kept."""
        return min(math.ceil(self._worst * UNSEEN), MOST_LATENESS)

    @property
    def cost(self) -> int:
        """Milliseconds a move is likely to cost beyond its thinking."""
        return USUAL_COST + math.ceil(self._mean * 2)


PUNCTUAL = Lateness()


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


def plan(go: Go, black: bool, ply: int, options: Options, lateness: Lateness = PUNCTUAL) -> Limits:
    """Limits of this go for the side to move at game ply `ply`, by an engine that was as late before as `lateness`."""
    if go.movetime is not None:
        return _fixed(max(go.movetime - min(LEAST_MARGIN, go.movetime // 10), LEAST_TIME))
    if not go.times.given() or go.infinite:
        return Limits()
    clock = read_clock(go.times, black)
    cap = max(clock.usable - _margin(clock.usable, options, lateness), LEAST_TIME)
    if clock.byoyomi and clock.main < clock.byoyomi:
        return _fixed(cap)
    if clock.byoyomi == clock.increment == 0 and clock.main <= RESERVED_MOVES * lateness.cost:
        return _fixed(GLANCE_TIME)
    return _shared_out(clock, cap, ply, options, lateness.cost)


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


def _margin(usable: int, options: Options, lateness: Lateness) -> int:
    usual = min(max(options.number("NetworkDelay2"), LEAST_MARGIN), max(usable // 5, LEAST_MARGIN))
    feared = min(LEAST_MARGIN + lateness.margin, int(usable * (1 - LEAST_SHARE)))
    return max(usual, feared)


def _shared_out(clock: Clock, cap: int, ply: int, options: Options, cost: int) -> Limits:
    left = moves_to_go(ply, options.number("MaxMovesToDraw"))
    free = max(clock.byoyomi + clock.increment * 4 // 5 - cost, 0)
    main = clock.main if clock.byoyomi or clock.increment else clock.main - RESERVED_MOVES * cost
    share = min(main / left, max(main * SOFT_SHARE, main / left if left < 10 else 0))
    usual = (share + free) * options.number("SlowMover") / 100
    if options.flag("USI_Ponder"):
        usual *= PONDER_BONUS
    longest = min(usual * HARD_RATIO, main * max(HARD_SHARE, 1 / left) + free, cap)
    soft = max(int(min(usual, longest)), LEAST_TIME)
    rounded = clock.whole_seconds and options.flag("RoundUpToFullSecond")
    hard = min(max(int(longest), soft, 1000 if rounded else 0), cap)
    return Limits(min(soft, hard), hard, _least(clock, hard, options), rounded, options.number("NetworkDelay"))


def _least(clock: Clock, hard: int, options: Options) -> int:
    if not clock.whole_seconds:
        return 0
    wanted = max(options.number("MinimumThinkingTime") - options.number("NetworkDelay"), 0)
    return min(wanted, hard, max(clock.usable // 20, clock.byoyomi))
