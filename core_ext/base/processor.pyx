"""Whether this processor can run the core: import this module, and call it, before any other of the core."""

cdef extern from "base/processor.h":
    const char *missing_instructions()


def processor_error() -> str | None:
    """A sentence that names an instruction set the core needs and this processor lacks; None if it has all."""
    cdef const char *missing = missing_instructions()
    if missing == NULL:
        return None
    return (f"this build of Komadori needs a processor with {missing.decode()}: "
            "install it from source on this machine, or build it with CORE_EXT_ARCH=portable")
