"""The game that all pages show, and the engine that plays in it.

Pages act on it and wait for changes, each on a thread of the server; the engine answers on its own thread. One lock
guards the game.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import asdict
from typing import Any

from usi_engine.analysis.words import marked
from usi_engine.core import CoreError, load_core
from usi_engine.language import _
from usi_engine.play.game import PersonGame, Settings
from usi_engine.play.opponent import HINT, Opponent
from usi_engine.play.record import make_record
from usi_engine.play.review import Review
from usi_engine.records.notation import move_text, name_moves
from usi_engine.records.tree import Record
from usi_engine.rules import MoveError
from usi_engine.search.results import PlayResult
from usi_engine.search.skill import FULL_STRENGTH
from usi_engine.usi.protocol import Go

LETTERS = "bw"  # of Black and White, as pages name them


class SharedGame:
    """A game, shared by all pages. Any thread may call it.

    `version` grows with every change. `line` grows with every move taken back and every new game; an action whose
    line or ply is not the current one is refused, because it belongs to an earlier position.
    """

    def __init__(self, game: PersonGame, opponent: Opponent, evaluation: str, *, started: bool) -> None:
        self.game, self._opponent, self._evaluation = game, opponent, evaluation
        self._started, self._ended = started, False
        self._changed = threading.Condition()
        self._version = self._line = 0
        self._search: Future[PlayResult] | None = None  # whose answer is awaited
        self._hint: PlayResult | None = None
        self._review: Review | None = None
        self._fault: CoreError | None = None
        self._actions: dict[object, Callable[[Mapping[str, Any]], None]] = {
            "new": self._new, "move": self._move, "take_back": self._take_back, "hint": self._ask_hint,
            "resign": lambda _wanted: self._reply("resign"), "declare": lambda _wanted: self._reply("win"),
        }  # fmt: skip

    def open(self) -> None:
        """Let the engine play."""
        with self._changed:
            self.game.clock.start()
            self._update()

    def close(self) -> None:
        """Stop the engine and wake all waiting threads."""
        with self._changed:
            self._ended = True
            self._cancel()
            self._changed.notify_all()

    # ---- for pages ----

    def state(self) -> dict[str, Any]:
        """Return the data that a page shows."""
        with self._changed:
            return self._state()

    def wait(self, version: int, seconds: float) -> dict[str, Any]:
        """Wait until the state differs from this version, or for `seconds`; return the state."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended or self._version != version, seconds)
            return self._state()

    def act(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """Carry out an action of a page; return the state. MoveError, without a change, if it is not possible."""
        with self._changed:
            name = wanted.get("action")
            action = self._actions.get(name) if isinstance(name, str) else None
            if action is None:
                raise MoveError(_("unknown action '{name}'").format(name=name))
            if (wanted.get("line"), wanted.get("ply")) != (self._line, len(self.game.moves)):
                raise MoveError(_("the position has changed in the meantime"))
            action(wanted)
            self._update()
            return self._state()

    def record(self) -> Record:
        """Return the record of the game."""
        with self._changed:
            return make_record(self.game)

    def review_page(self) -> str:
        """Return the page of the finished game's analysis; empty if there is none."""
        with self._changed:
            return self._review.page if self._review else ""

    def check(self) -> None:
        """End the game if the time of the side to move is up. CoreError if the engine has ended."""
        with self._changed:
            if self._fault:
                raise self._fault
            if self._running and self.game.lose_on_time(self.game.clock.spent):
                self._turn()
                self._update()

    # ---- actions ----

    def _new(self, wanted: Mapping[str, Any]) -> None:
        self.game, self._started = PersonGame(Settings.read(wanted, self.game.settings.seconds)), True
        self._line += 1
        self._turn()
        self._opponent.forget_game()

    def _move(self, wanted: Mapping[str, Any]) -> None:
        self._check_started()
        self.game.move(str(wanted.get("move", "")))
        self._turn()

    def _reply(self, answer: str) -> None:
        self._check_started()
        self.game.person_replies(answer)
        self._turn()

    def _take_back(self, _wanted: Mapping[str, Any]) -> None:
        self.game.take_back()
        self._line += 1
        self._turn()

    def _ask_hint(self, _wanted: Mapping[str, Any]) -> None:
        self._check_started()
        self.game.check_person_moves()
        if self._search is None:
            self._hint = None
            self._ask(HINT, FULL_STRENGTH, self._show_hint)

    def _check_started(self) -> None:
        """Raise MoveError before the first game."""
        if not self._started:
            raise MoveError(_("no game has begun"))

    # ---- the engine ----

    def _ask(self, go: Go, level: int, take: Callable[[PlayResult], None]) -> None:
        """Begin a search, whose answer `take` gets unless it is cancelled."""
        self._search = self._opponent.ask(self.game.board, go, level)
        self._search.add_done_callback(lambda search: self._answered(search, take))

    def _answered(self, search: Future[PlayResult], take: Callable[[PlayResult], None]) -> None:
        """Carry out an answer. An error is kept for `check`: without an answer the game would wait for ever."""
        try:
            with self._changed:
                if search is self._search:
                    self._search = None
                    take(search.result())
                    self._update()
        except Exception as error:
            self._fault = error if isinstance(error, CoreError) else CoreError(f"{type(error).__name__}: {error}")

    def _cancel(self) -> None:
        """Stop the running search; its answer will be ignored."""
        if self._search:
            self._opponent.stop()
            self._search = None

    def _show_hint(self, hint: PlayResult) -> None:
        self._hint = hint

    def _engine_replies(self, answer: PlayResult) -> None:
        self.game.reply(answer.move or answer.end)
        self._turn()

    # ---- the state ----

    @property
    def _running(self) -> bool:
        return self._started and self.game.end is None

    def _turn(self) -> None:
        """Begin the next turn, or end the game."""
        self._cancel()
        self._hint = None
        if self._review:
            self._review.cancel()
            self._review = None

    def _update(self) -> None:
        """Notify the pages of a change; let the engine move, or analyse the game if it has ended."""
        if self._started and self.game.engine_moves and self._search is None and not self._ended:
            self._ask(self.game.go(), self.game.level, self._engine_replies)
        if self.game.end and self.game.moves and self._review is None:
            self._review = Review(self.record(), self._evaluation, self._notify)
            self._review.start()
        self._version += 1
        self._changed.notify_all()

    def _notify(self) -> None:
        with self._changed:
            self._version += 1
            self._changed.notify_all()

    def _state(self) -> dict[str, Any]:
        game = self.game
        moves = name_moves(load_core().board(game.start), game.moves, move_text)
        return {
            "version": self._version,
            "line": self._line,
            "ply": len(game.moves),
            "started": self._started,
            "terms": asdict(game.settings),
            "start": game.start,
            "moves": [{"usi": move.usi, "text": marked(move.text), "sfen": move.sfen} for move in moves],
            "check": game.board.is_check(),
            "turn": LETTERS[game.turn],
            "side": "" if game.person is None else LETTERS[game.person],
            "players": {letter: game.shown_name(side) for side, letter in enumerate(LETTERS)},
            "legal": game.board.legal_moves(include_all=True) if self._started and game.person_moves else [],
            "canDeclare": self._started and game.can_declare(),
            "thinking": self._search is not None,
            "hint": self._hint_data(),
            "clock": self._clock_data(),
            "ending": game.ending_text,
            "review": self._review_data(),
        }

    def _hint_data(self) -> dict[str, str] | None:
        hint, game = self._hint, self.game
        if hint is None:
            return None
        if hint.move is None:
            return {"usi": "", "text": _("declare") if hint.end == "win" else _("resign")}
        return {"usi": hint.move, "text": marked(move_text(game.board, hint.move))}

    def _clock_data(self) -> dict[str, Any] | None:
        """Return both sides' main time at the start of this turn, and how long it has lasted."""
        game = self.game
        if not game.clock:
            return None
        times: dict[str, Any] = {letter: game.left(side) for side, letter in enumerate(LETTERS)}
        running = LETTERS[game.turn] if self._running else ""
        byoyomi = game.settings.control.byoyomi
        return times | {"byoyomi": byoyomi, "running": running, "spent": game.clock.spent if running else 0}

    def _review_data(self) -> dict[str, Any] | None:
        review = self._review
        if review is None:
            return None
        return {"done": review.done, "count": review.count, "ready": bool(review.page), "fault": review.fault}
