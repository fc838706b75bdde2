"""The position of a game, moved by CSA text, and its moves in CSA and USI; by rsshogi."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rsshogi.core import Board, Move
from rsshogi.record import Record

START = Board().to_sfen()
# floodgate records are read by people; longer lines help nobody.
MOST_PV_MOVES = 20


class GamePosition:
    """A start position and the moves made from there."""

    def __init__(self, lines: Iterable[str]) -> None:
        """From the lines of a CSA position. ValueError where they are none."""
        text = "".join(line + "\n" for line in lines)
        try:
            if not text.startswith("P"):
                raise ValueError(f"it begins '{text[:20].strip()}'")
            self.start = Record.from_csa_str(text).init_position_sfen
        except ValueError as error:
            raise ValueError(f"no CSA position: {error}") from None
        self._board = Board(self.start)
        self.moves: list[str] = []

    @property
    def turn(self) -> str:
        """`+` or `-`."""
        return "-" if self._board.to_sfen().split()[1] == "w" else "+"

    def push(self, csa: str) -> str:
        """Make a move; returns it in USI. ValueError for a move that is illegal here, and the position stays."""
        move = self._board.move_from_csa(csa)
        if csa[0] != self.turn or not self._board.is_legal_move32(move):
            raise ValueError(f"illegal move '{csa}'")
        self._board.push_move32(move)
        self.moves.append(move.to_usi())
        return self.moves[-1]

    def csa(self, usi: str) -> str:
        """A legal move in CSA. ValueError for any other text."""
        return csa_move(self._board, usi)

    def line(self, moves: Sequence[str]) -> list[str]:
        """A line from here in CSA, up to its first illegal move."""
        board, found = self._board.copy(), list[str]()
        for usi in moves[:MOST_PV_MOVES]:
            try:
                found.append(csa_move(board, usi))
            except ValueError:
                break
            board.push_usi(usi)
        return found

    def command(self, *more: str) -> str:
        """The USI command that sets up the position, after further moves in USI."""
        start = "startpos" if self.start == START else f"sfen {self.start}"
        moves = " ".join([*self.moves, *more])
        return f"position {start} moves {moves}" if moves else f"position {start}"


def csa_move(board: Board, usi: str) -> str:
    """A legal move in CSA. ValueError for any other text."""
    move = Move.from_usi(usi)
    text = board.move32_from_move(move).to_csa() if board.is_legal_move(move) else None
    if text is None:
        raise ValueError(f"illegal move '{usi}'")
    return text


def floodgate_comment(position: GamePosition, value: int | None, pv: Sequence[str]) -> str:
    """Value and line of a move that is to be made, in floodgate's form `* VALUE REPLY ...`; empty without a value.

    `value` is the mover's, the comment's is Black's; `pv` begins with the move itself, the comment with the reply.
    """
    if value is None:
        return ""
    for_black = value if position.turn == "+" else -value
    return " ".join([f"* {for_black}", *position.line(pv)[1:]])
