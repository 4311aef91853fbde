#!/usr/bin/env python3
"""The device profile of an emulated Cortex-M4F, from instructions counted on mps2-an386, and how well it predicts them.

usage: board_profile.py POET FIT_RATES [--work FOLDER] [--write]

Plans of several networks run for one step under QEMU with every instruction of their programs counted (make COUNT=trace);
fit_rates makes rates of each kind of operator and of transfers of them, at 64 million instructions a second. Then networks are
planned by the new profile, among them some that the fit has not seen, and what is counted is compared with the plan's time and with
what codegen states, which has the step's record as well.
--write: the profile goes to data/devices/m4-emulated.json. Exit code 1: more than 5% between the two.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HERTZ = 64e6  # one instruction per clock of an nRF52840
FITTED = {
    "linear": "--model linear --ram-budget 60000",
    "resnet14 wide": "--model resnet14_cifar --ram-budget 150000",
    "resnet14 narrow": "--model resnet14_cifar --ram-budget 58000",
    "resnet18": "--model resnet18_cifar --ram-budget 128000",
    "bert_tiny": "--model bert_tiny --sequence-length 64 --ram-budget 200000",
    "mobilenet_v2_035": "--onnx {nets}/mobilenet_v2_035.onnx --ram-budget 250000",
    "keyword_spotting": "--onnx {nets}/keyword_spotting.onnx --ram-budget 200000",
}
HELD_OUT = {
    "resnet14 middle": "--model resnet14_cifar --ram-budget 90000",
    "resnet18 whole": "--model resnet18_cifar --ram-budget 250000",
    "bert_tiny 128": "--model bert_tiny --sequence-length 128 --ram-budget 250000",
    "mobilenet_v2 narrow": "--onnx {nets}/mobilenet_v2_035.onnx --ram-budget 120000",
    "keyword_spotting narrow": "--onnx {nets}/keyword_spotting.onnx --ram-budget 80000",
}


def call(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout + done.stderr


def counted(poet, name, what, device, work):
    """Plan, answer, trace of a step; the instructions that it took."""
    folder = work / name.replace(" ", "_")
    folder.mkdir(parents=True, exist_ok=True)
    plan, trace = folder / "plan", folder / "trace"
    what = what.format(nets=work / "nets").split()
    solved = subprocess.run([poet, "solve", *what, "--platform", device, "--time-limit", "20s", "--quiet", "--json", "--plan-out", plan],
                            capture_output=True, text=True, check=True)
    stated = subprocess.run([poet, "codegen", plan, "-o", folder / "firmware", "--board", "mps2-an386", "--steps", "1", "--samples", "4",
                             "--json"], capture_output=True, text=True, check=True).stdout
    call("make", "-s", "-C", folder / "firmware", "COUNT=trace")
    text = call("make", "-s", "-C", folder / "firmware", "run", "COUNT=trace")
    trace.write_text(text)
    step, = re.findall(r"^  step (\d+) thousand", text, re.M)
    return plan, json.loads(solved.stdout), json.loads(stated), trace, 1000 * int(step)


def draft():
    """What is not fitted: from the m4's profile; transfers are waited for, since the board's storage has no DMA."""
    device = json.loads((ROOT / "data/devices/m4.json").read_text())
    device.update(name="m4-emulated", description="A Cortex-M4F at 64 million instructions a second, with the firmware's kernels, as QEMU "
                  "counts them; its storage takes no time but the processor's", flops_per_second=47e6, concurrent=False)
    counts = "measured: instructions under QEMU 7.2 at one per clock of 64 MHz (bench/board_profile.py)"
    for field in ("page_in", "page_out"):
        device["origins"][f"/{field}/latency_seconds"] = device["origins"][f"/{field}/bytes_per_second"] = counts
    device["origins"]["/flops_per_second"] = counts + ", products of matrices"
    device["origins"]["/concurrent"] = "measured: semihosting takes the processor's time"
    return device


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("poet")
    parser.add_argument("fit_rates")
    parser.add_argument("--work", default="/tmp/poet_board_profile", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    if not (options.work / "nets/keywords").exists():
        call(sys.executable, ROOT / "bench/small_networks.py", options.work / "nets")
    profile = options.work / "m4-emulated.json"
    profile.write_text(json.dumps(draft()))
    traces = []
    for name, what in FITTED.items():
        plan, _, _, trace, _ = counted(options.poet, name, what, profile, options.work)
        traces += [plan, trace]
    print(call(options.fit_rates, profile, HERTZ, *traces))
    device = json.loads(profile.read_text())
    device["origins"]["/rates"] = "measured: instructions under QEMU 7.2 at one per clock of 64 MHz (bench/board_profile.py)"
    profile.write_text(json.dumps(device, indent=1) + "\n")
    if options.write:  # codegen reads it there
        (ROOT / "data/devices/m4-emulated.json").write_text(profile.read_text())
    worst = 0
    print("| network | planned by it | instructions of a step, millions | plan's time / counted | codegen's / counted | energy, mJ |\n"
          "|---|---|---|---|---|---|")
    for name, what in {**FITTED, **HELD_OUT}.items():
        _, answer, stated, _, instructions = counted(options.poet, name, what, profile, options.work)
        planned, ratio = (n / instructions for n in (answer["runtime_seconds"] * HERTZ, stated["instructions_per_step"]))
        worst = max(worst, abs(ratio - 1))
        print(f"| {name}{'' if name in FITTED else ', not in the fit'} | {what.split(' --')[-1].replace('ram-budget ', '')} B | "
              f"{instructions / 1e6:,.1f} | {planned:.3f} | {ratio:.3f} | {1000 * answer['energy_joules']:,.2f} |", flush=True)
    return 0 if worst <= 0.05 else 1


if __name__ == "__main__":
    sys.exit(main())
