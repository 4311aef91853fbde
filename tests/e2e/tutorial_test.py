#!/usr/bin/env python3
"""Runs docs/tutorial.md: writes its programs, types its commands, and compares what they print.

usage: tutorial_test.py docs/tutorial.md POET

A block of Python is the file that its first line names. Of a console block every command has to end with 0, and the
lines shown have to be printed, in this order and to the letter; "..." stands for lines that are not shown. What differs
from machine to machine is not compared: lines labelled as in VARIES, and of a search that a time limit ends all but
labels and first words. Exit 77 without PyTorch, an ARM compiler or QEMU.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PYTHON = sys.executable
VARIES = {"Trained", "Time", "Solver", "Energy", "Kernels", "Paged"}
OF_SOLVE = {"Time", "Energy"}  # which are planned, not measured


def needed():
    """What is not there."""
    missing = [tool for tool in ("arm-none-eabi-gcc", "qemu-system-arm", "make", "cmp") if not shutil.which(tool)]
    if subprocess.run([PYTHON, "-c", "import torch, numpy"], capture_output=True).returncode:
        missing.append("python3-torch and python3-numpy")
    return missing


def blocks(text):
    """Yields (language, lines)."""
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.S | re.M):
        yield language, block.splitlines()


def commands(lines):
    """Yields (command, lines that it prints)."""
    command, printed = None, []
    for line in lines:
        if line.startswith("$ "):
            if command:
                yield command, printed
            command, printed = line[2:], []
        else:
            printed.append(line)
    if command:
        yield command, printed


def label(line):
    match = re.match(r"(\S+) {2,}\S", line)
    return match.group(1) if match else ""


def comparable(lines, command):
    """The lines without what may differ; a line that goes on with the one before is treated as that one."""
    varies = VARIES - (OF_SOLVE if " solve " in command else set())
    searched = "--time-limit" in command
    out, skipping = [], False
    for line in lines:
        if not line.startswith("  ") or line.strip() == "":
            skipping = label(line) in varies or (searched and label(line))
            if label(line) == "RAM" and " run " in command:  # how large the process was
                out.append(line.split(";")[0])
                skipping = True
            elif skipping:
                out.append(" ".join([label(line), re.split(r"[:;,(0-9]", line[len(label(line)):])[0].strip()]
                                    if searched else [label(line)]))
        if not skipping:
            out.append(line)
    return out


def missing_lines(expected, printed):
    """The lines shown that were not printed after those before them."""
    at, missing = 0, []
    for line in expected:
        if line == "...":
            continue
        try:
            at = printed.index(line, at) + 1
        except ValueError:
            missing.append(line)
    return missing


def main(tutorial, poet):
    missing = needed()
    if missing:
        print("skipped: needs", ", ".join(missing))
        return 77
    folder = tempfile.mkdtemp()
    environment = {"PATH": f"{pathlib.Path(poet).resolve().parent}:/usr/bin:/bin", "HOME": folder, "LC_ALL": "C.UTF-8"}
    environment |= {name: os.environ[name] for name in ("POET_CLOCK", "OMP_WAIT_POLICY") if name in os.environ}
    ran, wrong = 0, []
    try:
        for language, lines in blocks(pathlib.Path(tutorial).read_text()):
            if language == "python":
                pathlib.Path(folder, lines[0].removeprefix("# ")).write_text("\n".join(lines) + "\n")
                continue
            for command, shown in commands(lines):
                done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True)
                ran += 1
                if done.returncode:
                    wrong.append(f"{command}: exit code {done.returncode}: {done.stdout[-800:]}")
                for line in missing_lines(comparable(shown, command), comparable(done.stdout.splitlines(), command)):
                    wrong.append(f"{command}: does not print\n  {line}")
    finally:
        shutil.rmtree(folder)
    for one in wrong:
        print(one)
    print(f"{ran} commands, {len(wrong)} wrong")
    return 1 if wrong or ran < 10 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
