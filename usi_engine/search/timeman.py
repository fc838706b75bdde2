"""Time management: the time limits of one move, from the clocks of a `go`, the ply and the options.

All times are milliseconds since the clock of this move started. The options have YaneuraOu's names and meanings:

- NetworkDelay: the usual delay between engine and server; subtracted if thinking is rounded up to a full second.
- NetworkDelay2: the worst delay; every move ends at least this long before the flag falls. If little time is left,
  the margin is smaller: a twentieth of it, a quarter of the part beyond a second, and more after late answers.
- MinimumThinkingTime: least time of a move on clocks that count whole seconds (except book and forced moves).
- SlowMover: percent of the usual optimum time.
- RoundUpToFullSecond: on clocks that count whole seconds, rounded down, use up the second that has begun.
"""

import math
from collections import deque
from dataclasses import dataclass, replace

from usi_engine.clock import TimeControl
from usi_engine.usi.options import Options
from usi_engine.usi.protocol import Go

SECOND = 1000
# The usual margin: printing the answer, the pipe and the GUI take a few milliseconds.
MIN_MARGIN = 5
MARGIN_SHARE = 0.05
# A longer clock may be a server's: this share of the time beyond LOCAL_TIME is added, up to NetworkDelay2.
LOCAL_TIME = 1000
SERVER_SHARE = 0.2
# The greatest margin of a movetime.
MOVETIME_MARGIN = 30
# Least time of a move, if it has twice as much.
MIN_TIME = 10
# Time of a move if only the reserve is left (RESERVED_MOVES), and least time of all.
EMERGENCY_TIME = 2
# Cost of a move beyond its thinking time, and the number of moves that a clock without increment reserves it for.
MOVE_OVERHEAD = 5
RESERVED_MOVES = 80
# Moves to go that the main time is planned for: at ply 1, and at least. Games of strong engines last about 120 plies,
# but many moves take longer than their optimum time.
MOVES_AT_START = 90
MOVES_AT_LEAST = 50
# The optimum time as a multiple of the share that would last for all these moves, because time counts most before the
# game is decided: 55 % instead of 48 % against YaneuraOu (docs/findings.md).
EARLY_FACTOR = 1.3
PONDER_FACTOR = 1.25
# Share of the optimum time for the score of the only legal move.
FORCED_SHARE = 0.05
# The maximum time as a multiple of the optimum time, and the greatest shares of the main time for both.
MAXIMUM_RATIO = 5.0
MAXIMUM_SHARE = 0.3
OPTIMUM_SHARE = 0.10
# With fewer moves to go, the optimum share does not apply.
FEW_MOVES = 10
# Minimum time: at most this part of the usable time, or the byoyomi.
MINIMUM_DIVISOR = 20

# Number of answers whose lateness is kept. The second greatest counts: a single halt of the process is an exception.
RECENT_ANSWERS = 100
# The engine measures its own lateness, not the delay between its output and the GUI's clock; and a few answers may
# not show the worst case.
LATENESS_FACTOR = 2.0
FEW_ANSWERS = 16
MAX_LATENESS = 400
# A late answer increases the margin of the next moves, less at each.
MAX_PEAK = 100
PEAK_DECAY = 0.75
# Assumed before the first move.
INITIAL_LATENESS = 30.0
# The margin never leaves less than this share of the usable time.
MIN_USED_SHARE = 0.25

# The factors of TimeScale, from Stockfish. Falling value: weight of a centipawn below the value of the move before, and
# below the value FALL_DEPTHS iterations before; the factor is least if the value does not fall.
FALL_BASE = 0.113
FALL_SINCE_MOVE, FALL_SINCE_DEPTH = 0.0212, 0.0099
FALL_DEPTHS = 4
MIN_FALL, MAX_FALL = 0.57, 1.57
# Firmness of the best move: minimum, range, iterations without a change at half the range, steepness of the curve.
FIRM_LEAST, FIRM_MORE, FIRM_DEPTHS, FIRM_STEEPNESS = 0.72, 0.79, 11.6, 0.52
# The factor is (FIRM_BASE + firmness of the move before) / (FIRM_SCALE * firmness of this move).
FIRM_BASE, FIRM_SCALE = 1.44, 2.24
# Each change of the best move adds CHANGE to the factor; it decays by CHANGE_DECAY per iteration.
CHANGE_BASE, CHANGE, CHANGE_DECAY = 1.04, 1.9, 0.5
# Factor from CLEAR_DEPTH on if the best move took CLEAR_SHARE of all nodes: the alternatives were refuted quickly.
CLEAR_SHARE, CLEAR_DEPTH, CLEAR_FACTOR = 0.924, 10, 0.67
# The next iteration takes longer than all before: do not begin it after this share of the time.
NEW_ITERATION_SHARE = 0.6


class Lateness:
    """Delays of recent answers after their deadlines, and the safety margin that follows from them.

    On a loaded machine a thread waits for a processor. Earlier games count too, because the delay is a property of the
    machine. `initial`: milliseconds assumed before the first move.
    """

    def __init__(self, initial: float = 0.0) -> None:
        self._recent: deque[float] = deque(maxlen=RECENT_ANSWERS)
        self._peak = initial

    def record(self, milliseconds: float) -> None:
        """Add the delay of one answer, 0 if it was in time."""
        late = min(max(milliseconds, 0.0), MAX_LATENESS)
        self._recent.append(late)
        self._peak = max(self._peak * PEAK_DECAY, min(late, MAX_PEAK))

    def margin(self, most: int) -> int:
        """Return milliseconds to add to the usual margin, at most `most`; longer delays cannot be made up for."""
        coverable = sorted(late for late in self._recent if late <= most)
        habit = coverable[-2] if len(coverable) > 1 else 0.0
        factor = LATENESS_FACTOR + FEW_ANSWERS / max(len(self._recent), 1)
        return min(math.ceil(max(habit * factor, self._peak)), MAX_LATENESS, max(most, 0))

    @property
    def overhead(self) -> int:
        """Milliseconds that a move is expected to cost beyond its thinking time."""
        mean = sum(self._recent) / max(len(self._recent), FEW_ANSWERS)
        return MOVE_OVERHEAD + math.ceil(mean * LATENESS_FACTOR)


ON_TIME = Lateness()


@dataclass(frozen=True)
class TimeLimits:
    """Optimum, maximum and minimum time of one move; None: no such limit.

    `forced`: time of an only legal move, whose search serves the score alone; None: as for other moves.
    """

    optimum: int | None = None
    maximum: int | None = None
    minimum: int = 0
    forced: int | None = None
    round_up: bool = False
    delay: int = 0

    def search_end(self, elapsed: int) -> int:
        """Return when a search that is done at `elapsed` should end: now, or just before its second is full."""
        end = max(elapsed, self.minimum)
        if self.round_up:
            full = -(-(end + self.delay) // SECOND) * SECOND - self.delay
            end = max(end, full)
        return end if self.maximum is None else min(end, max(self.maximum, elapsed))


def time_limits(go: Go, side: int, ply: int, options: Options, lateness: Lateness = ON_TIME) -> TimeLimits:
    """Return the limits of a go for this side at game ply `ply`, after answers of this lateness."""
    if go.movetime is not None:
        margin = min(MIN_MARGIN + int(go.movetime * MARGIN_SHARE), MOVETIME_MARGIN)
        return _fixed_limits(max(go.movetime - margin, _least_time(go.movetime)))
    if not go.times.given() or go.infinite:
        return TimeLimits()
    limits = _clock_limits(go.times.control(side), ply, options, lateness)
    if limits.optimum is None or go.searchmoves or go.nodes or go.depth:
        return limits
    return replace(limits, forced=int(limits.optimum * FORCED_SHARE))


def _clock_limits(clock: TimeControl, ply: int, options: Options, lateness: Lateness) -> TimeLimits:
    usable = usable_time(clock)
    cap = max(usable - _margin(usable, options, lateness), _least_time(usable))
    if clock.byoyomi and clock.main < clock.byoyomi:
        return _fixed_limits(cap)
    if not clock.renews and clock.main <= RESERVED_MOVES * lateness.overhead:
        return _fixed_limits(EMERGENCY_TIME)
    return _allocated_limits(clock, cap, ply, options, lateness.overhead)


def usable_time(control: TimeControl) -> int:
    """Return the time a move may use. The increment counts only if the GUI has not yet added it to the main time."""
    if control.byoyomi == 0 and control.main < control.increment:
        return control.main + control.increment
    return control.main + control.byoyomi


def moves_to_go(ply: int, max_moves: int) -> int:
    """Return the number of moves of this side for which the main time must last."""
    expected = max(MOVES_AT_START - ply // 2, MOVES_AT_LEAST)
    if max_moves:
        expected = min(expected, max((max_moves - ply) // 2 + 1, 1))
    return expected


def _least_time(usable: int) -> int:
    return max(min(MIN_TIME, usable // 2), EMERGENCY_TIME)


def _fixed_limits(milliseconds: int) -> TimeLimits:
    return TimeLimits(optimum=milliseconds, maximum=milliseconds, minimum=milliseconds)


def _margin(usable: int, options: Options, lateness: Lateness) -> int:
    local = MIN_MARGIN + int(min(usable, LOCAL_TIME) * MARGIN_SHARE)
    server = int(max(usable - LOCAL_TIME, 0) * (MARGIN_SHARE + SERVER_SHARE))
    usual = max(min(options.number("NetworkDelay2"), local + server), MIN_MARGIN)
    most = int(usable * (1 - MIN_USED_SHARE)) - local
    return max(usual, local + lateness.margin(most))


def _allocated_limits(clock: TimeControl, cap: int, ply: int, options: Options, overhead: int) -> TimeLimits:
    """Divide the main time by the moves to go and add the renewed time: byoyomi, increment."""
    moves = moves_to_go(ply, options.number("MaxMovesToDraw"))
    renewed = max(clock.byoyomi + clock.increment - overhead, 0)
    main = clock.main if clock.renews else clock.main - RESERVED_MOVES * overhead
    share = min(main / moves, max(main * OPTIMUM_SHARE, main / moves if moves < FEW_MOVES else 0))
    scaled = EARLY_FACTOR * (share + renewed) * options.number("SlowMover") / 100
    if options.flag("USI_Ponder"):
        scaled *= PONDER_FACTOR
    longest = min(scaled * MAXIMUM_RATIO, main * max(MAXIMUM_SHARE, 1 / moves) + renewed, cap)
    optimum = max(int(min(scaled, longest)), MIN_TIME)
    # Without renewal one move would use up the last second, if the clock counts milliseconds after all.
    rounded = clock.whole_seconds and (clock.renews or clock.main > SECOND) and options.flag("RoundUpToFullSecond")
    maximum = min(max(int(longest), optimum, SECOND if rounded else 0), cap)
    minimum = _minimum_time(clock, maximum, options)
    return TimeLimits(min(optimum, maximum), maximum, minimum, round_up=rounded, delay=options.number("NetworkDelay"))


def _minimum_time(clock: TimeControl, maximum: int, options: Options) -> int:
    if not clock.whole_seconds:
        return 0
    minimum = max(options.number("MinimumThinkingTime") - options.number("NetworkDelay"), 0)
    return min(minimum, maximum, max(usable_time(clock) // MINIMUM_DIVISOR, clock.byoyomi))


@dataclass
class LastMove:
    """Value and firmness of the last move, kept for the time of the next one."""

    value: int | None = None
    firmness: float = 1.0


class TimeScale:
    """A scale for the optimum time of one move, the product of four factors (Stockfish).

    More time if the value falls below the last move's or an earlier iteration's, if the best move changed lately, or
    if the last search saved time; less if the best move has long been the same or takes nearly all nodes. `last` is
    updated.
    """

    def __init__(self, last: LastMove) -> None:
        self._before = replace(last)
        self._last = last
        self._move = ""
        self._values: list[int] = []
        self._changes = 0.0
        self._changed_at = 0
        self._share = 0.0

    def iteration_done(self, move: str, value: int, share: float) -> None:
        """Add best move and value of a finished iteration; `share`: the best move's share of all nodes."""
        changed = bool(self._values) and move != self._move
        self._values.append(value)
        self._changes = self._changes * CHANGE_DECAY + changed
        if move != self._move:
            self._move, self._changed_at = move, len(self._values)
        self._share = share
        self._last.value, self._last.firmness = value, self._firmness()

    def factor(self) -> float:
        """Return the factor of the optimum time."""
        firmness = (FIRM_BASE + self._before.firmness) / (FIRM_SCALE * self._last.firmness)
        clear = self._share >= CLEAR_SHARE and len(self._values) >= CLEAR_DEPTH
        return self._fall_factor() * firmness * (CHANGE_BASE + CHANGE * self._changes) * (CLEAR_FACTOR if clear else 1)

    def used_up(self, elapsed: int, optimum: int) -> bool:
        """Return whether too little time is left for another iteration."""
        return elapsed >= optimum * self.factor() * NEW_ITERATION_SHARE

    def _firmness(self) -> float:
        same = len(self._values) - self._changed_at
        return FIRM_LEAST + FIRM_MORE / (1.1 + math.exp(FIRM_STEEPNESS * (FIRM_DEPTHS - same)))

    def _fall_factor(self) -> float:
        before, value = self._before.value, self._values[-1]
        if before is None:
            return 1.0
        earlier = self._values[-1 - FALL_DEPTHS] if len(self._values) > FALL_DEPTHS else before
        fall = FALL_BASE + FALL_SINCE_MOVE * (before - value) + FALL_SINCE_DEPTH * (earlier - value)
        return min(max(fall, MIN_FALL), MAX_FALL)
