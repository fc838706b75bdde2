"""A search with four threads under ThreadSanitizer: `make threads`. A report on stderr, or a status, ends it."""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.engine.usi_transport import Program
from tests.eval.nnue.networks import random_network
from tests.positions import HARD_MATE
from usi_engine.evaluation.architecture import Architecture
from usi_engine.evaluation.network_file import write_network

SETTINGS = ["setoption name Threads value 4", "setoption name USI_Hash value 1", "isready"]
ANSWER_SECONDS = 300.0  # on a slow machine: code is some ten times slower
# Each ends with a line that asks for an answer.
ROUND: list[tuple[list[str], str]] = [
    (["usinewgame", "isready"], "^readyok$"),
    (["position startpos", "go movetime 1500"], "^bestmove"),
    (["position startpos moves 7g7f 3c3d", "go ponder btime 3000 wtime 3000", "ponderhit"], "^bestmove"),
    (["setoption name MultiPV value 3", "go infinite", "stop"], "^bestmove"),
    (["setoption name MultiPV value 1", f"position sfen {HARD_MATE}", "go mate 1000"], "^checkmate"),
    (["go btime 1000 wtime 1000", "isready"], "^readyok$"),
    (["position startpos", "go infinite", "setoption name USI_Hash value 2", "isready"], "^readyok$"),
]


def search(evaluation: str, seconds: float) -> int:
    """Repeat the round; return the number of answers. AssertionError for a report of the sanitizer."""
    program, answers = Program(evaluation=evaluation), 0
    program.send(*SETTINGS)
    program.expect("^readyok$", ANSWER_SECONDS)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for lines, answer in ROUND:
            program.send(*lines)
            program.expect(answer, ANSWER_SECONDS)
            answers += 1
    program.send("quit")
    program.close()
    return answers


def main(words: list[str]) -> int:
    """Search with piece values and with a network; print the figures."""
    parser = argparse.ArgumentParser("python -m tests.fuzz.threads", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    seconds = parser.parse_args(words).seconds
    with tempfile.TemporaryDirectory() as folder:
        network = Path(folder, "nn.bin")
        write_network(network, random_network(Architecture("K+P", 64, 8, 8)))
        for evaluation in ("material", str(network)):
            print(f"{Path(evaluation).name}: {search(evaluation, seconds / 2)} answers, no data race", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
