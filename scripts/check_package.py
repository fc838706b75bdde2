"""Try a wheel or a folder of the program without a compiler, from a path with a space and Japanese characters.

    python scripts/check_package.py dist/komadori-0.1.0-cp311-cp311-linux_x86_64.whl
    python scripts/check_package.py dist/komadori

Installs a wheel into a new virtual environment, first without its dependencies, which play in a GUI does not need.
Starts the program from another folder, with only the environment variables that the system needs. Fails if the package
contains the test modules of the core or lacks the Japanese texts. If mypy is installed, checks the types that a wheel
gives to a user.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from pathlib import Path

from check_types import check

SUFFIX = ".exe" if os.name == "nt" else ""
COMMANDS = [  # each from a folder that contains GAME
    ["--version"],
    ["mate", "4k4/9/4P4/9/9/9/9/9/4K4 b G 1"],
    ["convert", "game.usi", "--to", "kif"],
    ["book", "show"],
    ["csa", "--help"],
]
WITH_LIBRARIES = [["analyze", "game.usi", "--nodes", "1000", "--html", "game.html"], ["play", "--level", "0"]]
TEXTS = "usi_engine/locale/ja/LC_MESSAGES/usi_engine.mo"
GAME = "position startpos moves 7g7f 3c3d 2g2f\n"
SYSTEM = ("SYSTEMROOT", "TEMP") if os.name == "nt" else ()


def install(wheel: Path, folder: Path, *options: str) -> Path:
    """Install the wheel into a virtual environment, which is made if there is none; return the program."""
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / f"python{SUFFIX}"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    subprocess.run([*pip, *options, str(wheel)], check=True)
    return scripts / f"usi_engine{SUFFIX}"


def copy(folder: Path, target: Path) -> Path:
    """Copy the folder; return the program."""
    shutil.copytree(folder, target)
    return target / f"usi_engine{SUFFIX}"


def run(program: Path, folder: Path, *arguments: str) -> str:
    """Start the program in the folder; return its output."""
    environment = {"PATH": str(folder)} | {name: os.environ[name] for name in SYSTEM}
    done = subprocess.run(
        [program, *arguments], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{program.name} {' '.join(arguments)}: {done.stdout.decode()}{done.stderr.decode()}")
    return done.stdout.decode()


def open_page(program: Path, folder: Path) -> str:
    """Start a game in the browser; return the address of its page, which has been read."""
    environment = {"PATH": str(folder)} | {name: os.environ[name] for name in SYSTEM}
    command = [str(program), "play", "--browser", "--no-open"]
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        address: str = started.stdout.readline().strip()
        try:
            with urllib.request.urlopen(address.rsplit(maxsplit=1)[-1]) as page:
                page.read()
        finally:
            started.terminate()
    return address


def check_contents(package: Path) -> None:
    """Exit if the package contains test modules or lacks Japanese texts."""
    found = map(Path.as_posix, package.rglob("*")) if package.is_dir() else zipfile.ZipFile(package).namelist()
    files = list(found)
    if not any(name.endswith(TEXTS) for name in files):
        raise SystemExit(f"{package.name} lacks {TEXTS}: make build")
    if probes := [name for name in files if re.search(r"core_ext/_[a-z]", name)]:
        raise SystemExit(f"{package.name} contains test modules: {', '.join(probes)}")


def main() -> None:
    """Check the contents, install or copy the program, try its commands and types, run the bench."""
    package = Path(sys.argv[1]).resolve()
    check_contents(package)
    with tempfile.TemporaryDirectory() as name:
        target, elsewhere = Path(name, "配布 フォルダ"), Path(name, "elsewhere")
        elsewhere.mkdir()
        program = copy(package, target) if package.is_dir() else install(package, target, "--no-deps", "--no-index")
        files = [path for path in package.rglob("*") if path.is_file()] if package.is_dir() else [package]
        print(f"{package.name}: {sum(path.stat().st_size for path in files) / 1e6:.1f} MB")
        answer = run(program, elsewhere, "go", "depth", "8").splitlines()[-1]
        if not answer.startswith("bestmove ") or answer == "bestmove resign":
            raise SystemExit(f"no move: {answer}")
        print(answer)
        (elsewhere / "game.usi").write_text(GAME, encoding="ascii")
        for command in COMMANDS:
            print(run(program, elsewhere, *command).strip().splitlines()[-1])
        if package.is_file():
            install(package, target)  # with the libraries that it needs
        for command in WITH_LIBRARIES:
            print(run(program, elsewhere, *command).strip().splitlines()[-1])
        print(open_page(program, elsewhere))
        if package.is_file() and importlib.util.find_spec("mypy") and check(program.with_name(f"python{SUFFIX}")):
            raise SystemExit("the wheel's types are wrong")
        print(run(program, elsewhere, "bench").strip().splitlines()[-1])


if __name__ == "__main__":
    main()
