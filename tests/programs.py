"""How tests start the program as another process."""

import sys

# Code by which Ctrl-C reaches a process even where the tests run in the background of a shell, which makes it ignored.
HEED_CTRL_C = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
# As `python -m usi_engine`, but heeding Ctrl-C.
INTERRUPTIBLE = [sys.executable, "-c", HEED_CTRL_C + "from usi_engine.__main__ import main; sys.exit(main())"]
