"""Coverage-guided fuzzing of the readers (atheris): `python -m tests.fuzz.coverage --seconds 60 [READER ...]`.

Each reader starts from its kept corpus, tests/data/fuzz/READER.zip, and adds what reaches new code to
build/fuzz/READER, where the next run goes on. `--keep` writes the smallest part of both with the same coverage back.
Only Python is instrumented: in the core the fuzz is blind. A crash, a hang of ten seconds or 2 GB ends the run.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEPT, FOUND = ROOT / "tests" / "data" / "fuzz", ROOT / "build" / "fuzz"
LIMITS = ["-timeout=10", "-rss_limit_mb=2048", "-max_len=8192", "-verbosity=0", "-print_final_stats=0"]
TIME = (1980, 1, 1, 0, 0, 0)  # of the files in a kept corpus, so that the same corpus gives the same bytes


def corpus_of(reader: str) -> list[tuple[str, bytes]]:
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
    for name, data in corpus_of(reader):
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


def keep(reader: str) -> None:
    """Write the inputs that reach all code that any reaches, smallest first."""
    small = FOUND / f"{reader}.small"
    small.mkdir(parents=True, exist_ok=True)
    run(reader, "-merge=1", str(small), str(unpack(reader)))
    KEPT.mkdir(exist_ok=True)
    with zipfile.ZipFile(KEPT / f"{reader}.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in sorted(small.iterdir()):
            archive.writestr(zipfile.ZipInfo(path.name, TIME), path.read_bytes(), zipfile.ZIP_DEFLATED)


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
        keep(reader)
    print(f"{len(readers)} readers, {seconds} s each; failed: {', '.join(failed) or 'none'}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
