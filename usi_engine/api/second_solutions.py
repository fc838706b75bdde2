"""Second solutions (余詰) of a mate problem: other checks of the attacker along a solution that mate too.

Some are no fault by custom. The classes follow the list in Kazemidori's discussion of the rules (詰将棋のルール論争,
1-1-1 to 1-1-6), all of which the draft rules of the All Japan Tsume-shogi Federation (綿貫規約, 1963) accept. Stricter
judges count an exchanged order or a long alternative at the last move, so each is named with its line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from usi_engine.api.mate_lines import is_mate
from usi_engine.core import Board, MateSolver, StopToken

# Each check gets so many nodes at first; then the undecided ones get more, so that a hard one does not take all.
FIRST_NODES, GROWTH = 20_000, 8
SLIDERS = "RBL"


class Kind(Enum):
    """The class of another check."""

    SECOND = "second solution"  # 余詰
    LAST_MOVE = "last move"  # 最終手余詰: any other mate at the last move of the solution
    PROMOTION = "promotion"  # 成不成非限定: only this differs, the rest of the solution follows
    DISTANCE = "distance"  # 打ち場所の非限定: a slider checks from another square of the line; the rest follows
    ORDER = "order"  # 手順前後: mates only by a position of the solution, in the same number of plies
    DETOUR = "detour"  # 迂回手順: the same in more plies, such as after useless checks
    UNDECIDED = "undecided"  # within the limits


CUSTOMARY = frozenset(Kind) - {Kind.SECOND, Kind.UNDECIDED}


@dataclass(frozen=True)
class SecondSolution:
    """A check at `ply` (from 1) of the solution that mates too; `moves` begin with it.

    If undecided, `moves` may be only the check, or a mate that is perhaps a mere detour.
    """

    ply: int
    moves: tuple[str, ...]
    kind: Kind


class SecondSolutionSearch:
    """The other checks along `solution`, a mate from `start`. ValueError for a line that does not mate."""

    def __init__(self, start: Board, solution: Sequence[str]) -> None:
        if not plays(start, solution) or not is_mate(start, list(solution)):
            raise ValueError(f"no mate: '{' '.join(solution)}'")
        self.solution = list(solution)
        self.positions = [type(start).from_moves(solution[:ply], start.sfen()) for ply in range(0, len(solution), 2)]
        self.found: dict[tuple[int, str], SecondSolution] = {}
        self._untried = [
            (2 * number, check)
            for number, board in reversed(list(enumerate(self.positions)))
            for check in board.checking_moves(include_all=True)
            if check != solution[2 * number]
        ]
        self.total = len(self._untried)
        self.nodes = 0

    def run(self, solver: MateSolver, stop: StopToken, limit: int = 0) -> Iterator[None]:
        """Try the checks with growing numbers of nodes; yield when one is decided.

        Checks that can only be exceptions by custom are tried with FIRST_NODES only. It ends when the others are
        decided, at the stop or after `limit` nodes (0: none).
        """
        nodes = FIRST_NODES
        while self._untried:
            for ply, check in list(self._untried):
                left = limit - self.nodes if limit else nodes
                if left <= 0 or stop.is_set():
                    return
                if self._try(solver, ply, check, min(nodes, left)) or self._exception(ply, check):
                    self._untried.remove((ply, check))
                    yield
            nodes *= GROWTH

    def results(self) -> list[SecondSolution]:
        """Return what is found, by ply."""
        for ply, check in self._untried:
            if self._exception(ply, check):
                continue
            self.found.setdefault((ply, check), SecondSolution(ply + 1, (check,), Kind.UNDECIDED))
        return [self.found[key] for key in sorted(self.found)]

    def _try(self, solver: MateSolver, ply: int, check: str, nodes: int) -> bool:
        """Decide about a check if `nodes` are enough; return False if not."""
        board = self.positions[ply // 2]
        status, moves = solver.solve_check(board, check, nodes)
        self.nodes += solver.nodes
        if status == "mate":
            kind, moves = self._kind(solver, ply, moves, nodes)
            self.found[ply, check] = SecondSolution(ply + 1, tuple(moves), kind)
            return kind is not Kind.UNDECIDED
        return status == "nomate"

    def _exception(self, ply: int, check: str) -> Kind | None:
        """Return the class of a check that is an exception if it mates, by what it differs in from the solution's."""
        board, rest = self.positions[ply // 2], self.solution[ply:]
        if len(rest) == 1:
            return Kind.LAST_MOVE
        kind = difference(board, rest[0], check)
        same = followed(board, rest, check) if kind else None
        return kind if same and is_mate(board, same) else None

    def _kind(self, solver: MateSolver, ply: int, moves: list[str], nodes: int) -> tuple[Kind, list[str]]:
        """Return the class of a check that mates by `moves`, and the line to print."""
        exception, rest = self._exception(ply, moves[0]), self.solution[ply:]
        if exception or len(moves) < len(rest):
            return exception or Kind.SECOND, moves
        back = Kind.ORDER if len(moves) == len(rest) else Kind.DETOUR
        if self._rejoins(solver, ply, moves, nodes):
            return back, moves
        status, direct = solver.solve_check(self.positions[ply // 2], moves[0], nodes, self.positions)
        self.nodes += solver.nodes
        if status == "mate":
            return Kind.SECOND, direct
        return back if status == "nomate" else Kind.UNDECIDED, moves

    def _rejoins(self, solver: MateSolver, ply: int, moves: list[str], nodes: int) -> bool:
        """Return True if the rest of the solution can follow the moves by which the line is longer, and still mates,
        though these moves do not lead back to a position of the solution.
        """
        board, rest = self.positions[ply // 2], self.solution[ply:]
        line = moves[: len(moves) - len(rest)] + rest
        if len(line) == len(rest) or not plays(board, line) or not is_mate(board, line):
            return False
        after = type(board).from_moves(line[: -len(rest)], board.sfen())
        if after.key in (position.key for position in self.positions):
            return False
        status, _moves = solver.solve_check(after, rest[0], nodes)
        self.nodes += solver.nodes
        return status == "mate"


def plays(start: Board, moves: Sequence[str]) -> bool:
    """Return True if the moves are legal."""
    board = start.copy()
    for move in moves:
        if not board.is_legal(move):
            return False
        board.push(move)
    return True


def difference(board: Board, move: str, other: str) -> Kind | None:
    """Return PROMOTION or DISTANCE if the two checks differ only by that."""
    if move[:4] == other[:4]:
        return Kind.PROMOTION
    piece = move[0] if move[1] == "*" else (board.piece_at(move[:2]) or "").lstrip("+").upper()
    if move[:2] != other[:2] or move[4:] != other[4:] or piece not in SLIDERS:
        return None
    king = board.king_square(1 - board.turn) or ""
    same = direction(king, move[2:4]) == direction(king, other[2:4]) is not None
    return Kind.DISTANCE if same else None


def direction(start: str, end: str) -> tuple[int, int] | None:
    """Return the unit steps of files and ranks from one square to another; None if no line joins them."""
    files, ranks = int(end[0]) - int(start[0]), ord(end[1]) - ord(start[1])
    if files and ranks and abs(files) != abs(ranks):
        return None
    return (files > 0) - (files < 0), (ranks > 0) - (ranks < 0)


def followed(board: Board, rest: Sequence[str], check: str) -> list[str]:
    """Return `rest` with `check` as its first move; later moves of its piece start from where it stands.

    [] if one is illegal.
    """
    after, moves, square, usual = board.copy(), [check], check[2:4], rest[0][2:4]
    after.push(check)
    for number, move in enumerate(rest[1:]):
        played = move
        if number % 2 and move[:2] == usual:
            usual = move[2:4]
            moved = square + usual
            played = next((text for text in (moved + move[4:], moved, moved + "+") if after.is_legal(text)), move)
            square = usual
        if not after.is_legal(played):
            return []
        after.push(played)
        moves.append(played)
    return moves
