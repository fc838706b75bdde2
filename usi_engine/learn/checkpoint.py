"""Files of a training run's folder: the checkpoint, from which a run resumes, and the curve of its measurements."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

CHECKPOINT, CURVE = "checkpoint.npz", "curve.json"

Curve = list[dict[str, float]]


def write_curve(folder: Path, curve: Curve) -> None:
    """Write all points as JSON."""
    (folder / CURVE).write_text(json.dumps(curve, indent=1) + "\n", encoding="utf-8")


def save_checkpoint(folder: Path, identity: Mapping[str, Any], curve: Curve, arrays: Mapping[str, Any]) -> None:
    """Write a checkpoint. The old one is replaced once the new one is complete.

    `identity`: the part of the plan that the weights depend on.
    """
    temporary = folder / ("new-" + CHECKPOINT)
    np.savez(temporary, _plan=json.dumps(identity), _curve=json.dumps(curve), **arrays)
    temporary.replace(folder / CHECKPOINT)


@contextmanager
def open_checkpoint(folder: Path, identity: Mapping[str, Any]) -> Iterator[tuple[Any, Curve] | None]:
    """The arrays by name, each read on access, and the curve; None without a checkpoint.

    ValueError where it is another plan's.
    """
    path = folder / CHECKPOINT
    if not path.exists():
        yield None
        return
    with np.load(path) as arrays:
        if json.loads(str(arrays["_plan"])) != json.loads(json.dumps(identity)):
            raise ValueError(f"{path} belongs to another plan; choose another folder or remove it")
        yield arrays, json.loads(str(arrays["_curve"]))
