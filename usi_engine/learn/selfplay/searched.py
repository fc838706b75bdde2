"""Positions that the searches of games' positions evaluate, for networks to value (see distil).

A search evaluates positions that games hardly contain, and goes where its evaluation is too high. Searches by the
network that will learn give the positions it will meet. What this gained, and what not:
docs/findings.md.
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
from usi_engine.learn.corpus.sources import GameSource, Refused
from usi_engine.learn.game import Game
from usi_engine.learn.pool import Work
from usi_engine.learn.selfplay.off_game import places_to_search
from usi_engine.player import Player, PlayRules, new_player
from usi_engine.progress import Progress

SEARCHES = 2  # of each game
NODES = (3000, 10000, 30000)  # of a search: one of these by chance
RULES = PlayRules(max(NODES))  # for the size of the table
EVALUATED = 1200  # positions of each search, about; half of them are in check or after a null move


@dataclass(frozen=True)
class Searched:
    """Of which games positions are searched, and by which weights."""

    games: Sequence[Path]
    share: float = 1.0  # of the games
    weights: str = INTERNAL
    threads: int = 1
    seed: int = 1

    def count(self) -> int:
        """How many games there are. SourceError, OSError, WeightsError where games or weights cannot be read."""
        load_evaluation(self.weights)
        return sum(1 for _ in GameSource(self.games).placed())

    def positions(self, refused: Refused, total: int) -> Iterator[Positions]:
        """Those of each of so many games, of score 0; what could not be used goes into `refused`.

        SourceError, OSError, WeightsError.
        """
        source, progress = GameSource(self.games), Progress("games", total)
        tasks = ((self, *placed) for placed in source.placed())
        for positions, fault in Work(new_player, (self.weights, RULES), of_game).results(tasks, self.threads):
            refused.join(fault)
            progress.add(1, len(positions))
            yield positions
        refused.join(source.refused)


def evaluated(player: Player, board: Board, nodes: int) -> Positions:
    """Positions that a search of one position evaluates, but for those in check and after null moves."""
    player.new_game()
    lines = player.evaluated(board, nodes, nodes // EVALUATED)
    found = np.zeros(len(lines), dtype=TRAINING_POSITION)
    return found[: GameReader().read_lines(board.sfen(), lines, found)]


def of_game(player: Player, task: tuple[Searched, int, str, Game]) -> tuple[Positions, Refused]:
    """The positions of some searches of a game, if it is drawn."""
    plan, number, place, game = task
    rng, refused = random.Random(f"{plan.seed} {number}"), Refused()
    found = [np.zeros(0, dtype=TRAINING_POSITION)]
    if rng.random() < plan.share:
        try:
            boards = places_to_search(game, rng, SEARCHES)
            found += [evaluated(player, board, rng.choice(NODES)) for board in boards]
        except ValueError as error:
            refused.add(place, str(error))
    return np.concatenate(found), refused
