"""The command `usi_engine csa`: arguments, a game; outputs and signals do not delay a game or lose its record."""

import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.csa.conftest import ClientRunner, game_of
from tests.csa.server import Server, Talk, game, script
from tests.programs import ROOT
from tests.scripted_engine import scripted
from usi_engine.csa import background, command
from usi_engine.csa.background import MOST_WAITING, BackgroundWriter
from usi_engine.csa.record import RunningRecord
from usi_engine.records.games import load_games

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither these signals nor such pipes")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /dev/full")
def test_a_log_on_a_full_disk(runner: ClientRunner, capsys: pytest.CaptureFixture[str]) -> None:
    """The client says so once and plays on."""
    outputs = command.Outputs(Path("/dev/full"))
    runner.log = outputs.log
    run = runner.play(["7g7f"], game("+7776FU", "win"))
    assert run.client.tally == {"win": 1}
    assert not outputs.close()
    assert capsys.readouterr().out[9:] == "the log /dev/full ends here: No space left on device\n"


def test_output_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines beyond those that may wait are dropped and counted; closing does not wait long."""
    monkeypatch.setattr(background, "LAST_SECONDS", 0.05)
    free, hangs, written = threading.Event(), threading.Event(), list[str]()

    def write(line: str) -> None:
        hangs.set()
        free.wait(30)
        written.append(line)

    writer = BackgroundWriter(write)
    writer.put("first")
    assert hangs.wait(30)
    for _ in range(MOST_WAITING + 7):
        writer.put("line")
    assert not writer.close() and not written
    free.set()
    while len(written) <= MOST_WAITING:
        time.sleep(0.01)
    writer.put("last")
    monkeypatch.setattr(background, "LAST_SECONDS", 30)
    assert writer.close()
    assert written == ["first", *["line"] * MOST_WAITING, "7 lines are missing here", "last"]


def test_output_without_a_thread(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    errors = list[Exception]()
    writer = BackgroundWriter(print, errors.append)
    writer.put("line")
    assert not writer.close()
    assert len(errors) == 1
    notes = list[str]()
    assert RunningRecord(game_of("+7776FU"), tmp_path, notes.append).finish().exists()
    assert notes == ["id is not saved while it is played: can't start new thread"]


def test_text_of_others(capsys: pytest.CaptureFixture[str]) -> None:
    """Controls and marks of direction are escaped, letters are not; long text is cut."""
    command.print_line("棋譜　☗７六歩 \x1b[2J\x9b\x07\u202e\u2028\r\nnext")
    assert capsys.readouterr().out == "棋譜　☗７六歩 \\x1b[2J\\u009b\\x07\\u202e\\u2028\\x0d\nnext\n"
    command.print_line("x" * 60_000)
    assert len(capsys.readouterr().out) < 1100


def test_the_password_is_taken_out_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An engine would inherit it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SECRET", "hidden")
    assert command.main(["host", "--user", "us", "--password-env", "SECRET", "--engine", "none/here"]) == 1
    assert "does not start" in capsys.readouterr().err
    assert "SECRET" not in os.environ


# ---- the program ----


def start(server: Server, folder: Path, **streams: Any) -> subprocess.Popen[bytes]:
    """Start the program with an engine that plays 7g7f and then thinks."""
    engine = folder / "engine"
    engine.write_text(f"#!/bin/sh\nexec {shlex.join(scripted(folder / 'log', '7g7f', 'think'))}\n", encoding="utf-8")
    engine.chmod(0o755)
    words = f"csa 127.0.0.1:{server.port} --user us --password secret --games 1 --records out --engine {engine}"
    command = [sys.executable, "-m", "usi_engine", *words.split()]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    hangup = getattr(signal, "SIGHUP", None)
    before = hangup and signal.signal(hangup, signal.SIG_DFL)  # nohup, under which the tests may run, ignores it
    try:
        return subprocess.Popen(command, cwd=folder, env=environment, **streams)
    finally:
        if hangup:
            signal.signal(hangup, before)


def result_in(folder: Path) -> tuple[tuple[str, ...], str]:
    """Return the moves and the end of the only record."""
    (path,) = (folder / "out").iterdir()
    record = next(iter(load_games(path)))
    assert record.record.end is not None
    return record.moves, record.record.end.name


def full_pipe() -> tuple[int, int]:
    """Return the ends of a pipe that takes nothing more, as a paused terminal."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        while True:
            os.write(writing, b"." * 4096)
    except BlockingIOError:
        return reading, writing


@POSIX
@pytest.mark.parametrize("closed", [False, True])
def test_a_terminal_that_is_paused_or_gone(tmp_path: Path, *, closed: bool) -> None:
    """The game is played to its end without a message, and its record is written."""
    reading, writing = full_pipe()
    if closed:
        os.close(reading)
    server = Server(game("+7776FU", "win"))
    with start(server, tmp_path, stdout=writing, stderr=writing) as program:
        os.close(writing)
        assert program.wait(30) == 0
    server.finish()
    if not closed:
        os.close(reading)
    assert result_in(tmp_path) == (("7g7f",), "TORYO")


@POSIX
@pytest.mark.parametrize("number", [getattr(signal, name, 0) for name in ("SIGTERM", "SIGHUP", "SIGKILL")])
def test_a_signal(tmp_path: Path, number: int) -> None:
    """The record is written; after SIGKILL it is that of the last move."""
    played, ended = threading.Event(), threading.Event()

    def wait(_: Talk) -> None:
        played.set()
        ended.wait(30)

    server = Server(script("begin", "+7776FU", "> -3334FU,T2", wait))
    with start(server, tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as program:
        assert played.wait(30)
        while moves_in(tmp_path) < 2:
            time.sleep(0.01)
        program.send_signal(number)
        try:
            said = program.communicate(timeout=30)[0].decode()
        finally:
            program.kill()
    ended.set()
    server.finish()
    killed = number == signal.SIGKILL
    assert program.returncode == (-number if killed else 128 + number)
    assert killed or said.splitlines()[-1].endswith("1 game: 1 cut off"), said
    assert result_in(tmp_path) == (("7g7f", "3c3d"), "CHUDAN")


def moves_in(folder: Path) -> int:
    """Return the number of moves in the record of the running game."""
    path = folder / "out" / "test+1.csa"
    return len(re.findall(r"^[+-]\d{4}", path.read_text(encoding="utf-8"), re.M)) if path.exists() else 0


LEAST = ["host", "--user", "us", "--password", "secret"]


@pytest.mark.parametrize(
    ("text", "address"),
    [("host", ("host", 4081)), ("host.example:4000", ("host.example", 4000)), ("127.0.0.1:1", ("127.0.0.1", 1)),
     ("[::1]:4000", ("::1", 4000)), ("[::1]", ("::1", 4081))],
)  # fmt: skip
def test_addresses(text: str, address: tuple[str, int]) -> None:
    assert command.read_address(text) == address


@pytest.mark.parametrize("text", ["host:port", "host:99999", "::1", "", ":4081"])
def test_bad_addresses(text: str) -> None:
    with pytest.raises(command.UsageError, match=rf"^'{text}' is not HOST"):
        command.read_address(text)


def test_password_with_the_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "hidden")
    words = ["host", "--user", "us", "--password-env", "SECRET", "--game", "floodgate-300-10F"]
    assert command.read_password(command.read_arguments(words)) == "floodgate-300-10F,hidden"
    assert command.read_password(command.read_arguments(LEAST)) == "secret"


def test_options_and_settings() -> None:
    words = ["--option", "Threads=2", "--option", "EvalFile=a=b", "--ponder", "--keep-alive", "31"]
    chosen = command.read_arguments([*LEAST, *words])
    assert command.read_options(chosen) == {"USI_Ponder": "true", "Threads": "2", "EvalFile": "a=b"}
    assert command.make_settings(chosen).keep_alive == 31.0
    with pytest.raises(SystemExit):
        command.read_arguments([*LEAST, "--option", "Threads"])


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
