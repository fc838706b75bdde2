"""The search constants of tune.h by name, for the tools that change them."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from core_ext.engine import tunables


def ranges() -> dict[str, tuple[int, int, int]]:
    """Default, least and greatest value of every search constant."""
    return {name: (default, least, greatest) for name, _, default, least, greatest in tunables()}


def known_name(name: str, known: Iterable[str]) -> str:
    """The name. ArgumentTypeError with those that exist where it is none of them."""
    names = sorted(known)
    if name not in names:
        raise argparse.ArgumentTypeError(f"'{name}' is none of {', '.join(names)}")
    return name


def constant_name(text: str) -> str:
    """The name of a search constant. ArgumentTypeError."""
    return known_name(text, ranges())
