"""What setup.py finds out about compiler and processor."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core_ext.base.processor import processor_error

ROOT = Path(__file__).resolve().parents[2]
# setup.py compiles nothing here; its functions are then asked.
ASK = """
import json, runpy, sys
sys.argv = ["setup.py", "--version"]
names = runpy.run_path("setup.py")
print(json.dumps(eval(sys.stdin.read(), names)))
"""


def asked(expression: str, arch: str = "native") -> Any:
    """What an expression is in setup.py."""
    environment = {**os.environ, "CORE_EXT_SKIP": "1", "CORE_EXT_ARCH": arch}
    command = [sys.executable, "-c", ASK]
    done = subprocess.run(
        command, input=expression, capture_output=True, text=True, check=True, cwd=ROOT, env=environment, timeout=60
    )
    return json.loads(done.stdout.splitlines()[-1])


def test_the_program_of_a_command() -> None:
    """A wrapper such as ccache is a part of it."""
    commands = [["gcc", "-pthread", "-O2"], ["ccache", "gcc", "-O2"], ["cc"]]
    assert asked(f"[program_of(command) for command in {commands}]") == [["gcc"], ["ccache", "gcc"], ["cc"]]


@pytest.mark.skipif(sys.platform == "win32", reason="asks gcc or clang")
def test_instruction_sets_of_a_target() -> None:
    if os.uname().machine == "x86_64":
        assert {"AVX2", "BMI2", "POPCNT"} <= set(asked("instructions_used(['cc'])", "x86-64-v3"))
    assert "AVX2" not in asked("instructions_used(['cc'])", "portable")


def test_every_instruction_set_is_checked() -> None:
    """Each that the build may use has its question in processor.h."""
    header = (ROOT / "core_ext" / "base" / "processor.h").read_text(encoding="ascii")
    assert set(re.findall(r"#ifdef CORE_EXT_NEEDS_(\w+)", header)) == set(asked("INSTRUCTION_SETS"))


def test_this_processor_runs_this_build() -> None:
    assert processor_error() is None
