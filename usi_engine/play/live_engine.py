"""An engine that evaluates the position on the board of the place Analyse for as long as it is shown."""

import threading
from collections.abc import Callable

from core_ext.board import Board
from usi_engine.analysis.judgement import percent
from usi_engine.analysis.page import Data, line_data
from usi_engine.api.engine import Engine
from usi_engine.api.search_engine import AnalysisStream
from usi_engine.core import CoreError
from usi_engine.evaluation.names import WeightsError
from usi_engine.language import text_of
from usi_engine.play.browser_server import Place
from usi_engine.search.results import Analysis, Limit

LONGEST = 600.0  # seconds for a position: a page that was left open lets the processor rest
MEGABYTES = 128


class LiveEngine(Place):
    """A search of the position that was wanted last, on a thread of its own, loaded for the first one.

    As a place of the page it has no actions: its state are the lines found so far. `changed` is called on its thread.
    """

    name = "engine"

    def __init__(self, evaluation: str, threads: int, changed: Callable[[], None]) -> None:
        self._evaluation, self._threads, self._changed = evaluation, threads, changed
        self._news = threading.Condition()
        self._wanted: tuple[int, Board, int] | None = None  # number of the node, position, number of lines
        self._stream: AnalysisStream | None = None
        self._thread: threading.Thread | None = None
        self._closed, self._state = False, Data()

    def state(self) -> Data:
        """Return the node's number, depth, nodes, and the lines; no lines before there are any."""
        return self._state

    def want(self, node: int, board: Board | None, lines: int) -> None:
        """Search a position; None: nothing."""
        with self._news:
            self._wanted = None if board is None else (node, board.copy(), lines)
            self._wake()
            if self._thread is None and board is not None:
                self._thread = threading.Thread(target=self._run, name="live engine", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """End the search."""
        with self._news:
            self._closed = True
            self._wake()

    def _wake(self) -> None:
        if self._stream:
            self._stream.stop()
        self._news.notify_all()

    def _run(self) -> None:
        try:
            with Engine(self._evaluation, threads=self._threads, megabytes=MEGABYTES) as engine:
                while wanted := self._next():
                    self._search(engine, *wanted)
        except (CoreError, WeightsError, MemoryError) as error:
            self._state = {"fault": text_of(error)}
            self._changed()

    def _next(self) -> tuple[int, Board, int] | None:
        """Wait for a position; None if the engine is closed."""
        with self._news:
            self._news.wait_for(lambda: self._wanted is not None or self._closed)
            return None if self._closed else self._wanted

    def _search(self, engine: Engine, node: int, board: Board, lines: int) -> None:
        """Search until another position is wanted or the time is up; then wait for another one."""
        wanted = self._wanted
        with engine.analysis(board, Limit(time=LONGEST), multipv=lines) as stream:
            with self._news:
                self._stream = stream
            for found in stream:
                if self._wanted is not wanted or self._closed:
                    break
                self._state = {"node": node, **lines_data(board, found)}
                self._changed()
        with self._news:
            self._stream = None
            if self._wanted is wanted:
                self._wanted = None


def lines_data(board: Board, found: Analysis) -> Data:
    """Return the depth, the nodes and the lines of a result; values and chances are Black's."""
    lines = [line_data("", board, line) | {"win": percent(line.score.pov(0).value)} for line in found.lines]
    return {"depth": found.depth, "nodes": found.nodes, "time": round(found.time, 1), "lines": lines}
