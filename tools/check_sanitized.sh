#!/usr/bin/env bash
# Tests of what reads files and sockets and of what trains, with AddressSanitizer and UndefinedBehaviorSanitizer, then what has
# threads with ThreadSanitizer: presets sanitize and thread-sanitize. Build folders: build-PRESET. The last line counts the tests.
#   tools/check_sanitized.sh [--build-only] [--all] [PRESET...]    --all: of every component, and the properties
# shellcheck disable=SC2030,SC2031,SC2034,SC2154  # variables that tools/setup.sh takes and gives
set -uo pipefail
cd "$(dirname -- "$(readlink -f -- "$0")")/.." || exit
root=$PWD
# shellcheck source=tools/setup.sh
source tools/setup.sh
reports=()
result=0
build_only=
all=OFF
while [[ ${1:-} == --* ]]; do
  case $1 in
    --build-only) build_only=1 ;;
    --all) all=ON ;;
    *) say "tools/check_sanitized.sh knows --build-only and --all, and not $1"; exit 2 ;;
  esac
  shift
done

# in_preset PRESET COMMAND...: with setup.sh's functions for the preset's build folder.
in_preset() (
  export POET_BUILD_DIR=build-$1
  # shellcheck source=tools/setup.sh
  source tools/setup.sh
  mkdir -p "$build_dir"
  SECONDS=0
  "${@:2}" "$1" </dev/null
)

built() {
  : >"$log"
  logged "configuring $1" cmake --preset "$1" -DPOET_SANITIZE_ALL=$all
  logged "building $1" cmake --build --preset "$1" -j "$(build_jobs)"
  say "$1: built in $SECONDS s"
}

tested() {
  rm -rf "$build_dir/test-reports" && mkdir "$build_dir/test-reports"
  run_ctest --preset "$1" -j2 --output-junit "$build_dir/test-reports/ctest.xml" || exit
  say "$1: run in $SECONDS s"
}

presets=("$@")
((${#presets[@]})) || presets=(sanitize thread-sanitize)
ready=()
for preset in "${presets[@]}"; do
  if in_preset "$preset" built; then ready+=("$preset"); else result=1; fi
done
[[ -z $build_only && -n ${ready[*]} ]] || exit "$result"
tests=()
for preset in "${ready[@]}"; do  # beside each other: many tests wait
  in_preset "$preset" tested &
  tests+=($!)
  reports+=("build-$preset/test-reports")
done
for test in "${tests[@]}"; do
  wait "$test" || result=$?
done
"$python" tools/count_tests.py "${reports[@]}" || ((result)) || result=1
exit "$result"
