"""Work on each game of some files, whose lines are appended to one file: an interrupted run resumes where that ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from usi_engine.learn.corpus.sources import GameSource, Refused
from usi_engine.learn.files import naming
from usi_engine.learn.game import Game
from usi_engine.learn.pool import Work
from usi_engine.player import Player, PlayRules, new_player
from usi_engine.progress import Progress


@dataclass(frozen=True)
class Appended:
    """What one game gave: lines, how many positions they hold, and what could not be used."""

    lines: str
    positions: int
    refused: Refused


# Of a player, the game's number, its place for messages, the game, and the caller's setting. Pickled by its name.
WorkOnGame = Callable[[Player, tuple[int, str, Game, Any]], Appended]


def append_game_by_game(
    out: Path, paths: list[Path], begun: int, work: WorkOnGame, setting: object, *, weights: str, rules: PlayRules,
    threads: int,
) -> tuple[int, Refused]:  # fmt: skip
    """Append to `out` what `work` makes of each game of `paths` after the first `begun`, in their order.

    Returns how many games were worked on, and what could not be used. SourceError, OSError, WeightsError.
    """
    source, refused = GameSource(paths), Refused()
    tasks = ((*placed, setting) for placed in source.placed() if placed[0] > begun)
    progress = Progress("games", sum(1 for _ in islice(GameSource(paths).placed(), begun, None)), begun)
    with naming(out), open(out, "a", encoding="utf-8") as file:
        for appended in Work(new_player, (weights, rules), work).results(tasks, threads):
            file.write(appended.lines)
            file.flush()
            refused.join(appended.refused)
            progress.add(1, appended.positions)
    refused.join(source.refused)
    return progress.done, refused
