"""Off-game positions: resumable, reproducible."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.learn.helpers import read_games, records_of
from usi_engine.learn.command import main
from usi_engine.learn.off_game import make_off_game
from usi_engine.learn.selfplay import PlayRules
from usi_engine.learn.sources import Refused


def test_a_run_resumes_and_repeats(teacher: Path, tmp_path: Path) -> None:
    rules = PlayRules(nodes=60)
    some = tmp_path / "some.tsv"
    some.write_text("".join(teacher.read_text().splitlines(keepends=True)[:6]))
    whole, broken = tmp_path / "whole.tsv", tmp_path / "broken.tsv"
    assert make_off_game("material", [some], whole, 3, rules=rules, threads=2) == (6, Refused())
    text = whole.read_text()
    broken.write_text(text[: len(text) // 2])  # as if it had been killed while writing
    assert 0 < make_off_game("material", [some], broken, 3, rules=rules, threads=1)[0] < 6
    assert broken.read_text() == text
    games = read_games(whole)
    assert 12 < len(games) <= 18
    assert all(len(game.moves) == 1 and game.scores[0] is not None for game in games)
    assert len(records_of(games)) > 3


def test_a_game_with_an_illegal_move_is_named(tmp_path: Path) -> None:
    games = tmp_path / "games.tsv"
    games.write_text("b\tscore\tstartpos\t7g7f 1\nb\tscore\tstartpos\t7g7f 1 7g7f 2\n")
    rules = PlayRules(nodes=60)
    read, refused = make_off_game("material", [games], tmp_path / "out.tsv", 1, rules=rules, threads=1)
    assert (read, refused.count) == (2, 1)
    assert f"{games}, line 2: illegal move '7g7f'" in refused.line
    assert len(read_games(tmp_path / "out.tsv")) == 1


def test_another_file_is_not_overwritten(teacher: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.tsv"
    other.write_bytes(teacher.read_bytes())
    assert main(["off-game", str(teacher), "--out", str(other), "--weights", "material"]) == 1
    assert "something else than off-game positions" in capsys.readouterr().err
    assert other.read_bytes() == teacher.read_bytes()
