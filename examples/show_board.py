"""A USI engine that prints the position at each `go`, for the engine log of the GUI, and plays the first legal move."""

from __future__ import annotations

from usi_loop import send, serve

from usi_engine import Board


def choose(board: Board) -> str:
    moves = board.legal_moves()
    lines = [*board.ascii().splitlines(), board.sfen(), f"{len(moves)} legal moves: {' '.join(moves)}"]
    if board.is_check():
        lines.append(f"check by {' '.join(board.checkers())}")
    send(*(f"info string {line}" for line in lines))
    return moves[0]


if __name__ == "__main__":
    serve("Show the board", choose)
