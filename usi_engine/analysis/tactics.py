"""Tactics of a line: pieces won, forks, pins, skewers, hanging pieces, promotions and attacks near the king.

A line begins with a move of the side to move of its position. A fork, pin or skewer counts only if the line goes on to
capture one of the pieces that it attacks.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core_ext.board import Board
from core_ext.shogi.ki2 import last_square
from core_ext.shogi.notation import RANKS

Tactic = tuple[str, tuple[str, ...]]
# Values in pawns. A promoted piece other than a tokin counts as the piece that its captor gets.
WORTH = {"P": 1, "L": 3, "N": 3, "S": 5, "+P": 5, "G": 6, "B": 8, "R": 10}
KING = 100
PIECE = 3  # pawns; a smaller loss does not explain a mistake
PLIES = 14  # of a line, at most, that are played out
SHORT = 6  # plies, at most, of an exchange that explains a move: later captures change from search to search
QUIET = 2  # plies without a capture after which an exchange is over
NEAR = 2  # files and ranks from the king
ORTHOGONAL, DIAGONAL = ((0, 1), (0, -1), (1, 0), (-1, 0)), ((1, 1), (1, -1), (-1, 1), (-1, -1))
SLIDES = {"R": ORTHOGONAL, "+R": ORTHOGONAL, "B": DIAGONAL, "+B": DIAGONAL, "L": ((0, -1),), "l": ((0, 1),)}


def letter_at(board: Board, square: str) -> str:
    """Return the piece on a square as its captor counts it: `R` for a dragon, `+P` for a tokin; empty for none."""
    letter = (board.piece_at(square) or "").upper()
    return letter if letter in WORTH else letter.removeprefix("+")


def worth(letter: str) -> int:
    """Return the value of a piece, or of the king, in pawns."""
    return WORTH.get(letter, KING)


# ---- material ----


@dataclass(frozen=True)
class Exchange:
    """The pieces that the side to move wins and loses in a line, and the balance at its end in pawns.

    `moves` are those of an exchange of at most SHORT plies; none if the line has no such exchange.
    """

    won: Counter[str]
    lost: Counter[str]
    final: int
    moves: tuple[str, ...] = ()

    @property
    def balance(self) -> int:
        """The gain of the side to move, in pawns."""
        return sum(WORTH[one] * count for one, count in self.won.items()) - sum(
            WORTH[one] * count for one, count in self.lost.items()
        )


def play_out(board: Board, line: Sequence[str]) -> Exchange:
    """Return the first short exchange of a line that wins or loses PIECE, or all its captures if none does.

    A capture at the end that can be answered by winning something on its square is not counted.
    """
    end, taken = board.copy(), list[str]()
    for move in line[:PLIES]:
        if not end.is_legal(move):
            break
        taken.append(letter_at(end, move[2:4]))
        end.push(move)
    if taken and taken[-1] and can_win(end, end.peek()[2:4]):
        taken.pop()
    final = counted(taken, 0)
    for length in range(1, min(len(taken), SHORT) + 1):
        first = counted(taken[:length], final.balance, line)
        if abs(first.balance) >= PIECE and not any(taken[length : length + QUIET]):
            return first
    return counted(taken, final.balance)


def counted(taken: Sequence[str], final: int, line: Sequence[str] = ()) -> Exchange:
    """Return the exchange in which the sides take these pieces in turn; empty strings are no captures."""
    won, lost = (Counter(piece for piece in taken[side::2] if piece) for side in (0, 1))
    return Exchange(won - lost, lost - won, final, tuple(line[: len(taken)]))


def can_win(board: Board, square: str, least: int = 1) -> bool:
    """Return True if the side to move can win at least so many centipawns on a square."""
    return any(move[2:4] == square and board.see(move) >= least for move in board.legal_moves)


# ---- forks, pins, skewers, hanging pieces ----


def find_tactic(board: Board, line: Sequence[str]) -> Tactic | None:
    """Return what the first move of a line is, and the letters of the pieces that it attacks; None if it is no tactic.

    It is a `fork`, `pin` or `skewer`, of which the nearer piece comes first, or the capture of a `hanging` piece.
    """
    move, side, after = line[0], board.turn, board.copy()
    victim = letter_at(board, move[2:4])
    after.push(move)
    if victim and worth(victim) >= PIECE and not after.attackers(1 - side, move[2:4]):
        return "hanging", (victim,)
    if len(line) < 3 or line[1][2:4] == line[2][2:4]:
        return None
    captured = line[2][2:4]
    for front, behind in lined_up(after, move[2:4]):
        first, second = letter_at(after, front), letter_at(after, behind)
        if captured in (front, behind) and min(worth(first), worth(second)) >= PIECE:
            return "pin" if worth(second) > worth(first) else "skewer", (first, second)
    targets = forked(after, move[2:4])
    if len(targets) > 1 and line[2][:2] == move[2:4] and captured in targets:
        return "fork", tuple(sorted((letter_at(after, one) for one in targets), key=worth, reverse=True))
    return None


def forked(board: Board, square: str) -> list[str]:
    """Return the squares of the pieces of the side to move that the piece on a square attacks and can win."""
    enemy, own, own_worth = 1 - board.turn, board.turn, worth(letter_at(board, square))
    found = list[str]()
    for target in pieces_of(board, own):
        value = worth(letter_at(board, target))
        if value >= PIECE and square in board.attackers(enemy, target):
            found += [target] if value > own_worth or not board.attackers(own, target) else []
    return found


def lined_up(board: Board, square: str) -> Iterator[tuple[str, str]]:
    """Yield the two pieces of the side to move on each ray of the piece on a square, the nearer one first."""
    piece, own = board.piece_at(square) or "", set(pieces_of(board, board.turn))
    for step in SLIDES.get(piece, SLIDES.get(piece.upper(), ())):
        hit = [one for one in ray(square, step) if board.piece_at(one)][:2]
        if len(hit) == 2 and own.issuperset(hit):
            yield hit[0], hit[1]


def pieces_of(board: Board, side: int) -> list[str]:
    """Return the squares of a side's pieces."""
    return [square for square, piece in board.piece_map().items() if piece.islower() == bool(side)]


def ray(square: str, step: tuple[int, int]) -> Iterator[str]:
    """Yield the squares from a square, without it, to the edge of the board; `step`: files and ranks."""
    file, rank = int(square[0]) + step[0], RANKS.index(square[1]) + step[1]
    while 1 <= file <= 9 and 0 <= rank <= 8:
        yield f"{file}{RANKS[rank]}"
        file, rank = file + step[0], rank + step[1]


# ---- near the king ----


def escapes(board: Board, side: int) -> int:
    """Return the number of squares that a side's king could go to, whoever is to move; 0 without a king."""
    king = board.king_square(side)
    around = [next(ray(king, step), "") for step in (*ORTHOGONAL, *DIAGONAL)] if king else []
    own = pieces_of(board, side)
    return sum(1 for one in around if one and one not in own and not board.attackers(1 - side, one))


def is_near_king(board: Board, square: str, side: int) -> bool:
    """Return True if a square is at most NEAR files and ranks from a side's king."""
    king = board.king_square(side)
    return king is not None and max(abs(ord(king[at]) - ord(square[at])) for at in (0, 1)) <= NEAR


def is_prevented(board: Board, move: str) -> bool:
    """Return True if the side to move cannot make a move, or only by losing material."""
    return not board.is_legal(move) or board.see(move) < 0


def is_guarded(better: Board, played: Board, square: str) -> bool:
    """Return True if the side that moved guards an empty square more often after the better move than after its own."""
    mover = 1 - played.turn
    return not played.piece_at(square) and len(better.attackers(mover, square)) > len(played.attackers(mover, square))


def taken(board: Board, move: str) -> str:
    """Return the piece that a move takes; empty for none, for a pawn, and if it takes back in an even exchange."""
    letter = letter_at(board, move[2:4])
    if move[2:4] != last_square(board):
        return letter if letter and worth(letter) >= PIECE else ""
    earlier, last = board.copy(), board.peek()
    earlier.pop()
    return letter if earlier.see(last) < 0 else ""


def saved(board: Board, move: str) -> str:
    """Return the piece that a move takes away from a square on which it could be won; empty for none."""
    if move[1] == "*" or board.is_check():
        return ""
    letter, before, after = letter_at(board, move[:2]), board.copy(), board.copy()
    before.push_pass()
    after.push(move)
    return letter if letter != "K" and can_win(before, move[:2], 100 * PIECE) and not can_win(after, move[2:4]) else ""


def guarded(board: Board, passed: Board) -> str:
    """Return the most valuable piece that the last move attacked, and no longer attacks after a move and a pass."""
    last = last_square(board)
    if not last or passed.piece_at(last) != board.piece_at(last):
        return ""
    before, after = forked(board, last), forked(passed, last)
    left = [one for one in before if one not in after and passed.piece_at(one) == board.piece_at(one)]
    return max((letter_at(board, one) for one in left), key=worth, default="")


def threatens(board: Board, line: Sequence[str]) -> str | None:
    """Return what the first move of a line threatens: the mover's next move, if it checks, promotes or wins a piece."""
    after = board.copy()
    after.push(line[0])
    if len(line) < 3 or after.is_check():
        return None
    after.push_pass()
    if not after.is_legal(line[2]):
        return None
    wins = after.see(line[2]) >= (0 if line[2].endswith("+") else 100 * PIECE)
    return line[2] if wins or after.gives_check(line[2]) else None
