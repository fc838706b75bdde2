"""The levels of instructions for which this build has the core, and the one that runs.

This module is compiled for any processor. Import it before the other modules.
"""

import os
from collections.abc import Iterable

cdef extern from "processor.h":
    const char *CORE_EXT_LEVELS
    bint has_instructions(const char *name)

# Instruction sets that each level needs, the lowest level first.
LEVELS = {name: sets.split(",") if sets else []
          for name, _, sets in [level.partition("=") for level in CORE_EXT_LEVELS.decode().split()]}


def missing_instructions(sets: Iterable[str]) -> str | None:
    """Return the first of the instruction sets that this processor or system lacks, or None."""
    return next((name for name in sets if not has_instructions(name.encode())), None)


def choose_level(wanted: str) -> str:
    """Return the wanted level; if there is none, the highest that runs here, or the lowest. ImportError if unknown."""
    if wanted and wanted not in LEVELS:
        raise ImportError(f"CORE_EXT_LEVEL={wanted}: expected one of {', '.join(LEVELS)}")
    if wanted:
        return wanted
    usable = [level for level in LEVELS if missing_instructions(LEVELS[level]) is None]
    return usable.pop() if usable else next(iter(LEVELS))


TARGET = choose_level(os.environ.get("CORE_EXT_LEVEL", ""))


def processor_error() -> str | None:
    """Return a message that names an instruction set that this processor lacks, or None if it has all."""
    missing = missing_instructions(LEVELS[TARGET])
    if missing is None:
        return None
    return (f"this build of Komadori needs a processor with {missing.replace('_', '.')}: "
            "install it from source on this machine, or build it with CORE_EXT_ARCH=portable")
