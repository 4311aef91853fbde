#!/usr/bin/env python3
"""Instructions of the firmware's kernels per multiply-add, counted by an emulator: exact, and the same every time.

usage: counts.py WORK_FOLDER [off|fast]     off: as shipped; fast: the compiler may fuse multiplications and additions

Compiles the kernels for a Cortex-M4F (mps2-an386) and a Cortex-M0 (microbit), runs them under QEMU, one instruction per
nanosecond, and holds what SysTick counts against the bounds below. Exit 77 where a compiler or the emulator is missing.
"""
import os
import shutil
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
firmware = os.path.abspath(f"{here}/../../../firmware")
