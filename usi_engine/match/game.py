"""One game between two USI engines: clocks, pondering, adjudication, and engines that fail.

An engine that ends, does not answer, oversteps its time or plays an illegal move loses the game. Its process is
replaced before the next one.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from usi_engine.clock import Clock, TimeControl
from usi_engine.rules import End, Lead, LiveGame
from usi_engine.search.results import Limit
from usi_engine.usi.process import Answer, EngineError, EngineProcess, EngineSilent, Timeouts
from usi_engine.usi.protocol import Times, position_of, position_words

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

    @property
    def folder(self) -> Path:
        """The folder in which the engine starts: for a program without arguments its own, as in a GUI."""
        return Path(self.command[0]).parent if len(self.command) == 1 else Path()

    def process(self, note: Callable[[str], None] = lambda text: None) -> EngineProcess:
        """Return the engine's process, not started."""
        return EngineProcess(self.command, self.options, None, self.folder, note, timeouts=Timeouts(stop=GRACE))


@dataclass(frozen=True)
class Rules:
    """Rules of the games. Scores are in centipawns; 0: no such rule."""

    max_moves: int = 320  # since the start position; then the game is a draw
    resign: tuple[int, int] = (0, 0)  # both engines agree on this lead for so many moves each: the game ends
    draw: tuple[int, int, int] = (0, 0, 0)  # both report at most this lead for so many moves each, after so many moves
    margin: int = 0  # milliseconds that an answer may be late
    patience: float = 120.0  # seconds for a move without a clock
    ponder: bool = False


@dataclass(frozen=True)
class Task:
    """A game: its number, its opening as arguments of `position`, the numbers of the engines that play Black and White.

    `options` are set for this game, for Black and White.
    """

    game: int
    opening: str
    sides: tuple[int, int]
    options: tuple[Mapping[str, str], Mapping[str, str]] = field(default=({}, {}))


class GameLost(Exception):
    """An engine has lost by its own fault: `reason` is the kind, the text says what happened."""

    def __init__(self, reason: str, text: object) -> None:
        super().__init__(text)
        self.reason = reason


class Engines:
    """The engines of a process that plays games, kept from game to game."""

    def __init__(self, configs: tuple[EngineConfig, ...], rules: Rules) -> None:
        self.configs, self.rules = configs, rules
        self.processes = [config.process() for config in configs]

    def __del__(self) -> None:
        for process in self.processes:
            process.quit()


class Player:
    """An engine in a game: its process, its limit, the milliseconds left after each answer."""

    def __init__(self, engines: Engines, number: int, options: Mapping[str, str]) -> None:
        config = engines.configs[number]
        self.name, self.limit, self.process = config.name, config.limit, engines.processes[number]
        self._rules, self._options, self.left = engines.rules, options, list[float]()

    def prepare(self) -> None:
        """Start the engine if it does not run, and tell it that a game begins. GameLost."""
        try:
            self.process.prepare(self._rules.max_moves)
            for name, value in self._options.items():
                self.process.set_option(name, value)
            if self._options:
                self.process.prepare(self._rules.max_moves)
        except EngineError as error:
            raise GameLost("crash", error) from None
        self.process.new_game()

    def think(self, game: LiveGame) -> Answer:
        """Return the answer of the side to move. GameLost."""
        words, allowed = self._limits(game, game.turn)
        counts_time = isinstance(self.limit, TimeControl) or self.limit.time is not None
        try:
            answer = self.process.search(game.position, words, (allowed + self._rules.margin) / 1000 + GRACE)
        except EngineSilent as error:
            raise GameLost("time" if counts_time else "hang", error) from None
        except EngineError as error:
            raise GameLost("crash", error) from None
        left = round(allowed - answer.seconds * 1000, 1)
        if counts_time:
            self.left.append(left)
            if left < -self._rules.margin:
                raise GameLost("time", f"used {allowed - left:.0f} of {allowed:.0f} ms")
        elif left < 0:
            text = f"{self.process.title} does not answer `go {words}`"
            raise GameLost("hang", self.process.failure(EngineSilent, text))
        return answer

    def ponder(self, game: LiveGame, move: str) -> None:
        """Let the engine think on the opponent's time, after a move that it expects."""
        if self._rules.ponder and game.board.is_legal(move):
            position = position_words(game.start, [*game.moves, move])
            self.process.go(position, self._limits(game, 1 - game.turn)[0], ponder=True)

    def _limits(self, game: LiveGame, side: int) -> tuple[str, float]:
        """Return the arguments of `go`, and the time allowed in milliseconds."""
        limit = self.limit
        if isinstance(limit, TimeControl):
            return Times.of(game.clock, side).words(), float(game.clock.allowed(side))
        return limit.go().words(), 1000 * (limit.time or self._rules.patience)


class Game(LiveGame):
    """A game in progress, from an opening."""

    def __init__(self, engines: Engines, task: Task) -> None:
        clock = Clock(*(engines.configs[number].control for number in task.sides))
        position, self._rules = position_of(task.opening), engines.rules
        super().__init__(position.sfen, position.moves, clock, self._rules.max_moves)
        pairs = zip(task.sides, task.options, strict=True)
        self.players = [Player(engines, number, options) for number, options in pairs]
        self._lead, self._quiet = Lead(self._rules.resign[0]), 0  # plies in a row without a lead
        self.values: list[int | None] = []  # of the mover

    def play(self) -> str:
        """Play to the end; return the fault that ended the game, if one did."""
        side = 0
        try:
            for side in (0, 1):
                self.players[side].prepare()
            while self.end is None:
                side = self.turn
                self._ply(self.players[side])
        except GameLost as fault:
            self.end = End(fault.reason, 1 - side)
            return f"{self.players[side].name}: {fault}"
        return ""

    def _ply(self, player: Player) -> None:
        """Ask for a move and play it. GameLost."""
        answer = player.think(self)
        try:
            self.answer(answer.move or "", round(answer.seconds * 1000))
        except ValueError:
            raise GameLost("illegal move", f"played '{answer.move}' in sfen {self.board.sfen()}") from None
        if answer.move in ("resign", "win"):
            return
        self.values.append(answer.line.value)
        self._adjudicate(answer.line.value)
        if self.end is None:
            player.ponder(self, answer.ponder)

    def _adjudicate(self, value: int | None) -> None:
        """End the game if both engines agree; `value` is that of the last move."""
        (resign, resign_moves), (draw, draw_moves, draw_from) = self._rules.resign, self._rules.draw
        self._lead.add(1 - self.turn, value or 0)  # a move without a search ends a lead
        self._quiet = 0 if value is None or abs(value) > draw else self._quiet + 1
        if self.end is not None:
            return
        if resign and self._lead.plies >= 2 * resign_moves and self._lead.winner != self.turn:  # the loser resigns
            self.end = End("score", self._lead.winner)
        elif draw_moves and len(self.moves) >= draw_from and self._quiet >= 2 * draw_moves:
            self.end = End("draw")


def play_game(engines: Engines, task: Task) -> dict[str, Any]:
    """Play a game and return its row; `moves` and `values`, the mover's, are those after the opening."""
    begun, game = time.time(), Game(engines, task)
    opening = len(game.moves)
    fault = game.play()
    assert game.end is not None
    winner = game.end.winner
    for side, player in enumerate(game.players):
        if fault and side != winner:
            player.process.quit()
        else:
            player.process.game_over("draw" if winner is None else "win" if side == winner else "lose")
    return {
        "game": task.game,
        "players": [player.name for player in game.players],
        "points": {0: 1.0, 1: 0.0, None: 0.5}[winner],
        "ending": game.end.reason,
        "fault": fault,
        "opening": task.opening,
        "moves": " ".join(game.moves[opening:]),
        "values": game.values,
        "milliseconds": game.milliseconds[opening:],
        "left": [player.left for player in game.players],
        "begun": round(begun),
        "seconds": round(time.time() - begun, 1),
    }
