"""Verification of mating lines."""

from usi_engine.core import Board


def is_mate(board: Board, moves: list[str]) -> bool:
    """Return True if every move of the first side checks and the last check allows only futile interpositions."""
    end = after_checks(board, moves)
    if end is None:
        return False
    return all(is_futile(end, answer) for answer in end.legal_moves(include_all=True))


def after_checks(board: Board, moves: list[str]) -> Board | None:
    """Return the position after the line; None unless the first side gives check at every move and makes the last."""
    end = board.copy()
    for number, move in enumerate(moves):
        end.push(move)
        if number % 2 == 0 and not end.is_check():
            return None
    return end if len(moves) % 2 else None


def is_futile(board: Board, answer: str) -> bool:
    """Return True if an evasion is a futile interposition: the attacker then mates in one, or by capturing the piece,
    whatever is interposed next.
    """
    if answer[:2] == board.king_square(board.turn) or board.piece_at(answer[2:4]):
        return False
    board.push(answer)
    captures = [move for move in board.checking_moves(include_all=True) if move[2:4] == answer[2:4] and move[1] != "*"]
    found = board.mate_in_one() is not None or any(mates_after(board, move) for move in captures)
    board.pop()
    return found


def mates_after(board: Board, move: str) -> bool:
    """Return True if `move` mates, or allows only futile interpositions."""
    board.push(move)
    mates = all(is_futile(board, answer) for answer in board.legal_moves(include_all=True))
    board.pop()
    return mates
