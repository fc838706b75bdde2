"""The place Analyse: a board on which one moves freely, its variations, and the analysis of the whole game."""

import threading
from collections.abc import Callable, Mapping
from copy import copy
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from core_ext.board import Board
from usi_engine.analysis.analyst import Analyst, Limits, analyse, confirm, in_words
from usi_engine.analysis.kif import kif_text
from usi_engine.analysis.page import page_text
from usi_engine.analysis.puzzles import find_puzzles
from usi_engine.core import CoreError
from usi_engine.evaluation.names import WeightsError
from usi_engine.language import _, text_of
from usi_engine.play.analysis_tree import AnalysisTree
from usi_engine.play.browser_server import ONE_FILE_POLICY, Answer, Events, Place, Refused
from usi_engine.play.library import Library, make_record
from usi_engine.play.live_engine import LiveEngine
from usi_engine.play.shared_game import SharedGame, check_position, record_pasted
from usi_engine.records import formats
from usi_engine.records.games import Game
from usi_engine.records.tree import Node, Record
from usi_engine.rules import MoveError
from usi_engine.search.results import Analysis, Limit
from usi_engine.usi.protocol import STARTPOS

# A game of 100 moves takes a core about 20 seconds.
NODES = 20_000
LINES = 2  # puzzles compare the best move with the second


class Cancelled(Exception):
    """The analysis was cancelled."""


class WholeGame:
    """An analysis of the main line of a record, whose nodes get the results as they are found.

    `changed` is called on its thread after each of them and at the end. `page` is the HTML page, empty until it is
    ready; `fault` says why there is none.
    """

    def __init__(self, record: Record, evaluation: str, changed: Callable[[], None]) -> None:
        # The user may change the record meanwhile.
        self._game = Game(**{**vars(copy(record)), "path": Path("game.kif"), "kind": "kif"})
        self._nodes = [record.root, *record.main_line]
        self._limits, self._changed = Limits(Limit(nodes=NODES), evaluation=evaluation, multipv=LINES), changed
        self._cancelled = threading.Event()
        self.done, self.count, self.page, self.fault = 0, len(self._nodes), "", ""

    def start(self) -> None:
        """Start the thread."""
        threading.Thread(target=self._run, name="whole game", daemon=True).start()

    def cancel(self) -> None:
        """End after the current position."""
        self._cancelled.set()

    def progress(self) -> dict[str, Any]:
        """Return how far it is, for a page."""
        return {"done": self.done, "count": self.count, "ready": bool(self.page), "fault": self.fault}

    def _run(self) -> None:
        try:
            self.page = self._analysed()
        except Cancelled:
            return
        except (CoreError, WeightsError, MemoryError) as error:
            self.fault = text_of(error)
        except Exception as error:  # without a fault the page would wait for ever
            self.fault = f"{type(error).__name__}: {error}"
        self._changed()

    def _analysed(self) -> str:
        """Return the page. Cancelled."""
        game, analyst = self._game, Analyst(self._limits)
        found = [game.root, *game.main_line]

        def search(_ply: int, board: Board, effort: int = 1, lines: int = LINES) -> Analysis:
            if self._cancelled.is_set():
                raise Cancelled
            return analyst.look(board, lines, effort)

        for made, _node in enumerate(chain(analyse(game, search), confirm(game, search)), 1):
            self.done = min(made, self.count)
            for own, node in zip(self._nodes, found, strict=True):
                own.quick, own.analysis = node.quick, node.analysis
            self._changed()
        return page_text(game, in_words(self._limits), find_puzzles(game, search))


# ---- the place ----


MOST_LINES = 5
# Formats by the suffixes of the files, all of them UTF-8 where there is a choice.
SUFFIXES = {"kif": "kifu", "ki2": "ki2u", "csa": "csa", "jkf": "jkf", "usi": "usi"}
LONGEST_COMMENT = 10_000


class AnalysisPlace(Place):
    """The analysis that all pages show. Any thread may call it; one lock guards the tree."""

    name = "analyse"

    def __init__(
        self, shared: SharedGame, library: Library, events: Events, evaluation: str, record: Record | None = None
    ) -> None:
        self._shared, self._library, self._events, self._evaluation = shared, library, events, evaluation
        self.engine = LiveEngine(evaluation, 1, lambda: events.changed(LiveEngine.name))
        self._lock = threading.RLock()
        self._tree = AnalysisTree(record or Record(STARTPOS))
        self._on, self._shown, self._lines = True, False, 1
        self._whole: WholeGame | None = None
        actions: dict[str, Callable[[Mapping[str, Any]], None]] = {
            "go": lambda wanted: self._tree.go(self._node(wanted)), "move": self._move, "comment": self._comment,
            "promote": lambda wanted: self._tree.promote(self._node(wanted)),
            "delete": lambda wanted: self._tree.delete(self._node(wanted)),
            "load": lambda wanted: self._load(record_pasted(wanted.get("text"))),
            "open": lambda wanted: self._load(make_record(self._library.game(str(wanted.get("name", ""))))),
            "game": self._open_game, "engine": self._set_engine, "whole": self._analyse, "play": self._play,
        }  # fmt: skip
        self.posts = {name: partial(self._act, action) for name, action in actions.items()}
        self.posts["check"] = lambda wanted: check_position(str(wanted.get("sfen")))
        self.gets = {"file": self._file, "analysis.html": self._page}

    def state(self) -> dict[str, Any]:
        """Return the tree, what the engine is asked for, and how far the analysis of the game is."""
        with self._lock:
            engine = {"on": self._on, "lines": self._lines, "most": MOST_LINES}
            return self._tree.state() | {"engine": engine, "whole": self._whole and self._whole.progress()}

    def close(self) -> None:
        """End all searches."""
        self.engine.close()
        with self._lock:
            self._cancel()

    def _act(self, action: Callable[[Mapping[str, Any]], None], wanted: Mapping[str, Any]) -> None:
        """Carry out an action of a page. ValueError, without a change, if it is not possible."""
        with self._lock:
            before = self._tree.here, self._on and self._shown, self._lines
            action(wanted)
            if before != (now := (self._tree.here, self._on and self._shown, self._lines)):
                self.engine.want(self._tree.number(), self._tree.board(now[0]) if now[1] else None, self._lines)
        self._events.changed(self.name)

    def _node(self, wanted: Mapping[str, Any]) -> Node:
        return self._tree.node(wanted.get("node"))

    def _move(self, wanted: Mapping[str, Any]) -> None:
        moves = wanted.get("moves")
        if not isinstance(moves, list):
            raise MoveError(_("'{text}' is not legal here").format(text=moves))
        self._tree.play(self._node(wanted), [str(move) for move in moves])

    def _comment(self, wanted: Mapping[str, Any]) -> None:
        text = wanted.get("text")
        if not isinstance(text, str) or len(text) > LONGEST_COMMENT:
            raise MoveError(_("a comment has at most {count} characters").format(count=LONGEST_COMMENT))
        self._node(wanted).comment = text.strip() or None

    def _load(self, record: Record | None) -> None:
        self._cancel()
        self._tree = AnalysisTree(record or Record(STARTPOS))

    def _set_engine(self, wanted: Mapping[str, Any]) -> None:
        lines = wanted.get("lines", self._lines)
        if not isinstance(lines, int) or not 1 <= lines <= MOST_LINES:
            raise MoveError(_("{name} cannot be '{value}'").format(name="lines", value=lines))
        self._lines = lines
        self._on, self._shown = bool(wanted.get("on", self._on)), bool(wanted.get("shown", self._shown))

    def _play(self, wanted: Mapping[str, Any]) -> None:
        """Go on with the game from the position on the board, in the place Play."""
        made = [Node(move) for move in self._tree.here.moves()]
        record = formats.record_of_moves(self._tree.record.start, made, None, {})
        self._shared.play_on(record, wanted)

    # ---- the whole game ----

    def _analyse(self, wanted: Mapping[str, Any]) -> None:
        """Analyse the main line in the background, or stop that."""
        self._cancel()
        if not wanted.get("stop"):
            self._whole = WholeGame(self._tree.record, self._evaluation, lambda: self._events.changed(self.name))
            self._whole.start()

    def _open_game(self, wanted: Mapping[str, Any]) -> None:
        """Show the game of the place Play and analyse it, unless that was done."""
        game, shown = self._shared.record(), self._tree.record
        if self._whole is None or (game.start, game.moves) != (shown.start, shown.moves):
            self._load(game)
            self._analyse(wanted)

    def _cancel(self) -> None:
        if self._whole:
            self._whole.cancel()
            self._whole = None

    # ---- files ----

    def _file(self, query: str) -> Answer:
        if query not in SUFFIXES:
            raise Refused(404, "there is no such format")
        with self._lock:
            record = self._tree.record
            text = kif_text(record) if query == "kif" and record.root.analysis else formats.text_of(record, query)
        name = f"komadori.{SUFFIXES[query]}"
        return Answer(formats.encoded(Path(name), text, ""), "application/octet-stream", download=name)

    def _page(self, _query: str) -> Answer:
        with self._lock:
            if not self._whole or not self._whole.page:
                raise Refused(404, _("the analysis is not ready"))
            return Answer(self._whole.page.encode(), "text/html", policy=ONE_FILE_POLICY)
