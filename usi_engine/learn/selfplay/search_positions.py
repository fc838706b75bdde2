"""Positions that searches of games evaluate, for networks to value (see distil).

A search evaluates positions that games hardly contain, and prefers lines that its evaluation overrates. Searches by the
network that will learn give the positions that it will meet. Results: docs/findings.md.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core_ext.board import Board
from core_ext.corpus import TRAINING_POSITION, GameReader
from usi_engine.evaluation.load import load_evaluation
from usi_engine.evaluation.names import INTERNAL
from usi_engine.learn.corpus.build import Positions
from usi_engine.learn.corpus.sources import GameSource, SkippedItems
from usi_engine.learn.game import ScoredGame
from usi_engine.learn.pool import Work
from usi_engine.learn.selfplay.off_game import boards_to_search
from usi_engine.player import Player, PlayRules, new_player
from usi_engine.progress import Progress

SEARCHES = 2  # of each game
NODES = (3000, 10000, 30000)  # limits of a search, drawn at random
RULES = PlayRules(max(NODES))  # for the size of the TT
EVALUATED = 1200  # positions noted in each search, about; half of them are in check or after a null move


@dataclass(frozen=True)
class SearchPositions:
    """The games to search, and the weights of the searches."""

    games: Sequence[Path]
    share: float = 1.0  # of the games
    weights: str = INTERNAL
    threads: int = 1
    seed: int = 1

    def count(self) -> int:
        """Return the number of games. SourceError, OSError, WeightsError if games or weights cannot be read."""
        load_evaluation(self.weights)
        return sum(1 for _ in GameSource(self.games).games())

    def positions(self, skipped: SkippedItems, total: int) -> Iterator[Positions]:
        """Yield the positions of each of `total` games, with score 0; count in `skipped` what cannot be used.

        SourceError, OSError, WeightsError.
        """
        source, progress = GameSource(self.games), Progress("games", total)
        tasks = ((self, *numbered) for numbered in source.games())
        for positions, fault in Work(new_player, (self.weights, RULES), search_game).results(tasks, self.threads):
            skipped.join(fault)
            progress.add(1, len(positions))
            yield positions
        skipped.join(source.skipped)


def evaluated_positions(player: Player, board: Board, nodes: int) -> Positions:
    """Return positions that a search evaluates, except those in check and after null moves."""
    player.new_game()
    lines = player.evaluated(board, nodes, nodes // EVALUATED)
    found = np.zeros(len(lines), dtype=TRAINING_POSITION)
    return found[: GameReader().read_lines(board.sfen(), lines, found)]


def search_game(player: Player, task: tuple[SearchPositions, int, str, ScoredGame]) -> tuple[Positions, SkippedItems]:
    """Return the positions of some searches of a game, none if it is not drawn."""
    plan, number, place, game = task
    rng, skipped = random.Random(f"{plan.seed} {number}"), SkippedItems()
    found = [np.zeros(0, dtype=TRAINING_POSITION)]
    if rng.random() < plan.share:
        try:
            boards = boards_to_search(game, rng, SEARCHES)
            found += [evaluated_positions(player, board, rng.choice(NODES)) for board in boards]
        except ValueError as error:
            skipped.add(place, str(error))
    return np.concatenate(found), skipped
