"""A worker that plays whole games in Python: one thread, its own table. Used by self-play and the benches."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core_ext.board import BLACK, Board
from core_ext.engine import INFINITE, MATE_BOUND, MAX_DEPTH, StopToken, Table, Worker
from usi_engine.core import board_of, load_core
from usi_engine.evaluation.load import load_evaluation
from usi_engine.search.iterative import iterative_deepening

if TYPE_CHECKING:
    from core_ext.engine import Evaluation

# The table has room for ten entries per node of one search, and at least this many megabytes.
TABLE_MEGABYTES = 8
TABLE_BYTES_PER_NODE = 160
# An opening move is drawn from at most this many lines.
OPENING_LINES = 8
# Nodes for all these lines together, as a multiple of a move's nodes; the depth that reaches them is finished.
OPENING_NODES = 2


@dataclass(frozen=True)
class PlayRules:
    """How the games are played."""

    nodes: int = 1500
    random_plies: int = 8
    random_share: float = 0.5  # of the opening moves; the others are searched
    opening_margin: int = 0  # centipawns; if set, every opening move is drawn from those so near to the best one
    later_random_share: float = 0.0  # of the moves after the opening, while the score is within `later_random_score`
    later_random_score: int = 1500
    longest: int = 320  # plies; then the game is a draw
    resign: int = 1500  # centipawns that end a game after `resign_plies` in a row
    resign_plies: int = 4
    play_out_share: float = 0.1  # of the games, which go on to their end, so that endings are learned too
    seed: int = 1


@dataclass
class Played:
    """A finished game."""

    start: str
    words: list[str]  # moves, each followed by its score or `-`
    result: str  # b, w, d
    ending: str

    @property
    def line(self) -> str:
        """Its line in the file."""
        return f"{self.result}\t{self.ending}\t{self.start}\t{' '.join(self.words)}\n"

    @property
    def key(self) -> int:
        """Equal for games of equal moves, whatever their scores; of this process only."""
        return key_of(self.start, self.words)


def key_of(start: str, words: Sequence[str]) -> int:
    """Hash of start and moves; every other word is a score."""
    return hash((start, *words[::2]))


class Player:
    """One process's worker and table."""

    def __init__(self, weights: Evaluation | None, rules: PlayRules) -> None:
        self.rules = rules
        self._core = load_core()
        self.table = Table(max(TABLE_MEGABYTES, rules.nodes * TABLE_BYTES_PER_NODE >> 20))
        self.worker = Worker(self.table, StopToken(), weights)
        self.worker.configure()

    def new_game(self) -> None:
        """Clear the table and the histories."""
        self.table.clear()
        self.worker.new_game()

    def evaluated(self, board: Board, nodes: int, every: int) -> list[list[str]]:
        """The lines to every so many-th position that a search evaluates, but for those after a null move."""
        self.worker.sample(max(1, every), nodes)
        self.think(board, nodes=nodes)
        lines = self.worker.samples()
        self.worker.sample(0)
        return lines

    def think(self, board: Board, moves: Sequence[str] | None = None, nodes: int = 0) -> tuple[str, int]:
        """The best move (of `moves`, if given) and its value for the side to move. `nodes`: in place of the rules'."""
        limit = nodes or self.rules.nodes
        self.worker.set_root(board, moves)
        self.table.new_search()
        best = self.worker.lines(1)[0]
        for _ in iterative_deepening(self._core, self.worker, MAX_DEPTH, limit):
            best = self.worker.lines(1)[0]
            if self.worker.nodes >= limit or abs(best.value) >= MATE_BOUND:
                break
        if self.worker.stopped:  # within a depth: its best move so far, unless its value is only an upper bound
            line = self.worker.lines(1)[0]
            best = line if line.value != -INFINITE and line.bound != "upper" else best
        return best.pv[0], best.value if best.value != -INFINITE else 0

    def near_best(self, board: Board, margin: int) -> list[str]:
        """The best move and those at most `margin` centipawns below it, of the first OPENING_LINES."""
        limit = OPENING_NODES * self.rules.nodes
        lines = min(OPENING_LINES, self.worker.set_root(board))
        self.table.new_search()
        found: list[tuple[str, int]] = []
        for _ in iterative_deepening(self._core, self.worker, MAX_DEPTH, multipv=lines):
            found = [(line.pv[0], line.value) for line in self.worker.lines(lines)]
            if self.worker.nodes >= limit or abs(found[0][1]) >= MATE_BOUND:
                break
        least = max(value for _, value in found) - margin
        return [move for move, value in found if value >= least]

    def _random_share(self, ply: int, value: int) -> float:
        """How likely the move at this ply is random."""
        rules = self.rules
        if ply < rules.random_plies:
            return rules.random_share
        return rules.later_random_share if abs(value) <= rules.later_random_score else 0.0

    def _choose(self, board: Board, ply: int, rng: random.Random) -> tuple[str, int | None]:
        """The next move of a game and its value for the side to move; None where chance chose the move."""
        if self.rules.opening_margin and ply < self.rules.random_plies:
            return rng.choice(self.near_best(board, self.rules.opening_margin)), None
        move, value = self.think(board)
        if rng.random() < self._random_share(ply, value):
            return rng.choice(board.legal_moves()), None
        return move, value

    def play(self, start: str, number: int, attempt: int = 0) -> Played:
        """One whole game; another one with each `attempt`."""
        rng = random.Random(f"{self.rules.seed} {number}" + (f" {attempt}" if attempt else ""))
        board, resignable = Board(start), 0
        resigns = rng.random() >= self.rules.play_out_share
        words: list[str] = []
        self.new_game()
        for ply in range(self.rules.longest):
            ended = ending_of(board)
            if ended:
                return Played(start, words, *ended)
            move, value = self._choose(board, ply, rng)
            words += [move, "-" if value is None else str(value)]
            if value is not None:
                resignable = resignable + 1 if abs(value) >= self.rules.resign else 0
                if resigns and resignable >= self.rules.resign_plies:
                    return Played(start, words, winner(board, value > 0), "score")
            board.push(move)
        return Played(start, words, "d", "length")


def new_player(weights: str, rules: PlayRules) -> Player:
    """A player with the weights of this name. WeightsError."""
    return Player(load_evaluation(weights), rules)


def winner(board: Board, mover: bool) -> str:
    """`b` or `w`: the side to move, or the other one."""
    return "b" if (board.turn == BLACK) == mover else "w"


def ending_of(board: Board) -> tuple[str, str] | None:
    """Result and reason where the game is over by the rules."""
    if not board.legal_moves():
        return winner(board, False), "mate"
    if board.can_declare():
        return winner(board, True), "declaration"
    repeated = board.repetition()
    if repeated == "none":
        return None
    if repeated == "draw":
        return "d", "repetition"
    return winner(board, repeated == "win"), "perpetual"


def read_openings(path: Path | None) -> list[str]:
    """The sfen of each line of a file of sfens or `startpos moves ...`; without a file the start position."""
    if path is None:
        return ["startpos"]
    core, found = load_core(), list[str]()
    for number, line in enumerate(path.read_text(encoding="utf-8-sig", errors="replace").splitlines(), 1):
        try:
            found += [board_of(core, line.strip()).sfen()] if line.strip() else []
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
    if not found:
        raise ValueError(f"{path} holds no position")
    return found
