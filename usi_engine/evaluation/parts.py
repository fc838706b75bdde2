"""Parts of networks: the feature sets and the selectors of the layer stack that play and training read.

Names and numbers are YaneuraOu's. A perspective has a feature for each piece other than the kings, its Bonapiece
number, and may have some for the squares of the kings, in the bucket of its own king. A stack is selected by the class
of both hands, by the zones of both kings, by the progress of the game, or by several of these.
"""

import math
from dataclasses import dataclass

SQUARES, BONAPIECES = 81, 1548
MIRRORED = 45  # king squares of files 1 to 5, to which the perspective's king is mirrored


@dataclass(frozen=True)
class FeatureSet:
    """One set: its name in files, in the names of architectures, and its hash in files.

    There is 1 bucket, or one for each square of a side's king: SQUARES or MIRRORED. `kings` has a pair for each
    feature of a king: the plane of the own king and the plane of the enemy's king, counted from the Bonapieces' end.
    """

    name: str
    short: str
    hash: int
    buckets: int = 1
    kings: tuple[tuple[int, int], ...] = ()

    @property
    def numbers(self) -> int:
        """Features of a bucket."""
        return BONAPIECES + SQUARES * (1 + max((plane for pair in self.kings for plane in pair), default=-1))

    @property
    def count(self) -> int:
        return self.buckets * self.numbers


FEATURE_SETS = {
    found.name: found
    for found in (
        FeatureSet("K+P", "kp", 0x3F5717FF, kings=((0, 1),)),
        FeatureSet("K+A2", "ka2", 0x97D5765E, kings=((0, 0), (1, 2))),
        FeatureSet("HalfKP", "halfkp", 0x5D69D5B8, SQUARES),
        FeatureSet("HalfKP_vm", "halfkpvm", 0x0B6B1D9A, MIRRORED),
        FeatureSet("HalfKA1", "halfka1", 0x5F134CB8, SQUARES, ((0, 1),)),
        FeatureSet("HalfKA_hm1", "halfkahm1", 0x7F134CB8, MIRRORED, ((0, 1),)),
        FeatureSet("HalfKA2", "halfka2", 0x5F234CB8, SQUARES, ((0, 0),)),
        FeatureSet("HalfKA_hm2", "halfkahm2", 0x7F234CB8, MIRRORED, ((0, 0),)),
    )
}
BY_SHORT_NAME = {found.short: found for found in FEATURE_SETS.values()}


@dataclass(frozen=True)
class Hands:
    """Classes of one hand. `kinds` has a number for each of pawn, lance, knight, silver, gold, bishop, rook.

    It is the bit of the class that is set if the hand has the kind. If `points` are given, it is the points of each
    piece: a hand without points is of class 0, one of 1 to `points` of class 1, and so on to the last class.
    """

    kinds: tuple[int, int, int, int, int, int, int]
    points: int = 0
    point_classes: int = 0

    @property
    def count(self) -> int:
        return self.point_classes or 2 * max(self.kinds)


HANDS = {
    "hand4": Hands((0, 0, 0, 0, 0, 1, 0)),
    "hand16": Hands((1, 0, 0, 0, 0, 2, 0)),
    "hand64": Hands((1, 1, 1, 2, 2, 4, 2)),
    "hand64z": Hands((1, 2, 2, 3, 3, 5, 5), points=4, point_classes=8),
    "hand256": Hands((1, 1, 1, 2, 2, 4, 8)),
    "hand1024": Hands((1, 2, 2, 4, 4, 8, 16)),
}
_THIRDS = (0, 0, 0, 1, 1, 1)  # zones of the six ranks that are farthest from the own side, merged by three


def _zones(ranks: tuple[int, ...], parts: int = 1, divided: int = 0) -> tuple[int, ...]:
    """Return the zone of each square, from 1a file by file: whole ranks, then `divided` ranks in `parts` by file."""
    first = ranks[-1] + 1
    by_rank = [(zone, 1) for zone in ranks] + [(first + n * parts, parts) for n in range(divided)]
    return tuple(zone + file * count // 9 for file in range(9) for zone, count in by_rank)


# The zone of one king on each square, seen from its own side, whose last rank is the last one.
KINGS = {
    "k3k3": _zones((*_THIRDS, 2, 2, 2)),
    "k9k9": _zones((0, 1, 2, 3, 4, 5, 6, 7, 8)),
    "k9k9z": _zones((*_THIRDS, 2), parts=3, divided=2),
    "k13k13z": _zones((0, 1, 2, 3, 4, 5, 6), parts=3, divided=2),
    "k21k21": _zones((*_THIRDS, 2), parts=9, divided=2),
    "k29k29": _zones(_THIRDS, parts=9, divided=3),
}
PROGRESS = {f"progress{steps}": steps for steps in (2, 3, 4, 8, 16, 32)}


def step_starts(steps: int) -> tuple[int, ...]:
    """Return the sums at which the steps after the first begin: progress is the logistic function of sum / 2^16.

    It is counted in whole 256ths, which the steps divide.
    """
    shares = [math.ceil(256 * step / steps) / 256 for step in range(1, steps)]
    return tuple(round(math.log(share / (1 - share)) * 65536) for share in shares)
