"""Mate problems solved by `go movetime`, as in a game, not by `go mate`.

    python -m bench.strength.mates_in_play [FILE] [--time 1000] [--longest 7] [--options Tune_MateScout=0 ...]

FILE: length, sfen and a solution a line (tests/data/mate_problems.tsv). Prints by length how many mates were reported,
how many of the length in the file and how many shorter (which proves that the file's is not the shortest),
and the time spent. Ends with status 1 where a mate is missed or a longer one reported.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from bench import MATE_PROBLEMS
from bench.speed.mate import read
from bench.table import progress

MATE = re.compile(r"score mate (-?\d+)")


class Engine:
    """A USI engine of this installation over pipes; as a context manager it ends at the end."""

    def __init__(self, options: list[str]) -> None:
        command = [sys.executable, "-m", "usi_engine"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.ask("usi", "usiok")
        for option in options:
            name, _, value = option.partition("=")
            self.send(f"setoption name {name} value {value}")
        self.ask("isready", "readyok")

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate("quit\n")

    @property
    def pid(self) -> int:
        """Of its process."""
        return self._process.pid

    def send(self, line: str) -> None:
        """One command."""
        if self._process.stdin is None:
            raise RuntimeError("the engine has no input")
        self._process.stdin.write(line + "\n")

    def ask(self, line: str, end: str) -> list[str]:
        """The engine's lines up to the one that begins with `end`. RuntimeError where it ends before that."""
        self.send(line)
        received: list[str] = []
        for text in self._process.stdout or ():
            received.append(text.strip())
            if text.startswith(end):
                return received
        raise RuntimeError(f"the engine ended before '{end}'")

    def mate(self, sfen: str, milliseconds: int) -> int | None:
        """Plies to the mate that the last line of the search reports; None where it reports none."""
        self.send("usinewgame")
        self.send(f"position sfen {sfen}")
        lines = self.ask(f"go movetime {milliseconds}", "bestmove")
        scores = [line for line in lines if " score " in line]
        found = MATE.search(scores[-1]) if scores else None
        return int(found[1]) if found and int(found[1]) > 0 else None


def run(arguments: argparse.Namespace) -> int:
    """Every problem up to the longest; the status for the shell."""
    problems = [(length, sfen) for length, sfen in read(arguments.file) if length <= arguments.longest]
    counts, spent = Counter[tuple[int, str]](), Counter[int]()
    bar = progress(len(problems), "problem")
    with Engine(["Threads=1", "USI_OwnBook=false", *arguments.options]) as engine:
        for length, sfen in problems:
            begun = time.monotonic()
            plies = engine.mate(sfen, arguments.time)
            spent[length] += round((time.monotonic() - begun) * 1000)
            counts[length, compared(plies, length)] += 1
            bar.update()
    bar.close()
    for length in sorted(spent):
        row = ", ".join(f"{counts[length, word]} {word}" for word in ("equal", "shorter", "longer", "missed"))
        print(f"mate in {length}: {row}; {spent[length] / 1000:.1f} s")
    failed = sum(count for (_, word), count in counts.items() if word in ("longer", "missed"))
    print(f"{len(problems)} problems, {failed} missed or longer than the file's")
    return 1 if failed else 0


def compared(plies: int | None, length: int) -> str:
    """One word for a reported mate: its length against the file's."""
    if plies is None:
        return "missed"
    return "equal" if plies == length else "shorter" if plies < length else "longer"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, default=MATE_PROBLEMS)
    parser.add_argument("--time", type=int, default=1000, help="milliseconds a problem")
    parser.add_argument("--longest", type=int, default=7, help="plies")
    parser.add_argument("--options", nargs="*", default=[], metavar="NAME=VALUE")
    return run(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
