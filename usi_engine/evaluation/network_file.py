"""Reader and writer of nn.bin, the standard file of a shogi NNUE network. All words are little-endian.

    u32 version 0x7AF32F16, u32 hash of the whole, u32 length of the text, the text of the architecture
    u32 hash of the transformer, its biases int16 [width], its weights int16 [features][width]
    progress, if it selects the layer stack: u32 hash, int32 bias, int32 weights [81 king squares][1548 Bonapieces]
    for each layer stack: u32 hash, and for each of three layers
        biases int32 [outputs], weights int8 [outputs][inputs padded to 32]

SFNN: biases and weights of the transformer are half of those in memory, each array as "COMPRESSED_LEB128", u32 number
of bytes, signed LEB128. Text and hashes are those of YaneuraOu (2018 form: Y. Nasu, T.N.K.). A hash depends only on the
architecture; it is not checked, because public networks carry others and YaneuraOu only warns.
"""

import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import Any, Literal

from usi_engine.evaluation.architecture import Architecture, format_text, parse_text
from usi_engine.evaluation.names import NETWORK_FILE, Fault, named_errors, open_file
from usi_engine.evaluation.parts import BONAPIECES, SQUARES

VERSION = 0x7AF32F16
LARGEST_FILE = (1 << 31) - 1
LONGEST_TEXT = 4096
PADDED = 32  # inputs of a dense layer are padded to a multiple of it
PROGRESS_SHAPE = (SQUARES, BONAPIECES)
WORD = 4
# An array with the buffer protocol. Arrays from a file are memoryviews, because play starts without numpy.
Words = Any

_ENCODING = "utf-8", "surrogateescape"  # any bytes of an author's remark are written as they were read
_LEB128 = b"COMPRESSED_LEB128"
_LONGEST_NUMBER = 3  # bytes of an int16 in LEB128
_CHUNK = 1 << 18  # bytes of LEB128 that are decoded together
_DOUBLED = 2  # factor between an SFNN's transformer in memory and in the file
_SIGNED = frozenset("bhil")  # format codes of the buffer protocol
_MASK = 0xFFFFFFFF
_SFNN_HASH, _SFNN_TRANSFORMER_HASH, _SFNN_STACK_HASH = 0x3C203B32, 0x5F134AB8, 0x6333718A
_PROGRESS_HASH = 0x6F50524F
_INPUT_HASH, _AFFINE_HASH, _RELU_HASH = 0xEC42E90D, 0xCC03DAE4, 0x538D24C7


@dataclass(eq=False)
class NetworkFile:
    """The contents of a file, as `Network` of the core takes them."""

    architecture: Architecture
    text: str  # architecture and any remark of the author; empty: write format_text
    bias: Words  # int16 [width]; SFNN: doubled
    weight: Words  # int16 [features][width]; SFNN: doubled
    dense: bytes  # all layer stacks as in the file, see pack_dense
    progress: tuple[int, Words] | None = None  # bias, int32 [81][1548]


def network_path(path: Path) -> Path:
    """Return the nn.bin of a folder; other paths unchanged."""
    return path / NETWORK_FILE if path.is_dir() else path


def read_network(path: str | Path) -> NetworkFile:
    """Read the network in a file, or in the nn.bin of a folder. WeightsError, MemoryError."""
    with named_errors("network", path):
        file = network_path(Path(path).expanduser())
    with named_errors("network", file), open_file(file, LARGEST_FILE) as (stream, size):
        return parse_network(stream, size)


def read_architecture(path: Path) -> Architecture:
    """Read only the header of a file, or of the nn.bin of a folder. OSError, Fault."""
    with open_file(network_path(path), LARGEST_FILE) as (stream, size):
        return parse_text(_read_text(stream, size))


def write_network(path: str | Path, network: NetworkFile) -> int:
    """Write the file; return its size in bytes. ValueError if the arrays or the text contradict the architecture."""
    parts = list(_parts(network))
    with Path(path).open("wb") as stream:
        return sum(stream.write(part) for part in parts)


# ---- sizes and hashes ----


def _check_sizes(architecture: Architecture) -> None:
    """Raise Fault if the core cannot play with a network of these sizes."""
    from core_ext.engine import check_architecture  # noqa: PLC0415  (the header of a file is read without the core)

    try:
        check_architecture(architecture)
    except ValueError as fault:
        raise Fault(f"its {fault}") from None


def layer_shapes(architecture: Architecture) -> list[tuple[int, int]]:
    """Return (outputs, padded inputs) of the three dense layers."""
    first = architecture.hidden1 + architecture.shortcut
    inputs = [architecture.inputs, (1 + architecture.sfnn) * architecture.hidden1, architecture.hidden2]
    outputs = [first, architecture.hidden2, 1]
    return [(count, -(-given // PADDED) * PADDED) for count, given in zip(outputs, inputs, strict=True)]


def stack_size(architecture: Architecture) -> int:
    """Return the bytes of a layer stack."""
    return WORD + sum(outputs * (WORD + inputs) for outputs, inputs in layer_shapes(architecture))


def pack_dense(architecture: Architecture, stacks: Iterable[Sequence[tuple[Words, Words]]]) -> bytes:
    """Return the layer stacks as in the file.

    Each stack is three pairs of biases int32 [outputs] and weights int8 [outputs][inputs padded to 32]. Every output of
    a layer 0 in parts has weights for all inputs; play ignores those of other parts. ValueError if a shape is wrong.
    """
    shapes = [((outputs,), (outputs, inputs)) for outputs, inputs in layer_shapes(architecture)]
    parts: list[bytes] = []
    for layers in stacks:
        if [(bias.shape, weight.shape) for bias, weight in layers] != shapes:
            raise ValueError(f"layer shapes must be {shapes}")
        parts.append(_pack_words(_stack_hash(architecture)))
        parts += [_to_bytes(words, size) for layer in layers for words, size in zip(layer, (4, 1), strict=True)]
    return b"".join(parts)


def _transformer_hash(architecture: Architecture) -> int:
    if architecture.sfnn:
        return _SFNN_TRANSFORMER_HASH
    return architecture.feature_set.hash ^ 2 * architecture.width


def _stack_hash(architecture: Architecture) -> int:
    """Return the hash of the dense layers; each layer mixes in the hash of the layer before it."""
    if architecture.sfnn:
        return _SFNN_STACK_HASH
    found = _INPUT_HASH ^ 2 * architecture.width
    for outputs, _ in layer_shapes(architecture):
        found = (_AFFINE_HASH + outputs & _MASK) ^ found >> 1 ^ (found << 31 & _MASK)
        if outputs > 1:
            found = found + _RELU_HASH & _MASK
    return found


def _file_hash(architecture: Architecture) -> int:
    if architecture.sfnn:
        return _SFNN_HASH ^ (_PROGRESS_HASH if architecture.progress else 0)
    return _transformer_hash(architecture) ^ _stack_hash(architecture)


# ---- writing ----


def _parts(network: NetworkFile) -> Iterator[bytes]:
    """Yield the parts of a file. ValueError."""
    architecture = network.architecture
    _check(network)
    text = (network.text or format_text(architecture)).encode(*_ENCODING)
    yield _pack_words(VERSION, _file_hash(architecture), len(text)) + text
    yield _pack_words(_transformer_hash(architecture))
    for numbers in (network.bias, network.weight):
        yield from _packed(numbers) if architecture.sfnn else [_to_bytes(numbers, 2)]
    if network.progress is not None:
        bias, weights = network.progress
        yield _pack_words(_PROGRESS_HASH, bias & _MASK) + _to_bytes(weights, WORD)
    yield bytes(network.dense)


def _check(network: NetworkFile) -> None:
    """Raise ValueError if an array or the text contradicts the architecture."""
    architecture = network.architecture
    _check_sizes(architecture)
    width, features = architecture.width, architecture.feature_count
    if (network.bias.shape, network.weight.shape) != ((width,), (features, width)):
        raise ValueError(f"arrays of {network.bias.shape} and {network.weight.shape} do not make {architecture.name}")
    if len(network.dense) != architecture.stacks * stack_size(architecture):
        raise ValueError(f"{len(network.dense)} bytes are not the dense layers of {architecture.name}")
    if (network.progress is not None) != bool(architecture.progress) or (
        network.progress is not None and network.progress[1].shape != PROGRESS_SHAPE
    ):
        raise ValueError(f"the progress weights do not fit {architecture.name}")
    if network.text and parse_text(network.text) != architecture:
        raise ValueError(f"{network.text[:300]!a} is not the text of {architecture.name}")


def _packed(numbers: Words) -> Iterator[bytes]:
    """Yield the block of an array of an SFNN's transformer."""
    from core_ext.base.leb128 import encode  # noqa: PLC0415  (the header of a file is read without the core)

    data = encode(memoryview(_native_bytes(numbers, 2)).cast("h"), _DOUBLED)
    yield _LEB128 + _pack_words(len(data))
    yield data


def _pack_words(*words: int) -> bytes:
    return b"".join(word.to_bytes(WORD, "little") for word in words)


def _native_bytes(words: Words, size: int) -> bytes:
    """Return the bytes of an array. ValueError if it is not of signed integers of this size."""
    view = memoryview(words)
    if (view.format or "").strip("=@") not in _SIGNED or view.itemsize != size:
        raise ValueError(f"an array of type {view.format} does not belong in a network")
    data: bytes = words.tobytes()
    return data


def _to_bytes(words: Words, size: int) -> bytes:
    return _little_endian(_native_bytes(words, size), size)


def _little_endian(data: bytes, size: int) -> bytes:
    """Convert from the machine's byte order to little-endian, or back."""
    if sys.byteorder == "little" or size == 1:
        return data
    kind: Literal["h", "i"] = "h" if size == 2 else "i"
    words = array(kind, data)
    words.byteswap()
    return words.tobytes()


# ---- reading ----


def parse_network(stream: BufferedIOBase, size: int) -> NetworkFile:
    """Read the network in a stream of `size` bytes. Fault, if possible before the arrays are read; MemoryError."""
    from core_ext.engine import weight_memory  # noqa: PLC0415  (the header of a file is read without the core)

    text = _read_text(stream, size)
    architecture = parse_text(text)
    _check_sizes(architecture)
    width, rows, dense_size = architecture.width, architecture.feature_count, stack_size(architecture)
    start = stream.tell() + WORD
    counts = [width, rows * width]
    plain = [(start, 2 * width), (start + 2 * width, 2 * rows * width)]
    blocks = _find_packed(stream, start, counts) if architecture.sfnn else plain
    at = sum(blocks[-1])
    rest = bool(architecture.progress) * _progress_size() + architecture.stacks * dense_size
    if size != at + rest:
        raise Fault(f"it has {size} bytes, not the {at + rest} of {architecture.name}")
    arrays = [weight_memory(2 * count) for count in counts]
    for data, block in zip(arrays, blocks, strict=True):
        (_read_packed if architecture.sfnn else _read_plain)(stream, data, *block)
    bias, weight = arrays
    stream.seek(at)
    progress = _read_progress(stream) if architecture.progress else None
    dense = _read_exactly(stream, architecture.stacks * dense_size)
    return NetworkFile(architecture, text, bias.cast("h"), weight.cast("h", (rows, width)), dense, progress)


def _read_text(stream: BufferedIOBase, size: int) -> str:
    """Return the text of the header; the stream then stands at its end. Fault."""
    head = stream.read(3 * WORD)
    if len(head) < 3 * WORD:
        raise Fault(f"{len(head)} bytes are too few for a network")
    version, length = _word(head), _word(head[2 * WORD :])
    if version != VERSION:
        raise Fault(f"its version is {version:#010x}, not {VERSION:#010x}")
    if not 0 < length <= min(LONGEST_TEXT, size - 3 * WORD):
        raise Fault(f"the length of its text, {length} bytes, is impossible")
    return stream.read(length).decode(*_ENCODING)


def _find_packed(stream: BufferedIOBase, at: int, counts: list[int]) -> list[tuple[int, int]]:
    """Return offset and bytes of the transformer's arrays in LEB128. Fault."""
    found = []
    for count in counts:
        stream.seek(at)
        head = _read_exactly(stream, len(_LEB128) + WORD)
        length = _word(head[len(_LEB128) :])
        if not head.startswith(_LEB128) or not count <= length <= _LONGEST_NUMBER * count:
            raise Fault(f"at byte {at} there is no block of {count} numbers in LEB128")
        found.append((at + len(head), length))
        at += len(head) + length
    return found


def _read_plain(stream: BufferedIOBase, data: memoryview, at: int, length: int) -> None:
    stream.seek(at)
    _read_into(stream, data)
    if sys.byteorder != "little":
        data[:] = _little_endian(bytes(data), 2)


def _read_packed(stream: BufferedIOBase, data: memoryview, at: int, length: int) -> None:
    """Read numbers in LEB128, doubled."""
    from core_ext.base.leb128 import decode  # noqa: PLC0415  (the header of a file is read without the core)

    numbers, kept, left = data.cast("h"), 0, length
    room = memoryview(bytearray(_CHUNK))
    stream.seek(at)
    while left:
        part = room[: min(_CHUNK, kept + left)]
        _read_into(stream, part[kept:])
        left -= len(part) - kept
        try:
            count, used = decode(part, numbers, _DOUBLED)
        except ValueError as error:
            raise Fault(f"at byte {stream.tell()} it is damaged: {error}") from None
        numbers, kept = numbers[count:], len(part) - used
        room[:kept] = bytes(part[used:])  # the beginning of a number
    if kept or numbers:
        raise Fault(f"at byte {at} it is damaged: {len(numbers)} numbers are missing")


def _progress_size() -> int:
    return 2 * WORD + WORD * PROGRESS_SHAPE[0] * PROGRESS_SHAPE[1]


def _read_progress(stream: BufferedIOBase) -> tuple[int, memoryview]:
    data = _read_exactly(stream, _progress_size())
    bias = int.from_bytes(data[WORD : 2 * WORD], "little", signed=True)
    return bias, memoryview(_little_endian(data[2 * WORD :], WORD)).cast("B").cast("i", PROGRESS_SHAPE)


def _read_into(stream: BufferedIOBase, data: memoryview) -> None:
    if stream.readinto(data) != len(data):
        raise Fault(f"it ends after {stream.tell()} bytes")


def _read_exactly(stream: BufferedIOBase, length: int) -> bytes:
    data = stream.read(length)
    if len(data) < length:
        raise Fault(f"it ends after {stream.tell()} bytes")
    return data


def _word(data: bytes) -> int:
    return int.from_bytes(data[:WORD], "little")
