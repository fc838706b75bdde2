"""The game that all pages show, and the engine that plays in it.

Pages act on it and wait for changes, each on a thread of the server; one lock guards it. A thread of its own takes the
engine's answers.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from usi_engine.analysis.words import marked
from usi_engine.core import CoreError, load_core
from usi_engine.game.skill import FULL_STRENGTH
from usi_engine.language import _
from usi_engine.play.game import LiveGame
from usi_engine.play.match import Match
from usi_engine.play.moves import MoveError
from usi_engine.play.opponent import HINT_MILLISECONDS, Opponent, Thought
from usi_engine.play.record import record_of
from usi_engine.play.review import Review
from usi_engine.play.terms import Terms
from usi_engine.records.notation import move_text, name_moves
from usi_engine.records.tree import Record


@dataclass(eq=False)
class Question:
    """A search that was asked for: the engine's move, or a hint for the person."""

    is_hint: bool


class Table:
    """A game, shared by all pages. Any thread may call it.

    `version` grows with every change. `line` grows with every move taken back and every new game; an action whose
    line or ply is not the current one is refused, because it belongs to an earlier position.
    """

    def __init__(self, match: Match, opponent: Opponent, terms: Terms, evaluation: str, *, started: bool) -> None:
        self.match, self._opponent, self._terms, self._evaluation = match, opponent, terms, evaluation
        self._started, self._ended = started, False
        self._changed = threading.Condition()
        self._version = self._line = 0
        self._began = time.monotonic()  # start of this turn
        self._questions: queue.SimpleQueue[Question] = queue.SimpleQueue()
        self._question: Question | None = None
        self._hint: Thought | None = None
        self._review: Review | None = None
        self._fault: CoreError | None = None
        self._actions: dict[object, Callable[[Mapping[str, Any]], None]] = {
            "new": self._new, "move": self._move, "take_back": self._take_back, "hint": self._ask_hint,
            "resign": lambda _wanted: self._end(self.match.resign),
            "declare": lambda _wanted: self._end(self.match.declare),
        }  # fmt: skip

    def open(self) -> None:
        """Let the engine play."""
        threading.Thread(target=self._listen, name="answers", daemon=True).start()
        with self._changed:
            self._began = time.monotonic()
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
            if (wanted.get("line"), wanted.get("ply")) != (self._line, len(self.match.game.moves)):
                raise MoveError(_("the position has changed in the meantime"))
            action(wanted)
            self._update()
            return self._state()

    def record(self) -> Record:
        """Return the record of the game."""
        with self._changed:
            return record_of(self.match.game, self.match.players)

    def review_page(self) -> str:
        """Return the page of the finished game's analysis; empty if there is none."""
        with self._changed:
            return self._review.page if self._review else ""

    def check(self) -> None:
        """End the game if the time of the side to move is up. CoreError if the engine has ended."""
        with self._changed:
            if self._fault:
                raise self._fault
            if self._running and self.match.lose_on_time(self._spent()):
                self._turn()
                self._update()

    # ---- actions ----

    def _new(self, wanted: Mapping[str, Any]) -> None:
        terms = Terms.read(wanted)
        self.match = Match(LiveGame(load_core(), terms.start), terms.settings(self.match.settings.seconds))
        self._terms, self._started = terms, True
        self._line += 1
        self._turn()
        self._opponent.forget_game()

    def _move(self, wanted: Mapping[str, Any]) -> None:
        self._check_turn()
        self.match.move(str(wanted.get("move", "")), self._spent())
        self._turn()

    def _take_back(self, _wanted: Mapping[str, Any]) -> None:
        self.match.take_back()
        self._line += 1
        self._turn()

    def _end(self, action: Callable[[], None]) -> None:
        self._check_turn()
        action()
        self._turn()

    def _ask_hint(self, _wanted: Mapping[str, Any]) -> None:
        self._check_turn()
        if self._question is None:
            self._hint = None
            self._ask(f"movetime {HINT_MILLISECONDS}", is_hint=True)

    def _check_turn(self) -> None:
        """Raise MoveError unless a person is to move."""
        if not self._running:
            raise MoveError(_("the game is over") if self._started else _("no game has begun"))
        if not self.match.person_moves:
            raise MoveError(_("it is the engine's turn"))

    # ---- the engine ----

    def _ask(self, go: str, *, is_hint: bool) -> None:
        self._question = Question(is_hint)
        level = FULL_STRENGTH if is_hint else self.match.settings.level
        self._opponent.ask(self.match.game.position, go, level)
        self._questions.put(self._question)

    def _cancel(self) -> None:
        """Stop the running search; its answer will be ignored."""
        if self._question:
            self._opponent.stop()
            self._question = None

    def _listen(self) -> None:
        """Take the engine's answers until it ends."""
        try:
            while True:
                question = self._questions.get()
                thought = self._opponent.answer()
                with self._changed:
                    if question is self._question:
                        self._take(question, thought)
                        self._update()
        except CoreError as error:
            self._fault = error
        except Exception as error:  # without this thread the game would wait for ever
            self._fault = CoreError(f"{type(error).__name__}: {error}")

    def _take(self, question: Question, thought: Thought) -> None:
        if question.is_hint:
            self._question, self._hint = None, thought
            return
        self.match.answer(thought.move, self._spent())
        self._turn()

    # ---- the state ----

    @property
    def _running(self) -> bool:
        return self._started and self.match.game.ending is None

    def _spent(self) -> int:
        """Return the milliseconds of this turn so far."""
        return int((time.monotonic() - self._began) * 1000)

    def _turn(self) -> None:
        """Begin the next turn, or end the game."""
        self._cancel()
        self._hint, self._began = None, time.monotonic()
        if self._review:
            self._review.cancel()
            self._review = None

    def _update(self) -> None:
        """Notify the pages of a change; let the engine move, or analyse the game if it has ended."""
        if self._started and self.match.engine_moves and self._question is None and not self._ended:
            self._ask(self.match.go_words(), is_hint=False)
        if self.match.game.ending and self.match.game.moves and self._review is None:
            self._review = Review(self.record(), self._evaluation, self._notify)
            self._review.start()
        self._version += 1
        self._changed.notify_all()

    def _notify(self) -> None:
        with self._changed:
            self._version += 1
            self._changed.notify_all()

    def _state(self) -> dict[str, Any]:
        match, game = self.match, self.match.game
        moves = name_moves(game.start, game.moves, name=move_text)
        return {
            "version": self._version,
            "line": self._line,
            "ply": len(game.moves),
            "started": self._started,
            "terms": asdict(self._terms),
            "start": game.start,
            "moves": [{"usi": move.usi, "text": marked(move.text), "sfen": move.sfen} for move in moves],
            "check": game.board.is_check(),
            "turn": game.turn,
            "side": match.settings.side,
            "players": {side: match.shown_name(side) for side in "bw"},
            "legal": game.board.legal_moves(include_all=True) if self._started and match.person_moves else [],
            "canDeclare": self._started and match.can_declare(),
            "thinking": self._question is not None,
            "hint": self._hint_data(),
            "clock": self._clock_data(),
            "ending": game.ending_text,
            "review": self._review_data(),
        }

    def _hint_data(self) -> dict[str, str] | None:
        hint, game = self._hint, self.match.game
        if hint is None:
            return None
        if hint.move in ("win", "resign"):
            return {"usi": "", "text": _("declare") if hint.move == "win" else _("resign")}
        return {"usi": hint.move, "text": marked(move_text(game.board, hint.move))}

    def _clock_data(self) -> dict[str, Any] | None:
        """Return both sides' main time at the start of this turn, and how long it has lasted."""
        if not self.match.has_clock:
            return None
        times: dict[str, Any] = {side: self.match.left(side) for side in "bw"}
        running = self.match.game.turn if self._running else ""
        return times | {
            "byoyomi": self.match.settings.control.byoyomi,
            "running": running,
            "spent": self._spent() if running else 0,
        }

    def _review_data(self) -> dict[str, Any] | None:
        review = self._review
        if review is None:
            return None
        return {"done": review.done, "count": review.count, "ready": bool(review.page), "fault": review.fault}
