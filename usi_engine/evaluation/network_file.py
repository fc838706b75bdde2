"""nn.bin, the standard file of a shogi NNUE network, read and written. All words are little-endian.

    u32 version 0x7AF32F16, u32 hash of the whole, u32 length of the text, the text of the architecture
    u32 hash of the first layer, its biases int16 [width], its weights int16 [features][width]
    u32 hash of the dense layers, of each its biases int32 [outputs], its weights int8 [outputs][inputs padded to 32]

Text and hashes are those of YaneuraOu's NNUE (Y. Nasu, T.N.K.). A hash is computed from the architecture alone: it says
nothing about the weights.
"""

from __future__ import annotations

import math
import re
import sys
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from usi_engine.evaluation.names import WeightsError

FILE_NAME = "nn.bin"
VERSION = 0x7AF32F16
# How the text names each set of features.
NAMES = {"K+P": "K+P", "HalfKP": "HalfKP(Friend)"}
LARGEST_FILE = 1 << 28  # a little more than the largest network for play
LONGEST_TEXT = 4096
PADDED = 32
LARGEST_BIAS = 1 << 30  # of a dense layer: with all that weights can add, sums stay within 32 bits
WORD = 4
# Codes of signed integers in the buffer protocol: the one of each size in bytes, and all.
Code = Literal["b", "h", "i"]
KINDS: dict[int, Code] = {1: "b", 2: "h", 4: "i"}
SIGNED = frozenset("bhil")
# An array with the buffer protocol, numpy's for one. Those of a file are memoryviews: play starts without numpy.
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
    """The sizes of a network: first-layer sums of one colour (`width`) and units of the two hidden layers."""

    features: str  # "K+P" or "HalfKP"
    width: int
    hidden1: int
    hidden2: int

    def __str__(self) -> str:
        return f"{self.features} {self.width}x2-{self.hidden1}-{self.hidden2}"


@dataclass(eq=False)
class NetworkFile:
    """A network as the file has it."""

    architecture: Architecture
    text: str  # the architecture's, and what its author added; empty: format_architecture's
    ft_bias: Words  # int16: width
    ft_weight: Words  # int16: features x width
    layers: list[tuple[Words, Words]]  # of three: int32: outputs; int8: outputs x inputs padded to 32


class _Fault(ValueError):
    """What is wrong with a file."""


def format_architecture(architecture: Architecture) -> str:
    """The text of the header."""
    width, hidden1, hidden2 = architecture.width, architecture.hidden1, architecture.hidden2
    return (
        f"Features={NAMES[architecture.features]}[{feature_count(architecture)}->{width}x2],"
        f"Network=AffineTransform[1<-{hidden2}](ClippedReLU[{hidden2}](AffineTransform[{hidden2}<-{hidden1}]"
        f"(ClippedReLU[{hidden1}](AffineTransform[{hidden1}<-{2 * width}](InputSlice[{2 * width}(0:{2 * width})])))))"
    )


def check_sizes(architecture: Architecture) -> None:
    """Raise ValueError if play takes no network of these sizes."""
    from core_ext.engine import check_network_sizes  # noqa: PLC0415  (`id name` needs no core)

    try:
        check_network_sizes(architecture.width, architecture.hidden1, architecture.hidden2)
    except ValueError as fault:
        raise _Fault(f"its {fault}") from None


def feature_count(architecture: Architecture) -> int:
    """Return the number of features of the first layer."""
    from core_ext.engine import FEATURE_COUNTS  # noqa: PLC0415

    return FEATURE_COUNTS[architecture.features]


def file_of(path: Path) -> Path:
    """The nn.bin of a folder; any other path as it is."""
    return path / FILE_NAME if path.is_dir() else path


def read_network(path: str | Path) -> NetworkFile:
    """The network in a file, or in the nn.bin of a folder. WeightsError with one line that names file and fault."""
    file = Path(path)
    try:
        file = file_of(file.expanduser())
        return parse_network(_read_bytes(file))
    except _Fault as fault:
        raise WeightsError(f"cannot play with the network '{file}': {fault}") from None
    except OSError as error:
        raise WeightsError(f"cannot read the network '{file}': {error.strerror or error}") from None
    except (ValueError, RuntimeError) as error:  # of a path that no file can have
        raise WeightsError(f"cannot read the network {str(file)!a}: {error}") from None


def read_architecture(path: Path) -> Architecture:
    """What the head of a network file, or of the nn.bin of a folder, states; only that is read. OSError, ValueError."""
    text, _ = _read_header(_read_bytes(file_of(path), 3 * WORD + LONGEST_TEXT))
    return _parse_text(text)


def write_network(path: str | Path, network: NetworkFile) -> int:
    """Write the file; returns its size in bytes. ValueError where sizes do not fit the architecture."""
    architecture = network.architecture
    _check_arrays(network)
    text = (network.text or format_architecture(architecture)).encode("ascii")
    first, dense = _first_hash(architecture), _dense_hash(architecture)
    parts = [_words(VERSION, first ^ dense, len(text)), text, _words(first)]
    parts += [_to_bytes(network.ft_bias), _to_bytes(network.ft_weight), _words(dense)]
    parts += [_to_bytes(words) for layer in network.layers for words in layer]
    data = b"".join(parts)
    Path(path).write_bytes(data)
    return len(data)


# ---- sizes and hashes ----


def _padded(inputs: int) -> int:
    return -(-inputs // PADDED) * PADDED


def _layer_shapes(architecture: Architecture) -> list[tuple[int, int]]:
    """(outputs, padded inputs) of the dense layers."""
    inputs = [2 * architecture.width, architecture.hidden1, architecture.hidden2]
    outputs = [architecture.hidden1, architecture.hidden2, 1]
    return [(count, _padded(given)) for count, given in zip(outputs, inputs, strict=True)]


def _body_size(architecture: Architecture) -> int:
    """Bytes behind the text."""
    first = 2 * architecture.width * (1 + feature_count(architecture))
    return 2 * WORD + first + sum(outputs * (WORD + inputs) for outputs, inputs in _layer_shapes(architecture))


def _first_hash(architecture: Architecture) -> int:
    kinds = {"K+P": _K_HASH ^ (_P_HASH << 1 & _MASK) ^ _P_HASH >> 31, "HalfKP": _HALF_KP_HASH}
    return kinds[architecture.features] ^ 2 * architecture.width


def _dense_hash(architecture: Architecture) -> int:
    """Each layer folds in the hash of the one before it."""
    found = _INPUT_HASH ^ 2 * architecture.width
    for outputs, _ in _layer_shapes(architecture):
        found = (_AFFINE_HASH + outputs & _MASK) ^ found >> 1 ^ (found << 31 & _MASK)
        if outputs > 1:
            found = found + _RELU_HASH & _MASK
    return found


def _words(*words: int) -> bytes:
    return b"".join(word.to_bytes(WORD, "little") for word in words)


def _check_arrays(network: NetworkFile) -> None:
    """ValueError where an array, or the text, is not the architecture's."""
    architecture = network.architecture
    shapes = [((outputs,), (outputs, inputs)) for outputs, inputs in _layer_shapes(architecture)]
    given = [(bias.shape, weight.shape) for bias, weight in network.layers]
    first = [network.ft_bias.shape, network.ft_weight.shape]
    width, features = architecture.width, feature_count(architecture)
    if given != shapes or first != [(width,), (features, width)]:
        raise ValueError(f"arrays of the shapes {first} and {given} are no network of {architecture}")
    arrays = [network.ft_bias, network.ft_weight, *(one for layer in network.layers for one in layer)]
    kinds = [memoryview(one).format for one in arrays]
    sizes = [one.itemsize for one in arrays]
    if not SIGNED.issuperset(kinds) or sizes != [2, 2, *[4, 1] * len(shapes)]:
        raise ValueError(f"arrays of the types {kinds} are no network")
    if network.text:
        _check_text(network.text, architecture)


# ---- reading ----


def _read_bytes(file: Path, most: int = LARGEST_FILE + 1) -> bytes:
    if not file.exists():
        raise _Fault("there is no such file")
    if not file.is_file():
        raise _Fault("this is no regular file")
    size = file.stat().st_size
    if size > LARGEST_FILE:
        raise _Fault(f"{size} bytes are more than any network has")
    with file.open("rb") as stream:
        return stream.read(min(size + 1, most))  # so much is allocated


def parse_network(data: bytes) -> NetworkFile:
    """The network in the bytes of a file."""
    text, at = _read_header(data)
    architecture = _parse_text(text)
    _check_text(text, architecture)
    expected = at + _body_size(architecture)
    if len(data) != expected:
        raise _Fault(f"{len(data)} bytes where {expected} belong to its architecture")
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
            raise _Fault(f"a bias of {outputs} units is beyond {LARGEST_BIAS}: their sums would overflow")
        layers.append((bias, weight))
    return layers


def _array(data: bytes, at: int, kind: Code, shape: tuple[int, ...]) -> memoryview:
    """Aligned and in the byte order of the machine; the file aligns nothing, as its text may have any length."""
    found = array(kind)
    found.frombytes(memoryview(data)[at : at + math.prod(shape) * found.itemsize])
    return memoryview(_little_endian(found)).cast("B").cast(kind, shape)


def _to_bytes(words: Words) -> bytes:
    """As the file has them."""
    found = array(KINDS[words.itemsize])
    found.frombytes(words.tobytes())
    return _little_endian(found).tobytes()


def _little_endian(words: array[int]) -> array[int]:
    """From the byte order of the machine, or back."""
    if sys.byteorder == "big":
        words.byteswap()
    return words


def _word(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + WORD], "little")


def _read_header(data: bytes) -> tuple[str, int]:
    """The text, and where it ends."""
    length = _word(data, 2 * WORD)
    if len(data) < 3 * WORD:
        raise _Fault(f"{len(data)} bytes are too few for a network")
    if _word(data, 0) != VERSION:
        raise _Fault(f"its version is {_word(data, 0):#010x} and not {VERSION:#010x}")
    if not 0 < length <= min(LONGEST_TEXT, len(data) - 3 * WORD):
        raise _Fault(f"a text of {length} bytes cannot be in it")
    try:
        return data[3 * WORD : 3 * WORD + length].decode("ascii"), 3 * WORD + length
    except UnicodeDecodeError:
        raise _Fault("the text of its architecture is damaged") from None


def _parse_text(text: str) -> Architecture:
    """What the text says; more may stand behind it."""
    match = _TEXT.match(text)
    if match is None:
        raise _Fault(f"only K+P and HalfKP with two hidden layers can be played with, not {text[:120]!a}")
    features = next(kind for kind, name in NAMES.items() if name == match["features"])
    width, hidden1, hidden2 = int(match["width"]), int(match["hidden1"]), int(match["hidden2"])
    return Architecture(features, width, hidden1, hidden2)


def _check_text(text: str, architecture: Architecture) -> None:
    """Raise ValueError if play takes no such network or a part of the text contradicts another."""
    check_sizes(architecture)
    expected = format_architecture(architecture)
    if not text.startswith(expected) or text[len(expected) :][:1] not in ("", ",", ";", " ", "\n"):
        raise _Fault(f"the text of its architecture contradicts itself: {text[:400]!a}")


def _check_hash(data: bytes, at: int, whose: str, expected: int) -> None:
    found = _word(data, at)
    if found != expected:
        raise _Fault(f"the hash of {whose} is {found:#010x} and not {expected:#010x}, its architecture's")
