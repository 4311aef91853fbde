#!/usr/bin/env bash
# The device's plan decoder is C99 for every compiler here, and at most 3,072 bytes of code and constants on a
# Cortex-M0. Exit 77 (skipped) without arm-none-eabi-gcc.
# usage: decoder_size_test.sh FOLDER_OF_THE_DECODER WORK_FOLDER
set -euo pipefail
source=$1/poet_plan.c
mkdir -p "$2"
flags=(-std=c99 -Wall -Wextra -pedantic -Wconversion -Werror)

for compiler in gcc clang; do
  command -v "$compiler" >/dev/null || continue
  "$compiler" "${flags[@]}" -O2 -c "$source" -o "$2/$compiler.o"
done
if ! command -v arm-none-eabi-gcc >/dev/null; then
  echo "skipped: arm-none-eabi-gcc is not installed"
  exit 77
fi
arm-none-eabi-gcc -mcpu=cortex-m0 -mthumb -Os "${flags[@]}" -c "$source" -o "$2/m0.o"
# text: code and constants; data and bss: RAM of its own, of which there must be none.
read -r text data bss _ < <(arm-none-eabi-size "$2/m0.o" | tail -n 1)
echo "Cortex-M0: $text bytes of code and constants, $((data + bss)) bytes of RAM"
((text > 0 && text <= 3072 && data + bss == 0))

# Nothing of a library but the compiler's own helpers (of 32 bits: a division or 64 bits would call __aeabi_*).
if arm-none-eabi-nm -u "$2/m0.o" | grep -v '__gnu_thumb1_case'; then
  echo "needs the symbols above"
  exit 1
fi
