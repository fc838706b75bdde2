"""`usi_engine csa`: the command line of the CSA client."""

import argparse
import contextlib
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

from usi_engine.core import INTERRUPTED, CoreError
from usi_engine.csa.background import BackgroundWriter
from usi_engine.csa.client import Client, SessionError, Settings
from usi_engine.files import make_folder
from usi_engine.language import _, text_of
from usi_engine.usi.arguments import DAY, Parser, adder, name_value, real, whole
from usi_engine.usi.output import printable, show
from usi_engine.usi.process import EngineError, EngineProcess, own_engine

PORT = 4081
LEAST_KEEP_ALIVE = 30  # seconds; the protocol allows at most one empty line in 30 seconds
NAME = re.compile(r"[!-+\--~]{1,32}")  # visible ASCII without a comma
GAME = re.compile(r"[\w@.-]+-\d+-\d+F?(-[BbWw])?", re.ASCII)
FORCED_INTERRUPTS = 3
# Signals that end the program; a system may lack some.
ENDING = ("SIGTERM", "SIGHUP", "SIGBREAK")
SIGNALLED = 128  # exit status; the number of the signal is added
MOST_LETTERS = 1000  # of a message, which may quote a server's text


class UsageError(Exception):
    """Arguments that cannot be used; one line that quotes them."""


def read_arguments(words: list[str]) -> argparse.Namespace:
    """Parse the command line."""
    description = _("Play on a server that speaks the CSA protocol, such as floodgate.")
    parser = Parser("usi_engine csa", description=description)
    add, secret = adder(parser), adder(parser.add_mutually_exclusive_group(required=True))
    parser.add_argument("server", metavar="HOST[:PORT]", help=_("the server (port {port})").format(port=PORT))
    add("--user NAME", _("the login name"), required=True)
    secret("--password PASSWORD", _("the password; other users of this machine can see it in the process list"))
    secret("--password-env VARIABLE", _("the environment variable that holds the password"))
    game = _("the kind of game, e.g. floodgate-300-10F; sent to shogi-server with the password")
    add("--game GAME", game, default="")
    add("--games N", _("stop after N games (0: play until Ctrl-C)"), whole(), 0)
    add("--engine PATH", _("a USI engine (default: this engine)"), Path)
    add("--option NAME=VALUE", _("an option of the engine; repeatable"), name_value, [], action="append")
    add("--ponder", _("think on the opponent's time"))
    add("--margin SECONDS", _("subtracted from the engine's times (0)"), real(0, DAY), 0.0)
    add("--records FOLDER", _("folder of the games (csa-games)"), Path, Path("csa-games"))
    add("--log FILE", _("append every line sent and received, without the password"), Path)
    silence = _("send an empty line after this time of silence (60, at least 30)")
    add("--keep-alive SECONDS", silence, real(LEAST_KEEP_ALIVE, DAY), 60.0)
    return parser.parse_args(words)


def read_address(text: str) -> tuple[str, int]:
    """Parse `HOST`, `HOST:PORT`, `[IPV6]:PORT`. UsageError."""
    match = re.fullmatch(r"(?:\[([^\]]+)\]|([^:\[\]]+))(?::(\d{1,5}))?", text)
    if match is None or int(match[3] or PORT) > 65535:
        raise UsageError(_("'{text}' is not HOST or HOST:PORT").format(text=text))
    return match[1] or match[2], int(match[3] or PORT)


def read_password(args: argparse.Namespace) -> str:
    """Return the password as the server takes it: after the kind of game. UsageError."""
    password = args.password
    if password is None:
        password = os.environ.get(args.password_env, "")
        if not password:
            message = _("the environment variable '{name}' is not set")
            raise UsageError(message.format(name=args.password_env))
    if not re.fullmatch(r"[!-~]+", password):
        raise UsageError(_("the password must be visible ASCII characters without spaces"))
    if args.game and not GAME.fullmatch(args.game):
        message = _("--game '{name}' is not NAME-SECONDS-BYOYOMI or NAME-SECONDS-INCREMENTF")
        raise UsageError(message.format(name=args.game))
    return f"{args.game},{password}" if args.game else str(password)


def read_options(args: argparse.Namespace) -> dict[str, str]:
    """Return the options for the engine."""
    return ({"USI_Ponder": "true"} if args.ponder else {}) | dict(args.option)


def make_settings(args: argparse.Namespace) -> Settings:
    """Return the client's settings. UsageError."""
    if not NAME.fullmatch(args.user):
        message = _("--user '{name}' is not a login name of at most 32 characters")
        raise UsageError(message.format(name=args.user))
    host, port = read_address(args.server)
    conditions = args.games, args.ponder, args.margin, args.records, args.keep_alive
    return Settings(host, port, args.user, read_password(args), *conditions)


def make_engine(args: argparse.Namespace, client: Client, note: Callable[[str], None]) -> EngineProcess:
    """Return the engine to play with; an engine other than this one runs in its own folder, with its files.

    Its messages are printed by `note`: an engine that writes to a paused terminal would wait for it.
    """

    def say(text: str) -> None:
        note(_("the engine: {text}").format(text=text))

    path = args.engine and args.engine.expanduser().resolve()
    command, folder = ([str(path)], path.parent) if path else (own_engine(), None)
    return EngineProcess(command, read_options(args), client.post, folder, note, errors=say)


class Ended(BaseException):
    """A signal that ends the program; the game is saved."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextlib.contextmanager
def signals(client: Client) -> Iterator[None]:
    """Make Ctrl-C ask the client to leave; the third one raises KeyboardInterrupt. Others raise Ended, once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    count = 0

    def interrupt(number: int, frame: object) -> None:
        nonlocal count
        count += 1
        if count >= FORCED_INTERRUPTS:
            raise KeyboardInterrupt
        client.interrupt()

    def end(number: int, frame: object) -> None:
        for other in ends:
            signal.signal(other, lambda *_: None)
        raise Ended(number)

    known = [getattr(signal, name) for name in ENDING if hasattr(signal, name)]
    ends = [one for one in known if signal.getsignal(one) is not signal.SIG_IGN]  # nohup ignores SIGHUP
    before = {one: signal.signal(one, end) for one in ends} | {signal.SIGINT: signal.signal(signal.SIGINT, interrupt)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def print_line(text: str, file: TextIO | None = None) -> None:
    """Print a text of one or more lines, shortened to MOST_LETTERS."""
    show(*(text if len(text) <= MOST_LETTERS else text[:MOST_LETTERS] + " ...").split("\n"), file=file)


class Outputs:
    """The notes and the log, which cannot delay a game; `close` returns False if one of them hangs or failed.

    A note tells the first error of the log, which ends there.
    """

    def __init__(self, log: Path | None) -> None:
        """OSError if the log cannot be opened."""
        self._file = open(log or os.devnull, "ab", buffering=0)  # noqa: SIM115  (`close` closes it)
        ends = _("the log {name} ends here: {error}")
        self._notes = BackgroundWriter(print_line)
        self._log = BackgroundWriter(
            lambda line: self._file.write(f"{line}\n".encode("utf-8", "backslashreplace")),
            lambda error: self.note(ends.format(name=log, error=text_of(error))),
        )

    def note(self, text: str) -> None:
        """Print a message with the time of day."""
        self._notes.put(f"{time.strftime('%H:%M:%S')} {text}")

    def log(self, line: str) -> None:
        """Write a line that was sent (it begins with >) or received (<) into the log."""
        self._log.put(f"{time.strftime('%H:%M:%S')} {printable(line)}")

    def close(self) -> bool:
        written = [self._log.close(), self._notes.close()]
        if not self._log.hangs:
            self._file.close()
        return all(written)


def play(args: argparse.Namespace, outputs: Outputs) -> int:
    """Log in and play. Return 1 if a record could not be written. UsageError, SessionError, EngineError, CoreError,
    OSError.
    """
    client = Client(make_settings(args), outputs.note, outputs.log)
    os.environ.pop(args.password_env or "", None)  # an engine gets a copy of the environment
    make_folder(args.records)  # fails before the first game
    engine = make_engine(args, client, outputs.note)
    with signals(client), contextlib.ExitStack() as stack:
        stack.callback(engine.quit)
        engine.prepare()  # before the login: loading takes a while
        try:
            client.run(engine)
        finally:
            if client.tally:
                outputs.note(client.summary())
    return int(client.lost_records > 0)


def main(words: list[str]) -> int:
    """Run the command; return the exit status."""
    args = read_arguments(words)
    outputs, status, errors = None, 1, BackgroundWriter(lambda text: print_line(text, sys.stderr))
    try:
        outputs = Outputs(args.log)
        status = play(args, outputs)
    except KeyboardInterrupt:
        status = INTERRUPTED
    except Ended as ended:
        status = SIGNALLED + ended.number
    except (UsageError, SessionError, EngineError, CoreError, OSError) as error:
        errors.put(text_of(error))
    written = [outputs.close() if outputs else True, errors.close()]
    if not all(written):
        os._exit(status)  # an orderly exit waits for output that hangs, and fails if there is none
    return status
