"""New scores for games: all positions, or a share of them, are searched again; moves and results stay.

The output has one line for each game, in order, so an interrupted run resumes at the end of the file.
"""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

from core_ext.board import Board
from usi_engine.learn.corpus.sources import SkippedItems
from usi_engine.learn.files import check_output
from usi_engine.learn.game import LETTERS, START, ScoredGame
from usi_engine.learn.selfplay.append_games import GameLines, append_games
from usi_engine.learn.selfplay.play import keys_in
from usi_engine.player import Player, PlayRules


def line_of(game: ScoredGame) -> str:
    start = "startpos" if game.start == START else game.start
    words = (f"{move} {'-' if score is None else score}" for move, score in zip(game.moves, game.scores, strict=True))
    return f"{LETTERS[game.result]}\t{game.ending}\t{start}\t{' '.join(words)}\n"


def plies_to_score(game: ScoredGame, rng: random.Random, share: float) -> set[int]:
    """Draw a share of the plies. If the game has scores, plies without one are left out: their moves are random."""
    scored = any(score is not None for score in game.scores)
    candidates = [ply for ply, score in enumerate(game.scores) if score is not None or not scored]
    return {ply for ply in candidates if rng.random() < share}


def rescored(player: Player, number: int, game: ScoredGame, share: float) -> ScoredGame:
    """Return the game with the scores of new searches. ValueError for an illegal move."""
    chosen = plies_to_score(game, random.Random(f"{player.rules.seed} {number}"), share)
    scores = list(game.scores)
    board = Board(game.start)
    player.new_game()
    for ply, move in enumerate(game.moves):
        if ply in chosen and board.legal_moves():
            scores[ply] = player.think(board)[1]
        board.push(move)
    return replace(game, scores=scores)


def rescore_work(player: Player, task: tuple[int, str, ScoredGame, float]) -> GameLines:
    """Score a game; one with an illegal move stays as it is, because a resumed run counts the lines."""
    number, place, game, share = task
    skipped = SkippedItems()
    try:
        game = rescored(player, number, game, share)
    except ValueError as error:
        skipped.add(place, str(error))
    return GameLines(line_of(game), len(game.moves), skipped)


def rescore(
    weights: str, paths: list[Path], out: Path, share: float, *, rules: PlayRules, threads: int
) -> tuple[int, SkippedItems]:
    """Append the games of `paths` that `out` lacks, with a `share` of the positions searched again to `rules.nodes`.

    Return the number of games scored now and the unusable items. SourceError, OSError, WeightsError.
    """
    check_output(out, paths)
    return append_games(
        out, paths, len(keys_in(out)), rescore_work, share, weights=weights, rules=rules, threads=threads
    )
