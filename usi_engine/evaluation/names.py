"""Names of the evaluations, and reading of their files: a size limit, and errors that name the file."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path

from usi_engine.language import _, reason_of

# Special values of EvalFile: plain piece values, the packaged network, the packaged KPP weights.
MATERIAL, INTERNAL, KPP = "material", "<internal>", "kpp"
DATA = Path(__file__).parents[1] / "data"
NETWORK_FILE = "nn.bin"  # in a folder that is named as a network
PACKAGED = {INTERNAL: DATA / NETWORK_FILE, KPP: DATA / "komadori.kpp"}


class WeightsError(Exception):
    """Weights that are missing, damaged or made for another version. The text is one sentence for the user."""


class Fault(WeightsError, ValueError):
    """A fault in the contents of a file. `named_errors` adds the name of the file."""


@contextmanager
def open_file(file: Path, limit: int) -> Iterator[tuple[BufferedIOBase, int]]:
    """Open a regular file of at most `limit` bytes; yield the stream and its size. Fault, OSError."""
    if not file.exists():
        raise Fault("there is no such file")
    if not file.is_file():
        raise Fault("this is not a regular file")
    size = file.stat().st_size
    if size > limit:
        raise Fault(_("{size} bytes are too many for such a file, at most {limit}").format(size=size, limit=limit))
    with file.open("rb") as stream:
        yield stream, size


def read_bytes(file: Path, limit: int) -> bytes:
    """Read a regular file of at most `limit` bytes. Fault, OSError."""
    with open_file(file, limit) as (stream, size):
        return stream.read(size + 1)  # allocates this much


@contextmanager
def named_errors(kind: str, path: str | Path, to: type[Exception] = WeightsError) -> Iterator[None]:
    """Turn an error in the block into one of type `to`, whose text is one line that names the file."""
    message = _("cannot use the {kind} '{path}': {reason}")
    try:
        yield
        return
    except Fault as fault:
        reason = _(str(fault))
    except OSError as error:
        message, reason = _("cannot read the {kind} '{path}': {reason}"), reason_of(error)
    except (LookupError, TypeError, ValueError, ArithmeticError, RuntimeError) as error:  # also from impossible paths
        reason = str(error) if isinstance(error, RuntimeError) else repr(error)  # such as a home folder that is missing
    raise to(message.format(kind=_(kind), path=path, reason=reason)) from None
