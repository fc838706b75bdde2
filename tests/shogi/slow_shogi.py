"""A second implementation of the rules of shogi, written from the rulebook and slow on purpose: the tests' oracle.

Nothing here is shared with the core: squares are (file, rank) pairs from 1 to 9, pieces are sfen letters (`P` Black's
pawn, `+r` White's dragon), a board is a dictionary, and a move is legal when making it leaves one's own king
unattacked. Colours are the sfen letters `b` and `w`; moves are USI text.

Sources: the rules of the Japan Shogi Association; the declaration rules of the Computer Shogi Association (the 27-point
rule of its server protocol); the 24-point and handicap forms as YaneuraOu's option EnteringKingRule documents them.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

RANKS = "abcdefghi"
START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
HAND_ORDER = "RBGSNLP"

Square = tuple[int, int]

ORTHOGONAL = [(0, -1), (0, 1), (-1, 0), (1, 0)]
DIAGONAL = [(-1, -1), (1, -1), (-1, 1), (1, 1)]
GOLD = [*ORTHOGONAL, (-1, -1), (1, -1)]
# From Black's perspective: forward is towards rank 1.
STEPS = {
    "P": [(0, -1)],
    "N": [(-1, -2), (1, -2)],
    "S": [*DIAGONAL, (0, -1)],
    "G": GOLD,
    "K": ORTHOGONAL + DIAGONAL,
    "+P": GOLD,
    "+L": GOLD,
    "+N": GOLD,
    "+S": GOLD,
    "+B": ORTHOGONAL,
    "+R": DIAGONAL,
}
SLIDES = {"L": [(0, -1)], "B": DIAGONAL, "R": ORTHOGONAL, "+B": DIAGONAL, "+R": ORTHOGONAL}


def other(color: str) -> str:
    return "w" if color == "b" else "b"


def color_of(piece: str) -> str:
    return "b" if piece.isupper() else "w"


def name(square: Square) -> str:
    return f"{square[0]}{RANKS[square[1] - 1]}"


def to_square(text: str) -> Square:
    return int(text[0]), RANKS.index(text[1]) + 1


def on_board(square: Square) -> bool:
    return 1 <= square[0] <= 9 and 1 <= square[1] <= 9


def ranks_from_far_edge(color: str, square: Square) -> int:
    """Return the rank as the side sees it: 1 is the last rank."""
    return square[1] if color == "b" else 10 - square[1]


def stuck(color: str, kind: str, square: Square) -> bool:
    """Return whether a piece of this kind could never move again from there."""
    return ranks_from_far_edge(color, square) <= {"P": 1, "L": 1, "N": 2}.get(kind, 0)


def points_of(pieces: list[str]) -> int:
    """Rooks and bishops, promoted or not, count 5; every other piece but the king 1."""
    kinds = [piece.strip("+").upper() for piece in pieces]
    return sum(5 if kind in "RB" else 1 for kind in kinds if kind != "K")


def judged(since: list[Position], side: str) -> str:
    """Return `draw`, `win` or `lose` for `side`, whose positions (with `side` to move) follow the opponent's moves."""
    theirs = all(position.is_check() for position in since if position.turn == side)
    ours = all(position.is_check() for position in since if position.turn != side)
    return "draw" if ours == theirs else "lose" if ours else "win"


class Position:
    """One position, never changed: `after(move)` makes the next."""

    def __init__(self, sfen: str = START) -> None:
        fields = sfen.split()
        self.board = dict(self._read_board(fields[0]))
        self.turn = fields[1]
        self.hands = self._read_hands(fields[2])
        self.ply = int(fields[3]) if len(fields) > 3 else 1

    @staticmethod
    def _read_board(text: str) -> Iterator[tuple[Square, str]]:
        for rank, row in enumerate(text.split("/"), 1):
            file, promoted = 9, ""
            for letter in row:
                if letter == "+":
                    promoted = "+"
                elif letter.isdigit():
                    file -= int(letter)
                else:
                    yield (file, rank), promoted + letter
                    file, promoted = file - 1, ""

    @staticmethod
    def _read_hands(text: str) -> dict[str, Counter[str]]:
        hands: dict[str, Counter[str]] = {"b": Counter(), "w": Counter()}
        number = ""
        for letter in text.strip("-"):
            if letter.isdigit():
                number += letter
            else:
                hands[color_of(letter)][letter.upper()] += int(number or "1")
                number = ""
        return hands

    def _board_text(self) -> str:
        rows = []
        for rank in range(1, 10):
            row, gap = "", 0
            for file in range(9, 0, -1):
                piece = self.board.get((file, rank))
                if piece is None:
                    gap += 1
                    continue
                row += (str(gap) if gap else "") + piece
                gap = 0
            rows.append(row + (str(gap) if gap else ""))
        return "/".join(rows)

    def _hand_text(self) -> str:
        text = ""
        for color in "bw":
            for kind in HAND_ORDER:
                count = self.hands[color][kind]
                letter = kind if color == "b" else kind.lower()
                text += (str(count) if count > 1 else "") + letter if count else ""
        return text or "-"

    def core(self) -> str:
        """The sfen without its move number, which repetition compares."""
        return f"{self._board_text()} {self.turn} {self._hand_text()}"

    def sfen(self) -> str:
        return f"{self.core()} {self.ply}"

    # ---- attacks ---------------------------------------------------------------------------------------------------

    def reach(self, square: Square) -> Iterator[Square]:
        """Return the squares that the piece on `square` attacks, own pieces included."""
        piece = self.board[square]
        forward = 1 if piece.isupper() else -1
        for file, rank in STEPS.get(piece.upper(), []):
            target = square[0] + file, square[1] + rank * forward
            if on_board(target):
                yield target
        for file, rank in SLIDES.get(piece.upper(), []):
            target = square[0] + file, square[1] + rank * forward
            while on_board(target):
                yield target
                if target in self.board:
                    break
                target = target[0] + file, target[1] + rank * forward

    def attackers(self, target: Square, by: str) -> list[Square]:
        armed = [square for square, piece in self.board.items() if color_of(piece) == by]
        return [square for square in armed if target in self.reach(square)]

    def king(self, color: str) -> Square | None:
        letter = "K" if color == "b" else "k"
        return next((square for square, piece in self.board.items() if piece == letter), None)

    def checkers(self, color: str | None = None) -> list[Square]:
        """The pieces that attack the king of `color` (default: of the side to move)."""
        color = color or self.turn
        king = self.king(color)
        return [] if king is None else self.attackers(king, other(color))

    def is_check(self) -> bool:
        return bool(self.checkers())

    # ---- moves -----------------------------------------------------------------------------------------------------

    def _board_moves(self) -> Iterator[str]:
        for square, piece in self.board.items():
            if color_of(piece) != self.turn:
                continue
            for target in self.reach(square):
                if target in self.board and color_of(self.board[target]) == self.turn:
                    continue
                yield from self._spellings(square, target, piece.upper())

    def _spellings(self, origin: Square, target: Square, kind: str) -> Iterator[str]:
        """Return the move without and with promotion, if allowed."""
        text = name(origin) + name(target)
        if not stuck(self.turn, kind, target):
            yield text
        if kind in "PLNSBR" and min(ranks_from_far_edge(self.turn, s) for s in (origin, target)) <= 3:
            yield text + "+"

    def _has_pawn(self, file: int) -> bool:
        return any(self.board.get((file, rank)) == ("P" if self.turn == "b" else "p") for rank in range(1, 10))

    def _drops(self) -> Iterator[str]:
        empty = [(file, rank) for file in range(1, 10) for rank in range(1, 10) if (file, rank) not in self.board]
        for kind in +self.hands[self.turn]:
            for target in empty:
                if not stuck(self.turn, kind, target) and not (kind == "P" and self._has_pawn(target[0])):
                    yield f"{kind}*{name(target)}"

    def after(self, move: str) -> Position:
        """Return the position after a pseudo-legal move; a king left in check is not noticed."""
        following = Position.__new__(Position)
        following.board = dict(self.board)
        following.hands = {color: Counter(hand) for color, hand in self.hands.items()}
        following.turn, following.ply = other(self.turn), self.ply + 1
        target = to_square(move[2:4])
        if move[1] == "*":
            following.hands[self.turn][move[0]] -= 1
            following.board[target] = move[0] if self.turn == "b" else move[0].lower()
            return following
        piece = following.board.pop(to_square(move))
        captured = following.board.get(target)
        if captured:
            following.hands[self.turn][captured.strip("+").upper()] += 1
        following.board[target] = "+" + piece if move.endswith("+") else piece
        return following

    def _is_legal(self, move: str) -> bool:
        following = self.after(move)
        if following.checkers(self.turn):
            return False
        drops_pawn = move.startswith("P*")
        return not (drops_pawn and following.is_check() and following.has_no_move())

    def legal_moves(self) -> list[str]:
        return [move for move in itertools.chain(self._board_moves(), self._drops()) if self._is_legal(move)]

    def has_no_move(self) -> bool:
        return not any(map(self._is_legal, itertools.chain(self._board_moves(), self._drops())))

    def is_dominated(self, move: str) -> bool:
        """A non-promotion that is never better: of a pawn, bishop or rook, or of a lance to the last rank but one.

        (Except to avoid a drop-pawn mate.)
        """
        if move[1] == "*" or move.endswith("+"):
            return False
        origin, target = to_square(move), to_square(move[2:])
        kind = self.board[origin].upper()
        if kind == "L":
            return ranks_from_far_edge(self.turn, target) == 2
        return kind in ("P", "B", "R") and min(ranks_from_far_edge(self.turn, s) for s in (origin, target)) <= 3

    def gives_check(self, move: str) -> bool:
        return self.after(move).is_check()

    def checking_moves(self) -> list[str]:
        return [move for move in self.legal_moves() if self.gives_check(move)]

    def perft(self, depth: int) -> int:
        if depth == 0:
            return 1
        moves = self.legal_moves()
        return len(moves) if depth == 1 else sum(self.after(move).perft(depth - 1) for move in moves)

    # ---- declaration -----------------------------------------------------------------------------------------------

    def missing_points(self) -> int:
        """54 points are in a full set; missing pieces were given as a handicap."""
        everything = list(self.board.values()) + [kind for hand in self.hands.values() for kind in hand.elements()]
        return 54 - points_of(everything)

    def required_points(self, rule: str) -> int:
        """White gives the handicap, and the missing pieces count for White if the rule ends in H."""
        required = 31 if "24" in rule else 28 if self.turn == "b" else 27
        return required - self.missing_points() if rule.endswith("H") and self.turn == "w" else required

    def declaration_move(self, rule: str) -> str | None:
        """`win`, or the king's move under TryRule, or None."""
        if rule == "NoEnteringKing":
            return None
        if rule == "TryRule":
            return self._try_move()
        return "win" if self._may_declare(rule) else None

    def _may_declare(self, rule: str) -> bool:
        king = self.king(self.turn)
        if king is None or ranks_from_far_edge(self.turn, king) > 3 or self.is_check():
            return False
        inside = [
            piece
            for square, piece in self.board.items()
            if color_of(piece) == self.turn and piece.upper() != "K" and ranks_from_far_edge(self.turn, square) <= 3
        ]
        points = points_of(inside + list(self.hands[self.turn].elements()))
        return len(inside) >= 10 and points >= self.required_points(rule)

    def _try_move(self) -> str | None:
        king, goal = self.king(self.turn), (5, 1 if self.turn == "b" else 9)
        if king is None:
            return None
        move = name(king) + name(goal)
        return move if move in self.legal_moves() else None


class Game:
    """A position and all positions before it."""

    def __init__(self, sfen: str = START) -> None:
        self.positions = [Position(sfen)]
        self.cores = [self.now.core()]

    @property
    def now(self) -> Position:
        return self.positions[-1]

    def push(self, move: str) -> None:
        self.positions.append(self.now.after(move))
        self.cores.append(self.now.core())

    def repetition(self) -> str:
        """For the side to move: `none`, `draw`, `win`, `lose`; from the position's fourth time on."""
        times = [i for i, core in enumerate(self.cores) if core == self.cores[-1]]
        if len(times) < 4:
            return "none"
        return judged(self.positions[times[-4] + 1 :], self.now.turn)
