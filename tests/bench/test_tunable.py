"""The engine with its constants as options."""

import sys
from collections.abc import Iterator

import pytest

from core_ext.engine import tunables
from usi_engine.search import timeman
from usi_engine.usi.process import EngineProcess

COMMAND = [sys.executable, "-m", "bench.strength.tunable"]
USUAL = {"EvalFile": "material", "Threads": "1", "USI_OwnBook": "false"}


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineProcess]:
    made = EngineProcess(COMMAND, USUAL)
    made.prepare()
    yield made
    made.quit()


def searched(engine: EngineProcess, limits: str, **options: int) -> list[int]:
    """Return the nodes of the first two searches of a game with these options."""
    for name, value in options.items():
        engine.set_option(name, str(value))
    engine.prepare()
    engine.new_game()
    return [engine.search("startpos moves 7g7f 3c3d", limits).nodes for _ in range(2)]


def test_constants_are_declared(engine: EngineProcess) -> None:
    name, _kind, default, least, most = tunables()[0]
    option = engine.declared[f"Tune_{name}"]
    assert (option.default, option.least, option.most) == (default, least, most)
    assert engine.declared["Tune_MOVES_AT_START"].default == 1000 * timeman.MOVES_AT_START


def test_a_constant_of_the_search_changes_it(engine: EngineProcess) -> None:
    default = int(engine.declared["Tune_LmrBase"].default)
    usual, other, again = (searched(engine, "depth 10", Tune_LmrBase=value) for value in (default, 0, default))
    assert usual == again != other


def test_a_clock_counts_nodes(engine: EngineProcess) -> None:
    """A search depends on its nodes alone; with more moves expected it is shorter. The clock of a game goes down."""
    clock = "btime 20000 wtime 20000 binc 0 winc 0"
    moves = int(engine.declared["Tune_MOVES_AT_START"].default)
    usual, again = (searched(engine, clock, NodesTime=10) for _ in range(2))
    assert usual == again and 0 < usual[1] < usual[0] < 20000 * 10
    least = int(engine.declared["Tune_MOVES_AT_LEAST"].default)
    late = searched(engine, clock, Tune_MOVES_AT_START=40 * moves, Tune_MOVES_AT_LEAST=40 * least)
    assert 10 * late[0] < usual[0]
    searched(engine, clock, Tune_MOVES_AT_START=moves, Tune_MOVES_AT_LEAST=least, NodesTime=0)
