"""setup.py and bootstrap.py: modules, compiler and processor."""

import json
import os
import re
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from core_ext.processor import TARGET, choose_level, missing_instructions, processor_error
from tests.programs import ROOT, output_of, run_command

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


PROBES = ["_nnue_kernels.pyx", "_nnue_portable.pyx", "_nnue_probe.pyx", "_probe.pyx"]


@pytest.mark.parametrize("probes, expected", [("", []), ("1", PROBES)])
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
    done = run_command(
        [sys.executable, "-c", PROGRAM],
        input=f"instructions_used(['{compiler}'], ARCH)",
        env=os.environ | {"CORE_EXT_SKIP": "1"},
    )
    assert done.returncode == 1 and done.stderr.startswith(reason) and done.stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="setuptools looks for MSVC by itself")
@pytest.mark.parametrize("compiler", ["/no/such/compiler", "false"])
def test_no_environment_is_made_without_a_working_compiler(compiler: str, tmp_path: Path) -> None:
    """One line of error. macOS has a compiler that fails until the developer tools are installed."""
    made = tmp_path / "環境 1"
    done = run_command([sys.executable, "bootstrap.py", str(made)], env=os.environ | {"CC": f"{compiler} -O2"})
    assert (done.returncode, made.exists(), done.stdout, done.stderr.count("\n")) == (1, False, "", 1)
    assert done.stderr.startswith(f"there is no C compiler '{compiler}'; ")


def test_an_old_python_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    names = runpy.run_path(str(ROOT / "bootstrap.py"))
    assert [text.split(">")[0] for text in names["requirements"]()] == ["setuptools", "cython", "babel"]
    monkeypatch.setattr(sys, "version_info", (3, 9, 1))
    assert names["main"]() == 1
    assert "3.9.1" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="asks gcc or clang")
def test_instruction_sets_of_a_target() -> None:
    if os.uname().machine == "x86_64":
        assert {"AVX2", "BMI2", "LZCNT", "POPCNT"} <= set(evaluate("instructions_used(['cc'], 'x86-64-v3')"))
    assert "AVX2" not in evaluate("instructions_used(['cc'], 'portable')")


CPUINFO = {"LZCNT": "abm", "BMI": "bmi1", "SSE3": "pni", "AVX512VNNI": "avx512_vnni", "AVX512VBMI2": "avx512_vbmi2",
           "AVX512BITALG": "avx512_bitalg", "AVX512VPOPCNTDQ": "avx512_vpopcntdq", "AVXVNNI": "avx_vnni",
           "AVXIFMA": "avx_ifma", "DOTPROD": "asimddp"}  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/cpuinfo")
def test_instruction_sets_are_those_that_linux_finds() -> None:
    found = re.search(r"^(?:flags|Features)\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.M)
    assert found
    wanted = {name for name in evaluate("checked_sets()") if CPUINFO.get(name, name.lower()) in found[1].split()}
    assert {name for name in evaluate("checked_sets()") if missing_instructions([name]) is None} == wanted


def test_this_processor_runs_this_build() -> None:
    assert processor_error() is None
    with pytest.raises(ImportError, match=f"CORE_EXT_LEVEL=none: expected one of {TARGET}"):
        choose_level("none")


def test_a_wheel_runs_the_level_that_is_chosen(tmp_path: Path) -> None:
    core = tmp_path / "core_ext"
    for level in ("low", "high"):
        (core / "levels" / level / "base").mkdir(parents=True)
        (core / "levels" / level / "base" / "__init__.py").write_text(f"NAME = '{level}'")
    (core / "__init__.py").write_text((ROOT / "core_ext" / "__init__.py").read_text(encoding="utf-8"))
    (core / "processor.py").write_text("TARGET = 'high'")
    assert output_of("from core_ext.base import NAME; print(NAME)", cwd=tmp_path) == "high\n"


def test_the_folder_without_python_has_what_its_commands_import() -> None:
    """Every command is imported without the modules that scripts/folder.spec leaves out."""
    spec = (ROOT / "scripts" / "folder.spec").read_text(encoding="utf-8")
    lists = "\n".join(re.findall(r"^(?:LIBRARIES|STANDARD|PROGRAM|COMMANDS) = \[.*?\]$", spec, re.M | re.S))
    output_of(
        f"{lists}\nimport sys, importlib\nsys.modules |= dict.fromkeys(LIBRARIES + STANDARD + PROGRAM)\n"
        "for name in COMMANDS: importlib.import_module(name)"
    )
