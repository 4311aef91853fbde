#!/usr/bin/env python3
"""Networks trained by firmware on emulated boards, and whether they end where poet run ends.

usage: microcontroller.py POET [--only NAME,...] [--work FOLDER] [--list]

For each network: a plan, its firmware, a run under QEMU with the board's RAM enforced, the same steps by poet run with the
portable kernels; parameters, optimiser state and the last loss must be equal in every bit. Prints a table. Exit code 1 when
bits differ or a run fails; networks of one's own are exported by PyTorch and left out where it is not installed.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
from torch_or_skip import need  # noqa: E402

need("numpy")
import tensor_files  # noqa: E402

# Name -> what `poet solve` is told, the board, variables of make, steps, data (else synthetic).
CASES = {
    "linear": ("--model linear --platform m0 --ram-budget 26KiB", "microbit", "", 200, None),
    "linear m0": ("--model linear --platform m0 --ram-budget 26KiB", "lm3s6965evb", "CORE=m0", 200, None),
    "resnet14_cifar": ("--model resnet14_cifar --platform m4 --ram-budget 58000", "lm3s6965evb", "", 20, None),
    "resnet18_cifar": ("--model resnet18_cifar --platform m4 --ram-budget 250000 --time-limit 20s", "mps2-an386", "", 10, None),
    "resnet18_cifar sd": ("--model resnet18_cifar --platform m4 --ram-budget 58000 --time-limit 60s", "lm3s6965evb", "", 1, None),
    "bert_tiny": ("--model bert_tiny --sequence-length 128 --platform m4 --ram-budget 250000 --time-limit 20s", "mps2-an386", "", 10,
                  None),
    "mobilenet_v2_035": ("--onnx {nets}/mobilenet_v2_035.onnx --platform m4 --ram-budget 250000", "mps2-an386", "", 10, "cifar"),
    "keyword_spotting": ("--onnx {nets}/keyword_spotting.onnx --platform m4 --ram-budget 250000", "mps2-an386", "", 10, "keywords"),
    "bert": ("--model bert --sequence-length 128 --platform m4 --ram-budget 224000 --beyond-device-ram --time-limit 60s", "mps2-an386", "", 1, None),
}
SLOW = {"bert"}


def call(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout + done.stderr  # what firmware says by semihosting is on stderr


def exported(folder):
    """The networks of small_networks.py, once; False where PyTorch is not installed."""
    if not (folder / "keywords").exists():
        done = subprocess.run([sys.executable, pathlib.Path(__file__).with_name("small_networks.py"), folder])
        return done.returncode == 0
    return True


def row(poet, name, work):
    what, board, make, steps, data = CASES[name]
    work.mkdir(parents=True, exist_ok=True)
    if "{nets}" in what and not exported(work.parent / "nets"):
        return None
    what = what.format(nets=work.parent / "nets").split()
    data = ["--data", work.parent / "nets" / data] if data else ["--samples", 64]
    plan, folder = work / "plan", work / "firmware"
    call(poet, "solve", *what, "--quiet", "--plan-out", plan)
    call(poet, "codegen", plan, "-o", folder, "--board", *board.split(), "--steps", steps, *data)
    call("make", "-s", "-C", folder, *make.split())
    begin = time.monotonic()
    text = call("make", "-s", "-C", folder, "run", *make.split())
    seconds = time.monotonic() - begin
    losses = re.findall(r"^step \d+ loss (\S+) 0x\w+$", text, re.M)
    call(poet, "run", plan, "--kernels", "reference", "--steps", steps, *data, "--quiet", "--checkpoint", work / "host")
    call(poet, "card", plan, folder / "card.img", "--checkpoint", work / "board")
    host, card = (tensor_files.read_safetensors(work / side) for side in ("host", "board"))
    equal = host.keys() == card.keys() and all(host[t].tobytes() == card[t].tobytes() for t in host)
    return [name, " ".join(what[4:6]), f"{board} {make}".strip(), str(steps), f"{losses[0]} to {losses[-1]}", f"{seconds:.0f} s",
            "equal" if equal else "DIFFERENT"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("poet")
    parser.add_argument("--only", help="names, separated by commas")
    parser.add_argument("--work", default="/tmp/poet_boards", type=pathlib.Path)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else [name for name in CASES if name not in SLOW]
    if options.list:
        print("\n".join(CASES))
        return 0
    good = True
    print("| network | RAM budget | board | steps | loss | emulated in | bits |\n|---|---|---|---|---|---|---|", flush=True)
    for name in names:
        found = row(options.poet, name, options.work / name.replace(" ", "_"))
        if found is None:
            print(f"| {name} | skipped: no PyTorch |", flush=True)
            continue
        good = good and found[-1] == "equal"
        print("| " + " | ".join(found) + " |", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
