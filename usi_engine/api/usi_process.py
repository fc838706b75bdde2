"""Another USI engine as a process, with the interface of `Engine`."""

from __future__ import annotations

import os
import queue
import re
import subprocess
import threading
import time as clock
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from usi_engine.api.results import (
    Analysis,
    Limit,
    PlayResult,
    Score,
    Variation,
    Watch,
    decided_play,
    decided_score,
    limit_of,
    rule_score,
    score_of,
)
from usi_engine.api.stream import WATCH, AnalysisStream
from usi_engine.core import Core, load_core
from usi_engine.usi.driver import (
    SCORE,
    USUAL_TIMEOUTS,
    BestMove,
    EngineDied,
    EngineError,
    EngineEvent,
    EngineGone,
    EngineNonsense,
    EngineSilent,
    Timeouts,
)
from usi_engine.usi.driver import Engine as Driver

if TYPE_CHECKING:
    from core_ext.board import Board

NUMBER = re.compile(r" (depth|seldepth|multipv|nodes) (\d{1,18})(?= |$)")
LONGEST_MATE = 1000  # plies; also the length of a mate whose length is not told
GRACE = 1.0  # seconds after the time of a search, before it is stopped


class UsiEngine:
    """A USI engine that runs as a process until `close` or the end of a `with` block, which it never outlives.

    `command` is a program or a list of words, `options` are set at the start. The process that ends by itself, is
    silent for longer than `timeouts` allow, or answers with an illegal move raises EngineDied, EngineSilent or
    EngineNonsense, each an EngineError with the last lines of its output. One thread at a time may call it; a second
    one gets a RuntimeError.
    """

    def __init__(
        self,
        command: str | os.PathLike[str] | Sequence[str],
        *,
        options: Mapping[str, str | int | bool] | None = None,
        folder: str | os.PathLike[str] | None = None,
        timeouts: Timeouts = USUAL_TIMEOUTS,
    ) -> None:
        words = [os.fspath(command)] if isinstance(command, str | os.PathLike) else list(command)
        self._core, self._timeouts = load_core(), timeouts
        self._events = queue.SimpleQueue[EngineEvent | str]()
        self._turn, self._closed, self._multipv = threading.Lock(), False, 1
        self._driver = Driver(
            words, option_texts(options or {}), self._events.put, Path(folder) if folder else None,
            stderr=subprocess.STDOUT, timeouts=timeouts, info=self._events.put,
        )  # fmt: skip
        try:
            self.new_game()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> UsiEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def name(self) -> str:
        """The name that the engine gives itself."""
        return self._driver.name

    def configure(self, options: Mapping[str, str | int | bool]) -> None:
        """Set options. EngineError if the engine has none of a name."""
        with self._exclusive():
            for name, value in option_texts(options).items():
                self._driver.set_option(name, value)

    def new_game(self) -> None:
        """Tell the engine that a game begins, and wait until it is ready."""
        with self._exclusive():
            try:
                self._driver.prepare()
            except EngineError as error:
                raise self._failure(type(error), str(error)) from None
            self._driver.new_game()

    def analyse(
        self,
        board: Board,
        limit: Limit | None = None,
        *,
        nodes: int | None = None,
        depth: int | None = None,
        time: float | None = None,
        multipv: int = 1,
        moves: Sequence[str] | None = None,
        watch: Watch | None = None,
    ) -> Analysis:
        """Search a position as Engine.analyse does; `watch` is called on this thread, after each line.

        An engine that ignores its time is stopped a second later. `moves` needs an engine that knows `searchmoves`. A
        mate of unknown length counts as one in 1000 plies.
        """
        end = limit_of(limit, nodes, depth, time)
        end.check(self._core.max_depth)
        return self._search(board.copy(), go_words(end, moves), end, multipv, watch)[1]

    def analysis(self, board: Board, limit: Limit | None = None, **arguments: Any) -> AnalysisStream:
        """Search on another thread and return the stream of results, for a `with` block, as Engine.analysis does."""
        position, watched = board.copy(), arguments
        if limit is None and not {"nodes", "depth", "time"} & arguments.keys():
            multipv, moves = watched.get("multipv", 1), watched.get("moves")
            words = "infinite" + search_moves(moves)
            return AnalysisStream(lambda watch: self._search(position, words, None, multipv, watch)[1], self.stop)
        return AnalysisStream(lambda watch: self.analyse(position, limit, watch=watch, **watched), self.stop)

    def play(self, board: Board, limit: Limit) -> PlayResult:
        """Choose a move, with clocks or another limit."""
        limit.check(self._core.max_depth)
        position = board.copy()
        answer, found = self._search(position, go_words(limit, None), limit, 1, None, evaluated=False)
        if answer is None:
            return decided_play(found, position.turn)
        score = found.score if found.lines else None
        if answer.move in ("resign", "win"):
            return PlayResult(None, None, score, answer.move)
        position.push(answer.move)
        return PlayResult(answer.move, answer.ponder if position.is_legal(answer.ponder) else None, score)

    def stop(self) -> None:
        """End the search of another thread, which returns its result so far."""
        self._driver.stop()

    def close(self) -> None:
        """End the process, by force if it does not answer. It may be called twice."""
        self._closed = True
        try:
            self._driver.stop()
        finally:
            self._driver.quit()

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        if not self._turn.acquire(blocking=False):
            raise RuntimeError("the engine is searching in another thread")
        try:
            if self._closed:
                raise RuntimeError("the engine is closed")
            yield
        finally:
            self._turn.release()

    def _search(
        self,
        board: Board,
        words: str,
        limit: Limit | None,
        multipv: int,
        watch: Watch | None,
        *,
        evaluated: bool = True,
    ) -> tuple[BestMove | None, Analysis]:
        """Search until `bestmove`; return it and the result. EngineNonsense if it is no move or has no evaluation."""
        with self._exclusive():
            outcome = board.outcome()
            if outcome is not None:
                return None, Analysis((), decided_score(self._core, outcome, board), 0, 0, 0.0, outcome)
            self._set_multipv(multipv)
            found = Lines(self._core, board, multipv)

            def heard(line: str) -> None:
                if found.add(line) and watch:
                    watch(found.analysis())

            number = self._driver.go(position_text(board), words)
            try:
                answer = self._awaited(number, limit, heard)
            except BaseException:
                self._driver.stop()
                raise
            if answer.move not in ("resign", "win") and not board.is_legal(answer.move):
                raise self._failure(EngineNonsense, f"{self._title} answers '{answer.move}', which is no legal move")
            if evaluated and not found.lines and answer.move not in ("resign", "win"):
                raise self._failure(EngineNonsense, f"{self._title} gives no evaluation")
            return answer, found.analysis(answer.move)

    def _awaited(self, number: int, limit: Limit | None, heard: Callable[[str], None]) -> BestMove:
        """Pass the info lines on until the answer to a search. EngineDied, EngineSilent."""
        last = clock.monotonic()
        deadline = last + limit.time + GRACE if limit and limit.time else None
        patience = self._timeouts.silence if limit and not limit.times.given() else None
        while True:
            if deadline and clock.monotonic() > deadline:
                deadline = None
                self._driver.stop()
            try:
                event = self._events.get(timeout=WATCH)
            except queue.Empty:
                if self._closed:
                    raise RuntimeError("the engine is closed") from None
                if patience and clock.monotonic() - last > patience:
                    raise self._failure(EngineSilent, f"{self._title} says nothing for {patience:g} s") from None
                continue
            last = clock.monotonic()
            if isinstance(event, str):
                heard(event)
            elif isinstance(event, EngineGone):
                self._events.put(event)  # for further calls
                raise self._gone()
            elif event.search == number:
                return event

    def _gone(self) -> EngineError:
        if self._driver.killed:
            return self._failure(EngineSilent, f"{self._title} does not answer stop")
        return self._failure(EngineDied, f"{self._title} has ended")

    @property
    def _title(self) -> str:
        return self.name or "the engine"

    def _failure(self, kind: type[EngineError], text: str) -> EngineError:
        return kind(text, tuple(self._driver.last_lines))

    def _set_multipv(self, multipv: int) -> None:
        if multipv < 1:
            raise ValueError(f"multipv must be at least 1, not {multipv}")
        if multipv != self._multipv:
            self._driver.set_option("MultiPV", str(multipv))
            self._multipv = multipv


class Lines:
    """The lines of a search so far, from the engine's info lines."""

    def __init__(self, core: Core, board: Board, multipv: int) -> None:
        self._core, self._board, self._multipv = core, board, multipv
        self._found: dict[int, Variation] = {}
        self._begun, self._nodes = clock.monotonic(), 0

    @property
    def lines(self) -> tuple[Variation, ...]:
        """The lines in order of value."""
        return tuple(sorted(self._found.values(), key=lambda line: line.score, reverse=True)[: self._multipv])

    def add(self, text: str) -> bool:
        """Read an info line; return True if it has an exact value and a legal move."""
        head, _, pv = text.partition(" pv ")
        if head.startswith("info string"):
            return False
        numbers = {name: int(value) for name, value in NUMBER.findall(head)}
        self._nodes = max(self._nodes, numbers.get("nodes", 0))
        score, moves = SCORE.search(head), self._legal_part(pv.split())
        if score is None or not moves or " lowerbound" in head or " upperbound" in head:
            return False
        value = self._score(score[1], score[2])
        if value is None:
            return False
        depth = numbers.get("depth", 0)
        self._found = {number: line for number, line in self._found.items() if line.move != moves[0]}
        self._found[numbers.get("multipv", 1)] = Variation(value, moves, depth, numbers.get("seldepth", depth))
        return True

    def analysis(self, answer: str = "") -> Analysis:
        """Return the result so far, or at the end."""
        lines, seconds = self.lines, clock.monotonic() - self._begun
        if lines:
            return Analysis(lines, lines[0].score, max(line.depth for line in lines), self._nodes, seconds)
        return Analysis((), rule_score(self._core, answer == "win", self._board.turn), 0, self._nodes, seconds)

    def _score(self, kind: str, text: str) -> Score | None:
        """Return the score of `cp 12`, `mate -4`, `mate +`; None for `cp` without a number."""
        digits, turn = text.lstrip("+-"), self._board.turn
        if kind == "cp":
            most = self._core.max_evaluation
            return score_of(self._core, max(min(int(text), most), -most), turn) if digits else None
        value = self._core.mate - min(int(digits or LONGEST_MATE), LONGEST_MATE)
        return score_of(self._core, -value if text.startswith("-") else value, turn)

    def _legal_part(self, pv: Sequence[str]) -> tuple[str, ...]:
        """Return the moves up to the first illegal one; some engines end a line with a remark."""
        board, count = self._board.copy(), 0
        while count < len(pv) and board.is_legal(pv[count]):
            board.push(pv[count])
            count += 1
        return tuple(pv[:count])


# ---- USI text ----


def option_texts(options: Mapping[str, str | int | bool]) -> dict[str, str]:
    """Return the values as USI text: `true` and `false` for a bool."""
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in options.items()}


def position_text(board: Board) -> str:
    """Return the `position` line with the moves since the set-up or the last pass, which USI does not know."""
    start, moves = board.copy(), list[str]()
    while start.moves() and start.peek() != "pass":
        moves.insert(0, start.pop())
    return f"position sfen {start.sfen()}" + (f" moves {' '.join(moves)}" if moves else "")


def go_words(limit: Limit, moves: Sequence[str] | None) -> str:
    """Return the words after `go`. ValueError."""
    times = limit.times
    words = list[str]()
    if times.given():
        words += ["btime", str(times.btime or 0), "wtime", str(times.wtime or 0)]
        named = (("byoyomi", times.byoyomi), ("binc", times.binc), ("winc", times.winc))
        words += [f"{name} {value}" for name, value in named if value]
    movetime = max(round(limit.time * 1000), 1) if limit.time else None
    named = (("movetime", movetime), ("nodes", limit.nodes), ("depth", limit.depth))
    words += [f"{name} {value}" for name, value in named if value]
    return " ".join(words) + search_moves(moves)


def search_moves(moves: Sequence[str] | None) -> str:
    """Return the words that restrict the root moves. ValueError for an empty list."""
    if moves is None:
        return ""
    if not moves:
        raise ValueError("no moves to search")
    return f" searchmoves {' '.join(moves)}"
