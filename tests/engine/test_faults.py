"""Files cut off anywhere, full disks, folders that cannot be used, starts at once, and the largest games."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core_ext.board import Board
from core_ext.engine import Network
from tests.engine.usi_transport import ROOT, Program
from tests.positions import data_rows
from usi_engine.book import yaneuraou
from usi_engine.book.entry import BookError, BookMove
from usi_engine.book.yaneuraou import MARK, YaneuraOuBook
from usi_engine.evaluation import cache
from usi_engine.evaluation.kpp_file import packaged_path, read_blocks
from usi_engine.evaluation.load import load_evaluation, packaged_network
from usi_engine.evaluation.names import INTERNAL, WeightsError
from usi_engine.usi.options import FV_SCALE

PAGE = 4096
MOST_MEGABYTES = 1000  # of 512 threads before they search
MOST_MOVES = next(row[1] for row in data_rows("perft.tsv") if row[0] == "maxmoves593")


class Arrays:
    """Stands for KppWeights: arrays of these bytes."""

    def __init__(self, *contents: bytes) -> None:
        self.arrays = [bytearray(content) for content in contents]

    def memory(self) -> list[memoryview]:
        return [memoryview(array) for array in self.arrays]


# ---- files cut off at every page ----


def test_a_network_cut_off_anywhere(tmp_path: Path) -> None:
    """Refused in one line that names it."""
    data, path = Path(packaged_network()).read_bytes(), tmp_path / "nn.bin"
    path.write_bytes(data)
    assert isinstance(load_evaluation(str(path), FV_SCALE), Network)
    for size in (*range(0, len(data), PAGE), len(data) - 1):
        path.write_bytes(data[:size])
        with pytest.raises(WeightsError, match=r"nn\.bin") as refused:
            load_evaluation(str(path), FV_SCALE)
        assert "\n" not in str(refused.value)


def test_kpp_weights_cut_off_anywhere() -> None:
    """At a page in every two megabytes, and around the header: a check takes up to 30 ms."""
    data = packaged_path().read_bytes()
    for size in (*range(0, 10 * PAGE, PAGE), *range(0, len(data), 512 * PAGE), len(data) - 1):
        with pytest.raises(WeightsError):
            read_blocks(data[:size])


@pytest.mark.parametrize("read_whole_up_to", [0, 2**20])
def test_a_book_cut_off_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read_whole_up_to: int) -> None:
    """No book, or one with the positions before the cut."""
    monkeypatch.setattr(yaneuraou, "READ_WHOLE_UP_TO", read_whole_up_to)
    board, sfens = Board(), list[str]()
    for _ in range(400):
        sfens.append(board.sfen())
        board.push(random.Random(len(sfens)).choice(board.legal_moves()))
        board = board if board.legal_moves() else Board()
    lines = b"".join(f"sfen {sfen}\n7g7f 3c3d 10 20 30\n2g2f none 5 20 30\n".encode() for sfen in sorted(sfens))
    data, path, sizes = MARK + b" 1.00\n" + lines, tmp_path / "book.db", list[int]()
    for size in range(0, len(data), PAGE // 4):
        path.write_bytes(data[:size])
        try:
            book = YaneuraOuBook(str(path))
        except BookError as error:  # cut in the line that says what it is, or in a line of a long book
            assert size < len(MARK) or (read_whole_up_to == 0 and "is not sorted" in str(error))
            continue
        found = [book.probe(sfen).moves for sfen in sfens[::20]]
        assert all(isinstance(move, BookMove) for moves in found for move in moves)
        sizes.append(sum(map(bool, found)))
    assert sizes == sorted(sizes) and sizes[-1] >= 19


def test_a_cache_cut_off_anywhere(cache_folder: Path) -> None:
    """Never read as if it were whole, even where it is filled up with zeros again, as after a lost write."""
    content, path = bytes(range(1, 256)) * 500, cache_folder / "some.unfolded"
    cache.keep(Arrays(content, content[:100]), path)
    data = path.read_bytes()
    for size in range(0, len(data), PAGE):
        for cut in (data[:size], data[:size] + bytes(len(data) - size)):
            path.write_bytes(cut)
            assert not cache.fetch(Arrays(bytes(len(content)), bytes(100)), path)


# ---- disks and folders ----

KEEP = """
import resource, signal, sys
from pathlib import Path
from tests.engine.test_faults import Arrays
from usi_engine.evaluation import cache
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
cache.keep(Arrays(bytes(300_000)), Path(sys.argv[1]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not limit the size of files")
def test_a_full_disk_leaves_no_cache(tmp_path: Path) -> None:
    """And says nothing: the weights are there."""
    command = [sys.executable, "-c", KEEP, str(tmp_path / "cache" / "x.unfolded")]
    done = subprocess.run(command, capture_output=True, check=False, cwd=ROOT, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not list((tmp_path / "cache").iterdir())


@pytest.mark.parametrize("place", ["file/cache", "/proc/none/cache", ""])
def test_a_home_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    """There is no cache then."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("KOMADORI_CACHE", str(tmp_path / place) if place else "")
    path = cache.cache_file(b"weights")
    assert (path is None) == (place == "")
    if path is not None:
        cache.keep(Arrays(b"abc"), path)
        assert not cache.fetch(Arrays(bytes(3)), path)
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


AT_ONCE = """
import sys
from pathlib import Path
from tests.engine.test_faults import Arrays
from usi_engine.evaluation import cache
path, content = Path(sys.argv[1]), bytes(range(256)) * 2000
for _ in range(40):
    empty = Arrays(bytes(len(content)))
    if cache.fetch(empty, path):
        assert empty.arrays == [content]
    else:
        cache.keep(Arrays(content), path)
    if sys.argv[2] == "0":
        path.unlink(missing_ok=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows deletes no file that is open")
def test_four_starts_at_once_on_an_empty_cache(tmp_path: Path) -> None:
    """One of which deletes the file again and again: what is read is whole, and one file is left."""
    path = tmp_path / "cache" / "x.unfolded"

    def start(number: int) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-c", AT_ONCE, str(path), str(number)]
        return subprocess.run(command, capture_output=True, check=False, cwd=ROOT, timeout=120)

    with ThreadPoolExecutor(4) as pool:
        assert [(done.returncode, done.stderr) for done in pool.map(start, range(4))] == [(0, b"")] * 4
    assert len(list(path.parent.iterdir())) <= 1


# ---- the largest games ----


def resident_megabytes(engine: Program) -> int:
    status = Path(f"/proc/{engine.process.pid}/status").read_text(encoding="ascii")
    return int(status.split("VmRSS:")[1].split()[0]) >> 10


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere memory is not counted here")
@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="AddressSanitizer takes far more memory")
def test_512_threads() -> None:
    """Ready soon and without their 8 GB, which come as threads search; a go is answered, and the next one."""
    engine = Program(evaluation=INTERNAL)
    engine.send("setoption name Threads value 512", "setoption name USI_Hash value 16", "isready")
    begun = time.monotonic()
    engine.expect("^readyok$", timeout=30)
    assert time.monotonic() - begun < 15  # 2 s on two idle cores
    assert resident_megabytes(engine) < MOST_MEGABYTES
    for _ in range(2):
        engine.send("position startpos", "go nodes 20000")
        engine.expect("^bestmove", timeout=60)
    engine.send("getoption Threads")
    engine.expect("^Threads = 512$")
    engine.close()


def long_game(plies: int) -> list[str]:
    """Random moves; a game that ends too soon is begun again."""
    for seed in range(100):
        rng, board, played = random.Random(seed), Board(), list[str]()
        while len(played) < plies and (moves := board.legal_moves()):
            played.append(rng.choice(moves))
            board.push(played[-1])
        if len(played) == plies:
            return played
    raise AssertionError("no game is so long")


def test_a_game_of_a_thousand_moves(program: Program) -> None:
    """And one of 5,000, which repeats itself over and over."""
    moves = long_game(1000)
    for plies in range(0, 1001, 100):
        program.send(f"position startpos moves {' '.join(moves[:plies])}", "go nodes 300")
        program.expect("^bestmove")
    shuffle = " ".join(["2h1h", "8b9b", "1h2h", "9b8b"] * 1250)
    program.send(f"position startpos moves {shuffle}", "go byoyomi 100", "go mate 100", "d", "isready")
    program.expect("^bestmove [1-9]")
    program.expect("^checkmate")
    program.expect("^readyok$")


def test_a_line_for_each_of_593_moves(program: Program) -> None:
    """The position with the most moves, with as many lines: each has one, and each once."""
    program.send("setoption name MultiPV value 593", "setoption name GenerateAllLegalMoves value true")
    program.send(f"position sfen {MOST_MOVES}", "go depth 2")
    seen: list[str] = []
    while not seen or not seen[-1].startswith("bestmove"):
        line = program.line(60)
        assert line is not None
        seen.append(line)
    last = [line for line in seen if " multipv " in line][-593:]
    assert [int(line.split(" multipv ")[1].split()[0]) for line in last] == list(range(593, 0, -1))
    assert len({line.split(" pv ")[1].split()[0] for line in last}) == 593
