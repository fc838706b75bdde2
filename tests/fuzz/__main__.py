"""`python -m tests.fuzz`: fuzz conversations and readers; a failure is printed with its seed."""

import argparse
import faulthandler
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tests.damage import damaged
from tests.eval.nnue.networks import random_network
from tests.fuzz.conversation import fuzz_usi
from tests.fuzz.coverage import read_corpus
from tests.fuzz.targets import TARGETS, write_file
from usi_engine.evaluation.architecture import Architecture, parse_name
from usi_engine.evaluation.network_file import write_network

NETWORKS = ["NNUE_kp_64x2_8_8", "SFNN_kp_64_7_16_k3k3", "SFNN_ka2_64_8_8_hand4_progress2", "SFNN_kp_512_7_8_c0_s64x8"]
ROUND_SECONDS = 300.0
CONVERSATIONS = 0.85  # share of a round; the readers get the rest


@cache
def examples(reader: str) -> Sequence[bytes]:
    """Return inputs that the reader takes; a network is too large to be kept."""
    kept = [data for _, data in read_corpus(reader)]
    if reader == "network":
        for name in NETWORKS:
            path = write_file("example.nnue", b"")
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


def option_files(folder: Path, rng: random.Random) -> list[str]:
    """Write correct and damaged books and networks for the options; return their paths."""
    network, book = folder / "nn.bin", folder / "book.db"
    write_network(network, random_network(Architecture("K+P", 128, 8, 8)))
    book.write_bytes(examples("db")[-1])
    for path in (network, book):
        (folder / f"bad_{path.name}").write_bytes(damaged(rng, path.read_bytes()))
    return [str(path) for path in folder.iterdir()] + [str(folder)]


def fuzz(seed: int, seconds: float, readers_only: bool = False) -> str:
    """Run one round; return a line of figures."""
    if readers_only:
        return f"seed {seed}: {fuzz_readers(seed, seconds)} files and texts"
    with tempfile.TemporaryDirectory(prefix="fuzz 駒 ") as folder:
        lines = fuzz_usi(seed, seconds * CONVERSATIONS, option_files(Path(folder), random.Random(seed)))
    count = fuzz_readers(seed, seconds * (1 - CONVERSATIONS))
    return f"seed {seed}: {lines} lines, {count} files and texts"


def main(words: list[str]) -> int:
    """Run rounds with consecutive seeds; return 1 if something failed."""
    parser = argparse.ArgumentParser("python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="of the first round (default: any)")
    parser.add_argument("--readers", action="store_true", help="files and texts only, no conversations")
    chosen = parser.parse_args(words)
    faulthandler.enable()  # names the reader of a crash
    deadline, seed, failures = time.monotonic() + chosen.seconds, chosen.seed, 0
    while (left := deadline - time.monotonic()) > 0:
        print(f"seed {seed}", flush=True)
        try:
            print(f"{fuzz(seed, min(ROUND_SECONDS, left), chosen.readers)}, {left / 60:.0f} min left", flush=True)
        except AssertionError as error:
            print(f"FAILED: {error}", flush=True)
            failures += 1
        seed += 1
    print(f"{failures} failures")
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
