"""Run the `usi_engine` commands of the READMEs in a folder with the files that they name."""

from __future__ import annotations

import os
import shlex
import subprocess
from itertools import chain
from pathlib import Path

import pytest

from tests.programs import ROOT, run_engine
from tests.project.pages import READMES, arguments_of, read

KIF = "手合割：平手\n手数----指手---------消費時間--\n1 ７六歩(77)\n2 ３四歩(33)\n3 ２六歩(27)\n4 投了\n"


def commands() -> list[list[str]]:
    """Return the arguments of each command that ends by itself, which a page of a game does not."""
    words = {tuple(words) for page in READMES for words in arguments_of(read(page), "usi_engine")}
    return sorted(list(one) for one in words if "--browser" not in one)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make records and a mate problem, named as in the READMEs."""
    made = tmp_path_factory.mktemp("棋譜")
    (made / "games").mkdir()
    for name in ("1.kif", "2.kif"):
        (made / "games" / name).write_text(KIF, encoding="utf-8")
    (made / "game.kif").write_text(KIF, encoding="cp932")
    (made / "FILE").write_text("7k1/9/7P1/9/9/9/9/9/9 b G 1\n")
    return made


def test_commands_of_the_readmes_run(folder: Path) -> None:
    assert commands()
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    for words in commands():  # wildcards are expanded as a shell does
        named = [sorted(map(str, folder.glob(word))) if "*" in word else [word] for word in words]
        done = run_engine(*chain(*named), cwd=folder, env=environment, stdin=subprocess.DEVNULL, encoding="utf-8")
        assert done.returncode == 0, f"{shlex.join(words)}: {done.stdout}{done.stderr}"
