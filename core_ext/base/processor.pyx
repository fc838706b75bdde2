"""Whether this processor can run the core. Import this module, and ask it, before any other of the core."""

cdef extern from "base/processor.h":
    const char *missing_instructions()


def processor_error() -> str | None:
    """One sentence where an instruction set is missing that the core was compiled for, else None."""
    cdef const char *missing = missing_instructions()
    if missing == NULL:
        return None
    return (f"this build of Komadori needs a processor with {missing.decode()}: "
            "install it from source on this machine, or build it with CORE_EXT_ARCH=x86-64-v2")
