"""Off-game positions: a sample of those that searches of a game's positions evaluate, each labelled by a search.

A search spends most of its nodes after moves that no game contains, and evaluates there too: a network that has seen
games alone is at its worst where the search relies on it. Each line of the file is a game of one move: the result of
the game that was searched, `off-game` and that game's number, the position, the best move in it and its score.

The score is that of a search of some hundred nodes, or of a full-window search of a few plies that leaves no late move
out: one ply (140 nodes) is nearer to a search of 40,000 nodes than 600 nodes of the selective search
(docs/findings.md).
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from core_ext.board import Board
from core_ext.engine import INFINITE, set_tunable, tunable
from usi_engine.learn.corpus.sources import Refused
from usi_engine.learn.files import check_output
from usi_engine.learn.game import LETTERS, Game, SourceError
from usi_engine.learn.selfplay.append_games import Appended, append_game_by_game
from usi_engine.learn.selfplay.play import check_game
from usi_engine.player import Player, PlayRules

DECIDED_SCORE = 2000  # centipawns from which on a position of a game is not searched
SEARCH_NODES = 300  # of the searches whose positions are sampled
NOTED = 6  # times as many positions are noted, for the samples to be drawn from all its depths
# The rules that make a search of few plies worse than one of a single ply.
UNSELECTIVE = {"LmpBase": 40, "AfterAlpha": 0, "LmrMinDepth": 20, "QuiescenceMoves": 100}
OFF_GAME_LINE = re.compile(rb"[bwd]\toff-game (\d+)\t")


@dataclass(frozen=True)
class OffGame:
    """Which positions, and how they are scored."""

    positions: int = 20  # of each game
    samples: int = 4  # positions of each search, at most
    plies: int = 0  # of the search that scores; 0 = by the rules' nodes


def places_to_search(game: Game, rng: random.Random, count: int) -> Iterator[Board]:
    """So many undecided positions of a game, in their order, as a board that goes on. ValueError for a broken rule."""
    undecided = [ply for ply, score in enumerate(game.scores) if score is not None and abs(score) < DECIDED_SCORE]
    chosen = set(rng.sample(undecided, min(count, len(undecided))))
    board = Board(game.start)
    for ply, move in enumerate(game.moves):
        if ply in chosen and board.legal_moves():
            yield board
        board.push(move)


def sampled(player: Player, board: Board, rng: random.Random, samples: int) -> list[Board]:
    """Some positions that a short search evaluates; none where the game is over."""
    lines = player.evaluated(board, SEARCH_NODES, SEARCH_NODES // (NOTED * samples))
    places = [Board(board.sfen()) for _ in range(min(samples, len(lines)))]
    for place, line in zip(places, rng.sample(lines, len(places)), strict=True):
        for move in line:
            place.push(move)
    return [place for place in places if place.legal_moves()]


@contextmanager
def unselective() -> Iterator[None]:
    """Searches without late move pruning and reduction, in this process."""
    before = {name: tunable(name) for name in UNSELECTIVE}
    for name, value in UNSELECTIVE.items():
        set_tunable(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            set_tunable(name, value)


def score_by_plies(player: Player, board: Board, plies: int) -> tuple[str, int]:
    """Best move and value of a full-window search of so many plies."""
    player.worker.set_root(board)
    player.table.new_search()
    for ply in range(1, plies + 1):
        player.worker.search(ply, -INFINITE, INFINITE)
    best = player.worker.lines(1)[0]
    return best.pv[0], best.value


def scored(player: Player, places: list[Board], plies: int) -> list[tuple[str, int]]:
    """Best move and value of each position."""
    if not plies:
        return [player.think(place) for place in places]
    with unselective():
        return [score_by_plies(player, place, plies) for place in places]


def off_game_lines(player: Player, number: int, game: Game, plan: OffGame) -> str:
    """The lines of one game. ValueError where it breaks a rule."""
    rng = random.Random(f"{player.rules.seed} {number}")
    lines = []
    player.new_game()
    for board in places_to_search(game, rng, -(-plan.positions // plan.samples)):
        places = sampled(player, board, rng, plan.samples)
        for place, (best, value) in zip(places, scored(player, places, plan.plies), strict=True):
            lines.append(f"{LETTERS[game.result]}\toff-game {number}\t{place.sfen()}\t{best} {value}\n")
    return "".join(lines[: plan.positions])


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


def work_off_game(player: Player, task: tuple[int, str, Game, OffGame]) -> Appended:
    """The lines of a numbered and placed game, or why there are none."""
    number, place, game, plan = task
    refused = Refused()
    try:
        lines = off_game_lines(player, number, game, plan)
    except ValueError as error:
        refused.add(place, str(error))
        lines = ""
    return Appended(lines, lines.count("\n"), refused)


def make_off_game(
    weights: str, paths: list[Path], out: Path, plan: OffGame, *, rules: PlayRules, threads: int
) -> tuple[int, Refused]:
    """Append off-game positions of each game of `paths` to `out`; returns how many games this call read.

    Also returns what could not be used. SourceError, OSError, WeightsError.
    """
    check_output(out, paths)
    return append_game_by_game(
        out, paths, games_done(out), work_off_game, plan, weights=weights, rules=rules, threads=threads
    )
