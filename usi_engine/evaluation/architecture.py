"""Architectures of shogi NNUE networks, their names and the text in the header of their files; all are YaneuraOu's.

Examples: `SFNN_ka2_1024_7_64_k3k3`, `SFNN_halfka2_3072_7_64_c1024_s256x8_hand64_k3k3`, `NNUE_kp_256x2_32_32`.
An architecture is made of four independent parts: a set of input features, the form (how the transformer's sums become
the inputs of the dense layers), a selector of the layer stack, and the sizes of the dense layers.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from usi_engine.evaluation.names import Fault
from usi_engine.evaluation.parts import (
    BY_SHORT_NAME,
    FEATURE_SETS,
    HANDS,
    KINGS,
    PROGRESS,
    FeatureSet,
    Hands,
    step_starts,
)

# Other spellings in files; the number of features tells HalfKA1 from HalfKA2.
_SPELLINGS = {"K-P": ["K+P"], "HalfKA": ["HalfKA1", "HalfKA2"], "HalfKA_hm": ["HalfKA_hm1", "HalfKA_hm2"]}
_NAME = re.compile(
    r"(?:yaneuraou_engine_)?(?:nnue_)?(?P<sfnn>sfnn_)?(?P<features>[a-z0-9]+)_(?P<width>[0-9]{1,5})(?P<both>x2)?"
    r"_(?P<hidden1>[0-9]{1,4})_(?P<hidden2>[0-9]{1,4})"
    r"(_c(?P<common>[0-9]{1,5})_s(?P<shard>[0-9]{1,5})x(?P<shards>[0-9]{1,4}))?(?P<stack>(_\w*)?)"
)
_LONG_STACK = re.compile(r"king([0-9]+)(z?)_by_king\1\2(?![^_])")
# The layers from the output to the input, in the text of the form of 2018 and of SFNN trained outside YaneuraOu.
_LAYERS = (
    r"AffineTransform\[1<-(?P<hidden2>[0-9]{1,4})\]\(ClippedReLU\[(?P=hidden2)\]\("
    r"AffineTransform(?:SparseInput)?\[(?P=hidden2)<-(?P<hidden1>[0-9]{1,4})\]\(ClippedReLU\[(?P=hidden1)\]\("
    r"AffineTransform(?:SparseInput)?\[(?P=hidden1)<-(?P<inputs>[0-9]{1,5})\]\("
    r"InputSlice\[(?P=inputs)\(0:(?P=inputs)\)\]\)\)\)\)\)"
)
# An author may add a remark after the text.
_TEXT = re.compile(
    r"(?P<sfnn>ModelType=SFNNWithoutPsqt;)?Features=(?P<features>[\w+-]+)(?:\(Friend\))?\[(?P<count>[0-9]{1,9})->"
    rf"(?P<width>[0-9]{{1,5}})x2\],Network=(?:{_LAYERS}|(?P<name>SFNN[\w-]+))"
    r"(?:\{LayerStack=(?P<stacks>[0-9]{1,6})\})?(?![^,; \n])",
    re.ASCII,
)
# Names of the oldest SFNN, which do not tell its layers.
_OLDEST = {"SFNN-1536", "SFNN-1536-V2"}


@dataclass(frozen=True)
class Architecture:
    """The shape of a network."""

    features: str  # a key of FEATURE_SETS
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
        hands = self.hand_classes.count if self.hand_classes else 1
        zones = 1 + max(self.king_zones, default=0)
        return hands**2 * zones**2 * PROGRESS.get(self.progress, 1)

    @property
    def hand_classes(self) -> Hands | None:
        return HANDS[self.hands] if self.hands else None

    @property
    def king_zones(self) -> tuple[int, ...]:
        """The zone of each square of a king; empty if kings do not select the stack."""
        return KINGS[self.kings] if self.kings else ()

    @property
    def progress_starts(self) -> tuple[int, ...]:
        """The sums at which the steps of progress after the first begin."""
        return step_starts(PROGRESS.get(self.progress, 1))

    @property
    def shortcut(self) -> bool:
        """True if one more output of layer 0 is added to the network's output."""
        return self.sfnn and self.hidden1 % 8 == 7

    @property
    def feature_set(self) -> FeatureSet:
        return FEATURE_SETS[self.features]

    @property
    def feature_count(self) -> int:
        """Features of a perspective: rows of the transformer."""
        return self.feature_set.count

    @property
    def inputs(self) -> int:
        """Inputs of layer 0: both perspectives' sums, or products of pairs of them (SFNN)."""
        return self.width if self.sfnn else 2 * self.width

    @property
    def name(self) -> str:
        """The name in YaneuraOu's form."""
        features = self.feature_set.short
        if not self.sfnn:
            return f"NNUE_{features}_{self.width}x2_{self.hidden1}_{self.hidden2}"
        shard = (self.width - self.common) // self.shards
        parts = [f"SFNN_{features}_{self.width}_{self.hidden1}_{self.hidden2}"]
        parts += [f"c{self.common}_s{shard}x{self.shards}"] * (self.shards > 1)
        return "_".join(parts + [part for part in (self.hands, self.kings, self.progress) if part])


def parse_name(name: str) -> Architecture:
    """Return the architecture of a name in YaneuraOu's form. Fault.

    Case, `-` for `_`, the prefixes `NNUE_` and `YANEURAOU_ENGINE_`, the order of the selectors and their long names
    (`king3_by_king3`, `king9zone_by_king9zone`) do not matter.
    `check_architecture` of the core says whether its sizes can be played.
    """
    plain = name.lower().replace("-", "_").replace("zone", "z")
    match = _NAME.fullmatch(_LONG_STACK.sub(r"k\1k\1\2", plain))
    if match is None or match["features"] not in BY_SHORT_NAME or bool(match["both"]) == bool(match["sfnn"]):
        raise Fault(f"unknown network '{name}': {expected_names()}")
    width, hidden1, hidden2 = (int(match[size]) for size in ("width", "hidden1", "hidden2"))
    common, shard, shards = (int(match[size] or 0) for size in ("common", "shard", "shards"))
    found = Architecture(
        BY_SHORT_NAME[match["features"]].name, width, hidden1, hidden2, bool(match["sfnn"]),
        **_selectors(name, match["stack"]), common=common, shards=shards or 1,
    )  # fmt: skip
    if shards and common + shard * shards != width:
        raise Fault(f"the parts of layer 0 in '{name}' do not add up to {width} inputs")
    return found


def _selectors(name: str, text: str) -> dict[str, str]:
    """Read the selectors of the stack, `_hand64_k3k3_progress8` in any order. Fault."""
    found: dict[str, str] = {}
    for word in filter(None, text.split("_")):
        kind = next((kind for kind, known in _SELECTORS.items() if word in known), None)
        if kind is None or kind in found:
            raise Fault(f"unknown stack '{word}' in the network '{name}': {expected_names()}")
        found[kind] = word
    return found


_SELECTORS: dict[str, Mapping[str, object]] = {"hands": HANDS, "kings": KINGS, "progress": PROGRESS}


def expected_names() -> str:
    """Return a line that lists what a name can be made of."""
    stacks = ", ".join((*HANDS, *KINGS, *PROGRESS))
    return (
        "expected NNUE_features_WIDTHx2_H1_H2 or SFNN_features_WIDTH_H1_H2[_cC_sSxG][_stack] with the features "
        f"{', '.join(BY_SHORT_NAME)} and the stacks {stacks}"
    )


def format_text(architecture: Architecture) -> str:
    """Return the text of a file's header, as YaneuraOu writes it."""
    features, width, count = architecture.features, architecture.width, architecture.feature_count
    side = "(Friend)" if features.startswith("Half") else ""
    head = f"Features={features}{side}[{count}->{width}x2],Network="
    if architecture.sfnn:
        oldest = architecture.name == "SFNN_halfkahm2_1536_15_32_k3k3"
        name = "SFNN-1536" if oldest else architecture.name.upper()
        return f"ModelType=SFNNWithoutPsqt;{head}{name}{{LayerStack={architecture.stacks}}}"
    hidden1, hidden2, inputs = architecture.hidden1, architecture.hidden2, architecture.inputs
    return (
        f"{head}AffineTransform[1<-{hidden2}](ClippedReLU[{hidden2}](AffineTransform[{hidden2}<-{hidden1}]"
        f"(ClippedReLU[{hidden1}](AffineTransform[{hidden1}<-{inputs}](InputSlice[{inputs}(0:{inputs})])))))"
    )


def parse_text(text: str) -> Architecture:
    """Return the architecture that the text of a file's header describes. Fault."""
    match = _TEXT.match(text)
    if match is None and not text.isascii():  # only the author's remark may be anything else
        raise Fault("the text of its architecture is damaged")
    if match is None:
        raise Fault(f"the architecture {text[:300]!a} is not supported")
    features, width = _features(match), int(match["width"])
    if match["name"] is None or match["name"].upper() in _OLDEST:
        hidden1, hidden2, inputs = (int(match[size] or 0) for size in ("hidden1", "hidden2", "inputs"))
        if match["name"] is not None:
            hidden1, hidden2, inputs = 15, 32, 2 * 1536
        found = Architecture(features, width, hidden1, hidden2, match["sfnn"] is not None, kings=_unnamed_kings(match))
        consistent = inputs == 2 * width
    else:
        found = parse_name(match["name"])
        consistent = (found.features, found.width, found.sfnn) == (features, width, match["sfnn"] is not None)
    if not consistent or found.stacks != int(match["stacks"] or 1):
        raise Fault(f"the text of its architecture contradicts itself: {text[:300]!a}")
    return found


def _unnamed_kings(match: re.Match[str]) -> str:
    """Return the selector of a text that does not name it. Fault."""
    stacks = int(match["stacks"] or 1)
    if stacks > 1 and match["sfnn"] is None:
        raise Fault(f"it has {stacks} layer stacks, which only SFNN has")
    if stacks not in (1, 9):
        raise Fault(f"{stacks} layer stacks without the name of their selector are not supported, only 9 or none")
    return "k3k3" if stacks == 9 else ""


def _features(match: re.Match[str]) -> str:
    """Return the feature set in the text of a header. Fault."""
    spelling, count = match["features"], int(match["count"])
    candidates = _SPELLINGS.get(spelling, [spelling])
    if not set(candidates) <= FEATURE_SETS.keys():
        raise Fault(f"the features '{spelling}' are not supported, only {', '.join(FEATURE_SETS)}")
    for candidate in candidates:
        if FEATURE_SETS[candidate].count == count:
            return candidate
    raise Fault(f"{count} is not the number of features of '{spelling}'")
