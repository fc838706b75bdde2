"""The analysis of the whole game in the place Analyse, made in the background."""

import threading
from collections.abc import Callable
from copy import copy
from itertools import chain
from pathlib import Path
from typing import Any

from core_ext.board import Board
from usi_engine.analysis.analyst import Analyst, Limits, analyse, confirm, in_words
from usi_engine.analysis.page import page_text
from usi_engine.analysis.puzzles import find_puzzles
from usi_engine.core import CoreError
from usi_engine.evaluation.names import WeightsError
from usi_engine.language import text_of
from usi_engine.records.games import Game
from usi_engine.records.tree import Record
from usi_engine.search.results import Analysis, Limit

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
