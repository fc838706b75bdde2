"""Check with mypy --strict that a user's code outside the project sees the types of the installed packages.

    python scripts/check_types.py .venv/bin/python

The argument is the Python of the environment in which the program is installed; mypy may be in another one.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"
USER = """
from core_ext.engine import MateSolver, StopToken
from typing_extensions import assert_type

from usi_engine import Board, Engine, Game, Score, load_games

board = Board()
assert_type(board.legal_moves(), list[str])
assert_type(MateSolver(16, StopToken()), MateSolver)
for game in load_games("game.kif"):
    assert_type(game, Game)
with Engine() as engine:
    assert_type(engine.analyse(board, nodes=1000).score, Score)
"""


def check(python: Path) -> int:
    """Run mypy on the examples and USER in a new folder; return its exit status."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "user.py").write_text(USER, encoding="utf-8")
        for example in EXAMPLES.glob("*.py"):
            shutil.copy(example, folder)
        command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(python.absolute()), "."]
        return subprocess.run(command, cwd=folder, check=False).returncode


if __name__ == "__main__":
    sys.exit(check(Path(sys.argv[1])))
