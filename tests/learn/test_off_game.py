"""Off-game positions: resumable, reproducible, scored by full-width searches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core_ext.engine import Worker, tunable, tunables
from tests.learn.helpers import positions_of, read_games
from usi_engine.core import Core
from usi_engine.learn import player
from usi_engine.learn.command import main
from usi_engine.learn.game import SkippedItems
from usi_engine.learn.player import FULL_WIDTH, PlayRules, search_constants
from usi_engine.learn.selfplay import SEARCH_NODES, OffGamePlan, PlayerPool, append_off_game
from usi_engine.search.iterative import iterative_deepening


@pytest.mark.parametrize("full_width", [False, True])
def test_a_run_resumes_and_repeats(few_games: Path, tmp_path: Path, full_width: bool) -> None:
    one, plan = PlayerPool(("material",), PlayRules(nodes=60, full_width=full_width)), OffGamePlan(3, samples=2)
    whole, broken = tmp_path / "whole.tsv", tmp_path / "broken.tsv"
    assert append_off_game(replace(one, threads=2), [few_games], whole, plan) == (6, SkippedItems())
    text = whole.read_text()
    broken.write_text(text[: len(text) // 2])  # killed while writing
    assert 0 < append_off_game(one, [few_games], broken, plan)[0] < 6
    assert broken.read_text() == text
    games = read_games(whole)
    assert 12 < len(games) <= 18
    assert all(len(game.moves) == 1 and game.scores[0] is not None for game in games)
    assert len(positions_of(games)) > 3


def test_games_without_scores_are_searched(tmp_path: Path) -> None:
    games, out = tmp_path / "games.tsv", tmp_path / "out.tsv"
    games.write_text("b\tscore\tstartpos\t7g7f - 3c3d -\n")
    append_off_game(PlayerPool(("material",), PlayRules(nodes=60)), [games], out, OffGamePlan(4, samples=2))
    assert len(read_games(out)) == 4


def test_networks_score_in_turn_what_the_first_samples(few_games: Path, tmp_path: Path) -> None:
    lines = []
    for weights in (("material",), ("material", "kpp")):
        out = tmp_path / f"{weights[-1]}.tsv"
        append_off_game(PlayerPool(weights, PlayRules(nodes=60)), [few_games], out, OffGamePlan(3))
        lines.append([line.split("\t") for line in out.read_text().splitlines()])
    alone, in_turn = lines
    assert [line[:3] for line in alone] == [line[:3] for line in in_turn]
    odd = [int(line[1].split()[1]) % 2 == 1 for line in alone]
    assert any(odd)
    assert [a != b for a, b in zip(alone, in_turn, strict=True)] == odd


def test_a_game_with_an_illegal_move_is_named(tmp_path: Path) -> None:
    games = tmp_path / "games.tsv"
    games.write_text("b\tscore\tstartpos\t7g7f 1\nb\tscore\tstartpos\t7g7f 1 7g7f 2\n")
    one = PlayerPool(("material",), PlayRules(nodes=60))
    read, skipped = append_off_game(one, [games], tmp_path / "out.tsv", OffGamePlan(1))
    assert (read, skipped.count) == (2, 1)
    assert f"{games}, line 2: illegal move '7g7f'" in skipped.line
    assert len(read_games(tmp_path / "out.tsv")) == 1


@pytest.mark.parametrize(
    ("command", "text", "fault"),
    [
        ("off-game", "b\tscore\tstartpos\t7g7f 1 7g7f 2\n", "line 1: illegal move '7g7f'"),
        ("rescore", "7g7f\n", "line 1: "),
    ],
)
def test_no_usable_game(
    command: str, text: str, fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    games, out = tmp_path / "g.tsv", tmp_path / "out.tsv"
    games.write_text(text)
    assert main([command, str(games), "--out", str(out), "--weights", "material", "--nodes", "60"]) == 2
    assert f"no game for {out}: 1 not used; the first: {games}, {fault}" in capsys.readouterr().err


def test_another_file_is_not_overwritten(teacher: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.tsv"
    other.write_bytes(teacher.read_bytes())
    assert main(["off-game", str(teacher), "--out", str(other), "--weights", "material"]) == 2
    assert "is not a file of off-game positions" in capsys.readouterr().err
    assert other.read_bytes() == teacher.read_bytes()


@pytest.mark.parametrize(("nodes", "full_width"), [("50", True), ("5001", False)])
def test_scores_of_few_nodes_are_those_of_full_width_searches(
    monkeypatch: pytest.MonkeyPatch, few_games: Path, tmp_path: Path, nodes: str, full_width: bool
) -> None:
    """The searches that are sampled are those of play."""
    usual, sampled, scored = [tunable(name) for name in FULL_WIDTH], 0, 0

    def watched(core: Core, worker: Worker, depth: int, limit: int, *, multipv: int) -> Iterator[int]:
        nonlocal sampled, scored
        wide = full_width and limit == int(nodes)
        assert [tunable(name) for name in FULL_WIDTH] == list(FULL_WIDTH.values() if wide else usual)
        sampled, scored = sampled + (limit == SEARCH_NODES), scored + (limit == int(nodes))
        yield from iterative_deepening(core, worker, 1, limit, multipv=multipv)

    monkeypatch.setattr(player, "iterative_deepening", watched)
    out = tmp_path / "out.tsv"
    assert main(["off-game", str(few_games), "--out", str(out), "--weights", "material", "--nodes", nodes]) == 0
    assert scored > sampled > 20


def test_search_constants_are_restored() -> None:
    before = tunables()
    with pytest.raises(ValueError, match="inside"), search_constants({"LmpBase": 40}):
        assert tunables() != before
        raise ValueError("inside")
    assert tunables() == before
