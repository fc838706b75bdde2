"""The weights file: header, checksums, and compressed arrays that loading unfolds for play.

Folded: weights that are equal by symmetry are stored once. Unfolded: stored at each of their indices, so that play
reads a weight by one table access.

    bytes 0-7     the magic KOMAKPP1
    bytes 8-11    length of the header, little-endian
    header        JSON: features, steps, card, and of each block its name, length and SHA-256
    blocks        LZMA, one after the other: `piece` (32-bit words), `kp`, `pp`, `kkp`, `kp_turn`, `pp_turn`, `kpp00` to
                  `kpp44`; files of OLDER_FEATURES lack the tempo blocks, `kp_turn` and `pp_turn`, which count as zero

A block of 16-bit weights holds all low bytes first and then all high bytes, which compress well.
"""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core_ext.engine import BONAPIECES, HALF_SQUARES, PAIRS, SQUARES, Weights
from usi_engine.cache import cache_file, fetch, keep
from usi_engine.core import KPP, MATERIAL, WeightsError

MAGIC = b"KOMAKPP1"
FEATURES = "KPP-KKP-turn-Bonapiece1548"
OLDER_FEATURES = "KPP-KKP-Bonapiece1548"  # without tempo blocks
LONGEST_HEADER = 1 << 20
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
    data = b"".join([MAGIC, len(header).to_bytes(4, "little"), header, *blocks.values()])
    path.write_bytes(data)
    return len(data)


def read_header(data: bytes) -> tuple[dict[str, Any], int]:
    """The header and where the blocks begin. WeightsError."""
    length = int.from_bytes(data[8:12], "little")
    if data[:8] != MAGIC or not 0 < length <= LONGEST_HEADER:
        raise WeightsError("not a file of weights for this version")
    try:
        header = json.loads(data[12 : 12 + length])
        supported = header["features"] in (FEATURES, OLDER_FEATURES)
    except MALFORMED:
        raise WeightsError("the header of the weights is damaged") from None
    if not supported:
        raise WeightsError(f"weights for '{header['features']}', not for '{FEATURES}'")
    return header, 12 + length


def read_blocks(data: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Header and checked blocks. WeightsError."""
    header, at = read_header(data)
    blocks = {}
    try:
        for name, length, checksum in header["blocks"]:
            block = data[at : at + length]
            at += length
            if hashlib.sha256(block).hexdigest() != checksum:
                raise WeightsError(f"the weights are damaged: block '{name}' has another checksum")
            blocks[name] = block
    except MALFORMED:
        raise WeightsError("the header of the weights is damaged") from None
    return header, blocks


def packaged_path() -> Path:
    """The KPP weights that come with the program."""
    return Path(str(files("usi_engine") / "data" / "komadori.kpp"))


def read_file(name: str) -> bytes:
    """The bytes of the file an EvalFile names. WeightsError where it cannot be read."""
    path = packaged_path() if name in ("", KPP) else Path(name).expanduser()
    try:
        return path.read_bytes()
    except OSError as error:
        raise WeightsError(f"cannot read the weights '{path}': {error.strerror}") from None


def load_weights(name: str, threads: int = 2) -> Weights | None:
    """The weights an EvalFile names, unfolded for play; None for `material`. WeightsError, MemoryError."""
    if name == MATERIAL:
        return None
    data = read_file(name)
    weights = Weights()
    weights.allocate()
    path = cache_file(data)
    if path is not None and fetch(weights, path):
        weights.complete(int(read_header(data)[0]["tempo"]))
        return weights
    header, blocks = read_blocks(data)
    try:
        unfold(weights, header, blocks, threads)
    except MALFORMED as error:
        raise WeightsError(f"these weights cannot be used: {error}") from None
    if path is not None:
        keep(weights, path)
    return weights


def read_folded(name: str) -> Folded:
    """The weights an EvalFile names, folded as in the file. WeightsError."""
    header, blocks = read_blocks(read_file(name))
    try:
        kp_tempo, pp_tempo = unpack_tempo(header, blocks)
        return Folded(
            piece=unpack_pieces(blocks),
            tempo=int(header["tempo"]),
            kp=unpack(blocks["kp"], HALF_SQUARES * BONAPIECES),
            pp=unpack(blocks["pp"], PAIRS),
            kkp=unpack(blocks["kkp"], HALF_SQUARES * SQUARES * BONAPIECES),
            kkp_step=int(header["kkp_step"]),
            kpp=np.concatenate([unpack(blocks[f"kpp{king:02}"], PAIRS) for king in range(HALF_SQUARES)]),
            kpp_step=int(header["kpp_step"]),
            kp_tempo=kp_tempo,
            pp_tempo=pp_tempo,
            tempo_step=tempo_step(header),
        )
    except MALFORMED as error:
        raise WeightsError(f"these weights cannot be used: {error}") from None


def unpack_pieces(blocks: Mapping[str, bytes]) -> npt.NDArray[np.int32]:
    """The piece values, one for each Bonapiece."""
    return np.frombuffer(decompress(blocks["piece"], 4 * BONAPIECES), "<i4").astype(np.int32)


def unpack_tempo(header: Mapping[str, Any], blocks: Mapping[str, bytes]) -> tuple[Words, Words]:
    """The KP and PP tempo terms; zeros for a file without them."""
    if header["features"] == OLDER_FEATURES:
        return np.zeros(HALF_SQUARES * BONAPIECES, np.int16), np.zeros(PAIRS, np.int16)
    return unpack(blocks["kp_turn"], HALF_SQUARES * BONAPIECES), unpack(blocks["pp_turn"], PAIRS)


def tempo_step(header: Mapping[str, Any]) -> int:
    """The step of pp_tempo."""
    return int(header.get("turn_step", DEFAULT_TEMPO_STEP))


def unfold(weights: Weights, header: Mapping[str, Any], blocks: Mapping[str, bytes], threads: int) -> None:
    """Decompress and unfold; the compressor and the core let other threads run meanwhile."""
    pp = unpack(blocks["pp"], PAIRS)

    def unfold_king(king: int) -> None:
        weights.unfold_king(king, pp, unpack(blocks[f"kpp{king:02}"], PAIRS), int(header["kpp_step"]))

    def unfold_pieces() -> None:
        piece = unpack_pieces(blocks)
        kp = unpack(blocks["kp"], HALF_SQUARES * BONAPIECES)
        kkp = unpack(blocks["kkp"], HALF_SQUARES * SQUARES * BONAPIECES)
        weights.unfold_pieces(piece, kp, kkp, int(header["kkp_step"]))
        weights.unfold_tempo(*unpack_tempo(header, blocks), tempo_step(header))

    with ThreadPoolExecutor(threads) as pool:
        jobs = [pool.submit(unfold_pieces)] + [pool.submit(unfold_king, king) for king in range(HALF_SQUARES)]
        for job in jobs:
            job.result()
    weights.complete(int(header["tempo"]))
