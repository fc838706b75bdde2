"""Which worker's line is played when several searched: the votes of all, weighed by depth and value (Stockfish)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

# Added to every value's distance from the worst, so that the worst vote counts as well.
LEAST_WEIGHT = 14


@dataclass(frozen=True)
class Vote:
    """What one worker would play: its best line after its last finished depth, in centipawns for the side to move."""

    depth: int
    pv: tuple[str, ...]
    value: int
    seldepth: int

    @property
    def move(self) -> str:
        """The root move."""
        return self.pv[0]


def elect(votes: Sequence[Vote], decided: int) -> Vote:
    """The vote to follow; the first one is the leader's and wins every tie.

    A value of `decided` or more is a proved win and goes before all others, the shortest first; a proved loss is
    followed only where nobody sees anything else.
    """
    wins = [vote for vote in votes if vote.value >= decided]
    if wins:
        return max(wins, key=lambda vote: vote.value)
    open_votes = [vote for vote in votes if vote.value > -decided]
    if not open_votes:
        return votes[0]
    worst = min(vote.value for vote in open_votes)
    weights: defaultdict[str, int] = defaultdict(int)
    for vote in open_votes:
        weights[vote.move] += (vote.value - worst + LEAST_WEIGHT) * vote.depth
    chosen = max(weights[vote.move] for vote in open_votes)
    followers = [vote for vote in open_votes if weights[vote.move] == chosen]
    return max(followers, key=lambda vote: (vote.move == votes[0].move, vote.depth, vote.value))
