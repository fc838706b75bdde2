"""Off-game positions: one weaker move away from a game, and labelled by a search.

A search spends most of its nodes after moves that no game contains, and evaluates there too. Each line of the file is a
game of one move: the result of the game that was left, `off-game` and that game's number, the position, the best move
in it and its score.
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

DECIDED_SCORE = 1200  # centipawns from which on a position of a game is not left
CANDIDATES = 5  # random moves, of which a short search picks the best
CANDIDATE_NODES = 150
OFF_GAME_LINE = re.compile(rb"[bwd]\toff-game (\d+)\t")


def plies_to_leave(game: Game, rng: random.Random, positions: int) -> set[int]:
    """The plies at which to leave the game."""
    open_plies = [ply for ply, score in enumerate(game.scores) if score is not None and abs(score) < DECIDED_SCORE]
    return set(rng.sample(open_plies, min(positions, len(open_plies))))


def step_off(player: Player, board: Board, rng: random.Random) -> Board | None:
    """The position after the best of a few random moves; None where that is mate."""
    legal = board.legal_moves()
    move, _ = player.think(board, rng.sample(legal, min(CANDIDATES, len(legal))), CANDIDATE_NODES)
    left = Board(board.sfen())
    left.push(move)
    return left if left.legal_moves() else None


def off_game_lines(player: Player, number: int, game: Game, positions: int) -> str:
    """The lines of one game. ValueError where it breaks a rule."""
    rng = random.Random(f"{player.rules.seed} {number}")
    chosen = plies_to_leave(game, rng, positions)
    board, lines = Board(game.start), []
    player.new_game()
    for ply, move in enumerate(game.moves):
        left = step_off(player, board, rng) if ply in chosen else None
        if left is not None:
            best, value = player.think(left)
            lines.append(f"{LETTERS[game.result]}\toff-game {number}\t{left.sfen()}\t{best} {value}\n")
        board.push(move)
    return "".join(lines)


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
