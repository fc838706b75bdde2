"""The signature: the node count of `usi_engine bench`, compared with the one in the history.

    python -m bench.signature [--check]

A commit that changes play ends with `Bench: N`. Prints both counts; with --check the status is 1 where they differ or
where no commit has such a line (a shallow clone, for one).
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys

from bench import ROOT


def recounted() -> int:
    """The node count of `usi_engine bench` now."""
    command = [sys.executable, "-m", "usi_engine", "bench"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return int(done.stdout.split()[1])


def committed() -> int | None:
    """N of the latest `Bench: N` in the history; None where there is none."""
    command = ["git", "log", "-1", "--extended-regexp", "--grep=^Bench: [0-9]+$", "--format=%B"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    found = re.findall(r"^Bench: (\d+)$", done.stdout, re.M)
    return int(found[-1]) if found else None


def main() -> int:
    """Print both; the status for the shell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="end with status 1 where they differ")
    check = parser.parse_args().check
    now, before = recounted(), committed()
    print(f"signature {now}, in the history: {before or 'none'}")
    if now == before:
        return 0
    if before is None:
        print("no commit has a line `Bench: N`; a shallow clone holds too few")
    else:
        print(f"if play was meant to change, end the commit with: Bench: {now}")
    return int(check)


if __name__ == "__main__":
    sys.exit(main())
