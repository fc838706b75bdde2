"""Links in the pages lead somewhere, the option tables are right, commands of the READMEs and programs run."""

import os
import re
import shlex
import subprocess
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from core_ext.board import Board
from tests.programs import ROOT, run_engine
from tests.project.pages import LINK, PAGES, READMES, USI, anchors, find_commands, option_rows, prose, read
from usi_engine.usi.options import DECLARED, MOST_THREADS_BY_DEFAULT, Options

PYTHON, RESEARCH = (read(ROOT / "docs" / name) for name in ("python.md", "research.md"))
PROGRAMS = re.findall(r"^```python\n(.*?)^```", PYTHON + RESEARCH, re.M | re.S)
KIF = "手合割：平手\n手数----指手---------消費時間--\n1 ７六歩(77)\n2 ３四歩(33)\n3 ２六歩(27)\n4 投了\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for target in LINK.findall(prose(read(page))):
        if "://" in target:
            continue
        name, _, heading = unquote(target).partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.exists(), target
        assert not heading or heading in anchors(path), target


def test_scripts_are_short() -> None:
    """The modules of the browser's pages."""
    scripts = list((ROOT / "usi_engine" / "data" / "page").glob("*.js"))
    assert len(scripts) > 10 and [one.name for one in scripts if len(read(one).splitlines()) >= 300] == []


def test_option_table_matches_the_declarations() -> None:
    """The default of Threads depends on the machine."""
    shown = {name: Options().shown(name) for name in DECLARED} | {"Threads": f"min({MOST_THREADS_BY_DEFAULT}, cores)"}
    ranges = {name: f"{option.least} to {option.most}" for name, option in DECLARED.items() if option.kind == "spin"}
    assert option_rows(USI) == {name: (shown[name], ranges.get(name, "")) for name in DECLARED}


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
    """Those that end by themselves, which a page of a game does not; wildcards are expanded as a shell does."""
    commands = {tuple(words) for page in READMES for words in find_commands(read(page), "usi_engine")}
    assert commands
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    for words in sorted(words for words in commands if "--browser" not in words):
        named = [sorted(map(str, folder.glob(word))) if "*" in word else [word] for word in words]
        done = run_engine(*chain(*named), cwd=folder, env=environment, stdin=subprocess.DEVNULL, encoding="utf-8")
        assert done.returncode == 0, f"{shlex.join(words)}: {done.stdout}{done.stderr}"


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda text: text.splitlines()[-1][:40])
def test_programs_run(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In any folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    names: dict[str, Any] = {}
    exec(compile(program.replace("100_000", "5_000"), "docs", "exec"), names)
    assert capsys.readouterr().out.strip()


def test_every_method_of_board_is_in_the_table() -> None:
    _, _, table = PYTHON.partition("| wanted | method |\n")
    named = set(re.findall(r"`(?:Board\.)?(\w+)", table.partition("\n\n")[0])) - {"Board", "print"}
    assert named == {name for name in vars(Board) if not name.startswith("_")} - {"copy"}
