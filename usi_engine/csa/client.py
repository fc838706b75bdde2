"""Game after game on one account: connection, login, agreement, records, reconnection."""

import contextlib
import math
import queue
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from usi_engine.csa import protocol
from usi_engine.csa.connection import Connection, Cut
from usi_engine.csa.game import CUT, ServerGame
from usi_engine.csa.protocol import BadSummary, GameSummary, LoggedIn, Rejected, Reply, Started
from usi_engine.csa.record import RunningRecord
from usi_engine.language import _, text_of
from usi_engine.usi.process import EngineEvent, EngineGone, EngineProcess

LOGIN_SECONDS, LOGOUT_SECONDS = 30.0, 3.0
LONGEST_PAUSE, MOST_DOUBLINGS = 60.0, 10


def words() -> dict[str, str]:
    """Return the results in words."""
    return {"win": _("won"), "lose": _("lost"), "draw": _("drawn"), "unknown": _("broken off"), CUT: _("cut off")}


def describe_fault(error: Exception) -> str:
    """Return why there is no connection; the frequent reasons are translated."""
    if isinstance(error, socket.gaierror):
        return _("the name of the host is not known")
    if isinstance(error, ConnectionRefusedError):
        return _("it refuses the connection")
    return _("it does not answer") if isinstance(error, TimeoutError) else text_of(error)


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
    """A client that plays until `games` games have ended.

    `note` gets messages for the user, `log` each line sent and received.
    """

    def __init__(
        self, settings: Settings, note: Callable[[str], None], log: Callable[[str], None] = lambda line: None
    ) -> None:
        self._settings, self._note, self._log = settings, note, log
        # A SimpleQueue is reentrant: a signal handler may put an event during a get.
        self._events: queue.SimpleQueue[tuple[Connection | None, protocol.Event | Cut | EngineEvent | Interrupted]]
        self._events = queue.SimpleQueue()
        self._leaving = threading.Event()
        self._failures, self._was_accepted = 0, False  # failed sessions in a row; if a login was accepted
        self.tally: Counter[str] = Counter()
        self.lost_records = 0

    def post(self, event: EngineEvent) -> None:
        """Take an event of the engine, from any thread."""
        self._events.put((None, event))

    def interrupt(self) -> None:
        """Leave after the current game; if called again, break it off."""
        self._events.put((None, Interrupted(self._leaving.is_set())))
        self._leaving.set()

    def run(self, engine: EngineProcess) -> None:
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
        parts = [f"{self.tally[result]} {word}" for result, word in words().items() if self.tally[result]]
        games = (_("{count} game") if total == 1 else _("{count} games")).format(count=total)
        return games + (": " + ", ".join(parts) if parts else "")

    @property
    def _address(self) -> str:
        return f"{self._settings.host}:{self._settings.port}"

    def _is_done(self) -> bool:
        ended = sum(self.tally.values()) - self.tally[CUT]
        return self._leaving.is_set() or 0 < self._settings.games <= ended

    def _pause(self, reason: str) -> None:
        """Wait before the next session. SessionError if no login was ever accepted."""
        if not self._was_accepted:
            closed = _("{server} closed the connection during the login").format(server=self._address)
            raise SessionError(reason or closed)
        seconds = min(self._settings.pause * 2 ** min(self._failures, MOST_DOUBLINGS), LONGEST_PAUSE)
        self._failures += 1
        if reason and not self._leaving.is_set():
            self._note(_("{reason}; connecting again in {seconds} s").format(reason=reason, seconds=f"{seconds:g}"))
        end = time.monotonic() + seconds
        while not self._leaving.is_set() and (left := end - time.monotonic()) > 0:
            self._leaving.wait(min(left, self._settings.tick))  # Windows handles Ctrl-C only between two waits

    def _connect(self) -> Connection:
        settings = self._settings
        try:
            address = (settings.host, settings.port)
            return Connection(address, lambda *item: self._events.put(item), settings.keep_alive, self._log)
        except (OSError, RuntimeError) as error:
            text = _("no connection to {server}: {error}").format(server=self._address, error=describe_fault(error))
            raise ConnectionLost(text) from None

    def _next(self, seconds: float = math.inf) -> protocol.Event | EngineEvent | Interrupted:
        """Return the next event. ConnectionLost if the connection ends or nothing comes for `seconds`."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._line.tick()
            with contextlib.suppress(queue.Empty):
                line, event = self._events.get(timeout=min(left, self._settings.tick))
                if line is not None:
                    line.taken()
                if line not in (None, self._line):
                    continue  # from an older connection
                if isinstance(event, Cut):
                    raise ConnectionLost(event.reason)
                return event
        raise ConnectionLost(_("{server} does not answer").format(server=self._address))

    def _log_in(self) -> None:
        name = self._settings.name
        self._line.send(protocol.login(name, self._settings.password), protocol.login(name, "***"))
        while not isinstance(event := self._next(LOGIN_SECONDS), LoggedIn):
            if event is Reply.REFUSED:
                # A server may keep the old connection for a while after it was cut.
                text = _("{server} refuses the login of '{name}': wrong name or password, or still logged in")
                raise ConnectionLost(text.format(server=self._address, name=name))
        if not self._was_accepted:
            self._note(_("logged in to {server} as {name}").format(server=self._address, name=event.name))
        self._was_accepted, self._failures = True, 0

    def _log_out(self) -> None:
        self._line.send(protocol.LOGOUT)
        with contextlib.suppress(ConnectionLost):
            while self._next(LOGOUT_SECONDS) is not Reply.LOGGED_OUT:
                pass

    def _play_games(self, engine: EngineProcess) -> None:
        while not self._is_done():
            event = self._next()
            if isinstance(event, GameSummary):
                self._accept_offer(engine, event)
            elif isinstance(event, BadSummary):
                self._refuse(event.game_id, event.reason)
        self._log_out()

    def _accept_offer(self, engine: EngineProcess, summary: GameSummary) -> None:
        """Answer the offer of a game, and play it."""
        settings = self._settings
        try:
            margin = round(settings.margin * 1000)
            game = ServerGame(summary, engine, self._line.send, self._note, ponder=settings.ponder, margin_ms=margin)
        except ValueError as error:
            self._refuse(summary.game_id, str(error))
            return
        game.prepare()
        if self._leaving.is_set():
            self._refuse(summary.game_id, _("leaving"))
            return
        self._line.send(f"AGREE {summary.game_id}")
        if self._await_start(game):
            self._play(game)
        # shogi-server closes the session after a game, but only when it receives another line. An empty line does no
        # harm on servers that offer the next game in the same session.
        self._line.send(protocol.KEEP_ALIVE)

    def _refuse(self, game_id: str, reason: str) -> None:
        self._note(_("refused {game}: {reason}").format(game=game_id, reason=reason))
        self._line.send(f"REJECT {game_id}")

    def _await_start(self, game: ServerGame) -> bool:
        """Wait for the opponent's answer; return True if it agrees too. ConnectionLost, EngineError."""
        game_id = game.summary.game_id
        while not (isinstance(event := self._next(), Started) and event.game_id in (game_id, "")):
            if isinstance(event, EngineGone):
                game.handle(event)
            elif isinstance(event, GameSummary | BadSummary) and event.game_id != game_id:
                self._refuse(event.game_id, _("{game} was agreed to").format(game=game_id))
            elif isinstance(event, Rejected) and event.game_id in (game_id, ""):
                self._note(_("{name} refused {game}").format(name=event.by, game=game_id))
                return False
            elif isinstance(event, Interrupted):
                if event.again:
                    return False
                self._note(_("leaving after this game; Ctrl-C again leaves at once"))
        self._announce(game.summary)
        return True

    def _announce(self, summary: GameSummary) -> None:
        side = summary.side
        color, opponent = (_("Black"), _("White"))[side], summary.names[1 - side]
        text = _("{game}: {color} against {opponent}, {times}")
        times = summary.controls[side]
        self._note(text.format(game=summary.game_id, color=color, opponent=opponent, times=times))

    def _play(self, game: ServerGame) -> None:
        """Play one game to its end. ConnectionLost, EngineError."""
        record = RunningRecord(game, self._settings.records, self._note)
        try:
            game.begin()
            while game.end is None:
                event = self._next()
                if isinstance(event, Interrupted):
                    self._handle_interrupt(game, event)
                else:
                    game.handle(event)
                record.follow()
        except ConnectionLost as cut:
            game.finish("unknown", CUT)
            reason = str(cut) or _("the connection was cut")
            raise ConnectionLost(_("{reason} during {game}").format(reason=reason, game=game.summary.game_id)) from None
        finally:
            self._count_and_save(game, record)

    def _handle_interrupt(self, game: ServerGame, event: Interrupted) -> None:
        if event.again:
            game.interrupt()
        else:
            self._note(_("leaving after this game; Ctrl-C again asks the server to break it off"))

    def _count_and_save(self, game: ServerGame, record: RunningRecord) -> None:
        """Count a game and write its record."""
        cause = game.cause if game.end else CUT
        result = CUT if cause == CUT else game.result
        self.tally[result] += 1
        try:
            place = str(record.finish())
        except Exception as error:  # whatever it is, the next game can be played
            self.lost_records += 1
            place = _("not saved: {error}; position {moves}").format(error=text_of(error), moves=game.game.position)
        text = _("{result} at move {count} ({cause}): {place}")
        values = {"result": words()[result], "count": len(game.played), "cause": cause, "place": place}
        self._note(text.format(**values))
