"""Functions of setup.py: modules, compiler and processor."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import Any

import pytest

from core_ext.base.processor import processor_error
from tests.programs import ROOT, output_of

# Loads setup.py without compiling and evaluates an expression in it.
PROGRAM = """
import json, runpy, sys
sys.argv = ["setup.py", "--version"]
names = runpy.run_path("setup.py")
print(json.dumps(eval(sys.stdin.read(), names)))
"""


def evaluate(expression: str, **variables: str) -> Any:
    """Evaluate an expression in setup.py with these environment variables."""
    environment = {**os.environ, "CORE_EXT_SKIP": "1", "CORE_EXT_PROBES": "", **variables}
    return json.loads(output_of(PROGRAM, input=expression, env=environment).splitlines()[-1])


@pytest.mark.parametrize("probes, expected", [("", []), ("1", ["_nnue_probe.pyx", "_probe.pyx"])])
def test_probes_are_built_on_request_only(probes: str, expected: list[str]) -> None:
    built = evaluate("[path.name for path in modules()]", CORE_EXT_PROBES=probes)
    assert [name for name in built if name.startswith("_")] == expected
    assert "movegen.pyx" in built


def test_compiler_command_without_options() -> None:
    """A wrapper such as ccache belongs to the command."""
    commands = [["gcc", "-pthread", "-O2"], ["ccache", "gcc", "-O2"], ["cc"]]
    assert evaluate(f"[program_of(command) for command in {commands}]") == [["gcc"], ["ccache", "gcc"], ["cc"]]


@pytest.mark.skipif(sys.platform == "win32", reason="asks gcc or clang")
@pytest.mark.parametrize(
    ("compiler", "reason"),
    [("no-compiler", "there is no C compiler 'no-compiler'"), ("false", "false cannot compile for CORE_EXT_ARCH=")],
)
def test_a_compiler_that_cannot_be_used_is_one_line(compiler: str, reason: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=f"instructions_used(['{compiler}'])", cwd=ROOT, check=False,
        capture_output=True, text=True, env={**os.environ, "CORE_EXT_SKIP": "1"},
    )  # fmt: skip
    assert ended.returncode == 1 and ended.stderr.startswith(reason) and ended.stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="asks gcc or clang")
def test_instruction_sets_of_a_target() -> None:
    if os.uname().machine == "x86_64":
        assert {"AVX2", "BMI2", "POPCNT"} <= set(evaluate("instructions_used(['cc'])", CORE_EXT_ARCH="x86-64-v3"))
    assert "AVX2" not in evaluate("instructions_used(['cc'])", CORE_EXT_ARCH="portable")


def test_processor_h_checks_every_instruction_set() -> None:
    header = (ROOT / "core_ext" / "base" / "processor.h").read_text(encoding="ascii")
    assert set(re.findall(r"#ifdef CORE_EXT_NEEDS_(\w+)", header)) == set(evaluate("INSTRUCTION_SETS"))


def test_this_processor_runs_this_build() -> None:
    assert processor_error() is None
