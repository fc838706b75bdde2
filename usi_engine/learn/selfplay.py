"""Games for training: played by itself, scored again by new searches, and positions that searches evaluate.

The seed and the number of a game determine its random choices and the networks that play, so an interrupted run resumes
at the end of its file.
"""

import os
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import islice, product
from pathlib import Path
from typing import Any

from core_ext.board import Board
from usi_engine.evaluation.load import load_evaluation
from usi_engine.learn.corpus.sources import GameSource
from usi_engine.learn.files import named_weights
from usi_engine.learn.game import START, ScoredGame, SkippedItems, SourceError
from usi_engine.learn.game_file import PACKED_SUFFIX, TEXT_SUFFIX, appending, complete_games, reserved
from usi_engine.learn.player import Player
from usi_engine.learn.settings import OffGame, PlayRules, Rescore, Searches, SelfPlay
from usi_engine.progress import Progress
from usi_engine.records.games import opening_boards
from usi_engine.workers import Work

ATTEMPTS = 10  # at a game that is not yet in the file
DECIDED_SCORE = 2000  # centipawns from which on positions of a game are not searched for off-game positions
SEARCH_NODES = 300  # of a search whose positions are sampled
OVERSAMPLING = 6  # evaluated positions noted per sample, so that samples are drawn from the whole search
OFF_GAME = re.compile("off-game ([0-9]{1,18})")

GameTask = tuple[str, int, int, int]  # start, number of the game, and the players of Black and of White
# Makes games from a player for each evaluation, the number of a game and the game. ValueError for an illegal move.
MakeGames = Callable[[Sequence[Player], int, ScoredGame], list[ScoredGame]]


def new_players(rules: PlayRules, *weights: str) -> list[Player]:
    """Return a player for each evaluation. WeightsError."""
    return [Player(load_evaluation(name), rules) for name in weights]


def results(settings: Searches, do: Callable[[list[Player], Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
    """Yield `do(players, task)` for each task in order, see Work."""
    work = Work(new_players, (settings.rules,), do, settings.weights)
    return work.results(tasks, settings.threads, settings.scheduler)


def made(settings: Searches, command: str, **others: Any) -> dict[str, Any]:
    """Return how a command makes games, for the head of their file. OSError, WeightsError."""
    weights = [*map(named_weights, settings.weights)]
    return {"command": command, **settings.made, "weights": weights, **others}


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


def selfplay(settings: SelfPlay) -> dict[str, Any]:
    """Append games until the file has as many as it should.

    Each game is played by a pair of networks, all pairs in turn. A game that is already in the file is replaced by
    another one with the same number.
    """
    players: list[Player] = []
    openings = [board.sfen() for board in opening_boards(settings.openings)] if settings.openings else [START]
    digest = sha256("\n".join(openings).encode()).hexdigest()[:16]
    head = made(settings, "selfplay", openings=digest)
    with (
        reserved(settings.out, head, TEXT_SUFFIX, PACKED_SUFFIX) as line,
        appending(settings.out, line) as file,
        Progress("games", settings.games, len(file.keys)) as progress,
    ):
        known, numbers = set(file.keys), range(len(file.keys), settings.games)
        tasks, again = (game_tasks(openings, len(settings.weights), settings.seed, numbers) for _ in range(2))
        for task, game in zip(again, results(settings, play_task, tasks), strict=True):
            if game.key in known:
                players = players or new_players(settings, *settings.weights)
                others = (play_task(players, task, attempt) for attempt in range(1, ATTEMPTS))
                game = next((other for other in others if other.key not in known), game)  # noqa: PLW2901
            known.add(game.key)
            file.add(game)
            progress.add(1, len(game.moves))
    return {"games": len(numbers)}


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


def append_games(settings: OffGame | Rescore, head: str, make: MakeGames, begun: int, *, stays: bool) -> dict[str, Any]:
    """Append what `make` makes of each game after the first `begun`, in order.

    Return the number of these games, and a line about items that cannot be used.
    """
    source, skipped = GameSource(settings.games), SkippedItems()
    total = sum(1 for _ in GameSource(settings.games).games())
    tasks = ((*numbered, make, stays) for numbered in source.games() if numbered[0] > begun)
    with appending(settings.out, head) as file, Progress("games", total, begun) as progress:
        for games, faults in results(settings, make_games, tasks):
            for game in games:
                file.add(game)
            skipped.join(faults)
            progress.add(1, sum(len(game.moves) for game in games))
    skipped.join(source.skipped)
    if not settings.out.stat().st_size:
        raise SourceError(f"no game for {settings.out}{': ' if skipped.count else ''}{skipped.line}")
    return {"games": total - begun, "skipped": skipped.line}


def plies_to_score(game: ScoredGame, rng: random.Random, share: float) -> set[int]:
    """Draw a share of the plies. If the game has scores, plies without one are left out: their moves are random."""
    scored = any(score is not None for score in game.scores)
    candidates = [ply for ply, score in enumerate(game.scores) if score is not None or not scored]
    return {ply for ply in candidates if rng.random() < share}


def rescored(players: Sequence[Player], number: int, game: ScoredGame, share: float) -> list[ScoredGame]:
    """Return the game with the scores of new searches. ValueError for an illegal move."""
    player = players[number % len(players)]
    chosen = plies_to_score(game, random.Random(f"{player.rules.seed} {number}"), share)
    scores = list(game.scores)
    board = Board(game.start)
    player.new_game()
    for ply, move in enumerate(game.moves):
        if ply in chosen and board.legal_moves():
            scores[ply] = player.think(board)[1]
        board.push(move)
    return [replace(game, scores=scores)]


def rescore(settings: Rescore) -> dict[str, Any]:
    """Append the games that the file lacks, with a share of the positions searched again.

    Moves and results stay. A game with an illegal move stays as it is, because a resumed run counts the games.
    """
    out, make = settings.out, partial(rescored, share=settings.share)
    with reserved(out, made(settings, "rescore"), TEXT_SUFFIX, inputs=settings.games) as head:
        keys = [game.key for game, _ in complete_games(out)] if out.exists() else []
        if [game.key for _, _, game in islice(GameSource(settings.games).games(), len(keys))] != keys:
            raise SourceError(f"--out {out}: its games are not the first of the input; nothing is added to this file")
        return append_games(settings, head, make, len(keys), stays=True)


# ---- off-game positions ----


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


def off_game(players: Sequence[Player], number: int, game: ScoredGame, plan: OffGame) -> list[ScoredGame]:
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


def append_off_game(settings: OffGame) -> dict[str, Any]:
    """Append off-game positions of each game.

    A search spends most of its nodes after moves that no game contains, and evaluates there: a network that learned
    from games alone is worst in the positions that the search relies on. Each is written as a game of one move: the
    result of the game that was searched, `off-game` and that game's number, the position, its best move and score.

    The searches of the first player are sampled; all players score in turn, a game each.
    """
    with reserved(settings.out, made(settings, "off-game"), TEXT_SUFFIX, inputs=settings.games) as head:
        make = partial(off_game, plan=settings)
        return append_games(settings, head, make, games_sampled(settings.out), stays=False)
