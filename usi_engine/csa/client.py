"""Game after game on one account: connection, login, agreement, records, reconnection."""

from __future__ import annotations

import contextlib
import math
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from usi_engine.csa import protocol
from usi_engine.csa.connection import Connection, Cut, TrafficLog
from usi_engine.csa.game import Ending, ServerGame
from usi_engine.csa.protocol import BadSummary, GameSummary, LoggedIn, LoggedOut, LoginRefused, Rejected, Started
from usi_engine.csa.record import save
from usi_engine.driver import Engine, EngineEvent, EngineGone
from usi_engine.records.faults import RecordError

LOGIN_SECONDS, LOGOUT_SECONDS = 30.0, 3.0
LONGEST_PAUSE, MOST_DOUBLINGS = 60.0, 10
CUT = "CUT"
WORDS = {"win": "won", "lose": "lost", "draw": "drawn", "unknown": "broken off", CUT: "cut off"}


class SessionError(Exception):
    """A server that cannot be used; one line."""


class ConnectionLost(Exception):
    """The end of a session, after which another may begin; the text is the reason if it is unusual."""


@dataclass(frozen=True)
class Interrupted:
    """Ctrl-C; `again`: not the first one."""

    again: bool


@dataclass(frozen=True)
class Settings:
    """Settings of the user. `games` 0: play until Ctrl-C. Times in seconds."""

    host: str
    port: int
    name: str
    password: str
    games: int = 0
    ponder: bool = False
    margin: float = 0.0  # subtracted from the times sent to the engine
    records: Path = Path("csa-games")
    keep_alive: float = 60.0
    pause: float = 1.0  # before a new connection; doubled after each that fails
    tick: float = 1.0


class Client:
    """A client that plays until `games` games have ended. `note` gets messages for the user."""

    def __init__(self, settings: Settings, note: Callable[[str], None], log: TrafficLog | None = None) -> None:
        self._settings, self._note, self._log = settings, note, log or TrafficLog()
        self._events: queue.Queue[tuple[Connection | None, protocol.Event | Cut | EngineEvent | Interrupted]]
        self._events = queue.Queue()
        self._leaving = threading.Event()
        self._failures, self._was_accepted = 0, False  # failed sessions in a row; whether a login was ever accepted
        self.tally: Counter[str] = Counter()

    def post(self, event: EngineEvent) -> None:
        """Take an event of the engine, from any thread."""
        self._events.put((None, event))

    def interrupt(self) -> None:
        """Leave after the current game; if called again, break it off."""
        self._events.put((None, Interrupted(self._leaving.is_set())))
        self._leaving.set()

    def run(self, engine: Engine) -> None:
        """Play with an engine that is started and posts here. SessionError, EngineError."""
        while not self._is_done():
            try:
                with contextlib.closing(self._connect()) as line:
                    self._line = line
                    self._log_in()
                    self._play_games(engine)
            except ConnectionLost as cut:
                self._pause(str(cut))

    def summary(self) -> str:
        """Return the results in one line."""
        total = sum(self.tally.values())
        parts = [f"{self.tally[result]} {word}" for result, word in WORDS.items() if self.tally[result]]
        return f"{total} game{'s' * (total != 1)}" + (": " + ", ".join(parts) if parts else "")

    @property
    def _address(self) -> str:
        return f"{self._settings.host}:{self._settings.port}"

    def _is_done(self) -> bool:
        ended = sum(self.tally.values()) - self.tally[CUT]
        return self._leaving.is_set() or 0 < self._settings.games <= ended

    def _pause(self, reason: str) -> None:
        """Wait before the next session. SessionError if no login was ever accepted."""
        if not self._was_accepted:
            raise SessionError(reason or f"{self._address} closed the connection during the login")
        seconds = min(self._settings.pause * 2 ** min(self._failures, MOST_DOUBLINGS), LONGEST_PAUSE)
        self._failures += 1
        if reason and not self._leaving.is_set():
            self._note(f"{reason}; connecting again in {seconds:g} s")
        self._leaving.wait(seconds)

    # ---- the session ----

    def _connect(self) -> Connection:
        settings = self._settings
        try:
            address = (settings.host, settings.port)
            return Connection(address, lambda *item: self._events.put(item), settings.keep_alive, self._log)
        except OSError as error:
            raise ConnectionLost(f"no connection to {self._address}: {error}") from None

    def _next(self, seconds: float = math.inf) -> protocol.Event | EngineEvent | Interrupted:
        """Return the next event. ConnectionLost if the connection ends or nothing comes for `seconds`."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._line.tick()
            with contextlib.suppress(queue.Empty):
                line, event = self._events.get(timeout=min(left, self._settings.tick))
                if line not in (None, self._line):
                    continue  # from an older connection
                if isinstance(event, Cut):
                    raise ConnectionLost
                return event
        raise ConnectionLost(f"{self._address} does not answer")

    def _log_in(self) -> None:
        name = self._settings.name
        self._line.send(protocol.login(name, self._settings.password), protocol.login(name, "***"))
        while not isinstance(event := self._next(LOGIN_SECONDS), LoggedIn):
            if isinstance(event, LoginRefused):
                # A server may keep the old connection for a while after it was cut.
                raise ConnectionLost(
                    f"{self._address} refuses the login of '{name}': wrong name or password, or still logged in"
                )
        if not self._was_accepted:
            self._note(f"logged in to {self._address} as {event.name}")
        self._was_accepted, self._failures = True, 0

    def _log_out(self) -> None:
        self._line.send(protocol.LOGOUT)
        with contextlib.suppress(ConnectionLost):
            while not isinstance(self._next(LOGOUT_SECONDS), LoggedOut):
                pass

    # ---- games ----

    def _play_games(self, engine: Engine) -> None:
        while not self._is_done():
            event = self._next()
            if isinstance(event, GameSummary):
                self._accept_offer(engine, event)
            elif isinstance(event, BadSummary):
                self._refuse(event.game_id, event.reason)
        self._log_out()

    def _accept_offer(self, engine: Engine, summary: GameSummary) -> None:
        """Answer the offer of a game, and play it."""
        settings = self._settings
        try:
            margin = round(settings.margin * 1000)
            game = ServerGame(summary, engine, self._line.send, self._note, ponder=settings.ponder, margin_ms=margin)
        except ValueError as error:
            self._refuse(summary.game_id, str(error))
            return
        engine.prepare(summary.max_moves)
        self._line.send(protocol.agree(summary.game_id))
        if self._is_started(game):
            self._play(game)
        # shogi-server closes the session after a game, but only when it receives another line. An empty line does no
        # harm on servers that offer the next game in the same session.
        self._line.send(protocol.KEEP_ALIVE)

    def _refuse(self, game_id: str, reason: str) -> None:
        self._note(f"refused {game_id}: {reason}")
        self._line.send(protocol.reject(game_id))

    def _is_started(self, game: ServerGame) -> bool:
        """Return True if the opponent agrees too. EngineError."""
        summary = game.summary
        while not isinstance(event := self._next(), Started):
            if isinstance(event, EngineGone):
                game.handle(event)
            if isinstance(event, Rejected):
                self._note(f"{event.by} refused {summary.game_id}")
            if isinstance(event, Rejected | Interrupted):
                return False
        colors = {"+": "Black", "-": "White"}
        opponent = summary.names["-" if summary.color == "+" else "+"]
        self._note(f"{summary.game_id}: {colors[summary.color]} against {opponent}, {summary.controls[summary.color]}")
        return True

    def _play(self, game: ServerGame) -> None:
        """Play one game to its end. ConnectionLost, EngineError."""
        try:
            game.begin()
            while game.ending is None:
                event = self._next()
                if isinstance(event, Interrupted):
                    self._handle_interrupt(game, event)
                else:
                    game.handle(event)
        except ConnectionLost:
            game.end(Ending("unknown", CUT))
            raise ConnectionLost(f"the connection was cut during {game.summary.game_id}") from None
        finally:
            self._count_and_save(game)

    def _handle_interrupt(self, game: ServerGame, event: Interrupted) -> None:
        if event.again:
            game.interrupt()
        else:
            self._note("leaving after this game; Ctrl-C again asks the server to break it off")

    def _count_and_save(self, game: ServerGame) -> None:
        """Count a game and write its record."""
        ending = game.ending or Ending("unknown", CUT)
        result = CUT if ending.cause == CUT else ending.result
        self.tally[result] += 1
        try:
            place = str(save(game, self._settings.records))
        except (OSError, RecordError) as error:
            place = f"no record: {error}"
        moves = len(game.played)
        self._note(f"{WORDS[result]} after {moves} moves ({ending.cause}): {place}")
