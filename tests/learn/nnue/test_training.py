"""Training runs of networks: order of positions, rates, checkpoints, several processes, figures, files."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.utils.data import DataLoader

from core_ext.corpus import TRAINING_POSITION
from core_ext.engine import Network
from tests.learn.nnue.test_model import play, words_of
from usi_engine import LabelledPosition, PositionDataset
from usi_engine.evaluation.load import load_evaluation
from usi_engine.evaluation.network_file import read_network
from usi_engine.files import KeptRows
from usi_engine.learn.command import main
from usi_engine.learn.corpus.batches import Batches, Mirror, training_file
from usi_engine.learn.corpus.chances import Positions, targets
from usi_engine.learn.nnue.inputs import PLY
from usi_engine.learn.nnue.model import summed_loss
from usi_engine.learn.nnue.train import NetworkTraining, draw_curve, fit_progress, train_network
from usi_engine.learn.settings import TrainNetwork
from usi_engine.learn.training import LOG, Log

PLAN = TrainNetwork(
    corpus=Path(), out=Path("nn.bin"), network="NNUE_kp_64x2_8_16", epochs=3, batch=64, threads=1, device="cpu",
    note="a test",
)  # fmt: skip
SHARED = replace(PLAN, network="SFNN_halfkahm2_64_7_16_k3k3", results=(0.1,))


def new_training(corpus: Path, folder: Path, plan: TrainNetwork = PLAN) -> NetworkTraining:
    return NetworkTraining(replace(plan, corpus=corpus, out=folder / "nn.bin"))


def train(corpus: Path, folder: Path, plan: TrainNetwork = PLAN) -> NetworkTraining:
    training = new_training(corpus, folder, plan)
    training.run()
    return training


def bytes_of(training: NetworkTraining) -> dict[str, bytes]:
    return {name: value.detach().numpy().tobytes() for name, value in training.network.parameters.items()}


@pytest.fixture(scope="module")
def trained(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> NetworkTraining:
    return train(corpus, tmp_path_factory.mktemp("trained"))


# ---- batches ----


def keys(batches: Iterable[tuple[Positions, Mirror]]) -> list[tuple[int, int]]:
    """Return the key of each position and whether it is mirrored."""
    return [pair for positions, mirror in batches for pair in zip(positions["key"].tolist(), mirror, strict=True)]


def test_an_epoch_has_each_position_once(corpus: Path) -> None:
    """The parts of two processes are the batches of one, and a run can begin at any batch."""
    file = training_file(corpus)
    one, (first, second) = Batches(file, 24, 3), (Batches(file, 24, 3, rank, 2) for rank in (0, 1))
    end = 2 * one.per_epoch
    batches = list(one.from_batch(0, end))
    epoch = keys(batches[: one.per_epoch])
    assert len(set(epoch)) == len(epoch) == one.per_epoch * 24 > file.count - 24
    assert keys(batches[one.per_epoch :]) != epoch
    parts = zip(first.from_batch(0, end), second.from_batch(0, end), strict=True)
    assert [keys(both) for both in parts] == [keys([batch]) for batch in batches]
    assert keys(list(one.from_batch(one.per_epoch + 3, end))) == keys(batches[one.per_epoch + 3 :])


def test_a_damaged_position_is_named(corpus: Path, tmp_path: Path) -> None:
    """It is found as it is read, not in a kernel."""
    positions = np.fromfile(corpus / "training.bin", TRAINING_POSITION)
    positions["pieces"][10, 0] = 65535
    positions.tofile(tmp_path / "training.bin")
    with pytest.raises(ValueError, match=r"training\.bin.*piece number 65535"):
        list(Batches(training_file(tmp_path), 64, 1).from_batch(0, 20))


# ---- steps ----


def test_rates_warm_up_and_fall_by_a_cosine(corpus: Path, tmp_path: Path) -> None:
    training, rates = new_training(corpus, tmp_path, PLAN), []
    for step in range(0, training.total, training.batches.size):
        training.done = step
        rates.append(training.rate())
    top = rates.index(max(rates))
    assert 0.15 < top / len(rates) < 0.3 and max(rates) < PLAN.rate
    assert rates[0] < 0.1 * PLAN.rate and rates[-1] == pytest.approx(0.01 * PLAN.rate, rel=0.05)
    assert all(np.diff(rates[: top + 1]) > 0) and all(np.diff(rates[top:]) < 0)


@pytest.mark.parametrize("plan", [PLAN, SHARED], ids=["K+P", "shared rows"])
def test_training_lowers_the_divergence(corpus: Path, tmp_path: Path, plan: TrainNetwork) -> None:
    """The figures of rounded weights stay near those of the float weights."""
    training = train(corpus, tmp_path, replace(plan, epochs=4, batch=128))
    first, last = training.curve[0], training.curve[-1]
    assert last["divergence"] < 0.9 * first["divergence"] and last["correlation"] > 0.3
    assert last["rounded_divergence"] < 1.1 * last["divergence"]


def test_the_loss_may_be_a_power_of_the_error(corpus: Path, tmp_path: Path) -> None:
    logit, target = torch.tensor([0.0, 2.0]), torch.tensor([0.9, 0.5])
    expected = 3 * 0.4**2.5 + (torch.sigmoid(logit[1]) - 0.5) ** 2.5
    assert summed_loss(logit, target, torch.tensor([3.0, 1.0]), 2.5).item() == pytest.approx(float(expected))
    training = train(corpus, tmp_path / "power", replace(PLAN, loss_exponent=2.5, epochs=4))
    usual = train(corpus, tmp_path / "usual", replace(PLAN, epochs=4))
    losses = [[row["loss"] for row in KeptRows(run.folder / LOG).rows] for run in (training, usual)]
    assert losses[0][-1] < 0.7 * losses[0][0] and losses[0][0] < losses[1][0]  # of errors below 1
    assert training.curve[-1]["divergence"] < training.curve[0]["divergence"] != usual.curve[0]["divergence"]


def test_results_may_have_a_schedule(corpus: Path, tmp_path: Path) -> None:
    """The targets of the last step have nearly the last share; the figures have it from the start."""
    training = train(corpus, tmp_path, replace(PLAN, results=(0.0, 0.0, 0.6)))
    training.done = training.total * 3 // 4
    assert training.result_share == pytest.approx(0.3)
    words = words_of(training.held_out)
    expected = targets(training.held_out, float(training.expander.result_share))
    found = training.expander.targets(words).numpy()
    assert found == pytest.approx(np.where(training.held_out["side"] == 1, 1 - expected, expected), abs=1e-4)
    assert 0.55 < float(training.expander.result_share) < 0.6
    assert training.figures()["divergence"] == training.curve[-1]["divergence"]


def test_tensorboard_reads_the_log(corpus: Path, tmp_path: Path) -> None:
    training = train(corpus, tmp_path)
    events = EventAccumulator(str(training.folder)).Reload()
    rows = KeptRows(training.folder / LOG).rows
    for name in ("loss", "rate", "positions_a_second"):
        found = [(event.step, event.value) for event in events.Scalars(name)]
        assert found == [(row["positions"], pytest.approx(row[name])) for row in rows]
    shown = [event.value for event in events.Scalars("held_out/divergence")]
    assert shown == pytest.approx([point["divergence"] for point in training.curve])


def test_a_finished_run_goes_on_for_more_epochs(corpus: Path, trained: NetworkTraining, tmp_path: Path) -> None:
    train(corpus, tmp_path, replace(PLAN, epochs=2))
    more = train(corpus, tmp_path, PLAN)
    assert more.done == more.total == trained.total and [point["epoch"] for point in more.curve] == [1, 2, 3]
    assert [row["positions"] for row in KeptRows(more.folder / LOG).rows][-1] == more.done
    unfinished = new_training(corpus, tmp_path, replace(PLAN, epochs=4))
    unfinished.resume()
    unfinished.save()  # before its last epoch
    for epochs in (3, 5):
        with pytest.raises(ValueError, match=r"another plan \(epochs 4\);"):
            train(corpus, tmp_path, replace(PLAN, epochs=epochs))


def test_networks_of_some_epochs_stay(
    corpus: Path, trained: NetworkTraining, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without matplotlib there are no curves. The log has each epoch's end and the rates of training."""
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    train_network(replace(PLAN, corpus=corpus, out=tmp_path / "nn.bin", keep=2))
    names = {"nn.2.bin", "nn.2.card.json", "nn.bin", "nn.card.json", "nn.bin.run"}
    assert {path.name for path in tmp_path.iterdir()} == names
    trained.export(tmp_path / "other.bin")
    whole, kept = (tmp_path / "nn.bin").read_bytes(), (tmp_path / "nn.2.bin").read_bytes()
    assert whole == (tmp_path / "other.bin").read_bytes() and kept != whole and len(kept) == len(whole)
    rows = KeptRows(tmp_path / "nn.bin.run" / LOG).rows
    epoch = trained.batches.per_epoch * PLAN.batch
    assert [row["positions"] for row in rows] == [epoch, 2 * epoch, 3 * epoch]
    assert all(row["positions_a_second"] > 0 for row in rows)
    assert PLAN.rate > rows[0]["rate"] > rows[1]["rate"] > rows[2]["rate"] > 0 < rows[2]["loss"] < rows[0]["loss"]


def test_the_same_seed_gives_the_same_bytes(corpus: Path, trained: NetworkTraining, tmp_path: Path) -> None:
    assert bytes_of(train(corpus, tmp_path / "again")) == bytes_of(trained)
    assert bytes_of(train(corpus, tmp_path / "other", replace(PLAN, seed=2))) != bytes_of(trained)


def test_an_interrupted_run_resumes_bit_for_bit(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The weights of progress are fitted only once."""
    plan = replace(SHARED, network="SFNN_ka2_64_7_16_progress4", checkpoint_minutes=0.0, epochs=2)
    whole, broken = train(corpus, tmp_path / "whole", plan), new_training(corpus, tmp_path / "broken", plan)
    learn = broken.learn

    def interrupted(*given: Any) -> Any:
        if broken.done == broken.total // 2 + 3 * plan.batch:
            raise KeyboardInterrupt
        return learn(*given)

    monkeypatch.setattr(broken, "learn", interrupted)
    with pytest.raises(KeyboardInterrupt):
        broken.run()
    resumed = train(corpus, tmp_path / "broken", plan)
    assert bytes_of(resumed) == bytes_of(whole) and resumed.curve == whole.curve
    assert torch.equal(resumed.expander.progress, whole.expander.progress)
    with pytest.raises(ValueError, match=r"another plan \(rate 0\.004\);"):
        train(corpus, tmp_path / "broken", replace(plan, rate=1e-4))


def test_progress_uses_all_stacks_equally(corpus: Path, tmp_path: Path) -> None:
    training = new_training(corpus, tmp_path, replace(PLAN, network="SFNN_ka2_64_7_16_progress4", epochs=40))
    training.fit_progress()
    positions = training_file(corpus).read()
    inputs = training.expander(words_of(positions), torch.zeros(len(positions), dtype=torch.long))
    used = inputs.weight.view(len(inputs.stacks), -1).sum(1)
    counts = torch.zeros(4).index_add_(0, inputs.stacks, used) / len(positions)
    assert counts.min() > 0.1 and counts.max() < 0.5
    early = positions["ply"][inputs.rows.numpy()] < 50
    assert early[: len(early) // 4].mean() > 0.8 and early[-len(early) // 4 :].mean() < 0.2
    words = words_of(positions)
    words[:, PLY] = 1  # as in .hcpe
    with pytest.raises(ValueError, match="the same ply"):
        fit_progress(training.expander, [(words, torch.zeros(len(words), dtype=torch.long))], 1, training.ranks)


def test_dead_units_are_reported(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    training = new_training(corpus, tmp_path, PLAN)
    training.measure(Log(tmp_path, 0))
    assert "units have died" in capsys.readouterr().out


# ---- several processes ----


def test_two_processes_train_as_one(corpus: Path, trained: NetworkTraining, tmp_path: Path) -> None:
    """Only the order in which numbers are added differs."""
    words = ["learn", "train", corpus, "--network", PLAN.network, "--out", tmp_path / "nn.bin", "--epochs", "3"]
    words += ["--batch", "64", "--threads", "1", "--device", "cpu"]
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", "-m", "usi_engine"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, *launch, *map(str, words)], check=True, capture_output=True, env=environment)
    curve = json.loads((tmp_path / "nn.bin.run" / "curve.json").read_text())
    for found, expected in zip(curve, trained.curve, strict=True):
        assert found["divergence"] == pytest.approx(expected["divergence"], rel=0.02)
    card = json.loads((tmp_path / "nn.card.json").read_text())
    assert card["positions_learned"] == trained.done


# ---- files ----


def test_the_exported_network_is_the_trained_one(trained: NetworkTraining, tmp_path: Path) -> None:
    """Play with the file gives exactly the values that training measured, without the tempo."""
    found = trained.export(tmp_path / "nn.bin")
    draw_curve([{"epoch": 1.0}], tmp_path / "empty.png", "no positions were held out")
    assert (
        found["megabytes"] * 1e6 == (tmp_path / "nn.bin").stat().st_size and (tmp_path / "nn.png").stat().st_size > 1000
    )
    network, card = read_network(tmp_path / "nn.bin"), json.loads((tmp_path / "nn.card.json").read_text())
    assert card["note"] == "a test" and card["fv_scale"] == 16 and card["model"] == PLAN.network
    assert card["plan"]["epochs"] == 3 and card["held_out"] == trained.curve[-1]
    assert card["positions_learned"] == trained.done and card["tempo_left_out"] == PLAN.tempo
    assert network.architecture.name == PLAN.network
    chosen = trained.held_out[:100]
    rows, bias = np.asarray(network.weight, int), np.asarray(network.bias, int)
    shares = (bias + rows[chosen["pieces"]].sum(1) > 0).mean(0)  # roughly: Black's perspective without the kings
    assert shares[:16].mean() > shares[-16:].mean()


def test_the_value_of_play_is_that_of_training(trained: NetworkTraining, walked: Any, tmp_path: Path) -> None:
    trained.export(tmp_path / "nn.bin")
    positions = np.array([position for _, position in walked])
    expected = trained.values(positions, True) * (1 - 2.0 * positions["side"]) - PLAN.tempo
    assert play(tmp_path / "nn.bin", [sfen for sfen, _ in walked]) == [int(value) for value in expected]


@pytest.mark.parametrize("tempo", [0, PLAN.tempo])
def test_training_starts_from_a_network(corpus: Path, trained: NetworkTraining, tmp_path: Path, tempo: int) -> None:
    """The start has the tempo that its card left out; the new plan's does not matter. Without a card it has none."""
    trained.export(tmp_path / "nn.bin")
    plan = replace(PLAN, warm_start=str(tmp_path), tempo=tempo)
    expected = trained.values(trained.held_out, True)
    start = new_training(corpus, tmp_path / "warm", plan)
    assert start.values(trained.held_out, True).tolist() == expected.tolist()
    assert main(["train", str(corpus), "--network", SHARED.network, "--out", str(tmp_path / "b.bin"), "--warm-start",
                 str(tmp_path)]) == 2  # fmt: skip
    (tmp_path / "nn.card.json").unlink()
    lower = expected - PLAN.tempo * (1 - 2.0 * trained.held_out["side"])
    start = new_training(corpus, tmp_path / "warm", plan)
    assert start.values(trained.held_out, True).tolist() == lower.tolist()


def test_a_checkpoint_of_another_start_is_refused(corpus: Path, trained: NetworkTraining, tmp_path: Path) -> None:
    """A network of the same name that was trained again."""
    start = tmp_path / "nn.bin"
    trained.export(start)
    plan = replace(PLAN, warm_start=str(start), epochs=1)
    train(corpus, tmp_path / "run", plan)
    new_training(corpus, tmp_path / "other", PLAN).export(start)
    with pytest.raises(ValueError, match=r"another plan \(warm_start "):
        train(corpus, tmp_path / "run", plan)


@pytest.mark.parametrize("text", ["", "[]", '{"tempo_left_out": "much"}', '{"tempo_left_out": 1001}'])
def test_a_start_with_a_damaged_card_is_refused(
    corpus: Path, trained: NetworkTraining, tmp_path: Path, text: str
) -> None:
    trained.export(tmp_path / "nn.bin")
    (tmp_path / "nn.card.json").write_text(text)
    with pytest.raises(ValueError, match=r"nn\.card\.json"):
        new_training(corpus, tmp_path / "run", replace(PLAN, warm_start=str(tmp_path / "nn.bin")))


def test_one_command_makes_a_network_to_play_with(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "my.bin"
    words = ["train", str(corpus), "--out", str(out), "--network", "sfnn_ka2_64_7_16_k3k3", "--epochs", "1"]
    words += ["--batch", "128", "--tempo", "45", "--rate", "0.002", "--decay", "0.1", "--threads", "1"]
    assert main(words) == 0
    network = load_evaluation(str(out), 16)
    assert isinstance(network, Network) and network.width == 64
    plan = json.loads(out.with_suffix(".card.json").read_text())["plan"]
    assert [plan[name] for name in ("tempo", "rate", "decay")] == [45, 0.002, 0.1]
    for device, said in (("cuda:99", "--device cuda:99: "), ("meta", "torch: ")):
        assert main([*words, "--device", device]) == 2
        shown = capsys.readouterr().err
        assert shown.startswith(said) and shown.count("\n") == 1


# ---- the data set of positions ----


def label(position: LabelledPosition) -> tuple[str, int]:
    return position.move, position.score or 0


def test_every_position_comes_once_in_the_order_of_seed_and_epoch(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.tsv" for number in range(4)]
    moves = ["7g7f", "3c3d", "2g2f", "8c8d", "2f2e", "8d8e"]
    for number, file in enumerate(files):
        scored = " ".join(f"{move} {10 * number + ply}" for ply, move in enumerate(moves))
        file.write_text(f"b\tresign\tstartpos\t{scored}\n" * 3)
    data = PositionDataset(files, label, buffer=8)
    first, again = list(data), list(data)
    data.epoch = 1
    second, expected = list(data), [(move, 10 * number + ply) for number in range(4) for ply, move in enumerate(moves)]
    assert first == again != second
    assert sorted(first) == sorted(second) == sorted(expected * 3)
    shared = DataLoader(data, batch_size=None, num_workers=2)
    assert sorted((move, score) for move, score in shared) == sorted(expected * 3)
    assert list(PositionDataset(files[:1], label, buffer=0)) == expected[:6] * 3
