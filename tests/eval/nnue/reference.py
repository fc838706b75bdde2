"""The network in plain numpy over the slow rules: the oracle of the tests, sharing nothing with the core."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.shogi.slow_shogi import Position, color_of
from usi_engine.evaluation.network_file import Architecture, NetworkFile

# First number of each hand range, the viewer's and the enemy's, and the kinds on the board in the order of numbers.
HANDS = {"P": (1, 20), "L": (39, 44), "N": (49, 54), "S": (59, 64), "G": (69, 74), "B": (79, 82), "R": (85, 88)}
KINDS = ["P", "L", "N", "S", "G", "B", "+B", "R", "+R"]
BOARD, NUMBERS = 90, 1548
FEATURES = {"K+P": NUMBERS + 2 * 81, "HalfKP": 81 * NUMBERS}

Ints = npt.NDArray[Any]


@dataclass
class Reference:
    """A network with the words of its file; widths and features follow from the text."""

    half_kp: bool
    rows: Ints
    biases: Ints
    layers: list[tuple[Ints, Ints]]
    fv_scale: int = 16

    def value(self, sfen: str) -> int:
        """Centipawns for the side to move."""
        turn = Position(sfen).turn
        units = np.concatenate([self.sums(sfen, color) for color in (turn, "w" if turn == "b" else "b")]).clip(0, 127)
        for bias, weight in self.layers[:-1]:
            sums = (bias.astype(np.int64) + weight[:, : len(units)].astype(np.int64) @ units).astype(np.int32)
            units = (sums >> 6).clip(0, 127)
        bias, weight = self.layers[-1]
        output = int((bias.astype(np.int64) + weight[:, : len(units)].astype(np.int64) @ units).astype(np.int32)[0])
        value = abs(output) // self.fv_scale * (1 if output > 0 else -1)
        return max(-20000, min(20000, value))

    def sums(self, sfen: str, color: str) -> Ints:
        """The accumulator of one colour: 16-bit words that wrap."""
        active = active_features(self.half_kp, sfen, color)
        total = self.biases.astype(np.int64) + self.rows[active].astype(np.int64).sum(axis=0)
        wrapped: Ints = total.astype(np.int16).astype(np.int64)
        return wrapped


def active_features(half_kp: bool, sfen: str, color: str) -> list[int]:
    """The features of one colour, in any order."""
    position = Position(sfen)
    kings = {color_of(piece): place(square, color) for square, piece in position.board.items() if piece in "Kk"}
    numbers = [number(piece, place(square, color), color) for square, piece in position.board.items()
               if piece not in "Kk"]  # fmt: skip
    for owner, hand in position.hands.items():
        for kind, held in hand.items():
            numbers += [HANDS[kind][owner != color] + n for n in range(held)]
    if half_kp:
        return [NUMBERS * kings[color] + one for one in numbers]
    return [*numbers, NUMBERS + kings[color], NUMBERS + 81 + kings["w" if color == "b" else "b"]]


def place(square: tuple[int, int], color: str) -> int:
    """0 to 80, as a colour sees it."""
    file, rank = square
    found = 9 * (file - 1) + rank - 1
    return found if color == "b" else 80 - found


def number(piece: str, square: int, color: str) -> int:
    """The Bonapiece number of a piece on a square as a colour sees it."""
    kind = piece.upper()
    kind = "G" if kind in ("+P", "+L", "+N", "+S") else kind
    return BOARD + 81 * (2 * KINDS.index(kind) + (color_of(piece) != color)) + square


def read_reference(path: Path) -> Reference:
    """Read a file without any check."""
    data = path.read_bytes()
    length = struct.unpack_from("<I", data, 8)[0]
    sizes = [int(found) for found in re.findall(r"[0-9]+", data[12 : 12 + length].decode())]
    features, width, hidden2, hidden1 = sizes[0], sizes[1], sizes[4], sizes[7]
    at = 12 + length + 4

    def take(kind: str, *shape: int) -> Ints:
        nonlocal at
        found = np.frombuffer(data, kind, int(np.prod(shape)), at).reshape(shape)
        at += found.nbytes
        return found

    biases, rows = take("<i2", width), take("<i2", features, width)
    at += 4
    layers = []
    for outputs, inputs in ((hidden1, 2 * width), (hidden2, hidden1), (1, hidden2)):
        layers.append((take("<i4", outputs), take("i1", outputs, (inputs + 31) // 32 * 32)))
    assert at == len(data)
    return Reference(features == 81 * NUMBERS, rows, biases, layers)


def random_network(architecture: Architecture, seed: int = 1, wild: bool = False) -> NetworkFile:
    """Make a network with sums near the range of the activations; `wild`: words of the whole range, whose sums wrap."""
    rng = np.random.default_rng(seed)
    width, most = architecture.width, 32767 if wild else 40
    inputs = [2 * width, architecture.hidden1, architecture.hidden2]
    outputs = [architecture.hidden1, architecture.hidden2, 1]
    layers = []
    for units, given in zip(outputs, inputs, strict=True):
        weight = np.zeros((units, (given + 31) // 32 * 32), np.int8)
        weight[:, :given] = rng.integers(-128, 128, (units, given)) // (1 if wild else 3)
        layers.append((rng.integers(-9000, 9000, units, np.int32), weight))
    bias = rng.integers(-most, most, width, np.int16)
    rows = rng.integers(-most, most, (FEATURES[architecture.features], width), np.int16)
    return NetworkFile(architecture, "", bias, rows, layers)
