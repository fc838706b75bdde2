"""One game between two USI engines: clocks, adjudication, and engines that fail.

An engine that ends, does not answer, oversteps its time or plays an illegal move loses the game. Its process is
replaced before the next one.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from usi_engine.clock import Clock, TimeControl
from usi_engine.learn.player import Lead
from usi_engine.rules import End, LiveGame
from usi_engine.search.results import Limit
from usi_engine.usi.process import Answer, EngineError, EngineProcess, EngineSilent, Timeouts
from usi_engine.usi.protocol import Times

GRACE = 2.0  # seconds that a late answer is waited for, so that its time is known, and then an answer to `stop`


@dataclass(frozen=True)
class EngineConfig:
    """An engine's name, command, options, and the limit of its moves or its clock."""

    name: str
    command: tuple[str, ...]
    options: Mapping[str, str]
    limit: Limit | TimeControl

    @property
    def control(self) -> TimeControl:
        """Its clock, not limited if it has none."""
        return self.limit if isinstance(self.limit, TimeControl) else TimeControl()


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
    """A game: its number, its opening as sfen, and the engine (0 or 1) that plays Black."""

    game: int
    opening: str
    black: int


class GameLost(Exception):
    """An engine has lost by its own fault: `reason` is the kind, the text says what happened."""

    def __init__(self, reason: str, text: object) -> None:
        super().__init__(text)
        self.reason = reason


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


def find_folder(config: EngineConfig) -> Path:
    """Return where an engine starts: a program without arguments in its own folder, as in a GUI."""
    return Path(config.command[0]).parent if len(config.command) == 1 else Path()


def make_process(config: EngineConfig, note: Callable[[str], None] = lambda text: None) -> EngineProcess:
    """Return an engine's process, not started."""
    folder, timeouts = find_folder(config), Timeouts(stop=GRACE)
    return EngineProcess(config.command, config.options, None, folder, note, timeouts=timeouts)


class Engines:
    """Both engines of a process that plays games, kept from game to game."""

    def __init__(self, configs: tuple[EngineConfig, EngineConfig], rules: Rules) -> None:
        self.configs, self.rules = configs, rules
        self.processes = [make_process(config) for config in configs]

    def __del__(self) -> None:
        for process in self.processes:
            process.quit()


class Game(LiveGame):
    """A game in progress. `sides` are the numbers of the engines that play Black and White."""

    def __init__(self, engines: Engines, task: Task) -> None:
        self.sides = task.black, 1 - task.black
        clock = Clock(*(engines.configs[number].control for number in self.sides))
        super().__init__(task.opening, clock=clock, max_moves=engines.rules.longest)
        self._engines, self._rules, self.lead = engines, engines.rules, Lead(engines.rules.resign)
        self.uses = TimeUse(), TimeUse()  # of Black and White
        self.values: list[int | None] = []  # of the mover

    def play(self) -> str:
        """Play to the end; return the fault that ended the game, if one did."""
        side = 0
        try:
            for side in (0, 1):
                self._prepare(self._engines.processes[self.sides[side]])
            while self.end is None:
                side = self.turn
                self._ply(side)
        except GameLost as fault:
            self.end = End(fault.reason, 1 - side)
            return f"{self._engines.configs[self.sides[side]].name}: {fault}"
        return ""

    def _prepare(self, process: EngineProcess) -> None:
        try:
            process.prepare(self._rules.longest)
        except EngineError as error:
            raise GameLost("crash", error) from None
        process.new_game()

    def _ply(self, side: int) -> None:
        """Ask for a move and play it. GameLost."""
        answer = self._think(side)
        try:
            self.answer(answer.move or "", round(answer.seconds * 1000))
        except ValueError:
            raise GameLost("illegal move", f"played '{answer.move}' in sfen {self.board.sfen()}") from None
        if answer.move in ("resign", "win"):
            return
        self.values.append(answer.line.value)
        self.lead.add(self.board.turn, -(answer.line.value or 0))  # a move without a search ends a lead
        if self.end is None and self._rules.resign and self.lead.plies >= 2 * self._rules.resign_moves:
            self.end = End("score", self.lead.winner)

    def _think(self, side: int) -> Answer:
        """Return the answer of a side. GameLost."""
        limit, rules = self._engines.configs[self.sides[side]].limit, self._rules
        if isinstance(limit, TimeControl):
            words, allowed = Times.of(self.clock, side).words(), float(self.clock.allowed(side))
        else:
            words, allowed = limit.go().words(), 1000 * (limit.time or rules.patience)
        counts_time = isinstance(limit, TimeControl) or limit.time is not None
        process = self._engines.processes[self.sides[side]]
        try:
            answer = process.search(self.position, words, (allowed + rules.margin) / 1000 + GRACE)
        except EngineSilent as error:
            raise GameLost("time" if counts_time else "hang", error) from None
        except EngineError as error:
            raise GameLost("crash", error) from None
        if counts_time:
            self.uses[side].count(answer.seconds * 1000, allowed, rules.margin)
        elif answer.seconds * 1000 > allowed:
            raise GameLost("hang", process.failure(EngineSilent, f"{process.title} does not answer `go {words}`"))
        return answer


def play_game(engines: Engines, task: Task) -> dict[str, Any]:
    """Play a game and return its row: points of the first engine, ending, moves with the mover's values, times."""
    begun, game = time.perf_counter(), Game(engines, task)
    fault = game.play()
    assert game.end is not None
    winner = game.end.winner
    for side, number in enumerate(game.sides):
        if fault and side != winner:
            engines.processes[number].quit()
        else:
            engines.processes[number].game_over("draw" if winner is None else "win" if side == winner else "lose")
    return {
        "game": task.game,
        "black": task.black,
        "points": 0.5 if winner is None else float(game.sides[winner] == 0),
        "ending": game.end.reason,
        "fault": fault,
        "opening": task.opening,
        "moves": " ".join(game.moves),
        "values": game.values,
        "milliseconds": game.milliseconds,
        "time": [vars(game.uses[game.sides.index(number)]) for number in (0, 1)],
        "seconds": round(time.perf_counter() - begun, 1),
    }
