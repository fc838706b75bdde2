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

import usi_engine
from usi_engine.csa.client import Client, SessionError, Settings
from usi_engine.csa.connection import TrafficLog
from usi_engine.usi.arguments import DAY, Parser, real, whole
from usi_engine.usi.driver import Engine, EngineError

PORT = 4081
LEAST_KEEP_ALIVE = 30  # seconds; the protocol allows at most one empty line in 30 seconds
NAME = re.compile(r"[!-+\--~]{1,32}")  # visible ASCII without a comma
GAME = re.compile(r"[\w@.-]+-\d+-\d+F?(-[BbWw])?", re.ASCII)
FORCED_INTERRUPTS = 3


class UsageError(Exception):
    """Arguments that cannot be used; one line that quotes them."""


def arguments_of(words: list[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = Parser(
        prog="usi_engine csa", description="Play on a server that speaks the CSA protocol, such as floodgate."
    )
    add = parser.add_argument
    add("server", metavar="HOST[:PORT]", help=f"the server (port {PORT})")
    add("--user", required=True, metavar="NAME", help="the login name")
    secret = parser.add_mutually_exclusive_group(required=True)
    secret.add_argument("--password", help="the password; other users of this machine can see it in the process list")
    secret.add_argument("--password-env", metavar="VARIABLE", help="the environment variable that holds the password")
    add("--game", default="", help="the kind of game, e.g. floodgate-300-10F; sent to shogi-server with the password")
    add("--games", type=whole(), default=0, metavar="N", help="stop after N games (0: play until Ctrl-C)")
    add("--engine", type=Path, metavar="PATH", help="a USI engine (default: this engine)")
    add("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the engine; repeatable")
    add("--ponder", action="store_true", help="think on the opponent's time")
    add(
        "--margin",
        type=real(0, DAY),
        default=0.0,
        metavar="SECONDS",
        help="subtracted from the engine's times (0)",
    )
    add("--records", type=Path, default=Path("csa-games"), metavar="FOLDER", help="folder of the games (csa-games)")
    add("--log", type=Path, metavar="FILE", help="append every line sent and received, without the password")
    add("--keep-alive", type=real(LEAST_KEEP_ALIVE, DAY), default=60.0, metavar="SECONDS",
        help="send an empty line after this time of silence (60, at least 30)")  # fmt: skip
    return parser.parse_args(words)


def address_of(text: str) -> tuple[str, int]:
    """Parse `HOST`, `HOST:PORT`, `[IPV6]:PORT`. UsageError."""
    match = re.fullmatch(r"(?:\[([^\]]+)\]|([^:\[\]]+))(?::(\d{1,5}))?", text)
    if match is None or int(match[3] or PORT) > 65535:
        raise UsageError(f"'{text}' is not HOST or HOST:PORT")
    return match[1] or match[2], int(match[3] or PORT)


def password_of(args: argparse.Namespace) -> str:
    """Return the password as the server takes it: after the kind of game. UsageError."""
    password = args.password
    if password is None:
        password = os.environ.get(args.password_env, "")
        if not password:
            raise UsageError(f"the environment variable '{args.password_env}' is not set")
    if not re.fullmatch(r"[!-~]+", password):
        raise UsageError("the password must be visible ASCII characters without spaces")
    if args.game and not GAME.fullmatch(args.game):
        raise UsageError(f"--game '{args.game}' is not NAME-SECONDS-BYOYOMI or NAME-SECONDS-INCREMENTF")
    return f"{args.game},{password}" if args.game else str(password)


def options_of(args: argparse.Namespace) -> dict[str, str]:
    """Return the options for the engine. UsageError."""
    options = {"USI_Ponder": "true"} if args.ponder else {}
    for text in args.option:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise UsageError(f"--option '{text}' is not NAME=VALUE")
        options[name] = value
    return options


def settings_of(args: argparse.Namespace) -> Settings:
    """Return the client's settings. UsageError."""
    if not NAME.fullmatch(args.user):
        raise UsageError(f"--user '{args.user}' is not a login name of at most 32 characters")
    host, port = address_of(args.server)
    conditions = args.games, args.ponder, args.margin, args.records, args.keep_alive
    return Settings(host, port, args.user, password_of(args), *conditions)


def engine_of(args: argparse.Namespace, client: Client) -> Engine:
    """Return the engine to play with; an engine other than this one runs in its own folder, with its files."""
    if args.engine is None:
        return Engine(own_engine(), options_of(args), client.post, note=note)
    path = args.engine.expanduser().resolve()
    return Engine([str(path)], options_of(args), client.post, path.parent, note)


def own_engine() -> list[str]:
    """Return the command that starts this package. `-m` would prefer a namesake in the working folder."""
    home = str(Path(usi_engine.__file__).resolve().parents[1])
    code = f"import sys; sys.path.insert(0, {home!r}); from usi_engine.__main__ import main; sys.exit(main())"
    return [sys.executable, "-c", code]


@contextlib.contextmanager
def interrupts(client: Client) -> Iterator[None]:
    """Make Ctrl-C ask the client to leave; the third one raises KeyboardInterrupt."""
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
    """Print one line with the time of day."""
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def play(args: argparse.Namespace) -> None:
    """Log in and play. UsageError, SessionError, EngineError, OSError."""
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(open(args.log, "a", encoding="utf-8")) if args.log else None
        client = Client(settings_of(args), note, TrafficLog(file))
        args.records.mkdir(parents=True, exist_ok=True)  # fails before the first game
        engine = engine_of(args, client)
        stack.callback(engine.quit)
        stack.enter_context(interrupts(client))
        engine.prepare()  # before the login: loading takes a while
        try:
            client.run(engine)
        finally:
            if client.tally:
                note(client.summary())


def main(words: list[str]) -> int:
    """Run the command; return the exit status."""
    args = arguments_of(words)
    try:
        play(args)
    except KeyboardInterrupt:
        return 130
    except (UsageError, SessionError, EngineError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0
