"""Make a virtual environment with pip and the build requirements: `python3 bootstrap.py DIRECTORY`.

Uses what there is: venv with ensurepip; else (Debian without python3-venv) virtualenv; else a bare venv into which the
outer pip installs. Says what to install where nothing of that is there.
"""

import subprocess
import sys
import sysconfig
from pathlib import Path

ADVICE = "on Debian or Ubuntu: apt-get install python3-venv python3-dev gcc make"


def attempt(*command: str) -> bool:
    try:
        return subprocess.run(command, check=False, capture_output=True).returncode == 0
    except OSError:
        return False


def interpreter(directory: Path) -> str:
    return str(directory / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python"))


def make(directory: Path) -> bool:
    """Whether `directory` now holds an interpreter with pip."""
    python, inner = sys.executable, interpreter(directory)
    return (
        attempt(inner, "-m", "pip", "--version")
        or attempt(python, "-m", "venv", "--clear", str(directory))
        or attempt(python, "-m", "virtualenv", str(directory))
        or (
            attempt(python, "-m", "venv", "--clear", "--without-pip", str(directory))
            and attempt(python, "-m", "pip", "--python", inner, "install", "--quiet", "pip")
        )
    )


def requirements() -> list[str]:
    """The build requirements of pyproject.toml: its first list (tomllib is not there before Python 3.11)."""
    text = (Path(__file__).parent / "pyproject.toml").read_text(encoding="utf-8")
    listed = text.split("requires = [", 1)[1].split("]", 1)[0]
    return [item.strip().strip('"') for item in listed.replace('",', '"\n').splitlines() if item.strip()]


def main() -> int:
    directory = Path(sys.argv[1])
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        print(f"The headers of {sys.executable} (Python.h) are missing; {ADVICE}", file=sys.stderr)
        return 1
    if not make(directory):
        print(f"{sys.executable} can make no virtual environment with pip; {ADVICE}", file=sys.stderr)
        return 1
    command = [interpreter(directory), "-m", "pip", "install", "--quiet", "--upgrade", "pip", "wheel", *requirements()]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
