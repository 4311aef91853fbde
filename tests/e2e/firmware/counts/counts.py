#!/usr/bin/env python3
"""Instructions of the firmware's kernels per multiply-add, counted by an emulator: exact, and the same every time.

usage: counts.py WORK_FOLDER [off|fast]     off (default): as shipped; fast: the compiler may fuse multiplications and additions

Compiles the kernels for a Cortex-M4F and for a Cortex-M0, runs both in QEMU's mps2-an386 (whose Cortex-M4F takes a Cortex-M0's
instructions; its timer counts, which those of the other boards do not), an instruction per 16 ns, and holds what SysTick
counts against bounds: those that the documentation states, and what was measured with GCC 12.2 plus 2%. Exit 77 where a compiler or the emulator is missing.
"""
import os
import shutil
import subprocess
import sys

work = os.path.abspath(sys.argv[1])
contract = sys.argv[2] if len(sys.argv) > 2 else "off"
here = os.path.dirname(os.path.abspath(__file__))
firmware = os.path.abspath(f"{here}/../../../../firmware")
WINDOW, STACK = 4 << 20, 3072
NUMBERS = (f"window_bytes={WINDOW}", f"stack_bytes={STACK}", f"stated_bytes={WINDOW}", "overlap=1", "tick_ns=8000", "tick_bytes=8")


def compiler_flags(core, folder):
    """Those of the boards' makefiles, as make has them."""
    shutil.copy(f"{firmware}/boards/{'mps2-an386' if core == 'm4' else 'microbit'}/board.mk", f"{folder}/board")
    shutil.copy(f"{firmware}/cortex-m/cortex-m.mk", f"{folder}/board")
    flags = subprocess.run(["make", "-s", "-f", "board/board.mk", "COUNT=1", "--eval=flags: ; @echo $(BOARD_FLAGS)", "flags"], cwd=folder,
                           capture_output=True, text=True, check=True).stdout
    return (f"{flags} -std=c99 -O2 -Wall -Wextra -Wconversion -Werror -ffp-contract={contract} -fno-strict-aliasing "
            "-ffunction-sections -fdata-sections").split()


def counts(core):
    """{(kernel, shape): instructions per operation}"""
    folder = f"{work}/{core}"
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(f"{folder}/board")
    for file in (f"{firmware}/cortex-m/link.ld", f"{firmware}/cortex-m/semihosting.h",
                 f"{firmware}/boards/mps2-an386/memory.ld", f"{firmware}/boards/mps2-an386/poet_board.h"):
        shutil.copy(file, f"{folder}/board")
    shutil.copy(f"{here}/shapes_{core}.h", f"{folder}/shapes.h")
    with open(f"{folder}/poet_plan.h", "w") as plan:
        plan.write(f"#define POET_RAM_BYTES {WINDOW - STACK - 1024}\n")
    kernels = [f"{firmware}/kernels/{f}" for f in sorted(os.listdir(f"{firmware}/kernels")) if f.endswith(".c")]
    sources = [f"{here}/counts.c", f"{firmware}/cortex-m/start.c", f"{firmware}/cortex-m/port.c", f"{firmware}/cortex-m/timer.c",
               *kernels]
    subprocess.run(["arm-none-eabi-gcc", *compiler_flags(core, folder), "-I.", f"-I{firmware}/engine",
                    f"-I{firmware}/kernels", *sources, "-nostdlib", "-nostartfiles", "-T", "board/link.ld", "-lgcc",
                    "-Wl,--gc-sections,--no-warn-rwx-segments,-z,noexecstack", *(f"-Wl,--defsym=poet_{n}" for n in NUMBERS), "-o", "counts.elf"], cwd=folder, check=True)
    done = subprocess.run(["qemu-system-arm", "-M", "mps2-an386", "-icount", "shift=4,sleep=off", "-display", "none", "-monitor",
                           "none", "-serial", "none", "-semihosting-config", "enable=on,target=native", "-kernel",
                           "counts.elf"], cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    found = {}
    for line in (done.stdout + done.stderr).splitlines():
        assert len(line.split()) == 4, done.stdout + done.stderr
        kernel, shape, operations, instructions = line.split()
        found[kernel, shape] = int(instructions) / int(operations)
    return found


def pinned():
    """{(core, shape): {kernel: instructions per operation}} of GCC 12.2, contraction off."""
    rows = {}
    for line in open(f"{here}/pinned.txt"):
        if line.startswith("#"):
            continue
        core, kernel, shape, number = line.split()
        rows[core, kernel, shape] = float(number)
    return rows


def typical(core, kernel, shape):
    """Where there is a promise: 16 and more channels, planes from 4x4 on, 8 and more rows; in software from 4 channels on."""
    if core == "m0":
        return kernel.startswith(("conv_", "linear")) and not shape.startswith("2>2")
    if kernel.startswith("conv"):
        channels, size, window = shape.split(",")
        return min(map(int, channels.split(">"))) >= 16 and int(size.split("x")[0]) >= 4 and window.startswith("3x3")
    return kernel.startswith("linear") and int(shape.split(",")[0]) >= 8


def main():
    if not shutil.which("arm-none-eabi-gcc") or not shutil.which("qemu-system-arm"):
        print("skipped: needs gcc-arm-none-eabi and qemu-system-arm")
        sys.exit(77)
    bounds, wrong = pinned(), []
    for core in ("m4", "m0") if contract == "off" else ("m4",):
        found = counts(core)
        assert found.keys() == {(kernel, shape) for c, kernel, shape in bounds if c == core}, found.keys()
        for (kernel, shape), number in found.items():
            print(f"{core} {kernel:22} {shape:18} {number:.3f}")
            promised = 200.0 if core == "m0" else 3.05 if shape.endswith("/2") else 3.0
            if contract == "off" and typical(core, kernel, shape) and number > promised:
                wrong.append(f"{core} {kernel} {shape}: {number:.3f} instructions, at most {promised:g} are promised")
            bound = bounds.get((core, kernel, shape))
            if contract == "off" and (bound is None or number > 1.02 * bound):
                wrong.append(f"{core} {kernel} {shape}: {number:.3f} instructions, {bound} are pinned: better code, or write "
                             "what this prints to pinned.txt, with the compiler's version")
            if contract == "fast" and (kernel, shape) == ("linear_forward", "32,128>128") and number > 1.75:
                wrong.append(f"{core} {kernel} {shape}: {number:.3f} instructions, at most 1.75 are promised")
    assert not wrong, "\n" + "\n".join(wrong)
    print("passed")


main()
