"""How tests start the program as another process, and measure time beside other programs."""

import sys
from collections.abc import Callable

# Code by which Ctrl-C reaches a process even where the tests run in the background of a shell, which makes it ignored.
HEED_CTRL_C = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
# As `python -m usi_engine`, but heeding Ctrl-C.
INTERRUPTIBLE = [sys.executable, "-c", HEED_CTRL_C + "from usi_engine.__main__ import main; sys.exit(main())"]


def quickest(measure: Callable[[], float], tries: int = 3) -> float:
    """The least of several measurements in seconds: other programs can only lengthen one."""
    return min(measure() for _ in range(tries))
