"""Self-play, games made of games, new scores, off-game positions: resumable, reproducible, varied, faults named."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from core_ext.board import Board
from core_ext.engine import Worker, tunable
from tests.learn.conftest import build_corpus, positions_of, read_games
from tests.records.common import RECORDS
from usi_engine.files import locked
from usi_engine.learn import player, selfplay
from usi_engine.learn import player as player_module
from usi_engine.learn.command import main, run
from usi_engine.learn.corpus.packed_games import encode_block
from usi_engine.learn.game import HEAD, START, ScoredGame, parse_game_line
from usi_engine.learn.game_file import complete_games
from usi_engine.learn.player import FULL_WIDTH, Player
from usi_engine.learn.selfplay import SEARCH_NODES, game_tasks, rescored
from usi_engine.learn.settings import OffGame, PlayRules, Rescore, SelfPlay
from usi_engine.records.games import load_games, opening_boards
from usi_engine.search.iterative import iterative_deepening

ROOK_EN_PRISE = "4k4/9/9/4r4/9/9/9/4L4/4K4 b - 1"  # 5h5d captures it


@pytest.fixture
def piece_values(tmp_path: Path) -> Path:
    """An evaluation in a file."""
    path = tmp_path / "values.txt"
    path.write_text("P 150\n")
    return path


@pytest.mark.parametrize(("suffix", "cut"), [(".tsv", b"b\tscore\tstart"), (".games", b"KGAMES1\n\0")])
def test_a_run_resumes_and_repeats(tmp_path: Path, suffix: str, cut: bytes, piece_values: Path) -> None:
    """Two evaluations play."""
    whole, broken = tmp_path / f"whole{suffix}", tmp_path / f"broken{suffix}"
    one = SelfPlay(out=broken, games=6, weights=("material", str(piece_values)), nodes=60, longest=40)
    assert run(replace(one, out=whole, threads=2)) == {"games": 6}
    assert run(replace(one, games=2)) == {"games": 2}
    broken.write_bytes(broken.read_bytes() + cut)  # killed while writing
    assert run(one) == {"games": 4}
    assert whole.read_bytes() == broken.read_bytes()
    games = read_games(whole)
    assert len({game.key for game in games}) == 6
    assert len(positions_of(games)) > 60


def test_pairs_of_networks_play_in_turn() -> None:
    tasks = list(game_tasks(["startpos"], 3, 1, range(18)))
    pairs = [task[2:] for task in tasks]
    assert len(set(pairs[:9])) == 9 and pairs[:9] == pairs[9:]
    assert tasks[4:] == list(game_tasks(["startpos"], 3, 1, range(4, 18)))
    assert len({(start, *players) for start, _, *players in game_tasks("abcdef", 2, 1, range(24))}) == 24


def test_white_may_be_another_player() -> None:
    class Last(Player):
        def _choose(self, board: Board, *_: object) -> tuple[str, int | None]:
            return board.legal_moves()[-1], 7

    rules = PlayRules(nodes=40, longest=10, opening_plies=0)
    scores = Player(None, rules).play("startpos", 1, white=Last(None, rules)).scores
    assert scores[1::2] == [7] * 5 != scores[::2]


def test_only_a_side_that_both_see_ahead_wins() -> None:
    class Sure(Player):
        winner = 0

        def _choose(self, board: Board, *_: object) -> tuple[str, int | None]:
            return board.legal_moves()[-1], 1600 if board.turn == self.winner else -1600

    rules = PlayRules(longest=10, play_out=0.0)
    players = Sure(None, rules), Sure(None, rules)
    for own, others, ending in ((0, 1, (0, "length")), (1, 1, (-1, "score"))):
        players[0].winner, players[1].winner = own, others
        played = players[0].play("startpos", 1, white=players[1])
        assert (played.result, played.ending) == ending


def test_openings_are_positions_in_any_form_of_usi(tmp_path: Path) -> None:
    """A wrong line is named."""
    sfen, file = f"sfen {START}", tmp_path / "openings.sfen"
    lines = ["startpos moves 7g7f 3c3d", "position startpos", START, sfen, f"position {sfen} moves 7g7f"]
    file.write_text("\n".join(lines), encoding="utf-8-sig")  # with a byte order mark
    one, two = (Board.from_moves(moves).sfen() for moves in (["7g7f"], ["7g7f", "3c3d"]))
    assert [board.sfen() for board in opening_boards(file)] == [two, START, START, START, one]
    file.write_text("startpos\nstartpos moves 7g7f 7g7f\n")
    with pytest.raises(ValueError, match="line 2: move 2 '7g7f'"):
        list(opening_boards(file))
    file.write_text(f"b\tscore\t{'7g7f ' * 99}\n")  # a game
    with pytest.raises(ValueError, match=r"line 1: an sfen has .*: 'b score [7gf ]{70,90}$"):
        list(opening_boards(file))


def test_openings_are_the_first_moves_of_records() -> None:
    game = next(load_games(RECORDS / "game.kif"))
    (board,) = opening_boards(RECORDS / "game.kif")
    assert board.moves() == list(game.moves[:24]) and len(board.moves()) == 20


def random_plies(game: ScoredGame) -> list[int]:
    """Return the plies of random moves."""
    return [ply for ply, score in enumerate(game.scores) if score is None]


def test_random_moves_are_sprinkled_over_the_game() -> None:
    rules = PlayRules(nodes=40, longest=60, opening_plies=0, random_moves=0.25, random_score=99999)
    games = [Player(None, rules).play("startpos", number) for number in range(6)]
    found = [ply for game in games for ply in random_plies(game)]
    plies = sum(len(game.moves) for game in games)
    assert 0.15 < len(found) / plies < 0.35 and max(found) > 30


def test_no_random_moves_unless_asked_for_or_in_a_decided_position() -> None:
    game = Player(None, PlayRules(nodes=40, longest=40, opening_plies=6)).play("startpos", 1)
    assert random_plies(game) and max(random_plies(game)) < 6
    rules = PlayRules(nodes=40, longest=12, opening_plies=0, random_moves=1.0, random_score=300)
    assert len(random_plies(Player(None, rules).play("startpos", 1))) == 12
    assert not random_plies(Player(None, rules).play("4k4/9/9/9/9/9/9/9/4K4 b 2R2B4G 1", 1))


@pytest.mark.parametrize(("margin", "some"), [(30, False), (4000, True)])
def test_opening_moves_are_near_the_best_one(margin: int, some: bool) -> None:
    near = Player(None, PlayRules(nodes=500)).near_best(Board(ROOK_EN_PRISE), margin)
    assert "5h5d" in near
    assert (len(near) > 1) == some
    assert len(set(near)) == len(near) <= player_module.OPENING_LINES


def test_with_a_margin_all_opening_moves_are_random() -> None:
    rules = PlayRules(nodes=40, longest=12, opening_plies=6, opening_margin=50)
    games = [Player(None, rules).play("startpos", number) for number in range(8)]
    assert {tuple(random_plies(game)) for game in games} == {tuple(range(6))}
    assert len({tuple(game.moves[:6]) for game in games}) > 4


class Repeating:
    """A player that plays the same game at every first attempt."""

    def __init__(self, *_: object) -> None: ...

    def play(self, start: str, number: int, attempt: int = 0, _: object = None) -> ScoredGame:
        moves = Board(start).legal_moves()
        return ScoredGame(START, [moves[attempt % 3]], [number], 0, "length")


def test_a_known_game_is_replaced_by_another(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(selfplay, "Player", Repeating)
    path = tmp_path / "games.tsv"
    for games in (2, 5):
        run(SelfPlay(out=path, games=games, weights=("material",)))
    moves = [game.moves[0] for game in read_games(path)]
    first, second, third = Board().legal_moves()[:3]
    assert moves == [first, second, third, first, first]  # it has no fourth game
    assert [game.scores for game in read_games(path)] == [[number] for number in range(5)]


def test_scores_do_not_make_games_different(tmp_path: Path) -> None:
    path = tmp_path / "games.tsv"
    path.write_text("b\tscore\tstartpos\t7g7f - 3c3d 5\nw\tmate\tstartpos\t7g7f 7 3c3d 5\nb\tscore\tstartpos\t7g7f 7\n")
    keys = [game.key for game, _ in complete_games(path)]
    assert keys[0] == keys[1] != keys[2]


def test_random_moves_depend_on_the_attempt() -> None:
    player = Player(None, PlayRules(nodes=40, longest=8, random_share=1.0))
    first, again, other = (player.play("startpos", 3, attempt) for attempt in (0, 0, 1))
    assert first == again != other


@pytest.mark.parametrize(("share", "ending"), [("0", "score"), ("1", "mate")])
def test_a_lost_game_is_resigned_or_played_out(tmp_path: Path, share: str, ending: str) -> None:
    """Black has everything but one gold, too few to mate at once."""
    opening, out = tmp_path / "opening.sfen", tmp_path / "games.tsv"
    opening.write_text("3g1k3/9/9/9/9/9/9/9/R3K4 b 2B2SN 1\n")
    words = f"selfplay --openings {opening} --out {out} --games 1 --nodes 1000 --opening-plies 0 --play-out {share}"
    assert main(words.split()) == 0
    assert [(game.result, game.ending) for game in read_games(out)] == [(1, ending)]


# ---- games made of games ----

RULES = PlayRules(nodes=60)
Make = partial[OffGame] | partial[Rescore]
QUICK: dict[str, Any] = {"weights": "material", "nodes": 60}
RESCORE, OFF_GAME = partial(Rescore, **QUICK), partial(OffGame, **QUICK, positions=3, samples=2)


@pytest.mark.parametrize("make", [RESCORE, OFF_GAME])
def test_a_run_of_made_games_resumes_and_repeats(few_games: Path, tmp_path: Path, make: Make) -> None:
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
    """Games without scores are searched too."""
    run(OFF_GAME(games=(few_games,), out=tmp_path / "out.tsv"))
    games = read_games(tmp_path / "out.tsv")
    assert 12 < len(games) <= 18
    assert all(len(game.moves) == 1 and game.scores[0] is not None for game in games)
    assert len(positions_of(games)) > 3
    (tmp_path / "unscored.tsv").write_text("b\tscore\tstartpos\t7g7f - 3c3d -\n")
    run(OFF_GAME(games=(tmp_path / "unscored.tsv",), out=tmp_path / "others.tsv", positions=4))
    assert len(read_games(tmp_path / "others.tsv")) == 4


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
