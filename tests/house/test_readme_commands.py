"""The engine's commands in the READMEs, carried out in a folder that holds what they name."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

from tests.house.test_documents import READMES, ROOT, called

# What the other commands need, for which no test may ask: the network, a compiler, a screen.
NOT_RUN = frozenset({"git", "make", "pip", "python", "sudo", "xboard"})
MOVES = "+7776FU\n-3334FU\n+2726FU\n-8384FU\n+2625FU\n-8485FU\n+6978KI\n-4132KI\n+2524FU\n-2324FU\n+2824HI\n%TORYO\n"
KIF = "手合割：平手\n手数----指手---------消費時間--\n1 ７六歩(77)\n2 ３四歩(33)\n3 ２六歩(27)\n4 投了\n"


def commands() -> list[str]:
    """Those of the engine, ordered so that a corpus is made before it is trained from."""
    found = {command for page in READMES for command in called(page)}
    return sorted(command for command in found if shlex.split(command)[0] not in NOT_RUN)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Games with scores, a record, a mate problem, by the names that the READMEs give them."""
    made = tmp_path_factory.mktemp("棋譜")
    (made / "games").mkdir()
    scored = "".join(f"{line}\n" + "'** 30\n" * line.startswith(("+", "-")) for line in MOVES.splitlines())
    for i in range(3):
        (made / "games" / f"{i}.csa").write_text(f"V2.2\nN+駒鳥\nPI\n+\n{scored}", encoding="utf-8")
        (made / "games" / f"{i}.kif").write_text(KIF, encoding="utf-8")
    (made / "game.kif").write_text(KIF, encoding="cp932")
    (made / "FILE").write_text("7k1/9/7P1/9/9/9/9/9/9 b G 1\n")
    return made


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """In the folder, as a shell does it, without input."""
    program, *words = shlex.split(command)
    assert program == "usi_engine"
    named = [sorted(map(str, folder.glob(word))) if "*" in word else [word] for word in words]
    return subprocess.run(
        [sys.executable, "-m", "usi_engine", *chain.from_iterable(named)],
        check=False,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
    )


def test_commands_of_the_readmes_run(folder: Path) -> None:
    """All of them, one after the other."""
    assert commands()
    for command in commands():
        done = run(command, folder)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
