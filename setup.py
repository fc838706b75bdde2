"""Build the Cython core: one module for each `.pyx` below core_ext.

Environment:
    CORE_EXT_PROFILE   release (default), debug (C asserts, bounds checks, -O1 -g), coverage (gcov counts, -O1)
    CORE_EXT_ARCH      target CPU: native (default), x86-64-v2, x86-64-v3, or portable (no intrinsic, no -march)
    CORE_EXT_SANITIZE  address adds AddressSanitizer and UndefinedBehaviorSanitizer, thread adds ThreadSanitizer (gcc
                       and clang)
    CORE_EXT_WERROR    1 turns compiler warnings into errors
    CORE_EXT_PROBES    1 also builds the test modules (core_ext/_*.pyx), which tests and benches need
    CORE_EXT_SKIP      1 compiles nothing, for an editable installation if `build_ext --inplace` compiles the core

Each combination of profile, target and sanitizer has its own build directory: switching recompiles nothing.
"""

import ctypes
import io
import itertools
import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext

# Directives that change the meaning of the source; the same in every profile.
DIRECTIVES = {
    "language_level": 3,
    "cdivision": True,
    "wraparound": False,
    "binding": True,
    "embedsignature": True,
    "overflowcheck": False,
}
# Run-time checks: the only directives that a profile may change.
CHECKED = {"boundscheck": True, "initializedcheck": True, "nonecheck": True}
UNCHECKED = dict.fromkeys(CHECKED, False)
CHECKS = {"release": UNCHECKED, "debug": CHECKED, "coverage": UNCHECKED}
# CORE_EXT_LEVEL: simd.h and vectors.h need it under MSVC, which has no macros for SSE4.1 and POPCNT.
ARCHITECTURES = {"native": 0, "portable": 1, "x86-64-v2": 2, "x86-64-v3": 3}

# The flags of each sanitizer, for compiler and linker.
SANITIZERS = {
    "": [],
    "address": ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"],
    "thread": ["-fsanitize=thread"],
}

PF_AVX2 = 40  # PF_AVX2_INSTRUCTIONS_AVAILABLE in winnt.h

# Warnings about code that Cython generates for any source.
CYTHON_WARNINGS = [
    "unused-parameter", "missing-field-initializers", "unused-function", "cast-function-type", "sign-compare",
]  # fmt: skip


def choice(variable: str, default: str, allowed: Mapping[str, object]) -> str:
    value = os.environ.get(variable, default)
    if value not in allowed:
        raise SystemExit(f"{variable}={value}: expected one of {', '.join(allowed)}")
    return value


PROFILE = choice("CORE_EXT_PROFILE", "release", CHECKS)
ARCH = choice("CORE_EXT_ARCH", "native", ARCHITECTURES)
SANITIZE = choice("CORE_EXT_SANITIZE", "", SANITIZERS)
WERROR = os.environ.get("CORE_EXT_WERROR") == "1"
PROBES = os.environ.get("CORE_EXT_PROBES") == "1"
SKIP = os.environ.get("CORE_EXT_SKIP") == "1"
BUILD_BASE = os.path.join("build", "-".join([PROFILE, ARCH] + [SANITIZE] * bool(SANITIZE)))


def macros() -> list[tuple[str, str | None]]:
    found: list[tuple[str, str | None]] = [("CORE_EXT_LEVEL", str(ARCHITECTURES[ARCH]))]
    if ARCH == "portable":
        found.append(("CORE_EXT_PORTABLE", None))
    if PROFILE == "debug":
        found.append(("CORE_EXT_DEBUG", None))
    return found


# Instruction sets that processor.h checks before the core runs, as gcc and clang name them.
INSTRUCTION_SETS = [
    "POPCNT", "SSE4_2", "AVX", "AVX2", "FMA", "BMI", "BMI2", "AVX512F", "AVX512VL", "AVX512BW", "AVX512VBMI",
    "AVX512VNNI",
]  # fmt: skip


def program_of(command: list[str]) -> list[str]:
    """Return the compiler without its options: one word, or two as in `ccache gcc`."""
    return list(itertools.takewhile(lambda word: not word.startswith("-"), command))


def instructions_used(compiler: list[str]) -> list[str]:
    """Return the instruction sets that gcc or clang may use with our flags: it defines a macro for each."""
    command = [*compiler, *target_flags(), "-dM", "-E", "-x", "c", os.devnull]
    try:
        defined = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    except FileNotFoundError:
        raise SystemExit(f"there is no C compiler {command[0]!r}") from None
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"{command[0]} cannot compile for CORE_EXT_ARCH={ARCH}: {error.stderr.strip()}") from None
    return [name for name in INSTRUCTION_SETS if f"__{name}__" in defined]


def msvc_level() -> str:
    """Return the target CPU for MSVC, which has no `native`: ask Windows if the machine has AVX2."""
    if ARCH == "native" and sys.platform == "win32" and ctypes.windll.kernel32.IsProcessorFeaturePresent(PF_AVX2):
        return "x86-64-v3"
    return ARCH


def msvc_instructions() -> list[str]:
    return {"x86-64-v3": ["POPCNT", "SSE4_2", "AVX2", "BMI2"], "x86-64-v2": ["POPCNT", "SSE4_2"]}.get(msvc_level(), [])


def target_flags() -> list[str]:
    """Return the flags of gcc and clang for the target CPU."""
    x86 = platform.machine().lower() in ("x86_64", "amd64")
    if ARCH == "native":
        return ["-march=native" if x86 else "-mcpu=native"]
    return [] if ARCH == "portable" else [f"-march={ARCH}"]


def unix_flags() -> list[str]:
    """Return the flags of gcc and clang except those of target_flags."""
    by_profile = {"debug": ["-O1", "-g", "-UNDEBUG"], "coverage": ["-O1", "-g0"]}
    flags = by_profile.get(PROFILE, ["-O3", "-g0"])
    flags += ["-std=c11", "-fvisibility=hidden", "-Wall", "-Wextra"] + [f"-Wno-{name}" for name in CYTHON_WARNINGS]
    flags += ["-Werror"] * WERROR
    return flags + instruments() + ["-fno-omit-frame-pointer"] * bool(SANITIZE)


def instruments() -> list[str]:
    """Return the flags that both the compiler and the linker need."""
    return ["--coverage"] * (PROFILE == "coverage") + SANITIZERS[SANITIZE]


def msvc_flags(target: bool = True) -> list[str]:
    flags = ["/O2", "/W3"] if PROFILE == "release" else ["/O1", "/Zi", "/UNDEBUG", "/W3"]
    flags += ["/std:c11"] + ["/WX"] * WERROR
    return flags + (["/arch:AVX2"] if target and msvc_level() == "x86-64-v3" else [])


class Build(build):
    """`build` in the directory of this profile and target CPU."""

    def initialize_options(self) -> None:
        super().initialize_options()
        self.build_base = BUILD_BASE


class BuildExt(build_ext):
    """`build_ext` with the flags of each compiler, several files at a time."""

    def finalize_options(self) -> None:
        super().finalize_options()
        if self.inplace and not self.editable_mode:
            # A wheel contains every file of its build_lib, so the test modules must not be there.
            self.build_lib = os.path.join(BUILD_BASE, "inplace")
        if self.parallel is None:
            self.parallel = os.cpu_count() or 1

    def build_extensions(self) -> None:
        msvc = self.compiler.compiler_type == "msvc"
        used = msvc_instructions() if msvc else instructions_used(program_of(self.compiler.compiler_so))
        for extension in self.extensions:
            extension.extra_compile_args = msvc_flags() if msvc else unix_flags() + target_flags()
            if extension.name == "core_ext._nnue_portable":
                extension.define_macros += [("CORE_EXT_PORTABLE", None)]
            if extension.name == "core_ext.base.processor":
                # This module must run on any processor: it reports that the processor is too old.
                extension.extra_compile_args = msvc_flags(target=False) if msvc else unix_flags()
                extension.define_macros += [
                    (f"CORE_EXT_NEEDS_{name}", str(int(name in used))) for name in INSTRUCTION_SETS
                ]
                extension.define_macros += [("CORE_EXT_TARGET", ARCH)]
            extension.extra_link_args = [] if msvc else instruments()
        super().build_extensions()

    def copy_extensions_to_source(self) -> None:
        """Copy unconditionally: the source tree may contain a newer file of another profile."""
        force, self.force = self.force, True
        super().copy_extensions_to_source()
        self.force = force


def modules(probes: bool = PROBES) -> list[Path]:
    """Return the `.pyx` files below core_ext; each is a module. Test modules begin with an underscore."""
    return sorted(path for path in Path("core_ext").rglob("*.pyx") if probes or not path.name.startswith("_"))


def declare_constants() -> None:
    """Generate tune.pxd from the list in tune.h; an unchanged file stays, so that nothing is compiled again."""
    folder = Path("core_ext", "search")
    names = re.findall(r"^    X\((\w+),", (folder / "tune.h").read_text(encoding="utf-8"), re.M)
    lines = [
        '"""The constants of tune.h, as fields of `tune`. Generated by setup.py."""',
        "",
        'cdef extern from "search/tune.h" nogil:',
        "    ctypedef struct Tune:",
        *(f"        int {name}" for name in names),
        "",
        "cdef Tune tune",
    ]
    text, path = "\n".join(lines) + "\n", folder / "tune.pxd"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def compile_catalogs() -> None:
    """Compile the texts of each language beside their source; a wheel contains the result."""
    for source in (Path(__file__).parent / "usi_engine" / "locale").rglob("*.po"):
        target, compiled = source.with_suffix(".mo"), io.BytesIO()
        with source.open("rb") as texts:
            write_mo(compiled, read_po(texts))
        if not target.exists() or target.read_bytes() != compiled.getvalue():
            target.write_bytes(compiled.getvalue())


def extensions(annotate: bool = False) -> list[Extension]:
    """Translate the modules into C.

    `annotate` writes them to build/annotate, each with a page that shows which lines call Python.
    """
    declare_constants()
    found = [
        Extension(
            ".".join(path.with_suffix("").parts), [path.as_posix()], include_dirs=["core_ext"], define_macros=macros()
        )
        for path in modules()
    ]
    return cythonize(
        found,
        build_dir=os.path.join("build", "annotate") if annotate else os.path.join(BUILD_BASE, "cython"),
        annotate=annotate,
        force=annotate,
        compiler_directives=DIRECTIVES | CHECKS[PROFILE],
        # A spawned (not forked) worker process would run this file again.
        nthreads=(os.cpu_count() or 1) if sys.platform == "linux" else 0,
        emit_linenums=PROFILE == "coverage",
        quiet="--quiet" in sys.argv,
    )


if __name__ == "__main__":
    compile_catalogs()
    setup(ext_modules=[] if SKIP else extensions(), cmdclass={"build": Build, "build_ext": BuildExt})
