"""Off-game positions: a sample of those that searches of a game's positions evaluate, each labelled by a search.

A search spends most of its nodes after moves that no game contains, and evaluates there too: a network that has seen
games alone is at its worst where the search relies on it. Each line of the file is a game of one move: the result of
the game that was searched, `off-game` and that game's number, the position, the best move in it and its score.
"""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

from core_ext.board import Board
from usi_engine.learn.files import check_output
from usi_engine.learn.game import LETTERS, Game, SourceError
from usi_engine.learn.game_by_game import Appended, append_game_by_game
from usi_engine.learn.selfplay import Player, PlayRules, check_game
from usi_engine.learn.sources import Refused

DECIDED_SCORE = 2000  # centipawns from which on a position of a game is not searched
SEARCH_NODES = 300  # of the searches whose positions are sampled
SAMPLES = 4  # positions of each such search, at most
NOTED = 6 * SAMPLES  # about as many positions are noted, for the samples to be drawn from all its depths
OFF_GAME_LINE = re.compile(rb"[bwd]\toff-game (\d+)\t")


def plies_to_search(game: Game, rng: random.Random, positions: int) -> list[int]:
    """The plies at which to search, enough for so many samples, in their order."""
    open_plies = [ply for ply, score in enumerate(game.scores) if score is not None and abs(score) < DECIDED_SCORE]
    return sorted(rng.sample(open_plies, min(-(-positions // SAMPLES), len(open_plies))))


def sampled(player: Player, board: Board, rng: random.Random) -> list[Board]:
    """Some positions that a short search evaluates; none where the game is over."""
    player.worker.sample(max(1, SEARCH_NODES // NOTED), SEARCH_NODES)
    player.think(board, nodes=SEARCH_NODES)
    lines = player.worker.samples()
    player.worker.sample(0)
    places = [Board(board.sfen()) for _ in range(min(SAMPLES, len(lines)))]
    for place, line in zip(places, rng.sample(lines, len(places)), strict=True):
        for move in line:
            place.push(move)
    return [place for place in places if place.legal_moves()]


def off_game_lines(player: Player, number: int, game: Game, positions: int) -> str:
    """The lines of one game. ValueError where it breaks a rule."""
    rng = random.Random(f"{player.rules.seed} {number}")
    chosen = plies_to_search(game, rng, positions)
    board, lines = Board(game.start), []
    player.new_game()
    for ply, move in enumerate(game.moves):
        for place in sampled(player, board, rng) if ply in chosen and board.legal_moves() else ():
            best, value = player.think(place)
            lines.append(f"{LETTERS[game.result]}\toff-game {number}\t{place.sfen()}\t{best} {value}\n")
        board.push(move)
    return "".join(lines[:positions])


def game_number(path: Path, line: bytes) -> int:
    """The game's number in a line of the file. SourceError."""
    found = OFF_GAME_LINE.match(line)
    if found is None:
        quoted = line[:60].decode(errors="replace").rstrip()
        raise SourceError(f"{path} holds something else than off-game positions: '{quoted}'")
    return int(found[1])


def games_done(path: Path) -> int:
    """Number of the last game but one in the file, whose lines are complete; later lines are cut off. SourceError."""
    if not path.exists():
        return 0
    lines = path.read_bytes().splitlines(keepends=True)
    if lines and not lines[-1].endswith(b"\n"):
        check_game(path, len(lines), lines.pop())
    numbers = [game_number(path, line) for line in lines]
    whole = [number for number in numbers if number < numbers[-1]]
    os.truncate(path, sum(map(len, lines[: len(whole)])))
    return whole[-1] if whole else 0


def work_off_game(player: Player, task: tuple[int, str, Game, int]) -> Appended:
    """The lines of a numbered and placed game, or why there are none."""
    number, place, game, positions = task
    refused = Refused()
    try:
        lines = off_game_lines(player, number, game, positions)
    except ValueError as error:
        refused.add(place, str(error))
        lines = ""
    return Appended(lines, lines.count("\n"), refused)


def make_off_game(
    weights: str, paths: list[Path], out: Path, positions: int, *, rules: PlayRules, threads: int
) -> tuple[int, Refused]:
    """Append off-game positions of each game of `paths` to `out`; returns how many games this call read.

    Also returns what could not be used. SourceError, OSError, WeightsError.
    """
    check_output(out, paths)
    return append_game_by_game(
        out, paths, games_done(out), work_off_game, positions, weights=weights, rules=rules, threads=threads
    )
