#!/usr/bin/env python3
"""Transfers that an interrupt carries on beside computing change no bit, whatever their rate: under QEMU, with its SD card.

usage: firmware_overlap_test.py POET WORK_FOLDER rates

Losses and the whole card are those of a run without the interrupt, and of poet run. An engine that waits for one transfer too few is
found out. Exit 77 where a compiler or the emulator is missing.
"""
import shutil
import subprocess

from firmware_support import *

STEPS = 2
# Of the interrupt: who carries on, ns from one to the next, bytes each.
RATES = cases((("on", 1000, 8), ("paced", 20000, 512), ("blocking", 2000, 16)),
              (("on", 100, 512), ("on", 1000, 8), ("on", 30000, 64), ("on", 1000000, 1), ("paced", 100, 8), ("paced", 20000, 512),
               ("blocking", 2000, 16)))
SLOW = cases((("on", 1000000, 1),), (("on", 1000000, 1), ("paced", 30000, 8)))
FILE_RATES = cases((("on", 1000, 8),), (("on", 1000, 8), ("paced", 100, 8)))


def options(rate):
    who, ns, count = rate
    return [f"OVERLAP={who}", f"TICK_NS={ns}", f"TICK_BYTES={count}", "ICOUNT=1"]


def train(folder, fresh, make):
    store(f"{folder}/card.img", fresh)
    made(folder, *make)
    return emulate(folder, command_of(folder, *make), code=None)


def rates(plan_file, board, all_rates):
    folder = firmware(plan_file, f"rates_{board}", STEPS, board, ["OVERLAP=off"])
    card = f"{folder}/card.img"
    fresh = contents(card)
    code, text = train(folder, fresh, ["OVERLAP=off"])
    assert code == 0, text
    as_poet_run_does(plan_file, folder, STEPS)
    wanted, whole = contents(card), losses(text)
    assert len(whole) == STEPS
    for rate in all_rates:
        code, text = train(folder, fresh, options(rate))
        assert code == 0 and losses(text) == whole, f"{rate}: exit {code}\n{text}"
        assert contents(card) == wanted, f"{rate}: other bits on the card"
    print(f"{board}: {len(all_rates)} rates, {STEPS} steps each, equal in every bit")
    return folder, fresh, wanted


def too_early(folder, fresh, wanted):
    """An engine that waits for one transfer too few."""
    broken = f"{folder}_broken"
    shutil.rmtree(broken, ignore_errors=True)
    shutil.copytree(folder, broken)
    source = open(f"{broken}/engine/poet_engine.c").read()
    right = "poet_channel_wait(varint())"
    assert source.count(right) == 1
    open(f"{broken}/engine/poet_engine.c", "w").write(source.replace(right, "poet_channel_wait(varint() + 1)"))
    for rate in SLOW:
        code, text = train(broken, fresh, options(rate))
        assert code != 0 or contents(f"{broken}/card.img") != wanted, f"{rate}: not found out"
        print(f"one transfer too few waited for, {rate}: " + ("other bits" if code == 0 else f"exit {code}"))


needs_emulator()
PLAN = linear()
too_early(*rates(PLAN, "lm3s6965evb", RATES))
rates(PLAN, "mps2-an386", FILE_RATES)
print("passed")
