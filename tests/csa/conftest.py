"""A client with a scripted or an instant engine against a scripted server; games without a server."""

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from tests.csa.server import START_POSITION, TIMEOUT, Script, Server, Talk, summary
from tests.scripted_engine import scripted
from usi_engine.core import board_of
from usi_engine.csa.client import Client, Settings
from usi_engine.csa.game import ServerGame
from usi_engine.csa.protocol import GameSummary, MoveMade, Reader
from usi_engine.usi.process import Answer, EngineEvent, EngineProcess

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


# ---- an engine without a process ----


class InstantEngine(EngineProcess):
    """Posts its answers to `post`; `goes` has the positions of its searches, `received` the ends of games."""

    def __init__(self, post: Callable[[EngineEvent], None]) -> None:
        super().__init__([], {}, post)
        self.goes: list[str] = []
        self.received: list[str] = []

    @property
    def busy(self) -> bool:
        return False

    def prepare(self, max_moves: int = 0, declaration: str = "") -> None:
        pass

    def new_game(self) -> None:
        pass

    def go(self, position: str, limits: str, ponder: bool = False) -> int:
        self._searches += 1
        self.goes.append(position.removeprefix("startpos moves ") + (" ponder" if ponder else ""))
        moves = board_of(position).legal_moves()
        self._post(Answer(self._searches, moves[0] if moves else "resign"))
        return self._searches

    def game_over(self, result: str) -> None:
        self.received.append(f"gameover {result}")

    def quit(self) -> None:
        pass


def offer(game_id: str = "id", position: str = START_POSITION) -> GameSummary:
    """Return the conditions of a game."""
    reader = Reader()
    *_, read = (reader.feed(line) for line in summary(game_id, position=position).splitlines())
    assert isinstance(read, GameSummary)
    return read


def game_of(
    *moves: str,
    game_id: str = "id",
    position: str = START_POSITION,
    engine: EngineProcess | None = None,
    ponder: bool = False,
) -> ServerGame:
    """Return a game after these moves. `position` may have further ones, one a line."""
    engine = engine or InstantEngine(lambda event: None)
    game = ServerGame(offer(game_id, position), engine, lambda line: None, lambda text: None, ponder=ponder)
    for move in moves:
        game.handle(MoveMade(move))
    return game
