"""Play a round robin of the levels of `SkillLevel` and of a capture player below them, which looks one ply ahead.

    nice python -m bench.strength.levels --games 2 --neighbours 20 --keep runs/levels

Each pair of players plays --games games from openings with both colours, neighbours --neighbours games. The table shows
the Elo of each player by maximum likelihood (Bradley and Terry), with level 0 at 0, and its score against the player
before it with a 95 % interval. Level 20 is full strength at --full nodes a move. The same command resumes:
FOLDER/games.jsonl has one line of JSON for a pair of games; games of other --levels may be added to it. --figure writes
the data of the chart (docs/figures/levels.py).
"""

import argparse
import itertools
import json
import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.command import new_parser, one_line
from core_ext.board import Board
from usi_engine.core import board_of
from usi_engine.learn.player import Player
from usi_engine.learn.settings import PlayRules
from usi_engine.match.elo import Estimate, estimate
from usi_engine.match.report import print_table
from usi_engine.match.runs import Row as Kept
from usi_engine.match.runs import add_run_options, kept_rows, play_missing, shuffled_openings
from usi_engine.rules import LiveGame
from usi_engine.search.resources import Resources
from usi_engine.search.search import search
from usi_engine.search.search_control import SearchControl
from usi_engine.search.skill import FULL_STRENGTH
from usi_engine.search.spec import spec_of
from usi_engine.search.timeman import TimeLimits
from usi_engine.usi.arguments import whole
from usi_engine.usi.info import MAX_DEPTH
from usi_engine.usi.options import Options
from usi_engine.usi.protocol import Go
from usi_engine.workers import Work

CAPTURER = -1  # number of the capture player
LONGEST = 400  # plies after which a game is a draw
PIECES = {"P": 1, "L": 3, "N": 3, "S": 5, "G": 6, "B": 8, "R": 10, "K": 100}
PROMOTION = 3
PRIOR_GAMES = 0.5  # imaginary draws between neighbours, so that no rating is infinite
ITERATIONS = 3000

Score = dict[tuple[int, int], list[float]]  # points of the stronger player in each game, by pair of players


class Players:
    """Moves of the levels, of full strength at a number of nodes, and of the capture player."""

    def __init__(self, full_nodes: int, openings: list[str]) -> None:
        self.openings = openings
        self._resources = Resources(Options(), print)
        self._full = Player(self._resources.weights, PlayRules(nodes=full_nodes))

    def new_game(self) -> None:
        self._full.new_game()

    def move(self, level: int, board: Board, seed: int) -> str:
        """Return a player's move; `seed` is that of the game."""
        if level == CAPTURER:
            return capture(board, seed)
        if level == FULL_STRENGTH:
            return self._full.think(board)[0]
        resources = self._resources
        resources.options.set("SkillLevel", str(level))
        resources.game_seed = seed
        spec = spec_of(resources.options, Go(depth=MAX_DEPTH), board)
        return search(resources, spec, SearchControl(resources.stop, TimeLimits())).best.move


def capture(board: Board, seed: int) -> str:
    """Return the move with the greatest gain; draw among equal ones."""
    rng = random.Random(f"{seed} {board.key}")
    return max(board.legal_moves(), key=lambda move: (gain(board, move), rng.random()))


def gain(board: Board, move: str) -> int:
    """Return the value of capture and promotion in pawns."""
    captured = board.piece_at(move[2:4])
    return (PIECES[captured[-1].upper()] if captured else 0) + PROMOTION * move.endswith("+")


def play(players: Players, opening: str, black: int, white: int, seed: int) -> tuple[float, int]:
    """Return Black's points and the number of plies."""
    players.new_game()
    game = LiveGame(opening)
    for ply in range(LONGEST):
        if game.end is None and game.board.can_declare():
            game.declare()
        if game.end is not None:
            return {0: 1.0, 1: 0.0, None: 0.5}[game.end.winner], ply
        game.push(players.move((black, white)[game.turn], game.board, seed))
    return 0.5, LONGEST


def play_pair(players: Players, task: tuple[tuple[int, int], int]) -> Kept:
    """Play an opening with both colours; return the points of the first player."""
    (first, second), number = task
    place = pair_index((first, second), number)
    opening, seed = players.openings[place % len(players.openings)], 2 * place
    as_black, plies = play(players, opening, first, second, seed)
    as_white, more = play(players, opening, second, first, seed + 1)
    return {"pair": [first, second], "number": number, "points": [as_black, 1 - as_white], "plies": [plies, more]}


def pair_index(pair: tuple[int, int], number: int) -> int:
    """Return the index of a pair of games' opening and seed; each pair of players starts at another index."""
    return random.Random(f"{pair}").randrange(1 << 16) + number


def schedule(levels: Sequence[int], games: int, neighbours: int) -> Iterator[tuple[tuple[int, int], int]]:
    """Yield pairs of players, the stronger first, with the number of their pair of games.

    Neighbours come first, beginning with the weakest, whose games are short.
    """
    near = [(stronger, weaker) for weaker, stronger in itertools.pairwise(sorted(levels))]
    every = [(stronger, weaker) for stronger in sorted(levels) for weaker in sorted(levels) if weaker < stronger]
    far = [pair for pair in every if pair not in near]
    for pairs, count in ((near, neighbours), (far, games)):
        for number in range((count + 1) // 2):
            yield from ((pair, number) for pair in pairs)


def sum_scores(records: Iterable[Mapping[str, Any]]) -> Score:
    found: Score = {}
    for record in records:
        first, second = record["pair"]
        found.setdefault((first, second), []).extend(record["points"])
    return found


def ratings(scores: Score) -> dict[int, float]:
    """Return the Elo of each player by maximum likelihood, with level 0 (or else the weakest) at 0."""
    players = sorted({player for pair in scores for player in pair})
    results = [(*pair, sum(points), float(len(points))) for pair, points in scores.items()]
    results += [(high, low, PRIOR_GAMES / 2, PRIOR_GAMES) for low, high in itertools.pairwise(players)]
    won = dict.fromkeys(players, 0.0)
    for first, second, points, games in results:
        won[first] += points
        won[second] += games - points
    strength = dict.fromkeys(players, 1.0)
    for _ in range(ITERATIONS):
        shares = dict.fromkeys(players, 0.0)
        for first, second, _, games in results:
            share = games / (strength[first] + strength[second])
            shares[first] += share
            shares[second] += share
        strength = {player: won[player] / shares[player] for player in players}
    base = strength[0 if 0 in strength else players[0]]
    return {player: 400 * math.log10(value / base) for player, value in strength.items()}


@dataclass(frozen=True)
class Row:
    """Elo and number of games of a player, and its score against the next weaker player."""

    level: int
    elo: float
    games: int
    against_next: Estimate | None
    games_against_next: int

    def cells(self) -> list[object]:
        name = "captures" if self.level == CAPTURER else str(self.level)
        score = "score {} % ({}), Elo {} ({})".format(*self.against_next.texts()) if self.against_next else ""
        return [name, f"{self.elo:+.0f}", self.games, score, self.games_against_next or ""]

    def figures(self) -> dict[str, int | None]:
        """Return the data of the chart."""
        score = round(100 * self.against_next.score) if self.against_next else None
        return {"level": self.level, "elo": round(self.elo), "games": self.games, "score": score}


def make_rows(scores: Score) -> list[Row]:
    """Return the rows of the table, the weakest player first."""
    elo, rows = ratings(scores), list[Row]()
    for below, level in itertools.pairwise([None, *sorted(elo)]):
        assert level is not None
        games = sum(len(points) for pair, points in scores.items() if level in pair)
        own = [] if below is None else scores.get((level, below), [])
        rows.append(Row(level, elo[level], games, estimate(own) if own else None, len(own)))
    return rows


def run(chosen: argparse.Namespace) -> None:
    """Play the missing games, then print the table. ValueError if there is one player only."""
    levels = [CAPTURER] * (0 in chosen.levels) + chosen.levels
    if len(levels) < 2:
        raise ValueError("--levels: name two or more")
    kept = kept_rows(chosen, "games.jsonl", ("levels", "neighbours", "figure"))
    played = {(*row["pair"], row["number"]) for row in kept.rows}
    order = schedule(levels, chosen.games, chosen.neighbours)
    tasks = [(pair, number) for pair, number in order if (*pair, number) not in played]
    work, total = (
        Work(
            Players,
            (chosen.full, [board_of(opening).sfen() for opening in shuffled_openings(chosen)]),
            play_pair,
        ),
        len(kept.rows) + len(tasks),
    )
    for _row in play_missing(kept, work, tasks, chosen, total=total):
        pass
    rows = make_rows(sum_scores(kept.rows))
    print_table(("level", "Elo", "games", "against the one before", "games"), [row.cells() for row in rows])
    if chosen.figure:
        chosen.figure.write_text(json.dumps([row.figures() for row in rows], indent=1) + "\n", encoding="utf-8")


def parse() -> argparse.Namespace:
    parser = new_parser(__doc__)
    every_second = list(range(0, FULL_STRENGTH + 1, 2))
    parser.add_argument("--levels", type=whole(0, FULL_STRENGTH), nargs="+", default=every_second)
    parser.add_argument("--games", type=whole(1), default=2, help="games of each pair of players")
    parser.add_argument("--neighbours", type=whole(1), default=20, help="games of neighbours")
    parser.add_argument("--full", type=whole(1), default=200_000, help="nodes a move of level 20")
    add_run_options(parser, 1)
    parser.add_argument("--keep", type=Path, required=True, help="folder of the record; a run there is resumed")
    parser.add_argument("--figure", type=Path, help="write the data of the chart to this file")
    return parser.parse_args()


if __name__ == "__main__":
    with one_line("levels"):
        run(parse())
