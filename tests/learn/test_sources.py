"""Games from files: the text format, and other programs' records."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.learn.helpers import read_games, records_of
from usi_engine.learn.sources import START, SourceError, items_of, parse_game_line, parse_line


@pytest.mark.parametrize(
    "line", ["", "x\tscore\tstartpos\t7g7f 1", "b\tscore\tstartpos\t7g7f", "b\tscore\tstartpos\t7g7f ten"]
)
def test_a_line_that_is_no_game_is_quoted(line: str) -> None:
    with pytest.raises(SourceError):
        parse_game_line(line)


def test_csa_and_packed_sfen_give_the_same_records(tmp_path: Path) -> None:
    record = pytest.importorskip("rsshogi.record", reason="rsshogi reads other programs' records")
    made = record.Record.from_csa_str("V2.2\nPI\n+\n+7776FU\n'** 54\n-3334FU\n'** -30\n+2726FU\n'** 12\n%TORYO\n")
    (tmp_path / "game.csa").write_text(made.to_csa())
    # Byte 38 is the result for the side to move; White resigned, so Black won.
    values = [value[:38] + bytes([1 if i % 2 == 0 else 255]) + value[39:] for i, value in enumerate(made.to_psv())]
    (tmp_path / "game.psv").write_bytes(b"".join(values))
    games = read_games(tmp_path / "game.csa")
    assert games[0].moves == ["7g7f", "3c3d", "2g2f"]
    assert games[0].scores == [54, 30, 12]
    packed = read_games(tmp_path / "game.psv")
    assert [game.moves for game in packed] == [["7g7f"], ["3c3d"], ["2g2f"]]
    assert {game.result for game in packed} == {games[0].result}
    assert list(records_of(packed)["key"]) == list(records_of(games)["key"])


def test_sbinpack_scores_are_the_movers(tmp_path: Path) -> None:
    """As ShogiArena writes them: each engine's own."""
    record = pytest.importorskip("rsshogi.record", reason="rsshogi reads other programs' records")
    moves = "+7776FU\n'** 54\n-3334FU\n'** -30\n+2726FU\n'** 12\n"
    made = [record.Record.from_csa_str(f"V2.2\nPI\n+\n{moves}%{end}\n") for end in ("TORYO", "SENNICHITE")]
    record.write_sbinpack_file(str(tmp_path / "games.sbinpack"), made)
    games = read_games(tmp_path / "games.sbinpack")
    assert [game.result for game in games] == [1, 0]
    assert [game.scores for game in games] == [[54, -30, 12]] * 2
    assert {tuple(game.moves) for game in games} == {("7g7f", "3c3d", "2g2f")}


@pytest.mark.parametrize("words", ["7g7f", "7g7f:ten", "7g7f:"])
def test_a_book_line_without_its_values_is_quoted(words: str) -> None:
    with pytest.raises(SourceError, match="not a value"):
        parse_line(f"{START}\t{words}\n")


def test_an_unknown_ending_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="expected a name ending"):
        items_of(tmp_path / "games.doc")
