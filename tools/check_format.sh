#!/usr/bin/env bash
# Every file in C++ and C, or each FILE that is one, is as clang-format leaves it; --fix makes it so. Exit 77 (skipped) without
# clang-format 14, Debian 12's: other versions format differently.
#   tools/check_format.sh [--fix] [FILE...]    FILE: from the repository's root
set -euo pipefail
cd "$(dirname -- "$(readlink -f -- "$0")")/.."

fix=
if [[ ${1:-} == --fix ]]; then
  fix=1
  shift
fi
files=()
for file in "$@"; do
  if [[ $file == *.@(h|cc|c|inc) ]]; then files+=("$file"); fi
done
(($# == 0 || ${#files[@]})) || exit 0
if ((${#files[@]} == 0)); then
  folders=()
  for folder in src apps tests bench firmware; do
    [[ -d $folder ]] && folders+=("$folder")
  done
  mapfile -d '' files < <(find "${folders[@]}" \( -name '*.h' -o -name '*.cc' -o -name '*.c' -o -name '*.inc' \) -print0)
fi

# nlohmann-json 3.11.2 reads a null pointer where there is no memory for the first member of a value that was null.
if grep -HnE '^ *(Json|nlohmann::(ordered_)?json) json;' "${files[@]}"; then
  echo "a JSON object begins as Json::object()"
  exit 1
fi

tool=
for candidate in clang-format-14 clang-format; do
  if command -v "$candidate" >/dev/null && [[ $("$candidate" --version) == *"version 14."* ]]; then
    tool=$candidate
    break
  fi
done
if [[ -z $tool ]]; then
  echo "skipped: clang-format 14 is not installed"
  exit 77
fi

if [[ -n $fix ]]; then
  exec "$tool" -i "${files[@]}"
fi
if ! diagnostics=$("$tool" --dry-run --Werror "${files[@]}" 2>&1); then
  echo "not as clang-format leaves them (tools/check_format.sh --fix makes them so):"
  grep -oE '^[^ :]+:[0-9]+:[0-9]+: error' <<<"$diagnostics" | cut -d: -f1 | sort | uniq -c || tail -n 5 <<<"$diagnostics"
  exit 1
fi
