"""Positions a weaker move away from games, valued by a search: what a search sees and a game does not.

A search spends most of its nodes behind moves that nobody would play, and there too it asks the evaluation. Each line
of the file is a game of one move: the result of the game it left, `stray` and that game's number, the position, the
best move there and its score.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from core_ext.board import Board
from usi_engine.learn.selfplay import Player, Rules, side_by_side
from usi_engine.learn.sources import RESULTS, Game, SourceError, Valued, items_of

if TYPE_CHECKING:
    from core_ext.engine import Weights

SETTLED_SCORE = 1200  # a game decided by so many centipawns is left alone
CANDIDATES = 5  # random moves, of which a glance picks the best
GLANCE_NODES = 150
STRAY_LINE = re.compile(rb"[bwd]\tstray (\d+)\t")
LETTERS = {result: letter for letter, result in RESULTS.items()}


def games_of(paths: list[Path]) -> Iterator[tuple[int, Game]]:
    """The games of all files, numbered from 1; positions without a game are passed over. SourceError."""
    items: Iterator[Game | Valued] = (item for path in paths for item in items_of(path))
    yield from enumerate((item for item in items if isinstance(item, Game)), 1)


def left_at(game: Game, chance: random.Random, positions: int) -> set[int]:
    """The plies of the game to leave it at."""
    open_plies = [ply for ply, score in enumerate(game.scores) if score is not None and abs(score) < SETTLED_SCORE]
    return set(chance.sample(open_plies, min(positions, len(open_plies))))


def stray_from(player: Player, board: Board, chance: random.Random) -> Board | None:
    """The position after the best of a few random moves; None where it is mate."""
    legal = board.legal_moves()
    move, _ = player.think(board, chance.sample(legal, min(CANDIDATES, len(legal))), GLANCE_NODES)
    beside = Board(board.sfen())
    beside.push(move)
    return beside if beside.legal_moves() else None


def strays_of(player: Player, number: int, game: Game, positions: int) -> str:
    """The lines of one game. ValueError where it breaks a rule."""
    chance = random.Random(f"{player.rules.seed} {number}")
    chosen = left_at(game, chance, positions)
    board, lines = Board(game.start), []
    player.new_game()
    for ply, move in enumerate(game.moves):
        beside = stray_from(player, board, chance) if ply in chosen else None
        if beside is not None:
            best, value = player.think(beside)
            lines.append(f"{LETTERS[game.result]}\tstray {number}\t{beside.sfen()}\t{best} {value}\n")
        board.push(move)
    return "".join(lines)


def game_number(path: Path, line: bytes) -> int:
    """Of the game that a line of the file left. SourceError."""
    found = STRAY_LINE.match(line)
    if found is None:
        raise SourceError(f"{path} holds something else than strays: '{line[:60].decode(errors='replace').rstrip()}'")
    return int(found[1])


def games_done(path: Path) -> int:
    """Number of the last game whose lines are whole for certain; what comes after them is cut off. SourceError."""
    if not path.exists():
        return 0
    lines = [line for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
    numbers = [game_number(path, line) for line in lines]
    whole = [number for number in numbers if number < numbers[-1]]
    os.truncate(path, sum(map(len, lines[: len(whole)])))
    return whole[-1] if whole else 0


def make_strays(
    weights: Weights | None, paths: list[Path], out: Path, positions: int, *, rules: Rules, threads: int
) -> int:
    """Append to `out` until each game of `paths` was left `positions` times; returns how many games were read now."""
    begun, started, count = games_done(out), time.monotonic(), 0

    def work(player: Player, task: tuple[int, Game]) -> str:
        try:
            return strays_of(player, *task, positions)
        except ValueError:  # the corpus counts such games and refuses them too
            return ""

    players = [Player(weights, rules) for _ in range(threads)]
    with open(out, "a", encoding="utf-8") as file:
        for count, lines in enumerate(side_by_side(players, work, islice(games_of(paths), begun, None)), 1):
            file.write(lines)
            file.flush()
            if count % 50 == 0:
                print(f"{begun + count} games, {count / (time.monotonic() - started):.2f} a second", flush=True)
    return count
