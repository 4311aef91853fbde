#!/usr/bin/env python3
"""Firmware that poet codegen writes, compiled and run: it trains as poet run does, to the bit, and survives what storage does to it.

usage: firmware_test.py POET WORK_FOLDER host|boards

host: as a program with AddressSanitizer and UndefinedBehaviorSanitizer; killed at random instants; its card damaged, exchanged, cut.
boards: for Cortex-M under QEMU. Exit 77 where a compiler or the emulator is missing.
"""
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import time

poet, work, part = sys.argv[1:]
SAMPLES = "16"
BLOCK = 512
DAMAGED, WRONG_CARD, WRONG_PLAN, TOO_SMALL, NO_CARD = 15, 12, 13, 11, 10
FAULT = 3


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


def plan(name, ram, *options):
    file = f"{work}/{name}.plan"
    run(poet, "solve", "--model", name, "--platform", "m4", "--ram-budget", ram, "--time-limit", "2", "--quiet",
        "--plan-out", file, *options)
    return file


def firmware(plan_file, folder, steps, board="host", make=()):
    folder = f"{work}/{folder}"
    shutil.rmtree(folder, ignore_errors=True)
    run(poet, "codegen", plan_file, "-o", folder, "--board", board, "--steps", steps, "--samples", SAMPLES)
    run("make", "-s", "-j2", "-C", folder, *make)
    return folder


def as_poet_run_does(plan_file, folder, steps):
    """Parameters and optimiser state on the card, and the last loss, are those of poet run."""
    here, there = f"{folder}/here.safetensors", f"{folder}/there.safetensors"
    run(poet, "run", plan_file, "--kernels", "reference", "--steps", steps, "--samples", SAMPLES, "--quiet", "--checkpoint", here)
    left = run(poet, "card", plan_file, f"{folder}/card.img", "--checkpoint", there)
    assert left.startswith(f"step {steps},"), left
    a, b = tensors(here), tensors(there)
    assert a.keys() == b.keys(), a.keys() ^ b.keys()
    different = [name for name in a if a[name] != b[name]]
    assert not different, f"other bits in {different}"


def losses(text):
    return re.findall(r"^step \d+ loss \S+ (0x\w+)$", text, re.M)


def on_host():
    sanitized = ["BOARD_FLAGS=-fsanitize=address,undefined -fno-sanitize-recover=all", "LINK_FLAGS=-lm"]
    linear = plan("linear", "24KiB")
    folder = firmware(linear, "linear", 20, make=sanitized)
    text = run(f"{folder}/build/firmware", f"{folder}/card.img")
    assert len(losses(text)) == 20, text
    as_poet_run_does(linear, folder, 20)
    first = open(f"{folder}/card.img", "rb").read()

    resnet = plan("resnet14_cifar", "56KiB")
    folder14 = firmware(resnet, "resnet14", 2, make=sanitized)
    run(f"{folder14}/build/firmware", f"{folder14}/card.img")
    as_poet_run_does(resnet, folder14, 2)

    power_cuts(linear)
    damage(folder, first, f"{folder14}/card.img")


def power_cuts(plan_file):
    """Killed at random instants, it goes on after the last complete step; the end is that of a run that nobody killed."""
    folder = firmware(plan_file, "killed", 400)
    program, card = f"{folder}/build/firmware", f"{folder}/card.img"
    begin = time.monotonic()
    fresh = open(card, "rb").read()
    whole = losses(run(program, card))
    seconds = time.monotonic() - begin
    wanted = open(card, "rb").read()
    open(card, "wb").write(fresh)
    chance, kills, seen = random.Random(7), 0, {}
    for _ in range(2000):
        child = subprocess.Popen([program, card], stdout=subprocess.PIPE, text=True)
        try:
            text, _ = child.communicate(timeout=chance.uniform(0, seconds / 40))
            ended = True
        except subprocess.TimeoutExpired:
            child.kill()
            text, _ = child.communicate()
            kills += 1
            ended = False
        for number, bits in re.findall(r"^step (\d+) loss \S+ (0x\w+)$", text, re.M):
            assert whole[int(number) - 1] == bits, f"step {number}: {bits}"
            seen[number] = bits
        if ended:
            assert child.returncode == 0, text
            break
    assert ended, f"not done after {kills} kills"
    assert open(card, "rb").read() == wanted, "the card is not that of a run that nobody killed"
    print(f"killed {kills} times within {len(whole)} steps")


def damage(folder, whole, other_plan):
    program, card = f"{folder}/build/firmware", f"{folder}/card.img"

    def expect(image, code, *words):
        open(card, "wb").write(image)
        text = run(program, card, code=code)
        for word in words:
            assert word in text, text

    def with_steps(image, steps):
        """How many are to be trained is in the header, with a hash."""
        data = bytearray(image)
        words = list(struct.unpack("<6I", data[:24]))
        words[4] = steps
        data[:24] = struct.pack("<6I", *words)
        data[24:28] = struct.pack("<I", xxh32(bytes(data[:24])))
        return data

    more = with_steps(whole, 21)
    expect(more, 0, "goes on after step 20", "step 21 loss")
    names = {}
    plan_c = open(f"{folder}/plan.c").read()
    first_name, count = map(int, re.search(r"(\d+), (\d+), /\* names", plan_c).groups())
    for i in range(count):
        entry = whole[first_name * BLOCK + 64 * i:][:64]
        block, blocks = struct.unpack("<2I", entry[:8])
        names[block] = (blocks, entry[8:].split(b"\0")[0].decode())
    record, = map(int, re.search(r"(\d+), \d+, /\* records", plan_c).groups())
    chance = random.Random(3)
    found = 0
    homes = {b: n for b, n in names.items() if n[1].startswith("fc") and n[0] % 2 == 0}
    assert homes, names
    for block, (blocks, name) in sorted(homes.items())[:12]:
        bad = bytearray(more)
        at = block * BLOCK + chance.randrange(16)  # of the slot of even steps, that of step 20
        bad[at] ^= 1 << chance.randrange(8)
        expect(bad, DAMAGED, name, "is damaged on the storage")
        found += 1
    print(f"{found} damaged pages found and named")
    bad = bytearray(more)
    bad[17] ^= 4
    expect(bad, DAMAGED, "header is damaged")
    bad = bytearray(more)
    bad[record * BLOCK + 4] ^= 1  # the record of step 20: the step before has left all that it needs
    expect(bad, 0, "goes on after step 19", "step 20 loss", "step 21 loss")
    expect(b"\0" * (1 << 16), WRONG_CARD)
    expect(open(other_plan, "rb").read(), WRONG_PLAN)
    expect(more[:BLOCK * 100], TOO_SMALL)
    os.remove(card)
    run(program, card, code=NO_CARD)


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


def on_boards():
    if not shutil.which("arm-none-eabi-gcc") or not shutil.which("qemu-system-arm"):
        print("skipped: needs gcc-arm-none-eabi and qemu-system-arm")
        sys.exit(77)
    linear = plan("linear", "26KiB")
    for board, make, steps in (("microbit", (), 30), ("lm3s6965evb", (), 5), ("lm3s6965evb", ("CORE=m0",), 3)):
        folder = firmware(linear, f"{board}{''.join(make)}", steps, board, make)
        text = run("make", "-s", "-C", folder, "run", *make, timeout=600)
        assert len(losses(text)) == steps, text
        as_poet_run_does(linear, folder, steps)
        print(f"{board} {' '.join(make)}: {steps} steps")
    resnet = plan("resnet14_cifar", "56KiB")
    folder = firmware(resnet, "an386", 2, "mps2-an386")
    run("make", "-s", "-C", folder, "run", timeout=600)
    as_poet_run_does(resnet, folder, 2)
    print("mps2-an386: resnet14_cifar, 2 steps")
    overrun(resnet)


def overrun(plan_file):
    """A stack that is too small faults, with address and pc."""
    folder = firmware(plan_file, "overrun", 1, "mps2-an386", ["STACK_BYTES=512", "STACK_CHECK=no"])
    done = subprocess.run(["make", "-s", "-C", folder, "run", "STACK_BYTES=512", "STACK_CHECK=no"], capture_output=True, text=True, timeout=120)
    assert re.search(r"fault at pc 0x\w+, memory 0x1fff\w+", done.stdout + done.stderr), done.stdout + done.stderr
    assert f"Error {FAULT}" in done.stderr, done.stderr
    print("stack overrun: faults with address and pc")


os.makedirs(work, exist_ok=True)
(on_host if part == "host" else on_boards)()
print("passed")
