"""New scores for games: resumable, reproducible; moves and results stay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core_ext.board import Board
from tests.learn.helpers import read_games
from usi_engine.learn.command import main
from usi_engine.learn.game import SkippedItems, parse_game_line
from usi_engine.learn.player import Player, PlayRules
from usi_engine.learn.selfplay import PlayerPool, rescore, rescored

RULES = PlayRules(nodes=60)


def test_a_run_resumes_and_repeats(few_games: Path, tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole.tsv", tmp_path / "broken.tsv"
    assert rescore(PlayerPool(("material",), RULES, threads=2), [few_games], whole, 1.0) == (6, SkippedItems())
    text = whole.read_text()
    broken.write_text(text[: len(text) // 2])  # killed while writing
    assert 0 < rescore(PlayerPool(("material",), RULES), [few_games], broken, 1.0)[0] < 6
    assert broken.read_text() == text
    before, after = read_games(few_games), read_games(whole)
    assert [replace(game, scores=[]) for game in before] == [replace(game, scores=[]) for game in after]
    old, new = ([score for game in games for score in game.scores] for games in (before, after))
    assert sum(one != two for one, two in zip(old, new, strict=True)) > 0.9 * len(old)


@pytest.mark.parametrize("cut", [0, 1])
def test_other_games_are_not_continued(
    few_games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], cut: int
) -> None:
    """Games of the input may be missing or too many, and the last line cut off."""
    first, *others = few_games.read_text().splitlines(keepends=True)
    one, out = tmp_path / "one.tsv", tmp_path / "out.tsv"
    one.write_text(first)
    for games, lines in ((few_games, others), (few_games, [first, *others[1:]]), (one, [first] * 3)):
        text = "".join(lines)
        out.write_text(text[: len(text) - cut])
        assert main(["rescore", str(games), "--out", str(out), "--weights", "material"]) == 2
        assert f"--out {out}: its games are not the first of the input" in capsys.readouterr().err
        assert out.read_text() == text[: len(text) - cut]


def test_a_score_is_that_of_a_search(few_games: Path) -> None:
    player = Player(None, RULES)
    game = read_games(few_games)[0]
    found = rescored([player], 1, game, 1.0)[0]
    player.new_game()
    assert found.scores[:2] == [player.think(Board.from_moves(game.moves[:plies]))[1] for plies in (0, 1)]


def test_positions_outside_the_share_keep_their_score(few_games: Path) -> None:
    game = replace(read_games(few_games)[0], scores=[7777] * len(read_games(few_games)[0].moves))
    player = Player(None, RULES)
    found = [rescored([player], number, game, 0.25)[0].scores for number in range(1, 5)]
    shares = [sum(score != 7777 for score in scores) / len(scores) for scores in found]
    assert 0.15 < sum(shares) / len(shares) < 0.35
    assert found[0] == rescored([player], 1, game, 0.25)[0].scores != found[1]
    assert rescored([player], 1, game, 0.0) == [game]


def test_a_random_move_stays_without_score_unless_all_are() -> None:
    game = parse_game_line("b\tscore\tstartpos\t7g7f - 3c3d 5 2g2f -")
    scores = rescored([Player(None, RULES)], 1, game, 1.0)[0].scores
    assert (scores[0], scores[1] is None, scores[2]) == (None, False, None)
    assert None not in rescored([Player(None, RULES)], 1, replace(game, scores=[None] * 3), 1.0)[0].scores


def test_a_line_is_written_as_it_is_read() -> None:
    for start in ("startpos", "4k4/9/9/9/9/9/9/9/4K4 b P 1"):
        line = f"w\tresign\t{start}\t5i5h -3 5a5b -\n"
        assert parse_game_line(line).line == line


def test_a_game_with_an_illegal_move_stays_and_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "games.tsv", tmp_path / "out.tsv"
    lines = ["b\tscore\tstartpos\t7g7f 1 7g7f 2", "nothing", "b\tscore\tstartpos\t7g7f 9999"]
    path.write_text("\n".join(lines))
    command = ["rescore", str(path), "--out", str(out), "--weights", "material", "--nodes", "50"]
    assert main(command) == 0
    assert f"2 not used; the first: {path}, line 1: illegal move '7g7f'" in capsys.readouterr().err
    found = out.read_text().splitlines()
    assert len(found) == 2 and found[0] == lines[0] and found[1] != lines[2]
    assert main(command) == 0
    assert out.read_text().splitlines() == found
