"""A training run: steps with a log, figures of each epoch, checkpoints, and weights with a card."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from usi_engine.files import KeptRows, atomic_write, make_folder, naming_errors, write_json
from usi_engine.learn import checkpoint
from usi_engine.learn.checkpoint import Curve
from usi_engine.learn.corpus.batches import PositionFile, fingerprint, load_card, training_file
from usi_engine.learn.files import HELD_OUT
from usi_engine.learn.settings import Train
from usi_engine.progress import POSITIONS, Progress

CURVE, LOG, EVENTS = "curve.json", "log.jsonl", "log.tfevents"  # the last for TensorBoard
LOG_SECONDS = 10.0
REPORT_SECONDS = 2.0
REPORT_STEPS = 16  # between readings of the loss, which wait for the device


def add_event(path: Path, positions: int, figures: dict[str, float]) -> None:
    """Append figures to a file that TensorBoard shows, if it is installed. OSError."""
    try:
        from tensorboard.compat.proto import event_pb2, summary_pb2  # noqa: PLC0415  (an extra)
        from tensorboard.summary.writer.record_writer import RecordWriter  # noqa: PLC0415
    except ImportError:
        return
    values = [summary_pb2.Summary.Value(tag=name, simple_value=value) for name, value in figures.items()]
    summary = summary_pb2.Summary(value=values)
    event = event_pb2.Event(wall_time=time.time(), step=positions, summary=summary)
    with naming_errors(path), path.open("ab") as file:
        RecordWriter(file).write(event.SerializeToString())


class Log:
    """The log of a run: a row of JSON every LOG_SECONDS and at the end of an epoch; also for TensorBoard, if installed.

    `begun`: positions before.
    """

    def __init__(self, folder: Path, begun: int) -> None:
        self._rows, self._events = KeptRows(folder / LOG), folder / EVENTS
        self._positions, self._at = begun, time.monotonic()  # of the last row

    def add(self, positions: int, loss: float, rate: float, epoch_ends: bool) -> None:
        """Add a row if it is due. OSError."""
        seconds = time.monotonic() - self._at
        if seconds >= LOG_SECONDS or epoch_ends:
            speed = round((positions - self._positions) / max(seconds, 1e-3))
            row = {"loss": loss, "rate": rate, "positions_a_second": speed}
            self._rows.add({"time": round(time.time()), "positions": positions} | row)
            self.show(positions, row)
            self._positions, self._at = positions, self._at + seconds

    def show(self, positions: int, figures: dict[str, float]) -> None:
        """Give figures to TensorBoard. OSError."""
        add_event(self._events, positions, figures)


class TrainingRun(ABC):
    """A run in the folder `OUT.run`, which continues from its checkpoint. Each kind of weights has its own steps."""

    def __init__(self, settings: Train) -> None:
        self.settings, self.folder = settings, settings.out.with_name(f"{settings.out.name}.run")
        self.card, self.file = load_card(settings.corpus), training_file(settings.corpus, settings.positions)
        self.held_out = PositionFile(settings.corpus / HELD_OUT).read()
        self.epoch_size = self.file.count  # positions
        self.done, self.curve = 0, Curve()  # `done`: positions trained on, in all epochs
        self.is_first = True  # of the processes that train together, which alone writes and shows

    # ---- of each kind of weights ----

    @abstractmethod
    def steps(self) -> Iterator[tuple[Any, int]]:
        """Make each step that is left; yield its mean loss, which may be on a device, and its number of positions."""

    @abstractmethod
    def rate(self) -> float:
        """Return the learning rate of the next step."""

    @abstractmethod
    def figures(self) -> dict[str, float]:
        """Return how well the weights agree with the held-out positions."""

    @abstractmethod
    def arrays(self) -> dict[str, Any]:
        """Return what a checkpoint has, from which the run continues bit for bit."""

    @abstractmethod
    def restore(self, arrays: Any) -> None:
        """Continue from the arrays of a checkpoint; any error means that it is damaged."""

    @abstractmethod
    def write(self, path: Path) -> int:
        """Write the weights as they are played; return the size of the file."""

    # ---- of all ----

    @cached_property
    def identity(self) -> dict[str, Any]:
        """Everything that the weights depend on. OSError, WeightsError."""
        return checkpoint.identify(self.settings.plan, fingerprint(self.settings.corpus))

    @property
    def total(self) -> int:
        return self.settings.epochs * self.epoch_size

    @property
    def result_share(self) -> float:
        """The share of results in the targets of the next step: `results`, evenly spread over the run."""
        shares = self.settings.results
        return float(np.interp(self.done / self.total, np.linspace(0, 1, len(shares)), shares))

    def run(self) -> None:
        """Train to the end, from the checkpoint if there is one. ValueError if that is of another plan or corpus."""
        make_folder(self.folder)
        self.resume()
        log, saved, losses, loss = Log(self.folder, self.done), time.monotonic(), list[Any](), 0.0
        with Progress(POSITIONS, self.total * self.is_first, self.done, REPORT_SECONDS * self.is_first) as progress:
            for mean, positions in self.steps():
                losses.append(mean)
                self.done += positions
                epoch, rest = divmod(self.done, self.epoch_size)
                if len(losses) == REPORT_STEPS or not rest:
                    loss, losses = float(sum(losses)) / len(losses), []
                    if self.is_first:
                        log.add(self.done, loss, self.rate(), not rest)
                progress.add(positions, note=f"loss {loss:.5f}")
                due = not rest or time.monotonic() - saved > 60 * self.settings.checkpoint_minutes
                if due and self.is_first:
                    if not rest:
                        self.measure(log)
                    self.save()
                    saved = time.monotonic()
                    if not rest and self.settings.keep and epoch % self.settings.keep == 0:
                        self.export(self.settings.out.with_stem(f"{self.settings.out.stem}.{epoch}"))

    def measure(self, log: Log) -> None:
        """Add the figures of this epoch to the curve, and print them."""
        point = {"epoch": float(self.done // self.epoch_size), "positions": float(self.done), **self.figures()}
        self.curve.append(point)
        write_json(self.folder / CURVE, self.curve)
        log.show(self.done, {f"held_out/{name}": value for name, value in point.items()})
        figures = (f"{name} {value:.4g}" if value < 1e4 else f"{name} {value:.0f}" for name, value in point.items())
        print(", ".join(figures), flush=True)

    def save(self) -> None:
        """Write a checkpoint."""
        arrays = {"_positions": self.done, **self.arrays()}
        checkpoint.save_checkpoint(self.folder, self.identity, self.curve, arrays, finished=self.done == self.total)

    def resume(self) -> None:
        """Load the checkpoint, if there is one. ValueError if it is damaged or of another plan or corpus."""
        with checkpoint.open_checkpoint(self.folder, self.identity) as saved:
            if saved is not None:
                arrays, self.curve = saved
                self.done = checkpoint.checked_count(arrays["_positions"], self.total)
                self.restore(arrays)

    def describe(self) -> dict[str, Any]:
        """Return the card of the weights: how they were trained."""
        held_out = self.curve[-1] if self.curve else {}
        made: dict[str, Any] = {"model": self.settings.network, "date": time.strftime("%Y-%m-%d"), "corpus": self.card}
        made |= {"plan": self.settings.plan, "positions_learned": self.done, "held_out": held_out}
        return made | ({"note": self.settings.note} if self.settings.note else {})

    def export(self, path: Path) -> dict[str, Any]:
        """Write the weights; return their card, and their size in `megabytes`."""
        with atomic_write(path) as part:
            size = self.write(part)
        return self.describe() | {"megabytes": size / 1e6, "path": path.resolve()}
