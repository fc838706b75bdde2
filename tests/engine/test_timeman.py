"""Time management: no move uses more than it has, and the time lasts for a whole game; clock and stop of one go."""

import itertools
import random
import time
from collections.abc import Callable
from typing import Any

import pytest

from core_ext.engine import StopToken
from usi_engine.search import timeman
from usi_engine.search.search_control import SearchControl
from usi_engine.search.timeman import LastMove, Lateness, TimeLimits, TimeScale, time_limits, usable_time
from usi_engine.usi.options import Options
from usi_engine.usi.protocol import Go, Times

MAIN_TIMES = (0, 1, 50, 999, 1000, 1001, 5000, 60_000, 600_000, 10_000_000)
BYOYOMIS = (0, 1, 100, 1000, 5000, 30_000)
UNUSUAL: list[dict[str, Any]] = [{}, {"NetworkDelay2": 0}, {"SlowMover": 1000}, {"MaxMovesToDraw": 320},
                                 {"RoundUpToFullSecond": False}]  # fmt: skip
INCREMENTS = (0, 10, 100, 1000, 10_000)


def limits_of(
    go: Times | Go, ply: int = 1, black: bool = True, lateness: Lateness = timeman.ON_TIME, **set_to: Any
) -> TimeLimits:
    """Return the limits with these options."""
    options = Options()
    for name, value in set_to.items():
        assert options.set(name, str(value).lower()) is None
    return time_limits(Go(go) if isinstance(go, Times) else go, 0 if black else 1, ply, options, lateness)


@pytest.mark.parametrize("ply", [1, 40, 119, 200, 319, 1000])
def test_never_overstep(ply: int) -> None:
    """0 < optimum <= maximum < usable time, whatever the clock and the options."""
    extras = [(byoyomi, 0) for byoyomi in BYOYOMIS] + [(0, increment) for increment in INCREMENTS]
    for main, (byoyomi, increment), options in itertools.product(MAIN_TIMES, extras, UNUSUAL):
        times = Times(main, 1, byoyomi, increment, 1)
        limits, usable = limits_of(times, ply, **options), usable_time(times.control(0))
        assert limits.optimum is not None and limits.maximum is not None
        assert timeman.EMERGENCY_TIME <= limits.optimum <= limits.maximum <= max(usable - 5, usable // 2, 2)
        for elapsed in (0, limits.optimum, limits.maximum - 1):
            assert elapsed <= limits.search_end(elapsed) <= limits.maximum


def test_the_side_to_move_counts() -> None:
    times = Times(btime=600_000, wtime=6_000, binc=0, winc=0)
    black, white = limits_of(times), limits_of(times, black=False)
    assert black.maximum is not None and white.maximum is not None and white.maximum < 6_000 < black.maximum
    times = Times(600_000, 600_000, binc=10_000, winc=0)
    assert (limits_of(times).optimum or 0) > (limits_of(times, black=False).optimum or 0) + 5_000


GAME = Times(600_000, 600_000)


@pytest.mark.parametrize(
    ("go", "options", "wanted"),
    [
        # Without main time, the whole byoyomi less the worst delay is used.
        (Times(0, 0, 10_000), {}, {"optimum": 8_880, "maximum": 8_880, "minimum": 8_880, "forced": 444}),
        # movetime is used, less the margin for the answer.
        *((Go(movetime=time), {}, {"maximum": maximum}) for time, maximum in ((1000, 970), (100, 90), (10, 5), (0, 2))),
        # At ply 317 of 320 two moves are left.
        (Times(60_000, 60_000), {"ply": 317, "MaxMovesToDraw": 320}, {"optimum": 29_800}),
        # The delay is subtracted from the minimum, which is less if time is short.
        (GAME, {"MinimumThinkingTime": 5000}, {"minimum": 4_880}), (GAME, {"MinimumThinkingTime": 0}, {"minimum": 0}),
        (Times(10_000, 10_000), {"MinimumThinkingTime": 5000}, {"minimum": 500}),
        # Clocks of whole seconds are rounded, except for a last second, which must last for many moves.
        (GAME, {}, {"round_up": True}), (Times(600_001, 600_000), {}, {"round_up": False, "minimum": 0}),
        (Times(1000, 1000), {}, {"round_up": False}), (Times(0, 0, None, 1000, 1000), {}, {"round_up": True}),
        (Times(2000, 2000), {}, {"round_up": True}),
        # A forced move gets a share on a game clock only; otherwise it gets the given limit.
        *((go, {}, {"forced": None}) for go in (Go(movetime=1000), Go(GAME, searchmoves=("7g7f",)), Go(GAME, nodes=1),
                                                Go(GAME, depth=1), Go())),
    ],
)  # fmt: skip
def test_limits(go: Times | Go, options: dict[str, Any], wanted: dict[str, Any]) -> None:
    limits = limits_of(go, **options)
    assert {name: getattr(limits, name) for name in wanted} == wanted


def test_increment_below_main_is_in_it_already() -> None:
    """btime counts alone unless it is less than binc."""
    assert usable_time(Times(5000, 5000, None, 1000, 1000).control(0)) == 5000
    assert usable_time(Times(500, 5000, None, 1000, 1000).control(0)) == 1500


@pytest.mark.parametrize("go", [Go(), Go(infinite=True), Go(depth=5), Go(Times(1, 1), infinite=True), Go(nodes=5)])
def test_no_clock(go: Go) -> None:
    assert limits_of(go) == TimeLimits()


def test_round_up() -> None:
    """On clocks of whole seconds a decision waits for the end of its second, less NetworkDelay."""
    limits = limits_of(GAME)
    assert [limits.search_end(elapsed) for elapsed in (0, 1_880, 1_881, 3_000)] == [1_880, 1_880, 2_880, 3_880]
    assert limits_of(Times(600_001, 600_000)).search_end(7) == 7


def test_slow_mover_and_ponder() -> None:
    usual = limits_of(GAME).optimum or 0
    assert limits_of(GAME, SlowMover=200).optimum == pytest.approx(usual * 2, abs=2)
    assert limits_of(GAME, USI_Ponder=True).optimum == pytest.approx(usual * 1.25, abs=2)


@pytest.mark.parametrize(
    ("main", "increment", "byoyomi", "step", "late"),
    [(600_000, 0, 0, 1000, 0), (60_000, 0, 0, 1, 0), (10_000, 100, 0, 1, 0), (1_000, 50, 0, 1, 0),
     (300_000, 0, 10_000, 1000, 0), (10_000, 0, 0, 1, 10), (10_000, 0, 0, 1, 20)],
)  # fmt: skip
def test_the_time_lasts_for_a_long_game(main: int, increment: int, byoyomi: int, step: int, late: int) -> None:
    """Each move uses its rounded optimum time, every eighth the maximum: 200 moves, or 110.

    Each answer comes late by `late`, and as much again is lost on the way.
    """
    left, lateness = main, Lateness()
    for move in range(200 if increment or byoyomi else 110):
        limits = limits_of(Times(left, left, byoyomi, increment, increment), 2 * move + 1, lateness=lateness)
        assert limits.optimum is not None and limits.maximum is not None
        spent = limits.maximum if move % 8 == 7 else limits.search_end(limits.optimum)
        counted = (spent + 2 * late + 5) // step * step
        left = max(left - counted, 0) if byoyomi and counted <= left + byoyomi else left - counted
        assert left >= 0, f"flag fell at move {move}"
        left += increment
        lateness.record(late)


def late_by(*figures: float) -> Lateness:
    lateness = Lateness()
    for figure in figures:
        lateness.record(figure)
    return lateness


def time_at(byoyomi: int, lateness: Lateness) -> int:
    return limits_of(Times(0, 0, byoyomi), lateness=lateness).maximum or 0


@pytest.mark.parametrize(("byoyomi", "usual"), [(100, 90), (200, 185), (1000, 945), (10_000, 8_880)])
def test_the_usual_margin_is_small_on_short_clocks(byoyomi: int, usual: int) -> None:
    assert time_at(byoyomi, late_by()) == usual
    lateness = Lateness(timeman.INITIAL_LATENESS)
    assert time_at(byoyomi, lateness) >= usual / 2
    for _ in range(10):
        lateness.record(0.5)
    assert time_at(byoyomi, lateness) >= usual * 0.95


@pytest.mark.parametrize("byoyomi", [100, 200, 1000])
@pytest.mark.parametrize("late", [60, 120, 250, 60_000])
@pytest.mark.parametrize("before", [2, 50])
def test_one_late_answer_costs_a_few_moves(byoyomi: int, late: float, before: int) -> None:
    usual = time_at(byoyomi, late_by(*[0.5] * before))
    times = [time_at(byoyomi, late_by(*[0.5] * before, late, *[0.5] * after)) for after in range(20)]
    assert byoyomi / 4 <= times[0] < usual
    assert min(times[9:]) >= usual * 0.75 and times[-1] >= usual * 0.95


def late_answers(byoyomi: int, delay: Callable[[], float], moves: int) -> tuple[int, float]:
    """Return the number of answers after the flag and the mean time used.

    Each answer is late by a measured delay, and by a third as much that the engine does not measure.
    """
    lateness, late, used = Lateness(timeman.INITIAL_LATENESS), 0, 0
    for _ in range(moves):
        given, delayed = time_at(byoyomi, lateness), delay()
        late += given + delayed + delay() / 3 > byoyomi
        used += given
        lateness.record(delayed)
    return late, used / moves


@pytest.mark.parametrize("byoyomi", [100, 200, 1000])
def test_punctual_on_a_busy_machine(byoyomi: int) -> None:
    """Delays of 10 ms on average, or rare ones of 20 to 40 ms, cost at most three late answers in a thousand."""
    rng = random.Random(11)
    busy: list[Callable[[], float]] = [
        lambda: rng.expovariate(1 / 10),
        lambda: rng.uniform(0, 25),
        lambda: rng.uniform(20, 40) if rng.random() < 0.05 else rng.random(),
    ]
    for delay in busy:
        late, used = late_answers(byoyomi, delay, 2000)
        assert late <= 6 and used >= byoyomi * 0.25


def test_delays_that_no_margin_could_cover_cost_nothing() -> None:
    """If each answer is later than the move may take, thinking less does not help; a long clock can cover it."""
    hopeless = late_by(*[300.0] * 200)
    assert time_at(100, hopeless) == time_at(100, late_by(*[0.0] * 100, 300))
    assert time_at(2000, hopeless) <= 2000 - 300
    assert time_at(10_000, late_by(100, 100)) == time_at(10_000, late_by())  # within its margin


def time_factor(moves: str, values: list[int], share: float = 0.5, last: LastMove | None = None) -> float:
    """Return the factor after iterations with these best moves and values; `share`: the best move's nodes."""
    scale = TimeScale(last or LastMove(values[0]))
    for move, value in zip(moves, values, strict=True):
        scale.iteration_done(move, value, share)
    return scale.factor()


def test_a_move_that_stays_the_best_saves_time() -> None:
    """Each change takes time, the last ones most."""
    steady = [time_factor("a" * count, [20] * count) for count in range(1, 25)]
    assert steady == sorted(steady, reverse=True)
    assert steady[-1] < 0.75 * steady[0]
    assert time_factor("aaaaab", [20] * 6) > time_factor("abaaaa", [20] * 6) > time_factor("aaaaaa", [20] * 6)
    assert time_factor("ababab", [20] * 6) > time_factor("aaaaab", [20] * 6)


def test_a_falling_value_takes_time() -> None:
    """It is compared with that of the move before and with that four iterations before."""
    level = time_factor("aaaaaa", [20] * 6)
    assert time_factor("aaaaaa", [20, 200, 20, 20, 20, 20]) > 2 * level
    assert time_factor("aaaaaa", [20, 20, 200, 20, 20, 20]) == level
    assert level == time_factor("aaaaaa", [20, 20, 30, 50, 70, 90])
    assert time_factor("aaaaaa", [20, 20, 20, 20, 0, -40]) > 2 * level
    assert time_factor("aaaaaa", [-40] * 6, last=LastMove(20)) > 2 * level
    most = timeman.MAX_FALL / timeman.MIN_FALL * time_factor("a", [20])
    assert time_factor("a", [-4000], last=LastMove(20)) == pytest.approx(most)
    assert level < time_factor("aaaaaa", [20] * 6, last=LastMove()) < 2 * level  # no value of a move before


def test_a_clear_move_saves_time() -> None:
    """Time that the move before has saved may be used."""
    assert time_factor("a" * 12, [20] * 12, 0.95) < 0.7 * time_factor("a" * 12, [20] * 12, 0.9)
    assert time_factor("a" * 5, [20] * 5, 0.95) == time_factor("a" * 5, [20] * 5, 0.9)
    firm, loose = LastMove(20, 1.4), LastMove(20, 0.75)
    assert time_factor("aaa", [20] * 3, last=firm) > time_factor("aaa", [20] * 3, last=loose)


def test_what_is_kept_for_the_next_move() -> None:
    last = LastMove()
    scale = TimeScale(last)
    for value in (10, 20, 30):
        scale.iteration_done("a", value, 0.5)
    loose = last.firmness
    for value in range(40, 240, 10):
        scale.iteration_done("a", value, 0.5)
    assert last.value == 230
    assert 0.7 < loose < last.firmness < 1.5


def test_the_stop_token_holds_the_deadline() -> None:
    """Pondering has none until ponderhit, which sets it, counted from its own arrival."""
    for pondering, ago in itertools.product((False, True), (9, 11)):
        begun, stop = time.perf_counter() - ago, StopToken()
        if pondering:
            control = SearchControl(stop, TimeLimits(maximum=1), pondering=True, begun=time.perf_counter() - 5)
            assert not stop.is_set()
            control.ponderhit(TimeLimits(maximum=10_000), begun=begun)
        else:
            control = SearchControl(stop, TimeLimits(maximum=10_000), begun=begun)
        assert control.elapsed >= 1000 * ago and stop.is_set() == (ago > 10)


def test_try_stop_brings_the_deadline_forward() -> None:
    """A search that is done early ends when its minimum time has passed."""
    stop = StopToken()
    control = SearchControl(stop, TimeLimits(optimum=20, maximum=10_000, minimum=50))
    assert not control.try_stop()
    assert not stop.is_set()
    time.sleep(0.06)
    assert stop.is_set()


@pytest.mark.parametrize(
    ("pondering", "steps", "stopped"),
    [
        (False, "done", False),
        (False, "proved", True),
        (True, "proved", False),
        (True, "proved done ponderhit", True),  # a deeper search that does not know the mate any more changes nothing
        (True, "done ponderhit", False),
        (True, "done later", True),
        (True, "done low later", False),  # a fail low takes the decision back
        (True, "proved low ponderhit", True),
    ],
)
def test_the_end_of_a_search(pondering: bool, steps: str, stopped: bool) -> None:
    """A forced move or a proved mate waits for ponderhit, not for the minimum time of 2 s, which `later` has passed."""
    stop, limits = StopToken(), TimeLimits(optimum=5_000, maximum=10_000, minimum=2_000)
    control = SearchControl(stop, limits, pondering=pondering)
    actions: dict[str, Callable[[], object]] = {
        "done": control.try_stop,
        "proved": lambda: control.try_stop(without_minimum=True),
        "low": control.keep_searching,
        "ponderhit": lambda: control.ponderhit(limits),
        "later": lambda: control.ponderhit(limits, begun=time.perf_counter() - 3),
    }
    for step in steps.split():
        actions[step]()
    assert stop.is_set() == stopped


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
