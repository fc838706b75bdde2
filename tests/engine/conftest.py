"""Engines to talk to, shared by the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.engine.fake_core import Script, make_core
from tests.engine.usi_transport import InProcess, Program, Transport

SMALL_TABLE = "setoption name USI_Hash value 4"
ONE_THREAD = "setoption name Threads value 1"

ScriptedEngine = Callable[[Script], InProcess]


@pytest.fixture
def scripted() -> Iterator[ScriptedEngine]:
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
    transport = Program()
    yield transport
    transport.close()


@pytest.fixture(params=["in_process", "program"])
def engine(request: pytest.FixtureRequest) -> Iterator[Transport]:
    """An engine to talk to: with a scripted core, or the real program."""
    transport: Transport = Program() if request.param == "program" else InProcess(lambda: make_core(Script()))
    yield transport
    transport.close()
