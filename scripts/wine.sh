#!/bin/sh
# The tests as Windows runs them: the core compiled by mingw-w64, CPython for Windows under Wine.
#
#   sh scripts/wine.sh /path/to/windows/python [arguments of pytest]
#
# The folder holds python.exe, include/, libs/ and Lib/ as the installer from python.org leaves them, version 3.11, and
# in Lib/site-packages, for win_amd64, numpy (below 2 for Wine 8) and what the extra `test` names. Needs `make build` and
# Debian's gcc-mingw-w64-x86-64 and wine64. It does not replace a test on Windows with MSVC, but Python and the pipes
# are the same. (Last run with 3.11.9, Wine 8 and a pyconfig.h written by hand, before the core had folders.)
set -eu
python=$(realpath "$1")
shift
root=$(realpath "$(dirname "$0")/..")
out=$root/build/wine
mkdir -p "$out/core_ext"
cd "$root"
for name in usi_engine tests bench docs scripts *.md .github .ci LICENSE MANIFEST.in Makefile \
    pyproject.toml setup.py; do
    rm -rf "${out:?}/$name"
    cp -r "$root/$name" "$out/$name"
done
# Everything of the core but the modules compiled for this machine, in the same folders.
(cd "$root" && find core_ext \( -name '*.py*' -o -name '*.pxd' -o -name '*.h' -o -name py.typed \) -print0 |
    xargs -0 cp --parents -t "$out")

# Any processor that runs this has what x86-64-v3 asks for, or the core says which of these it lacks.
needs="-DCORE_EXT_NEEDS_POPCNT -DCORE_EXT_NEEDS_SSE4_2 -DCORE_EXT_NEEDS_AVX2 -DCORE_EXT_NEEDS_BMI2"
sources=$root/build/release-native/cython
for name in $(cd "$sources" && find core_ext -name '*.c'); do
    source=$sources/$name
    module=$out/${name%.c}.cp311-win_amd64.pyd
    target=-march=x86-64-v3
    [ "$name" != core_ext/base/processor.c ] || target=$needs
    # shellcheck disable=SC2086
    [ "$module" -nt "$source" ] || x86_64-w64-mingw32-gcc -shared -O3 -std=gnu11 -fwrapv -DNDEBUG -fvisibility=hidden \
        -DMS_WIN64 -DCORE_EXT_LEVEL=3 $target -I"$python/include" -I"$root/core_ext" -I"$root" "$source" -o "$module" \
        -L"$python/libs" -lpython311 -static-libgcc
done
cd "$out"
# Wine wants an input that is open and an output that is no file.
WINEDEBUG=${WINEDEBUG:--all} wine "$python/python.exe" -m pytest -p no:cacheprovider "$@" </dev/null 2>&1 | cat
