"""Damaged files and texts for every reader: each returns a value or raises its own error."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from functools import cache

from tests.damage import damaged
from tests.eval.nnue.networks import random_network
from tests.fuzz.coverage import corpus_of
from tests.fuzz.targets import TARGETS, file_of
from usi_engine.evaluation.architecture import parse_name
from usi_engine.evaluation.network_file import write_network

NETWORKS = ["NNUE_kp_64x2_8_8", "SFNN_kp_64_7_16_k3k3", "SFNN_ka2_64_8_8_hand4_progress2", "SFNN_kp_512_7_8_c0_s64x8"]


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
