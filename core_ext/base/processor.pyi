"""Whether this processor can run the core. Import this module, and ask it, before any other of the core."""

def processor_error() -> str | None:
    """One sentence where an instruction set is missing that the core was compiled for, else None."""
