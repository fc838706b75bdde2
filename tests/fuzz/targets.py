"""The readers of outside text and files, each as a function of bytes: it returns, or a fault of the program raises."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from core_ext.board import Board
from core_ext.corpus import TRAINING_POSITION, GameReader
from usi_engine.book.book_player import open_book
from usi_engine.book.entry import BookError, BookMove
from usi_engine.core import board_after, load_core
from usi_engine.csa.protocol import Reader as CsaReader
from usi_engine.evaluation.kpp_file import read_blocks
from usi_engine.evaluation.load import load_evaluation
from usi_engine.evaluation.names import WeightsError
from usi_engine.learn.corpus.build import LONGEST_GAME, read_item
from usi_engine.learn.corpus.sources import chunks_of
from usi_engine.learn.game import SourceError
from usi_engine.mate_tool.problems import read_problems
from usi_engine.records.faults import RecordError
from usi_engine.records.games import read_games
from usi_engine.records.writer import text_of
from usi_engine.usi.options import Options
from usi_engine.usi.protocol import Command, decode, parse

FOLDER = tempfile.TemporaryDirectory()  # for the readers of files; deleted at exit


def file_of(ending: str, data: bytes) -> Path:
    path = Path(FOLDER.name, f"file{ending}")
    path.write_bytes(data)
    return path


def usi(data: bytes) -> None:
    assert all(isinstance(parse(decode(line)), Command) for line in data.split(b"\n"))


def position(data: bytes) -> None:
    """Read an sfen, then moves; the sfen of the board reads as itself."""
    sfen, *moves = data.decode("utf-8", "replace").split("\n")
    with suppress(ValueError):
        board = board_after(load_core(), sfen, moves)
        assert Board(board.sfen()) == board


def csa_server(data: bytes) -> None:
    reader = CsaReader()
    for line in data.decode("utf-8", "replace").splitlines():
        reader.feed(line)


def mate_problems(data: bytes) -> None:
    with suppress(ValueError):
        list(read_problems(data.decode("utf-8", "replace").splitlines(), "some.sfen"))


def eval_options(data: bytes) -> None:
    assert all("\n" not in told for told in Options().advise(data.decode("utf-8", "replace").splitlines()))


def read_book(path: Path, *sfens: str) -> None:
    with suppress(BookError):
        book = open_book(str(path))
        for sfen in (Board().sfen(), *sfens):
            assert all(isinstance(move, BookMove) for move in book.probe(sfen).moves)


def read_record(path: Path, written: str = "") -> None:
    """Read all games of a file; write them in a format. A fault names the file."""
    for game in read_games(path):
        if isinstance(game, RecordError):
            assert str(path) in str(game)
        elif written:
            with suppress(RecordError):
                text_of(game.record, written)


def read_training_games(path: Path) -> None:
    out = np.zeros(LONGEST_GAME, TRAINING_POSITION)
    with suppress(SourceError):
        for item in (item for chunk in chunks_of(path) for item in chunk.items()):
            with suppress(ValueError):
                read_item(GameReader(), item, 1, out)


def network(data: bytes) -> None:
    with suppress(WeightsError):
        load_evaluation(str(file_of(".nnue", data)), 16)


def kpp(data: bytes) -> None:
    with suppress(WeightsError):
        read_blocks(data)


def record_target(ending: str) -> Callable[[bytes], None]:
    return lambda data: read_record(file_of(ending, data), "usi")


TARGETS: dict[str, Callable[[bytes], None]] = {
    "usi": usi,
    "position": position,
    "csa_server": csa_server,
    "mate_problems": mate_problems,
    "eval_options": eval_options,
    **{ending[1:]: record_target(ending) for ending in (".kif", ".ki2", ".csa", ".jkf")},
    "usi_record": lambda data: read_record(file_of(".usi", data), "kif"),
    "db": lambda data: read_book(file_of(".db", data)),
    "sbk": lambda data: read_book(file_of(".sbk", data)),
    "games": lambda data: read_training_games(file_of(".games", data)),
    "tsv": lambda data: read_training_games(file_of(".tsv", data)),
    "hcpe3": lambda data: read_training_games(file_of(".hcpe3", data)),
    "network": network,
    "kpp": kpp,
}
