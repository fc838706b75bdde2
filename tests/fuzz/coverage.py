"""Coverage-guided fuzzing of the readers (atheris): `python -m tests.fuzz.coverage --seconds 60 [READER ...]`.

Each reader starts from its kept corpus, tests/data/fuzz/READER.zip, and adds what reaches new code to
build/fuzz/READER, where the next run goes on. `--keep` writes back the small part of both that reaches the same lines.
Only Python is instrumented: in the core the fuzz is blind. A crash, a hang of ten seconds or 2 GB ends the run.
"""

import argparse
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
KEPT, FOUND = ROOT / "tests" / "data" / "fuzz", ROOT / "build" / "fuzz"
LIMITS = ["-timeout=10", "-rss_limit_mb=2048", "-max_len=8192", "-verbosity=0", "-print_final_stats=0"]
PROGRAM = f"{os.sep}usi_engine{os.sep}"
TIME = (1980, 1, 1, 0, 0, 0)  # of the files in a kept corpus, so that the same corpus gives the same bytes


def read_corpus(reader: str) -> list[tuple[str, bytes]]:
    """Return the kept inputs of a reader."""
    path = KEPT / f"{reader}.zip"
    if not path.exists():
        return []
    with zipfile.ZipFile(path) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def unpack(reader: str) -> Path:
    """Put the kept corpus beside the inputs that earlier runs have found."""
    folder = FOUND / reader
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in read_corpus(reader):
        (folder / name).write_bytes(data)
    return folder


def fuzz(arguments: list[str], reader: str) -> None:
    """Fuzz a reader in this process, which ends with the run."""
    import atheris  # noqa: PLC0415  (only here: make test does without it)

    with atheris.instrument_imports(include=["usi_engine"]):
        from tests.fuzz.targets import TARGETS  # noqa: PLC0415

    atheris.Setup([sys.argv[0], *arguments], TARGETS[reader])
    atheris.Fuzz()


def run(reader: str, *arguments: str) -> int:
    """Fuzz a reader in another process; a failing input is left in build/fuzz."""
    command = [sys.executable, "-m", "tests.fuzz.coverage", "--inside", reader, *LIMITS, *arguments]
    prefix = f"-artifact_prefix={FOUND / reader}-"
    return subprocess.run([*command, prefix], cwd=ROOT, check=False).returncode


def lines_reached(target: Callable[[bytes], None], data: bytes) -> set[tuple[str, int]]:
    """Return the lines of the program that the target reaches with the data."""
    found = set[tuple[str, int]]()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        found.add((frame.f_code.co_filename, frame.f_lineno))
        return trace if PROGRAM in frame.f_code.co_filename else None

    sys.settrace(trace)
    try:
        target(data)
    finally:
        sys.settrace(None)
    return {(name, line) for name, line in found if PROGRAM in name}


def keep(reader: str, target: Callable[[bytes], None]) -> None:
    """Write the inputs that reach a line that no smaller one reaches."""
    kept, reached = list[bytes](), set[tuple[str, int]]()
    for data in sorted((path.read_bytes() for path in unpack(reader).iterdir()), key=lambda data: (len(data), data)):
        found = lines_reached(target, data)
        kept += [data] * (not found <= reached)
        reached |= found
    KEPT.mkdir(exist_ok=True)
    with zipfile.ZipFile(KEPT / f"{reader}.zip", "w") as archive:
        for number, data in enumerate(kept):
            archive.writestr(zipfile.ZipInfo(f"{number:03}", TIME), data, zipfile.ZIP_DEFLATED, 9)


def main(words: list[str]) -> int:
    """Fuzz all readers, or those named, for a share of the time each; return 1 if one failed."""
    if words[:1] == ["--inside"]:
        fuzz(words[2:], words[1])
    from tests.fuzz.targets import TARGETS  # noqa: PLC0415  (inside, it is instrumented first)

    parser = argparse.ArgumentParser("python -m tests.fuzz.coverage", description=__doc__)
    parser.add_argument("readers", nargs="*", metavar="READER", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--keep", action="store_true")
    chosen = parser.parse_args(words)
    readers = chosen.readers or list(TARGETS)
    seconds = max(chosen.seconds // len(readers), 1)
    failed = [reader for reader in readers if run(reader, str(unpack(reader)), f"-max_total_time={seconds}")]
    for reader in readers if chosen.keep else []:
        keep(reader, TARGETS[reader])
    print(f"{len(readers)} readers, {seconds} s each; failed: {', '.join(failed) or 'none'}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
