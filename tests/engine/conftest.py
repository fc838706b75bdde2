"""Engines to talk to, shared by the tests of this folder."""

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from tests.engine.fake_core import Script, make_core
from tests.engine.usi_transport import InProcess, Program
from usi_engine.core import load_core
from usi_engine.search import resources

SMALL_TABLE = "setoption name USI_Hash value 4"
ONE_THREAD = "setoption name Threads value 1"

ScriptedEngine = Callable[[Script], InProcess]


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Play with material: the packaged network takes time to load."""
    monkeypatch.setattr(resources, "load_evaluation", lambda name, fv_scale: None)


@pytest.fixture
def scripted(no_network: None) -> Iterator[ScriptedEngine]:
    """Makes engines in this process whose search follows a script, on one thread."""
    made: list[InProcess] = []

    def make(script: Script) -> InProcess:
        made.append(InProcess(lambda: make_core(script)))
        made[-1].send(SMALL_TABLE, ONE_THREAD)
        return made[-1]

    yield make
    for transport in made:
        transport.close()


@pytest.fixture
def program() -> Iterator[Program]:
    """The real program in a process of its own."""
    with closing(Program()) as transport:
        yield transport


@pytest.fixture
def real(no_network: None) -> Iterator[InProcess]:
    """An engine in this process with the real core and the material value."""
    with closing(InProcess(load_core)) as transport:
        yield transport


@pytest.fixture(params=[load_core, lambda: make_core(Script())], ids=["real", "scripted"])
def engine(request: pytest.FixtureRequest, no_network: None) -> Iterator[InProcess]:
    """An engine in this process with either core."""
    with closing(InProcess(request.param)) as transport:
        yield transport
