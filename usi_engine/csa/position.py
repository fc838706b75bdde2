"""The position of a game: makes moves given in CSA, and returns moves in CSA and USI."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from usi_engine.core import board_after, load_core
from usi_engine.language import _
from usi_engine.records.csa_position import read_position
from usi_engine.records.notation import name_moves
from usi_engine.usi.protocol import position_words

MOST_PV_MOVES = 20  # in a comment


class GamePosition:
    """A start position and the moves made from there."""

    def __init__(self, lines: Iterable[str]) -> None:
        """Read the lines of a CSA position. ValueError."""
        self.start = read_position(lines)
        if not {"K", "k"} <= set(self.start.partition(" ")[0]):
            raise ValueError(_("a king is missing in '{position}'").format(position=self.start))
        self._board = board_after(load_core(), self.start, [])

    @property
    def moves(self) -> list[str]:
        """The moves in USI."""
        return self._board.moves()

    @property
    def turn(self) -> str:
        """The side to move, `+` or `-`."""
        return "+-"[self._board.turn]

    def push(self, csa: str) -> str:
        """Make a move and return it in USI. ValueError if it is illegal; the position is then unchanged."""
        try:
            return self._board.push_csa(csa)
        except ValueError:
            raise ValueError(_("illegal move: '{move}'").format(move=csa)) from None

    def csa(self, usi: str) -> str:
        """Return a legal move in CSA. ValueError for any other text."""
        return self._board.csa(usi)

    def line(self, moves: Sequence[str]) -> list[str]:
        """Return a line from here in CSA, up to its first illegal move."""
        named = name_moves(self.start, moves[:MOST_PV_MOVES], self.moves, lambda board, move: board.csa(move))
        return [move.text for move in named]

    def command(self, *more: str) -> str:
        """Return the USI command that sets up the position, after further moves in USI."""
        return f"position {position_words(self.start, [*self.moves, *more])}"


def floodgate_comment(position: GamePosition, value: int | None, pv: Sequence[str]) -> str:
    """Return the value and line of the next move in floodgate's form, `* VALUE REPLY ...`; empty without a value.

    `value` is the mover's, the comment's is Black's. `pv` begins with the move itself, the comment with the reply.
    """
    if value is None:
        return ""
    return " ".join([f"* {value if position.turn == '+' else -value}", *position.line(pv)[1:]])
