"""Build the Cython core: one module for each `.pyx` below core_ext.

Environment:
    CORE_EXT_PROFILE   release (default), debug (C asserts, bounds checks, -O1 -g), coverage (gcov counts, -O1)
    CORE_EXT_ARCH      target CPU: native (default), a level of LEVELS, all levels in a wheel (levels), or portable (no
                       intrinsic, no -march)
    CORE_EXT_SANITIZE  address adds AddressSanitizer and UndefinedBehaviorSanitizer, thread adds ThreadSanitizer (gcc
                       and clang)
    CORE_EXT_WERROR    1 turns compiler warnings into errors
    CORE_EXT_PROBES    1 also builds the test modules (core_ext/_*.pyx), which tests and benches need
    CORE_EXT_SKIP      1 compiles nothing, for an editable installation if `build_ext --inplace` compiles the core

Each combination of profile, target and sanitizer has its own build directory: switching recompiles nothing.
"""

import copy
import ctypes
import io
import itertools
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Collection
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

MACHINE = sysconfig.get_platform().rpartition("-")[2]  # the target's, such as x86_64, amd64 or universal2
if MACHINE == "universal2":
    MACHINE = platform.machine()
X86 = MACHINE.lower() in ("x86_64", "amd64")
# Levels of instructions, the lowest first, with the flags of gcc and clang. A wheel has the core once for each.
LEVELS = {
    "x86-64-v2": "-march=x86-64-v2",
    "x86-64-v3": "-march=x86-64-v3",
    "x86-64-v3-vnni": "-march=x86-64-v3 -mavxvnni",
    "x86-64-v4-vnni": "-march=x86-64-v4 -mavx512vnni",
} if X86 else {"armv8": "-march=armv8-a", "armv8-dotprod": "-march=armv8.2-a+dotprod"}  # fmt: skip
if sys.platform == "darwin":
    LEVELS.pop("armv8", None)  # every Mac with ARM has dot products
    os.environ.setdefault("ARCHFLAGS", f"-arch {MACHINE}")  # Python itself may be for both processors
ARCHITECTURES = {"native", "portable", "levels", *LEVELS}
CORE = Path("core_ext")
PROCESSOR = "core_ext.processor"

# The flags of each sanitizer, for compiler and linker.
SANITIZERS = {
    "": [],
    "address": ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"],
    "thread": ["-fsanitize=thread"],
}

PF_AVX2 = 40  # PF_AVX2_INSTRUCTIONS_AVAILABLE in winnt.h

# MSVC has a switch for AVX2 and one for AVX-512, macros for the sets that these bring, and all intrinsics. The other
# macros are defined here, as gcc does.
MSVC_V2 = ["SSE3", "SSSE3", "SSE4_1", "SSE4_2", "POPCNT"]
MSVC_V3 = [*MSVC_V2, "FMA", "LZCNT", "BMI", "BMI2", "AVX", "AVX2"]
MSVC_AVX512 = ["AVX512F", "AVX512CD", "AVX512BW", "AVX512DQ", "AVX512VL"]
MSVC_LEVELS = {
    "x86-64-v2": ([], MSVC_V2),
    "x86-64-v3": (["/arch:AVX2"], MSVC_V3),
    "x86-64-v3-vnni": (["/arch:AVX2"], [*MSVC_V3, "AVXVNNI"]),
    "x86-64-v4-vnni": (["/arch:AVX512"], [*MSVC_V3, *MSVC_AVX512, "AVX512VNNI"]),
    "armv8-dotprod": (["/arch:armv8.2"], ["DOTPROD"]),
}
MSVC_MACROS = {"AVX", "AVX2", *MSVC_AVX512}  # defined by /arch

# Warnings about code that Cython generates for any source.
CYTHON_WARNINGS = [
    "unused-parameter", "missing-field-initializers", "unused-function", "cast-function-type", "sign-compare",
]  # fmt: skip


def choice(variable: str, default: str, allowed: Collection[str]) -> str:
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
    found = list[tuple[str, str | None]]()
    if ARCH == "portable":
        found.append(("CORE_EXT_PORTABLE", None))
    if PROFILE == "debug":
        found.append(("CORE_EXT_DEBUG", None))
    return found


def program_of(command: list[str]) -> list[str]:
    """Return the compiler without its options: one word, or two as in `ccache gcc`."""
    return list(itertools.takewhile(lambda word: not word.startswith("-"), command))


def checked_sets() -> list[str]:
    """Return the instruction sets of this family of processors that processor.h can check."""
    found = re.findall(r'{"(\w+)", ', (CORE / "processor.h").read_text(encoding="ascii"))
    return [name for name in found if (name != "DOTPROD") == X86]


def macro_of(name: str) -> str:
    """Return gcc's and clang's macro of an instruction set."""
    return f"__{name}__" if X86 else f"__ARM_FEATURE_{name}"


def instructions_used(compiler: list[str], level: str) -> list[str]:
    """Return the instruction sets that gcc or clang may use at the level: it defines a macro for each."""
    command = [*compiler, *level_flags(level), "-dM", "-E", "-x", "c", os.devnull]
    try:
        defined = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    except FileNotFoundError:
        raise SystemExit(f"there is no C compiler {command[0]!r}") from None
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"{command[0]} cannot compile for CORE_EXT_ARCH={level}: {error.stderr.strip()}") from None
    return [name for name in checked_sets() if macro_of(name) in defined]


def msvc_target(level: str) -> tuple[list[str], list[str]]:
    """Return MSVC's switches and instruction sets. It has no `native`: ask Windows if the machine has AVX2."""
    if level == "native" and X86 and sys.platform == "win32":
        has_avx2 = ctypes.windll.kernel32.IsProcessorFeaturePresent(PF_AVX2)
        level = "x86-64-v3" if has_avx2 else "x86-64-v2"
    return MSVC_LEVELS.get(level, ([], []))


def level_flags(level: str) -> list[str]:
    """Return the flags of gcc and clang for the target CPU."""
    if level == "native":
        return ["-march=native" if X86 else "-mcpu=native"]
    return LEVELS[level].split() if level in LEVELS else []


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


def msvc_flags() -> list[str]:
    flags = ["/O2", "/W3"] if PROFILE == "release" else ["/O1", "/Zi", "/UNDEBUG", "/W3"]
    return flags + ["/std:c11"] + ["/WX"] * WERROR


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
        """Compile the core for each level, then the module that chooses one, for any processor."""
        if ARCH == "levels" and (self.inplace or self.editable_mode):
            raise SystemExit("CORE_EXT_ARCH=levels is for wheels")
        everything, folder = self.extensions, self.build_temp
        needs = {level: ",".join(self.target(level)[1]) for level in (LEVELS if ARCH == "levels" else [ARCH])}
        for level in needs:
            self.build_temp = os.path.join(folder, level) if ARCH == "levels" else folder
            self.extensions = [self.at_level(part, level) for part in everything if part.name != PROCESSOR]
            super().build_extensions()
            if ARCH == "levels":
                self.copy_packages(level)
        levels = " ".join(f"{level}={sets}" for level, sets in needs.items())
        self.build_temp = folder
        self.extensions = [self.at_level(part, "portable") for part in everything if part.name == PROCESSOR]
        for part in self.extensions:
            part.define_macros = [*part.define_macros, ("CORE_EXT_LEVELS", f'"{levels}"')]
        super().build_extensions()
        self.extensions = everything

    def target(self, level: str) -> tuple[list[str], list[str]]:
        """Return the compiler's flags for the target CPU and the instruction sets that it then uses."""
        if self.compiler.compiler_type == "msvc":
            return msvc_target(level)
        return level_flags(level), instructions_used(program_of(self.compiler.compiler_so), level)

    def at_level(self, extension: Extension, level: str) -> Extension:
        """Return the extension for the level; in a wheel it is in a folder of the level."""
        found, (flags, sets) = copy.copy(extension), self.target(level)
        if self.compiler.compiler_type == "msvc":
            missing = [(macro_of(name), "1") for name in sets if name not in MSVC_MACROS]
            found.define_macros = extension.define_macros + missing
            found.extra_compile_args = msvc_flags() + flags
        else:
            found.extra_compile_args = unix_flags() + flags
            strip = ["-Wl,-s"] * (ARCH == "levels" and sys.platform == "linux")
            found.extra_link_args = instruments() + strip
        if extension.name == "core_ext._nnue_portable":
            found.define_macros = [*found.define_macros, ("CORE_EXT_PORTABLE", None)]
        if level in LEVELS and ARCH == "levels":
            found.name = extension.name.replace("core_ext.", f"core_ext.levels.{level}.", 1)
        return found

    def copy_packages(self, level: str) -> None:
        """Copy the modules in Python of the core's packages beside the compiled ones of the level."""
        for path in CORE.glob("*/**/*.py"):
            target = Path(self.build_lib, CORE, "levels", level, path.relative_to(CORE))
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)

    def copy_extensions_to_source(self) -> None:
        """Copy unconditionally: the source tree may contain a newer file of another profile."""
        force, self.force = self.force, True
        super().copy_extensions_to_source()
        self.force = force


def modules(probes: bool = PROBES) -> list[Path]:
    """Return the `.pyx` files below core_ext; each is a module. Test modules begin with an underscore."""
    return sorted(path for path in CORE.rglob("*.pyx") if probes or not path.name.startswith("_"))


def declare_constants() -> None:
    """Generate tune.pxd from the list in tune.h; an unchanged file stays, so that nothing is compiled again."""
    folder = CORE / "search"
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
