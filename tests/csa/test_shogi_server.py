"""Games on the reference server, shogi-server: `SHOGI_SERVER=/path/to/shogi-server pytest tests/csa -m shogi_server`.

The folder is copied, so that its logs stay with the test. It needs Ruby with WEBrick.
"""

import shutil
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from tests.csa.conftest import SHOGI_SERVER
from tests.scripted_engine import scripted
from usi_engine.csa.client import Client, Settings
from usi_engine.usi.process import EngineProcess

pytestmark = pytest.mark.shogi_server

FAST = {"EvalFile": "material", "NodesLimit": "300", "USI_Hash": "1"}


@dataclass
class Player:
    """A client on a thread; the game's name gives its color."""

    port: int
    folder: Path
    name: str
    game: str
    answers: list[str] | None = None  # None: this engine
    games: int = 1
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        password = f"{self.game},secret"
        records = self.folder / self.name
        settings = Settings("127.0.0.1", self.port, self.name, password, self.games, records=records, pause=0.2)
        self.client = Client(replace(settings, tick=0.1), self.notes.append)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        fake = scripted(self.folder / f"{self.name}.log")
        command = [sys.executable, "-m", "usi_engine"] if self.answers is None else [*fake, *self.answers]
        engine = EngineProcess(command, FAST if self.answers is None else {}, self.client.post)
        try:
            engine.prepare()
            self.client.run(engine)
        finally:
            engine.quit()

    def finish(self, seconds: float = 120.0) -> Counter[str]:
        """Wait for the last game; return the results."""
        self._thread.join(seconds)
        if self._thread.is_alive():
            self.client.interrupt()
            self.client.interrupt()
            raise AssertionError(f"{self.name} still plays: {self.notes}")
        return self.client.tally

    def records(self) -> list[str]:
        """Return the texts of its games."""
        return [path.read_text(encoding="utf-8") for path in sorted((self.folder / self.name).glob("*.csa"))]


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """A running server's port."""
    folder = tmp_path / "server"
    shutil.copytree(SHOGI_SERVER, folder, ignore=shutil.ignore_patterns(".git"))
    program = folder / "shogi-server"
    program.write_text(program.read_text(encoding="utf-8").replace("0.0.0.0", "127.0.0.1"), encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        number = int(free.getsockname()[1])
    command = ["ruby", "-I", str(folder), str(program), "--least-time-per-move", "0", "test", str(number)]
    with open(tmp_path / "server.log", "wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    wait_for(number)
    yield number
    server.terminate()
    server.wait(20)


def wait_for(port: int) -> None:
    """Wait until the server accepts connections."""
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("shogi-server does not start")


def test_two_pairs_at_once(port: int, tmp_path: Path) -> None:
    """This engine plays each game to its end, without a cut line."""
    names = ("one_a", "one_b", "two_a", "two_b")
    players = [Player(port, tmp_path, name, f"{name[:3]}-10-1F", games=2) for name in names]
    tallies = [player.finish() for player in players]
    assert [sum(tally.values()) for tally in tallies] == [2, 2, 2, 2]
    assert all(set(tally) <= {"win", "lose", "draw"} for tally in tallies)
    for first, second in (tallies[:2], tallies[2:]):
        assert (first["win"], first["draw"]) == (second["lose"], second["draw"])
    assert "\n'** " in players[0].records()[0]
