#!/usr/bin/env python3
"""Firmware that poet codegen writes, compiled and run: it trains as poet run does, to the bit, and survives what storage does to it.

usage: firmware_test.py POET WORK_FOLDER host|boards

host: as a program with AddressSanitizer and UndefinedBehaviorSanitizer; killed at random instants; its card damaged, exchanged, cut.
boards: for Cortex-M under QEMU. Exit 77 where a compiler or the emulator is missing.
"""
import random
import shutil
import subprocess
import time

from firmware_support import *

def on_host():
    sanitized = ["BOARD_FLAGS=-O0 -fsanitize=address,undefined -fno-sanitize-recover=all", "LINK_FLAGS=-lm"]
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

    tables = with_tables()
    with_rows = firmware(tables, "tables", 4, make=sanitized)
    run(f"{with_rows}/build/firmware", f"{with_rows}/card.img")
    as_poet_run_does(tables, with_rows, 4)

    power_cuts(linear, 400, 50)
    power_cuts(tables, 100, 50)
    damage(folder, first, f"{folder14}/card.img")


def power_cuts(plan_file, steps, least):
    """Killed at random instants, it goes on after the last complete step; the end is that of a run that nobody killed. Where it
    ended before there were `least` kills, it begins again; after four times as many it is left alone."""
    folder = firmware(plan_file, "killed", steps)
    program, card = f"{folder}/build/firmware", f"{folder}/card.img"
    begin = time.monotonic()
    fresh = open(card, "rb").read()
    whole = losses(run(program, card))
    seconds = time.monotonic() - begin
    wanted = open(card, "rb").read()
    chance, kills, rounds, ended = random.Random(7), 0, 0, True
    while kills < least or not ended:
        if ended:
            open(card, "wb").write(fresh)
            rounds += 1
        child = subprocess.Popen([program, card], stdout=subprocess.PIPE, text=True)
        try:
            text, _ = child.communicate(timeout=chance.uniform(0, seconds / 40) if kills < 4 * least else 300)
            ended = True
            assert child.returncode == 0, text
        except subprocess.TimeoutExpired:
            child.kill()
            text, _ = child.communicate()
            kills += 1
            ended = False
        for number, bits in re.findall(r"^step (\d+) loss \S+ (0x\w+)$", text, re.M):
            assert whole[int(number) - 1] == bits, f"step {number}: {bits}"
        if ended:
            assert open(card, "rb").read() == wanted, "the card is not that of a run that nobody killed"
    print(f"{os.path.basename(plan_file)}: killed {kills} times in {rounds} runs of {len(whole)} steps")


def damage(folder, whole, other_plan):
    program, card = f"{folder}/build/firmware", f"{folder}/card.img"

    def expect(image, code, *words):
        open(card, "wb").write(image)
        text = run(program, card, code=code)
        for word in words:
            assert word in text, text

    more = with_steps(whole, 21)
    expect(more, 0, "goes on after step 20", "step 21 loss")
    places = Places(folder, whole)
    names = {block: (blocks, name) for name, (block, blocks) in places.named_pages(whole).items()}
    record = places.record
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


def on_boards():
    needs_emulator()
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
    """A stack that is too small faults."""
    make = ["STACK_BYTES=512", "STACK_CHECK=no"]
    folder = firmware(plan_file, "overrun", 1, "mps2-an386", make)
    done = subprocess.run(["make", "-s", "-C", folder, "run", *make], capture_output=True, text=True, timeout=120)
    assert re.search(r"fault(, the stack is too small| at pc 0x\w+)", done.stdout + done.stderr), done.stdout + done.stderr
    assert f"Error {FAULT}" in done.stderr, done.stderr
    print("stack overrun: faults")


(on_host if part == "host" else on_boards)()
print("passed")
