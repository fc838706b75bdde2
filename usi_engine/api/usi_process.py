"""Another USI engine as a process, with the interface of `Engine`."""

from __future__ import annotations

import os
import queue
import re
import subprocess
import time as clock
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from usi_engine.api.search_engine import OptionValues, SearchEngine, option_texts
from usi_engine.api.stream import WATCH, check_process
from usi_engine.core import Core, legal_part, load_core
from usi_engine.search.results import (
    Analysis,
    Limit,
    PlayResult,
    Score,
    Variation,
    Watch,
    decided_play,
    decided_score,
    rule_score,
)
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
from usi_engine.usi.options import Option
from usi_engine.usi.protocol import position_words

if TYPE_CHECKING:
    from core_ext.board import Board

NUMBER = re.compile(r" (depth|seldepth|multipv|nodes) (\d{1,18})(?= |$)")
LONGEST_MATE = 1000  # plies; also the length of a mate whose length is not told
GRACE = 1.0  # seconds after the time of a search, before it is stopped


class UsiEngine(SearchEngine):
    """A USI engine that runs as a process until `close` or the end of a `with` block, which it never outlives.

    `command` is a program or a list of words, `options` are set at the start. The process that ends by itself, is
    silent for longer than `timeouts` allow, or answers with an illegal move raises EngineDied, EngineSilent or
    EngineNonsense, each an EngineError with the last lines of its output. One thread at a time may call it, in the
    process that made it; others get a RuntimeError. A mate of unknown length counts as one in 1000 plies.
    """

    def __init__(
        self,
        command: str | os.PathLike[str] | Sequence[str],
        *,
        options: OptionValues | None = None,
        folder: str | os.PathLike[str] | None = None,
        timeouts: Timeouts = USUAL_TIMEOUTS,
    ) -> None:
        super().__init__(load_core())
        words = [os.fspath(command)] if isinstance(command, str | os.PathLike) else list(command)
        if not words or not words[0]:
            raise EngineError(f"no program: {command!r}")
        self._timeouts, self._multipv = timeouts, 0  # not known
        self._events = queue.SimpleQueue[EngineEvent | str]()
        self._driver = Driver(
            words, option_texts(options or {}), self._events.put, Path(folder) if folder else None,
            stderr=subprocess.STDOUT, timeouts=timeouts, info=self._hear,
        )  # fmt: skip
        try:
            self.new_game()
        except BaseException:
            self.close()
            raise

    @property
    def name(self) -> str:
        """The name that the engine gives itself."""
        return self._driver.name

    @property
    def options(self) -> dict[str, Option]:
        """The options that the engine declares, by name."""
        return dict(self._driver.declared)

    def configure(self, options: OptionValues) -> None:
        """Set options. UnknownOption, a ValueError and an EngineError, if a name or a value is refused."""
        with self._exclusive():
            for name, value in option_texts(options).items():
                self._driver.set_option(name, value)
            self._multipv = 0

    def new_game(self) -> None:
        """Tell the engine that a game begins, and wait until it is ready."""
        with self._exclusive():
            try:
                self._driver.prepare()
            except EngineError as error:
                raise self._failure(type(error), str(error)) from None
            self._driver.new_game()

    def _play(self, board: Board, limit: Limit) -> PlayResult:
        answer, found = self._ask(board, limit, 1, None, None)
        if answer is None:
            return decided_play(found, board.turn)
        score = found.score if found.lines else None
        if answer.move in ("resign", "win"):
            return PlayResult(None, None, score, answer.move)
        board.push(answer.move)
        return PlayResult(answer.move, answer.ponder if board.is_legal(answer.ponder) else None, score)

    def stop(self) -> None:
        """End the search of another thread, which returns its result so far."""
        check_process(self._process)
        self._driver.stop()

    def close(self) -> None:
        """End the process, by force if it does not answer. It may be called twice."""
        self._closed = True
        if os.getpid() != self._process:
            return
        try:
            self._driver.stop()
        finally:
            self._driver.quit()

    def _hear(self, line: str) -> None:
        if self._driver.busy:  # nobody reads what it says between searches
            self._events.put(line)

    def _search(
        self, board: Board, limit: Limit | None, multipv: int, moves: Sequence[str] | None, watch: Watch | None
    ) -> Analysis:
        """Search until the limit, or until `stop` without one. EngineNonsense without an evaluation."""
        answer, found = self._ask(board, limit, multipv, moves, watch)
        if answer and not found.lines and answer.move not in ("resign", "win"):
            raise self._failure(EngineNonsense, f"{self._title} gives no evaluation")
        return found

    def _ask(
        self, board: Board, limit: Limit | None, multipv: int, moves: Sequence[str] | None, watch: Watch | None
    ) -> tuple[BestMove | None, Analysis]:
        """Search until `bestmove`; return it and the result. EngineNonsense if it is no legal move."""
        with self._exclusive():
            outcome = board.outcome()
            if outcome is not None:
                return None, Analysis((), decided_score(self._core, outcome, board), 0, 0, 0.0, outcome)
            for move in moves or ():
                if not board.is_legal(move):
                    raise ValueError(f"illegal move {move!r}")
            words = go_words(limit, moves)
            self._set_multipv(multipv)
            self._drop_old_events()
            found = Lines(self._core, board, multipv)

            def heard(line: str) -> None:
                if found.add(line) and watch:
                    watch(found.analysis())

            number = self._driver.go(position_text(board), words)
            try:
                answer = self._awaited(number, *patience(limit, board.turn, self._timeouts), heard)
            except BaseException:
                self._driver.stop()
                raise
            if answer.move not in ("resign", "win") and not board.is_legal(answer.move):
                raise self._failure(EngineNonsense, f"{self._title} answers '{answer.move}', which is no legal move")
            return answer, found.analysis(answer.move)

    def _awaited(
        self, number: int, longest: float | None, silence: float | None, heard: Callable[[str], None]
    ) -> BestMove:
        """Pass the info lines on until the answer to a search, which is stopped after its longest time.

        EngineDied, EngineSilent.
        """
        last = clock.monotonic()
        deadline = None if longest is None else last + longest
        while True:
            if deadline and clock.monotonic() > deadline:
                deadline = None
                self._driver.stop()
            try:
                event = self._events.get(timeout=WATCH)
            except queue.Empty:
                if self._closed:
                    raise RuntimeError("the engine is closed") from None
                if silence and clock.monotonic() - last > silence:
                    raise self._failure(EngineSilent, f"{self._title} says nothing for {silence:g} s") from None
                continue
            last = clock.monotonic()
            if isinstance(event, str):
                heard(event)
            elif isinstance(event, EngineGone):
                self._events.put(event)  # for further calls
                raise self._gone()
            elif event.search == number:
                return event

    def _drop_old_events(self) -> None:
        """Drop the lines of a search that an exception ended, and the end of a process that was started again."""
        for _ in range(self._events.qsize()):
            event = self._events.get()
            if isinstance(event, EngineGone) and event.start == self._driver.starts:
                self._events.put(event)

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
        if multipv != self._multipv and (multipv > 1 or "MultiPV" in self._driver.declared):
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
        # Some engines end a line with a remark.
        score, moves = SCORE.search(head), legal_part(self._board, pv.split())
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
            return Score(max(min(int(text), most), -most), turn) if digits else None
        value = self._core.mate - min(int(digits or LONGEST_MATE), LONGEST_MATE)
        return Score(-value if text.startswith("-") else value, turn)


# ---- USI text ----


def position_text(board: Board) -> str:
    """Return the `position` line with the moves since the set-up or the last pass, which USI does not know."""
    start, moves = board.copy(), list[str]()
    while start.moves() and start.peek() != "pass":
        moves.insert(0, start.pop())
    return f"position {position_words(start.sfen(), moves)}"


def patience(limit: Limit | None, turn: int, timeouts: Timeouts) -> tuple[float | None, float | None]:
    """Return the longest time of a search and of its silence, in seconds; None if there is none.

    A search with a time may be silent, and one without a limit ends by `stop`.
    """
    if limit is None:
        return None, None
    if limit.time is not None:
        return limit.time + GRACE, None
    if not limit.times.given():
        return None, timeouts.silence
    own = (limit.white_clock, limit.white_inc) if turn else (limit.black_clock, limit.black_inc)
    return sum(seconds or 0 for seconds in (*own, limit.byoyomi)) + GRACE, None


def go_words(limit: Limit | None, moves: Sequence[str] | None) -> str:
    """Return the words after `go`. ValueError."""
    if limit is None:
        return "infinite" + search_moves(moves)
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
