"""Play with a wheel or a folder of the program where there is no compiler, from a path with a space and Japanese.

    python scripts/check_package.py dist/komadori-0.1.0-cp311-cp311-linux_x86_64.whl
    python scripts/check_package.py dist/komadori

A wheel is installed into a fresh virtual environment, without its dependencies: play with the packaged network needs
none. The program is started from another folder with an environment that is empty but for what the system itself needs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SUFFIX = ".exe" if os.name == "nt" else ""
SYSTEM = ("SYSTEMROOT", "TEMP") if os.name == "nt" else ()


def install(wheel: Path, folder: Path) -> Path:
    """The program of a new virtual environment that holds this wheel alone."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    pip = [sys.executable, "-m", "pip", "--python", str(scripts / f"python{SUFFIX}"), "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True)
    return scripts / f"usi_engine{SUFFIX}"


def copy(folder: Path, target: Path) -> Path:
    """The program of a copy of the folder."""
    shutil.copytree(folder, target)
    return target / f"usi_engine{SUFFIX}"


def run(program: Path, folder: Path, *arguments: str) -> str:
    """Start the program there; its output."""
    environment = {"PATH": str(folder)} | {name: os.environ[name] for name in SYSTEM}
    done = subprocess.run(
        [program, *arguments], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{program.name} {' '.join(arguments)}: {done.stdout.decode()}{done.stderr.decode()}")
    return done.stdout.decode()


def main() -> None:
    """Install or copy, play, print what came of it."""
    package = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        target, elsewhere = Path(name, "配布 フォルダ"), Path(name, "elsewhere")
        elsewhere.mkdir()
        program = copy(package, target) if package.is_dir() else install(package, target)
        files = [path for path in package.rglob("*") if path.is_file()] if package.is_dir() else [package]
        print(f"{package.name}: {sum(path.stat().st_size for path in files) / 1e6:.1f} MB")
        answer = run(program, elsewhere, "go", "depth", "8").splitlines()[-1]
        if not answer.startswith("bestmove ") or answer == "bestmove resign":
            raise SystemExit(f"no move: {answer}")
        print(answer)
        print(run(program, elsewhere, "bench").strip().splitlines()[-1])


if __name__ == "__main__":
    main()
