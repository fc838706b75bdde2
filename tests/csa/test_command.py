"""The command line of `usi_engine csa`, and a game of this engine with it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.csa.server import Server, Talk
from tests.programs import ROOT
from usi_engine.csa import command
from usi_engine.csa.command import main, make_settings, read_address, read_arguments, read_options, read_password

LEAST = ["host", "--user", "us", "--password", "secret"]


@pytest.mark.parametrize(
    ("text", "address"),
    [("host", ("host", 4081)), ("host.example:4000", ("host.example", 4000)), ("127.0.0.1:1", ("127.0.0.1", 1)),
     ("[::1]:4000", ("::1", 4000)), ("[::1]", ("::1", 4081))],
)  # fmt: skip
def test_addresses(text: str, address: tuple[str, int]) -> None:
    assert read_address(text) == address


@pytest.mark.parametrize("text", ["host:port", "host:99999", "::1", "", ":4081"])
def test_bad_addresses(text: str) -> None:
    with pytest.raises(command.UsageError, match=rf"^'{text}' is not HOST"):
        read_address(text)


def test_password_with_the_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "hidden")
    words = ["host", "--user", "us", "--password-env", "SECRET", "--game", "floodgate-300-10F"]
    assert read_password(read_arguments(words)) == "floodgate-300-10F,hidden"
    assert read_password(read_arguments(LEAST)) == "secret"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--game", "floodgate"], "--game 'floodgate'"),
        (["--game", "a b-1-2"], "--game 'a b-1-2'"),
        (["--user", "two words"], "--user 'two words'"),
        (["--password", "two words"], "the password must"),
        (["--engine", "/no/such/engine"], "/no/such/engine does not start"),
    ],
)
def test_bad_arguments(
    words: list[str], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)  # the folder of records is made before the engine starts
    assert main([*LEAST, *words]) == 1
    assert reason in capsys.readouterr().err


def test_options_and_settings() -> None:
    words = ["--option", "Threads=2", "--option", "EvalFile=a=b", "--ponder", "--keep-alive", "31"]
    chosen = read_arguments([*LEAST, *words])
    assert read_options(chosen) == {"USI_Ponder": "true", "Threads": "2", "EvalFile": "a=b"}
    assert make_settings(chosen).keep_alive == 31.0
    with pytest.raises(SystemExit):
        read_arguments([*LEAST, "--option", "Threads"])


OF_SANITIZERS = ("LD_PRELOAD", "ASAN_OPTIONS", "UBSAN_OPTIONS")  # set by make sanitize


def test_a_game_of_this_engine(tmp_path: Path) -> None:
    """The program: login, three plies, a win; the log has the traffic without the password."""
    comments = []

    def script(talk: Talk) -> None:
        talk.expect(r"LOGIN us game-10-0,secret")
        talk.send("LOGIN:us OK")
        talk.offer(time="Total_Time:10\nByoyomi:1")
        for reply in ("-3334FU,T1", "%TORYO,T1"):
            move = talk.expect(r"(\+\d{4}[A-Z]{2}),'(\* -?\d+ .*)")
            comments.append(move[2])
            talk.send(f"{move[1]},T1", reply)
        talk.send("#RESIGN", "#WIN")
        talk.log_out()

    server = Server(script)
    words = (f"csa 127.0.0.1:{server.port} --user us --password secret --game game-10-0 --games 1 --log log --records "
             "out --option EvalFile=material --option NodesLimit=2000 --option USI_Hash=1")  # fmt: skip
    environment = {name: os.environ.get(name, "") for name in OF_SANITIZERS} | {"PYTHONPATH": str(ROOT), "PATH": ""}
    done = subprocess.run([sys.executable, "-m", "usi_engine", *words.split()], capture_output=True, text=True,
                          check=False, cwd=tmp_path, timeout=60, env=environment)  # fmt: skip
    server.finish()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].endswith("1 game: 1 won")
    log = (tmp_path / "log").read_text(encoding="utf-8")
    assert "> LOGIN us ***" in log and "secret" not in log
    assert "< #WIN" in log
    assert "%TORYO" in (tmp_path / "out" / "test+1.csa").read_text(encoding="utf-8")
    assert len(comments) == 2
