"""Make a virtual environment with pip and the build requirements: `python3 bootstrap.py DIRECTORY`.

Checks the versions of Python and the compiler first. Then tries venv with ensurepip, virtualenv, and a bare venv into
which the outer pip installs. Debian has venv, the compiler and Python's headers in separate packages: for root, missing
ones are installed; otherwise the error names them.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

LEAST = (3, 10)
PACKAGES = ["python3-venv", "python3-dev", "gcc", "make"]
ADVICE = (
    "run: xcode-select --install"
    if sys.platform == "darwin"
    else f"on Debian or Ubuntu: sudo apt-get install {' '.join(PACKAGES)}"
)


def attempt(*command: str) -> bool:
    try:
        return subprocess.run(command, check=False, capture_output=True).returncode == 0
    except OSError:
        return False


def interpreter(directory: Path) -> str:
    return str(directory / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python"))


def has_headers() -> bool:
    return Path(sysconfig.get_path("include"), "Python.h").exists()


def compiler() -> str:
    """Return the C compiler that setuptools will call, except on Windows, where setuptools finds MSVC itself."""
    return shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")[0]


def missing() -> str | None:
    """Describe what the system lacks; None if nothing is missing."""
    if not has_headers():
        return f"{sys.executable} has no headers (Python.h)"
    if sys.platform != "win32" and not attempt(compiler(), "--version"):  # macOS has a stub that fails
        return f"there is no C compiler '{compiler()}'"
    return None


def make(directory: Path) -> bool:
    """Create the virtual environment; return True if it has an interpreter with pip."""
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
    """Install Debian's packages if this is Debian, the system's own Python, and the user is root."""
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0 or not sys.executable.startswith("/usr/bin/"):
        return False
    print(f"installing {' '.join(PACKAGES)}", flush=True)
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    commands = ([apt, "update", "-qq"], [apt, "install", "-y", "-qq", "--no-install-recommends", *PACKAGES])
    return all(subprocess.run(command, check=False, env=environment).returncode == 0 for command in commands)


def requirements() -> list[str]:
    """Read the build requirements: the first list of pyproject.toml (Python 3.10 has no tomllib)."""
    text = (Path(__file__).parent / "pyproject.toml").read_text(encoding="utf-8")
    listed = text.split("requires = [", 1)[1].split("]", 1)[0]
    return [item.strip().strip('"') for item in listed.replace('",', '"\n').splitlines() if item.strip()]


def prepared(directory: Path) -> bool:
    """Return True if nothing is missing and the virtual environment could be created."""
    return missing() is None and make(directory)


def main() -> int:
    if sys.version_info < LEAST:
        found = ".".join(map(str, sys.version_info[:3]))
        needed = f"Python {'.'.join(map(str, LEAST))} or newer is needed, {sys.executable} is {found}"
        print(f"{needed}; name another Python: make run PYTHON=NAME", file=sys.stderr)
        return 1
    directory = Path(sys.argv[1])
    if not prepared(directory) and not (install_packages() and prepared(directory)):
        what = missing() or f"{sys.executable} cannot make a virtual environment with pip"
        print(f"{what}; {ADVICE}", file=sys.stderr)
        return 1
    command = [interpreter(directory), "-m", "pip", "install", "--quiet", "--upgrade", "pip", "wheel", *requirements()]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
