"""Another USI engine as a process, with the interface of `Engine`."""

from __future__ import annotations

import os
import warnings
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from usi_engine.api.search_engine import OptionValues, SearchEngine, check_process, option_texts
from usi_engine.clock import TimeControl
from usi_engine.core import Board, legal_part
from usi_engine.search.results import Analysis, PlayResult, Score, Variation, Watch, decided, decided_play
from usi_engine.usi.info import Info
from usi_engine.usi.options import Option
from usi_engine.usi.process import USUAL_TIMEOUTS, Answer, EngineError, EngineNonsense, EngineProcess, Timeouts
from usi_engine.usi.protocol import Go, position_words

GRACE = 1.0  # seconds after the time of a search, before it is stopped


class UsiEngine(SearchEngine):
    """A USI engine that runs as a process until `close` or the end of a `with` block, which it never outlives.

    `command` is a program or a list of words, `options` are set at the start. The process that ends by itself, is
    silent for longer than `timeouts` allow, or answers with an illegal move raises EngineDied, EngineSilent or
    EngineNonsense, each an EngineError with the last lines of its output. What it says before it is ready is a
    RuntimeWarning. One thread at a time may call it, in the process that made it; others get a RuntimeError. A mate
    of unknown length counts as one in 1000 plies.
    """

    def __init__(
        self,
        command: str | os.PathLike[str] | Sequence[str],
        *,
        options: OptionValues | None = None,
        folder: str | os.PathLike[str] | None = None,
        timeouts: Timeouts = USUAL_TIMEOUTS,
    ) -> None:
        super().__init__()
        words = [os.fspath(command)] if isinstance(command, str | os.PathLike) else list(command)
        if not words or not words[0]:
            raise EngineError(f"no program: {command!r}")
        self._timeouts, self._said = timeouts, deque[str]()
        self._engine = EngineProcess(
            words, option_texts(options or {}), None, Path(folder) if folder else None, self._said.append,
            timeouts=timeouts,
        )  # fmt: skip
        try:
            self.new_game()
        except BaseException:
            self.close()
            raise

    @property
    def name(self) -> str:
        """The name that the engine gives itself."""
        return self._engine.name

    @property
    def options(self) -> dict[str, Option]:
        """The options that the engine declares, by name."""
        return dict(self._engine.declared)

    def configure(self, options: OptionValues) -> None:
        """Set options. UnknownOption, a ValueError and an EngineError, if a name or a value is refused."""
        with self._exclusive():
            for name, value in option_texts(options).items():
                self._engine.set_option(name, value)
            self._get_ready()

    def new_game(self) -> None:
        """Tell the engine that a game begins, and wait until it is ready."""
        with self._exclusive():
            self._get_ready()
            self._engine.new_game()

    def stop(self) -> None:
        """End the search of another thread, which returns its result so far."""
        check_process(self._process)
        self._engine.stop()

    def close(self) -> None:
        """End the process, by force if it does not answer. It may be called twice."""
        self._closed = True
        if os.getpid() != self._process:
            return
        try:
            self._engine.stop()
        finally:
            self._engine.quit()

    def _get_ready(self) -> None:
        self._engine.prepare()
        while self._said:
            warnings.warn(self._said.popleft(), RuntimeWarning, stacklevel=4)

    def _play(self, board: Board, go: Go) -> PlayResult:
        if over := decided(board):
            return decided_play(over, board.turn)
        answer = self._ask(board, go, 1, None)
        lines = self._analysis(board, answer, 1).lines
        score, pv = (lines[0].score, lines[0].pv) if lines else (None, ())
        if not board.is_legal(answer.move or ""):
            return PlayResult(None, None, score, answer.move or "", pv, "search")
        board.push(answer.move or "")
        ponder = answer.ponder if board.is_legal(answer.ponder) else None
        return PlayResult(answer.move, ponder, score, "", pv, "search")

    def _search(self, board: Board, go: Go, multipv: int, watch: Watch | None) -> Analysis:
        """Search until the limits, or until `stop` without one. EngineNonsense without an evaluation."""
        if over := decided(board):
            return over
        answer = self._ask(board, go, multipv, watch)
        found = self._analysis(board, answer, multipv)
        if not found.lines and answer.move != "win":
            what = "resigns without an evaluation" if answer.move == "resign" else "gives no evaluation"
            raise self._engine.failure(EngineNonsense, f"{self._engine.title} {what}")
        return found

    def _ask(self, board: Board, go: Go, multipv: int, watch: Watch | None) -> Answer:
        """Search until `bestmove`. EngineNonsense if it is no legal move."""

        def report(answer: Answer) -> None:
            found = self._analysis(board, answer, multipv)
            if watch and found.lines:
                watch(found)

        with self._exclusive():
            if multipv != 1 or "MultiPV" in self._engine.declared:
                self._engine.set_option("MultiPV", str(multipv))
            times = patience(go, board.turn, self._timeouts)
            answer = self._engine.search(position_text(board), go.words(), *times, report)
        if answer.move not in ("resign", "win") and not board.is_legal(answer.move or ""):
            text = f"{self._engine.title} answers '{answer.move}', which is no legal move"
            raise self._engine.failure(EngineNonsense, text)
        return answer

    def _analysis(self, board: Board, answer: Answer, multipv: int) -> Analysis:
        """Return the result so far, or at the end."""
        lines = tuple(line for info in answer.lines if (line := variation(board, info)))[:multipv]
        score = lines[0].score if lines else Score.declared_in(1, board.turn)
        depth = max((line.depth for line in lines), default=0)
        return Analysis(lines, score, depth, answer.nodes, answer.seconds, source="search" if lines else "rules")


def variation(board: Board, info: Info) -> Variation | None:
    """Return a line up to its first illegal move; None if that is the first one, or without a value."""
    moves = legal_part(board, info.pv)
    if not moves or info.value is None:
        return None
    return Variation(Score(info.value, board.turn), moves, info.depth, info.seldepth or info.depth, info.bound)


def position_text(board: Board) -> str:
    """Return the arguments of `position`, with the moves since the set-up or the last pass, which USI does not know."""
    start, moves = board.copy(), list[str]()
    while start.moves() and start.peek() != "pass":
        moves.insert(0, start.pop())
    return position_words(start.sfen(), moves)


def patience(go: Go, turn: int, timeouts: Timeouts) -> tuple[float | None, float | None]:
    """Return the longest time of a search and of its silence, in seconds; None if there is none.

    A search with a time may be silent, and one without a limit ends by `stop`.
    """
    control = TimeControl(go.movetime or 0) if go.movetime else go.times.control(turn)
    if go.movetime or go.times.given():
        return (control.main + control.byoyomi + control.increment) / 1000 + GRACE, None
    return None, None if go.open_ended() else timeouts.silence
