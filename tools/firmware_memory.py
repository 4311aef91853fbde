#!/usr/bin/env python3
"""What firmware takes on each board, as arm-none-eabi-gcc makes it: the table that `poet codegen` states RAM and flash from.

usage: tools/firmware_memory.py                     writes data/firmware_memory.json
       tools/firmware_memory.py --check [OBJECTS]   compares it with what the compiler here makes; exit 1 where it is out of date;
                                                    OBJECTS: a folder of objects that are kept, as tests do

Per processor: for every kernel the deepest stack, and the pieces of code (input sections of the linker) that it takes. Per board
and processor: the stack from reset to the engine's call of a kernel, the deepest one that calls no kernel, that of the interrupt
handler, the bytes of .data and .bss, the pieces that are there without any kernel. Run it after changes to firmware/.

--check asks for equal numbers of the compiler that the table names, and for no larger ones of any other. Which pieces a kernel takes
it looks up for some of them, where POET_TEST_ALL is set for each. Exit 77 where there is no compiler.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import firmware_objects

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIRMWARE = ROOT / "firmware"
TABLE = ROOT / "data" / "firmware_memory.json"
FILE = ["start.c", "port.c", "timer.c", "semihosting_storage.c"]
CARD = ["start.c", "port.c", "timer.c", "sd_card.c", "spi_pl022.c"]
BOARDS = [  # board, options of make, files of firmware/cortex-m
    ("lm3s6965evb", [], CARD),
    ("lm3s6965evb", ["CORE=m0"], CARD),
    ("microbit", [], FILE),
    ("mps2-an386", [], FILE),
    ("nrf52840", [], ["start.c", "timer.c", "sd_card.c", "spi_nrf.c"]),
]
PLAN_BYTES = 16  # that plan.c has in RAM besides the arena: counted by the plan
INDIRECT = 1 << 20  # a kernel's stack in place of any: larger than all else


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def kernels():
    return re.findall(r"^int (poet_\w+)\(const void\* ?\w*,", (FIRMWARE / "kernels/poet_kernels.h").read_text(), re.M)


def plan_c(names):
    table = ", ".join(names) or "0"
    return (f'#include "poet_engine.h"\nint32_t poet_row_numbers[2];\nvoid* poet_operands[2];\nstatic const poet_kernel kernels[] = {{{table}}};\n'
            "const poet_plan_data poet_the_plan = {.kernels = kernels};\n")


class Folder:
    """A firmware for a board with all kernels in it, and a plan that says which of them are called."""

    def __init__(self, path, board, options, files, address_bytes, kept_in):
        self.path, self.options, self.kept_in = path, options, kept_in
        for name in ("engine", "kernels"):
            shutil.copytree(FIRMWARE / name, path / name)
        shutil.copytree(FIRMWARE / "boards" / board, path / "board")
        headers = [header.name for header in (FIRMWARE / "cortex-m").glob("*.h")]
        for name in [*files, *headers, "link.ld", "cortex-m.mk", "stack.awk"]:
            shutil.copy(FIRMWARE / "cortex-m" / name, path / "board")
        shutil.copy(FIRMWARE / "Makefile", path)
        (path / "plan.mk").write_text("WINDOW_BYTES := 16777216\n" + "".join(
            f"STACK_BYTES.{core} := 4096\nSTATIC_BYTES.{core} := 65536\n" for core in ("cortex-m0", "cortex-m4")))
        (path / "poet_plan.h").write_text(f"#define POET_RAM_BYTES 4096\n#define POET_ADDRESS_BYTES {address_bytes}\n")
        (path / "program.bin").write_bytes(b"")
        (path / "program.S").write_text("")
        link = (path / "board/memory.ld").read_text()  # all kernels at once are for no board
        (path / "board/memory.ld").write_text(re.sub(r"LENGTH = \w+", "LENGTH = 16M", link))

    def link(self, names):
        (self.path / "plan.c").write_text(plan_c(names))
        self.make()

    def make(self):
        done = firmware_objects.make(self.path, "STACK_CHECK=no", *self.options, kept_in=self.kept_in)
        if done.returncode != 0:
            sys.exit(f"{self.path}: make: exit {done.returncode}\n{done.stdout}{done.stderr}")

    def processor(self):
        text = run("make", "-s", "-C", self.path, "-f", "Makefile", "--eval", "say:; @echo $(PROCESSOR_NAME)", "say", *self.options)
        return text.strip()

    def depths(self, functions):
        code = run("arm-none-eabi-objdump", "-t", "-d", self.path / "build/firmware.elf")
        graphs = sorted(self.path.glob("build/**/*.ci"))
        text = run("awk", "-f", self.path / "board/stack.awk", "-v", f"indirect={INDIRECT}", "-v", f"of={' '.join(functions)}",
                   *graphs, "-", input=code)
        return {name: int(n) for name, n in (line.split() for line in text.splitlines())}

    def symbols(self):
        text = run("arm-none-eabi-nm", self.path / "build/firmware.elf")
        return {name: int(at, 16) for at, _, name in (line.split() for line in text.splitlines() if len(line.split()) == 3)}

    def pieces(self):
        """Bytes of the input sections in flash, the plan's left out, rounded up to what aligns the one behind."""
        text = (self.path / "build/firmware.map").read_text().split("Linker script and memory map")[1]
        text = text[text.index("\n.text"):text.index("\n.stack")]
        found = {}
        for section, size, where in re.findall(r"^ (\.\S+)\s+0x[0-9a-f]+\s+0x([0-9a-f]+) (\S+)$", text, re.M):
            name = re.search(r"([^/(]+?)\)?$", where.replace(".a(", "/")).group(1)
            if int(size, 16) == 0 or where.endswith("/plan.o"):
                continue
            alignment = 8 if section.startswith(".rodata") else 4
            key = f"{name[:-2]}{section}"
            found[key] = found.get(key, 0) + (int(size, 16) + alignment - 1) // alignment * alignment
        return found


def merged(into, pieces):
    for name, size in pieces.items():
        into[name] = max(size, into.get(name, 0))


def measured(looked_up, objects=None):
    compiler = run("arm-none-eabi-gcc", "--version").splitlines()[0]
    table = {"format": 1, "origin": "measured: tools/firmware_memory.py", "compiler": compiler,
             "processors": {}, "boards": {}}
    with tempfile.TemporaryDirectory() as work:
        for number, (board, options, files) in enumerate(BOARDS):
            entry = {"stack_to_kernel": 0, "stack_besides": 0, "stack_handler": 0, "buffers": 0, "pieces": []}
            for address_bytes in (2, 3):
                folder = Folder(pathlib.Path(work, f"{number}.{address_bytes}"), board, options, files, address_bytes,
                                objects or f"{work}/objects")
                folder.link(kernels())
                name = folder.processor()
                if name not in table["processors"]:
                    table["processors"][name] = processor(folder, looked_up)
                one_processor = table["processors"][name]
                depths = folder.depths(["poet_reset", "poet_tick", "poet_train"])
                entry["stack_to_kernel"] = max(entry["stack_to_kernel"], depths["poet_reset"] - INDIRECT)
                entry["stack_handler"] = max(entry["stack_handler"], depths["poet_tick"])
                folder.link([])
                symbols = folder.symbols()
                entry["buffers"] = max(entry["buffers"], symbols["poet_zero_end"] - symbols["poet_stack_top"] - PLAN_BYTES)
                pieces = folder.pieces()
                merged(one_processor["pieces"], pieces)
                entry["pieces"] = sorted({*entry["pieces"], *pieces})
                entry["stack_besides"] = max(entry["stack_besides"], besides(folder))
            table["boards"].setdefault(board, {})[name] = entry
    for one in table["processors"].values():
        one["pieces"] = dict(sorted(one["pieces"].items()))
    return table


def besides(folder):
    """The deepest chain that goes through no kernel."""
    code = run("arm-none-eabi-objdump", "-t", "-d", folder.path / "build/firmware.elf")
    text = run("awk", "-f", folder.path / "board/stack.awk", "-v", "of=poet_reset", *sorted(folder.path.glob("build/**/*.ci")), "-",
               input=code)
    return int(text.split()[1])


def processor(folder, looked_up):
    """looked_up: the kernels whose pieces are."""
    names = kernels()
    entry = {"frame": 104 if folder.processor() == "cortex-m4" else 32, "pieces": {}, "kernels": {}}
    depths = folder.depths(names)
    merged(entry["pieces"], folder.pieces())
    folder.link([])
    empty = folder.pieces()
    for name in names:
        entry["kernels"][name] = {"stack": depths[name]}
        if name in looked_up:
            folder.link([name])
            pieces = folder.pieces()
            entry["kernels"][name]["pieces"] = sorted(pieces.keys() - empty.keys())
            merged(entry["pieces"], pieces)
    return entry


def numbers(value, path=""):
    if isinstance(value, dict):
        for name, item in value.items():
            yield from numbers(item, f"{path}/{name}")
    elif isinstance(value, list):
        yield from ((f"{path}/{item}", "there") for item in value)
    else:
        yield path, value


def check(table):
    stated = json.loads(TABLE.read_text())
    for name, one in table["processors"].items():
        for kernel, entry in one["kernels"].items():
            if "pieces" not in entry:
                stated["processors"][name]["kernels"].get(kernel, {}).pop("pieces", None)
    a, b = dict(numbers(stated)), dict(numbers(table))
    if stated["compiler"] == table["compiler"]:
        wrong = [f"{p}: stated {a.get(p)}, made {b.get(p)}" for p in sorted({*a, *b}) if a.get(p) != b.get(p)]
    else:
        wrong = [f"{p}: stated {a.get(p)}, made {v}" for p, v in b.items()
                 if isinstance(v, int) and "/pieces/" not in p and v > a.get(p, 0)]
    if wrong:
        sys.exit("\n".join([*wrong[:20], f"{len(wrong)} numbers out of date: run tools/firmware_memory.py"]))
    print(f"{len(a)} numbers as stated")


def main():
    if not shutil.which("arm-none-eabi-gcc"):
        print("skipped: needs gcc-arm-none-eabi")
        sys.exit(77)
    if "--check" in sys.argv[1:]:
        check(measured(kernels() if "POET_TEST_ALL" in os.environ else kernels()[::10], *sys.argv[2:]))
    else:
        TABLE.write_text(json.dumps(measured(kernels()), indent=1) + "\n")


if __name__ == "__main__":
    main()
