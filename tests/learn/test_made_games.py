"""Games made of games, new scores and off-game positions: resumable, reproducible, with the faults named."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from core_ext.board import Board
from core_ext.engine import Worker, tunable, tunables
from tests.learn.helpers import build_corpus, positions_of, read_games
from usi_engine.files import locked
from usi_engine.learn import player
from usi_engine.learn.command import main, run
from usi_engine.learn.corpus.packed_games import encode_block
from usi_engine.learn.game import HEAD, parse_game_line
from usi_engine.learn.player import FULL_WIDTH, Player, search_constants
from usi_engine.learn.selfplay import SEARCH_NODES, rescored
from usi_engine.learn.settings import OffGame, PlayRules, Rescore
from usi_engine.search.iterative import iterative_deepening

RULES = PlayRules(nodes=60)
Make = partial[OffGame] | partial[Rescore]
QUICK: dict[str, Any] = {"weights": "material", "nodes": 60}
RESCORE, OFF_GAME = partial(Rescore, **QUICK), partial(OffGame, **QUICK, positions=3, samples=2)


@pytest.mark.parametrize("make", [RESCORE, OFF_GAME])
def test_a_run_resumes_and_repeats(few_games: Path, tmp_path: Path, make: Make) -> None:
    whole, broken = tmp_path / "whole.tsv", tmp_path / "broken.tsv"
    assert run(make(games=(few_games,), out=whole, threads=2)) == {"games": 6, "skipped": ""}
    text = whole.read_text()
    broken.write_text(text[: len(text) // 2])  # killed while writing
    assert 0 < run(make(games=(few_games,), out=broken))["games"] < 6
    assert broken.read_text() == text


@pytest.mark.parametrize("command", ["selfplay --games", "selfplay", "off-game", "rescore"])
def test_other_settings_are_refused_by_name(
    few_games: Path, tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files of older versions, which do not say how they were made, are continued."""
    out = tmp_path / ("out.games" if command == "selfplay --games" else "out.tsv")
    words = [command.split(maxsplit=1)[0], *(["--games", "2"] if "selfplay" in command else [str(few_games)])]
    words += ["--out", str(out), "--weights", "material", "--nodes", "40"]
    assert main(words) == main([*words, "--threads", "2"]) == 0
    before = out.read_bytes()
    for option, value, other in (("nodes", "50", "40"), ("seed", "2", "1"), ("weights", "kpp", "['material']")):
        assert main([*words, f"--{option}", value]) == 2
        assert f"--out {out}: was made with other settings ({option} {other}" in capsys.readouterr().err
    with locked(out, tmp_path / f"{out.name}.lock"):
        assert main(words) == 2
    assert f"{out}: another run is writing to it" in capsys.readouterr().err
    assert out.read_bytes() == before and list(tmp_path.iterdir()) == [out]
    games = read_games(out)
    out.write_bytes(encode_block(games) if out.suffix == ".games" else "".join(game.line for game in games).encode())
    assert main([*words, "--nodes", "50"]) == 0
    assert b"# made" not in out.read_bytes() and len(read_games(out)) > 1


def test_a_head_is_no_game_and_counts_as_a_line(few_games: Path, tmp_path: Path) -> None:
    games = tmp_path / "games.tsv"
    games.write_text(f"{HEAD}{{}}\n{few_games.read_text()}nothing\n")
    assert read_games(games) == read_games(few_games)
    assert build_corpus([games], tmp_path / "corpus")["first_broken"].endswith(", line 8: not a game: 'nothing'")


# ---- rescore ----


def test_moves_and_results_stay(few_games: Path, tmp_path: Path) -> None:
    run(RESCORE(games=(few_games,), out=tmp_path / "out.tsv"))
    before, after = read_games(few_games), read_games(tmp_path / "out.tsv")
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
    found = out.read_text().splitlines()[1:]
    assert len(found) == 2 and found[0] == lines[0] and found[1] != lines[2]
    assert main(command) == 0
    assert out.read_text().splitlines()[1:] == found


# ---- off-game positions ----


def test_positions_have_one_scored_move(few_games: Path, tmp_path: Path) -> None:
    run(OFF_GAME(games=(few_games,), out=tmp_path / "out.tsv"))
    games = read_games(tmp_path / "out.tsv")
    assert 12 < len(games) <= 18
    assert all(len(game.moves) == 1 and game.scores[0] is not None for game in games)
    assert len(positions_of(games)) > 3


def test_games_without_scores_are_searched(tmp_path: Path) -> None:
    games, out = tmp_path / "games.tsv", tmp_path / "out.tsv"
    games.write_text("b\tscore\tstartpos\t7g7f - 3c3d -\n")
    run(OFF_GAME(games=(games,), out=out, positions=4))
    assert len(read_games(out)) == 4


def test_networks_score_in_turn_what_the_first_samples(few_games: Path, tmp_path: Path) -> None:
    lines = []
    for weights in (("material",), ("material", "kpp")):
        out = tmp_path / f"{weights[-1]}.tsv"
        run(OffGame(games=(few_games,), out=out, nodes=60, weights=weights, positions=3))
        lines.append([line.split("\t") for line in out.read_text().splitlines()[1:]])
    alone, in_turn = lines
    assert [line[:3] for line in alone] == [line[:3] for line in in_turn]
    odd = [int(line[1].split()[1]) % 2 == 1 for line in alone]
    assert any(odd)
    assert [a != b for a, b in zip(alone, in_turn, strict=True)] == odd


def test_a_game_with_an_illegal_move_is_named(tmp_path: Path) -> None:
    games = tmp_path / "games.tsv"
    games.write_text("b\tscore\tstartpos\t7g7f 1\nb\tscore\tstartpos\t7g7f 1 7g7f 2\n")
    found = run(OFF_GAME(games=(games,), out=tmp_path / "out.tsv", positions=1))
    assert found["games"] == 2 and f"1 not used; the first: {games}, line 2: illegal move '7g7f'" in found["skipped"]
    assert len(read_games(tmp_path / "out.tsv")) == 1


@pytest.mark.parametrize(("nodes", "full_width"), [("50", True), ("5001", False)])
def test_scores_of_few_nodes_are_those_of_full_width_searches(
    monkeypatch: pytest.MonkeyPatch, few_games: Path, tmp_path: Path, nodes: str, full_width: bool
) -> None:
    """The searches that are sampled are those of play."""
    usual, sampled, scored = [tunable(name) for name in FULL_WIDTH], 0, 0

    def watched(worker: Worker, depth: int, limit: int, *, multipv: int) -> Iterator[int]:
        nonlocal sampled, scored
        wide = full_width and limit == int(nodes)
        assert [tunable(name) for name in FULL_WIDTH] == list(FULL_WIDTH.values() if wide else usual)
        sampled, scored = sampled + (limit == SEARCH_NODES), scored + (limit == int(nodes))
        yield from iterative_deepening(worker, 1, limit, multipv=multipv)

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
