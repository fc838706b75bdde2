"""Command lines of the benches: parser and one-line errors."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

from usi_engine.book.entry import BookError
from usi_engine.evaluation.names import WeightsError


def new_parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser whose help shows the description as it is."""
    return argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)


@contextmanager
def one_line(name: str, resumes: bool = True) -> Iterator[None]:
    """Turn a missing or refused file, a ValueError and Ctrl-C into a SystemExit with one line.

    `resumes`: the message says that the same command continues the run.
    """
    try:
        yield
    except (WeightsError, BookError, OSError, ValueError) as error:
        raise SystemExit(f"{name}: {error}") from None
    except KeyboardInterrupt:
        raise SystemExit(f"\n{name}: stopped" + "; the same command continues" * resumes) from None
