"""How a bench ends where its input has a fault or a person stops it: with one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from usi_engine.book.entry import BookError
from usi_engine.evaluation.names import WeightsError


@contextmanager
def one_line(name: str, resumes: bool = True) -> Iterator[None]:
    """Within the block: a file that is missing or refused, and Ctrl-C, become a SystemExit with one line.

    `resumes`: the same command goes on where it was stopped.
    """
    try:
        yield
    except (WeightsError, BookError, OSError) as error:
        raise SystemExit(f"{name}: {error}") from None
    except KeyboardInterrupt:
        raise SystemExit(f"\n{name}: stopped" + "; the same command goes on" * resumes) from None
