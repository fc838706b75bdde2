"""The bench's node count against the one that the last commit to change play wrote down."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from usi_engine.core import INTERNAL, load_core
from usi_engine.tools.bench import bench
from usi_engine.weights import internal_path

ROOT = Path(__file__).resolve().parents[2]


def committed_signature() -> int:
    """N of the latest `Bench: N`; the test is skipped where no history is at hand."""
    command = ["git", "log", "-1", "--extended-regexp", "--grep=^Bench: [0-9]+$", "--format=%B"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no git history here")
    found = re.findall(r"^Bench: (\d+)$", done.stdout, re.M)
    if not found:
        pytest.skip("no commit in this history has a Bench line")
    return int(found[-1])


@pytest.mark.skipif(not os.environ.get("CI"), reason="work in progress may play differently; CI recounts")
def test_signature_is_the_committed_one() -> None:
    if not internal_path().exists():
        pytest.skip("no weights in the package")
    expected, core = committed_signature(), load_core()
    assert int(bench(core, core.load_weights(INTERNAL)).split()[1]) == expected
