"""Self-play games, scored by their own search, in the text format that learn.corpus.sources reads.

The seed and the number of a game determine its random choices, so an interrupted run resumes at the end of the file. A
game that is already in the file is replaced by another one with the same number.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator
from pathlib import Path

from usi_engine.learn.files import check_output
from usi_engine.learn.game import SourceError
from usi_engine.learn.pool import Work
from usi_engine.player import Played, Player, PlayRules, key_of, new_player
from usi_engine.progress import Progress
from usi_engine.records.files import naming_errors

ATTEMPTS = 10  # at a game that is not yet in the file
COMPLETE_LINE = re.compile(rb"[bwd]\t[^\t\n]*\t[^\t\n]*\t[^\t\n]*\n")
CUT_LINE = re.compile(rb"[bwd](\t[^\t\n]*){0,3}")


def play_task(player: Player, task: tuple[str, int]) -> Played:
    return player.play(*task)


def keys_in(path: Path) -> list[int]:
    """Return the key of each complete game in a file and cut off an incomplete last line. SourceError."""
    keys: list[int] = []
    check_output(path)
    if not path.exists():
        return keys
    complete = 0
    with path.open("rb") as lines:
        for line in lines:
            check_game(path, len(keys) + 1, line)
            if line.endswith(b"\n"):
                complete += len(line)
                start, words = line.decode(errors="replace").rstrip("\n").split("\t")[2:]
                keys.append(key_of(start, words.split()))
    if complete < path.stat().st_size:
        os.truncate(path, complete)
    return keys


def check_game(path: Path, number: int, line: bytes) -> None:
    """Raise SourceError if a line is not a game, or without a newline cannot be the beginning of one."""
    pattern = COMPLETE_LINE if line.endswith(b"\n") else CUT_LINE
    if not pattern.fullmatch(line):
        quoted = line[:60].decode(errors="replace").rstrip()
        raise SourceError(f"{path}, line {number}: not a game: '{quoted}'; nothing is added to this file")


def play_games(weights: str, openings: list[str], rules: PlayRules, numbers: range, threads: int) -> Iterator[Played]:
    """Yield the games with these numbers in order, played in `threads` processes."""
    order = random.Random(rules.seed).sample(openings, len(openings))
    tasks = ((order[number % len(order)], number) for number in numbers)
    return Work(new_player, (weights, rules), play_task).results(tasks, threads)


def replayed(player: Player, game: Played, number: int, known: set[int]) -> Played:
    """Return another game with this number that is not `known`, or `game` if there seems to be none."""
    others = (player.play(game.start, number, attempt) for attempt in range(1, ATTEMPTS))
    return next((other for other in others if other.key not in known), game)


def selfplay(weights: str, openings: list[str], path: Path, games: int, *, rules: PlayRules, threads: int) -> int:
    """Append games to `path` until it has `games`; return the number played now. OSError, WeightsError."""
    keys = keys_in(path)
    begun, known = len(keys), set(keys)
    player: Player | None = None
    progress = Progress("games", games - begun, begun)
    with naming_errors(path), open(path, "a", encoding="utf-8") as file:
        for number, game in enumerate(play_games(weights, openings, rules, range(begun, games), threads), begun):
            if game.key in known:
                player = player or new_player(weights, rules)
                game = replayed(player, game, number, known)  # noqa: PLW2901
            known.add(game.key)
            file.write(game.line)
            file.flush()
            progress.add(1, len(game.words) // 2)
    return max(games - begun, 0)
