"""Games from files: the text format, and other programs' records."""

from __future__ import annotations

import codecs
import gzip
import lzma
from pathlib import Path

import pytest
from rsshogi.record import Record, write_sbinpack_file

from tests.learn.helpers import positions_of, read_games
from usi_engine.learn.corpus.sources import GameSource, items_of, parse_game_line, parse_line
from usi_engine.learn.game import LARGEST_SCORE, START, Fault, SourceError
from usi_engine.records.formats import decoded

RECORDS = Path(__file__).resolve().parents[1] / "data" / "records"


def test_a_huge_score_is_the_largest_one() -> None:
    game = parse_game_line("b\tscore\tstartpos\t7g7f 5 3c3d -99999999999999999999")
    assert game.scores == [5, -LARGEST_SCORE]


def test_lines_that_are_no_games_are_counted_and_the_first_is_named(tmp_path: Path) -> None:
    game = "b\tscore\tstartpos\t7g7f"
    lines = [f"{game} 1", "no game", f"{START}\t7g7f:5", game, "d\t-\tstartpos\t"]
    path = tmp_path / "games.tsv"
    path.write_bytes("\n".join(lines).encode() + b"\n\xff\xfe\n")
    source = GameSource([path, path])
    assert [number for number, *_ in source.placed()] == [1, 2, 3, 4]
    assert source.refused.line == f"6 not used; the first: {path}, line 2: not a game: 'no game'"


@pytest.mark.parametrize("name", ["G.TSV", "G.tsv.XZ", "G.TSV.GZ", "g.Tsv.Gz", "g.tsv.xz"])
@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_a_file_in_capitals_or_with_a_byte_order_mark_is_read(tmp_path: Path, name: str, mark: bytes) -> None:
    """As Windows writes them: no game is lost."""
    text = mark + b"b\tscore\tstartpos\t7g7f 1\n" * 2
    packed = {".xz": lzma.compress(text), ".gz": gzip.compress(text)}.get(name[-3:].lower(), text)
    (tmp_path / name).write_bytes(packed)
    assert [game.moves for game in read_games(tmp_path / name)] == [["7g7f"]] * 2


@pytest.mark.parametrize(
    "line", ["", "x\tscore\tstartpos\t7g7f 1", "b\tscore\tstartpos\t7g7f", "b\tscore\tstartpos\t7g7f ten"]
)
def test_a_line_that_is_no_game_is_quoted(line: str) -> None:
    with pytest.raises(SourceError):
        parse_game_line(line)


def test_csa_and_packed_sfen_give_the_same_positions(tmp_path: Path) -> None:
    made = Record.from_csa_str("V2.2\nPI\n+\n+7776FU\n'** 54\n-3334FU\n'** -30\n+2726FU\n'** 12\n%TORYO\n")
    (tmp_path / "game.csa").write_text(made.to_csa())
    # Byte 38 is the result for the side to move; White resigned, so Black won.
    values = [value[:38] + bytes([1 if i % 2 == 0 else 255]) + value[39:] for i, value in enumerate(made.to_psv())]
    (tmp_path / "game.psv").write_bytes(b"".join(values))
    games = read_games(tmp_path / "game.csa")
    assert games[0].moves == ["7g7f", "3c3d", "2g2f"]
    assert games[0].scores == [54, 30, 12]
    assert games[0].result == 1
    packed = read_games(tmp_path / "game.psv")
    assert [game.moves for game in packed] == [["7g7f"], ["3c3d"], ["2g2f"]]
    assert {game.result for game in packed} == {games[0].result}
    assert list(positions_of(packed)["key"]) == list(positions_of(games)["key"])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp932"])
def test_text_of_records_may_be_utf_8_or_shift_jis(tmp_path: Path, encoding: str) -> None:
    for name in ("game.csa", "game.kif"):
        text = decoded((RECORDS / name).read_bytes())
        (tmp_path / name).write_bytes(text.encode(encoding))
        assert [len(game.moves) for game in read_games(tmp_path / name)] == [20]


def test_sbinpack_scores_are_the_movers(tmp_path: Path) -> None:
    """As ShogiArena writes them: each engine's own."""
    moves = "+7776FU\n'** 54\n-3334FU\n'** -30\n+2726FU\n'** 12\n"
    made = [Record.from_csa_str(f"V2.2\nPI\n+\n{moves}%{end}\n") for end in ("TORYO", "SENNICHITE")]
    write_sbinpack_file(str(tmp_path / "games.sbinpack"), made)
    games = read_games(tmp_path / "games.sbinpack")
    assert [game.result for game in games] == [1, 0]
    assert [game.scores for game in games] == [[54, -30, 12]] * 2
    assert {tuple(game.moves) for game in games} == {("7g7f", "3c3d", "2g2f")}


def test_a_faulty_csa_game_costs_none_of_the_others(tmp_path: Path) -> None:
    """It is counted and named by its number; what is empty or a comment between two `/` is no game."""
    good = "V2.2\nPI\n+\n+7776FU\n-3334FU\n%TORYO\n"
    path = tmp_path / "games.csa"
    path.write_text("/\n".join([good, good.replace("7776", "7775"), "\n' a comment\n", "\n", good]))
    source = GameSource([path])
    assert [place for _, place, _ in source.placed()] == [f"{path}, game 1", f"{path}, game 3"]
    assert source.refused.line.startswith(f"1 not used; the first: {path}, game 2: illegal move")


@pytest.mark.parametrize("words", ["7g7f", "7g7f:ten", "7g7f:"])
def test_a_book_line_without_its_values_is_quoted(words: str) -> None:
    with pytest.raises(SourceError, match="not a value"):
        parse_line(f"{START}\t{words}\n")


@pytest.mark.parametrize("ending", [".csa", ".kif", ".sbinpack"])
def test_a_record_that_is_none_is_a_fault(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"game{ending}"
    path.write_text("What is this?\n+7776FU\n")
    found = list(items_of(path))
    assert [type(item) for item in found] == [Fault]


def test_an_unknown_ending_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="expected a name ending"):
        list(items_of(tmp_path / "games.doc"))
