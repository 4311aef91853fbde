#!/usr/bin/env bash
# The program for boards: compiled for AArch64 as its documentation says, and tried under qemu-aarch64.
#   device_program_test.sh REPOSITORY BUILD_FOLDER POET
# A profile measured there, a plan made for it here, trained by there and here: the same bits. Exit 77 without compiler
# or emulator.
set -euo pipefail
repository=$1 build=$2 poet=$3
command -v aarch64-linux-gnu-g++ >/dev/null && command -v qemu-aarch64 >/dev/null && command -v ninja >/dev/null || {
  echo "skipped: needs g++-aarch64-linux-gnu, qemu-user and ninja-build"
  exit 77
}
cmake -S "$repository/apps/device" -B "$build" -G Ninja \
  -DCMAKE_TOOLCHAIN_FILE="$repository/cmake/aarch64-linux-gnu.cmake" \
  -DCMAKE_CXX_FLAGS_RELEASE=-O0 >/dev/null  # not to be fast: to be compiled soon
ninja -C "$build" -j "$(nproc)" | tail -n 1
device() { qemu-aarch64 "$build/poet-device" "$@"; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
network=(--model linear --batch-size 4)
in_ram=(--persistent resident --split off)
device profile "${network[@]}" --seconds 1 --active-watts 3 --idle-watts 1.5 --storage "$work" --quiet -o "$work/board.json"
grep -q '"/active_watts": "assumed: as given' "$work/board.json"
grep -q 'measured: ' "$work/board.json"

# Less RAM than keeping everything takes, so that the plan recomputes or pages.
least=$("$poet" solve "${network[@]}" "${in_ram[@]}" --platform "$work/board.json" --ram-budget 1 --json --quiet |
  sed -n 's/.*"least_ram_bytes": *\([0-9]*\).*/\1/p') || true
[[ -n $least ]]
"$poet" solve "${network[@]}" "${in_ram[@]}" --platform "$work/board.json" --ram-budget "$least" --plan-out "$work/plan" --quiet >/dev/null
"$poet" verify "$work/plan" >/dev/null
losses() { sed -n '/"losses"/,/\]/p'; }
mkdir "$work/unseen"
head -c $((784 * 4 * 6)) /dev/zero >"$work/unseen/input.bin"
printf '\0\1\2\3\4\5' >"$work/unseen/targets.u8"
validation=(--validate "$work/unseen" --best "$work/best.safetensors")
device run "$work/plan" --steps 5 --storage "$work" --quiet --json --checkpoint "$work/there.safetensors" "${validation[@]}" >"$work/there.json"
cmp "$work/best.safetensors" "$work/there.safetensors"
device run "$work/plan" --steps 5 --storage "$work" --quiet --json --encrypt >/dev/null 2>"$work/refused" && exit 1
grep -q 'encrypt' "$work/refused" || [[ $(grep -c '"page_outs": 0' "$work/there.json") == 1 ]]
"$poet" run "$work/plan" --kernels reference --steps 5 --quiet --json --checkpoint "$work/here.safetensors" >"$work/here.json"
losses <"$work/there.json" >"$work/there.losses"
losses <"$work/here.json" >"$work/here.losses"
# Another compiler and another C library's exp and log: equal to float32's precision, not bit for bit.
paste "$work/there.losses" "$work/here.losses" | awk -F'[ ,\t]+' '
  { for (i = 1; i <= NF; ++i) if ($i ~ /^[0-9.]+$/) number[++count] = $i }
  END { if (count < 10) exit 1
        for (i = 1; i < count; i += 2) { d = number[i] - number[i + 1]; if (d < 0) d = -d; if (d > 1e-4) exit 1 } }'
echo "passed: $(grep -o '"process_peak_bytes": *[0-9]*' "$work/there.json")"
