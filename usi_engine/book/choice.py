"""Choice among the book moves of a position, by YaneuraOu's options."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from usi_engine.book.entry import BookMove
from usi_engine.usi.options import Options

NARROW_SHARE = 0.1  # NarrowBook skips moves that were played in a smaller share of the games


@dataclass(frozen=True)
class Rules:
    """The options for one side. A move may be at most `margin` centipawns below the best one, but not below `least`."""

    last_ply: int
    margin: int
    least: int
    narrow: bool
    by_count: bool
    ignored_percent: int
    flipped: bool


def rules_of(options: Options, black: bool) -> Rules:
    """Return the rules for the side to move."""
    return Rules(
        last_ply=options.number("BookMoves"),
        margin=options.number("BookEvalDiff"),
        least=options.number("BookEvalBlackLimit" if black else "BookEvalWhiteLimit"),
        narrow=options.flag("NarrowBook"),
        by_count=options.flag("ConsiderBookMoveCount"),
        ignored_percent=options.number("BookIgnoreRate"),
        flipped=options.flag("FlippedBook"),
    )


def choose(moves: Sequence[BookMove], rules: Rules, rng: random.Random) -> BookMove | None:
    """Draw one of the allowed moves, evenly or in proportion to their counts; None if there is none."""
    kept = allowed(moves, rules)
    if not kept:
        return None
    return rng.choices(kept, [max(move.count, 1) if rules.by_count else 1 for move in kept])[0]


def allowed(moves: Sequence[BookMove], rules: Rules) -> list[BookMove]:
    """Return the moves that the rules allow."""
    least_count = NARROW_SHARE * sum(move.count for move in moves) if rules.narrow else 0
    kept = [move for move in moves if move.count >= least_count]
    best = max((move.value for move in kept), default=0)
    return [move for move in kept if move.value >= max(best - rules.margin, rules.least)]
