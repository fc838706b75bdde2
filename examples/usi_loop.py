"""The USI loop that the examples share: it reads commands, keeps the board and asks the player for a move."""

from __future__ import annotations

import sys
from collections.abc import Callable

from usi_engine import Board

# Gives a move for the side to move, which has one.
Choose = Callable[[Board], str]


def send(*lines: str) -> None:
    """Write lines at once."""
    print(*lines, sep="\n", flush=True)


def board_of(text: str) -> Board:
    """What follows the word `position`: `startpos` or `sfen ...`, then `moves ...`. ValueError."""
    place, _, moves = text.partition(" moves")
    return Board.from_moves(moves.split(), place)


def answer(board: Board, choose: Choose) -> str:
    """The line that ends a `go`."""
    if board.can_declare():
        return "bestmove win"
    return f"bestmove {choose(board)}" if board.legal_moves() else "bestmove resign"


def serve(name: str, choose: Choose) -> None:
    """Speak USI on standard input and output until `quit`."""
    board, held = Board(), ""
    for line in sys.stdin:
        command, _, rest = line.strip().partition(" ")
        if command == "usi":
            send(f"id name {name}", "id author the Komadori authors", "usiok")
        elif command == "isready":
            send("readyok")
        elif command == "position":
            try:
                board = board_of(rest)
            except ValueError as error:
                send(f"info string {error}")
        elif command == "go" and rest.startswith("mate"):
            send("checkmate notimplemented")
        elif command == "go":
            held = answer(board, choose)
            if not rest.startswith(("infinite", "ponder")):  # those wait for a stop or a ponderhit
                send(held)
                held = ""
        elif command in ("stop", "ponderhit") and held:
            send(held)
            held = ""
        elif command == "quit":
            return
