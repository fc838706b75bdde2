"""One game between two USI engines: clocks, adjudication, and engines that fail.

An engine that ends, does not answer, oversteps its time or plays an illegal move loses the game. Its process is
replaced before the next one.
"""

import queue
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core_ext.board import BLACK, Board
from usi_engine.clock import Clock, TimeControl
from usi_engine.player import Lead
from usi_engine.usi.driver import BestMove, Engine, EngineError, EngineEvent, EngineGone
from usi_engine.usi.protocol import Times

GRACE = 2.0  # seconds that a late answer is waited for, so that its time is known
NO_CLOCK = TimeControl()
COLORS = {True: "+", False: "-"}  # of Black and White


@dataclass(frozen=True)
class Limits:
    """The limit of an engine: nodes of a move, milliseconds of a move, or a clock in milliseconds."""

    nodes: int = 0
    movetime: int = 0
    clock: TimeControl = NO_CLOCK


@dataclass(frozen=True)
class Contender:
    """An engine's name, command, options and limits."""

    name: str
    command: tuple[str, ...]
    options: Mapping[str, str]
    limits: Limits


@dataclass(frozen=True)
class Rules:
    """Rules of the games."""

    longest: int = 320  # moves since the start position; then the game is a draw
    resign: int = 0  # centipawns that end a game on which both engines agree for `resign_moves` moves each; 0: never
    resign_moves: int = 4
    margin: int = 0  # milliseconds that an answer may be late
    patience: float = 120.0  # seconds for a move without a clock


@dataclass(frozen=True)
class Task:
    """A game: its number, its opening as sfen, and the contender (0 or 1) that plays Black."""

    game: int
    opening: str
    black: int


class GameLost(Exception):
    """An engine has lost by its own fault: `ending` is the kind, the text says what happened."""

    def __init__(self, ending: str, text: str) -> None:
        super().__init__(text)
        self.ending = ending


class TimeUse:
    """Time that an engine used in a game: number of moves, late answers, and the least time left, in milliseconds."""

    def __init__(self) -> None:
        self.moves = self.late = 0
        self.least: float | None = None

    def count(self, spent: float, allowed: float, margin: int) -> None:
        """Count an answer. GameLost if it came after the allowed time and the margin."""
        left = round(allowed - spent, 1)
        self.moves += 1
        self.late += left < 0
        self.least = left if self.least is None else min(self.least, left)
        if left < -margin:
            raise GameLost("time", f"used {spent:.0f} of {allowed:.0f} ms")


def folder_of(contender: Contender) -> Path:
    """Return where an engine starts: a program without arguments in its own folder, as in a GUI."""
    return Path(contender.command[0]).parent if len(contender.command) == 1 else Path()


def engine_of(
    contender: Contender, post: Callable[[EngineEvent], None], note: Callable[[str], None] = lambda text: None
) -> Engine:
    """Return a contender's engine, not started."""
    return Engine(contender.command, contender.options, post, folder_of(contender), note, stderr=subprocess.STDOUT)


class Seat:
    """An engine's process, kept from game to game."""

    def __init__(self, contender: Contender, rules: Rules) -> None:
        self.contender, self.rules = contender, rules
        self._events = events = queue.SimpleQueue[tuple[EngineEvent, float]]()
        self._engine = engine_of(contender, lambda event: events.put((event, time.perf_counter())))
        self.use, self._ready = TimeUse(), False

    def __del__(self) -> None:
        self._engine.quit()

    def prepare(self) -> None:
        """Begin a game. GameLost if the engine does not start or does not get ready."""
        self.use = TimeUse()
        try:
            self._engine.prepare(self.rules.longest)
        except EngineError as error:
            raise GameLost("crash", f"{error}{self._last_lines()}") from None
        self._engine.new_game()
        self._ready = True

    def end(self, result: str, at_fault: bool) -> None:
        """Tell the engine the result: `win`, `lose` or `draw`. One at fault is replaced before its next game."""
        if at_fault:
            self._engine.quit()
        elif self._ready:
            self._engine.game_over(result)
        self._ready = False

    def think(self, position: str, side: int, clock: Clock) -> tuple[BestMove, float]:
        """Return the answer and its time in milliseconds, charged to the clock of `side`. GameLost."""
        limits = self.contender.limits
        if limits.nodes:
            words, allowed = f"nodes {limits.nodes}", self.rules.patience * 1000
        elif limits.movetime:
            words, allowed = f"movetime {limits.movetime}", float(limits.movetime)
        else:
            words, allowed = Times.of(clock, side).words(), float(clock.allowed(side))
        answer, spent = self._answer(position, words, allowed)
        if not limits.nodes:
            self.use.count(spent, allowed, self.rules.margin)
            clock.spend(side, round(spent))
        return answer, spent

    def _answer(self, position: str, words: str, allowed: float) -> tuple[BestMove, float]:
        """Return the answer and its time in milliseconds. GameLost."""
        begun = time.perf_counter()
        search = self._engine.go(position, words)
        deadline = begun + (allowed + self.rules.margin) / 1000 + GRACE
        while True:
            try:
                event, at = self._events.get(timeout=max(deadline - time.perf_counter(), 0))
            except queue.Empty:
                ending = "hang" if self.contender.limits.nodes else "time"
                raise GameLost(ending, f"no answer to `go {words}`{self._last_lines()}") from None
            if isinstance(event, EngineGone) and event.start == self._engine.starts:
                raise GameLost("crash", f"ended after `go {words}`{self._last_lines()}")
            if isinstance(event, BestMove) and event.search == search:
                return event, (at - begun) * 1000

    def _last_lines(self) -> str:
        return "".join(f"\n    {line}" for line in tuple(self._engine.last_lines))


class Game:
    """A game in progress; `seats` by color."""

    def __init__(self, seats: Mapping[str, Seat], rules: Rules, opening: str) -> None:
        self.seats, self.rules, self.opening = seats, rules, opening
        self.board, self.lead = Board(opening), Lead(rules.resign)
        self.clock = Clock(*(seats[color].contender.limits.clock for color in "+-"))
        self.turn = "+"  # who loses if an engine fails now
        self.moves: list[str] = []
        self.values: list[int | None] = []  # of the mover
        self.milliseconds: list[int] = []

    def play(self) -> tuple[str, str]:
        """Play to the end; return the winner's color, empty for a draw, and the kind of ending. GameLost."""
        for color, seat in self.seats.items():
            self.turn = color
            seat.prepare()
        while True:
            self.turn = COLORS[self.board.turn == BLACK]
            ended = ending_of(self.board, self.turn, self.rules.longest) or self._ply()
            if ended:
                return ended

    def _ply(self) -> tuple[str, str] | None:
        """Ask for a move and play it; return winner and ending if it ends the game. GameLost."""
        position = f"position sfen {self.opening} moves {' '.join(self.moves)}"
        answer, spent = self.seats[self.turn].think(position, self.board.turn, self.clock)
        if answer.move == "resign":
            return other(self.turn), "resignation"
        if answer.move == "win" and self.board.can_declare():
            return self.turn, "declaration"
        if not self.board.is_legal(answer.move):
            raise GameLost("illegal", f"played '{answer.move}' in sfen {self.board.sfen()}")
        self.lead.add(self.board, answer.thought.value or 0)  # a move without a search ends a lead
        self.board.push(answer.move)
        self.moves.append(answer.move)
        self.values.append(answer.thought.value)
        self.milliseconds.append(round(spent))
        agreed = self.rules.resign and self.lead.plies >= 2 * self.rules.resign_moves
        return (COLORS[self.lead.side == "b"], "score") if agreed else None


def other(color: str) -> str:
    return COLORS[color == "-"]


def ending_of(board: Board, color: str, longest: int) -> tuple[str, str] | None:
    """Return winner and kind of ending if the game is over by the rules; `color` is to move.

    A win by declaration is not among them, because a player has to declare it.
    """
    if not board.legal_moves():
        return other(color), "mate"
    repeated = board.repetition()
    if repeated != "none":
        return ("", "repetition") if repeated == "draw" else (color if repeated == "win" else other(color), "perpetual")
    return ("", "length") if board.ply > longest else None


class Seats:
    """Both engines of a process that plays games."""

    def __init__(self, contenders: tuple[Contender, Contender], rules: Rules) -> None:
        self.rules = rules
        self.seats = [Seat(contender, rules) for contender in contenders]


def play_game(seats: Seats, task: Task) -> dict[str, Any]:
    """Play a game and return its row: points of the first contender, ending, moves with the mover's values, times."""
    begun, fault = time.perf_counter(), ""
    contenders = seats.seats[task.black], seats.seats[1 - task.black]
    game = Game(dict(zip("+-", contenders, strict=True)), seats.rules, task.opening)
    try:
        winner, ending = game.play()
    except GameLost as error:
        winner, ending, fault = other(game.turn), error.ending, f"{game.seats[game.turn].contender.name} {error}"
    for color, seat in game.seats.items():
        seat.end("draw" if not winner else "win" if color == winner else "lose", bool(fault) and color == game.turn)
    return {
        "game": task.game,
        "black": task.black,
        "points": 0.5 if not winner else float((winner == "+") == (task.black == 0)),
        "ending": ending,
        "fault": fault,
        "opening": task.opening,
        "moves": " ".join(game.moves),
        "values": game.values,
        "milliseconds": game.milliseconds,
        "time": [vars(seat.use) for seat in seats.seats],
        "seconds": round(time.perf_counter() - begun, 1),
    }
