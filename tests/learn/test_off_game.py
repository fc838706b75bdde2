"""Off-game positions: resumable, reproducible, scored by nodes or by plies."""

from __future__ import annotations

from pathlib import Path

import pytest

from core_ext.board import Board
from core_ext.engine import INFINITE, StopToken, Table, Worker, tunables
from tests.learn.helpers import positions_of, read_games
from usi_engine.learn.command import main
from usi_engine.learn.corpus.sources import Refused
from usi_engine.learn.selfplay.off_game import OffGame, make_off_game, unselective
from usi_engine.player import PlayRules


@pytest.mark.parametrize("plan", [OffGame(3), OffGame(3, samples=2, plies=1)], ids=["nodes", "plies"])
def test_a_run_resumes_and_repeats(teacher: Path, tmp_path: Path, plan: OffGame) -> None:
    rules = PlayRules(nodes=60)
    some = tmp_path / "some.tsv"
    some.write_text("".join(teacher.read_text().splitlines(keepends=True)[:6]))
    whole, broken = tmp_path / "whole.tsv", tmp_path / "broken.tsv"
    assert make_off_game("material", [some], whole, plan, rules=rules, threads=2) == (6, Refused())
    text = whole.read_text()
    broken.write_text(text[: len(text) // 2])  # as if it had been killed while writing
    assert 0 < make_off_game("material", [some], broken, plan, rules=rules, threads=1)[0] < 6
    assert broken.read_text() == text
    games = read_games(whole)
    assert 12 < len(games) <= 18
    assert all(len(game.moves) == 1 and game.scores[0] is not None for game in games)
    assert len(positions_of(games)) > 3


def test_a_game_with_an_illegal_move_is_named(tmp_path: Path) -> None:
    games = tmp_path / "games.tsv"
    games.write_text("b\tscore\tstartpos\t7g7f 1\nb\tscore\tstartpos\t7g7f 1 7g7f 2\n")
    rules = PlayRules(nodes=60)
    read, refused = make_off_game("material", [games], tmp_path / "out.tsv", OffGame(1), rules=rules, threads=1)
    assert (read, refused.count) == (2, 1)
    assert f"{games}, line 2: illegal move '7g7f'" in refused.line
    assert len(read_games(tmp_path / "out.tsv")) == 1


def test_another_file_is_not_overwritten(teacher: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.tsv"
    other.write_bytes(teacher.read_bytes())
    assert main(["off-game", str(teacher), "--out", str(other), "--weights", "material"]) == 1
    assert "something else than off-game positions" in capsys.readouterr().err
    assert other.read_bytes() == teacher.read_bytes()


def test_plies_give_the_best_of_all_moves(teacher: Path, tmp_path: Path) -> None:
    """Of each move searched alone. Not of every position: the histories and the table are those of the game."""
    some, out = tmp_path / "some.tsv", tmp_path / "plies.tsv"
    some.write_text("".join(teacher.read_text().splitlines(keepends=True)[:6]))
    make_off_game("material", [some], out, OffGame(8, plies=1), rules=PlayRules(), threads=1)
    games = read_games(out)
    assert len(games) == 48
    table, equal = Table(1), 0
    worker = Worker(table, StopToken(), None)
    for game in games:
        board, found = Board(game.start), []
        for move in board.legal_moves():
            table.clear()
            worker.new_game()
            worker.set_root(board, [move])
            with unselective():
                found.append(worker.search(1, -INFINITE, INFINITE))
        equal += game.scores == [max(found)]
    assert equal > 24


def test_the_constants_of_the_search_come_back() -> None:
    before = tunables()
    with pytest.raises(ValueError, match="inside"), unselective():
        assert tunables() != before
        raise ValueError("inside")
    assert tunables() == before
