"""Runs from corpus to nn.bin: learning, reproducibility, resuming, warm start, export."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core_ext.corpus import TRAINING_POSITION
from core_ext.engine import Network
from tests.learn.nnue import reference
from tests.learn.nnue.conftest import train
from usi_engine.evaluation.load import load_evaluation
from usi_engine.evaluation.network_file import Architecture, read_network
from usi_engine.learn.command import main
from usi_engine.learn.corpus import batches as batches_module
from usi_engine.learn.corpus.batches import Batches
from usi_engine.learn.corpus.build import TRAINING
from usi_engine.learn.corpus.files import training_file
from usi_engine.learn.nnue.train import NetworkPlan, NetworkTraining, parse_sizes
from usi_engine.learn.nnue.unit_order import in_order

PLAN = NetworkPlan(width=128, hidden1=16, hidden2=16, epochs=5, batch=128, seed=3)


@pytest.fixture(scope="module")
def trained(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> NetworkTraining:
    return train(corpus, tmp_path_factory.mktemp("run"), PLAN)


# ---- batches ----


@pytest.fixture
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches_module, "BLOCK_BATCHES", 2)
    monkeypatch.setattr(batches_module, "GROUP_BLOCKS", 3)


def keys(batches: Batches, start: int, total: int) -> list[list[int]]:
    return [batch["key"].tolist() for batch in batches.from_batch(start, total)]


@pytest.mark.usefixtures("small_groups")
@pytest.mark.parametrize(("size", "limit"), [(50, 0), (64, 1000), (1 << 20, 0), (7, 40), (100, 600)])
def test_an_epoch_has_every_position_once(corpus: Path, size: int, limit: int) -> None:
    batches = Batches(training_file(corpus, limit), size, seed=1)
    stored = np.fromfile(corpus / TRAINING, TRAINING_POSITION)["key"][: limit or None].tolist()
    found = keys(batches, 0, 2 * batches.per_epoch)
    assert {len(batch) for batch in found} == {min(size, len(stored))}
    for epoch in (found[: batches.per_epoch], found[batches.per_epoch :]):
        seen = [key for batch in epoch for key in batch]
        assert len(set(seen)) == len(seen) > len(stored) - min(size, len(stored))
        assert set(seen) <= set(stored)
    assert found[0] != found[batches.per_epoch]


@pytest.mark.usefixtures("small_groups")
def test_batches_continue_from_any_place(corpus: Path) -> None:
    batches = Batches(training_file(corpus), 50, seed=1)
    total = 2 * batches.per_epoch + 5
    whole = keys(batches, 0, total)
    assert len(whole) == total
    for start in (1, 5, 6, 7, batches.per_epoch - 1, batches.per_epoch, total - 1, total):
        assert keys(batches, start, total) == whole[start:]
    assert keys(Batches(training_file(corpus), 50, seed=2), 0, 5) != whole[:5]


# ---- runs ----


def test_a_small_corpus_is_learned(corpus: Path, trained: NetworkTraining) -> None:
    first, last = trained.state.curve[0], trained.state.curve[-1]
    assert len(trained.state.curve) == PLAN.epochs
    assert last["divergence"] < 0.8 * first["divergence"]
    assert last["correlation"] > 0.5 and last["rounded_divergence"] < 1.05 * last["divergence"]


def test_the_figures_are_those_of_the_definition(trained: NetworkTraining) -> None:
    held_out, blocks = trained.held_out, trained.trainer.blocks(trained.trainer.weights.astype(np.float64))
    views, goal = reference.views(held_out), reference.targets(held_out, 600, 0)
    outputs = reference.float_outputs(blocks, views)
    assert trained.held_out_figures(rounded=False)["divergence"] == pytest.approx(
        reference.loss(outputs, goal, 600), rel=1e-3
    )
    sign = 1 - 2.0 * held_out["side"]
    win, searched = (1 / (1 + np.exp(-sign * score / 600)) for score in (outputs / 16, sign * held_out["score"]))
    assert trained.state.curve[-1]["correlation"] == pytest.approx(np.corrcoef(win, searched)[0, 1], rel=1e-3)


def test_runs_repeat_to_the_byte(corpus: Path, trained: NetworkTraining, tmp_path: Path) -> None:
    again = train(corpus, tmp_path / "again", replace(PLAN, threads=2))
    assert np.array_equal(again.trainer.weights, trained.trainer.weights)
    assert again.state.curve == trained.state.curve
    other = train(corpus, tmp_path / "other", replace(PLAN, seed=4))
    assert not np.array_equal(other.trainer.weights, trained.trainer.weights)


def test_a_run_continues_where_it_stopped(
    corpus: Path, trained: NetworkTraining, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = NetworkTraining(corpus, tmp_path, replace(PLAN, checkpoint_minutes=0))
    learn = stopped.learn

    def learn_and_stop(positions: Any) -> float:
        if stopped.state.step == 17:
            raise KeyboardInterrupt
        return learn(positions)

    monkeypatch.setattr(stopped, "learn", learn_and_stop)
    with pytest.raises(KeyboardInterrupt):
        stopped.run()
    resumed = train(corpus, tmp_path, PLAN)
    assert np.array_equal(resumed.trainer.weights, trained.trainer.weights)
    assert resumed.state.curve == trained.state.curve


def test_a_checkpoint_of_another_plan_is_refused(corpus: Path, trained: NetworkTraining) -> None:
    with pytest.raises(ValueError, match="another plan"):
        train(corpus, trained.folder, replace(PLAN, rate=1e-3))


def test_the_rate_rises_and_falls(corpus: Path, tmp_path: Path) -> None:
    training = NetworkTraining(corpus, tmp_path, replace(PLAN, epochs=40))
    rates, phases = [], []
    for step in range(training.total):
        training.state.step = step
        rates.append(training.rate())
        phases.append(training.is_rounded)
    top = int(np.argmax(rates))
    assert 0.1 < top / training.total <= 0.25 and rates[0] < 0.02 * max(rates)
    assert np.all(np.diff(rates[: top + 1]) > 0) and np.all(np.diff(rates[top:]) < 0)
    assert rates[-1] == pytest.approx(PLAN.rate * PLAN.last_rate, rel=0.02)
    assert phases == sorted(phases) and np.mean(phases) == pytest.approx(PLAN.rounded, abs=0.01)


def test_a_dead_network_is_reported(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Scores that are all the same do not mean a dead network."""
    training = NetworkTraining(corpus, tmp_path, PLAN)
    scores = training.held_out["score"].copy()
    training.held_out["score"] = 41
    training.measure()
    assert "correlation" not in training.state.curve[0]
    assert "units have died" not in capsys.readouterr().out
    training.held_out["score"], training.trainer.weights[:] = scores, 0
    training.measure()
    assert "units have died" in capsys.readouterr().out


# ---- warm start ----


def test_training_starts_from_a_network(corpus: Path, trained: NetworkTraining, tmp_path: Path) -> None:
    trained.export(tmp_path / "nn.bin", {})
    plan = replace(PLAN, warm_start=str(tmp_path / "nn.bin"), rate=1e-4, epochs=1)
    warm = NetworkTraining(corpus, tmp_path / "warm", plan)
    for training in (trained, warm):
        training.trainer.refresh(rounded=True)
    assert warm.values(warm.held_out).tolist() == trained.values(trained.held_out).tolist()
    assert sorted(warm.trainer.weights) == sorted(np.rint(trained.trainer.weights))  # in another order
    warm.run()
    assert warm.state.curve[-1]["divergence"] < 1.1 * trained.state.curve[-1]["divergence"]


def first_values(corpus: Path, folder: Path, plan: NetworkPlan) -> list[float]:
    """Return the values of the held-out positions before the first step."""
    training = NetworkTraining(corpus, folder, plan)
    training.trainer.refresh(rounded=True)
    found: list[float] = training.values(training.held_out).tolist()
    return found


@pytest.mark.parametrize("tempo", [0, 45, PLAN.tempo])
def test_a_start_has_the_tempo_that_its_card_leaves_out(
    corpus: Path, trained: NetworkTraining, tmp_path: Path, tempo: int
) -> None:
    """The new plan's tempo does not matter; a network without a card has its tempo in its values."""
    network, card, folder = tmp_path / "nn.bin", tmp_path / "nn.card.json", tmp_path / "run"
    trained.export(network, {})
    trained.trainer.refresh(rounded=True)
    plan, expected = replace(PLAN, warm_start=str(network), tempo=tempo), trained.values(trained.held_out)
    assert first_values(corpus, folder, plan) == expected.tolist()
    text = json.loads(card.read_text())
    assert text.pop("tempo_left_out") == PLAN.tempo
    card.write_text(json.dumps(text))  # like the first cards, which have it only in their plan
    assert first_values(corpus, folder, replace(plan, warm_start=str(tmp_path))) == expected.tolist()
    card.unlink()
    lower = expected - PLAN.tempo * (1 - 2.0 * trained.held_out["side"])
    assert first_values(corpus, folder, plan) == lower.tolist()


@pytest.mark.parametrize("text", ["", "[]", '{"tempo_left_out": "much"}', '{"tempo_left_out": 1001}'])
def test_a_start_with_a_damaged_card_is_refused(
    corpus: Path, trained: NetworkTraining, tmp_path: Path, text: str
) -> None:
    trained.export(tmp_path / "nn.bin", {})
    (tmp_path / "nn.card.json").write_text(text)
    with pytest.raises(ValueError, match=r"nn\.card\.json"):
        NetworkTraining(corpus, tmp_path / "run", replace(PLAN, warm_start=str(tmp_path / "nn.bin")))


def test_a_start_of_other_sizes_is_refused(corpus: Path, trained: NetworkTraining, tmp_path: Path) -> None:
    trained.export(tmp_path / "nn.bin", {})
    with pytest.raises(ValueError, match="128x2-8-16 expected"):
        NetworkTraining(corpus, tmp_path / "warm", replace(PLAN, warm_start=str(tmp_path / "nn.bin"), hidden1=8))


@pytest.mark.parametrize("width", [192, 320])
def test_a_wider_network_starts_with_the_same_values(
    corpus: Path, trained: NetworkTraining, tmp_path: Path, width: int
) -> None:
    """The copies of a unit differ after training."""
    trained.export(tmp_path / "nn.bin", {})
    plan = replace(PLAN, warm_start=str(tmp_path / "nn.bin"), width=width, rate=1e-3, epochs=1)
    wide = NetworkTraining(corpus, tmp_path / "wide", plan)
    for training in (trained, wide):
        training.trainer.refresh(rounded=True)
    assert wide.values(wide.held_out).tolist() == trained.values(trained.held_out).tolist()
    wide.run()
    wide.export(tmp_path / "wide.bin", {})
    rows = np.asarray(read_network(tmp_path / "wide.bin").ft_weight).reshape(-1, width)
    assert len(np.unique(rows, axis=1).T) > 128 + 0.9 * (width - 128)


@pytest.mark.parametrize("text", ["", "256x2-32", "256x1-32-32", "-1x2-32-32", "128x2-1-1", "128x2-7-8", "100x2-8-8"])
def test_wrong_sizes_are_quoted(text: str) -> None:
    with pytest.raises(ValueError, match=f"--network {text}: "):
        parse_sizes(text)


# ---- export ----


def test_the_exported_network_is_the_trained_one(trained: NetworkTraining, tmp_path: Path) -> None:
    """The integers of the file give exactly the values that training measured."""
    size = trained.export(tmp_path / "nn.bin", {"note": "a test"})
    assert size == (tmp_path / "nn.bin").stat().st_size
    network, chosen = read_network(tmp_path / "nn.bin"), trained.held_out[:100]
    assert network.architecture == Architecture("K+P", 128, 16, 16)
    trained.trainer.refresh(rounded=True)
    card = json.loads((tmp_path / "nn.card.json").read_text())
    assert card["note"] == "a test" and card["fv_scale"] == 16 and card["model"] == "K+P 128x2-16-16"
    assert card["plan"]["epochs"] == PLAN.epochs and card["held_out"] == trained.state.curve[-1]
    assert card["positions_learned"] == trained.state.step * PLAN.batch
    expected = reference.integer_outputs(network, reference.views(chosen)) / 16 + PLAN.tempo
    assert trained.values(chosen).tolist() == (expected * (1 - 2 * chosen["side"])).tolist()


def test_active_units_come_first(trained: NetworkTraining, tmp_path: Path) -> None:
    """The activity is computed with numpy; moving units does not change the values."""
    trained.export(tmp_path / "nn.bin", {})
    network, views = read_network(tmp_path / "nn.bin"), reference.views(trained.held_out[: PLAN.batch])
    bias, rows = (np.asarray(part, np.int64) for part in (network.ft_bias, network.ft_weight))
    sums = [bias + rows.reshape(-1, len(bias))[listed].sum(axis=0) for sides in views for listed in sides]
    shares = np.mean(np.array(sums) > 0, axis=0)
    assert shares.tolist() == sorted(shares, reverse=True)
    assert shares[0] > shares[-1]
    moved = in_order(network, np.random.default_rng(1).random(len(bias)))
    assert not np.array_equal(np.asarray(moved.ft_bias), bias)
    expected = reference.integer_outputs(network, views)
    assert np.array_equal(reference.integer_outputs(moved, views), expected)


def test_the_tempo_is_taken_out_of_the_values(trained: NetworkTraining, tmp_path: Path) -> None:
    """The weights stay as they are."""
    trained.export(tmp_path / "nn.bin", {})
    without = read_network(tmp_path / "nn.bin")
    trained.plan, plan = replace(PLAN, tempo=0), trained.plan
    trained.export(tmp_path / "nn.bin", {})
    trained.plan, whole = plan, read_network(tmp_path / "nn.bin")
    assert int(whole.layers[-1][0][0]) - int(without.layers[-1][0][0]) == 16 * plan.tempo > 0
    assert np.array_equal(whole.layers[-1][1], without.layers[-1][1])
    assert np.array_equal(whole.ft_weight, without.ft_weight)


def test_one_command_makes_a_network_to_play_with(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "my.bin"
    words = ["train", str(corpus), "--out", str(out), "--model", "nnue", "--network", "128x2-8-16", "--epochs", "1"]
    words += ["--tempo", "45", "--rate", "0.002", "--decay", "0.1", "--threads", "2"]
    assert main(words) == 0
    network = load_evaluation(str(out), 16)
    assert isinstance(network, Network)
    assert (network.width, network.hidden) == (128, (8, 16))
    card = json.loads(out.with_suffix(".card.json").read_text())
    assert card["corpus"]["games"] == 40
    assert [card["plan"][name] for name in ("tempo", "rate", "decay")] == [45, 0.002, 0.1]
    assert main([*words, "--network", "100x2-8-16"]) == 1
