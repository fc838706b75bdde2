"""Limits and results of searches, for this engine and for others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import index

from usi_engine.core import Board, Outcome, load_core
from usi_engine.usi.info import DECLARATION, MATE, MATE_BOUND, MAX_DEPTH, MAX_EVALUATION
from usi_engine.usi.protocol import Go, Times

# Centipawns of the unit of the logistic; the scale on which the evaluation is trained (docs/learning.md).
CENTIPAWNS = 600
# Greater values are a certain win or loss; exp() stays in range.
CERTAIN = 30000
MOST_NODES = 1 << 48
MOST_SECONDS = 86400.0 * 365


def winning_chance(value: int) -> float:
    """Return the probability of winning, 0 to 1, for the side whose value it is: 1 / (1 + exp(-value / 600))."""
    if abs(value) >= CERTAIN:
        return 1.0 if value > 0 else 0.0
    return 1 / (1 + math.exp(-value / CENTIPAWNS))


@dataclass(frozen=True)
class Limit:
    """The end of a search: `nodes`, `depth`, and `time` or the clocks of a game, for `play`, in seconds.

    Increments and `byoyomi` count only beside a clock, or as the only time.
    """

    time: float | None = None
    nodes: int | None = None
    depth: int | None = None
    black_clock: float | None = None
    white_clock: float | None = None
    black_inc: float | None = None
    white_inc: float | None = None
    byoyomi: float | None = None

    @property
    def times(self) -> Times:
        """The clocks in milliseconds. ValueError if one is negative or no number."""
        clocks = (self.black_clock, self.white_clock, self.byoyomi, self.black_inc, self.white_inc)
        for seconds in clocks:
            if seconds is not None and not 0 <= seconds <= MOST_SECONDS:
                raise ValueError(f"a clock must be a number of seconds from 0, not {seconds}")
        return Times(*(None if seconds is None else round(seconds * 1000) for seconds in clocks))

    def go(self, moves: Sequence[str] = ()) -> Go:
        """Return the limit as the arguments of USI's `go`, with the root moves to search."""
        movetime = None if self.time is None else max(round(self.time * 1000), 1)
        return Go(self.times, movetime=movetime, depth=self.depth, nodes=self.nodes, searchmoves=tuple(moves))

    def check(self) -> None:
        """Raise ValueError if a limit is out of range or none is given, TypeError if one is of another type."""
        has_clocks = self.times.given()
        if not has_clocks and (self.time, self.nodes, self.depth) == (None, None, None):
            raise ValueError("a search needs an end: nodes, depth or time")
        if has_clocks and self.time is not None:
            raise ValueError("give either a time or clocks")
        for name, number, most in (("nodes", self.nodes, MOST_NODES), ("depth", self.depth, MAX_DEPTH)):
            if number is not None:
                checked_number(name, number, 1, most)
        if self.time is not None and not (math.isfinite(self.time) and 0 < self.time <= MOST_SECONDS):
            raise ValueError(f"time must be a number of seconds above 0, not {self.time}")


def checked_number(name: str, number: int, least: int, most: int) -> None:
    """Raise ValueError for a number out of range, TypeError if it is not an integer."""
    if not least <= index(number) <= most:
        raise ValueError(f"{name} must be from {least} to {most}, not {number}")


def copy_of(board: Board) -> Board:
    """Return a copy of the board, which nobody else changes. TypeError, with what to do, if it is none."""
    if not isinstance(board, load_core().board):
        raise TypeError(f"give a Board, such as Board() or Board('sfen ...'), not {board!r:.60}")
    return board.copy()


def limit_of(limit: Limit | None, nodes: int | None, depth: int | None, time: float | None) -> Limit:
    """Return a limit given as such or as keywords. ValueError if it is given in both ways."""
    if limit is None:
        return Limit(time, nodes, depth)
    if not isinstance(limit, Limit):
        raise TypeError(f"give a Limit, or nodes=, depth= or time=, not {limit!r:.60}")
    if (nodes, depth, time) != (None, None, None):
        raise ValueError("give either a Limit or nodes, depth and time")
    return limit


@dataclass(frozen=True, order=True)
class Score:
    """The value of a position for the side `turn`; scores are ordered, greater is better for that side.

    `value` is in centipawns, or a mate: 32000 - n if the side mates in n plies, n - 32000 if it is mated. The results
    of a search have the side to move as `turn`.
    """

    value: int
    turn: int = field(default=0, compare=False)

    def __str__(self) -> str:
        """Return `+120`, `mate 5`, `mate -4`."""
        return f"mate {self.mate}" if self.cp is None else f"{self.cp:+d}"

    @classmethod
    def mate_in(cls, plies: int, turn: int) -> Score:
        """Return the score of the side that mates in so many plies."""
        return cls(MATE - plies, turn)

    @classmethod
    def declared_in(cls, plies: int, turn: int) -> Score:
        """Return the score of the side that wins by declaration or by a try in so many plies."""
        return cls(DECLARATION - plies, turn)

    @property
    def mate(self) -> int | None:
        """Plies to mate: positive for the side, negative against it, 0 if the king is mated already; None: no mate."""
        if abs(self.value) < MATE_BOUND:
            return None
        return MATE - self.value if self.value > 0 else -MATE - self.value

    @property
    def plies_to_end(self) -> int | None:
        """Plies to a mate or to a win by declaration, of either side; None if there is neither."""
        value = abs(self.value)
        if value >= MATE_BOUND:
            return MATE - value
        return DECLARATION - value if value >= DECLARATION - 2 * MAX_DEPTH else None

    @property
    def cp(self) -> int | None:
        """The value in centipawns, None for a mate; at most 20000, which is also the value of a win by rule."""
        return max(min(self.value, MAX_EVALUATION), -MAX_EVALUATION) if self.mate is None else None

    @property
    def win_chance(self) -> float:
        """The probability, 0 to 1, that the side `turn` wins: `winning_chance` of the value."""
        return winning_chance(self.value)

    def pov(self, color: int) -> Score:
        """Return the score from the point of view of BLACK or WHITE. ValueError for another colour."""
        if color not in (0, 1):
            raise ValueError(f"not a colour: {color!r}")
        return self if color == self.turn else Score(-self.value, color)


@dataclass(frozen=True)
class Variation:
    """A line of moves in USI, its score for the side to move, depth and selective depth.

    `bound` is `exact`, or `lower` or `upper` if the score is only a bound.
    """

    score: Score
    pv: tuple[str, ...]
    depth: int = 1
    seldepth: int = 0
    bound: str = "exact"

    @property
    def move(self) -> str:
        """The first move."""
        return self.pv[0]

    @property
    def value(self) -> int:
        """The value of the score."""
        return self.score.value


@dataclass(frozen=True)
class Analysis:
    """The result of a search: lines, best first, nodes of all threads, seconds.

    If the game is over by the rules, `outcome` says how, there is no line, and `move` is None. `source` says what
    answered: `search`, `mate` (the mate solver), `book`, or `rules` (the game is over, or is won by declaration).
    `hashfull` is the permille of the transposition table in use.
    """

    lines: tuple[Variation, ...]
    score: Score
    depth: int
    nodes: int = 0
    time: float = 0.0
    outcome: Outcome | None = None
    source: str = "search"
    hashfull: int = 0

    @property
    def best(self) -> Variation:
        """The best line. IndexError if there is none."""
        return self.lines[0]

    @property
    def move(self) -> str | None:
        """The best move."""
        return self.lines[0].move if self.lines else None

    @property
    def pv(self) -> tuple[str, ...]:
        """The best line's moves."""
        return self.lines[0].pv if self.lines else ()


@dataclass(frozen=True)
class PlayResult:
    """A move to play, the expected answer and the score, if they are known.

    Without a move, `end` is `resign`, `win` (a declaration), or empty if the game is a draw. `pv` is the best line,
    `source` what answered, as in an Analysis.
    """

    move: str | None
    ponder: str | None = None
    score: Score | None = None
    end: str = ""
    pv: tuple[str, ...] = ()
    source: str = ""


# Called on another thread with the result so far.
Watch = Callable[[Analysis], None]


def decided(board: Board, rule: str = "NoEnteringKing") -> Analysis | None:
    """Return the result if the game is over by the rules, or can be won by declaration under `rule`; None if not."""
    outcome = board.outcome(rule)
    if outcome is None:
        return None
    score = Score(0, board.turn)
    if outcome.winner is not None:
        mated = not board.legal_moves(include_all=True)
        won = Score.mate_in(0, outcome.winner) if mated else Score.declared_in(1, outcome.winner)
        score = won.pov(board.turn)
    return Analysis((), score, 0, outcome=outcome, source="rules")


def decided_play(found: Analysis, turn: int) -> PlayResult:
    """Return the answer in a finished game."""
    assert found.outcome is not None
    ends = {None: "", turn: "win"}
    return PlayResult(None, None, found.score, ends.get(found.outcome.winner, "resign"))
