"""Commands that arrive as a search ends: in any order every go has exactly one answer, and nothing hangs."""

import random
import time
from collections.abc import Iterator

import pytest

from tests.engine.fake_core import Script, make_core
from tests.engine.usi_transport import InProcess
from usi_engine.core import load_core

# Searches, and engines that are started for some of them; the slow tests take more.
TIMES = pytest.mark.parametrize("times", [60, pytest.param(300, marks=pytest.mark.slow)])
CORES = pytest.mark.parametrize("core", ["scripted", "real"])
SEARCH_SECONDS = 0.002
PONDER = "go ponder btime 1000 wtime 1000 byoyomi 50"


def ready_engine(core: str) -> InProcess:
    """Return an engine whose depths take about as long as the races wait."""
    script = Script(seconds=lambda depth: SEARCH_SECONDS / 4)
    engine = InProcess(load_core if core == "real" else lambda: make_core(script))
    small = ("EvalFile value material", "USI_Hash value 1", "Threads value 2")
    engine.send(*(f"setoption name {option}" for option in small))
    engine.ask("isready", answer="^readyok$")
    return engine


def waits(seed: int, times: int) -> Iterator[float]:
    """Yield waits around the length of a search, some of them 0."""
    rng = random.Random(seed)
    for number in range(times):
        yield 0.0 if number % 5 == 0 else rng.uniform(0, 2 * SEARCH_SECONDS)


@TIMES
@CORES
@pytest.mark.parametrize(
    ("go", "odd", "even"),
    [
        ("go depth 4", ["stop"], ["stop"]),
        (PONDER, ["ponderhit", "stop"], ["stop", "ponderhit"]),
        ("go infinite", *[["stop", "position startpos moves 7g7f", "go depth 2"]] * 2),
    ],
)
def test_stop_at_the_end_of_a_search(core: str, go: str, odd: list[str], even: list[str], times: int) -> None:
    """It may come with ponderhit, or with the next go, which it does not end."""
    engine = ready_engine(core)
    for number, wait in enumerate(waits(1, times), 1):
        engine.send(go)
        time.sleep(wait / 4 if "infinite" in go else wait)
        engine.send(*(odd if number % 2 else even))
        for _ in range(1 + ("go depth 2" in odd)):
            engine.expect("^bestmove", timeout=5)
        if number % 20 == 0:
            engine.ask("isready", answer="^readyok$")
            assert engine.is_settled()
    engine.close()


@TIMES
@CORES
@pytest.mark.parametrize(("go", "end"), [("go infinite", "quit"), (PONDER, "end of input")])
def test_quit_or_the_end_of_input_during_a_search(core: str, go: str, end: str, times: int) -> None:
    for wait in waits(4, times // 6):
        engine = ready_engine(core)
        engine.send(go)
        time.sleep(wait)
        engine.end(end)
        engine.drain(5)
        assert engine.is_settled()
        engine.close()
