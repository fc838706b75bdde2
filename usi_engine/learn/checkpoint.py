"""The checkpoint of a training run, from which the run resumes."""

import json
import lzma
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from usi_engine.files import atomic_write
from usi_engine.learn.files import differences, named_weights
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


def identify(plan: Mapping[str, Any], corpus: str) -> dict[str, Any]:
    """Return everything that the weights depend on: settings, fingerprint of the corpus, weights of a warm start.

    Their name gets a hash of the file. OSError, WeightsError.
    """
    settings = {name: value for name, value in plan.items() if name not in RUN_ONLY}
    start = named_weights(plan["warm_start"]) if plan["warm_start"] else ""
    return settings | {"score_scale": CENTIPAWNS, CORPUS: corpus, "warm_start": start}


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
