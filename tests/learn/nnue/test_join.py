"""Networks side by side: the value in play is the mean of theirs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core_ext.board import Board
from core_ext.engine import StopToken, Table, Worker
from tests.eval.nnue.reference import random_network
from tests.learn.helpers import random_game
from usi_engine.evaluation.load import load_evaluation
from usi_engine.evaluation.names import INTERNAL
from usi_engine.evaluation.network_file import Architecture, read_network, write_network
from usi_engine.learn.command import main
from usi_engine.learn.nnue.join import joined
from usi_engine.learn.nnue.network_card import TEMPO_KEY


def values(network: str) -> list[int]:
    """Return static values along a random game, for the side to move."""
    worker, board, found = Worker(Table(1), StopToken(), load_evaluation(network)), Board(), []
    for move in random_game(3, 80).split("\t")[3].split()[::2]:
        found.append(dict(worker.evaluate(board))["total"])
        board.push(move)
    return found


def test_the_value_is_the_mean(tmp_path: Path) -> None:
    """Sizes differ, and hidden layers are not multiples of a block; the tempo is the mean too."""
    sizes = {"one": Architecture("K+P", 512, 32, 32), "other": Architecture("K+P", 160, 24, 9)}
    one, other, both = (str(tmp_path / f"{name}.bin") for name in (*sizes, "both"))
    for seed, (name, architecture) in enumerate(sizes.items()):
        write_network(tmp_path / f"{name}.bin", random_network(architecture, seed))
    (tmp_path / "one.card.json").write_text(json.dumps({TEMPO_KEY: 90}))
    assert main(["join", one, other, "--out", both]) == 0
    found = list(zip(values(both), values(one), values(other), strict=True))
    assert max(abs(2 * mean - first - second) for mean, first, second in found) <= 60
    assert max(abs(first - second) for _, first, second in found) > 200
    card = json.loads((tmp_path / "both.card.json").read_text())
    assert (card["mean_of"], card[TEMPO_KEY]) == (["one.bin", "other.bin"], 45)
    assert card["model"] == "K+P 672x2-56-41"


def test_a_network_joined_with_itself_has_its_values(tmp_path: Path) -> None:
    """Exactly, if the output's weights can be halved."""
    network = random_network(Architecture("K+P", 128, 8, 16), 7)
    bias, weight = network.layers[2]
    network.layers[2] = (bias // 2 * 2, weight // 2 * 2)
    write_network(tmp_path / "one.bin", network)
    write_network(tmp_path / "two.bin", joined([network, read_network(tmp_path / "one.bin")]))
    assert values(str(tmp_path / "two.bin")) == values(str(tmp_path / "one.bin"))


def test_what_cannot_be_joined(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line for other features and for too many units."""
    half, wide = tmp_path / "half.bin", tmp_path / "wide.bin"
    write_network(half, random_network(Architecture("HalfKP", 128, 8, 8), 1))
    write_network(wide, random_network(Architecture("K+P", 1024, 8, 8), 1))
    for other, message in ((half, "different features"), (wide, "its width")):
        assert main(["join", INTERNAL, str(other), "--out", str(tmp_path / "out.bin")]) == 1
        said = capsys.readouterr().err
        assert message in said and len(said.splitlines()) == 1
    assert not (tmp_path / "out.bin").exists()
