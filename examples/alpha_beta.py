"""A USI engine that searches three plies by alpha-beta and counts material.

The material balance is updated move by move. A position with many moves takes a second or two.
"""

from __future__ import annotations

from usi_loop import send, serve

from usi_engine import Board

DEPTH = 3
MATE = 100_000
VALUES = {"P": 90, "L": 315, "N": 405, "S": 495, "G": 540, "B": 855, "R": 990, "K": 0,
          "+P": 540, "+L": 540, "+N": 540, "+S": 540, "+B": 945, "+R": 1395}  # fmt: skip


def gain(board: Board, move: str) -> int:
    """Return what a move adds to the balance of its side by a capture or a promotion."""
    if move[1] == "*":
        return 0
    captured, piece = board.piece_at(move[2:4]), board.piece_at(move[:2])
    assert piece is not None
    # A captured piece changes sides; in hand it is unpromoted.
    total = VALUES[captured.upper()] + VALUES[captured.upper().lstrip("+")] if captured else 0
    return total + (VALUES["+" + piece.upper()] - VALUES[piece.upper()] if move.endswith("+") else 0)


def search(board: Board, depth: int, alpha: int, beta: int, balance: int) -> tuple[int, list[str]]:
    """Return the value for the side to move, or a bound if it is outside alpha and beta, and the line."""
    moves = sorted(((gain(board, move), move) for move in board.legal_moves()), reverse=True)
    if not moves:
        return -MATE - depth, []
    if depth == 1:
        return balance + moves[0][0], [moves[0][1]]
    line: list[str] = []
    for won, move in moves:
        board.push(move)
        value, replies = search(board, depth - 1, -beta, -alpha, -(balance + won))
        board.pop()
        if -value > alpha:
            alpha, line = -value, [move, *replies]
            if alpha >= beta:
                break
    return alpha, line


def choose(board: Board) -> str:
    value, line = search(board, DEPTH, -2 * MATE, 2 * MATE, 0)
    send(f"info depth {DEPTH} score cp {max(min(value, 30_000), -30_000)} pv {' '.join(line)}")
    return line[0]


if __name__ == "__main__":
    serve("Three-ply alpha-beta", choose)
