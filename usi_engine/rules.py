"""A game without a screen: position, moves with their times, clock and end. All that show, send or learn games use it.

Sides are 0 (Black) and 1 (White).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from core_ext.board import Board
from core_ext.shogi.notation import PASSES
from usi_engine.clock import Clock, TimeControl
from usi_engine.core import board_after
from usi_engine.language import _
from usi_engine.usi.protocol import STARTPOS, position_words


class MoveError(ValueError):
    """An answer that is not legal; the message is one line for the player."""


@dataclass(frozen=True)
class End:
    """The end of a game.

    `reason`: as the core names the ends by rule (the values of `Termination`: checkmate, no moves, repetition,
    perpetual check, declaration, try, move limit); of players also: resignation, time, illegal move, impasse (a draw
    by points), draw, interrupted.
    """

    reason: str
    winner: int | None = None


def end_by_rule(board: Board, declaration: str = "NoEnteringKing", max_moves: int = 0) -> End | None:
    """Return the end if the rules end the game; None if it goes on. The arguments are those of `Board.outcome`."""
    outcome = board.outcome(declaration, max_moves)
    return End(outcome.termination.value, outcome.winner) if outcome else None


class Lead:
    """The side that is ahead by `least` centipawns, and for how many plies both sides have seen it so."""

    def __init__(self, least: int) -> None:
        self._least, self.winner, self.plies = least, 0, 0

    def add(self, turn: int, value: int | None) -> None:
        """Add the value of a ply for the side to move; None, of a random move, changes nothing."""
        if value is not None:
            before, self.winner = self.winner, turn if value > 0 else 1 - turn
            agreed = abs(value) >= self._least and (self.plies == 0 or self.winner == before)
            self.plies = self.plies + 1 if agreed else 0


class LiveGame:
    """A game from a start position, which may have moves already. ValueError if they are illegal.

    A win by declaration has to be declared. The rules of `Board.outcome` for `max_moves` apply. `start` is an sfen;
    `milliseconds` has the time of each move; `end` is None while the game goes on.
    """

    def __init__(
        self, start: str = STARTPOS, moves: Iterable[str] = (), clock: Clock | None = None, max_moves: int = 0
    ) -> None:
        self.start = board_after(start, ()).sfen()
        self.board: Board = board_after(start, moves)
        self.clock, self._max_moves = clock or Clock(TimeControl()), max_moves
        self.milliseconds = [0] * len(self.moves)
        self._left = [list(self.clock.left) for _move in self.moves]  # the clock before each move
        self.end = end_by_rule(self.board, max_moves=max_moves)

    @property
    def moves(self) -> list[str]:
        """The moves in USI."""
        return self.board.moves()

    @property
    def turn(self) -> int:
        """The side to move."""
        return self.board.turn

    @property
    def position(self) -> str:
        """The arguments of USI's `position`."""
        return position_words(self.start, self.moves)

    def push(self, move: str, milliseconds: int = 0) -> None:
        """Make a legal move that took this time; the rules may end the game. ValueError for any other text."""
        mover, left = self.turn, list(self.clock.left)
        if move in PASSES:
            raise ValueError(f"illegal move '{move}' in '{self.board.sfen()}'")
        self.board.push(move)
        self.clock.spend(mover, milliseconds)
        self._left.append(left)
        self.milliseconds.append(milliseconds)
        self.clock.start()
        self.end = end_by_rule(self.board, max_moves=self._max_moves)

    def pop(self) -> str:
        """Take a move and its time back. IndexError if there is none."""
        move = self.board.pop()
        self.milliseconds.pop()
        self.clock.left, self.end = self._left.pop(), None
        self.clock.start()
        return move

    def answer(self, answer: str, milliseconds: int = 0) -> None:
        """Carry out a player's answer: a move, `resign` or `win` (a declaration). ValueError if it is not legal."""
        if answer == "resign":
            self.end = End("resignation", 1 - self.turn)
        elif answer == "win":
            self.declare()
        else:
            self.push(answer, milliseconds)

    def declare(self) -> None:
        """Declare the win of the side to move. MoveError if the rules do not allow it."""
        if not self.board.can_declare():
            raise MoveError(_("a win cannot be declared here"))
        self.end = End("declaration", self.turn)

    def lose_on_time(self, milliseconds: int) -> bool:
        """End the game if the side to move has used more time than its clock allows; return whether it has."""
        control = self.clock.controls[self.turn]
        late = bool(control) and milliseconds > self.clock.allowed(self.turn)
        if late:
            self.end = End("time", 1 - self.turn)
        return late
