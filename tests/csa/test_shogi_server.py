"""Games on the reference server, shogi-server: `SHOGI_SERVER=/path/to/shogi-server pytest tests/csa -m shogi_server`.

The folder is copied, so that its logs stay with the test. It needs Ruby with WEBrick.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.csa.conftest import SHOGI_SERVER
from tests.programs import ROOT, wait_until

pytestmark = pytest.mark.shogi_server


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
    wait_until(lambda: accepts(number))
    yield number
    server.terminate()
    server.wait(20)


def accepts(port: int) -> bool:
    """Return whether the server accepts connections."""
    with suppress(OSError):
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    return False


def start(port: int, folder: Path, name: str) -> subprocess.Popen[str]:
    """Start two games of this engine; the first letters of the name are the game's."""
    words = f"csa 127.0.0.1:{port} --user {name} --password secret --game {name[:3]}-10-1F --games 2 --records {name}"
    options = "--option EvalFile=material --option NodesLimit=300 --option USI_Hash=1"
    command = [sys.executable, "-m", "usi_engine", *words.split(), *options.split()]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder, env=environment)


def test_two_pairs_at_once(port: int, tmp_path: Path) -> None:
    """This engine plays each game to its end, without a cut line."""
    players = [start(port, tmp_path, name) for name in ("one_a", "one_b", "two_a", "two_b")]
    said = [player.communicate(timeout=120)[0].splitlines()[-1] for player in players]
    tallies = [
        {word: int(count) for count, word in re.findall(r"(\d+) (won|lost|drawn|broken|cut)", line)} for line in said
    ]
    assert [sum(tally.values()) for tally in tallies] == [2, 2, 2, 2], said
    assert not any({"cut", "broken"} & tally.keys() for tally in tallies), said
    for first, second in (tallies[:2], tallies[2:]):
        assert (first.get("won"), first.get("drawn")) == (second.get("lost"), second.get("drawn"))
    assert "\n'** " in next((tmp_path / "one_a").glob("*.csa")).read_text(encoding="utf-8")
