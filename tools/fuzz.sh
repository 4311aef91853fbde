#!/usr/bin/env bash
# Fuzzes the readers of files (tests/fuzz/targets) one after another, each from the repository's inputs and from what earlier
# calls found, which is kept in build-fuzz/found.
#   tools/fuzz.sh SECONDS [READER...]    that long each; one line per reader; exit 1 where one fails, with its input
#   tools/fuzz.sh --keep [READER...]     adds the few that reach what those in tests/fuzz/corpus do not to these
# shellcheck disable=SC2034,SC2154  # variables that tools/setup.sh takes and gives
set -uo pipefail
cd "$(dirname -- "$(readlink -f -- "$0")")/.." || exit
root=$PWD
corpus=tests/fuzz/corpus
longest=4096 # bytes of an input that is kept: the repository stays small

if [[ ! ${1:-} =~ ^([0-9]+|--keep)$ ]]; then
  sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
what=$1
shift
readers=("$@")
((${#readers[@]})) || mapfile -t readers < <(ls "$corpus")

export POET_BUILD_DIR=build-fuzz
# shellcheck source=tools/setup.sh
source tools/setup.sh
mkdir -p "$build_dir/found" "$build_dir/failing"
: >"$log"
logged "configuring fuzz" cmake --preset fuzz
logged "building fuzz" cmake --build "$build_dir" -j "$(build_jobs)" --target "${readers[@]/#/fuzz_}"

# statistic FILE NAME: what libFuzzer says of itself at its end.
statistic() { sed -n "s/^stat::$2: *//p" "$1"; }

result=0
for reader in "${readers[@]}"; do
  program=$build_dir/tests/fuzz/targets/fuzz_$reader
  found=$build_dir/found/$reader
  mkdir -p "$found"
  if [[ $what == --keep ]]; then
    "$program" -merge=1 -max_len="$longest" "$corpus/$reader" "$found" >"$build_dir/$reader.log" 2>&1 || result=1
    printf '%-12s %s\n' "$reader" "$(du -ab "$corpus/$reader" | awk 'END { print NR - 1 " inputs, " $1 " bytes" }')"
  else
    "$program" -max_total_time="$what" -timeout=120 -rss_limit_mb=6000 -print_final_stats=1 \
      -artifact_prefix="$build_dir/failing/$reader-" "$found" "$corpus/$reader" >"$build_dir/$reader.log" 2>&1 || {
      result=1
      grep -E 'ERROR|SUMMARY|Test unit written' "$build_dir/$reader.log"
    }
    printf '%-12s %s inputs, %s new ones kept, coverage %s\n' "$reader" \
      "$(statistic "$build_dir/$reader.log" number_of_executed_units)" \
      "$(statistic "$build_dir/$reader.log" new_units_added)" \
      "$(grep -oE 'cov: [0-9]+' "$build_dir/$reader.log" | tail -n 1 | cut -d' ' -f2)"
  fi
done
exit "$result"
