#!/bin/sh
# Run Python's tests of the core as ARM processors would: cross-compiled, by Debian's CPython for ARM under QEMU.
# `make arm` calls it.
#
#   sh scripts/arm.sh PYTHON [arguments of pytest]
#
# PYTHON is a Python 3.11 of this machine, which compiles. Missing software is installed with apt and pip, the part for
# ARM in build/arm. CORE_EXT_ARCH is armv8-dotprod (default), armv8 or portable. Tests that start processes cannot run,
# because only this script starts QEMU. RUN="-m usi_engine bench" runs a module instead of the tests.
set -eu
native=$(realpath -s "$(command -v "$1")")
shift
cd "$(dirname "$0")/.."
out=$PWD/build/arm
root=$out/root
python=python3.11
export CORE_EXT_ARCH="${CORE_EXT_ARCH:-armv8-dotprod}"
libraries="libpython3.11-minimal libpython3.11-stdlib libpython3.11-dev libc6 libgcc-s1 libstdc++6 zlib1g libexpat1
    libffi8 libssl3 liblzma5 libbz2-1.0 libuuid1 libsqlite3-0"
sudo=sudo
[ "$(id -u)" != 0 ] || sudo=env

install_programs() {
    ! command -v qemu-aarch64 >/dev/null || ! command -v aarch64-linux-gnu-gcc >/dev/null || return 0
    echo "Installing QEMU and the compiler for ARM with apt-get"
    $sudo apt-get -qq update
    $sudo apt-get -qq install --no-install-recommends --yes qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross
}

install_python() {
    [ ! -e "$root/usr/bin/$python" ] || return 0
    echo "Unpacking CPython for ARM in build/arm"
    $sudo dpkg --add-architecture arm64
    $sudo apt-get -qq update
    mkdir -p "$out/debs" "$root"
    # shellcheck disable=SC2086
    (cd "$out/debs" && apt-get -qq download $(printf '%s:arm64 ' $python-minimal $libraries))
    for package in "$out"/debs/*.deb; do dpkg-deb -x "$package" "$root"; done
}

install_packages() {
    [ ! -e "$out/packages/pytest" ] || return 0
    # shellcheck disable=SC2046
    "$native" -m pip install --quiet --target "$out/packages" --python-version 3.11 --only-binary=:all: \
        $(printf -- '--platform manylinux%s_aarch64 ' 2014 _2_17 _2_27 _2_28) \
        numpy rsshogi platformdirs rich pytest hypothesis
}

# distutils takes the compiler and the name of modules from the description of the other Python.
compile() {
    config=_sysconfigdata__aarch64-linux-gnu
    mkdir -p "$out/config"
    cp "$root/usr/lib/$python/$config.py" "$out/config"
    PYTHONPATH="$out/config" _PYTHON_SYSCONFIGDATA_NAME=$config \
        _PYTHON_HOST_PLATFORM=linux-aarch64 CC="${ARM_CC:-aarch64-linux-gnu-gcc}" CORE_EXT_PROBES=1 \
        CFLAGS="-I$root/usr/include/$python -I$root/usr/include" \
        "$native" setup.py --quiet build_ext --inplace
}

install_programs
install_python
install_packages
echo "Compiling the core for ${ARM_CC:-aarch64-linux-gnu-gcc}, $CORE_EXT_ARCH"
compile
# shellcheck disable=SC2086
QEMU_LD_PREFIX=$root PYTHONHOME=$root/usr PYTHONPATH=$out/packages:. \
    exec ${QEMU:-qemu-aarch64} "$root/usr/bin/$python" ${RUN:--m pytest -q -p no:cacheprovider} "$@"
