"""Games with new scores: each position, or a share of them, searched again; moves and results stay.

One line for each game, in their order, so that an interrupted run resumes where the file ends.
"""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

from core_ext.board import Board
from usi_engine.learn.corpus.sources import Refused
from usi_engine.learn.files import check_output
from usi_engine.learn.game import LETTERS, START, Game
from usi_engine.learn.selfplay.append_games import Appended, append_game_by_game
from usi_engine.learn.selfplay.play import keys_in
from usi_engine.player import Player, PlayRules


def line_of(game: Game) -> str:
    """A game as a line of the text format."""
    start = "startpos" if game.start == START else game.start
    words = (f"{move} {'-' if score is None else score}" for move, score in zip(game.moves, game.scores, strict=True))
    return f"{LETTERS[game.result]}\t{game.ending}\t{start}\t{' '.join(words)}\n"


def plies_to_score(game: Game, rng: random.Random, share: float) -> set[int]:
    """A share of the positions; of a game with scores, those without one are left: chance chose the move there."""
    scored = any(score is not None for score in game.scores)
    candidates = [ply for ply, score in enumerate(game.scores) if score is not None or not scored]
    return {ply for ply in candidates if rng.random() < share}


def rescored(player: Player, number: int, game: Game, share: float) -> Game:
    """The game with the scores of new searches. ValueError for an illegal move."""
    chosen = plies_to_score(game, random.Random(f"{player.rules.seed} {number}"), share)
    scores = list(game.scores)
    board = Board(game.start)
    player.new_game()
    for ply, move in enumerate(game.moves):
        if ply in chosen and board.legal_moves():
            scores[ply] = player.think(board)[1]
        board.push(move)
    return replace(game, scores=scores)


def work_rescore(player: Player, task: tuple[int, str, Game, float]) -> Appended:
    """A numbered and placed game with new scores; where it breaks a rule, as it was, so that the lines still count."""
    number, place, game, share = task
    refused = Refused()
    try:
        game = rescored(player, number, game, share)
    except ValueError as error:
        refused.add(place, str(error))
    return Appended(line_of(game), len(game.moves), refused)


def rescore(
    weights: str, paths: list[Path], out: Path, share: float, *, rules: PlayRules, threads: int
) -> tuple[int, Refused]:
    """Append the games of `paths` to `out` until it holds all, a `share` of the positions searched by `rules.nodes`.

    Returns how many games were scored now, and what could not be used. SourceError, OSError, WeightsError.
    """
    check_output(out, paths)
    return append_game_by_game(
        out, paths, len(keys_in(out)), work_rescore, share, weights=weights, rules=rules, threads=threads
    )
