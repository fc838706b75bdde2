"""`usi_engine csa`: the command line of the CSA client."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import usi_engine
from usi_engine.usi.arguments import DAY, real, whole

if TYPE_CHECKING:
    from usi_engine.csa.client import Client, Settings
    from usi_engine.csa.driver import Engine

PORT = 4081
LEAST_KEEP_ALIVE = 30  # seconds; the protocol allows an empty line every 30 seconds at most
NAME = re.compile(r"[!-+\--~]{1,32}")  # visible ASCII without a comma
GAME = re.compile(r"[\w@.-]+-\d+-\d+F?(-[BbWw])?", re.ASCII)
MISSING = "usi_engine csa needs rsshogi: pip install rsshogi"
FORCED_INTERRUPTS = 3


class UsageError(Exception):
    """Arguments that cannot be used; one line that quotes them."""


def arguments_of(words: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="usi_engine csa", description="Play on a server that speaks the CSA protocol, such as floodgate."
    )
    add = parser.add_argument
    add("server", metavar="HOST[:PORT]", help=f"the server (port {PORT})")
    add("--user", required=True, metavar="NAME", help="the login name")
    secret = parser.add_mutually_exclusive_group(required=True)
    secret.add_argument("--password", help="the password; other users of this machine can see it in the process list")
    secret.add_argument("--password-env", metavar="VARIABLE", help="the environment variable that holds the password")
    add("--game", default="", help="the kind of game, e.g. floodgate-300-10F; shogi-server takes it with the password")
    add("--games", type=whole(), default=0, metavar="N", help="stop after so many games (0: play until Ctrl-C)")
    add("--engine", type=Path, metavar="PATH", help="a USI engine (default: this engine)")
    add("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the engine; repeatable")
    add("--ponder", action="store_true", help="think on the opponent's time")
    add(
        "--margin", type=real(0, DAY), default=0.0, metavar="SECONDS", help="taken off the times the engine is told (0)"
    )
    add("--records", type=Path, default=Path("csa-games"), metavar="FOLDER", help="for the games (csa-games)")
    add("--log", type=Path, metavar="FILE", help="append every line sent and received, without the password")
    add("--keep-alive", type=real(LEAST_KEEP_ALIVE, DAY), default=60.0, metavar="SECONDS",
        help="empty line after so long a silence (60, at least 30)")  # fmt: skip
    return parser.parse_args(words)


def address_of(text: str) -> tuple[str, int]:
    """`HOST`, `HOST:PORT`, `[IPV6]:PORT`. UsageError."""
    match = re.fullmatch(r"(?:\[([^\]]+)\]|([^:\[\]]+))(?::(\d{1,5}))?", text)
    if match is None or int(match[3] or PORT) > 65535:
        raise UsageError(f"'{text}' is not HOST or HOST:PORT")
    return match[1] or match[2], int(match[3] or PORT)


def password_of(chosen: argparse.Namespace) -> str:
    """The password as the server takes it: after the kind of game. UsageError."""
    password = chosen.password
    if password is None:
        password = os.environ.get(chosen.password_env, "")
        if not password:
            raise UsageError(f"the environment variable '{chosen.password_env}' is not set")
    if not re.fullmatch(r"[!-~]+", password):
        raise UsageError("the password must be visible ASCII characters without spaces")
    if chosen.game and not GAME.fullmatch(chosen.game):
        raise UsageError(f"--game '{chosen.game}' is not NAME-SECONDS-BYOYOMI or NAME-SECONDS-INCREMENTF")
    return f"{chosen.game},{password}" if chosen.game else str(password)


def options_of(chosen: argparse.Namespace) -> dict[str, str]:
    """The options for the engine. UsageError."""
    options = {"USI_Ponder": "true"} if chosen.ponder else {}
    for text in chosen.option:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise UsageError(f"--option '{text}' is not NAME=VALUE")
        options[name] = value
    return options


def settings_of(chosen: argparse.Namespace) -> Settings:
    """What the client is told. UsageError."""
    from usi_engine.csa.client import Settings  # noqa: PLC0415  (needs rsshogi)

    if not NAME.fullmatch(chosen.user):
        raise UsageError(f"--user '{chosen.user}' is not a login name of at most 32 characters")
    host, port = address_of(chosen.server)
    return Settings(
        host=host,
        port=port,
        name=chosen.user,
        password=password_of(chosen),
        games=chosen.games,
        ponder=chosen.ponder,
        margin=chosen.margin,
        records=chosen.records,
        keep_alive=chosen.keep_alive,
    )


def engine_of(chosen: argparse.Namespace, client: Client) -> Engine:
    """The engine to play with; another one runs in its own folder, where it has its files."""
    from usi_engine.csa.driver import Engine  # noqa: PLC0415

    if chosen.engine is None:
        return Engine(own_engine(), options_of(chosen), client.post, note=note)
    path = chosen.engine.expanduser().resolve()
    return Engine([str(path)], options_of(chosen), client.post, path.parent, note)


def own_engine() -> list[str]:
    """The command that starts this package. `-m` would take one of its name in the working folder before it."""
    home = str(Path(usi_engine.__file__).resolve().parents[1])
    code = f"import sys; sys.path.insert(0, {home!r}); from usi_engine.__main__ import main; sys.exit(main())"
    return [sys.executable, "-c", code]


@contextlib.contextmanager
def interrupts(client: Client) -> Iterator[None]:
    """Within the block Ctrl-C asks the client to leave; the third one raises KeyboardInterrupt."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    count = 0

    def handle(number: int, frame: object) -> None:
        nonlocal count
        count += 1
        if count >= FORCED_INTERRUPTS:
            raise KeyboardInterrupt
        client.interrupt()

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def note(text: str) -> None:
    """One line for the user, with the time of day."""
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def play(chosen: argparse.Namespace) -> None:
    """Log in and play. UsageError, SessionError, EngineError."""
    from usi_engine.csa.client import Client  # noqa: PLC0415
    from usi_engine.csa.connection import TrafficLog  # noqa: PLC0415

    with contextlib.ExitStack() as stack:
        file = stack.enter_context(open(chosen.log, "a", encoding="utf-8")) if chosen.log else None
        client = Client(settings_of(chosen), note, TrafficLog(file))
        chosen.records.mkdir(parents=True, exist_ok=True)  # a fault is known before the first game
        engine = engine_of(chosen, client)
        stack.callback(engine.quit)
        stack.enter_context(interrupts(client))
        engine.prepare()  # before the login: loading takes a while
        try:
            client.run(engine)
        finally:
            if client.tally:
                note(client.summary())


def main(words: list[str]) -> int:
    """Carry out the command; returns the exit status."""
    chosen = arguments_of(words)
    try:
        from usi_engine.csa.client import SessionError  # noqa: PLC0415
        from usi_engine.csa.driver import EngineError  # noqa: PLC0415
    except ImportError:
        print(MISSING, file=sys.stderr)
        return 1
    try:
        play(chosen)
    except KeyboardInterrupt:
        return 130
    except (UsageError, SessionError, EngineError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0
