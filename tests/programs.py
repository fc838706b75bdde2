"""Starting the program as another process; measuring time on a loaded machine."""

import sys
from collections.abc import Callable

# Restores the handler of Ctrl-C, which a process in the background of a shell ignores.
HEED_CTRL_C = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
# `python -m usi_engine` that obeys Ctrl-C.
INTERRUPTIBLE = [sys.executable, "-c", HEED_CTRL_C + "from usi_engine.__main__ import main; sys.exit(main())"]


def quickest(measure: Callable[[], float], tries: int = 3) -> float:
    """Return the least of several measurements in seconds."""
    return min(measure() for _ in range(tries))
