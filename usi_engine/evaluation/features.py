"""Feature sets of networks: the descriptions that play (core_ext.eval.nnue.features) and training read.

Names and numbers are YaneuraOu's. A perspective has a feature for each piece other than the kings, its Bonapiece
number, and may have some for the squares of the kings, in the bucket of its own king.
"""

from __future__ import annotations

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
