"""Damaged files and texts for every reader: each returns a value or raises its own error."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from functools import cache

from tests.eval.nnue.networks import random_network
from tests.fuzz.coverage import corpus_of
from tests.fuzz.targets import TARGETS, file_of
from usi_engine.evaluation.architecture import parse_name
from usi_engine.evaluation.network_file import write_network

NETWORKS = ["NNUE_kp_64x2_8_8", "SFNN_kp_64_7_16_k3k3", "SFNN_ka2_64_8_8_hand4_progress2", "SFNN_kp_512_7_8_c0_s64x8"]
BEGINNINGS = (200, 3000)  # bytes of a file that are damaged often


def damaged(rng: random.Random, data: bytes) -> bytes:
    """Change, delete, repeat or add a few bytes of the data; sometimes return other data."""
    if rng.random() < 0.1:
        return rng.randbytes(rng.choice([0, 1, 20, 3000]))
    changed, kinds = bytearray(data), rng.choice([[0], range(6)])  # half of the time the size stays
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        at = rng.randrange(min(len(changed), rng.choice([*BEGINNINGS, len(changed)])) or 1)
        length, kind = rng.choice([1, 1, 4, 40]), rng.choice(kinds)
        if kind == 0:
            changed[at : at + 1] = rng.choice([b"\0", b"\x7f", b"\x80", b"\xff", rng.randbytes(1), rng.randbytes(1)])
        elif kind == 1:
            changed[at:at] = rng.randbytes(length)
        elif kind == 2:
            del changed[at : at + length]
        elif kind == 3:
            other = rng.randrange(len(changed) + 1)
            changed[at:at] = changed[other : other + length]
        elif kind == 4:
            changed[at:at] = rng.choice([b"9" * 5000, b"\xff" * 4, b"-", b"\n", b"\t", "駒".encode(), b"0"])
        else:
            del changed[at:]
    return bytes(changed)


@cache
def examples(reader: str) -> Sequence[bytes]:
    """Return inputs that the reader takes; a network is too large to be kept."""
    kept = [data for _, data in corpus_of(reader)]
    if reader == "network":
        for name in NETWORKS:
            path = file_of("example.nnue", b"")
            write_network(path, random_network(parse_name(name)))
            kept.append(path.read_bytes())
    return kept


def fuzz_readers(seed: int, seconds: float) -> int:
    """Read damaged examples for `seconds`; return their number. An AssertionError names the seed."""
    rng, count, deadline = random.Random(seed), 0, time.monotonic() + seconds
    while time.monotonic() < deadline:
        reader = rng.choice(list(TARGETS))
        source = rng.choice(list(TARGETS)) if rng.random() < 0.1 else reader
        for _ in range(10):
            data = damaged(rng, rng.choice(examples(source)))
            try:
                TARGETS[reader](data)
            except Exception as error:
                text = f"seed {seed}: {reader} of {data[:300]!r}: {type(error).__name__}: {error}"
                raise AssertionError(text) from error
            count += 1
    return count
