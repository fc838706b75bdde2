"""Every allocation of the core fails once, in turn: no crash, one line, and afterwards all goes on as before.

`python -m tests.fuzz.allocations` prints how many allocations each piece of work makes; `--step N` tries each N-th.
"""

import argparse
import faulthandler
import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from core_ext._probe import fail_allocation
from core_ext.board import Board
from core_ext.corpus import TRAINING_POSITION, GameReader
from core_ext.engine import KppWeights, MateSolver, StopToken, Table, Worker
from core_ext.features import BoardBatch, dlshogi_planes
from core_ext.training import Trainer
from tests.eval.nnue.networks import random_network
from usi_engine.api.engine import Engine
from usi_engine.core import CoreError
from usi_engine.evaluation.architecture import Architecture
from usi_engine.evaluation.load import load_evaluation
from usi_engine.evaluation.network_file import write_network
from usi_engine.game.loop import carry_out
from usi_engine.usi.output import Writer

MATE = "position sfen 7k1/9/9/9/9/9/9/9/4K4 b 2G 1"
LONG_GAME = " ".join(["5i5h 5a5b 5h5i 5b5a"] * 40)
COMMANDS = [
    "setoption name EvalFile value {network}", "setoption name Threads value 2", "setoption name USI_Hash value 1",
    "usinewgame", "isready", "position startpos moves 7g7f", "go depth 2", MATE, "go mate 1000", "go depth 3",
    "position sfen 4k4/9/9/9/9/9/9/9/4K4 b - 1 moves " + LONG_GAME, "go nodes 100", "perft 2", "eval", "bench 1 1",
    "setoption name EvalFile value material", "isready", "go depth 1",
]  # fmt: skip
GOES = 5


def converse(network: Path) -> None:
    """Carry out USI commands: every go is answered once, and no line tells of an error of another kind."""
    stream = io.BytesIO()
    carry_out([command.format(network=network) for command in COMMANDS], Writer(stream))
    lines = stream.getvalue().decode("utf-8").splitlines()
    assert sum(line.startswith(("bestmove", "checkmate")) for line in lines) == GOES, lines
    assert sum(line == "readyok" for line in lines) == 2, lines
    bad = [line for line in lines if "rror" in line and "no memory" not in line]
    assert not bad, bad


def play(network: Path) -> None:
    """Use boards, workers and solvers; after a failure each is as it was or can be used again."""
    weights = load_evaluation(str(network), 16)
    worker = Worker(Table(1), StopToken(), weights)
    worker.sample(3, 10)
    board = Board()
    for move in LONG_GAME.split():
        before = board.moves()
        try:
            Board.from_moves(["7g7f"]).push("3c3d")
            board.push(move)
        except MemoryError:
            assert board.moves() == before
            raise
    worker.set_root(board)
    worker.search(2, -32000, 32000)
    MateSolver(1, StopToken()).solve(Board(MATE.removeprefix("position ")), 100)


def analyze(network: Path) -> None:
    """Analyse a position with the engine of the commands."""
    with Engine(str(network), megabytes=1) as engine:
        engine.analyse(Board(), depth=2)


def learn(network: Path) -> None:
    """Read a game into training positions and train KPP with them."""
    positions = np.zeros(16, TRAINING_POSITION)
    written = GameReader(load_evaluation(str(network), 16)).read_game(
        Board().sfen(), ["7g7f", "3c3d", "8h2b+"], [10, -10, 20], 1, 1, positions
    )
    trainer = Trainer(["piece", "kp", "pp", "pp_tempo", "relative_pp", "relative_pp_tempo"])
    trainer.learn(positions[:written], [1e-3] * 9)
    trainer.values(positions[:written])
    KppWeights().allocate()


def batch(network: Path) -> None:
    """Use many boards at once; after a failure all are as they were."""
    boards = BoardBatch(3, threads=2)
    before = boards.hashes().tolist()
    for _ in range(40):
        for move in ("5i5h", "5a5b", "5h5i", "5b5a"):
            try:
                boards.push([move] * 3)
            except MemoryError:
                assert {one.moves()[-1:] == [move] for one in boards} == {False}
                raise
    boards.static_values(load_evaluation(str(network), 16))
    dlshogi_planes([*boards, Board()])
    boards.reset()
    assert boards.hashes().tolist() == before


WORK: list[Callable[[Path], None]] = [converse, play, analyze, learn, batch]


def fail_each(work: Callable[[Path], None], network: Path, step: int = 1) -> int:
    """Let each `step`-th allocation of the work fail; return how many allocations there are."""
    fail_allocation(0)
    work(network)
    count: int = fail_allocation(0)
    if not count:
        raise SystemExit("this build lets no allocation fail: CORE_EXT_PROFILE=debug builds one that does")
    for number in range(1, count + 1, step):
        fail_allocation(number)
        try:
            work(network)
        except (MemoryError, CoreError) as error:
            assert "memory" in str(error) and "\n" not in str(error), f"{work.__name__}, allocation {number}: {error!r}"
        except AssertionError as error:
            raise AssertionError(f"{work.__name__}, allocation {number}: {error}") from error
        fail_allocation(0)
    work(network)
    return count


def main(words: list[str]) -> int:
    """Fail the allocations of all work; print the figures."""
    parser = argparse.ArgumentParser("python -m tests.fuzz.allocations", description=__doc__)
    parser.add_argument("--step", type=int, default=1)
    step = parser.parse_args(words).step
    faulthandler.enable()
    with tempfile.TemporaryDirectory() as folder:
        network = Path(folder, "nn.bin")
        write_network(network, random_network(Architecture("K+P", 64, 8, 8)))
        for work in WORK:
            print(f"{work.__name__}: {len(range(0, fail_each(work, network, step), step))} allocations failed once")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
