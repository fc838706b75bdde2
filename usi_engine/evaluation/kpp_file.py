"""The file of KPP weights: header, checksums, and compressed arrays that loading unfolds for play.

Folded: weights that are equal by symmetry are stored once. Unfolded: a weight is stored at each of its indices, so that
play reads it by one table access.

    bytes 0-7     the magic KOMAKPP3
    bytes 8-11    length of the header, little-endian
    bytes 12-43   SHA-256 of the header
    header        JSON: features, steps, card, and the name, length and SHA-256 of each block
    blocks        LZMA, one after the other: `piece` (32-bit words), `kp`, `pp`, `kkp`, `kp_turn` and `pp_turn` (tempo
                  terms); then for each zone of king squares `zone00`, ... and its squares' `kpp00`, ... up to `kpp44`

A king's KPP weights are the sum of its block and its zone's. Training gives most pairs one weight per zone, so most
words of a king's block are zero. A block of 16-bit words stores all low bytes before all high bytes. OFFSET is
added to each word, so that the high bytes of small words are zero whatever their sign.
"""

import hashlib
import json
import lzma
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core_ext.engine import BONAPIECES, HALF_SQUARES, PAIRS, SQUARES, KppWeights
from usi_engine.evaluation.cache import cache_file, fetch, keep
from usi_engine.evaluation.names import KPP, PACKAGED, Fault, named_errors, read_bytes

MAGIC = b"KOMAKPP3"
HEADER_START = 44
FEATURES = f"KPP-KKP-turn-Bonapiece{BONAPIECES}"
OFFSET = 128
ZONES = 11
LONGEST_HEADER = 1 << 20
LARGEST_FILE = 1 << 28  # several times the size of incompressible weights
STEPS = range(1, 1024)
TEMPOS = range(-(1 << 15), 1 << 15)
# At most 32,768 centipawns, more than the largest evaluation: sums of 38 and the other terms fit into 32 bits.
PIECE_VALUES = range(-(1 << 20), (1 << 20) + 1)
MALFORMED = (KeyError, TypeError, ValueError, OverflowError, RecursionError)  # raised by a header with wrong fields
# MODE_NORMAL writes a file a fifth smaller than MODE_FAST; reading takes the same 35 ms a block.
FILTERS = [
    {"id": lzma.FILTER_LZMA2, "preset": 6, "lc": 0, "lp": 0, "pb": 0, "dict_size": 1 << 22,
     "mode": lzma.MODE_NORMAL, "mf": lzma.MF_BT4, "nice_len": 64},
]  # fmt: skip

Words = npt.NDArray[np.int16]


def king_zone(king: int) -> int:
    """Return the zone, 0 to 10, of a king square on files 1 to 5, as in training."""
    file, rank = divmod(king, 9)
    return 4 * (file // 2) + (0 if rank >= 7 else 1 if rank >= 5 else 2 + file % 2)


KINGS_OF_ZONE = [[king for king in range(HALF_SQUARES) if king_zone(king) == zone] for zone in range(ZONES)]


@dataclass(frozen=True)
class Folded:
    """Folded, quantised weights in 1/32 centipawn; kkp, kpp and pp_tempo must be multiplied by their steps."""

    piece: npt.NDArray[np.int32]  # BONAPIECES
    tempo: int
    kp: Words  # HALF_SQUARES x BONAPIECES
    pp: Words  # PAIRS
    kkp: Words  # HALF_SQUARES x SQUARES x BONAPIECES
    kkp_step: int
    kpp: Words  # HALF_SQUARES x PAIRS
    kpp_step: int
    kp_tempo: Words  # HALF_SQUARES x BONAPIECES
    pp_tempo: Words  # PAIRS, -128 to 127
    tempo_step: int  # of pp_tempo


# The arrays of 16-bit words but kpp: their blocks and sizes. The numbers by their names in the header.
ARRAYS = {
    "kp": ("kp", HALF_SQUARES * BONAPIECES), "pp": ("pp", PAIRS), "kkp": ("kkp", HALF_SQUARES * SQUARES * BONAPIECES),
    "kp_tempo": ("kp_turn", HALF_SQUARES * BONAPIECES), "pp_tempo": ("pp_turn", PAIRS),
}  # fmt: skip
NUMBERS = {"tempo": "tempo", "kkp_step": "kkp_step", "kpp_step": "kpp_step", "tempo_step": "turn_step"}


def compress(data: bytes) -> bytes:
    """Return the bytes as a block of the file."""
    return lzma.compress(data, lzma.FORMAT_RAW, filters=FILTERS)


def decompress(block: bytes, size: int) -> bytes:
    """Return the `size` bytes of a block; allocate no more if it is larger. Fault if it has another size."""
    try:
        data = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=FILTERS).decompress(block, size + 1)
    except lzma.LZMAError as error:
        raise Fault(f"a block is damaged: {error}") from None
    if len(data) != size:
        raise Fault(f"a block is damaged: it does not have {size} bytes")
    return data


def pack(words: Words) -> bytes:
    """Compress 16-bit words, the low bytes before the high bytes."""
    planes = (words + np.int16(OFFSET)).astype("<i2").reshape(-1).view(np.uint8).reshape(-1, 2).T
    return compress(planes.tobytes())


def unpack(block: bytes, count: int) -> Words:
    """Return the `count` words that `pack` compressed. Fault."""
    planes = np.frombuffer(decompress(block, 2 * count), np.uint8).reshape(2, count)
    words: Words = np.ascontiguousarray(planes.T).view("<i2").reshape(count).astype(np.int16)
    words -= OFFSET
    return words


def pack_zone(zone: int, kpp: Words) -> dict[str, bytes]:
    """Compress the KPP weights of a zone's kings: the median of each weight, and their differences from it."""
    kings = KINGS_OF_ZONE[zone]
    shared = np.sort(kpp[kings], axis=0)[len(kings) // 2]
    return {f"zone{zone:02}": pack(shared)} | {f"kpp{king:02}": pack(kpp[king] - shared) for king in kings}


def unpack_zone(blocks: Mapping[str, bytes], zone: int) -> Iterator[tuple[int, Words]]:
    """Yield each king square of a zone with its KPP weights. Fault."""
    shared = unpack(blocks[f"zone{zone:02}"], PAIRS)
    for king in KINGS_OF_ZONE[zone]:
        yield king, shared + unpack(blocks[f"kpp{king:02}"], PAIRS)


def save_weights(path: Path, folded: Folded, card: Mapping[str, Any]) -> int:
    """Write the file; return its size in bytes."""
    blocks = {"piece": compress(folded.piece.astype("<i4").tobytes())}
    blocks |= {name: pack(getattr(folded, array)) for array, (name, _count) in ARRAYS.items()}
    for zone in range(ZONES):
        blocks |= pack_zone(zone, folded.kpp.reshape(HALF_SQUARES, PAIRS))
    header = {
        "features": FEATURES,
        **{name: getattr(folded, number) for number, name in NUMBERS.items()},
        "card": card,
        "blocks": [[name, len(block), hashlib.sha256(block).hexdigest()] for name, block in blocks.items()],
    }
    return path.write_bytes(file_bytes(header, blocks.values()))


def file_bytes(header: Any, blocks: Iterable[bytes]) -> bytes:
    """Return the file with this header, as JSON, and these blocks."""
    text = json.dumps(header).encode()
    return b"".join([MAGIC, len(text).to_bytes(4, "little"), hashlib.sha256(text).digest(), text, *blocks])


def read_header(data: bytes) -> tuple[dict[str, Any], int]:
    """Return the header and the offset of the blocks. Fault."""
    length = int.from_bytes(data[8:12], "little")
    if data[:8] != MAGIC or not 0 < length <= LONGEST_HEADER:
        raise Fault("it has no KPP weights for this version; the name of a network ends in .bin or .nnue")
    text = data[HEADER_START : HEADER_START + length]
    if hashlib.sha256(text).digest() != data[12:44]:
        raise Fault("the header is damaged: its checksum differs")
    try:
        header = json.loads(text)
        check_fields(header)
    except Fault:
        raise
    except MALFORMED as error:
        raise Fault(f"the header is damaged: {type(error).__name__} {str(error)[:80]}") from None
    return header, HEADER_START + length


def check_fields(header: Mapping[str, Any]) -> None:
    """Raise Fault or one of MALFORMED if a field is missing or out of range."""
    if header["features"] != FEATURES:
        raise Fault(f"its weights are for '{str(header['features'])[:80]}', not for '{FEATURES}'")
    for name in NUMBERS.values():
        value, allowed = header[name], TEMPOS if name == "tempo" else STEPS
        if type(value) is not int or value not in allowed:
            raise Fault(f"its {name} is {str(value)[:80]}, not {allowed[0]} to {allowed[-1]}")


def read_blocks(data: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the header and the blocks, with their checksums checked. Fault."""
    header, at = read_header(data)
    blocks = {}
    try:
        for name, length, checksum in header["blocks"]:
            block = data[at : at + length]
            at += length
            if hashlib.sha256(block).hexdigest() != checksum:
                raise Fault(f"block '{str(name)[:80]}' is damaged: its checksum differs")
            blocks[name] = block
    except Fault:
        raise
    except MALFORMED:
        raise Fault("the header is damaged: its table of blocks") from None
    return header, blocks


def read_file(name: str) -> bytes:
    """Read the file that an EvalFile names. WeightsError."""
    with named_errors("weights", name):
        path = PACKAGED[KPP] if name == KPP else Path(name).expanduser()
        return read_bytes(path, LARGEST_FILE)


def load_weights(name: str, threads: int = 2) -> KppWeights:
    """Load the weights that an EvalFile names, unfolded for play. WeightsError, MemoryError."""
    data = read_file(name)
    with named_errors("weights", name):
        header, _ = read_header(data)
        path = cache_file(data)
        cached = fetch_unfolded(path, header) if path is not None else None
        if cached is not None:
            return cached
        weights = unfold(*read_blocks(data), threads)
    if path is not None:
        keep(weights, path)
    return weights


def fetch_unfolded(path: Path, header: Mapping[str, Any]) -> KppWeights | None:
    """Return the weights from the cache; None if they are missing or damaged."""
    weights = KppWeights()
    weights.allocate()
    if not fetch(weights, path):
        return None
    weights.complete(header["tempo"])
    return weights


def read_folded(name: str) -> Folded:
    """Read the weights that an EvalFile names, folded as in the file. WeightsError."""
    data = read_file(name)
    with named_errors("weights", name):
        header, blocks = read_blocks(data)
        kpp = dict(king for zone in range(ZONES) for king in unpack_zone(blocks, zone))
        found: dict[str, Any] = {array: unpack_array(blocks, array) for array in ARRAYS}
        found |= {number: header[name] for number, name in NUMBERS.items()}
        kpp_of_all = np.concatenate([kpp[king] for king in range(HALF_SQUARES)])
        return Folded(piece=unpack_pieces(blocks), kpp=kpp_of_all, **found)


def unpack_array(blocks: Mapping[str, bytes], array: str) -> Words:
    """Return one of ARRAYS. Fault."""
    name, count = ARRAYS[array]
    return unpack(blocks[name], count)


def unpack_pieces(blocks: Mapping[str, bytes]) -> npt.NDArray[np.int32]:
    """Return the piece value of each Bonapiece. Fault."""
    values = np.frombuffer(decompress(blocks["piece"], 4 * BONAPIECES), "<i4").astype(np.int32)
    for value in (int(values.min()), int(values.max())):
        if value not in PIECE_VALUES:
            raise Fault(f"its piece value {value} is not {PIECE_VALUES[0]} to {PIECE_VALUES[-1]}")
    return values


def unfold(header: Mapping[str, Any], blocks: Mapping[str, bytes], threads: int) -> KppWeights:
    """Decompress and unfold on several threads; both steps release the GIL."""
    weights = KppWeights()
    weights.allocate()
    pp = unpack_array(blocks, "pp")

    def unfold_zone(zone: int) -> None:
        for king, kpp in unpack_zone(blocks, zone):
            weights.unfold_king(king, pp, kpp, header["kpp_step"])

    def unfold_pieces() -> None:
        kp, kkp, kp_tempo, pp_tempo = (unpack_array(blocks, array) for array in ("kp", "kkp", "kp_tempo", "pp_tempo"))
        weights.unfold_pieces(unpack_pieces(blocks), kp, kkp, header["kkp_step"])
        weights.unfold_tempo(kp_tempo, pp_tempo, header["turn_step"])

    run_all([unfold_pieces, *(partial(unfold_zone, zone) for zone in range(ZONES))], threads)
    weights.complete(header["tempo"])
    return weights


def run_all(jobs: Sequence[Callable[[], None]], threads: int) -> None:
    """Run the jobs on `threads` threads, on fewer if some cannot be started, or in this thread."""
    with ThreadPoolExecutor(threads) as pool:
        started = []
        with suppress(RuntimeError):  # a thread could not be started; its job may run twice
            for job in jobs:
                started.append(pool.submit(job))
        for job in jobs[len(started) :]:
            job()
        for future in started:
            future.result()
