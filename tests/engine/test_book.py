"""Opening books: .db in memory and on the disk, .sbk, .bin; flipped positions; the choice of a move; play."""

import os
import random
import re
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core_ext.board import Board
from core_ext.shogi.notation import flip_move, flip_sfen
from tests.engine.conftest import ScriptedEngine
from tests.engine.fake_core import Script
from tests.engine.usi_transport import InProcess
from tests.positions import STARTS, described, described_rows, flipped, flipped_move, random_boards
from tests.shogi.slow_shogi import START
from usi_engine.book import libraries, yaneuraou
from usi_engine.book.book_player import PACKAGED, BookPlayer, allowed, choose, open_book, rules_of
from usi_engine.book.entry import BookError, BookMove, position_key
from usi_engine.book.libraries import ENTRY, AperyBook
from usi_engine.book.yaneuraou import YaneuraOuBook, read_move
from usi_engine.evaluation.names import INTERNAL
from usi_engine.records.usi_text import MOVE
from usi_engine.usi.options import Options

SMALL = f"""#YANEURAOU-DB2016 1.00
# a comment
sfen {START}
2g2f 8c8d 25 20 1
7g7f 3c3d 30 20 3
9g9f none -80 20 100
"""
RULES = rules_of(Options(), black=True)


@pytest.fixture(params=["in memory", "on disk"])
def storage(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read a book into memory, or search it on the disk whatever its size."""
    if request.param == "on disk":
        monkeypatch.setattr(yaneuraou, "READ_WHOLE_UP_TO", 0)


def write(folder: Path, text: str, name: str = "book.db") -> str:
    path = folder / name
    path.write_bytes(text.encode())
    return str(path)


def test_a_path_from_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    assert open_book(f"~/{Path(write(tmp_path, SMALL)).name}").probe(START).moves
    with pytest.raises(BookError, match="nobody-of-this-name"):
        open_book("~nobody-of-this-name/book.db")


# ---- YaneuraOu's format ----


@pytest.mark.parametrize("text", [SMALL, "\ufeff" + SMALL.replace("\n", "\r\n")], ids=["Linux", "Windows"])
def test_probe(tmp_path: Path, text: str) -> None:
    book = YaneuraOuBook(write(tmp_path, text))
    first, second = BookMove("7g7f", "3c3d", 30, 20, 3), BookMove("2g2f", "8c8d", 25, 20, 1)
    wanted = (first, second, BookMove("9g9f", "", -80, 20, 100))
    assert book.probe(START).moves == book.probe(START[:-1] + "77").moves == wanted
    assert book.probe("4k4/9/9/9/9/9/9/9/4K4 b - 1").moves == ()


@pytest.mark.parametrize("suffix", [".db", ".sbk", ".bin", ""])
def test_not_a_book(tmp_path: Path, suffix: str) -> None:
    """Nor is a pipe: opening it would block until a writer opens it."""
    nothing, folder, bad, pipe = (tmp_path / f"{name}{suffix}" for name in ("nothing", "folder", "bad", "pipe"))
    folder.mkdir()
    bad.write_text("sfen " + START)
    if hasattr(os, "mkfifo"):
        os.mkfifo(pipe)
    for path in (nothing, folder, bad, pipe):
        with pytest.raises(BookError, match=re.escape(str(path))):
            open_book(str(path))


@pytest.mark.parametrize("path", ["a\0b", "\ud800", "x" * 5000])
def test_a_path_that_no_system_takes(path: str) -> None:
    with pytest.raises(BookError):
        open_book(path)


@pytest.mark.parametrize(("line", "move"), described_rows("book_lines.jsonl"))
def test_read_move(line: str, move: object) -> None:
    assert described(read_move(line)) == move


def test_on_disk_equals_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare the moves of 300 positions of the book and 100 others. A large book must be sorted."""
    sfens = sorted({board.sfen() for board in random_boards(11, 400)})
    held = sfens[::2] + sfens[1::4]
    text = "#YANEURAOU-DB2016 1.00\n"
    for sfen in sorted([*held, *(f"{sfen}0" for sfen in held[::3])]):
        moves = [f"7g7f none {len(sfen)} {n} {n}\n" for n in range(sum(map(ord, sfen)) % 4)]
        text += f"sfen {sfen}\n" + "".join(moves)
    whole = YaneuraOuBook(write(tmp_path, text))
    lines = "".join(f"sfen {sfen}\n7g7f\n" for sfen in reversed(sfens))
    unsorted = YaneuraOuBook(write(tmp_path, "#YANEURAOU-DB2016 1.00\n" + lines, "unsorted.db"))
    assert all(unsorted.probe(sfen).moves for sfen in sfens)
    monkeypatch.setattr(yaneuraou, "READ_WHOLE_UP_TO", 0)
    on_disk = YaneuraOuBook(whole.path)
    assert on_disk._positions is None
    assert [on_disk.probe(sfen) for sfen in sfens] == [whole.probe(sfen) for sfen in sfens]
    assert any(whole.probe(sfen).moves for sfen in held)
    with pytest.raises(BookError, match="not sorted"):
        YaneuraOuBook(unsorted.path)


@pytest.mark.usefixtures("storage")
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_position_under_several_numbers_is_one_entry(tmp_path: Path, end: str) -> None:
    """A comment with `sfen` is not a position."""
    place = START[:-1]
    before, behind = place.replace(" b ", " a "), place.replace(" b ", " w ")
    lines = ["#YANEURAOU-DB2016 1.00", f"sfen {before}1", "1g1f", f"sfen {place}1", "7g7f 3c3d 30 20 3",
             "2g2f none 20 9 1", f"sfen {place}11", f"sfen {place}5", "7g7f none 10 24 4 // from sfen a", "# sfen b",
             "9g9f none 90 1 1", "2g2f 8c8d -5 9 1", f"sfen {behind}2", "3c3d"]  # fmt: skip
    book = YaneuraOuBook(write(tmp_path, end.join([*lines, ""])))
    wanted = (BookMove("9g9f", "", 90, 1, 1), BookMove("2g2f", "", 20, 9, 2), BookMove("7g7f", "", 10, 24, 7))
    assert book.probe(START).moves == wanted
    assert [move.move for move in book.probe(f"{behind}1").moves] == ["3c3d"]


ENDLESS = "x" * 2_000_000


@pytest.mark.usefixtures("storage")
@pytest.mark.parametrize(
    "text",
    [f"sfen {START}\n" + "7g7f none 1 1 1\n" * 100_000, f"sfen {START}\n7g7f none 1 1 1\n" * 10_000,
     f"sfen {START}\n" * 10_000, ENDLESS, f"sfen {ENDLESS}", f"sfen {START}\n{ENDLESS}", "\n" * 2_000_000],
    ids=["many moves", "repeated", "without moves", "endless line", "endless sfen", "endless move", "empty lines"],
)  # fmt: skip
def test_a_probe_is_quick_whatever_the_file_contains(tmp_path: Path, text: str) -> None:
    book = YaneuraOuBook(write(tmp_path, "#YANEURAOU-DB2016 1.00\n" + text))
    begun = time.process_time()
    assert len(book.probe(START).moves) <= 600
    assert time.process_time() - begun < 0.2


@pytest.mark.parametrize(
    ("line", "fault"),
    [("--5", "'--5': not a legal move"), ("7g7f none --5", "'7g7f none --5': '--5' is not a whole number"),
     ("7g7f none x", "'7g7f none x': 'x' is not"), (f"2g2f none 5 1 {'9' * 400}", "...': '9999999"),
     ("7g7e 3c3d 5 1 1", "'7g7e': not a legal move"), ("7g7f\0 \x1b", "'7g7f\\x00': not a legal move")],
)  # fmt: skip
def test_a_bad_line_costs_one_message(tmp_path: Path, line: str, fault: str) -> None:
    told = list[str]()
    player = BookPlayer(YaneuraOuBook(write(tmp_path, SMALL.replace("9g9f none -80 20 100", line))), told.append)
    for _ in range(3):
        assert [move.move for move in player.moves(Board(), True)] == ["7g7f", "2g2f"]
    assert len(told) == 1 and "book.db': left out 1 of a position's lines, first '" in told[0] and fault in told[0]


def test_a_binary_book_of_yaneuraou_names_its_converter(tmp_path: Path) -> None:
    with pytest.raises(BookError, match=r"book\.ybb': turn it into a \.db with .*convert_ybb_to_db\.py"):
        open_book(write(tmp_path, "", "book.ybb"))


# ---- other formats ----


# A .sbk book in Protocol Buffers: the start position with 7g7f (weight 3), 2g2f (weight 9, good), 9g9f (50, mistake).
SBK = (
    bytes.fromhex("0a0012001a8f010800100018002000280030003a3f") + START.encode()
    + bytes.fromhex("4a1408f7ec81081000180320ffffffffffffffffff01 4a1408a7cc80081002180920ffffffffffffffffff01")
    + bytes.fromhex("4a140897ad82081004183220ffffffffffffffffff01")
)  # fmt: skip


def apery_book(key: int) -> bytes:
    """Encode four entries, two with this key. A move is to | start << 7; squares count file by file."""
    pawn_76, pawn_26 = 59 | 60 << 7, 14 | 15 << 7
    rows = [(key - 1, pawn_26, 1, 0), (key, pawn_26, 5, -20), (key, pawn_76, 2, 30), (key + 1, pawn_26, 1, 0)]
    return np.array(rows, ENTRY).tobytes()


@pytest.mark.parametrize(
    ("kind", "moves"),
    [
        ("sbk", (BookMove("2g2f", "", 0, 0, 9), BookMove("7g7f", "", 0, 0, 3))),
        ("bin", (BookMove("7g7f", "", 30, 0, 2), BookMove("2g2f", "", -20, 0, 5))),
    ],
)
def test_libraries(tmp_path: Path, kind: str, moves: tuple[BookMove, ...]) -> None:
    """Weights of ShogiHome become counts; a move marked as a mistake is skipped."""
    path = tmp_path / f"book.{kind}"
    path.write_bytes(SBK if kind == "sbk" else apery_book(pytest.importorskip("cshogi").Board(START).book_key()))
    book = open_book(str(path))
    assert book.probe(START).moves == moves
    assert book.probe(flip_sfen(START)).moves == book.probe("nonsense").moves == ()


def test_apery_moves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare every move of 15 bits with cshogi; other values must give a text that is not a move."""
    cshogi = pytest.importorskip("cshogi")
    monkeypatch.setattr(libraries, "MOST_MOVES", 1 << 15)
    key = cshogi.Board(START).book_key()
    path = tmp_path / "book.bin"
    path.write_bytes(np.array([(key, bits, 0, 0) for bits in range(1 << 15)], ENTRY).tobytes())
    found = {bits: move.move for bits, move in enumerate(AperyBook(str(path)).probe(START).moves)}
    squares, promotion = range(81), 1 << 14
    boards = [to | start << 7 | mark for to in squares for start in squares if start != to for mark in (0, promotion)]
    drops = [to | start << 7 for to in squares for start in range(81, 88)]
    right = {bits: cshogi.move_to_usi(bits) for bits in boards + drops}
    assert {bits: text for bits, text in found.items() if MOVE.fullmatch(text)} == right


@pytest.mark.parametrize(("suffix", "library"), [(".sbk", "rsshogi"), (".bin", "cshogi"), (".bin", "rsshogi")])
def test_a_missing_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, library: str) -> None:
    for name in [library, *(name for name in sys.modules if name.startswith(f"{library}."))]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(BookError, match=f"needs {library}: pip install {library}"):
        open_book(write(tmp_path, "x" * 16, f"book{suffix}"))


# ---- flipped positions ----


def test_flip() -> None:
    for board in random_boards(3, 60, STARTS):
        assert flip_sfen(board.sfen()) == flipped(board.sfen())
        assert [*map(flip_move, board.legal_moves())] == [*map(flipped_move, board.legal_moves())]


def test_a_book_of_one_colour_serves_both(tmp_path: Path) -> None:
    path = write(tmp_path, f"#YANEURAOU-DB2016 1.00\nsfen {START}\n7g7f 3c3d 30 20 3\n")
    player, board = BookPlayer(YaneuraOuBook(path), print), Board(flip_sfen(START))
    assert [(move.move, move.reply) for move in player.moves(board, True)] == [("3c3d", "7g7f")]
    assert player.moves(board, False) == []


# ---- the choice ----

MOVES = [BookMove("a", "", 30, 1, 30), BookMove("b", "", 0, 1, 10), BookMove("c", "", -1, 1, 1000)]


@pytest.mark.parametrize(
    ("changed", "wanted"),
    [({}, "ab"), ({"margin": 31, "least": -100}, "abc"), ({"margin": 0}, "a"), ({"margin": 99999, "least": 0}, "ab"),
     ({"least": 1}, "a"), ({"least": 31}, ""), ({"narrow": True, "least": -10}, "c")],
)  # fmt: skip
def test_allowed(changed: dict[str, int], wanted: str) -> None:
    rules = replace(RULES, **changed)  # type: ignore[arg-type]
    assert "".join(move.move for move in allowed(MOVES, rules)) == wanted
    assert bool(choose(MOVES, rules, random.Random(1))) == bool(wanted)


@pytest.mark.parametrize(("by_count", "expected"), [(True, 3000), (False, 2000)])
def test_choose(by_count: bool, expected: int) -> None:
    rng, rules = random.Random(7), replace(RULES, by_count=by_count)
    counts = Counter(chosen.move for _ in range(4000) if (chosen := choose(MOVES, rules, rng)))
    assert set(counts) == {"a", "b"}
    assert abs(counts["a"] - expected) < 200


def test_ply_and_ignored_share(tmp_path: Path) -> None:
    player, rng, board = BookPlayer(YaneuraOuBook(write(tmp_path, SMALL)), print), random.Random(1), Board()
    assert player.choose(board, replace(RULES, last_ply=0), rng) is None
    assert player.choose(board, replace(RULES, ignored_percent=100), rng) is None
    found = [player.choose(board, replace(RULES, ignored_percent=30), rng) for _ in range(1000)]
    assert 640 < sum(move is not None for move in found) < 760


# ---- play ----


@pytest.fixture
def engine(scripted: ScriptedEngine) -> InProcess:
    """Start an engine with a scripted search and its book on."""
    made = scripted(Script())
    made.send("setoption name USI_OwnBook value true")
    return made


GAME = "go btime 600000 wtime 600000"


def test_play_from_the_book(engine: InProcess, tmp_path: Path) -> None:
    engine.ask(f"setoption name BookFile value {write(tmp_path, SMALL)}", "isready", answer="^readyok$")
    engine.send(GAME)
    line = engine.expect("^bestmove", timeout=1)
    assert line in ("bestmove 7g7f ponder 3c3d", "bestmove 2g2f ponder 8c8d")
    assert engine.seen[-2].startswith("info depth 20 seldepth 20 score cp ") and line.split()[1] in engine.seen[-2]


@pytest.mark.parametrize(
    ("setting", "go"),
    [*[("DepthLimit value 2", go) for go in ("go infinite", "go", "go depth 2", "go nodes 500", "go movetime 30",
                                             f"{GAME} searchmoves 7g7f")],
     *[(setting, GAME) for setting in ("USI_OwnBook value false", "BookMoves value 0", "BookFile value",
                                       "BookFile value no_book", "BookFile value /nowhere", "MultiPV value 2",
                                       "ConsiderationMode value true", "BookIgnoreRate value 100",
                                       "BookEvalBlackLimit value 99999")]],
)  # fmt: skip
def test_other_searches_do_not_use_the_book(engine: InProcess, setting: str, go: str) -> None:
    """Only a `go` with clocks and nothing else is answered from the book, if no option forbids it."""
    engine.ask("setoption name DepthLimit value 2", f"setoption name {setting}", go, "stop")
    assert " nodes 0 " not in engine.seen[-2]


def test_an_illegal_book_move_is_not_played(engine: InProcess, tmp_path: Path) -> None:
    path = write(tmp_path, SMALL.replace("7g7f", "7g7e").replace("2g2f 8c8d", "2g2f 2g2f"))
    assert engine.ask(f"setoption name BookFile value {path}", "go byoyomi 1000") == "bestmove 2g2f"
    assert sum("'7g7e'" in line for line in engine.seen) == 1


# ---- the book of the package ----


def test_the_packaged_book_is_sound() -> None:
    """It is sorted, every move and reply is legal, and every value is small."""
    lines = PACKAGED.read_text(encoding="ascii").splitlines()
    keys = [position_key(line[5:]) for line in lines if line.startswith("sfen ")]
    assert keys == sorted(set(keys)) and len(keys) > 500
    book = open_book(INTERNAL)
    for key in keys:
        entry, board = book.probe(f"{key} 1"), Board(f"{key} 1")
        assert entry.moves and not entry.faults
        for move in entry.moves:
            assert board.is_legal(move.move) and abs(move.value) < 500 and 0 <= move.count <= 1000
            board.push(move.move)
            assert not move.reply or board.is_legal(move.reply)
            board.pop()
    first = {move.move: move.count for move in book.probe(Board().sfen()).moves}
    assert first["2g2f"] + first["7g7f"] > 0.7 * sum(first.values())
