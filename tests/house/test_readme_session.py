"""The READMEs' commands around the engine's own, in one session of a shell, as somebody new types them.

Those of the engine are in test_readme_commands. Minutes long: it compiles the engine twice, and pip loads packages.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.test_documents import READMES, ROOT, code, words_of

PROGRAMS = frozenset({"git", "cd", "make", "pip", "python", ".", "sudo", "xcode-select", "xboard", "from"})
# macOS alone has it, and it opens a window.
NOT_RUN = {"xcode-select --install"}
# Where the packages are missing, XBoard's line is left out.
HAS_XBOARD = shutil.which("xboard", path=f"{os.environ['PATH']}:/usr/games") and shutil.which("xvfb-run")
HAS_APT = shutil.which("apt-get")

# Each command, and what is typed for it: placeholders filled in, questions answered, matches and games kept short.
SESSION = {
    "sudo apt install git python3-venv python3-dev gcc make": (
        "apt-get install --simulate git python3-venv python3-dev gcc make" if HAS_APT else ""
    ),
    "git clone --depth 1 <this repository> komadori": f"git clone --depth 1 {ROOT.as_uri()} komadori",
    "cd komadori": "cd komadori",
    "make run": "make run",
    ". .venv/bin/activate": ". .venv/bin/activate",
    "pip install rsshogi tqdm": "pip install rsshogi tqdm",
    "from usi_engine import Board, Engine": "cd / && python -c 'from usi_engine import Board, Engine' && cd -",
    "make match OPPONENT=/path/to/engine": 'make match OPPONENT="$(usi_engine --where)" GAMES=2 TIME=0/0.05',
    'xboard -variant shogi -fcp "uci2wb -s /path/to/usi_engine"': (
        """
        first="uci2wb -s $(usi_engine --where)"
        xvfb-run -a timeout 20 xboard -variant shogi -fcp "$first" -debug -nameOfDebugFile log || test $? = 124
        grep 'myname="Komadori' log
        """
        if HAS_XBOARD
        else ""
    ),
    "pip install .": "python -m venv ../other && . ../other/bin/activate && pip install . && usi_engine bench 2",
    "CORE_EXT_ARCH=portable pip install .": "CORE_EXT_ARCH=portable pip install . && usi_engine bench 2",
    "pip uninstall komadori": "pip uninstall --yes komadori && hash -r && ! command -v usi_engine",
}


def line_of_a_shell(text: str) -> bool:
    """Whether a piece of code is a command of PROGRAMS, settings before it aside."""
    words = [word for word in words_of(text) if "=" not in word]
    return len(words) > 1 and words[0] in PROGRAMS


@pytest.mark.parametrize("page", READMES, ids=lambda page: page.name)
def test_every_command_is_in_the_session(page: Path) -> None:
    """Or named as one that cannot be run."""
    found = {text for text in code(page.read_text(encoding="utf-8")) if line_of_a_shell(text)}
    assert found - NOT_RUN <= SESSION.keys()
    assert len(found) > len(SESSION) / 2


@pytest.mark.slow
def test_the_session(tmp_path: Path) -> None:
    """Every command ends well, with the Python that runs this test and without its environment."""
    script = "\n".join(["set -ex", *SESSION.values()])
    home, path = tmp_path / "home", f"{sys.base_prefix}/bin:{os.environ['PATH']}:/usr/games"
    home.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run(
        ["bash", "-c", script],
        check=False,
        cwd=tmp_path,
        env=kept | {"HOME": str(home), "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=3000,
    )
    assert done.returncode == 0, "\n".join(done.stdout.splitlines()[-20:])
