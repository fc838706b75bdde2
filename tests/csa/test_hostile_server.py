"""Servers that break the protocol. The client neither hangs nor loses a record nor ends a game by itself."""

from __future__ import annotations

import contextlib
import re
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tests.csa.instant_engine import InstantEngine
from tests.csa.server import START_POSITION, summary
from usi_engine.csa import client as clients
from usi_engine.csa import connection as connections
from usi_engine.csa.client import Client, SessionError, Settings
from usi_engine.records.games import load_games

DEADLINE = 20.0
SHORT = 0.3  # for the client's own limits of time


@dataclass
class Hostile:
    """One connection to the client. `heard` has the client's lines that are not empty."""

    connection: socket.socket
    heard: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.connection.settimeout(DEADLINE)
        self._lines = self.connection.makefile("r", encoding="utf-8")

    def raw(self, data: bytes) -> bool:
        """Send bytes; return False if the client has closed the connection."""
        with contextlib.suppress(ConnectionError):
            self.connection.sendall(data)
            return True
        return False

    def send(self, *lines: str) -> None:
        self.raw("".join(line + "\n" for line in lines).encode("utf-8"))

    def hear(self) -> str:
        """Return the client's next line that is not empty; empty at the end of the connection."""
        with contextlib.suppress(ConnectionError):
            for line in self._lines:
                if line != "\n":
                    self.heard.append(line.rstrip("\n"))
                    return self.heard[-1]
        return ""

    def expect(self, pattern: str) -> str:
        line = self.hear()
        assert re.fullmatch(pattern, line), f"expected '{pattern}', got '{line}'"
        return line

    def log_in(self, answer: str = "LOGIN:us OK") -> None:
        self.expect("LOGIN us secret")
        self.send(answer)

    def offer(self, game_id: str = "id", **conditions: Any) -> None:
        """Offer a game, which the client agrees to."""
        self.send(summary(game_id, **conditions))
        self.expect(re.escape(f"AGREE {game_id}"))

    def begin(self, game_id: str = "id", **conditions: Any) -> None:
        """Log the client in and start a game."""
        self.log_in()
        self.offer(game_id, **conditions)
        self.send(f"START:{game_id}")

    def move(self) -> str:
        """Confirm the client's next move, and return it."""
        move = self.expect(r"[+-]\d{4}[A-Z]{2}(,'.*)?").partition(",")[0]
        self.send(f"{move},T1")
        return move

    def win(self) -> None:
        self.send("%TORYO,T1", "#RESIGN", "#WIN")

    def reset(self) -> None:
        """Close the connection without waiting for the client to read."""
        linger = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self._lines.close()
        self.connection.close()

    def close(self) -> None:
        """Close the connection, after the client if it is still open."""
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            self.is_left()
        self._lines.close()
        self.connection.close()

    def is_left(self) -> None:
        """Wait until the client closes the connection."""
        while self.hear():
            pass


Behaviour = Callable[[Hostile], None]
BEHAVIOURS: dict[str, tuple[str, Behaviour, dict[str, float]]] = {}


def row(name: str, result: str = "", **limits: float) -> Callable[[Behaviour], Behaviour]:
    """Add a behaviour; `result` of its game, empty if none begins; `limits`: the client's limits of time, shortened."""

    def add(behaviour: Behaviour) -> Behaviour:
        BEHAVIOURS[name] = (result, behaviour, limits)
        return behaviour

    return add


def sends(name: str, *lines: str | bytes, result: str = "win") -> None:
    """Add a server that sends these lines after the client's first move and, if `result` is a win, resigns."""

    @row(name, result)
    def behave(server: Hostile) -> None:
        server.begin()
        server.move()
        for line in lines:
            server.raw(line if isinstance(line, bytes) else line.encode() + b"\n")
        if result == "win":
            server.win()


def refuses(name: str, old: str, new: str) -> None:
    """Add a server that offers conditions which the client refuses."""

    @row(name)
    def behave(server: Hostile) -> None:
        server.log_in()
        offer = summary("id")
        assert old in offer
        server.send(offer.replace(old, new))
        server.expect("REJECT id")


# ---- login ----


@row("closes at once")
def close(server: Hostile) -> None:
    pass


@row("speaks HTTP")
def speak_http(server: Hostile) -> None:
    server.send("HTTP/1.1 400 Bad Request", "Content-Type: text/html", "", "<html>")


@row("answers the login with noise")
def send_noise(server: Hostile) -> None:
    server.raw(bytes(range(256)) * 8 + b"\n")


@row("is silent at the login", LOGIN_SECONDS=SHORT)
def be_silent(server: Hostile) -> None:
    server.hear()
    server.is_left()


@row("sends an endless line at the login")
def send_endless_login(server: Hostile) -> None:
    server.raw(b"LOGIN:" + b"x" * 100_000)
    server.is_left()


@row("has terminal escapes in the login name", "win")
def escape_login(server: Hostile) -> None:
    server.log_in("LOGIN:\x1b]52;c;bHM=\x07\x1b[2J\u202e OK")
    server.offer()
    server.send("START:id")
    server.win()


@row("accepts the login three times", "win")
def accept_often(server: Hostile) -> None:
    server.log_in("LOGIN:us OK\nLOGIN:us OK\nLOGIN:them OK")
    server.offer()
    server.send("START:id")
    server.win()


# ---- offers ----

refuses("offers no position", START_POSITION, "")
refuses("offers no color", "Your_Turn:+", "Your_Turn:?")
refuses("offers two kings", "+KI+OU", "+OU+OU")
refuses("offers 19 pawns", "P5 * ", "P5+FU")
refuses("offers no king", "-OU", " * ")
refuses("offers a king in check", "P3-FU-FU-FU-FU-FU-FU", "P3-FU-FU-FU-FU+KI-FU")
refuses("offers a piece of no name", "-OU", "-XX")
refuses("offers a unit of 4000 digits", "1sec", "9" * 4000 + "sec")
refuses("offers a unit of a year", "1sec", "525600min")
refuses("offers an endless time", "Total_Time:10", "Total_Time:" + "9" * 12)
refuses("offers a time of 50000 digits", "Total_Time:10", "Total_Time:" + "9" * 50_000)
refuses("offers a negative time", "Increment:2", "Increment:-2")
refuses("offers an illegal opening", "P9+KY", "+7775FU,T1\nP9+KY")


@row("offers a summary without an end")
def offer_without_end(server: Hostile) -> None:
    server.log_in()
    server.send("BEGIN Game_Summary", *["Name:x"] * 11_000)
    server.is_left()


@row("offers a summary of long lines")
def offer_long_lines(server: Hostile) -> None:
    server.log_in()
    server.send("BEGIN Game_Summary", *["x" * 60_000] * 20)
    server.is_left()


@row("offers a summary within a summary", "win")
def offer_nested(server: Hostile) -> None:
    server.log_in()
    server.send("BEGIN Game_Summary", "Game_ID:other", "BEGIN Time")
    server.offer()
    server.send("START:id")
    server.win()


@row("offers the game twice", "win")
def offer_twice(server: Hostile) -> None:
    server.log_in()
    server.offer()
    server.send(summary("id"), "START:id", "START:id")
    server.move()
    server.win()


@row("offers another game before the start", "win")
def offer_another(server: Hostile) -> None:
    server.log_in()
    server.offer()
    server.send(summary("other"))
    server.expect("REJECT other")
    server.send("REJECT:other by us", "START:id")
    server.move()
    server.win()


@row("says that another game was refused", "win")
def refuse_another(server: Hostile) -> None:
    server.log_in()
    server.offer()
    server.send("REJECT:other by bob", "START:other", "START:id")
    server.move()
    server.win()


@row("refuses the game for the opponent")
def refuse(server: Hostile) -> None:
    server.log_in()
    server.offer()
    server.send("REJECT:id by them", "+7776FU,T1", "#LOSE")


@row("starts a game that was not offered")
def start_unknown(server: Hostile) -> None:
    server.log_in()
    server.send("START:id", "+7776FU,T1", "#LOSE")


@row("closes between agreement and start")
def close_before_start(server: Hostile) -> None:
    server.log_in()
    server.offer()


@row("decides the game before its start", "win")
def decide_before_start(server: Hostile) -> None:
    server.log_in()
    server.offer()
    server.send("#RESIGN", "#LOSE", "-3334FU,T1", "%TORYO,T1", "START:id")
    server.move()
    server.win()


@row("starts without the id", "win")
def start_without_id(server: Hostile) -> None:
    server.log_in()
    server.offer()
    server.send("START:")
    server.move()
    server.win()


def named(name: str, game_id: str) -> None:
    """Add a server that plays a game of this id."""

    @row(name, "win")
    def behave(server: Hostile) -> None:
        server.begin(game_id)
        server.move()
        server.win()


named("names the game after a folder", "../../etc/passwd")
named("names the game after a device", "NUL")
named("names the game with escapes", "\x1b]0;owned\x07\x1b[2J")
named("names the game with 60000 letters", "x" * 60_000)
named("names the game with Japanese letters", "対局1")
named("gives the game no name", "")


@row("names players with escapes and comments", "win")
def name_players(server: Hostile) -> None:
    server.log_in()
    server.send(summary("id").replace("them", "\x1b[2J'x\u2028%CHUDAN\x85/,N+"))
    server.expect("AGREE id")
    server.send("START:id")
    server.move()
    server.win()


@row("limits the game to 10^12 moves", "win")
def limit_moves(server: Hostile) -> None:
    server.begin(max_moves="9" * 12)
    server.move()
    server.win()


# ---- games ----

sends("sends an illegal move", "-2288UM,T1", "#ILLEGAL_MOVE")
sends("sends a move twice", "-3334FU,T1", "-3334FU,T1")
sends("sends moves of the wrong side", "+2726FU,T1", "+2625FU,T1")
sends("sends moves of a wrong form", "-3334fu,T1", "-3334", "-0000FU,T1", "-3334FU3334FU", "+", "-", "%", "#", "'x")
sends("sends a huge time", "-3334FU,T4294968")
sends("sends a time of 4000 digits", "-3334FU,T" + "9" * 4000)
sends("sends a negative time", "-3334FU,T-5")
sends("sends a time that is no number", "-3334FU,T1e9")
sends("sends no time", "-3334FU")
sends("sends noise in a game", bytes(range(128, 256)) + b"\0\n\r\n\r\r\n")
sends("logs the client out in a game", "LOGOUT:completed", "LOGIN:incorrect")
sends("refuses the game that is played", "REJECT:id by them")
sends("offers a game in a game", summary("other"), summary("id"))
sends("sends chat without end", *["##[CHAT] \x1b[2J hello"] * 5000)
sends("sends 3000 illegal moves", *["-2288UM,T1"] * 3000)
sends("decides without a cause", "#WIN", result="win")
sends("decides twice", "#RESIGN", "#WIN", "#LOSE", "#DRAW")
sends("decides for an unknown cause", "#MOONLIGHT", "#DRAW", result="draw")
sends("breaks the game off", "#CHUDAN", result="unknown")
sends("names a cause and closes", "%TORYO,T1", "#RESIGN", result="CUT")
sends("closes in a line", b"-3334F", result="CUT")
sends("closes in a game", result="CUT")
sends("repeats the special move", "%TORYO,T1", "%TORYO,T" + "9" * 4000, "%KACHI", "%CHUDAN", "#RESIGN")


@row("sends an endless line in a game", "CUT")
def send_endless_move(server: Hostile) -> None:
    server.begin()
    server.raw(b"-" * 100_000)
    server.is_left()


@row("sends a summary without end in a game", "CUT")
def send_endless_summary(server: Hostile) -> None:
    server.begin()
    server.move()
    server.send("BEGIN Game_Summary", *["Name:x"] * 11_000)
    server.is_left()


@row("confirms another move than was made", "win")
def confirm_another(server: Hostile) -> None:
    server.begin()
    server.hear()
    server.send("+7776FU,T1", "-3334FU,T1")
    server.move()
    server.win()


@row("makes the client's moves", "win")
def make_its_moves(server: Hostile) -> None:
    server.begin()
    server.send("+7776FU,T1", "-3334FU,T1", "+2726FU,T1", "-8384FU,T1")
    server.win()


@row("ends in the line of the decision", "win")
def end_in_line(server: Hostile) -> None:
    server.begin()
    server.move()
    server.raw(b"%TORYO,T1\n#RESIGN\n#WIN")


@row("sends one byte at a time", "win")
def send_bytes(server: Hostile) -> None:
    server.begin()
    server.move()
    for letter in b"-3334FU,T1\r\n%TORYO,T1\n#RESIGN\n#WIN\n":
        server.raw(bytes([letter]))
        time.sleep(0.002)


@row("resets the connection in a game", "CUT")
def reset(server: Hostile) -> None:
    server.begin()
    server.move()
    server.reset()


@row("stops answering in a game", "CUT", keep_alive=SHORT)
def fall_silent(server: Hostile) -> None:
    server.begin()
    server.move()
    server.send("")
    server.is_left()


@row("does not answer the logout", "win", LOGOUT_SECONDS=SHORT)
def ignore_logout(server: Hostile) -> None:
    server.begin()
    server.win()
    while server.hear() not in ("LOGOUT", ""):
        pass
    server.is_left()


@row("reads nothing", CONNECT_SECONDS=SHORT)
def read_nothing(server: Hostile) -> None:
    server.log_in()
    broken = summary("x" * 60_000).replace("Your_Turn:+", "Your_Turn:?") + "\n"
    while server.raw(broken.encode()):
        pass


# ---- the test ----


@contextlib.contextmanager
def deadline(client: Client) -> Iterator[None]:
    """Fail if the block takes too long."""
    late = threading.Event()

    def end() -> None:
        late.set()
        client.interrupt()
        client.interrupt()

    timer = threading.Timer(DEADLINE, end)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
    assert not late.is_set(), "the client hangs"


def meet(client: Client, engine: InstantEngine, listening: socket.socket, behaviour: Behaviour) -> list[str]:
    """Let a client meet the server and then leave; return the lines that it sent."""
    heard, errors = list[str](), list[BaseException]()

    def serve() -> None:
        server = Hostile(listening.accept()[0], heard)
        listening.close()
        try:
            behaviour(server)
        except BaseException as error:
            errors.append(error)
        finally:
            client.interrupt()
            server.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    with deadline(client), contextlib.suppress(SessionError):
        client.run(engine)
    thread.join(DEADLINE)
    assert not errors, errors
    return heard


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_hostile_server(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result, behaviour, limits = BEHAVIOURS[name]
    listening = socket.create_server(("127.0.0.1", 0))
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 14)  # what the server does not read is little
    port, folder, notes = listening.getsockname()[1], tmp_path / "games", list[str]()
    settings = Settings("127.0.0.1", port, "us", "secret", games=1, records=folder, pause=0.01, tick=0.02)
    for limit, seconds in limits.items():
        if limit == "keep_alive":
            settings = replace(settings, keep_alive=seconds)
        for module in (clients, connections):
            if hasattr(module, limit):
                monkeypatch.setattr(module, limit, seconds)
    client = Client(settings, notes.append)
    engine = InstantEngine(client.post)
    heard = meet(client, engine, listening, behaviour)
    games = [game for path in folder.glob("*") for game in load_games(path)]
    assert (client.tally, len(games)) == ({result: 1} if result else {}, bool(result)), notes
    assert [path.suffix for path in folder.glob("*")] == [".csa"] * bool(result)
    assert engine.results == ([{"CUT": "unknown"}.get(result, result)] if result else [])
    assert not [line for line in heard if line.startswith("%")]  # the client never resigns or breaks off
    assert not any("no record" in note or "not saved" in note for note in notes), notes
