"""Processor check: import this module and call it before importing any other module of the core."""

cdef extern from "base/processor.h":
    const char *CORE_EXT_TARGET_NAME
    const char *missing_instructions()

TARGET = CORE_EXT_TARGET_NAME.decode()


def processor_error() -> str | None:
    """Return a message that names an instruction set that this processor lacks, or None if it has all."""
    cdef const char *missing = missing_instructions()
    if missing == NULL:
        return None
    return (f"this build of Komadori needs a processor with {missing.decode()}: "
            "install it from source on this machine, or build it with CORE_EXT_ARCH=portable")
