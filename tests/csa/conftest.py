"""A client with a scripted engine against a scripted server."""

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from tests.csa.instant_engine import InstantEngine
from tests.csa.server import TIMEOUT, Script, Server, Talk
from tests.scripted_engine import scripted
from usi_engine.csa.client import Client, Settings
from usi_engine.usi.process import EngineProcess

# A folder with shogi-server (Ruby); without it, the tests that play on it are not collected.
SHOGI_SERVER = os.environ.get("SHOGI_SERVER", "")
collect_ignore = [] if SHOGI_SERVER else ["test_shogi_server.py"]


@dataclass
class Run:
    """A client that has finished."""

    client: Client
    folder: Path
    notes: list[str]
    received: list[str]  # by the engine

    def record(self, game_id: str = "test+1") -> str:
        """Return the text of a game's record."""
        return (self.folder / f"{game_id}.csa").read_text(encoding="utf-8")

    def goes(self) -> list[str]:
        """Return the searches that the engine was asked for."""
        return [line for line in self.received if line.startswith("go")]

    def gameovers(self) -> list[str]:
        """Return the results that the engine was told."""
        return [line.removeprefix("gameover ") for line in self.received if line.startswith("gameover")]


@dataclass
class ClientRunner:
    """Runs clients; `settings` are those of the next one, `options` its engine's."""

    folder: Path
    settings: Settings
    client: Client | None = None
    log: Callable[[str], None] = lambda line: None
    options: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def interrupt(self, _: Talk) -> None:
        """Interrupt the client that plays; a step of a script."""
        assert self.client is not None
        self.client.interrupt()

    def leave(self) -> None:
        """Interrupt it twice: it leaves at once."""
        for _ in range(2):
            assert self.client is not None
            self.client.interrupt()

    def play(self, answers: list[str] | None, *scripts: Script, games: int = 1, ponder: bool = False) -> Run:
        """Let a client, whose engine gives these answers, play on a server with these scripts.

        Without answers the engine makes the first legal move at once.
        """
        server, self.notes = Server(*scripts), list[str]()
        settings = replace(self.settings, port=server.port, games=games, ponder=ponder)
        client = self.client = Client(settings, self.notes.append, self.log)
        log = self.folder / "engine.log"
        instant = InstantEngine(client.post)
        engine = instant if answers is None else EngineProcess(scripted(log, *answers), self.options, client.post)
        timer = threading.Timer(2 * TIMEOUT, self.leave)
        timer.start()
        try:
            engine.prepare()
            client.run(engine)
        finally:
            assert timer.is_alive(), "the client hangs"
            timer.cancel()
            timer.join()
            engine.quit()
            server.finish()
        received = instant.received if answers is None else log.read_text(encoding="utf-8").splitlines()
        return Run(client, settings.records, self.notes, received)


@pytest.fixture
def runner(tmp_path: Path) -> ClientRunner:
    """A runner without pauses."""
    settings = Settings("127.0.0.1", 0, "us", "secret", records=tmp_path / "games", pause=0.01, tick=0.05)
    return ClientRunner(tmp_path, settings)
