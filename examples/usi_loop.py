"""The USI loop of the examples: read commands, keep the board, ask the player for a move."""

from __future__ import annotations

import sys
from collections.abc import Callable

from usi_engine import Board

Choose = Callable[[Board], str]  # returns a move; it is only called if there is one


def send(*lines: str) -> None:
    print(*lines, sep="\n", flush=True)


def board_of(text: str) -> Board:
    """Read the arguments of `position`: `startpos` or `sfen ...`, then `moves ...`. ValueError if one is wrong."""
    place, _, moves = text.partition(" moves")
    return Board.from_moves(moves.split(), place)


def answer(board: Board, choose: Choose) -> str:
    """Return the answer to `go`: `win` if the side to move can declare, `resign` if it has no legal move."""
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
            if not rest.startswith(("infinite", "ponder")):  # these wait for `stop` or `ponderhit`
                send(held)
                held = ""
        elif command in ("stop", "ponderhit") and held:
            send(held)
            held = ""
        elif command == "quit":
            return
