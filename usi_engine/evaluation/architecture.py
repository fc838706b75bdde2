"""Architectures of shogi NNUE networks and their names, which are YaneuraOu's.

Examples: `SFNN_ka2_1024_7_64_k3k3`, `SFNN_halfka2_3072_7_64_c1024_s256x8_hand64_k3k3`, `NNUE_kp_256x2_32_32`.
An architecture is made of four independent parts: a set of input features, the form (how the transformer's sums become
the inputs of the dense layers), a selector of the layer stack, and the sizes of the dense layers.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

# Feature sets: their names here and in a file's text, by their names in the name of an architecture.
FEATURES = {
    "kp": "K+P",
    "ka2": "K+A2",
    "halfkp": "HalfKP",
    "halfkpvm": "HalfKP_vm",
    "halfka1": "HalfKA1",
    "halfkahm1": "HalfKA_hm1",
    "halfka2": "HalfKA2",
    "halfkahm2": "HalfKA_hm2",
}
# Selectors of the layer stack and the number of stacks: by hands, by kings' squares, by progress.
HANDS = {"hand4": 4, "hand16": 16, "hand64": 64, "hand64z": 64, "hand256": 256, "hand1024": 1024}
KINGS = {"k3k3": 9, "k9k9": 81, "k9k9z": 81, "k13k13z": 169, "k21k21": 441, "k29k29": 841}
PROGRESS = {f"progress{steps}": steps for steps in (2, 3, 4, 8, 16, 32)}
MOST_STACKS = 65536
_NAME = re.compile(
    r"(?P<form>sfnn|nnue)_(?P<features>[a-z0-9]+)_(?P<width>[0-9]{1,5})(?P<both>x2)?_(?P<hidden1>[0-9]{1,4})"
    r"_(?P<hidden2>[0-9]{1,4})(_c(?P<common>[0-9]{1,5})_s(?P<shard>[0-9]{1,5})x(?P<shards>[0-9]{1,4}))?(?P<stack>\w*)"
)


@dataclass(frozen=True)
class Architecture:
    """The shape of a network."""

    features: str  # a value of FEATURES
    width: int  # transformer sums of one perspective
    hidden1: int  # units of the first hidden layer, without the shortcut
    hidden2: int
    sfnn: bool = False  # the form of 2025; otherwise that of 2018
    hands: str = ""  # a key of HANDS, or empty: not selected by hands
    kings: str = ""
    progress: str = ""
    common: int = 0  # inputs of layer 0 that every output sees, if it is sharded
    shards: int = 1  # groups of outputs of layer 0; each sees its own part of the other inputs

    @property
    def stacks(self) -> int:
        """Number of layer stacks; the selected one is (hands x kings + kings' index) x progress + progress's index."""
        return math.prod((HANDS.get(self.hands, 1), KINGS.get(self.kings, 1), PROGRESS.get(self.progress, 1)))

    @property
    def shortcut(self) -> bool:
        """True if one more output of layer 0 is added to the network's output."""
        return self.sfnn and self.hidden1 % 8 == 7

    @property
    def inputs(self) -> int:
        """Inputs of layer 0: both perspectives' sums, or products of pairs of them (SFNN)."""
        return self.width if self.sfnn else 2 * self.width

    @property
    def name(self) -> str:
        """The name in YaneuraOu's form."""
        features = next(short for short, long in FEATURES.items() if long == self.features)
        if not self.sfnn:
            return f"NNUE_{features}_{self.width}x2_{self.hidden1}_{self.hidden2}"
        shard = (self.width - self.common) // self.shards
        parts = [f"SFNN_{features}_{self.width}_{self.hidden1}_{self.hidden2}"]
        parts += [f"c{self.common}_s{shard}x{self.shards}"] * (self.shards > 1)
        return "_".join(parts + [part for part in (self.hands, self.kings, self.progress) if part])


def parse_name(name: str) -> Architecture:
    """Return the architecture of a name in YaneuraOu's form; case and `-` for `_` do not matter. ValueError."""
    match = _NAME.fullmatch(name.lower().replace("-", "_"))
    if match is None or match["features"] not in FEATURES or (match["both"] is None) != (match["form"] == "sfnn"):
        raise ValueError(f"unknown network '{name}': {expected_names()}")
    width, hidden1, hidden2 = (int(match[size]) for size in ("width", "hidden1", "hidden2"))
    stack = _selectors(name, match["stack"])
    found = Architecture(
        FEATURES[match["features"]], width, hidden1, hidden2, match["form"] == "sfnn",
        stack.get("hands", ""), stack.get("kings", ""), stack.get("progress", ""),
        int(match["common"] or 0), int(match["shards"] or 1),
    )  # fmt: skip
    if found.name.lower() != name.lower().replace("-", "_") and match["shard"] is not None:
        raise ValueError(f"the parts of layer 0 in '{name}' do not add up to {found.width} inputs")
    return found


def _selectors(name: str, text: str) -> dict[str, str]:
    """Read the selectors of the stack, `_hand64_k3k3_progress8` in any order. ValueError."""
    found: dict[str, str] = {}
    for word in text.split("_")[1:]:
        kind = next((kind for kind, known in _SELECTORS.items() if word in known), None)
        if kind is None or kind in found:
            raise ValueError(f"unknown stack '{word}' in the network '{name}': {expected_names()}")
        found[kind] = word
    return found


_SELECTORS = {"hands": HANDS, "kings": KINGS, "progress": PROGRESS}


def expected_names() -> str:
    """Return a line that lists what a name can be made of."""
    stacks = ", ".join((*HANDS, *KINGS, *PROGRESS))
    return (
        "expected NNUE_features_WIDTHx2_H1_H2 or SFNN_features_WIDTH_H1_H2[_cC_sSxG][_stack] with the features "
        f"{', '.join(FEATURES)} and the stacks {stacks}"
    )
