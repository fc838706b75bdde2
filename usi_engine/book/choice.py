"""Which of a position's book moves is played, by the options that YaneuraOu's users know."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from usi_engine.book.entry import BookMove
from usi_engine.usi.options import Options

# With NarrowBook: the least share of the games in which a move was played.
NARROW_SHARE = 0.1


@dataclass(frozen=True)
class Rules:
    """The options for one side. `least`: lowest value of a move that is played; `margin`: its greatest loss."""

    last_ply: int
    margin: int
    least: int
    narrow: bool
    by_count: bool
    ignored_percent: int
    turned: bool


def rules_of(options: Options, black: bool) -> Rules:
    """The rules for a position in which Black, or White, is to move."""
    return Rules(
        last_ply=options.number("BookMoves"),
        margin=options.number("BookEvalDiff"),
        least=options.number("BookEvalBlackLimit" if black else "BookEvalWhiteLimit"),
        narrow=options.flag("NarrowBook"),
        by_count=options.flag("ConsiderBookMoveCount"),
        ignored_percent=options.number("BookIgnoreRate"),
        turned=options.flag("FlippedBook"),
    )


def choose(moves: Sequence[BookMove], rules: Rules, rng: random.Random) -> BookMove | None:
    """One of the moves that the rules allow, drawn evenly or by how often each was played; None: there is none."""
    kept = allowed(moves, rules)
    if not kept:
        return None
    return rng.choices(kept, [max(move.count, 1) if rules.by_count else 1 for move in kept])[0]


def allowed(moves: Sequence[BookMove], rules: Rules) -> list[BookMove]:
    """The moves that the rules allow."""
    least_count = NARROW_SHARE * sum(move.count for move in moves) if rules.narrow else 0
    kept = [move for move in moves if move.count >= least_count]
    best = max((move.value for move in kept), default=0)
    return [move for move in kept if move.value >= max(best - rules.margin, rules.least)]
