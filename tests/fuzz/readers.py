"""Random and damaged files and texts for every reader: each returns a value or raises its own error."""

from __future__ import annotations

import gzip
import lzma
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np
from rsshogi.record import Record, write_sbinpack_file

from core_ext.board import Board
from core_ext.corpus import TRAINING_POSITION
from core_ext.engine import MAX_EVALUATION, StopToken, Table, Worker
from core_ext.training import Trainer
from tests.csa.server import summary
from tests.engine.test_book import SBK, apery_book
from tests.eval.nnue.networks import random_network
from tests.eval.test_weights_fuzz import SMALL
from tests.fuzz import targets
from tests.fuzz.grammar import Grammar
from usi_engine.evaluation.architecture import parse_name
from usi_engine.evaluation.kpp_file import read_blocks, read_folded
from usi_engine.evaluation.load import load_evaluation
from usi_engine.evaluation.names import WeightsError
from usi_engine.evaluation.network_file import write_network
from usi_engine.learn.checkpoint import CHECKPOINT, open_checkpoint, save_checkpoint
from usi_engine.learn.corpus.packed import HCPE, PSV
from usi_engine.learn.corpus.packed_games import encode_block
from usi_engine.learn.corpus.sources import parse_game_line
from usi_engine.records.formats import FORMATS
from usi_engine.usi.options import DECLARED, Options
from usi_engine.usi.protocol import Command, decode, parse

RECORDS = Path(__file__).resolve().parents[1] / "data" / "records"
RECORD_ENDINGS = (".kif", ".ki2", ".csa", ".jkf", ".usi", ".kifu", ".ki2u")
GAME_ENDINGS = (".tsv", ".tsv.gz", ".tsv.xz", ".games", ".csa", ".kif", ".sbinpack", ".psv", ".hcpe", ".hcpe3")
BOOK = b"""#YANEURAOU-DB2016 1.00
sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1
7g7f 3c3d 30 12 100
2g2f none 25 12 50
sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2
3c3d 2g2f -30 12 100
"""
APERY_START_KEY = 0xEEBE8EE7E1AD7E15  # of the start position
BOOKS = {".db": BOOK, ".sbk": SBK, ".bin": apery_book(APERY_START_KEY)}
GAME = b"b\tscore\tstartpos\t7g7f 30 3c3d -12 2g2f - 8c8d 99999\nsfen\t7g7f:12 3c3d:-5\n"
CSA_MOVES = "+7776FU\n'** 54\n-3334FU\n'** -30\n+8822UM\n'** 12\n-3122GI\n'** -5\n"
CSA_LINES = f"{summary()}\nSTART:test+1\n+7776FU,T1\n#SENNICHITE\n#DRAW\n".encode()
NETWORK_PLACES = 3000  # bytes at the beginning of a network that are damaged often
NETWORKS = ["NNUE_kp_64x2_8_8", "SFNN_kp_64_7_16_k3k3", "SFNN_ka2_64_8_8_hand4_progress2", "SFNN_kp_512_7_8_c0_s64x8"]
EVAL_OPTIONS = b"option name FV_SCALE type spin default 24 min 1 max 128\nMultiPV=2\nThreads 4\nUSI_Ponder true\n"


def damaged(rng: random.Random, data: bytes) -> bytes:
    """Change, delete, repeat or add a few bytes of the data; sometimes return other data."""
    if rng.random() < 0.1:
        return rng.randbytes(rng.choice([0, 1, 20, 3000]))
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        at, length = rng.randrange(len(changed) + 1), rng.choice([1, 1, 4, 40])
        kind = rng.randrange(6)
        if kind == 0:
            changed[at : at + 1] = rng.randbytes(1)
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


class Readers:
    """Random examples for every reader."""

    def __init__(self, rng: random.Random, folder: Path) -> None:
        self.rng, self.folder = rng, folder
        self.grammar = Grammar(rng)

    def file(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(data)
        return path

    # Text.

    def command(self) -> None:
        assert isinstance(parse(decode(self.grammar.line())), Command)

    def option(self) -> None:
        """The shown value can be set again."""
        options, name = Options(), self.rng.choice(list(DECLARED))
        text = self.rng.choice([self.grammar.value(name), self.grammar.number()])
        with suppress(UnicodeEncodeError):
            options.set(name, text)
        shown = options.shown(name)
        assert options.set(name, shown.replace("<empty>", "")) is None and options.shown(name) == shown

    def position(self) -> None:
        """A refusal quotes the text; the sfen of a board reads as itself, and its legal moves can be made."""
        text = self.rng.choice([self.grammar.sfen(), self.grammar.noise().decode("utf-8", "replace")])
        try:
            board = Board(text)
        except ValueError as error:
            assert f"'{text.strip().removeprefix('sfen ')}'" in str(error)
            return
        again = Board(board.sfen())
        assert (again.sfen(), again.key) == (board.sfen(), board.key)
        moves = board.legal_moves(include_all=True)
        assert moves == again.legal_moves(include_all=True)
        assert len(moves) == len(set(moves)) == board.perft(1)
        for move in moves:
            board.push(move)
            assert board.pop() == move
        board.mate_in_one()
        board.can_declare()
        assert board.sfen() == again.sfen()

    def move(self) -> None:
        """Text is a legal move, or a refusal quotes it and changes nothing."""
        board = self.grammar.board.copy()
        legal, sfen = board.legal_moves(include_all=True), board.sfen()
        text = self.grammar.damaged(self.rng.choice([*legal, "7g7f"]).encode()).decode("utf-8", "replace")
        assert board.is_legal(text) == (text in legal)
        try:
            board.push(text)
        except ValueError as error:
            assert text not in legal and f"'{text}'" in str(error) and board.sfen() == sfen

    def csa_server(self) -> None:
        targets.csa_server(damaged(self.rng, CSA_LINES))

    def mate_problems(self) -> None:
        targets.mate_problems(damaged(self.rng, b"4k4/9/4G4/9/9/9/9/9/9 b G 1\n7\t4k4/9/9/9/9/9/9/9/4K4 b R 1\tx\n"))

    def eval_options(self) -> None:
        targets.eval_options(damaged(self.rng, EVAL_OPTIONS))

    # Files.

    def book(self) -> None:
        self.grammar.position()
        ending = self.rng.choice(list(BOOKS))
        path = self.file(f"book{ending}", damaged(self.rng, BOOKS[ending]))
        targets.read_book(path, self.grammar.board.sfen(), "駒")

    def weights(self) -> None:
        data = damaged(self.rng, SMALL)
        with suppress(WeightsError):
            read_blocks(data)
        with suppress(WeightsError):
            read_folded(str(self.file("some.kpp", data)))

    def network(self) -> None:
        """A network is refused, or its values are within bounds."""
        path = self.folder / "nn.bin"
        data = bytearray(network_bytes(self.folder, self.rng.choice(NETWORKS)))
        for _ in range(self.rng.choice([1, 3, 1000])):
            at = self.rng.randrange(self.rng.choice([200, NETWORK_PLACES, len(data)]))
            data[at] = self.rng.choice([0, 0x7F, 0x80, 0xFF, self.rng.randrange(256)])
        path.write_bytes(data if self.rng.random() < 0.8 else data[: self.rng.randrange(len(data))])
        with suppress(WeightsError):
            loaded = load_evaluation(str(path), self.rng.choice([1, 16, 128]))
            worker = Worker(Table(1), StopToken(), loaded)
            worker.configure()
            assert abs(worker.evaluate(Board())[-1][1]) <= MAX_EVALUATION
            worker.set_root(self.grammar.board if self.grammar.board.legal_moves() else Board())
            worker.search(2, -32000, 32000)

    def record(self) -> None:
        source = self.rng.choice([path for path in RECORDS.iterdir() if path.suffix in RECORD_ENDINGS])
        path = self.file(f"game{self.rng.choice([source.suffix] * 5 + list(RECORD_ENDINGS))}", b"")
        path.write_bytes(damaged(self.rng, source.read_bytes()))
        targets.read_record(path, self.rng.choice(list(FORMATS)))

    def games(self) -> None:
        ending = self.rng.choice(GAME_ENDINGS)
        sources = {".csa": RECORDS / "game.csa", ".kif": RECORDS / "game.kif"}
        data = sources[ending].read_bytes() if ending in sources else example(ending)
        targets.read_training_games(self.file(f"games{ending}", damaged(self.rng, data)))

    def corpus(self) -> None:
        rng = np.random.default_rng(self.rng.randrange(1 << 32))
        positions = np.zeros(8, TRAINING_POSITION)
        positions["pieces"] = np.argsort(rng.random((8, 1547)))[:, :38] + 1
        positions["king"], positions["score"] = rng.integers(0, 81, (8, 2)), rng.integers(-32768, 32768, 8)
        data = positions.view(np.uint8)
        data[rng.integers(0, len(data), 2)] = rng.integers(0, 256, 2)
        with suppress(ValueError):
            kpp_trainer().learn(positions, [1e-6] * 9)

    def checkpoint(self) -> None:
        save_checkpoint(self.folder, {"a": 1}, [], {"some": np.arange(40)})
        path = self.folder / CHECKPOINT
        path.write_bytes(damaged(self.rng, path.read_bytes()))
        try:
            with open_checkpoint(self.folder, {"a": 1}) as saved:
                assert saved is not None
                saved[0]["some"].sum()
        except ValueError as error:
            assert str(path) in str(error)

    def every(self) -> dict[str, Callable[[], None]]:
        readers = [self.command, self.option, self.position, self.move, self.csa_server, self.mate_problems,
                   self.eval_options, self.book, self.weights, self.network, self.record, self.games, self.corpus,
                   self.checkpoint]  # fmt: skip
        return {reader.__name__: reader for reader in readers}


@cache
def network_bytes(folder: Path, name: str) -> bytes:
    write_network(folder / "small.bin", random_network(parse_name(name)))
    return (folder / "small.bin").read_bytes()


@cache
def kpp_trainer() -> Trainer:
    return Trainer(("piece", "tempo", "kp", "relative", "pp", "relative_pp"))


@cache
def sbinpack() -> bytes:
    """Two short games in the format of ShogiArena."""
    made = [Record.from_csa_str(f"V2.2\nPI\n+\n{CSA_MOVES}%{end}\n") for end in ("TORYO", "SENNICHITE")]
    with tempfile.TemporaryDirectory() as folder:
        write_sbinpack_file(f"{folder}/games.sbinpack", made)
        return (Path(folder) / "games.sbinpack").read_bytes()


def example(ending: str) -> bytes:
    if ending == ".sbinpack":
        return sbinpack()
    if ending in (".psv", ".hcpe"):
        return b"\0" * 4 * (PSV if ending == ".psv" else HCPE).size
    packing: dict[str, Callable[[bytes], bytes]] = {
        ".tsv.gz": gzip.compress,
        ".tsv.xz": lzma.compress,
        ".games": lambda text: encode_block([parse_game_line(text.decode().splitlines()[0])]),
    }
    return packing.get(ending, bytes)(GAME)


def fuzz_readers(seed: int, seconds: float) -> Counter[str]:
    """Try examples for `seconds`; return the number of each kind. An AssertionError names the seed."""
    rng, counts, deadline = random.Random(seed), Counter[str](), time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < deadline:
            own = rng.randrange(1 << 32)
            readers = Readers(random.Random(own), Path(folder))
            name = readers.rng.choice(list(readers.every()))
            try:
                for _ in range(10):
                    readers.every()[name]()
            except Exception as error:
                text = f"seed {seed}: reader {name}, seed {own}: {type(error).__name__}: {error}"
                raise AssertionError(text) from error
            counts[name] += 10
    network_bytes.cache_clear()
    return counts
