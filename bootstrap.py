"""Make a virtual environment with pip and the build requirements: `python3 bootstrap.py DIRECTORY`.

Uses what there is: venv with ensurepip; else virtualenv; else a bare venv into which the outer pip installs. Debian
keeps venv, pip and the headers of Python in packages of their own: where one is missing, they are installed if we may
(root), and named if not.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

PACKAGES = ["python3-venv", "python3-dev"]
ADVICE = f"on Debian or Ubuntu: sudo apt-get install {' '.join(PACKAGES)} gcc make"


def attempt(*command: str) -> bool:
    try:
        return subprocess.run(command, check=False, capture_output=True).returncode == 0
    except OSError:
        return False


def interpreter(directory: Path) -> str:
    return str(directory / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python"))


def has_headers() -> bool:
    return Path(sysconfig.get_path("include"), "Python.h").exists()


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


def install_packages() -> bool:
    """Debian's missing packages, where this is Debian, the system's own Python, and we are root."""
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0 or not sys.executable.startswith("/usr/bin/"):
        return False
    print(f"installing {' '.join(PACKAGES)}", flush=True)
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    commands = ([apt, "update", "-qq"], [apt, "install", "-y", "-qq", "--no-install-recommends", *PACKAGES])
    return all(subprocess.run(command, check=False, env=environment).returncode == 0 for command in commands)


def requirements() -> list[str]:
    """The build requirements of pyproject.toml: its first list (tomllib is not there before Python 3.11)."""
    text = (Path(__file__).parent / "pyproject.toml").read_text(encoding="utf-8")
    listed = text.split("requires = [", 1)[1].split("]", 1)[0]
    return [item.strip().strip('"') for item in listed.replace('",', '"\n').splitlines() if item.strip()]


def main() -> int:
    directory = Path(sys.argv[1])
    ready = has_headers() and make(directory)
    if not ready and install_packages():
        ready = has_headers() and make(directory)
    if not ready:
        what = "can make no virtual environment with pip" if has_headers() else "has no headers (Python.h)"
        print(f"{sys.executable} {what}; {ADVICE}", file=sys.stderr)
        return 1
    command = [interpreter(directory), "-m", "pip", "install", "--quiet", "--upgrade", "pip", "wheel", *requirements()]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
