"""How tests start the program as another process."""

import sys

# As `python -m usi_engine`, but Ctrl-C reaches it even where the tests run in the background of a shell, which makes
# processes ignore it.
INTERRUPTIBLE = [
    sys.executable,
    "-c",
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from usi_engine.__main__ import main; sys.exit(main())",
]
