"""What tests of firmware share: plans, folders that poet codegen writes, their cards, runs here and under QEMU."""
import json
import os
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys

for folder in ("../../support", "../../../tools"):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), folder))
import firmware_objects
import plan_cache

ALL = "POET_TEST_ALL" in os.environ  # else a sample
SAMPLES = "16"
BLOCK = 512
SANITIZED = ("BOARD_FLAGS=-O0 -fsanitize=address,undefined -fno-sanitize-recover=all", "LINK_FLAGS=-lm")
FAULT, NO_CARD, TOO_SMALL, WRONG_CARD, WRONG_PLAN, NO_RECORD, DAMAGED, STALE, IO_ERROR = 3, 10, 11, 12, 13, 14, 15, 16, 17

poet, work, part = sys.argv[1:]
work = os.path.abspath(work)
os.makedirs(work, exist_ok=True)


def run(*command, code=0, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    assert done.returncode == code, f"{command}: exit {done.returncode}, wanted {code}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr  # what semihosting says is on stderr


def tensors(file):
    data = open(file, "rb").read()
    size, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    return {name: data[8 + size + e["data_offsets"][0]:8 + size + e["data_offsets"][1]] for name, e in header.items()}


def cases(quick, everything):
    return everything if ALL else quick


def plan(model, ram, *options, split="4KiB", seconds=2, gap="100%"):
    """Any plan of these parts will do: the search is over soon after it has one, and takes the longer the more time it is given. Where
    one is not there in time, as with sanitizers, it is given more."""
    wanted = ("--model", model, "--platform", "m4", "--beyond-device-ram", "--ram-budget", ram, "--split", split, "--gap", gap, *options)
    try:
        return solved(*wanted, "--time-limit", seconds)
    except AssertionError:
        return solved(*wanted, "--time-limit", 30 * seconds)


def solved(*arguments):
    return plan_cache.plan(poet, *arguments)


def linear():
    """Of many small pages, in the RAM of each board."""
    return plan("linear", "26KiB")


def resnet14(*options, ram="56KiB"):
    return plan("resnet14_cifar", ram, *options, seconds=5)


def with_tables():
    """A plan whose embeddings' tables stay on the card: a step moves the rows that its sample names."""
    file = plan("bert_tiny", "250000", "--sequence-length", "16", split="16KiB", seconds=5, gap="50%")
    run(poet, "codegen", file, "-o", f"{work}/tables_there")
    assert "poet_table_rows rows[]" in contents(f"{work}/tables_there/plan.c").decode(), "no table is transferred by index"
    return file


def made(folder, *arguments, code=0):
    done = firmware_objects.make(folder, *arguments, kept_in=os.path.join(os.path.dirname(work), "firmware_objects"))
    assert done.returncode == code, f"make {arguments}: exit {done.returncode}, wanted {code}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def firmware(plan_file, folder, steps, board="host", make=None, options=()):
    """On the host with sanitizers, where `make` does not say otherwise."""
    folder = f"{work}/{folder}"
    shutil.rmtree(folder, ignore_errors=True)
    run(poet, "codegen", plan_file, "-o", folder, "--board", board, "--steps", steps, "--samples", SAMPLES, *options)
    made(folder, *(make if make is not None else SANITIZED if board == "host" else ()))
    return folder


def as_poet_run_does(plan_file, folder, steps, options=()):
    """Parameters and optimiser state on the card, and the last loss, are those of poet run."""
    here, there = f"{folder}/here.safetensors", f"{folder}/there.safetensors"
    run(poet, "run", plan_file, "--kernels", "reference", "--steps", steps, "--samples", SAMPLES, "--quiet", "--checkpoint", here,
        *options)
    left = run(poet, "card", plan_file, f"{folder}/card.img", "--checkpoint", there)
    assert left.startswith(f"step {steps},"), left
    a, b = tensors(here), tensors(there)
    assert a.keys() == b.keys(), a.keys() ^ b.keys()
    different = [name for name in a if a[name] != b[name]]
    assert not different, f"other bits in {different}"


def losses(text):
    return re.findall(r"^step \d+ loss \S+ (0x\w+)$", text, re.M)


def needs_emulator():
    if not shutil.which("qemu-system-arm") or not compiles_for_arm():
        print("skipped: needs gcc-arm-none-eabi, libnewlib-arm-none-eabi (headers) and qemu-system-arm")
        sys.exit(77)


def compiles_for_arm():
    if not shutil.which("arm-none-eabi-gcc"):
        return False
    command = ["arm-none-eabi-gcc", "-mcpu=cortex-m0", "-mthumb", "-fsyntax-only", "-xc", "-"]
    return subprocess.run(command, input="#include <string.h>\n#include <math.h>\n", capture_output=True, text=True).returncode == 0


def command_of(folder, *make):
    """What `make run` runs, to be run and killed without make. Within the folder."""
    return shlex.split(run("make", "-s", "-n", "-C", folder, "run", *make).strip().splitlines()[-1])


def emulate(folder, command, code=0, timeout=600):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=timeout)
    text = done.stdout + done.stderr
    assert code is None or done.returncode == code, f"exit {done.returncode}, wanted {code}\n{text}"
    return (done.returncode, text) if code is None else text


def contents(file):
    with open(file, "rb") as stream:
        return stream.read()


def store(file, data):
    with open(file, "wb") as stream:
        stream.write(data)


class Places:
    """What lies where on a card, from the folder's plan.c: blocks."""

    def __init__(self, folder, image):
        text = open(f"{folder}/plan.c").read()
        number = lambda pattern: [int(n) for n in re.search(pattern + r", /\* ", text).groups()]
        self.record, self.record_blocks = number(r"(\d+), (\d+)(?=, /\* records)")
        self.samples, self.sample_blocks = number(r"(\d+), (\d+), \d+(?=, /\* samples)")
        self.program, = number(r"(\d+)(?=, /\* program)")
        self.names, self.count = number(r"(\d+), (\d+)(?=, /\* names)")
        self.pages = self.record + 2 * self.record_blocks
        self.end = struct.unpack("<6I", image[:24])[3]
        self.blocks = len(image) // BLOCK

    def regions(self):
        edges = [("header", 0), ("records", self.record), ("pages", self.pages), ("program", self.program),
                 ("names", self.names), ("samples", self.samples), ("behind", self.end)]
        return [(name, a, b) for (name, a), (_, b) in zip(edges, edges[1:] + [("", min(self.end + 4, self.blocks))]) if a < b]

    def named_pages(self, image):
        """By name: first block, blocks of all slots."""
        found = {}
        for i in range(self.count):
            at = (self.names + i // 7) * BLOCK + i % 7 * 64
            block, blocks = struct.unpack("<2I", image[at:at + 8])
            found[image[at + 8:at + 64].split(b"\0")[0].decode()] = (block, blocks)
        return found


def with_steps(image, steps):
    """How many are to be trained is in the header, with a hash."""
    data = bytearray(image)
    words = list(struct.unpack("<6I", data[:24]))
    words[4] = steps
    data[:24] = struct.pack("<6I", *words)
    data[24:28] = struct.pack("<I", xxh32(bytes(data[:24])))
    return data


def xxh32(data):
    """Of less than 32 bytes, seed 0, by the specification: the program's own is not trusted."""
    p1, p2, p3, p4, p5 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1
    mask = 0xFFFFFFFF
    rotated = lambda x, n: ((x << n) | (x >> (32 - n))) & mask
    words = list(struct.unpack(f"<{len(data) // 4}I", data))
    if len(words) >= 4:
        lanes = [(p1 + p2) & mask, p2, 0, -p1 & mask]
        while len(words) >= 4:
            lanes = [rotated((lane + word * p2) & mask, 13) * p1 & mask for lane, word in zip(lanes, words)]
            words = words[4:]
        h = sum(rotated(lane, n) for lane, n in zip(lanes, (1, 7, 12, 18)))
    else:
        h = p5
    h = (h + len(data)) & mask
    for word in words:
        h = rotated((h + word * p3) & mask, 17) * p4 & mask
    h = (h ^ (h >> 15)) * p2 & mask
    h = (h ^ (h >> 13)) * p3 & mask
    return h ^ (h >> 16)
