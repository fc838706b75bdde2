"""New scores for games: all positions, or a share of them, are searched again; moves and results stay.

The output has one line for each game, in order, so an interrupted run resumes at the end of the file.
"""

from __future__ import annotations

import os
import random
from dataclasses import replace
from itertools import islice
from pathlib import Path

from core_ext.board import Board
from usi_engine.learn.corpus.sources import GameSource, SkippedItems
from usi_engine.learn.files import check_output
from usi_engine.learn.game import ScoredGame, SourceError
from usi_engine.learn.selfplay.append_games import GameLines, append_games
from usi_engine.learn.selfplay.game_file import format_line, keys_in, line_key
from usi_engine.learn.selfplay.player_pool import PlayerPool
from usi_engine.player import Player


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


def rescore_work(players: list[Player], task: tuple[int, str, ScoredGame, float]) -> GameLines:
    """Score a game; one with an illegal move stays as it is, because a resumed run counts the lines."""
    number, place, game, share = task
    skipped = SkippedItems()
    try:
        game = rescored(players[0], number, game, share)
    except ValueError as error:
        skipped.add(place, str(error))
    return GameLines(format_line(game), len(game.moves), skipped)


def games_done(paths: list[Path], out: Path) -> int:
    """Return the number of games in `out`, and cut off an incomplete last line.

    SourceError if they are not the first ones of `paths`.
    """
    if not out.exists():
        return 0
    keys, complete = keys_in(out)
    games = islice(GameSource(paths).games(), len(keys))
    if [line_key(format_line(game)) for _, _, game in games] != keys:
        raise SourceError(f"--out {out}: its games are not the first of the input; nothing is added to this file")
    os.truncate(out, complete)
    return len(keys)


def rescore(pool: PlayerPool, paths: list[Path], out: Path, share: float) -> tuple[int, SkippedItems]:
    """Append the games of `paths` that `out` lacks, with a `share` of the positions searched again.

    Return the number of games scored now and the unusable items. SourceError, OSError, WeightsError.
    """
    check_output(out, paths)
    return append_games(pool, paths, out, games_done(paths, out), work=rescore_work, setting=share)
