"""`usi_engine book`: backed-up values, order of expansion, books from games and from search, resuming, show."""

from collections import Counter
from pathlib import Path

import pytest

from core_ext.board import Board
from tests.records.common import RECORDS, Searches
from usi_engine.book.entry import BookError, BookMove, position_key
from usi_engine.book.yaneuraou import YaneuraOuBook
from usi_engine.book_tool.command import main
from usi_engine.book_tool.tree import Candidate, Journal, Position, Tree, book_text, weighted, within_margin
from usi_engine.search.results import Score, Variation

QUICK = ["--nodes", "300", "--hash", "1", "--eval", "material"]
START = Board().sfen()


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """The book to write."""
    return tmp_path / "book.db"


def after(*moves: str) -> str:
    """Return the sfen after these moves from the start position."""
    return Board.from_moves(moves).sfen()


def position(line: str, **values: int) -> Position:
    """Return the position after a line, whose moves have these values at depth 5."""
    moves = line.split()
    found = [Candidate(BookMove(move, "", value, 5, 0), after(*moves, move)) for move, value in values.items()]
    return Position(after(*moves), tuple(found))


def tree_of(*positions: Position) -> Tree:
    tree = Tree()
    for each in positions:
        tree.add(each)
    return tree


# ---- values and order ----


def test_values_are_backed_up() -> None:
    """A move to a position of the book gets the mean of its own value and the best reply's."""
    tree = tree_of(
        position("", **{"7g7f": 50, "2g2f": 40, "9g9f": 10}),
        position("7g7f", **{"3c3d": -20, "8c8d": -45}),
        position("2g2f", **{"8c8d": -70, "3c3d": -60}),
        position("2g2f 3c3d", **{"7g7f": 65}),
    )
    moves = tree.moves()[START]
    assert moves == [
        BookMove("2g2f", "3c3d", 51, 7, 0),
        BookMove("7g7f", "3c3d", 35, 6, 0),
        BookMove("9g9f", "", 10, 5, 0),
    ]
    assert [move.move for move in within_margin(moves, 15)] == ["2g2f"]
    assert [move.move for move in within_margin(moves, 16)] == ["2g2f", "7g7f"]


def test_positions_are_merged_and_cycles_end() -> None:
    """A position reached by two lines has one value; a move back to an earlier position keeps its own."""
    tree = tree_of(
        position("", **{"7g7f": 0, "2g2f": 0}),
        position("7g7f", **{"3c3d": 0}),
        position("2g2f", **{"3c3d": 0}),
        position("7g7f 3c3d", **{"2g2f": 45}),
        position("2g2f 3c3d", **{"7g7f": 45}),
        position("7g7f 3c3d 2g2f", **{"8c8d": -55}),
    )
    assert len(tree) == 6
    assert {move.value for move in tree.moves()[START]} == {12}
    shuffle = ["5i5h", "5a5b", "5h5i", "5b5a"]
    back = tree_of(*(position(" ".join(shuffle[:n]), **{shuffle[n]: 7}) for n in range(4)))
    assert [move.value for move in back.moves()[START]] == [2]
    assert back.frontier(START, 99, 40, 10) == []


def test_the_cheapest_leaves_come_first() -> None:
    """A path costs its losses and 10 for each move; margin and last ply bound it."""
    tree = tree_of(position("", **{"7g7f": 50, "2g2f": 35, "9g9f": 5}), position("7g7f", **{"3c3d": -50, "8c8d": -53}))
    leaves = tree.frontier(START, 9, 40, 10)
    assert [(cost, position_key(sfen)) for cost, sfen in leaves] == [
        (20, position_key(after("7g7f", "3c3d"))),
        (23, position_key(after("7g7f", "8c8d"))),
        (25, position_key(after("2g2f"))),
    ]
    assert [cost for cost, _ in tree.frontier(START, 9, 45, 10)] == [20, 23, 25, 55]
    assert [cost for cost, _ in tree.frontier(START, 2, 40, 10)] == [25]
    assert [sfen for _, sfen in Tree().frontier(START, 9, 40, 10)] == [START]


def test_weights_of_moves_without_games() -> None:
    """The count halves with each 15 centipawns that a move loses; counts of games stay."""
    moves = [BookMove("a", "", 30, 1, 0), BookMove("b", "", 15, 1, 0), BookMove("c", "", -900, 1, 0)]
    assert [move.count for move in weighted(moves)] == [100, 50, 1]
    counted = [BookMove("a", "", 30, 1, 2), BookMove("b", "", 15, 1, 9)]
    assert weighted(counted) == counted


def test_the_text_is_sorted() -> None:
    """Positions by key, moves by value within the margin."""
    tree = tree_of(position("7g7f", **{"3c3d": -9}), position("", **{"7g7f": 9, "2g2f": 9, "9g9f": -80}))
    text, positions, moves = book_text(tree, 40, "a note")
    assert (positions, moves) == (2, 3)
    assert text.splitlines() == [
        "#YANEURAOU-DB2016 1.00",
        "# a note",
        f"sfen {after('7g7f')}",
        "3c3d none -9 5 100",
        f"sfen {START}",
        "7g7f 3c3d 9 6 100",
        "2g2f none 9 5 100",
    ]
    assert book_text(tree, None, "")[2] == 4


# ---- the journal ----


def test_the_journal_keeps_results(tmp_path: Path) -> None:
    """A damaged line is skipped; other settings are refused."""
    path = tmp_path / "folder" / "j"
    lines = (Variation(Score(12), ("7g7f", "3c3d"), 8), Variation(Score(9), ("2g2f",), 8))
    Journal(path, {"nodes": 5}).put(START, lines)
    with path.open("ab") as file:
        file.write(b'nonsense\n[4]\n["a b", [[1]]]\n["\xff b -", [[1, 2, "7g7f"]]]\n' + b"[" * 100_000)
        file.write(b'\n["a b -", [[Infinity, 1, "7g7f"]]]\n["x", [[1, 2')
    journal = Journal(path, {"nodes": 5})
    assert journal.get(START) == journal.get(START[:-1] + "9") == lines
    assert journal.get(after("7g7f")) is None
    assert len(journal) == 1
    with pytest.raises(BookError, match="other settings"):
        Journal(path, {"nodes": 6})


# ---- books from games ----


def games(folder: Path, *lines: str) -> str:
    path = folder / "games.usi"
    path.write_text("".join(f"startpos moves {line}\n" for line in lines))
    return str(path)


def test_a_book_from_games(tmp_path: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Moves are counted by position; those of too few games and of later plies are left out."""
    lines = ["7g7f 3c3d 2g2f", "2g2f 3c3d 7g7f 8c8d 2f2e", "2g2f 3c3d 7g7f 8c8d 2f2e", "7g7f 3c3d 2g2f 8c8d", "9g9f"]
    assert main(["build", games(tmp_path, *lines), "--out", str(out), "--plies", "4"]) == 0
    book = YaneuraOuBook(str(out))
    assert book.probe(START).moves == (BookMove("7g7f", "3c3d", 0, 0, 2), BookMove("2g2f", "3c3d", 0, 0, 2))
    assert book.probe(after("2g2f", "3c3d", "7g7f")).moves == (BookMove("8c8d", "", 0, 0, 3),)
    assert book.probe(after(*lines[1].split()[:4])).moves == ()
    assert capsys.readouterr().out == f"wrote {out}: 6 positions, 7 moves\n"
    assert not Path(f"{out}.journal").exists()


def test_searched_moves_of_games(tmp_path: Path, out: Path) -> None:
    """With --nodes the search values them and its own move, and the margin excludes bad moves."""
    text = games(tmp_path, *["7g7f 3c3d 8h2b+ 3a2b"] * 2, *["7g7f 3c3d 8h3c+ 2b3c"] * 2)
    assert main(["build", text, "--out", str(out), *QUICK]) == 0
    entry = YaneuraOuBook(str(out)).probe(after("7g7f", "3c3d"))
    assert {"8h2b+"} <= {move.move for move in entry.moves} and entry.moves[0].depth > 1
    assert "8h3c+" not in {move.move for move in entry.moves}
    assert main(["build", text, "--out", str(out), "--margin", "9999", *QUICK]) == 0
    counts = {move.move: move.count for move in YaneuraOuBook(str(out)).probe(after("7g7f", "3c3d")).moves}
    assert counts["8h2b+"] == counts["8h3c+"] == 2 and len(counts) <= 3 and sum(counts.values()) == 4


def test_more_games_are_searched(tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a position whose lines lack a move of the new games is searched again."""
    searched = Searches(monkeypatch)
    words = ["--out", str(out), "--min-games", "1", "--margin", "9999", *QUICK]
    assert main(["build", games(tmp_path, "7g7f 3c3d"), *words]) == 0
    assert main(["build", games(tmp_path, "7g7f 3c3d", "2g2f 3c3d"), *words]) == 0
    start, first, second = (position_key(after(*line)) for line in ([], ["7g7f"], ["2g2f"]))
    assert list(dict.fromkeys(searched.keys)) == [start, first, second]
    assert searched.keys[-2:] == [second] * 2 and searched.keys.count(first) == 2
    assert {move.move for move in YaneuraOuBook(str(out)).probe(START).moves} >= {"7g7f", "2g2f"}


def test_a_book_from_games_grows(tmp_path: Path, out: Path) -> None:
    """With --positions, the search adds its own positions to those of the games."""
    text = games(tmp_path, *["2g2f 8c8d 2f2e 8d8e"] * 2)
    assert main(["build", text, "--out", str(out), "--positions", "30", "--margin", "200", *QUICK]) == 0
    lines = out.read_text().splitlines()
    assert "2 games, moves of at least 2; 300 nodes a position" in lines[1]
    keys = {position_key(line[5:]) for line in lines if line.startswith("sfen ")}
    assert len(keys) == 30
    assert {position_key(after(*["2g2f", "8c8d", "2f2e"][:count])) for count in range(4)} <= keys


def test_every_format_and_faults(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A fault gives one line and the status 1."""
    names = ["game.kif", "game.kifu", "game.ki2", "game.csa", "game.jkf", "game.usi", "broken.kif", "handicap.kif"]
    assert main(["build", *(str(RECORDS / name) for name in names), "--out", str(out), "--min-games", "6"]) == 1
    assert "broken.kif, line 15" in capsys.readouterr().err
    assert YaneuraOuBook(str(out)).probe(START).moves[0].count == 6


@pytest.mark.parametrize("text", ["", "\ufeff#YANEURAOU-DB2016 1.00\n"])
def test_a_book_or_an_empty_file_is_replaced(tmp_path: Path, out: Path, text: str) -> None:
    out.write_text(text, encoding="utf-8")
    assert main(["build", games(tmp_path, "7g7f 3c3d"), "--out", str(out), "--min-games", "1"]) == 0
    assert out.read_text().startswith("#YANEURAOU-DB2016 1.00\n# Komadori")


# ---- books from search ----


def build(out: Path, positions: int) -> bytes:
    """Build a book of this many positions."""
    assert main(["build", "--out", str(out), "--positions", str(positions), "--plies", "6", *QUICK]) == 0
    return out.read_bytes()


def test_a_stopped_build_continues(
    tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The book is that of an uninterrupted run, and nothing is searched twice."""
    whole = build(tmp_path / "whole.db", 40)
    with monkeypatch.context() as patch:
        Searches(patch, 13)
        assert main(["build", "--out", str(out), "--positions", "40", "--plies", "6", *QUICK]) == 130
    assert "the same command continues from here" in capsys.readouterr().err and not out.exists()
    second = Searches(monkeypatch)
    build(out, 20)
    assert len(second.keys) == 7
    assert build(out, 40) == whole
    assert len(second.keys) == len(set(second.keys)) == 27


def test_the_book_of_a_search_is_sound(out: Path) -> None:
    """It has the right size and depth; moves are legal, within the margin, best first."""
    text = build(out, 60).decode()
    sfens = [line[5:] for line in text.splitlines() if line.startswith("sfen ")]
    assert len(sfens) == 60 and max(int(sfen.split()[3]) for sfen in sfens) <= 6
    assert Counter(int(sfen.split()[3]) for sfen in sfens)[1] == 1
    for sfen in sfens:
        moves = YaneuraOuBook(str(out)).probe(sfen).moves
        assert all(Board(sfen).is_legal(move.move) for move in moves)
        assert moves[0].value - moves[-1].value <= 40 and moves[0].count == 100


def test_the_end_of_the_game_has_no_moves(out: Path) -> None:
    start = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1"
    assert main(["build", "--out", str(out), "--start", start, "--positions", "50", *QUICK]) == 0
    assert YaneuraOuBook(str(out)).probe(start).moves[0].move == "G*5b"


def test_more_moves_are_valued_near_the_start(out: Path) -> None:
    """Four times as many up to move 2, twice as many up to move 6."""
    words = ["--positions", "60", "--lines", "2", "--plies", "9", "--margin", "9999", *QUICK]
    assert main(["build", "--out", str(out), *words]) == 0
    book, counts = YaneuraOuBook(str(out)), dict[int, set[int]]()
    for line in out.read_text().splitlines():
        if line.startswith("sfen "):
            counts.setdefault(int(line.split()[4]), set()).add(len(book.probe(line[5:]).moves))
    assert counts[1] == counts[2] == {8}
    assert all(counts[ply] <= ({4} if ply <= 6 else {2}) for ply in counts if ply > 2)


# ---- show ----


def test_show(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Print a row for each move; status 1 if there is none, 2 for a bad position or book."""
    out.write_text(f"#YANEURAOU-DB2016 1.00\nsfen {START}\n7g7f 3c3d 30 20 3\n2g2f none 25 9 1\n9g9f none -80 9 5\n")
    assert main(["show", "--book", str(out)]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows[1:] == [
        ["7g7f", "3c3d", "+30", "20", "3", "75", "%"],
        ["2g2f", "-", "+25", "9", "1", "25", "%"],
        ["9g9f", "-", "-80", "9", "5", "0", "%"],
    ]
    assert main(["show", *START.split(), "--book", str(out)]) == 0
    assert main(["show", "startpos", "moves", "1g1f", "--book", str(out)]) == 1
    assert "not in the book" in capsys.readouterr().out
    assert main(["show", "startpos", "moves", "5e5d"]) == 2
    assert "5e5d" in capsys.readouterr().err
    assert main(["show"]) == 0  # the packaged book
    assert main(["show", "--book", "none.db"]) == 2
    assert "none.db" in capsys.readouterr().err
