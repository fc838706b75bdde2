"""Output files of training, which never replace a file of another kind."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any

from usi_engine.evaluation.kpp_file import MAGIC
from usi_engine.evaluation.load import evaluation_file
from usi_engine.evaluation.network_file import VERSION
from usi_engine.files import digest_of
from usi_engine.learn.game import SourceError

TRAINING, HELD_OUT, CARD = "training.bin", "held_out.bin", "corpus.json"  # of a corpus


def check_output(out: Path, suffixes: Iterable[str], inputs: Iterable[Path] = (), *, weights: bool = False) -> None:
    """Raise SourceError if `out` has another suffix, is an input or no regular file, or would replace another kind.

    Weights replace only weights, and other files neither weights nor a corpus; an empty file is of any kind.
    """
    fault, file = "", out.resolve()
    if out.suffix.lower() not in suffixes:
        fault = f"expected a name that ends in {' or '.join(suffixes)}"
    elif out.exists() and not out.is_file():
        fault = "not a regular file"
    elif file in {path.resolve() for path in inputs}:
        fault = "is also an input"
    elif out.exists() and out.stat().st_size and holds_weights(out) != weights:
        fault = f"is {'not ' * weights}a file of weights; it is not replaced"
    elif file.name in (TRAINING, HELD_OUT) and file.with_name(CARD).exists():
        fault = "belongs to a corpus; it is not replaced"
    if fault:
        raise SourceError(f"--out {out}: {fault}")


def holds_weights(path: Path) -> bool:
    """Return whether the file begins as a network or as KPP weights."""
    magics = (VERSION.to_bytes(4, "little"), MAGIC[:-1])  # KPP weights of any version
    with path.open("rb") as file:
        return file.read(max(map(len, magics))).startswith(magics)


def named_weights(name: str) -> str:
    """Return the name of an evaluation, if it is a file with a hash of its bytes. OSError, WeightsError."""
    path = evaluation_file(name)
    return f"{name} {digest_of(path)}" if path else name


def differences(found: Mapping[str, Any], expected: Mapping[str, Any]) -> str:
    """Return the settings in `found` that are not as `expected`, as text."""
    return ", ".join(f"{name} {found.get(name)!r}" for name in expected if found.get(name) != expected[name])


def write_whole(file: IO[bytes], data: bytes | memoryview) -> None:
    """Write all data, even if an unbuffered file takes it in parts. OSError keeps its number, unlike numpy's."""
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]
