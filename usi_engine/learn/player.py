"""Whole games played by one worker with its own TT, for self-play and the benches."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from core_ext.board import BLACK, WHITE, Board
from core_ext.engine import Evaluation, RootLine, StopToken, Table, Worker, set_tunable, tunable
from usi_engine.learn.game import ScoredGame
from usi_engine.learn.settings import PlayRules
from usi_engine.rules import End, Lead, end_by_rule
from usi_engine.search.iterative import iterative_deepening
from usi_engine.usi.info import INFINITE, MATE_BOUND, MAX_DEPTH

# Size of the TT: ten entries per node of one search, at least TABLE_MEGABYTES.
TABLE_MEGABYTES = 8
TABLE_BYTES_PER_NODE = 160
# Search constants without late move pruning, reductions and quiescence limits.
FULL_WIDTH = {"LmpBase": 40, "AfterAlpha": 0, "LmrMinDepth": 20, "QuiescenceMoves": 100}
# Number of lines that an opening move is drawn from.
OPENING_LINES = 8
# Nodes of all these lines, as a multiple of a move's nodes; the depth that reaches them is finished.
OPENING_NODES = 2
RESIGN_PLIES = 4
DECLARATION = "CSARule27"
# Words in files of games for ends by rule; the others are called by their reason.
ENDINGS = {"checkmate": "mate", "no moves": "mate", "perpetual check": "perpetual"}


@contextmanager
def search_constants(values: Mapping[str, int]) -> Iterator[None]:
    """Give search constants other values in this process."""
    before = {name: tunable(name) for name in values}
    try:
        for name, value in values.items():
            set_tunable(name, value)
        yield
    finally:
        for name, value in before.items():
            set_tunable(name, value)


class Player:
    """A worker and its TT."""

    def __init__(self, weights: Evaluation | None, rules: PlayRules) -> None:
        self.rules = rules
        self.table = Table(max(TABLE_MEGABYTES, rules.nodes * TABLE_BYTES_PER_NODE >> 20))
        self.worker = Worker(self.table, StopToken(), weights)
        self.worker.configure()

    def new_game(self) -> None:
        """Clear TT and histories."""
        self.table.clear()
        self.worker.new_game()

    def evaluated(self, board: Board, nodes: int, every: int) -> list[list[str]]:
        """Return the moves to every `every`-th position that a search evaluates, except those after a null move.

        The search is that of play, never full-width.
        """
        self.worker.sample(max(1, every), nodes)
        self._search(board, nodes)
        lines = self.worker.samples()
        self.worker.sample(0)
        return lines

    def think(self, board: Board, moves: Sequence[str] | None = None, nodes: int = 0) -> tuple[str, int]:
        """Return the best move (of `moves` if given) and its value for the side to move; `nodes`: limit of its own."""
        with search_constants(FULL_WIDTH if self.rules.full_width else {}):
            return self._search(board, nodes or self.rules.nodes, moves)

    def _search(self, board: Board, limit: int, moves: Sequence[str] | None = None) -> tuple[str, int]:
        self.worker.set_root(board, moves)
        best = self._deepen(limit, 1, limit)[0]
        if self.worker.stopped:  # within an iteration: take its best move so far, unless it failed low
            line = self.worker.lines(1)[0]
            best = line if line.value != -INFINITE and line.bound != "upper" else best
        return best.pv[0], best.value if best.value != -INFINITE else 0

    def near_best(self, board: Board, margin: int) -> list[str]:
        """Return the moves at most `margin` centipawns below the best, among the first OPENING_LINES."""
        lines = min(OPENING_LINES, self.worker.set_root(board))
        found = self._deepen(OPENING_NODES * self.rules.nodes, lines)
        least = max(line.value for line in found) - margin
        return [line.pv[0] for line in found if line.value >= least]

    def _deepen(self, enough: int, multipv: int, node_limit: int = 0) -> list[RootLine]:
        """Return the lines of the depth that reaches `enough` nodes or a mate, or else of the last complete one."""
        self.table.new_search()
        found = self.worker.lines(multipv)
        for _ in iterative_deepening(self.worker, MAX_DEPTH, node_limit, multipv=multipv):
            found = self.worker.lines(multipv)
            if self.worker.nodes >= enough or abs(found[0].value) >= MATE_BOUND:
                break
        return found

    def _random_share(self, ply: int, value: int) -> float:
        """Return the probability of a random move at this ply."""
        rules = self.rules
        if ply < rules.opening_plies:
            return rules.random_share
        return rules.random_moves if abs(value) <= rules.random_score else 0.0

    def _choose(self, board: Board, ply: int, rng: random.Random) -> tuple[str, int | None]:
        """Return the next move of a game and its value for the side to move, None for a random move."""
        if self.rules.opening_margin and ply < self.rules.opening_plies:
            return rng.choice(self.near_best(board, self.rules.opening_margin)), None
        move, value = self.think(board)
        if rng.random() < self._random_share(ply, value):
            return rng.choice(board.legal_moves()), None
        return move, value

    def play(self, start: str, number: int, attempt: int = 0, white: Player | None = None) -> ScoredGame:
        """Play a whole game, against itself or as Black against `white`; another one with each `attempt`."""
        rng = random.Random(f"{self.rules.seed} {number}" + (f" {attempt}" if attempt else ""))
        board, lead = Board(start), Lead(self.rules.resign)
        resigns, scores, end = rng.random() >= self.rules.play_out, list[int | None](), None
        players = (self, white or self)
        for player in {*players}:
            player.new_game()
        while end is None and len(scores) < self.rules.longest:
            end = end_by_rule(board, DECLARATION)
            if end is None:
                move, value = players[board.turn]._choose(board, len(scores), rng)
                scores.append(value)
                lead.add(board.turn, value)
                if resigns and lead.plies >= RESIGN_PLIES:
                    end = End("score", lead.winner)
                board.push(move)
        end = end or End("length")
        result = {BLACK: 1, WHITE: -1, None: 0}[end.winner]
        return ScoredGame(Board(start).sfen(), board.moves(), scores, result, ENDINGS.get(end.reason, end.reason))
