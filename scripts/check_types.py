"""Check a user's code outside the project with mypy --strict, and with pyright or basedpyright if installed.

The code is that of `examples/`, docs/python.md, docs/research.md and USER: the installed packages must give it types.

    python scripts/check_types.py .venv/bin/python

The argument is the Python of the environment in which the program is installed; mypy may be in another one.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
USER = """
import numpy as np
from core_ext.engine import MateSolver, StopToken
from numpy.typing import NDArray
from typing_extensions import assert_type

from usi_engine import (
    HCPE3_TYPE, HCPE_TYPE, PSV_TYPE, Analysis, AsyncEngine, Board, Engine, Game, LabelledPosition, Limit, Node,
    PlayResult, PositionDataset, Score, UsiEngine, features, load_games, move_from_usi, move_to_usi, positions,
)

board = Board()
assert_type(board.legal_moves(), list[str])
assert_type(board.legal_array(include_all=True), NDArray[np.uint16])
assert_type(move_to_usi(board.legal_array()[0]), str)
assert_type(features.to_cshogi(move_from_usi("7g7f")), int)
assert_type(features.from_yaneuraou(board.legal_array()), NDArray[np.uint16])
assert_type(features.dlshogi_label("7g7f", board.turn), int)
assert_type(features.dlshogi_label(board.legal_array(), board.turn), NDArray[np.uint16])
batch = features.BoardBatch(4, threads=2)
batch.push(["7g7f", 0, 7739, move_from_usi("2g2f")])
assert_type(features.nnue_indices([board, *batch], "HalfKP"), NDArray[np.int32])
assert_type(batch.planes()[0], NDArray[np.float32])
assert_type(batch.outcomes()[1], NDArray[np.int8])
assert_type(batch.static_values(features.load_evaluation("material")), NDArray[np.int32])
assert_type(MateSolver(16, StopToken()), MateSolver)
for game in load_games("game.kif", workers=2):
    assert_type(game, Game)
    assert_type(game.variations, list[Node])
    assert_type(game.times, tuple[int | None, ...])
for position in positions(["a.psv", "b.hcpe"], on_fault=print):
    assert_type(position, LabelledPosition)
    assert_type(Board.from_psv(position.board.to_psv()), Board)
    assert_type((position.move, position.score, position.result), tuple[str, int | None, int | None])
data = PositionDataset(["a.psv"], lambda position: position.score, buffer=1000, on_fault=print)
data.epoch = 1
assert_type([PSV_TYPE, HCPE_TYPE, HCPE3_TYPE], list[np.dtype[np.void]])
assert_type(np.fromfile("a.psv", PSV_TYPE), NDArray[np.void])
with Engine() as engine:
    assert_type(engine.analyse(board, nodes=1000).score, Score)
    with engine.analysis(board, multipv=2) as stream:
        assert_type([part for part in stream], list[Analysis])
with Engine.popen("other", options={"Threads": 2}) as other:
    assert_type(other, UsiEngine)
    assert_type(other.play(board, Limit(time=1)), PlayResult)


async def main() -> None:
    async with await AsyncEngine.popen("other") as engine:
        assert_type(await engine.analyse(board, depth=3), Analysis)
        async with engine.analysis(board) as stream:
            assert_type([part async for part in stream], list[Analysis])
"""


def write_programs(folder: Path) -> None:
    """Write the user's code into the folder, with settings for pyright."""
    (folder / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict", "reportMissingModuleSource": false}')
    (folder / "user.py").write_text(USER, encoding="utf-8")
    for example in (ROOT / "examples").glob("*.py"):
        shutil.copy(example, folder)
    pages = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("python.md", "research.md"))
    for number, program in enumerate(re.findall(r"^```python\n(.*?)^```", pages, re.M | re.S)):
        (folder / f"page_{number}.py").write_text(program, encoding="utf-8")


def check(python: Path) -> int:
    """Run the type checkers on the programs in a new folder; return an exit status."""
    found = str(python.absolute())
    commands = [["mypy", "--strict", "--python-executable", found, "."]]
    pyrights = [name for name in ("pyright", "basedpyright") if importlib.util.find_spec(name)]
    commands += [[name, "--pythonpath", found, "."] for name in pyrights]
    with tempfile.TemporaryDirectory() as name:
        write_programs(Path(name))
        runs = [subprocess.run([sys.executable, "-m", *command], cwd=name, check=False) for command in commands]
    return max(run.returncode for run in runs)


if __name__ == "__main__":
    sys.exit(check(Path(sys.argv[1])))
