"""The opening book: read whole or searched on the disk, and the choice by value and count."""

from __future__ import annotations

import os
import random
import re
import time
from collections import Counter
from pathlib import Path

import pytest

from core_ext.board import Board
from tests.engine.fake_core import Script, make_core
from tests.engine.usi_transport import InProcess
from usi_engine import book as book_module
from usi_engine.book import Book, BookError, BookMove, choose, read_move

START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
SMALL = f"""#YANEURAOU-DB2016 1.00
# a comment
sfen {START}
2g2f 8c8d 25 20 1
7g7f 3c3d 30 20 3
9g9f none -80 20 100
"""


def write(folder: Path, text: str, name: str = "book.db") -> str:
    """A book file."""
    path = folder / name
    path.write_bytes(text.encode())
    return str(path)


def test_probe(tmp_path: Path) -> None:
    """Moves come best first, whatever the move number."""
    book = Book(write(tmp_path, SMALL))
    first, second = BookMove("7g7f", "3c3d", 30, 20, 3), BookMove("2g2f", "8c8d", 25, 20, 1)
    wanted = [first, second, BookMove("9g9f", "", -80, 20, 100)]
    assert book.probe(START) == book.probe(START[:-1] + "77") == wanted
    assert book.probe("4k4/9/9/9/9/9/9/9/4K4 b - 1") == []


def test_line_ends_and_bom(tmp_path: Path) -> None:
    """Windows line ends and a BOM change nothing."""
    windows = "\ufeff" + SMALL.replace("\n", "\r\n")
    assert Book(write(tmp_path, windows)).probe(START) == Book(write(tmp_path, SMALL, "b")).probe(START)


def test_not_a_book(tmp_path: Path) -> None:
    """The error names the file."""
    with pytest.raises(BookError, match=r"nothing\.db"):
        Book(str(tmp_path / "nothing.db"))
    with pytest.raises(BookError, match="does not begin with"):
        Book(write(tmp_path, "sfen " + START))
    with pytest.raises(BookError, match=re.escape(str(tmp_path))):
        Book(str(tmp_path))


@pytest.mark.parametrize(
    ("line", "move"),
    [
        ("7g7f", BookMove("7g7f", "", 0, 0, 0)),
        ("7g7f none 5", BookMove("7g7f", "", 5, 0, 0)),
        ("7g7f 3c3d x y 7", BookMove("7g7f", "3c3d", 0, 0, 7)),
        ("7g7f 3c3d -5 9 7 # why", BookMove("7g7f", "3c3d", -5, 9, 7)),
        ("", None),
        ("# 7g7f", None),
        ("// 7g7f", None),
        ("resign none 0 0 0", None),
    ],
)
def test_read_move(line: str, move: BookMove | None) -> None:
    """Missing numbers are 0; what is not a move is None."""
    assert read_move(line) == move


def test_choose() -> None:
    """Moves near the best are drawn by their count; a bad move is never chosen, however high its count."""
    moves = [BookMove("a", "", 30, 1, 3), BookMove("b", "", 0, 1, 1), BookMove("c", "", -1, 1, 1000)]
    rng = random.Random(3)
    counts = Counter(chosen.move for _ in range(4000) if (chosen := choose(moves, rng)))
    assert set(counts) == {"a", "b"}
    assert 2800 < counts["a"] < 3200
    assert choose([], rng) is None


def test_on_disk_equals_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sorted book gives the same moves searched on the disk as read whole: 300 of its positions and 100 others."""
    rng = random.Random(11)
    sfens = sorted({random_position(rng) for _ in range(400)})
    held = sfens[::2] + sfens[1::4]
    lines = ["#YANEURAOU-DB2016 1.00"]
    for sfen in sorted(held):
        lines += [f"sfen {sfen}"] + [f"7g7f none {len(sfen)} {n} {n}" for n in range(sum(map(ord, sfen)) % 4)]
    path = write(tmp_path, "\n".join(lines) + "\n")
    whole = Book(path)
    monkeypatch.setattr(book_module, "READ_WHOLE_UP_TO", 0)
    on_disk = Book(path)
    assert on_disk._positions is None
    for sfen in sfens:
        assert on_disk.probe(sfen) == whole.probe(sfen)
    assert any(whole.probe(sfen) for sfen in held)


@pytest.mark.parametrize("whole", [True, False])
def test_a_probe_is_quick_whatever_the_file_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: bool) -> None:
    """Not all of very many lines of a position, positions of a key and bytes without an end are read."""
    many = f"sfen {START}\n" + "7g7f none 1 1 1\n" * 200_000
    repeated = f"sfen {START}\n7g7f none 1 1 1\n" * 20_000
    endless = "x" * 5_000_000
    if not whole:
        monkeypatch.setattr(book_module, "READ_WHOLE_UP_TO", 0)
    for text in (many, repeated, endless, f"sfen {endless}", f"sfen {START}\n{endless}", "\n" * 5_000_000):
        book = Book(write(tmp_path, "#YANEURAOU-DB2016 1.00\n" + text))
        begun = time.process_time()
        assert len(book.probe(START)) <= 600
        assert time.process_time() - begun < 0.2


@pytest.mark.parametrize(
    "line", ["--5", "7g7f none --5", f"7g7f none 5 1 {'9' * 400}", "7g7f none 1e9 1 -5", "7g7f\0 \x1b"]
)
def test_a_bad_line_spoils_nothing(tmp_path: Path, line: str) -> None:
    """The good line is still played."""
    book = Book(write(tmp_path, SMALL.replace("9g9f none -80 20 100", line)))
    assert [move.move for move in book.probe(START)][:1] == ["7g7f"]
    assert choose(book.probe(START), random.Random(1)) is not None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_a_pipe_is_no_book(tmp_path: Path) -> None:
    """To open it would wait for its writer."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BookError, match="no regular file"):
        Book(str(tmp_path / "pipe"))


def random_position(rng: random.Random) -> str:
    """Some moves from the start."""
    board = Board()
    for _ in range(rng.randrange(1, 12)):
        board.push(rng.choice(board.legal_moves()))
    return board.sfen()


def test_play_from_the_book(tmp_path: Path) -> None:
    """A book move prints an info line, then bestmove with the expected answer; in infinite analysis it waits."""
    engine = InProcess(lambda: make_core(Script()))
    engine.send("setoption name USI_Hash value 1", f"setoption name BookFile value {write(tmp_path, SMALL)}", "isready")
    engine.expect("^readyok$")
    engine.send("go btime 600000 wtime 600000")
    line = engine.expect("^bestmove", timeout=1)
    assert line in ("bestmove 7g7f ponder 3c3d", "bestmove 2g2f ponder 8c8d")
    assert engine.seen[-2].startswith("info depth 20 seldepth 20 score cp ") and line.split()[1] in engine.seen[-2]
    engine.send("go infinite")
    engine.silent("^bestmove", 0.05)
    engine.send("stop")
    engine.expect("^bestmove (7g7f|2g2f)")
    for switch in ("USI_OwnBook value false", "BookMoves value 0", "BookFile value"):
        engine.send(f"setoption name {switch}", "go depth 2")
        engine.expect("^info depth 2 ")
        engine.expect("^bestmove")
        engine.send("setoption name USI_OwnBook value true")
    engine.close()


def test_an_illegal_book_move_is_not_played(tmp_path: Path) -> None:
    """Book moves that are not legal are skipped."""
    path = write(tmp_path, SMALL.replace("7g7f", "7g7e").replace("2g2f 8c8d", "2g2f 2g2f"))
    engine = InProcess(lambda: make_core(Script()))
    engine.send("setoption name USI_Hash value 1", f"setoption name BookFile value {path}", "go byoyomi 1000")
    assert engine.expect("^bestmove") == "bestmove 2g2f"
    engine.close()
