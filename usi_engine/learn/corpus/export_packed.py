"""Export of scored positions in the formats of other programs' trainers."""

from __future__ import annotations

from pathlib import Path

from usi_engine.files import atomic_write
from usi_engine.learn.corpus.build import CARD, HELD_OUT, TRAINING
from usi_engine.learn.corpus.packed import WRITERS, packed_positions
from usi_engine.learn.corpus.sources import GameSource, SkippedItems
from usi_engine.learn.files import check_not_weights, check_output, check_suffix
from usi_engine.learn.game import SourceError
from usi_engine.progress import Progress


def check_not_corpus(out: Path) -> None:
    """Raise SourceError if `out` is a file of a corpus."""
    file = out.resolve()
    if file.name in (TRAINING, HELD_OUT) and file.with_name(CARD).exists():
        raise SourceError(f"--out {out}: belongs to a corpus; it is not replaced")


def export_packed(paths: list[Path], out: Path) -> tuple[int, SkippedItems]:
    """Write every scored position of the games with its move and result, in the order of the games.

    Return the number of positions, and the items that cannot be used. SourceError, OSError.
    """
    check_suffix(out, *WRITERS)
    check_output(out, paths)
    check_not_weights(out)
    check_not_corpus(out)
    write, source = WRITERS[out.suffix.lower()], GameSource(paths)
    with Progress("games") as progress, atomic_write(out) as part, part.open("wb") as file:
        for _, place, game in source.games():
            try:
                positions = [write(position) for position in packed_positions(game)]
            except ValueError as error:
                source.skipped.add(place, str(error))
                positions = []
            file.write(b"".join(positions))
            progress.add(1, len(positions))
        if not progress.positions:
            raise SourceError(f"no position for {out}{': ' if source.skipped.count else ''}{source.skipped.line}")
    return progress.positions, source.skipped
