"""Random games, their positions and corpora, trainers with random weights."""

import random
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core_ext.board import Board
from core_ext.corpus import TRAINING_POSITION, GameReader
from core_ext.engine import HALF_SQUARES, PAIRS, KppWeights
from core_ext.training import ROW_SIZE, Trainer
from usi_engine.evaluation.kpp_file import Folded
from usi_engine.learn.corpus import build
from usi_engine.learn.corpus.chances import Positions
from usi_engine.learn.corpus.sources import read_chunks
from usi_engine.learn.game import Item, ScoredGame
from usi_engine.learn.settings import NO_LEAVES, Corpus, TrainKpp


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Collect the tests of network training, which need PyTorch, only if they are named (`make test-learn`)."""
    return (collection_path.name == "nnue" and not any("nnue" in Path(word).parts for word in config.args)) or None


@pytest.fixture(scope="session")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of 60 random games with scores."""
    path = tmp_path_factory.mktemp("games") / "games.tsv"
    path.write_text("".join(random_game(seed) for seed in range(60)))
    return path


@pytest.fixture(scope="session")
def few_games(teacher: Path) -> Path:
    """A file of the first six of these games."""
    path = teacher.with_name("few.tsv")
    path.write_text("".join(teacher.read_text().splitlines(keepends=True)[:6]))
    return path


@pytest.fixture(scope="session")
def positions(teacher: Path) -> Positions:
    """The quiet positions of the random games."""
    return positions_of(read_games(teacher))


# ---- games, corpora and trainers ----

RATES = TrainKpp.rates
SMALL = ("piece", "tempo", "kp", "relative", "pp")


def random_game(seed: int, plies: int = 120, score: Callable[[Board, random.Random], int] | None = None) -> str:
    """Return a line of the text format: random moves with scores, by default of any value."""
    rng = random.Random(seed)
    board, words = Board(), []
    for _ in range(plies):
        moves = board.legal_moves()
        if not moves:
            break
        words += [rng.choice(moves), str(score(board, rng) if score else rng.randint(-900, 900))]
        board.push(words[-2])
    return f"{'bwd'[seed % 3]}\tlength\tstartpos\t{' '.join(words)}\n"


def items_of(path: Path) -> Iterator[Item]:
    """Yield all items of a file."""
    return (item for chunk in read_chunks(path) for item in chunk.items())


def read_games(path: Path) -> list[ScoredGame]:
    """Read all games of a file."""
    return [item for item in items_of(path) if isinstance(item, ScoredGame)]


def build_corpus(games: Sequence[Path], out: Path, *, leaves: str = NO_LEAVES, **options: Any) -> dict[str, Any]:
    """Build a corpus, by default without leaves; return its card."""
    return build.build_corpus(Corpus(games=tuple(games), out=out, leaves=leaves, **options))


def positions_of(games: Iterable[ScoredGame], room: int = 20000) -> Positions:
    """Return the quiet positions of games."""
    reader, out, used = GameReader(), np.zeros(room, TRAINING_POSITION), 0
    for number, game in enumerate(games):
        used += reader.read_game(game.start, game.moves, game.scores, game.result, number, out[used:])
    return out[:used]


def noisy(terms: Sequence[str], seed: int = 1) -> Trainer:
    """Return a trainer whose weights are small random numbers."""
    trainer = Trainer(terms)
    rng = np.random.default_rng(seed)
    for name in terms:
        parameters = trainer.parameters(name)
        size = len(parameters) if name != "kpp" else 8 * PAIRS * ROW_SIZE  # kings off the middle file
        few = rng.standard_normal(min(size, 1_000_003), np.float32) * np.float32(0.02)
        for start in range(0, size, len(few)):  # drawing all KPP weights takes seconds
            parameters[start : min(start + len(few), size), 0] = few[: size - start]
    return trainer


def sums_of(trainer: Trainer) -> dict[str, int]:
    """Return a checksum of each term's parameters, which take a gigabyte."""
    return {name: zlib.crc32(np.ascontiguousarray(trainer.parameters(name)).data) for name in trainer.terms}


def walked_positions(count: int, seed: int = 9) -> list[tuple[str, Any]]:
    """Return (sfen, position) of quiet positions on random walks."""
    rng, reader, out = random.Random(seed), GameReader(), np.zeros(2, TRAINING_POSITION)
    found: list[tuple[str, Any]] = []
    while len(found) < count:
        board = Board()
        for _ in range(200):
            moves = board.legal_moves()
            if not moves:
                break
            move = rng.choice(moves)
            if reader.read_game(board.sfen(), [move], [0], 1, 0, out):
                found.append((board.sfen(), out[0].copy()))
            board.push(move)
    return found[:count]


def position_of(sfen: str) -> Positions:
    """Return the training position of a quiet position."""
    out = np.zeros(2, TRAINING_POSITION)
    return next(
        out[:1].copy() for move in Board(sfen).legal_moves() if GameReader().read_game(sfen, [move], [0], 1, 0, out)
    )


def weights_of(folded: Folded) -> KppWeights:
    """Unfold weights for play, without a file."""
    weights = KppWeights()
    weights.allocate()
    weights.unfold_pieces(folded.piece, folded.kp.reshape(-1), folded.kkp.reshape(-1), folded.kkp_step)
    for king, words in enumerate(folded.kpp.reshape(HALF_SQUARES, -1)):
        weights.unfold_king(king, folded.pp, words, folded.kpp_step)
    weights.unfold_tempo(folded.kp_tempo, folded.pp_tempo, folded.tempo_step)
    weights.complete(folded.tempo)
    return weights
