"""Off-game positions: samples of what searches of a game's positions evaluate, each scored by a search.

A search spends most of its nodes after moves that no game contains, and evaluates there: a network that learned from
games alone is worst in the positions that the search relies on. Each line of the file is a game of one move: the result
of the game that was searched, `off-game` and that game's number, the position, its best move and score.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from core_ext.board import Board
from usi_engine.learn.corpus.sources import SkippedItems
from usi_engine.learn.files import check_output
from usi_engine.learn.game import LETTERS, ScoredGame, SourceError
from usi_engine.learn.selfplay.append_games import GameLines, append_games
from usi_engine.learn.selfplay.game_file import check_game
from usi_engine.learn.selfplay.player_pool import PlayerPool
from usi_engine.player import Player

DECIDED_SCORE = 2000  # centipawns from which on positions of a game are not searched
SEARCH_NODES = 300  # of a search whose positions are sampled
OVERSAMPLING = 6  # evaluated positions noted per sample, so that samples are drawn from the whole search
OFF_GAME_LINE = re.compile(rb"[bwd]\toff-game (\d+)\t")


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


def off_game_lines(players: list[Player], number: int, game: ScoredGame, plan: OffGamePlan) -> str:
    """Make the lines of one game. ValueError for an illegal move."""
    sampler, scorer = players[0], players[number % len(players)]
    rng = random.Random(f"{sampler.rules.seed} {number}")
    lines = []
    for player in {sampler, scorer}:
        player.new_game()
    for board in boards_to_search(game, rng, -(-plan.positions // plan.samples)):
        samples = sampled(sampler, board, rng, plan.samples)
        for sample in samples:
            best, value = scorer.think(sample)
            lines.append(f"{LETTERS[game.result]}\toff-game {number}\t{sample.sfen()}\t{best} {value}\n")
    return "".join(lines[: plan.positions])


def game_number(path: Path, line: bytes) -> int:
    """Return the game's number in a line of the file. SourceError."""
    found = OFF_GAME_LINE.match(line)
    if found is None:
        quoted = line[:60].decode(errors="replace").rstrip()
        raise SourceError(f"{path} is not a file of off-game positions: '{quoted}'")
    return int(found[1])


def games_done(path: Path) -> int:
    """Cut the file off after the last game but one, which is complete, and return its number. SourceError."""
    if not path.exists():
        return 0
    lines = path.read_bytes().splitlines(keepends=True)
    if lines and not lines[-1].endswith(b"\n"):
        check_game(path, len(lines), lines.pop())
    numbers = [game_number(path, line) for line in lines]
    complete = [number for number in numbers if number < numbers[-1]]
    os.truncate(path, sum(map(len, lines[: len(complete)])))
    return complete[-1] if complete else 0


def off_game_work(players: list[Player], task: tuple[int, str, ScoredGame, OffGamePlan]) -> GameLines:
    """Make the lines of a game, or say why there are none."""
    number, place, game, plan = task
    skipped, lines = SkippedItems(), ""
    try:
        lines = off_game_lines(players, number, game, plan)
    except ValueError as error:
        skipped.add(place, str(error))
    return GameLines(lines, lines.count("\n"), skipped)


def append_off_game(pool: PlayerPool, paths: list[Path], out: Path, plan: OffGamePlan) -> tuple[int, SkippedItems]:
    """Append off-game positions of each game of `paths` to `out`; return the number of games read by this call.

    The searches of the pool's first player are sampled; its players score in turn, a game each.
    Also return the unusable items. SourceError, OSError, WeightsError.
    """
    check_output(out, paths)
    return append_games(pool, paths, out, games_done(out), work=off_game_work, setting=plan)
