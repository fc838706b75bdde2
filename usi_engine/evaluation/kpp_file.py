"""The weights file: header, checksums, and compressed arrays that loading unfolds for play.

Folded: weights that are equal by symmetry are stored once. Unfolded: stored at each of their indices, so that play
reads a weight by one table access.

    bytes 0-7     the magic KOMAKPP2
    bytes 8-11    length of the header, little-endian
    bytes 12-43   SHA-256 of the header; files of the older magic KOMAKPP1 lack it
    header        JSON: features, steps, card, and of each block its name, length and SHA-256
    blocks        LZMA, one after the other: `piece` (32-bit words), `kp`, `pp`, `kkp`, `kp_turn`, `pp_turn`, `kpp00` to
                  `kpp44`; files of OLDER_FEATURES lack the tempo blocks, `kp_turn` and `pp_turn`, which count as zero

A block of 16-bit weights holds all low bytes first and then all high bytes, which compress well.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core_ext.engine import BONAPIECES, HALF_SQUARES, PAIRS, SQUARES, KppWeights
from usi_engine.evaluation.cache import cache_file, fetch, keep
from usi_engine.evaluation.names import KPP, MATERIAL, WeightsError

MAGIC = b"KOMAKPP2"
OLDER_MAGIC = b"KOMAKPP1"
HEADER_STARTS = {MAGIC: 44, OLDER_MAGIC: 12}
FEATURES = "KPP-KKP-turn-Bonapiece1548"
OLDER_FEATURES = "KPP-KKP-Bonapiece1548"  # without tempo blocks
LONGEST_HEADER = 1 << 20
LARGEST_FILE = 1 << 28  # several times what incompressible weights take
STEPS = range(1, 1024)
TEMPOS = range(-(1 << 15), 1 << 15)
# 32,768 centipawns, more than the largest evaluation: with the other terms, sums of 38 stay within 32 bits.
PIECE_VALUES = range(-(1 << 20), (1 << 20) + 1)
DEFAULT_TEMPO_STEP = 4  # of files without `turn_step`
MALFORMED = (KeyError, TypeError, ValueError, OverflowError, RecursionError)  # of a header with wrong fields
# The slow mode writes a file a fifth smaller than the fast one; reading takes the same 35 ms a block.
FILTERS = [
    {
        "id": lzma.FILTER_LZMA2,
        "preset": 6,
        "lc": 0,
        "lp": 0,
        "pb": 0,
        "dict_size": 1 << 22,
        "mode": lzma.MODE_NORMAL,
        "mf": lzma.MF_BT4,
        "nice_len": 64,
    }
]

Words = npt.NDArray[np.int16]


@dataclass(frozen=True)
class Folded:
    """Quantised weights in 1/32 centipawn (kkp, kpp and pp_tempo: times their steps), symmetric ones once."""

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


def compress(data: bytes) -> bytes:
    """A block of the file."""
    return lzma.compress(data, lzma.FORMAT_RAW, filters=FILTERS)


def decompress(block: bytes, size: int) -> bytes:
    """The `size` bytes of a block. WeightsError where it has another size; no block allocates more."""
    try:
        data = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=FILTERS).decompress(block, size + 1)
    except lzma.LZMAError as error:
        raise WeightsError(f"damaged weights: {error}") from None
    if len(data) != size:
        raise WeightsError(f"damaged weights: a block is not of {size} bytes")
    return data


def pack(words: Words) -> bytes:
    """Compress 16-bit words, low bytes apart from high bytes."""
    planes = words.astype("<i2").reshape(-1).view(np.uint8).reshape(-1, 2).T
    return compress(planes.tobytes())


def unpack(block: bytes, count: int) -> Words:
    """The `count` words that `pack` compressed. WeightsError."""
    planes = decompress(block, 2 * count)
    return (
        np.ascontiguousarray(np.frombuffer(planes, np.uint8).reshape(2, count).T)
        .view("<i2")
        .reshape(count)
        .astype(np.int16)
    )


def save_weights(path: Path, folded: Folded, card: Mapping[str, Any]) -> int:
    """Write the file; returns its size in bytes."""
    blocks = {
        "piece": compress(folded.piece.astype("<i4").tobytes()),
        "kp": pack(folded.kp),
        "pp": pack(folded.pp),
        "kkp": pack(folded.kkp),
        "kp_turn": pack(folded.kp_tempo),
        "pp_turn": pack(folded.pp_tempo),
    }
    for king, words in enumerate(folded.kpp.reshape(HALF_SQUARES, PAIRS)):
        blocks[f"kpp{king:02}"] = pack(words)
    header = json.dumps(
        {
            "features": FEATURES,
            "tempo": folded.tempo,
            "kkp_step": folded.kkp_step,
            "kpp_step": folded.kpp_step,
            "turn_step": folded.tempo_step,
            "card": card,
            "blocks": [[name, len(block), hashlib.sha256(block).hexdigest()] for name, block in blocks.items()],
        }
    ).encode()
    checksum = hashlib.sha256(header).digest()
    data = b"".join([MAGIC, len(header).to_bytes(4, "little"), checksum, header, *blocks.values()])
    path.write_bytes(data)
    return len(data)


def read_header(data: bytes) -> tuple[dict[str, Any], int]:
    """The header and where the blocks begin. WeightsError."""
    length, start = int.from_bytes(data[8:12], "little"), HEADER_STARTS.get(data[:8], 0)
    if not start or not 0 < length <= LONGEST_HEADER:
        raise WeightsError("not a file of weights for this version")
    text = data[start : start + length]
    if data[:8] == MAGIC and hashlib.sha256(text).digest() != data[12:44]:
        raise WeightsError("the header is damaged: it has another checksum")
    try:
        header = json.loads(text)
        check_fields(header)
    except MALFORMED as error:
        raise WeightsError(f"the header is damaged: {type(error).__name__} {str(error)[:80]}") from None
    return header, start + length


def check_fields(header: Mapping[str, Any]) -> None:
    """WeightsError, or one of MALFORMED, where a field is missing or out of range."""
    if header["features"] not in (FEATURES, OLDER_FEATURES):
        raise WeightsError(f"weights for '{str(header['features'])[:80]}', not for '{FEATURES}'")
    numbers = {"tempo": header["tempo"], "turn_step": tempo_step(header)}
    numbers |= {name: header[name] for name in ("kkp_step", "kpp_step")}
    for name, value in numbers.items():
        allowed = TEMPOS if name == "tempo" else STEPS
        if type(value) is not int or value not in allowed:
            raise WeightsError(f"its {name} is {str(value)[:80]}, not {allowed[0]} to {allowed[-1]}")


def read_blocks(data: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Header and checked blocks. WeightsError."""
    header, at = read_header(data)
    blocks = {}
    try:
        for name, length, checksum in header["blocks"]:
            block = data[at : at + length]
            at += length
            if hashlib.sha256(block).hexdigest() != checksum:
                raise WeightsError(f"block '{str(name)[:80]}' is damaged: it has another checksum")
            blocks[name] = block
    except MALFORMED:
        raise WeightsError("the header is damaged: its table of blocks") from None
    return header, blocks


def packaged_path() -> Path:
    """The KPP weights that come with the program."""
    return Path(str(files("usi_engine") / "data" / "komadori.kpp"))


def user_path(name: str) -> Path:
    """A path with `~` replaced. WeightsError where there is no such user."""
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise WeightsError(f"cannot read the weights '{name}': {error}") from None


def read_file(name: str) -> bytes:
    """The bytes of the file an EvalFile names. WeightsError where it cannot be read."""
    path = packaged_path() if name in ("", KPP) else user_path(name)
    try:
        if path.exists() and not path.is_file():
            raise WeightsError(f"cannot read the weights '{path}': this is no regular file")
        with path.open("rb") as file:
            data = file.read(min(os.fstat(file.fileno()).st_size, LARGEST_FILE) + 1)  # so much is allocated
    except OSError as error:
        raise WeightsError(f"cannot read the weights '{path}': {error.strerror or error}") from None
    except ValueError as error:  # of a path that no file can have
        raise WeightsError(f"cannot read the weights {str(path)!a}: {error}") from None
    if len(data) > LARGEST_FILE:
        raise WeightsError(f"cannot read the weights '{path}': more than {LARGEST_FILE} bytes")
    return data


@contextmanager
def faults_named(name: str) -> Iterator[None]:
    """Every fault of the file becomes a WeightsError that names it."""
    try:
        yield
    except WeightsError as error:
        raise WeightsError(f"cannot use the weights '{name}': {error}") from None
    except MALFORMED as error:
        raise WeightsError(f"cannot use the weights '{name}': {type(error).__name__} {error}") from None


def load_weights(name: str, threads: int = 2) -> KppWeights | None:
    """The weights an EvalFile names, unfolded for play; None for `material`. WeightsError, MemoryError."""
    if name == MATERIAL:
        return None
    data = read_file(name)
    with faults_named(name):
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
    """The weights from the cache; None where they are not there or damaged."""
    weights = KppWeights()
    weights.allocate()
    if not fetch(weights, path):
        return None
    weights.complete(header["tempo"])
    return weights


def read_folded(name: str) -> Folded:
    """The weights an EvalFile names, folded as in the file. WeightsError."""
    data = read_file(name)
    with faults_named(name):
        header, blocks = read_blocks(data)
        kp_tempo, pp_tempo = unpack_tempo(header, blocks)
        return Folded(
            piece=unpack_pieces(blocks),
            tempo=header["tempo"],
            kp=unpack(blocks["kp"], HALF_SQUARES * BONAPIECES),
            pp=unpack(blocks["pp"], PAIRS),
            kkp=unpack(blocks["kkp"], HALF_SQUARES * SQUARES * BONAPIECES),
            kkp_step=header["kkp_step"],
            kpp=np.concatenate([unpack(blocks[f"kpp{king:02}"], PAIRS) for king in range(HALF_SQUARES)]),
            kpp_step=header["kpp_step"],
            kp_tempo=kp_tempo,
            pp_tempo=pp_tempo,
            tempo_step=tempo_step(header),
        )


def unpack_pieces(blocks: Mapping[str, bytes]) -> npt.NDArray[np.int32]:
    """The piece values, one for each Bonapiece. WeightsError."""
    values = np.frombuffer(decompress(blocks["piece"], 4 * BONAPIECES), "<i4").astype(np.int32)
    for value in (int(values.min()), int(values.max())):
        if value not in PIECE_VALUES:
            raise WeightsError(f"its piece value {value} is not {PIECE_VALUES[0]} to {PIECE_VALUES[-1]}")
    return values


def unpack_tempo(header: Mapping[str, Any], blocks: Mapping[str, bytes]) -> tuple[Words, Words]:
    """The KP and PP tempo terms; zeros for a file without them."""
    if header["features"] == OLDER_FEATURES:
        return np.zeros(HALF_SQUARES * BONAPIECES, np.int16), np.zeros(PAIRS, np.int16)
    return unpack(blocks["kp_turn"], HALF_SQUARES * BONAPIECES), unpack(blocks["pp_turn"], PAIRS)


def tempo_step(header: Mapping[str, Any]) -> int:
    """The step of pp_tempo."""
    step: int = header.get("turn_step", DEFAULT_TEMPO_STEP)
    return step


def unfold(header: Mapping[str, Any], blocks: Mapping[str, bytes], threads: int) -> KppWeights:
    """Decompress and unfold; the compressor and the core let other threads run meanwhile."""
    weights = KppWeights()
    weights.allocate()
    pp = unpack(blocks["pp"], PAIRS)

    def unfold_king(king: int) -> None:
        weights.unfold_king(king, pp, unpack(blocks[f"kpp{king:02}"], PAIRS), header["kpp_step"])

    def unfold_pieces() -> None:
        piece = unpack_pieces(blocks)
        kp = unpack(blocks["kp"], HALF_SQUARES * BONAPIECES)
        kkp = unpack(blocks["kkp"], HALF_SQUARES * SQUARES * BONAPIECES)
        weights.unfold_pieces(piece, kp, kkp, header["kkp_step"])
        weights.unfold_tempo(*unpack_tempo(header, blocks), tempo_step(header))

    run_all([unfold_pieces, *(partial(unfold_king, king) for king in range(HALF_SQUARES))], threads)
    weights.complete(header["tempo"])
    return weights


def run_all(jobs: Sequence[Callable[[], None]], threads: int) -> None:
    """Run each job, on so many threads or on as many as can be started; here where that is none."""
    with ThreadPoolExecutor(threads) as pool:
        started = []
        with suppress(RuntimeError):  # a thread that cannot be started; the job may then run twice
            for job in jobs:
                started.append(pool.submit(job))
        for job in jobs[len(started) :]:
            job()
        for future in started:
            future.result()
