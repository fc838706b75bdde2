"""The game that all pages show, and the engine that plays in it: the place Play.

Pages act on it, each on a thread of the server; the engine answers on its own thread. One lock guards the game.
"""

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from core_ext.board import Board
from usi_engine.analysis.words import marked
from usi_engine.core import CoreError, typed_board
from usi_engine.language import _, text_of
from usi_engine.play.browser_server import Answer, Events, Place
from usi_engine.play.game import PersonGame, Settings, pair
from usi_engine.play.library import Library, make_record
from usi_engine.play.opponent import HINT, Opponent
from usi_engine.play.words import value_text
from usi_engine.records import formats
from usi_engine.records.faults import RecordError
from usi_engine.records.games import parse_record
from usi_engine.records.notation import NamedMove, move_text, name_moves
from usi_engine.records.tree import Record
from usi_engine.rules import MoveError
from usi_engine.search.results import PlayResult
from usi_engine.search.skill import FULL_STRENGTH
from usi_engine.usi.protocol import Go

LETTERS = "bw"  # of Black and White, as the page names them
HINT_MOVES = 6  # of a hint's line
CLOCK = ("minutes", "byoyomi", "increment")


class MoveNames:
    """The named moves of a game, each made once."""

    def __init__(self) -> None:
        self._start, self._named = "", list[NamedMove]()

    def of(self, game: PersonGame) -> list[NamedMove]:
        """Return the moves of the game with their names."""
        moves, known = game.moves, self._named if self._start == game.start else []
        same = next((at for at, (move, named) in enumerate(zip(moves, known, strict=False)) if move != named.usi),
                    min(len(moves), len(known)))  # fmt: skip
        board = Board(known[same - 2].sfen if same > 1 else game.start)
        if same:
            board.push(moves[same - 1])  # names depend on the move before
        self._start, self._named = game.start, known[:same] + name_moves(board, moves[same:], move_text)
        return self._named


def state_of(game: PersonGame, names: MoveNames, hint: PlayResult | None, *, started: bool) -> dict[str, Any]:
    """Return the data of a game."""
    end, settings = game.end, game.settings
    return {
        "ply": len(game.moves),
        "started": started,
        "terms": asdict(settings) | {name: pair(getattr(settings, name)) for name in CLOCK} | {"level": game.level},
        "start": game.start,
        "moves": [{"usi": move.usi, "text": marked(move.text), "sfen": move.sfen} for move in names.of(game)],
        "check": game.board.is_check(),
        "turn": LETTERS[game.turn],
        "side": "" if game.person is None else LETTERS[game.person],
        "players": {letter: game.shown_name(side) for side, letter in enumerate(LETTERS)},
        "legal": game.board.legal_moves(include_all=True) if game.person_moves else [],
        "canDeclare": game.can_declare(),
        "hint": hint_data(game, hint) if hint else None,
        "clock": clock_data(game, started) if game.clock else None,
        "ending": game.ending_text,
        "won": None if end is None or end.winner is None or game.person is None else end.winner == game.person,
    }


def hint_data(game: PersonGame, hint: PlayResult) -> dict[str, Any]:
    """Return the hinted move, its value and its line; only a text if it is none."""
    if hint.move is None:
        return {"usi": "", "text": _("declare") if hint.end == "win" else _("resign"), "value": "", "line": []}
    line = [marked(move.text) for move in name_moves(game.board, hint.pv[:HINT_MOVES] or [hint.move], move_text)]
    return {"usi": hint.move, "text": line[0], "value": value_text(hint.score), "line": line}


def clock_data(game: PersonGame, started: bool) -> dict[str, Any]:
    """Return both sides' main time at the start of this turn, their byoyomi, and how long the turn has lasted."""
    running = LETTERS[game.turn] if started and game.end is None else ""
    sides = list(enumerate(LETTERS))
    return {
        **{letter: game.left(side) for side, letter in sides},
        "byoyomi": {letter: game.clock.controls[side].byoyomi for side, letter in sides},
        "timed": {letter: bool(game.clock.controls[side]) for side, letter in sides},
        "running": running,
        "spent": game.clock.spent if running else 0,
    }


# ---- the place ----


class SharedGame(Place):
    """A game, shared by all pages. Any thread may call it.

    `line` grows with every move taken back and every new game; an action whose line or ply is not the current one is
    refused, because it belongs to an earlier position. `name` in `library` is that of the game, empty before its first
    move.
    """

    name = "play"

    def __init__(
        self, game: PersonGame, opponent: Opponent, events: Events, library: Library, *, started: bool, saved: str = ""
    ) -> None:
        self.game, self._opponent = game, opponent
        self._events, self._library, self._saved = events, library, saved
        self._started, self._ended = started, False
        self._changed = threading.Condition()
        self._line, self._names = 0, MoveNames()
        self._search: Future[PlayResult] | None = None  # whose answer is awaited
        self._hint: PlayResult | None = None
        self._fault: CoreError | None = None
        self._unsaved = ""  # why the game is not saved
        actions: dict[str, Callable[[Mapping[str, Any]], None]] = {
            "begin": lambda _wanted: self._begin(self.game), "new": self._new, "open": self._open,
            "rematch": lambda _wanted: self._begin(self.game.again(swapped=True)),
            "move": self._move, "take_back": self._take_back, "hint": self._ask_hint,
            "resign": lambda _wanted: self._reply("resign"), "declare": lambda _wanted: self._reply("win"),
        }  # fmt: skip
        self.posts = {name: partial(self._act, action) for name, action in actions.items()}
        self.gets = {"game.kif": self._file}

    def start(self) -> None:
        """Let the engine play."""
        with self._changed:
            self.game.clock.start()
            self._update()

    def close(self) -> None:
        """Stop the engine."""
        with self._changed:
            self._ended = True
            self._cancel()
            self._changed.notify_all()

    def play_on(self, record: Record, wanted: Mapping[str, Any]) -> None:
        """Go on from the end of a record, at the level and with the side in a page's data. MoveError."""
        with self._changed:
            chosen = {name: wanted.get(name) for name in ("level", "side")}
            self._begin(PersonGame(Settings.read({**vars(self.game.settings), **chosen}), record))
            self._update()

    def record(self) -> Record:
        """Return the record of the game."""
        with self._changed:
            return make_record(self.game)

    # ---- for pages ----

    def state(self) -> dict[str, Any]:
        """Return the data that a page shows."""
        with self._changed:
            shown = state_of(self.game, self._names, self._hint, started=self._started)
            return shown | {
                "line": self._line,
                "saved": self._saved,
                "unsaved": self._unsaved,
                "thinking": self._search is not None,
            }

    def _act(self, action: Callable[[Mapping[str, Any]], None], wanted: Mapping[str, Any]) -> None:
        """Carry out an action of a page. MoveError, without a change, if it is not possible."""
        with self._changed:
            if (wanted.get("line"), wanted.get("ply")) != (self._line, len(self.game.moves)):
                raise MoveError(_("the position has changed in the meantime"))
            action(wanted)
            self._update()

    def _file(self, _query: str) -> Answer:
        name = time.strftime("komadori-%Y%m%d-%H%M%S.kif")
        body = formats.encoded(Path(name), formats.text_of(self.record(), "kif"), "")
        return Answer(body, "application/octet-stream", download=name)

    def check(self) -> None:
        """End the game if the time of the side to move is up. CoreError if the engine has ended."""
        with self._changed:
            if self._fault:
                raise self._fault
            if self._started and self.game.end is None and self.game.lose_on_time(self.game.clock.spent):
                self._turn()
                self._update()

    # ---- actions ----

    def _begin(self, game: PersonGame, saved: str = "") -> None:
        """Go on with this game; the one before stays in the library."""
        self.game, self._started, self._saved = game, True, saved
        self._line += 1
        self._turn()
        self.game.clock.start()
        self._opponent.forget_game()

    def _new(self, wanted: Mapping[str, Any]) -> None:
        settings = Settings.read({"seconds": self.game.settings.seconds, **wanted})
        self._begin(PersonGame(settings, record_pasted(wanted.get("start", ""))))

    def _open(self, wanted: Mapping[str, Any]) -> None:
        name = str(wanted.get("name", ""))
        self._begin(self._library.game(name), name)

    def _move(self, wanted: Mapping[str, Any]) -> None:
        if not self._started:
            self.game.clock.start()
        self.game.move(str(wanted.get("move", "")))
        self._started = True
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

    def _ask(self, go: Go, level: int, take: Callable[[PlayResult], None], pace: float = 0.0) -> None:
        """Begin a search, whose answer `take` gets unless it is cancelled, and not before so many seconds."""
        self._search = self._opponent.ask(self.game.board, go, level)
        self._search.add_done_callback(lambda search: self._answered(search, take, pace))

    def _answered(self, search: Future[PlayResult], take: Callable[[PlayResult], None], pace: float) -> None:
        """Carry out an answer. An error is kept for `check`: without an answer the game would wait for ever."""
        try:
            with self._changed:
                rest = pace - self.game.clock.spent / 1000
                self._changed.wait_for(lambda: search is not self._search or self._ended, max(rest, 0.0))
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

    # ---- changes ----

    def _turn(self) -> None:
        """Begin the next turn, or end the game."""
        self._cancel()
        self._hint = None

    def _update(self) -> None:
        """Save the game and tell the pages; let the engine move."""
        if self._started and self.game.engine_moves and self._search is None and not self._ended:
            self._ask(self.game.go(), self.game.level, self._engine_replies, self.game.pace())
        self._save()
        self._events.changed(self.name)
        self._changed.notify_all()

    def _save(self) -> None:
        """Keep the game from its first move on."""
        if not self._started or not (self.game.moves or self._saved):
            return
        is_new, self._saved = not self._saved, self._saved or self._library.new_name()
        try:
            self._library.keep(self.game, self._saved)
            self._unsaved = ""
        except (OSError, RecordError) as error:
            self._unsaved = text_of(error)
        if is_new or self.game.end:
            self._events.changed("games")


def record_pasted(text: object) -> Record | None:
    """Return the moves of a game or an SFEN that someone has pasted; None if the text is empty. ValueError."""
    if not str(text).strip():
        return None
    record = parse_record(str(text))
    check_position(record.start)
    return Record(record.start, record.root)


def check_position(sfen: str) -> None:
    """Check a position that someone has set up. ValueError, which does not quote it: it is in sight."""
    try:
        board = typed_board(f"sfen {sfen}")
    except ValueError as error:
        raise MoveError(str(error).removesuffix(f" in '{sfen}'").removesuffix(f"：'{sfen}'")) from None
    if board.king_square(1 - board.turn) is None:  # a mate problem may lack the king of the side to move
        raise MoveError(_("White has no king") if board.turn == 0 else _("Black has no king"))
