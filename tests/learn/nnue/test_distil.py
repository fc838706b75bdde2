"""A corpus scored by networks: their values are those of play, blended with the scores; what is held out stays."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from core_ext.board import BLACK, Board
from core_ext.corpus import NO_SCORE, TRAINING_POSITION, GameReader
from core_ext.engine import StopToken, Table, Worker
from usi_engine.evaluation.load import load_evaluation, packaged_network
from usi_engine.evaluation.names import INTERNAL
from usi_engine.evaluation.network_file import read_network, write_network
from usi_engine.learn.command import main
from usi_engine.learn.corpus.build import CARD, HELD_OUT, TRAINING
from usi_engine.learn.corpus.sources import SkippedItems, parse_game_line
from usi_engine.learn.nnue.distil import MOST_VALUE, Teacher, distil, rescored_by
from usi_engine.learn.nnue.network_card import tempo_left_out
from usi_engine.learn.nnue.train import shifted
from usi_engine.learn.selfplay.search_positions import SearchPositions


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The packaged network with values greater by 200, which leaves no tempo out."""
    path = tmp_path_factory.mktemp("other") / "other.bin"
    write_network(path, shifted(read_network(packaged_network()), 200))
    return str(path)


def test_a_teacher_values_positions_as_play_does(games: Path) -> None:
    """Plus the tempo that the network leaves out, for the side to move."""
    reader, worker, teacher = GameReader(), Worker(Table(1), StopToken(), load_evaluation(INTERNAL)), Teacher(INTERNAL)
    game = parse_game_line(games.read_text().splitlines()[0])
    board, out, tempo = Board(game.start), np.zeros(8, TRAINING_POSITION), tempo_left_out(packaged_network())
    compared = 0
    for move in game.moves:
        if reader.read_game(board.sfen(), [move], [0], 0, 0, out):
            sign = 1 if board.turn == BLACK else -1
            wanted = sign * (dict(worker.evaluate(board))["total"] + tempo)
            assert teacher.values(out[:1])[0] == pytest.approx(wanted, abs=3)
            compared += 1
        board.push(move)
    assert compared > 10 and tempo > 0


def by_position(path: Path) -> npt.NDArray[Any]:
    """The positions of a file in the order of their keys."""
    return np.sort(np.fromfile(path, TRAINING_POSITION), order="key")


def test_scores_are_blended_with_the_mean(corpus: Path, tmp_path: Path, other: str) -> None:
    """Of two networks; without a score the mean is all."""
    old = by_position(corpus / TRAINING)
    card = distil(corpus, [INTERNAL, other], tmp_path, 0.75)
    new = by_position(tmp_path / TRAINING)
    mean = (Teacher(INTERNAL).values(old) + Teacher(other).values(old)) / 2
    wanted = np.clip(0.75 * mean + 0.25 * old["score"], -MOST_VALUE, MOST_VALUE)
    assert np.abs(new["score"] - wanted).max() <= 0.51
    assert np.ptp(new["score"] - old["score"].astype(int)) > 100
    for name in set(TRAINING_POSITION.names or ()) - {"score"}:
        assert np.array_equal(new[name], old[name])
    old["score"] = NO_SCORE
    assert np.abs(rescored_by([Teacher(other)], old, 0.5)["score"] - Teacher(other).values(old)).max() <= 0.51
    assert card["distilled"] == {"networks": [INTERNAL, "other.bin"], "share": 0.75}


def test_the_new_corpus_can_be_trained_on(corpus: Path, tmp_path: Path, other: str) -> None:
    """By the commands; the held-out positions and the rest of the card are those of the old one."""
    out = tmp_path / "distilled"
    assert main(["distil", str(corpus), "--networks", other, "--out", str(out), "--share", "1"]) == 0
    assert np.array_equal(by_position(corpus / HELD_OUT), by_position(out / HELD_OUT))
    card = json.loads((out / CARD).read_text())
    assert card.pop("distilled") == {"networks": ["other.bin"], "share": 1.0}
    assert card == json.loads((corpus / CARD).read_text())
    small = ["--network", "128x2-8-8", "--model", "nnue", "--epochs", "1", "--out", str(tmp_path / "small.bin")]
    assert main(["train", str(out), *small, "--decay", "0"]) == 0
    assert json.loads((tmp_path / "small.card.json").read_text())["plan"]["decay"] == 0


def test_positions_of_searches_are_added(corpus: Path, games: Path, tmp_path: Path, other: str) -> None:
    """Those that searches evaluate, mostly off the games, with the network's values; what is held out stays so."""
    few = tmp_path / "few.tsv"
    few.write_text("".join(games.read_text().splitlines(keepends=True)[:2]) + "b\tresign\tstartpos\t7g7f 1 7g7f 1\n")
    out = tmp_path / "added"
    assert main(["distil", str(corpus), "--networks", other, "--out", str(out), "--searched", str(few)]) == 0
    new, old, held = (by_position(path) for path in (out / TRAINING, corpus / TRAINING, out / HELD_OUT))
    added = new[~np.isin(new["key"], old["key"])]
    assert len(added) > 400 and np.isin(old["key"], new["key"]).all()
    assert np.abs(added["score"] - np.clip(Teacher(other).values(added), -MOST_VALUE, MOST_VALUE)).max() <= 0.51
    assert len(np.unique(new["key"])) == len(new) and not np.isin(held["key"], new["key"]).any()
    assert np.array_equal(held, by_position(corpus / HELD_OUT))
    card = json.loads((out / CARD).read_text())
    assert card["training"] == len(new) and card["distilled"]["searched"] >= len(added)
    assert "7g7f" in card["distilled"]["not_used"]


def test_no_game_is_searched_without_a_share(games: Path) -> None:
    searches, skipped = SearchPositions([games], share=0.0), SkippedItems()
    assert sum(map(len, searches.positions(skipped, searches.count()))) == 0 == skipped.count


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--searched", "no/such.tsv"], r"no.such\.tsv"),
        (["--searched", "games.txt"], r"games\.txt: expected a name"),
        (["--weights", "no/such.bin"], r"no.such\.bin.*no such file"),
        (["--networks", "no/such.bin"], r"no.such\.bin.*no such file"),
        (["--out", "CORPUS"], "is also read"),
    ],
)
def test_wrong_arguments_are_refused_first(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    """Nothing is written."""
    out, games, before = tmp_path / "out", tmp_path / "games.tsv", (corpus / TRAINING).read_bytes()
    games.write_text("")
    words = ["distil", str(corpus), "--networks", INTERNAL, "--searched", str(games), "--out", str(out), *options]
    assert main([word.replace("CORPUS", str(corpus)) for word in words]) == 1
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1 and re.search(message, said) and not out.exists()
    assert (corpus / TRAINING).read_bytes() == before


def test_a_card_without_its_split_is_refused(corpus: Path, tmp_path: Path) -> None:
    """By it the held-out positions are kept apart."""
    copied = tmp_path / "copied"
    shutil.copytree(corpus, copied)
    card = json.loads((copied / CARD).read_text()) | {"every": 0}
    (copied / CARD).write_text(json.dumps(card))
    with pytest.raises(ValueError, match=r"which games are held out \(every 0, seed 1\)"):
        distil(copied, [INTERNAL], tmp_path / "out", 1.0)
