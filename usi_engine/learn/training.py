"""A training run: steps with a log, figures of each epoch, checkpoints, and weights with a card."""

import json
import lzma
import struct
import time
import tokenize
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from usi_engine.files import KeptRows, atomic_write, make_folder, naming_errors, write_json
from usi_engine.learn.corpus.batches import PositionFile, fingerprint, load_card, training_file
from usi_engine.learn.files import HELD_OUT, differences, named_weights
from usi_engine.learn.settings import Train
from usi_engine.progress import POSITIONS, Progress
from usi_engine.search.results import CENTIPAWNS

CHECKPOINT = "checkpoint.npz"
CORPUS = "corpus"  # key of the corpus's fingerprint in the identity
RUN_ONLY = ("device", "threads", "checkpoint_minutes")  # settings that the weights do not depend on

Curve = list[dict[str, float]]
# Raised by numpy, zip and json for damaged files, and by training if sizes differ.
DAMAGE_ERRORS = (
    OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, EOFError, MemoryError,
    RuntimeError, SyntaxError, tokenize.TokenError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error,
)  # fmt: skip


class WrongPlan(ValueError):
    """A checkpoint of another plan or corpus."""


def save_checkpoint(
    folder: Path, identity: Mapping[str, Any], curve: Curve, arrays: Mapping[str, Any], *, finished: bool = False
) -> None:
    """Write a checkpoint; the old one is replaced when the new one is complete."""
    with atomic_write(folder / CHECKPOINT) as part, part.open("wb") as file:
        np.savez(file, _plan=json.dumps(identity), _curve=json.dumps(curve), _finished=finished, **arrays)


@contextmanager
def open_checkpoint(folder: Path, identity: Mapping[str, Any]) -> Iterator[tuple[Any, Curve] | None]:
    """Yield the arrays by name, each read on access, and the curve; None if there is no checkpoint.

    A finished run may go on for more epochs. ValueError if the identity differs otherwise, or if the file is damaged;
    errors of the block count as damage.
    """
    path = folder / CHECKPOINT
    if not path.exists():
        yield None
        return
    try:
        with path.open("rb") as file, np.load(file) as arrays:
            found = json.loads(str(arrays["_plan"]))
            if "_finished" in arrays and arrays["_finished"] and found["epochs"] < identity["epochs"]:
                found["epochs"] = identity["epochs"]
            check_plan(path, found, identity)
            yield arrays, json.loads(str(arrays["_curve"]))
    except WrongPlan:
        raise
    except DAMAGE_ERRORS as error:
        raise ValueError(f"{path} is damaged: {str(error) or 'it is cut off'}; remove it to begin anew") from None


def checked_count(saved: Any, most: int) -> int:
    """Return the saved count. ValueError if it is not from 0 to `most`."""
    count = int(saved)
    if not 0 <= count <= most:
        raise ValueError(f"{count} of {most} done")
    return count


def check_plan(path: Path, found: Any, identity: Mapping[str, Any]) -> None:
    """Raise WrongPlan if a checkpoint belongs to another plan or corpus."""
    expected = json.loads(json.dumps(identity))
    if found == expected:
        return
    other = "another plan"
    if isinstance(found, dict) and found | {CORPUS: None} == expected | {CORPUS: None}:
        other = "another corpus"
    elif isinstance(found, dict):
        other += f" ({differences(found, expected)})"[:200]
    raise WrongPlan(f"{path} belongs to {other}; choose another --out or remove this file")


# ---- the run ----


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
        """Everything that the weights depend on: settings, fingerprint of the corpus, weights of a warm start.

        Their name gets a hash of the file. OSError, WeightsError.
        """
        settings = {name: value for name, value in self.settings.plan.items() if name not in RUN_ONLY}
        start = named_weights(self.settings.warm_start) if self.settings.warm_start else ""
        corpus = fingerprint(self.settings.corpus)
        return settings | {"score_scale": CENTIPAWNS, CORPUS: corpus, "warm_start": start}

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
        save_checkpoint(self.folder, self.identity, self.curve, arrays, finished=self.done == self.total)

    def resume(self) -> None:
        """Load the checkpoint, if there is one. ValueError if it is damaged or of another plan or corpus."""
        with open_checkpoint(self.folder, self.identity) as saved:
            if saved is not None:
                arrays, self.curve = saved
                self.done = checked_count(arrays["_positions"], self.total)
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
