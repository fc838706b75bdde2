"""The corpus: split by game, deduplicated, shuffled, reproducible to the bit."""

import re
from collections import Counter, defaultdict
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core_ext.board import Board, move_from_usi
from core_ext.corpus import NO_RESULT, NO_SCORE, RESULT_UNIT, TRAINING_POSITION
from tests.eval.nnue.networks import random_network
from tests.learn.conftest import build_corpus, random_game, read_games
from usi_engine.evaluation.architecture import Architecture
from usi_engine.evaluation.names import WeightsError
from usi_engine.evaluation.network_file import write_network
from usi_engine.files import locked
from usi_engine.learn.command import main
from usi_engine.learn.corpus import buckets, build, sources
from usi_engine.learn.corpus.chances import smoothed, winning_chances
from usi_engine.learn.files import CARD, HELD_OUT, TRAINING
from usi_engine.learn.game import START, SourceError
from usi_engine.search.results import winning_chance


def test_a_book_gives_the_quiet_positions_after_its_moves(tmp_path: Path) -> None:
    """Checks, a rook en prise and values far below the best give no position."""
    start, path = "4k4/9/9/9/9/9/4p4/7R1/4K4 b -", tmp_path / "book.tsv"
    path.write_text(f"{start}\t2h2i:50 5i6h:10 2h2a+:60 2h5h:20 5i4h:-400\n")
    card = build_corpus([], tmp_path / "corpus", also=[path])
    found = np.fromfile(tmp_path / "corpus" / TRAINING, dtype=TRAINING_POSITION)
    scores = {int(position["key"]): int(position["score"]) for position in found}
    assert scores == {Board.from_moves([move], start).key: value for move, value in (("2h2i", 50), ("5i6h", 10))}
    assert (set(found["result"]), set(found["game"]), set(found["side"])) == ({NO_RESULT}, {0}, {1})
    assert card["held_out"] == 0


def test_games_of_also_are_not_held_out(teacher: Path, tmp_path: Path) -> None:
    split = build_corpus([teacher], tmp_path / "split", every=5)
    whole = build_corpus([], tmp_path / "whole", every=5, also=[teacher])
    assert split["held_out"] > 0 == whole["held_out"]
    assert split["held_out"] + split["training"] == whole["training"]


def test_the_corpus_is_split_by_game_deduplicated_and_reproducible(teacher: Path, tmp_path: Path) -> None:
    cards = [build_corpus([teacher, teacher], tmp_path / name, every=5, seed=3) for name in ("one", "two")]
    for name in (TRAINING, HELD_OUT):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    training, held = (np.fromfile(tmp_path / "one" / name, dtype=TRAINING_POSITION) for name in (TRAINING, HELD_OUT))
    keys = np.concatenate([training["key"], held["key"]])
    assert len(keys) == len(set(keys)) > 1000
    assert not set(training["game"]) & set(held["game"])
    assert (cards[0]["games"], cards[0]["training"]) == (120, len(training))
    assert 0 < len(held) < len(training)
    assert list(training["key"]) != sorted(training["key"])
    build_corpus([teacher, teacher], tmp_path / "other", every=5, seed=4)
    assert (tmp_path / "one" / TRAINING).read_bytes() != (tmp_path / "other" / TRAINING).read_bytes()


def part_of(corpus: Path, name: str) -> Any:
    return np.fromfile(corpus / name, TRAINING_POSITION)


def test_common_positions_stay_in_training(tmp_path: Path) -> None:
    """300 games with the same first four scored moves, of which some are held out."""
    games, opening = tmp_path / "games.tsv", ["7g7f", "3c3d", "2g2f", "8c8d"]
    found = []
    for number in range(300):
        board = Board.from_moves(opening)
        for turn in (number % 20, number // 20):
            board.push(board.legal_moves()[turn % len(board.legal_moves())])
        found.append(f"b\tscore\tstartpos\t{' '.join(f'{move} 20' for move in board.moves())}\n")
    games.write_text("".join(found))
    build_corpus([games], tmp_path / "corpus", every=10)
    training, held_out = (part_of(tmp_path / "corpus", name) for name in (TRAINING, HELD_OUT))
    common = [Board.from_moves(opening[:ply]).key for ply in range(5)]
    assert {*common} <= {*training["key"].tolist()}
    assert not {*common} & {*held_out["key"].tolist()} and not {*training["key"]} & {*held_out["key"]}


def test_scores_and_results_of_duplicates_are_averaged(tmp_path: Path) -> None:
    """The mean of scores is that of their winning chances. What lacks a score or a result does not count."""
    scores = range(0, 400, 10)
    lines = [f"{'bbbw'[score // 10 % 4]}\tscore\tstartpos\t7g7f {score}\n" for score in scores]
    lines += [f"b\tscore\tstartpos\t2g2f {score}\n" for score in (-7000, 8000)]
    games, book = tmp_path / "games.tsv", tmp_path / "book.tsv"
    games.write_text("".join(lines) + "d\tscore\tstartpos\t7g7f -\n")
    book.write_text("4k4/9/9/9/9/9/9/9/4K4 b P\tP*5e:70\n" * 2)
    build_corpus([], tmp_path / "corpus", also=[games, book])
    found = {int(row["key"]): row for row in part_of(tmp_path / "corpus", TRAINING)}
    start, dropped = found[Board().key], found[Board.from_moves(["P*5e"], "4k4/9/9/9/9/9/9/9/4K4 b P").key]
    chance = float(np.mean([winning_chance(score) for score in (*scores, -7000, 8000)]))
    assert start["score"] == pytest.approx(600 * log(chance / (1 - chance)), abs=0.5)
    assert start["result"] == round(RESULT_UNIT * (30 - 10 + 2 + 0) / 43)
    assert (dropped["score"], dropped["result"]) == (70, NO_RESULT)


def test_the_most_frequent_move_is_kept(tmp_path: Path) -> None:
    """Counted from the games. A leaf and a position of a book have none, unless another game has its move."""
    lines = [random_game(seed, 12) for seed in range(40)] + ["b\tscore\tstartpos\t7g7f 1 3c3d 1\n"] * 3
    (tmp_path / "games.tsv").write_text("".join(lines))
    (tmp_path / "book.tsv").write_text(f"{START}\t7g7f:10 5i6h:10\n" * 9)
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for game in read_games(tmp_path / "games.tsv"):
        board = Board(game.start)
        for move in game.moves:
            if not board.is_check() and board.piece_at(move[2:4]) is None:
                counts[board.key][move] += 1
            board.push(move)
    build_corpus([], tmp_path / "corpus", also=[tmp_path / "games.tsv", tmp_path / "book.tsv"])
    rows = part_of(tmp_path / "corpus", TRAINING)
    assert len(rows) > 300 and Board.from_moves(["5i6h"]).key in rows["key"]
    for row in rows:
        found = counts[int(row["key"])]
        most = [move_from_usi(move) for move, count in found.items() if count == max(found.values())]
        assert row["move"] == min(most, default=0)
    assert max(map(len, counts.values())) > 5


def test_what_has_no_score_keeps_none(tmp_path: Path) -> None:
    games = tmp_path / "games.tsv"
    games.write_text("b\tscore\tstartpos\t7g7f -\nw\tscore\tstartpos\t7g7f -\n")
    build_corpus([games], tmp_path / "corpus", also=[games])
    assert part_of(tmp_path / "corpus", TRAINING)[["score", "result"]].tolist() == [(NO_SCORE, 0)]


@pytest.mark.parametrize("leaves", [None, "nn.bin"])
def test_the_corpus_does_not_depend_on_the_number_of_processes(
    few_games: Path, tmp_path: Path, leaves: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not depend on the size of the chunks either."""
    network, games = tmp_path / "nn.bin", few_games
    write_network(network, random_network(Architecture("K+P", 128, 8, 8)))
    weights = str(network) if leaves else "none"
    monkeypatch.setattr(sources, "LINES", 4)
    one = build_corpus([games], tmp_path / "one", every=3, also=[games], leaves=weights, threads=1)
    two = build_corpus([games], tmp_path / "two", every=3, also=[games], leaves=weights, threads=2)
    assert one == two
    assert one["quiescence_leaves"] == bool(leaves)
    for name in (TRAINING, HELD_OUT):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    monkeypatch.setattr(sources, "LINES", 128)
    build_corpus([games], tmp_path / "three", every=3, also=[games], leaves=weights)
    assert (tmp_path / "one" / TRAINING).read_bytes() == (tmp_path / "three" / TRAINING).read_bytes()


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_interrupted_run_is_resumed(
    error: type[BaseException], teacher: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The note must be of the same files and settings. A mistyped name of a file removes nothing."""
    monkeypatch.setattr(buckets, "NOTE_SECONDS", 0.0)
    monkeypatch.setattr(build, "BATCH", 1)
    monkeypatch.setattr(sources, "LINES", 4)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    build_corpus([teacher], whole, every=3)
    read, added = build.read_chunk, buckets.Buckets.add
    calls: list[int] = []

    def counting(*arguments: Any) -> Any:
        calls.append(1)
        return read(*arguments)

    def add(self: buckets.Buckets, positions: Any) -> None:
        added(self, positions)
        if len(calls) in stops:
            raise error

    monkeypatch.setattr(build, "read_chunk", counting)
    monkeypatch.setattr(buckets.Buckets, "add", add)
    stops = {5}
    for seed in (1, 1, 2, 1):
        calls.clear()
        with pytest.raises(error):
            build_corpus([teacher], broken, every=3, seed=seed)
    stops.clear()
    for wrong in ({"also": [tmp_path / "none.tsv"]}, {"also": [tmp_path]}, {"leaves": "none.bin"}):
        with pytest.raises((OSError, SourceError, WeightsError)):
            build_corpus([teacher], broken, every=3, **wrong)
    calls.clear()
    build_corpus([teacher], broken, every=3)
    assert len(calls) == 15 - 4  # the fifth was not noted
    for name in (TRAINING, HELD_OUT, CARD):
        assert (whole / name).read_bytes() == (broken / name).read_bytes()
    assert len(list(broken.iterdir())) == 3


def test_a_second_run_in_the_folder_is_refused(few_games: Path, tmp_path: Path) -> None:
    with locked(tmp_path, tmp_path / buckets.LOCK):
        before = list(tmp_path.iterdir())
        with pytest.raises(OSError, match="another run is writing to it"):
            build_corpus([few_games], tmp_path)
        assert list(tmp_path.iterdir()) == before
    build_corpus([few_games], tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {TRAINING, HELD_OUT, CARD}


def test_a_full_disk_at_the_end_keeps_what_was_read(
    teacher: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buckets, "NOTE_SECONDS", 0.0)
    whole, broken = build_corpus([teacher], tmp_path / "whole"), tmp_path / "broken"
    written: list[int] = []

    def write(file: Any, positions: Any) -> None:
        written.append(len(positions))
        if len(written) == 40:
            raise OSError("full")
        buckets.write_positions(file, positions)

    with monkeypatch.context() as patch, pytest.raises(OSError, match="full"):
        patch.setattr(build, "write_positions", write)
        build_corpus([teacher], broken)
    monkeypatch.setattr(build, "read_chunk", None)  # not called
    assert build_corpus([teacher], broken) == whole
    assert (broken / TRAINING).read_bytes() == (tmp_path / "whole" / TRAINING).read_bytes()


def test_unusable_items_are_counted_and_the_first_is_named(teacher: Path, tmp_path: Path) -> None:
    path = tmp_path / "games.tsv"
    bad = ["nothing", "b\tscore\tstartpos\t7g7e 5", "b\tscore\tk8/9 b - 1\t7g7f 5", f"{START}\t7g7e:5"]
    path.write_text(teacher.read_text() + "\n".join(bad) + "\n")
    card = build_corpus([path], tmp_path / "corpus")
    assert (card["games"], card["broken_games"]) == (64, 4)
    assert card["first_broken"] == f"4 not used; the first: {path}, line 61: not a game: 'nothing'"
    assert card["training"] == build_corpus([teacher], tmp_path / "good")["training"]


@pytest.mark.parametrize(
    ("text", "every", "reason"),
    [("nothing\n", 50, "1 not used; the first: .*'nothing'"), ("", 50, "$"), (random_game(1), 1, "$")],
)
def test_nothing_to_train_with_leaves_the_old_corpus(
    teacher: Path, tmp_path: Path, text: str, every: int, reason: str
) -> None:
    """No line is a game, there is no line, or all games are held out."""
    folder, games = tmp_path / "corpus", tmp_path / "games.tsv"
    build_corpus([teacher], folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    games.write_text(text)
    with pytest.raises(SourceError, match=f"no position to train with for {re.escape(str(folder))}(: )?{reason}"):
        build_corpus([games], folder, every=every)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


# ---- smoothed scores ----


def mean_score(share: float, own: float, later: float) -> float:
    """Mix two scores as winning chances."""
    one, two = (1 / (1 + exp(-score / 600)) for score in (own, later))
    chance = (1 - share) * one + share * two
    return 600 * log(chance / (1 - chance))


def test_each_score_is_mixed_with_the_smoothed_score_after_it() -> None:
    """Scores change sides, and the chain begins at the end of the game."""
    third = 900.0
    second = mean_score(0.6, -100, -third)
    first = mean_score(0.6, 50, -second)
    assert smoothed([50, -100, 900], 0.6) == [round(first), round(second), 900]
    assert first > 150 and second < -350
    assert smoothed([50, -100, 900], 0.0) == [50, -100, 900]


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([], []),
        ([50, None, 900], [50, None, 900]),  # after a random move the position says nothing about the one before
        ([None, 5, None, None], [None, 5, None, None]),
        ([29999, -200, 100], [29999, round(mean_score(0.5, -200, -100)), 100]),  # a mate of another program
        ([31990, -200, 100], [31990, round(mean_score(0.5, -200, -100)), 100]),
        ([9, -31990], [round(mean_score(0.5, 9, 31990)), -31990]),  # a mate counts as a sure win
        ([32767, -32767, 20000, -20000], [32767, -32767, 8289, -20000]),
    ],
)
def test_gaps_and_mates_keep_their_scores(scores: list[int | None], expected: list[int | None]) -> None:
    assert smoothed(scores, 0.5) == expected


def test_winning_chances_are_those_of_results() -> None:
    values = np.array([-40_000, -600, -1, 0, 30, 31_999])
    assert winning_chances(values) == pytest.approx([winning_chance(int(value)) for value in values])


def test_the_corpus_has_smoothed_scores(tmp_path: Path) -> None:
    games, corpus = tmp_path / "games.tsv", tmp_path / "corpus"
    games.write_text("b\tscore\tstartpos\t7g7f 50 3c3d -100 2g2f 900\n")
    assert main(["corpus", str(games), "--out", str(corpus), "--smooth", "0.6", "--leaves", "none"]) == 0
    found = np.sort(np.fromfile(corpus / TRAINING, TRAINING_POSITION), order="ply")
    first, second, third = smoothed([50, -100, 900], 0.6)
    assert second is not None
    assert found["score"].tolist() == [first, -second, third]  # for Black
    assert '"smooth": 0.6' in (corpus / "corpus.json").read_text()
