"""Reader and writer of nn.bin, the standard file of a shogi NNUE network. All words are little-endian.

    u32 version 0x7AF32F16, u32 hash of the whole, u32 length of the text, the text of the architecture
    u32 hash of the first layer, its biases int16 [width], its weights int16 [features][width]
    u32 hash of the dense layers, then for each: biases int32 [outputs], weights int8 [outputs][inputs padded to 32]

Text and hashes are those of YaneuraOu's NNUE (Y. Nasu, T.N.K.). A hash depends only on the architecture, not on the
weights.
"""

from __future__ import annotations

import math
import re
import sys
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from usi_engine.evaluation.files import Fault, named_errors, read_bytes

FILE_NAME = "nn.bin"
VERSION = 0x7AF32F16
NAMES = {"K+P": "K+P", "HalfKP": "HalfKP(Friend)"}  # feature sets and their names in the text
LARGEST_FILE = 1 << 28  # a little more than the largest network for play
LONGEST_TEXT = 4096
PADDED = 32  # PADDED_INPUTS of core_ext/eval/nnue/network.pyx: inputs of a dense layer are padded to a multiple of it
LARGEST_BIAS = 1 << 30  # of a dense layer: sums of this and all weights fit into 32 bits
WORD = 4
# Format codes of the buffer protocol: the code for each size in bytes, and all codes of signed integers.
Code = Literal["b", "h", "i"]
KINDS: dict[int, Code] = {1: "b", 2: "h", 4: "i"}
SIGNED = frozenset("bhil")
# An array with the buffer protocol. Arrays from a file are memoryviews, because play starts without numpy.
Words = Any

_K_HASH, _P_HASH = 0xD3CEE169, 0x764CFB4B
_HALF_KP_HASH = 0x5D69D5B9 ^ 1
_INPUT_HASH, _AFFINE_HASH, _RELU_HASH = 0xEC42E90D, 0xCC03DAE4, 0x538D24C7
_MASK = 0xFFFFFFFF
_TEXT = re.compile(
    r"Features=(?P<features>K\+P|HalfKP\(Friend\))\[[0-9]{1,9}->(?P<width>[0-9]{1,9})x2\],"
    r"Network=AffineTransform\[1<-(?P<hidden2>[0-9]{1,9})\]\(ClippedReLU\[[0-9]{1,9}\]"
    r"\(AffineTransform\[[0-9]{1,9}<-(?P<hidden1>[0-9]{1,9})\]\(ClippedReLU\["
)


@dataclass(frozen=True)
class Architecture:
    """The sizes of a network: accumulator width of one perspective and units of the two hidden layers."""

    features: str  # "K+P" or "HalfKP"
    width: int
    hidden1: int
    hidden2: int

    def __str__(self) -> str:
        return f"{self.features} {self.width}x2-{self.hidden1}-{self.hidden2}"


@dataclass(eq=False)
class NetworkFile:
    """The contents of a file."""

    architecture: Architecture
    text: str  # architecture and any remark of the author; empty: write format_architecture
    ft_bias: Words  # int16: width
    ft_weight: Words  # int16: features x width
    layers: list[tuple[Words, Words]]  # of the three dense layers: int32 outputs; int8 outputs x padded inputs


def format_architecture(architecture: Architecture) -> str:
    """Return the text of the header."""
    width, hidden1, hidden2 = architecture.width, architecture.hidden1, architecture.hidden2
    return (
        f"Features={NAMES[architecture.features]}[{feature_count(architecture)}->{width}x2],"
        f"Network=AffineTransform[1<-{hidden2}](ClippedReLU[{hidden2}](AffineTransform[{hidden2}<-{hidden1}]"
        f"(ClippedReLU[{hidden1}](AffineTransform[{hidden1}<-{2 * width}](InputSlice[{2 * width}(0:{2 * width})])))))"
    )


def check_sizes(architecture: Architecture) -> None:
    """Raise Fault if the core cannot play with a network of these sizes."""
    from core_ext.engine import check_network_sizes  # noqa: PLC0415  (`id name` needs no core)

    try:
        check_network_sizes(architecture.width, architecture.hidden1, architecture.hidden2)
    except ValueError as fault:
        raise Fault(f"its {fault}") from None


def feature_count(architecture: Architecture) -> int:
    from core_ext.engine import FEATURE_COUNTS  # noqa: PLC0415

    return FEATURE_COUNTS[architecture.features]


def file_of(path: Path) -> Path:
    """Return the nn.bin of a folder; other paths unchanged."""
    return path / FILE_NAME if path.is_dir() else path


def read_network(path: str | Path) -> NetworkFile:
    """Read the network in a file, or in the nn.bin of a folder. WeightsError."""
    with named_errors("network", path):
        file = file_of(Path(path).expanduser())
    with named_errors("network", file):
        return parse_network(read_bytes(file, LARGEST_FILE))


def read_architecture(path: Path) -> Architecture:
    """Read only the header of a file, or of the nn.bin of a folder. OSError, Fault."""
    text, _ = _read_header(read_bytes(file_of(path), LARGEST_FILE, 3 * WORD + LONGEST_TEXT))
    return _parse_text(text)


def write_network(path: str | Path, network: NetworkFile) -> int:
    """Write the file; return its size in bytes. ValueError if the arrays or the text contradict the architecture."""
    architecture = network.architecture
    _check_arrays(network)
    text = (network.text or format_architecture(architecture)).encode("ascii")
    first, dense = _first_hash(architecture), _dense_hash(architecture)
    parts = [_pack_words(VERSION, first ^ dense, len(text)), text, _pack_words(first)]
    parts += [_to_bytes(network.ft_bias), _to_bytes(network.ft_weight), _pack_words(dense)]
    parts += [_to_bytes(words) for layer in network.layers for words in layer]
    data = b"".join(parts)
    Path(path).write_bytes(data)
    return len(data)


# ---- sizes and hashes ----


def _padded(inputs: int) -> int:
    return -(-inputs // PADDED) * PADDED


def _layer_shapes(architecture: Architecture) -> list[tuple[int, int]]:
    """Return (outputs, padded inputs) of each dense layer."""
    inputs = [2 * architecture.width, architecture.hidden1, architecture.hidden2]
    outputs = [architecture.hidden1, architecture.hidden2, 1]
    return [(count, _padded(given)) for count, given in zip(outputs, inputs, strict=True)]


def _body_size(architecture: Architecture) -> int:
    """Return the number of bytes after the text."""
    first = 2 * architecture.width * (1 + feature_count(architecture))
    return 2 * WORD + first + sum(outputs * (WORD + inputs) for outputs, inputs in _layer_shapes(architecture))


def _first_hash(architecture: Architecture) -> int:
    kinds = {"K+P": _K_HASH ^ (_P_HASH << 1 & _MASK) ^ _P_HASH >> 31, "HalfKP": _HALF_KP_HASH}
    return kinds[architecture.features] ^ 2 * architecture.width


def _dense_hash(architecture: Architecture) -> int:
    """Return the hash of the dense layers; each layer mixes in the hash of the layer before it."""
    found = _INPUT_HASH ^ 2 * architecture.width
    for outputs, _ in _layer_shapes(architecture):
        found = (_AFFINE_HASH + outputs & _MASK) ^ found >> 1 ^ (found << 31 & _MASK)
        if outputs > 1:
            found = found + _RELU_HASH & _MASK
    return found


def _pack_words(*words: int) -> bytes:
    return b"".join(word.to_bytes(WORD, "little") for word in words)


def _check_arrays(network: NetworkFile) -> None:
    """Raise ValueError if an array or the text contradicts the architecture."""
    architecture = network.architecture
    shapes = [((outputs,), (outputs, inputs)) for outputs, inputs in _layer_shapes(architecture)]
    given = [(bias.shape, weight.shape) for bias, weight in network.layers]
    first = [network.ft_bias.shape, network.ft_weight.shape]
    width, features = architecture.width, feature_count(architecture)
    if given != shapes or first != [(width,), (features, width)]:
        raise ValueError(f"arrays of shapes {first} and {given} do not make a network {architecture}")
    arrays = [network.ft_bias, network.ft_weight, *(one for layer in network.layers for one in layer)]
    kinds = [memoryview(one).format for one in arrays]
    sizes = [one.itemsize for one in arrays]
    if not SIGNED.issuperset(kinds) or sizes != [2, 2, *[4, 1] * len(shapes)]:
        raise ValueError(f"arrays of types {kinds} do not make a network")
    if network.text:
        _check_text(network.text, architecture)


# ---- reading ----


def parse_network(data: bytes) -> NetworkFile:
    """Read the network in the bytes of a file. Fault."""
    text, at = _read_header(data)
    architecture = _parse_text(text)
    _check_text(text, architecture)
    expected = at + _body_size(architecture)
    if len(data) != expected:
        raise Fault(f"it has {len(data)} bytes, not the {expected} of its architecture")
    first, dense = _first_hash(architecture), _dense_hash(architecture)
    _check_hash(data, WORD, "the file", first ^ dense)
    _check_hash(data, at, "the first layer", first)
    width, features = architecture.width, feature_count(architecture)
    at += WORD
    bias = _array(data, at, "h", (width,))
    weight = _array(data, at + bias.nbytes, "h", (features, width))
    at += bias.nbytes + weight.nbytes
    _check_hash(data, at, "the dense layers", dense)
    return NetworkFile(architecture, text, bias, weight, _read_layers(data, at + WORD, architecture))


def _read_layers(data: bytes, at: int, architecture: Architecture) -> list[tuple[Words, Words]]:
    layers: list[tuple[Words, Words]] = []
    for outputs, inputs in _layer_shapes(architecture):
        bias = _array(data, at, "i", (outputs,))
        weight = _array(data, at + bias.nbytes, "b", (outputs, inputs))
        at += bias.nbytes + weight.nbytes
        if max(map(abs, bias)) > LARGEST_BIAS:
            raise Fault(f"a bias of a layer of {outputs} units is over {LARGEST_BIAS}: the sums would overflow")
        layers.append((bias, weight))
    return layers


def _array(data: bytes, at: int, kind: Code, shape: tuple[int, ...]) -> memoryview:
    """Copy an array out of the file, aligned and in the machine's byte order. In the file it may be at any offset."""
    found = array(kind)
    found.frombytes(memoryview(data)[at : at + math.prod(shape) * found.itemsize])
    return memoryview(_little_endian(found)).cast("B").cast(kind, shape)


def _to_bytes(words: Words) -> bytes:
    found = array(KINDS[words.itemsize])
    found.frombytes(words.tobytes())
    return _little_endian(found).tobytes()


def _little_endian(words: array[int]) -> array[int]:
    """Convert in place from the machine's byte order to little-endian, or back."""
    if sys.byteorder == "big":
        words.byteswap()
    return words


def _word(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + WORD], "little")


def _read_header(data: bytes) -> tuple[str, int]:
    """Return the text and the offset of its end. Fault."""
    length = _word(data, 2 * WORD)
    if len(data) < 3 * WORD:
        raise Fault(f"{len(data)} bytes are too few for a network")
    if _word(data, 0) != VERSION:
        raise Fault(f"its version is {_word(data, 0):#010x}, not {VERSION:#010x}")
    if not 0 < length <= min(LONGEST_TEXT, len(data) - 3 * WORD):
        raise Fault(f"the length of its text, {length} bytes, is impossible")
    try:
        return data[3 * WORD : 3 * WORD + length].decode("ascii"), 3 * WORD + length
    except UnicodeDecodeError:
        raise Fault("the text of its architecture is damaged") from None


def _parse_text(text: str) -> Architecture:
    """Read the architecture at the beginning of the text."""
    match = _TEXT.match(text)
    if match is None:
        raise Fault(f"only K+P and HalfKP with two hidden layers are supported, not {text[:120]!a}")
    features = next(kind for kind, name in NAMES.items() if name == match["features"])
    width, hidden1, hidden2 = int(match["width"]), int(match["hidden1"]), int(match["hidden2"])
    return Architecture(features, width, hidden1, hidden2)


def _check_text(text: str, architecture: Architecture) -> None:
    """Raise Fault if the core cannot play with such a network or the text contradicts itself."""
    check_sizes(architecture)
    expected = format_architecture(architecture)
    if not text.startswith(expected) or text[len(expected) :][:1] not in ("", ",", ";", " ", "\n"):
        raise Fault(f"the text of its architecture contradicts itself: {text[:400]!a}")


def _check_hash(data: bytes, at: int, whose: str, expected: int) -> None:
    found = _word(data, at)
    if found != expected:
        raise Fault(f"the hash of {whose} is {found:#010x}, not its architecture's {expected:#010x}")
