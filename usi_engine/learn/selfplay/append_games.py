"""Work on each game of some files, with the results appended to one file: an interrupted run resumes at its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from usi_engine.files import naming_errors
from usi_engine.learn.corpus.sources import GameSource, SkippedItems
from usi_engine.learn.files import check_suffix
from usi_engine.learn.game import ScoredGame, SourceError
from usi_engine.learn.selfplay.game_file import TEXT_SUFFIX
from usi_engine.learn.selfplay.player_pool import PlayerPool
from usi_engine.player import Player
from usi_engine.progress import Progress


@dataclass(frozen=True)
class GameLines:
    """Lines made from one game, the number of positions in them, and the unusable items."""

    lines: str
    positions: int
    skipped: SkippedItems


# Makes the lines of a game from a player for each evaluation and from the number of the game, its place (for messages),
# the game and the setting. Pickled by its name.
GameWork = Callable[[list[Player], tuple[int, str, ScoredGame, Any]], GameLines]


def append_games(
    pool: PlayerPool, paths: list[Path], out: Path, begun: int, *, work: GameWork, setting: object
) -> tuple[int, SkippedItems]:
    """Append to `out` the lines that `work` makes of each game of `paths` after the first `begun`, in order.

    Return the number of these games and the unusable items. SourceError, OSError, WeightsError.
    """
    check_suffix(out, TEXT_SUFFIX)
    source, skipped = GameSource(paths), SkippedItems()
    tasks = ((*numbered, setting) for numbered in source.games() if numbered[0] > begun)
    total = sum(1 for _ in GameSource(paths).games())
    with Progress("games", total, begun) as progress, naming_errors(out), open(out, "a", encoding="utf-8") as file:
        for made in pool.results(work, tasks):
            file.write(made.lines)
            file.flush()
            skipped.join(made.skipped)
            progress.add(1, made.positions)
    skipped.join(source.skipped)
    if not out.stat().st_size:
        raise SourceError(f"no game for {out}{': ' if skipped.count else ''}{skipped.line}")
    return progress.done - begun, skipped
