"""Networks in plain numpy over the slow rules: the oracle of the tests, sharing nothing with the reader and the core.

Sources: YaneuraOu's source/eval/nnue, its architectures/README.md and the text in the header of a file.
"""

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.shogi.slow_shogi import Position, color_of, other

# First number of each hand range, the viewer's and the enemy's, and the kinds on the board in the order of numbers.
HANDS = {"P": (1, 20), "L": (39, 44), "N": (49, 54), "S": (59, 64), "G": (69, 74), "B": (79, 82), "R": (85, 88)}
KINDS = ["P", "L", "N", "S", "G", "B", "+B", "R", "+R"]
BOARD, NUMBERS, KINGS, KING_PLANES = 90, 1548, 1629, 1710
PROGRESS = 81 * NUMBERS
MAX_VALUE = 20000

Ints = npt.NDArray[Any]


# ---- features ----


def place(square: tuple[int, int], color: str) -> int:
    """0 to 80, as a colour sees it."""
    file, rank = square
    found = 9 * (file - 1) + rank - 1
    return found if color == "b" else 80 - found


def mirrored(square: int) -> int:
    return 9 * (8 - square // 9) + square % 9


def number(piece: str, square: int, color: str) -> int:
    """The Bonapiece number of a piece on a square as a colour sees it."""
    kind = piece.upper()
    if kind == "K":
        return (NUMBERS if color_of(piece) == color else KINGS) + square
    kind = "G" if kind in ("+P", "+L", "+N", "+S") else kind
    return BOARD + 81 * (2 * KINDS.index(kind) + (color_of(piece) != color)) + square


def numbers_of(position: Position, color: str) -> list[int]:
    """The numbers of all pieces, kings included, in any order."""
    found = [number(piece, place(square, color), color) for square, piece in position.board.items()]
    for owner, hand in position.hands.items():
        for kind, held in hand.items():
            found += [HANDS[kind][owner != color] + n for n in range(held)]
    return found


def king_place(position: Position, color: str, viewer: str) -> int:
    square = position.king(color)
    assert square is not None
    return place(square, viewer)


def active_features(features: str, sfen: str, color: str) -> list[int]:
    """The features of one colour, in any order."""
    position = Position(sfen)
    numbers, own = numbers_of(position, color), king_place(position, color, color)
    if features.endswith(("_vm", "_hm1", "_hm2")) and own >= 45:
        own = mirrored(own)
        numbers = [one if one < BOARD else one + mirrored((one - BOARD) % 81) - (one - BOARD) % 81 for one in numbers]
    planes = numbers
    if features.endswith("2"):  # both kings on one plane
        planes = [one - 81 if one >= KINGS else one for one in numbers]
    elif "A" not in features:
        planes = [one for one in numbers if one < NUMBERS]
    size = KING_PLANES if features.endswith("1") else KINGS if features.endswith("2") else NUMBERS
    if features.startswith("Half"):
        return [size * own + one for one in planes]
    return planes + [size + one - NUMBERS for one in numbers if one >= NUMBERS]


# ---- layer stack ----


def zone(name: str, square: int) -> tuple[int, int]:
    """The index of a king's square, from its own side, and the number of indices."""
    file, rank = divmod(square, 9)
    low = 0 if rank < 3 else 1 if rank < 6 else 2
    if name == "K3K3":
        return rank // 3, 3
    if name == "K9K9":
        return rank, 9
    if name == "K9K9Z":
        return (low if rank < 7 else 3 + 3 * (rank - 7) + file // 3), 9
    if name == "K13K13Z":
        return (rank if rank < 7 else 7 + 3 * (rank - 7) + file // 3), 13
    if name == "K21K21":
        return (low if rank < 7 else 3 + 9 * (rank - 7) + file), 21
    assert name == "K29K29"
    return (low if rank < 6 else 2 + 9 * (rank - 6) + file), 29


def hand_index(name: str, hand: dict[str, int]) -> tuple[int, int]:
    """The index of one side's hand, and the number of indices."""
    groups = {
        "HAND4": ["B"],
        "HAND16": ["P", "B"],
        "HAND64": ["PLN", "GSR", "B"],
        "HAND256": ["PLN", "SG", "B", "R"],
        "HAND1024": ["P", "LN", "SG", "B", "R"],
    }
    if name == "HAND64Z":
        points = {"P": 1, "L": 2, "N": 2, "S": 3, "G": 3, "B": 5, "R": 5}
        return min((sum(points[kind] * held for kind, held in hand.items()) + 3) // 4, 7), 8
    bits = [any(hand.get(kind) for kind in group) for group in groups[name]]
    return sum(bit << n for n, bit in enumerate(bits)), 1 << len(bits)


def progress_index(bias: int, weights: Ints, steps: int, position: Position) -> int:
    """The steps are equal parts of the logistic of the sum, whose unit is 1 / 65536."""
    total = bias
    for color in "bw":
        row = weights[king_place(position, color, color)]
        total += sum(int(row[one]) for one in numbers_of(position, color) if one < NUMBERS)
    limits = [round(65536 * math.log(i / (256 - i))) for i in range(1, 256)]
    return sum(total >= limit for limit in limits) * steps // 256


# ---- value ----


def wrapped(sums: Ints, kind: type[np.signedinteger[Any]]) -> Ints:
    return sums.astype(kind).astype(np.int64)


@dataclass
class Reference:
    """A network from the bytes of a file, without any check."""

    features: str
    sfnn: bool
    selectors: list[str]
    bias: Ints
    rows: Ints
    stacks: list[list[tuple[Ints, Ints]]]
    progress: tuple[int, Ints] | None
    hidden1: int  # units of the first hidden layer without the shortcut
    fv_scale: int = 16

    def value(self, sfen: str) -> int:
        """Centipawns for the side to move."""
        turn = Position(sfen).turn
        output = self.output(turn, sfen)
        value = abs(output) // self.fv_scale * (1 if output > 0 else -1)
        return max(-MAX_VALUE, min(MAX_VALUE, value))

    def sums(self, sfen: str, color: str) -> Ints:
        """The accumulator of one colour: 16-bit words that wrap."""
        active = active_features(self.features, sfen, color)
        return wrapped(self.bias.astype(np.int64) + self.rows[active].astype(np.int64).sum(axis=0), np.int16)

    def output(self, turn: str, sfen: str) -> int:
        inputs = np.concatenate([self.activated(self.sums(sfen, color)) for color in (turn, other(turn))])
        first, second, last = self.stacks[self.stack(Position(sfen))]
        sums = self.dense(first, inputs)
        if not self.sfnn:
            return int(self.dense(last, self.clipped(self.dense(second, self.clipped(sums))))[0])
        units, shortcut = sums[: self.hidden1], int(sums[self.hidden1 :].sum())
        squares = np.minimum(units * units >> 19, 127)
        hidden = self.clipped(self.dense(second, np.concatenate([squares, self.clipped(units)])))
        return int(wrapped(self.dense(last, hidden) + shortcut, np.int32)[0])

    def stack(self, position: Position) -> int:
        found = 0
        for name in self.selectors:
            sides = position.turn, other(position.turn)
            if name.startswith("PROGRESS"):
                assert self.progress is not None
                steps = int(name[8:])
                found = found * steps + progress_index(*self.progress, steps, position)
                continue
            if name.startswith("HAND"):
                indices = [hand_index(name, dict(position.hands[side])) for side in sides]
            else:
                indices = [zone(name, king_place(position, side, side)) for side in sides]
            for index, count in indices:
                found = found * count + index
        return found

    def activated(self, sums: Ints) -> Ints:
        if not self.sfnn:
            return sums.clip(0, 127)
        half = len(sums) // 2
        products: Ints = sums[:half].clip(0, 254) * sums[half:].clip(0, 254) >> 9
        return products

    def dense(self, layer: tuple[Ints, Ints], inputs: Ints) -> Ints:
        bias, weight = layer
        return wrapped(bias.astype(np.int64) + weight[:, : len(inputs)].astype(np.int64) @ inputs, np.int32)

    @staticmethod
    def clipped(sums: Ints) -> Ints:
        return (sums >> 6).clip(0, 127)


# ---- file ----


def leb128(data: bytes) -> Ints:
    """Decode signed numbers of any length."""
    octets = np.frombuffer(data, np.uint8).astype(np.int64)
    ends = np.flatnonzero(octets < 128)
    starts = np.concatenate([[0], ends[:-1] + 1])
    place_in = np.arange(len(octets)) - np.repeat(starts, ends - starts + 1)
    found: Ints = np.add.reduceat((octets & 127) << 7 * place_in, starts)
    bits = 7 * (ends - starts + 1)
    return np.where(octets[ends] & 64, found - (1 << bits), found)


def only_own_parts(words: list[str], weight: Ints) -> Ints:
    """Clear the weights of layer 0 from inputs that an output does not see, if the name of the network divides it."""
    match = re.search(r"_C(\d+)_S(\d+)X(\d+)", "_".join(words))
    if match is None:
        return weight
    common, shard, shards = (int(one) for one in match.groups())
    kept = np.zeros_like(weight)
    for i in range(len(weight)):
        start = common + shard * (i // (len(weight) // shards))
        for seen in (slice(0, common), slice(start, start + shard)):
            kept[i, seen] = weight[i, seen]
    return kept


def read_reference(path: Path, fv_scale: int = 16) -> Reference:
    """Read a file without any check."""
    data = path.read_bytes()
    at = 12 + int.from_bytes(data[8:12], "little")
    text = data[12:at].decode()
    match = re.search(r"Features=([^[(]*).*?\[(\d+)->(\d+)x2\],Network=([\w-]*)", text)
    assert match is not None
    features, width, count, network = match[1], int(match[3]), int(match[2]), match[4]
    sfnn = text.startswith("ModelType=SFNN")
    words = ["SFNN", "HALFKAHM2", "1536", "15", "32", "K3K3"] if network == "SFNN-1536" else network.split("_")
    if sfnn:
        hidden1, hidden2 = int(words[3]), int(words[4])
    else:
        hidden2, hidden1 = (int(one) for one in re.findall(r"AffineTransform\[\d+<-(\d+)\]", text)[:2])
    at += 4

    def take(kind: str, *shape: int) -> Ints:
        nonlocal at
        found = np.frombuffer(data, kind, math.prod(shape), at).reshape(shape)
        at += found.nbytes
        return found

    def take_packed() -> Ints:
        nonlocal at
        start = at + 21
        at = start + int.from_bytes(data[start - 4 : start], "little")
        return 2 * leb128(data[start:at])

    bias = take_packed() if sfnn else take("<i2", width)
    rows = take_packed().reshape(count, width) if sfnn else take("<i2", count, width)
    selectors = sorted((one for one in words[5:] if one[0] in "HKP"), key=lambda one: "HKP".index(one[0]))
    progress = None
    if selectors and selectors[-1].startswith("PROGRESS"):
        at += 4
        progress = int(take("<i4", 1)[0]), take("<i4", 81, NUMBERS)
    first = hidden1 + 1 if sfnn and hidden1 % 8 == 7 else hidden1
    shapes = [(first, width if sfnn else 2 * width), (hidden2, hidden1 * (1 + sfnn)), (1, hidden2)]
    stacks = []
    while at < len(data):
        at += 4
        layers = [(take("<i4", outs), take("i1", outs, -(-ins // 32) * 32)) for outs, ins in shapes]
        layers[0] = layers[0][0], only_own_parts(words, layers[0][1])
        stacks.append(layers)
    return Reference(features, sfnn, selectors, bias, rows, stacks, progress, hidden1, fv_scale)
