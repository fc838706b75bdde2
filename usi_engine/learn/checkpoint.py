"""Files of a training run's folder: the checkpoint, from which a run resumes, and the curve of its measurements."""

from __future__ import annotations

import json
import lzma
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib.npyio import NpzFile

from usi_engine.learn.files import write_text, written_whole

CHECKPOINT, CURVE = "checkpoint.npz", "curve.json"
CORPUS = "corpus"  # key of the corpus's fingerprint in what a checkpoint is compared with

Curve = list[dict[str, float]]
# What numpy, zip and json raise where a file is not what it should be, and what training raises for other sizes.
DAMAGES = (
    OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, EOFError, MemoryError,
    RuntimeError, SyntaxError, tokenize.TokenError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error,
)  # fmt: skip


class WrongPlan(ValueError):
    """The checkpoint belongs to another plan or corpus."""


def write_curve(folder: Path, curve: Curve) -> None:
    """Write all points as JSON."""
    write_text(folder / CURVE, json.dumps(curve, indent=1) + "\n")


def save_checkpoint(folder: Path, identity: Mapping[str, Any], curve: Curve, arrays: Mapping[str, Any]) -> None:
    """Write a checkpoint. The old one is replaced once the new one is complete.

    `identity`: what the weights depend on, of the plan and of the corpus.
    """
    with written_whole(folder / CHECKPOINT) as part, part.open("wb") as file:
        np.savez(file, _plan=json.dumps(identity), _curve=json.dumps(curve), **arrays)


@contextmanager
def open_checkpoint(folder: Path, identity: Mapping[str, Any]) -> Iterator[tuple[Any, Curve] | None]:
    """The arrays by name, each read on access, and the curve; None without a checkpoint.

    ValueError where it is another plan's or corpus's, or damaged, also by what the block raises.
    """
    path = folder / CHECKPOINT
    if not path.exists():
        yield None
        return
    try:
        with path.open("rb") as file, open_arrays(file) as arrays:
            check_plan(path, json.loads(str(arrays["_plan"])), identity)
            yield arrays, json.loads(str(arrays["_curve"]))
    except WrongPlan:
        raise
    except DAMAGES as error:
        raise ValueError(f"{path} is damaged: {str(error) or 'it is cut off'}; remove it to begin anew") from None


def open_arrays(file: IO[bytes]) -> NpzFile:
    """The arrays of a file. DAMAGES, OSError."""
    found = np.load(file)
    if not isinstance(found, NpzFile):
        raise KeyError("one array alone")
    return found


def within(saved: Any, most: int) -> int:
    """The saved count. ValueError where it is not from 0 to `most`."""
    count = int(saved)
    if not 0 <= count <= most:
        raise ValueError(f"{count} of {most} done")
    return count


def check_plan(path: Path, found: Any, identity: Mapping[str, Any]) -> None:
    """WrongPlan where a checkpoint is another plan's or another corpus's."""
    expected = json.loads(json.dumps(identity))
    if found == expected:
        return
    other = "another plan"
    if isinstance(found, dict) and found | {CORPUS: None} == expected | {CORPUS: None}:
        other = "another corpus" if CORPUS in found else "an unknown corpus, as an older version wrote it"
    raise WrongPlan(f"{path} belongs to {other}; choose another folder or remove it")
