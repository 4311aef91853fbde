#!/usr/bin/env bash
# ./poet ARGS...: builds the program if need be, then runs it in the caller's folder.
set -euo pipefail
root=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd -P)
# shellcheck source=tools/setup.sh
source "$root/tools/setup.sh"

program_is_current || set_up program
set_up_for "$@"
# CBC may bring in a BLAS that starts a thread and takes memory for each core, at once and for nothing.
export OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-1}
exec "$program" "$@"
