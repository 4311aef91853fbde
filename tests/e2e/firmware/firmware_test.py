#!/usr/bin/env python3
"""Firmware that poet codegen writes, compiled and run: it trains as poet run does, to the bit, and survives what storage does to it.

usage: firmware_test.py POET WORK_FOLDER host|boards

host: as a program with AddressSanitizer and UndefinedBehaviorSanitizer; without power at random places; its card damaged, exchanged, cut.
boards: for Cortex-M under QEMU. Exit 77 where a compiler or the emulator is missing.
"""
import random
import subprocess

from firmware_support import *
from power import cuts


def on_host():
    folder = cuts(linear(), 20, cases(16, 400))
    with_rows = cuts(with_tables(), 4, cases(8, 50))
    if ALL:  # the same on a board and in mixed precision is in the sample
        resnet = resnet14()
        folder14 = firmware(resnet, "resnet14", 2)
        run(f"{folder14}/build/firmware", f"{folder14}/card.img")
        as_poet_run_does(resnet, folder14, 2)
    damage(folder, contents(f"{folder}/card.img"), f"{with_rows}/card.img")


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
    for board, make, steps in (("microbit", (), cases(2, 30)), ("lm3s6965evb", (), cases(1, 5)), ("lm3s6965evb", ("CORE=m0",), cases(1, 3))):
        folder = firmware(linear(), f"{board}{''.join(make)}", steps, board, make)
        text = emulate(folder, command_of(folder, *make))
        assert len(losses(text)) == steps, text
        as_poet_run_does(linear(), folder, steps)
        print(f"{board} {' '.join(make)}: {steps} steps", flush=True)
    resnet = resnet14()
    steps = cases(1, 2)
    folder = firmware(resnet, "an386", steps, "mps2-an386")
    run("make", "-s", "-C", folder, "run")
    as_poet_run_does(resnet, folder, steps)
    print(f"mps2-an386: resnet14_cifar, {steps} steps", flush=True)
    overrun(resnet)


def overrun(plan_file):
    """A stack that is too small faults."""
    make = ["STACK_BYTES=512", "STACK_CHECK=no"]
    folder = firmware(plan_file, "overrun", 1, "mps2-an386", make)
    done = subprocess.run(["make", "-s", "-C", folder, "run", *make], capture_output=True, text=True)
    assert re.search(r"fault(, the stack is too small| at pc 0x\w+)", done.stdout + done.stderr), done.stdout + done.stderr
    assert f"Error {FAULT}" in done.stderr, done.stderr
    print("stack overrun: faults", flush=True)


(on_host if part == "host" else on_boards)()
print("passed")
