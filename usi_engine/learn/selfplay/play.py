"""Self-play games, scored by their own search, in the formats that learn.corpus.sources reads.

The seed and the number of a game determine its random choices and the networks that play, so an interrupted run resumes
at the end of the file. A game that is already in the file is replaced by another one with the same number.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from usi_engine.learn.selfplay.game_file import appending, line_key
from usi_engine.learn.selfplay.player_pool import PlayerPool
from usi_engine.player import Played, Player
from usi_engine.progress import Progress

ATTEMPTS = 10  # at a game that is not yet in the file

GameTask = tuple[str, int, int, int]  # start, number of the game, and the players of Black and of White


def play_task(players: Sequence[Player], task: GameTask, attempt: int = 0) -> Played:
    start, number, black, white = task
    return players[black].play(start, number, attempt, players[white])


def game_tasks(openings: Sequence[str], networks: int, seed: int, numbers: range) -> Iterator[GameTask]:
    """Yield the games with these numbers: openings and pairs of networks in turn, both shuffled by the seed.

    Each time all openings were played, the pairs move on by one, so that each opening meets each pair.
    """
    order = random.Random(seed).sample(openings, len(openings))
    pairs = random.Random(seed).sample([*product(range(networks), repeat=2)], networks**2)
    for number in numbers:
        turn, place = divmod(number, len(order))
        black, white = pairs[(place + turn) % len(pairs)]
        yield order[place], number, black, white


def replayed(players: Sequence[Player], game: Played, task: GameTask, known: set[int]) -> Played:
    """Return another game with this number that is not `known`, or `game` if there seems to be none."""
    others = (play_task(players, task, attempt) for attempt in range(1, ATTEMPTS))
    return next((other for other in others if line_key(other.line) not in known), game)


def selfplay(pool: PlayerPool, openings: Sequence[str], path: Path, games: int) -> int:
    """Append games to `path` until it has `games`; return the number played now.

    Each game is played by a pair of networks, all pairs in turn. SourceError, OSError, WeightsError.
    """
    players: list[Player] = []
    with appending(path) as file:
        begun, known = len(file.keys), set(file.keys)
        numbers = range(begun, games)
        tasks, again = (game_tasks(openings, len(pool.weights), pool.rules.seed, numbers) for _ in range(2))
        results = pool.results(play_task, tasks)
        with Progress("games", games, begun) as progress:
            for task, game in zip(again, results, strict=True):
                if line_key(game.line) in known:
                    players = players or pool.players()
                    game = replayed(players, game, task, known)  # noqa: PLW2901
                known.add(line_key(game.line))
                file.add(game.line)
                progress.add(1, len(game.words) // 2)
    return len(numbers)
