"""The game that is being played: position, moves with their times, its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from usi_engine.core import Core, board_after
from usi_engine.language import _, chosen
from usi_engine.records import bod
from usi_engine.usi.protocol import STARTPOS, position_words

if TYPE_CHECKING:
    from core_ext.board import Board
    from usi_engine.records.tree import Record

# White plays without some pieces, and moves first.
HANDICAPS = {
    name: bod.HANDICAPS[word]
    for name, word in {
        "lance": "香落ち", "bishop": "角落ち", "rook": "飛車落ち", "rook-lance": "飛香落ち", "two": "二枚落ち",
        "four": "四枚落ち", "six": "六枚落ち", "eight": "八枚落ち", "ten": "十枚落ち",
    }.items()
}  # fmt: skip
OTHER = {"b": "w", "w": "b"}
SIGNS = {"b": "+", "w": "-"}  # the sides in clocks and records


@dataclass(frozen=True)
class Ending:
    """The end of a game: `reason` is a key of `sentences`; `winner` is `b`, `w` or empty for a draw."""

    reason: str
    winner: str = ""

    def text(self, winner: str) -> str:
        """Return the message for the player; `winner` is a name."""
        sentences = {
            "mate": _("{winner} wins: the king is mated."),
            "no moves": _("{winner} wins: no legal move is left."),
            "resignation": _("{winner} wins by resignation."),
            "declaration": _("{winner} wins by declaration (entering king)."),
            "perpetual": _("{winner} wins: perpetual check loses."),
            "repetition": _("A draw by fourfold repetition."),
            "time": _("{winner} wins on time."),
        }
        return sentences[self.reason].format(winner=winner)


class LiveGame:
    """A game from a start position, which may have moves already. ValueError if they are illegal."""

    def __init__(self, core: Core, start: str = STARTPOS, moves: tuple[str, ...] = ()) -> None:
        self._core = core
        self.start = board_after(core, start, ()).sfen()
        self.board: Board = board_after(core, start, moves)
        self.milliseconds = [0] * len(moves)
        self.saved: Record | None = None  # the record that the game goes on from
        self.ending = self._ended()

    @property
    def moves(self) -> list[str]:
        """The moves in USI."""
        return self.board.moves()

    @property
    def turn(self) -> str:
        """The side to move, `b` or `w`."""
        return "b" if self.board.turn == self._core.black else "w"

    @property
    def position(self) -> str:
        """The arguments of USI's `position`."""
        return position_words(self.start, self.moves)

    @property
    def ending_text(self) -> str:
        """How the game ended; empty while it goes on."""
        return self.ending.text(self.side_name(self.ending.winner)) if self.ending else ""

    def side_name(self, side: str) -> str:
        """Return the name of `b` or `w`, in Japanese those of a handicap if it is one."""
        names = bod.sides_at(self.start) if chosen() == "ja" else ("Black", "White")
        return names[side == "w"]

    def push(self, move: str, milliseconds: int = 0) -> None:
        """Make a legal move, which may end the game. ValueError for any other text."""
        self.board.push(move)
        self.milliseconds.append(milliseconds)
        self.ending = self._ended()

    def pop(self) -> str:
        """Take a move back. IndexError if there is none."""
        move = self.board.pop()
        self.milliseconds.pop()
        self.ending = None
        return move

    def end(self, reason: str, winner: str = "") -> None:
        """End the game without a move."""
        self.ending = Ending(reason, winner)

    def again(self) -> LiveGame:
        """Return a new game from the same start."""
        return LiveGame(self._core, self.start)

    def _ended(self) -> Ending | None:
        """Return the end by mate or repetition; None if the game goes on."""
        if not self.board.legal_moves(include_all=True):
            return Ending("mate" if self.board.is_check() else "no moves", OTHER[self.turn])
        repeated = self.board.repetition()
        if repeated == "draw":
            return Ending("repetition")
        if repeated == "none":
            return None
        return Ending("perpetual", self.turn if repeated == "win" else OTHER[self.turn])
