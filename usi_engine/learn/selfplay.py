"""Games for training: played by itself, scored again by new searches, and positions that searches evaluate.

The seed and the number of a game determine its random choices and the networks that play, so an interrupted run resumes
at the end of its file.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import sha256
from itertools import islice, product
from pathlib import Path
from typing import Any

from core_ext.board import Board
from usi_engine.learn.corpus.sources import GameSource
from usi_engine.learn.files import named_weights
from usi_engine.learn.game import ScoredGame, SkippedItems, SourceError
from usi_engine.learn.game_file import PACKED_SUFFIX, TEXT_SUFFIX, appending, complete_games, reserved
from usi_engine.learn.player import Player, PlayRules, new_player
from usi_engine.learn.workers import Work
from usi_engine.progress import Progress

ATTEMPTS = 10  # at a game that is not yet in the file
DECIDED_SCORE = 2000  # centipawns from which on positions of a game are not searched for off-game positions
SEARCH_NODES = 300  # of a search whose positions are sampled
OVERSAMPLING = 6  # evaluated positions noted per sample, so that samples are drawn from the whole search
OFF_GAME = re.compile("off-game ([0-9]{1,18})")

GameTask = tuple[str, int, int, int]  # start, number of the game, and the players of Black and of White
# Makes games from a player for each evaluation, the number of a game and the game. ValueError for an illegal move.
MakeGames = Callable[[Sequence[Player], int, ScoredGame], list[ScoredGame]]


@dataclass(frozen=True)
class PlayerPool:
    """Names of evaluations, the rules by which they play, and the processes: a number, or HOST:PORT of a scheduler."""

    weights: tuple[str, ...]
    rules: PlayRules
    threads: int = 1
    scheduler: str = ""

    def players(self) -> list[Player]:
        """Return a player for each evaluation. WeightsError."""
        return new_players(self.rules, *self.weights)

    def made(self, command: str, **settings: Any) -> dict[str, Any]:
        """Return how a command makes games, for the head of their file. OSError, WeightsError."""
        weights = [*map(named_weights, self.weights)]
        return {"command": command, "weights": weights, **asdict(self.rules), **settings}

    def results(self, do: Callable[[list[Player], Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
        """Yield `do(players, task)` for each task in order, see Work."""
        return Work(new_players, (self.rules,), do, self.weights).results(tasks, self.threads, self.scheduler)


def new_players(rules: PlayRules, *weights: str) -> list[Player]:
    return [new_player(rules, name) for name in weights]


# ---- self-play ----


def play_task(players: Sequence[Player], task: GameTask, attempt: int = 0) -> ScoredGame:
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


def play_again(players: Sequence[Player], game: ScoredGame, task: GameTask, known: set[int]) -> ScoredGame:
    """Return another game with this number that is not `known`, or `game` if there seems to be none."""
    others = (play_task(players, task, attempt) for attempt in range(1, ATTEMPTS))
    return next((other for other in others if other.key not in known), game)


def selfplay(pool: PlayerPool, openings: Sequence[str], path: Path, games: int) -> int:
    """Append games to `path` until it has `games`; return the number played now.

    Each game is played by a pair of networks, all pairs in turn. A game that is already in the file is replaced by
    another one with the same number. SourceError, OSError, WeightsError.
    """
    players: list[Player] = []
    digest = sha256("\n".join(openings).encode()).hexdigest()[:16]
    with (
        reserved(path, pool.made("selfplay", openings=digest), TEXT_SUFFIX, PACKED_SUFFIX) as head,
        appending(path, head) as file,
        Progress("games", games, len(file.keys)) as progress,
    ):
        known, numbers = set(file.keys), range(len(file.keys), games)
        tasks, again = (game_tasks(openings, len(pool.weights), pool.rules.seed, numbers) for _ in range(2))
        for task, game in zip(again, pool.results(play_task, tasks), strict=True):
            if game.key in known:
                players = players or pool.players()
                game = play_again(players, game, task, known)  # noqa: PLW2901
            known.add(game.key)
            file.add(game)
            progress.add(1, len(game.moves))
    return len(numbers)


# ---- games made of games ----


def make_games(
    players: Sequence[Player], task: tuple[int, str, ScoredGame, MakeGames, bool]
) -> tuple[list[ScoredGame], SkippedItems]:
    """Return the games made of one, and its fault; a game with an illegal move makes none, or itself if it stays."""
    number, place, game, make, stays = task
    skipped = SkippedItems()
    try:
        return make(players, number, game), skipped
    except ValueError as error:
        skipped.add(place, str(error))
        return [game] * stays, skipped


def append_games(
    pool: PlayerPool, paths: list[Path], out: Path, make: MakeGames, *, head: str, begun: int, stays: bool
) -> tuple[int, SkippedItems]:
    """Append to `out` what `make` makes of each game of `paths` after the first `begun`, in order.

    Return the number of these games and the unusable items. SourceError, OSError, WeightsError.
    """
    source, skipped, total = GameSource(paths), SkippedItems(), sum(1 for _ in GameSource(paths).games())
    tasks = ((*numbered, make, stays) for numbered in source.games() if numbered[0] > begun)
    with appending(out, head) as file, Progress("games", total, begun) as progress:
        for games, faults in pool.results(make_games, tasks):
            for game in games:
                file.add(game)
            skipped.join(faults)
            progress.add(1, sum(len(game.moves) for game in games))
    skipped.join(source.skipped)
    if not out.stat().st_size:
        raise SourceError(f"no game for {out}{': ' if skipped.count else ''}{skipped.line}")
    return total - begun, skipped


def plies_to_score(game: ScoredGame, rng: random.Random, share: float) -> set[int]:
    """Draw a share of the plies. If the game has scores, plies without one are left out: their moves are random."""
    scored = any(score is not None for score in game.scores)
    candidates = [ply for ply, score in enumerate(game.scores) if score is not None or not scored]
    return {ply for ply in candidates if rng.random() < share}


def rescored(players: Sequence[Player], number: int, game: ScoredGame, share: float) -> list[ScoredGame]:
    """Return the game with the scores of new searches. ValueError for an illegal move."""
    player = players[0]
    chosen = plies_to_score(game, random.Random(f"{player.rules.seed} {number}"), share)
    scores = list(game.scores)
    board = Board(game.start)
    player.new_game()
    for ply, move in enumerate(game.moves):
        if ply in chosen and board.legal_moves():
            scores[ply] = player.think(board)[1]
        board.push(move)
    return [replace(game, scores=scores)]


def rescore(pool: PlayerPool, paths: list[Path], out: Path, share: float) -> tuple[int, SkippedItems]:
    """Append the games of `paths` that `out` lacks, with a `share` of the positions searched again.

    Moves and results stay. A game with an illegal move stays as it is, because a resumed run counts the games. Return
    the number of games scored now and the unusable items. SourceError, OSError, WeightsError.
    """
    with reserved(out, pool.made("rescore", share=share), TEXT_SUFFIX, inputs=paths) as head:
        keys = [game.key for game, _ in complete_games(out)] if out.exists() else []
        if [game.key for _, _, game in islice(GameSource(paths).games(), len(keys))] != keys:
            raise SourceError(f"--out {out}: its games are not the first of the input; nothing is added to this file")
        return append_games(pool, paths, out, partial(rescored, share=share), head=head, begun=len(keys), stays=True)


# ---- off-game positions ----


@dataclass(frozen=True)
class OffGamePlan:
    """Numbers of positions."""

    positions: int = 20  # of each game
    samples: int = 4  # most positions of each search


def boards_to_search(game: ScoredGame, rng: random.Random, count: int) -> Iterator[Board]:
    """Yield `count` undecided positions of a game in order, on one board. ValueError for an illegal move.

    If the game has scores, those without one are left out, else none is known to be decided.
    """
    scores = game.scores if any(score is not None for score in game.scores) else [0] * len(game.moves)
    undecided = [ply for ply, score in enumerate(scores) if score is not None and abs(score) < DECIDED_SCORE]
    chosen = set(rng.sample(undecided, min(count, len(undecided))))
    board = Board(game.start)
    for ply, move in enumerate(game.moves):
        if ply in chosen and board.legal_moves():
            yield board
        board.push(move)


def sampled(player: Player, board: Board, rng: random.Random, samples: int) -> list[Board]:
    """Draw positions that a short search evaluates, except those in which the game is over."""
    lines = player.evaluated(board, SEARCH_NODES, SEARCH_NODES // (OVERSAMPLING * samples))
    boards = [Board(board.sfen()) for _ in range(min(samples, len(lines)))]
    for sample, line in zip(boards, rng.sample(lines, len(boards)), strict=True):
        for move in line:
            sample.push(move)
    return [sample for sample in boards if sample.legal_moves()]


def off_game(players: Sequence[Player], number: int, game: ScoredGame, plan: OffGamePlan) -> list[ScoredGame]:
    """Return the positions of one game. ValueError for an illegal move."""
    sampler, scorer = players[0], players[number % len(players)]
    rng, found = random.Random(f"{sampler.rules.seed} {number}"), list[ScoredGame]()
    for player in {sampler, scorer}:
        player.new_game()
    for board in boards_to_search(game, rng, -(-plan.positions // plan.samples)):
        for sample in sampled(sampler, board, rng, plan.samples):
            best, value = scorer.think(sample)
            found.append(ScoredGame(sample.sfen(), [best], [value], game.result, f"off-game {number}"))
    return found[: plan.positions]


def games_sampled(path: Path) -> int:
    """Cut the file off after the last game but one, which is complete, and return its number. SourceError."""
    done = last = kept = before = 0
    for game, end in complete_games(path) if path.exists() else ():
        found = OFF_GAME.fullmatch(game.ending)
        if found is None:
            raise SourceError(f"{path} is not a file of off-game positions: '{game.line[:60].rstrip()}'")
        if int(found[1]) != last:
            done, last, kept = last, int(found[1]), before
        before = end
    if last:
        os.truncate(path, kept)
    return done


def append_off_game(pool: PlayerPool, paths: list[Path], out: Path, plan: OffGamePlan) -> tuple[int, SkippedItems]:
    """Append off-game positions of each game of `paths` to `out`; return the number of games read by this call.

    A search spends most of its nodes after moves that no game contains, and evaluates there: a network that learned
    from games alone is worst in the positions that the search relies on. Each is written as a game of one move: the
    result of the game that was searched, `off-game` and that game's number, the position, its best move and score.

    The searches of the pool's first player are sampled; its players score in turn, a game each.
    Also return the unusable items. SourceError, OSError, WeightsError.
    """
    make = partial(off_game, plan=plan)
    with reserved(out, pool.made("off-game", **asdict(plan)), TEXT_SUFFIX, inputs=paths) as head:
        return append_games(pool, paths, out, make, head=head, begun=games_sampled(out), stays=False)
