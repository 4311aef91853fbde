#!/usr/bin/env bash
# Seconds from an edit to tested: to a source a function is added, then ./test COMPONENT; the source is put back.
#   bench/edit_seconds.sh [COMPONENT|SOURCE...]    COMPONENT: its largest source; default: every component, then shared, cli and server
# Prints a table: component, source, seconds with nothing changed, seconds with the edit. The machine should do nothing else; ccache is
# switched off, since no edit is one that was compiled before.
set -euo pipefail
cd "$(dirname -- "$(readlink -f -- "$0")")/.."
export CCACHE_DISABLE=1
components=("$@")
if ((${#components[@]} == 0)); then
  mapfile -t components < <(find src/poet -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort)
  components+=(shared cli server)
fi

# seconds COMPONENT: how long its tests take, what has to be built for them included.
seconds() {
  local began=$EPOCHREALTIME
  ./test "$1" >/dev/null 2>&1 || { echo "./test $1 fails" >&2; return 1; }
  awk -v began="$began" -v ended="$EPOCHREALTIME" 'BEGIN { printf "%.1f", ended - began }'
}

saved=$(mktemp)
edited=
put_back() { [[ -z $edited ]] || cp "$saved" "$edited"; edited=; }
trap 'put_back; rm -f "$saved"' EXIT
printf '%-10s %-48s %9s %9s\n' component source unchanged edited
for component in "${components[@]}"; do
  if [[ -f $component ]]; then
    source=$component
    component=${source#*/}         # apps/cli/... and src/poet/base/...
    component=${component#poet/}
    component=${component%%/*}
  else
    folder=src/poet/$component
    [[ -d $folder ]] || folder=apps/$component
    source=$(find "$folder" -name '*.cc' -printf '%s %p\n' | sort -rn | sed -n '1s/^[0-9]* //p')
  fi
  seconds "$component" >/dev/null
  unchanged=$(seconds "$component")
  cp "$source" "$saved"
  edited=$source
  printf '\nint poet_edited();\nint poet_edited() { return %d; }\n' "$RANDOM" >>"$source"
  with_edit=$(seconds "$component")
  put_back
  printf '%-10s %-48s %9s %9s\n' "$component" "$source" "$unchanged" "$with_edit"
done
