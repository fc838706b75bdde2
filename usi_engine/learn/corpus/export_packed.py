"""The scored positions of games in the formats of other programs' trainers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from usi_engine.learn.corpus.packed import WRITERS, PackedPosition, packed_positions
from usi_engine.learn.corpus.sources import GameSource, Refused
from usi_engine.learn.files import check_not_replaced, check_output, weights_beginnings, written_whole
from usi_engine.learn.game import SourceError
from usi_engine.progress import Progress


def writer_of(path: Path) -> Callable[[PackedPosition], bytes]:
    """The format of a file to write, by its ending. SourceError."""
    if path.suffix not in WRITERS:
        raise SourceError(f"--out {path}: expected a name ending in {', '.join(WRITERS)}")
    return WRITERS[path.suffix]


def export_packed(paths: list[Path], out: Path) -> tuple[int, Refused]:
    """Write every scored position of the games with its move and result, in the order of the games, unshuffled.

    Returns the number of positions, and what was not used. SourceError, OSError.
    """
    write, source, progress = writer_of(out), GameSource(paths), Progress("games")
    check_output(out, paths)
    check_not_replaced(out, "weights", weights_beginnings())
    with written_whole(out) as part, part.open("wb") as file:
        for _, place, game in source.placed():
            try:
                positions = [write(position) for position in packed_positions(game)]
            except ValueError as error:
                source.refused.add(place, str(error))
                positions = []
            file.write(b"".join(positions))
            progress.add(1, len(positions))
    return progress.positions, source.refused
