"""Compare the signature, the node count of `usi_engine bench`, with the last `Bench: N` line of the history.

    python -m bench.signature [--check]

A commit that changes play ends with `Bench: N`. With --check the exit status is 1 if the counts differ or if no commit
has such a line, as in a shallow clone.
"""

import re
import subprocess
import sys

from bench import ROOT
from bench.command import new_parser


def recounted() -> int:
    """Return the node count of `usi_engine bench`."""
    command = [sys.executable, "-m", "usi_engine", "bench"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return int(done.stdout.split()[1])


def committed() -> int | None:
    """Return N of the latest `Bench: N` in the history; None if there is none."""
    command = ["git", "log", "-1", "--extended-regexp", "--grep=^Bench: [0-9]+$", "--format=%B"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    found = re.findall(r"^Bench: (\d+)$", done.stdout, re.M)
    return int(found[-1]) if found else None


def main() -> int:
    """Print both counts; return the exit status."""
    parser = new_parser(__doc__)
    parser.add_argument("--check", action="store_true", help="exit with status 1 if they differ")
    check = parser.parse_args().check
    now, before = recounted(), committed()
    print(f"signature {now}, in the history: {before or 'none'}")
    if before is None:
        print("no commit has a line `Bench: N`; a shallow clone has too few commits")
    elif now != before:
        print(f"if the change of play is intended, end the commit with: Bench: {now}")
    return int(check and now != before)


if __name__ == "__main__":
    sys.exit(main())
