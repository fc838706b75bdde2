"""The readers of outside text and files, each as a function of bytes: it returns, or a fault of the program raises."""

import io
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from unittest.mock import patch

import numpy as np

from core_ext.board import Board
from core_ext.corpus import TRAINING_POSITION, GameReader
from core_ext.engine import MAX_EVALUATION, StopToken, Table, Worker
from core_ext.training import Trainer
from tests.engine.usi_transport import ACTING
from usi_engine.book import yaneuraou
from usi_engine.book.book_player import open_book
from usi_engine.book.entry import BookError, BookMove
from usi_engine.csa.protocol import Reader as CsaReader
from usi_engine.evaluation.kpp_file import read_blocks, read_folded
from usi_engine.evaluation.load import load_evaluation
from usi_engine.evaluation.names import WeightsError
from usi_engine.learn.corpus.build import LONGEST_GAME, read_item
from usi_engine.learn.corpus.sources import read_chunks
from usi_engine.learn.game import SourceError
from usi_engine.learn.training import CHECKPOINT, open_checkpoint
from usi_engine.mate_tool.problems import read_problems
from usi_engine.records.faults import RecordError
from usi_engine.records.formats import FORMATS, text_of
from usi_engine.records.games import read_games
from usi_engine.usi.options import DECLARED, Options
from usi_engine.usi.output import Writer
from usi_engine.usi.protocol import Command, Malformed, SetOption, decode, parse

FOLDER = tempfile.TemporaryDirectory()  # for the readers of files; deleted at exit


def write_file(name: str, data: bytes) -> Path:
    path = Path(FOLDER.name, name)
    path.write_bytes(data)
    return path


def check_told(texts: Iterable[str]) -> None:
    """Check that the writer makes one line of printable UTF-8 of each text."""
    for text in texts:
        written = io.BytesIO()
        Writer(written).info(text)
        line = written.getvalue()
        assert line.startswith(b"info string ") and not ACTING.search(line[:-1].decode()) and b"  " not in line, line
        assert line.count(b"\n") == 1 and line.endswith(b"\n"), line


def usi(data: bytes) -> None:
    """Every line is a command. A refused value of an option changes nothing; a value that is shown can be set again."""
    options = Options()
    for command in map(parse, map(decode, data.split(b"\n"))):
        assert isinstance(command, Command)
        check_told([command.text] if isinstance(command, Malformed) else getattr(command, "faults", ()))
        if isinstance(command, SetOption) and command.name in DECLARED:
            before, refusal = options.shown(command.name), options.set(command.name, command.value)
            shown = options.shown(command.name)
            check_told(filter(None, [refusal]))
            assert refusal is None or shown == before
            assert options.set(command.name, "" if shown == "<empty>" else shown) is None
            assert options.shown(command.name) == shown


def position(data: bytes) -> None:
    """Read an sfen, then moves. A refusal quotes the text and changes nothing; every legal move can be made."""
    sfen, *moves = data.decode("utf-8", "replace").split("\n")
    text = sfen.strip().removeprefix("sfen ")
    try:
        board = Board(sfen)
    except ValueError as error:
        assert f"'{text}'" in str(error)
        return
    for move in moves:
        before, legal = board.sfen(), board.legal_moves(include_all=True)
        assert board.is_legal(move) == (move in legal)
        try:
            board.push(move)
        except ValueError as error:
            assert move not in legal and f"'{move}'" in str(error) and board.sfen() == before
    again = Board(board.sfen())
    legal = board.legal_moves(include_all=True)
    assert (again, again.sfen(), again.legal_moves(include_all=True)) == (board, board.sfen(), legal)
    assert len(set(legal)) == len(legal) == board.perft(1)
    for move in legal:
        board.push(move)
        assert board.pop() == move
    board.mate_in_one()
    board.can_declare()
    assert board.sfen() == again.sfen()


def csa_server(data: bytes) -> None:
    reader = CsaReader()
    for line in data.decode("utf-8", "replace").splitlines():
        reader.feed(line)


def mate_problems(data: bytes) -> None:
    with suppress(ValueError):
        list(read_problems(data.decode("utf-8", "replace").splitlines(), "some.sfen"))


def eval_options(data: bytes) -> None:
    assert all("\n" not in told for told in Options().advise(data.decode("utf-8", "replace").splitlines()))


def book(ending: str, data: bytes) -> None:
    """Read a book with this ending, in memory and on the disk."""
    path = str(write_file(f"book{ending}", data))
    for most in (0, yaneuraou.READ_WHOLE_UP_TO):
        with suppress(BookError), patch.object(yaneuraou, "READ_WHOLE_UP_TO", most):
            found = open_book(path)
            for sfen in (Board().sfen(), Board.from_moves(["7g7f"]).sfen(), "", "駒"):
                assert all(isinstance(move, BookMove) for move in found.probe(sfen).moves)


def games(ending: str, data: bytes) -> None:
    """Read games for training."""
    out = np.zeros(LONGEST_GAME, TRAINING_POSITION)
    with suppress(SourceError):
        for item in (item for chunk in read_chunks(write_file(f"games{ending}", data)) for item in chunk.items()):
            with suppress(ValueError):
                read_item(GameReader(), item, 1, out)


def record(ending: str, data: bytes) -> None:
    """Read a record, write it in every format, and read it for training. A fault names the file."""
    path = write_file(f"game{ending}", data)
    for game in read_games(path):
        if isinstance(game, RecordError):
            assert str(path) in str(game)
            continue
        for written in FORMATS:
            with suppress(RecordError):
                text_of(game.record, written)
    games(ending, data)


@cache
def trainer() -> Trainer:
    return Trainer(("piece", "tempo", "kp", "relative", "pp", "relative_pp"))


def training(data: bytes) -> None:
    """Train with positions of any content."""
    size = TRAINING_POSITION.itemsize
    with suppress(ValueError):
        trainer().learn(np.frombuffer(data[: len(data) // size * size], TRAINING_POSITION).copy(), [1e-6] * 9)


def checkpoint(data: bytes) -> None:
    """Read the arrays of a checkpoint; a refusal names the file."""
    path = write_file(CHECKPOINT, data)
    try:
        with open_checkpoint(path.parent, {"a": 1}) as saved:
            assert saved is not None
            saved[0]["some"].sum()
    except ValueError as error:
        assert str(path) in str(error)


def network(data: bytes) -> None:
    """A network is refused, or its values are within bounds and it can be searched with."""
    with suppress(WeightsError):
        worker = Worker(Table(1), StopToken(), load_evaluation(str(write_file("some.nnue", data)), 16))
        worker.configure()
        assert abs(worker.evaluate(Board())[-1][1]) <= MAX_EVALUATION
        worker.set_root(Board())
        worker.search(2, -32000, 32000)


def kpp(data: bytes) -> None:
    with suppress(WeightsError):
        read_blocks(data)
    with suppress(WeightsError):
        read_folded(str(write_file("some.kpp", data)))


TARGETS: dict[str, Callable[[bytes], None]] = {
    "usi": usi,
    "position": position,
    "csa_server": csa_server,
    "mate_problems": mate_problems,
    "eval_options": eval_options,
    **{ending: partial(record, f".{ending}") for ending in ("kif", "ki2", "csa", "jkf")},
    "usi_record": partial(record, ".usi"),
    **{ending: partial(book, f".{ending}") for ending in ("db", "sbk", "bin")},
    # Not sbinpack: rsshogi ends the process at an illegal move in a damaged file.
    **{ending: partial(games, f".{ending}") for ending in ("tsv", "tsv.gz", "tsv.xz", "games", "psv", "hcpe", "hcpe3")},
    "training": training,
    "checkpoint": checkpoint,
    "network": network,
    "kpp": kpp,
}  # fmt: skip
