#!/usr/bin/env python3
"""Training steps of PyTorch modules within RAM budgets: poet.torch next to PyTorch alone, torch.utils.checkpoint and pages by hooks.

usage: torch_steps.py [-o TABLE.md] [--rounds N] [--time-limit SECONDS] [--only NAME,...] [--tight]

For each module of torch_networks.py, one thread: PyTorch alone ("eager"); poet.torch at 100%, 60% and 40% of eager's peak and at the least RAM
(updates="early"), and at 60% of eager's activations (updates="last", as eager does it); checkpoint around the first n/4, n/2, 3n/4 and all n blocks,
of which the fastest within the budget counts; every saved tensor to a file and back (torch.autograd.graph.saved_tensors_hooks). Peaks are what PyTorch's
allocator held at most, all that is there before the step included, by PyTorch's own profiler. Times are medians over rounds in which all take turns,
divided by eager's in the same round. Exit 1 when poet's loss, parameters or buffers differ from eager's in a bit, or a peak is above its plan.
"""
import argparse
import copy
import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time
import types

import torch
from torch.utils.checkpoint import checkpoint

import poet.torch
from poet.torch.device import allocations
from torch_networks import NETWORKS, blocks_of

PARTS = ("100%", "60%", "40%", "least", "60% of activations")


class Way:
    """A way to train a copy of the module: its optimizer, its step, its times."""

    def __init__(self, module, loss_fn, batch, step=None):
        self.module, self.loss_fn, self.batch = module, loss_fn, batch
        self.optimizer = torch.optim.SGD(module.parameters(), 0.01, momentum=0.9)
        self.step = step or self.plain
        self.forward = self.loss
        self.times = []

    def loss(self):
        return self.loss_fn(self.module(*self.batch[:-1]), self.batch[-1])

    def plain(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.forward()
        loss.backward()
        self.optimizer.step()
        for parameter in self.module.parameters():
            parameter.grad = None
        return loss.detach()

    def timed(self, seed):
        torch.manual_seed(seed)
        begin = time.perf_counter()
        loss = self.step()
        self.times.append(time.perf_counter() - begin)
        return loss

    def held(self):
        tensors = [*self.module.parameters(), *self.module.buffers(), *self.batch]
        tensors += [each for state in self.optimizer.state.values() for each in state.values() if isinstance(each, torch.Tensor)]
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors)

    def peak(self):
        before = self.held()
        return before + allocations(self.step)[1]

    def resident(self):
        """By how much the process grows in a step, as the kernel counts it."""
        ctypes.CDLL(None).malloc_trim(0)
        before = resident("VmRSS")
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        self.step()
        return resident("VmHWM") - before


def resident(field):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field))


def checkpointed(module, blocks, **options):
    options = {"use_reentrant": False, **options}
    for block in blocks:
        forward = block.forward
        if type(block).__name__ == "_DenseLayer":  # takes a list
            several = lambda *tensors, forward=forward: forward(list(tensors))  # noqa: E731
            block.forward = types.MethodType(lambda self, tensors, several=several: checkpoint(several, *tensors, **options), block)
            continue
        block.forward = types.MethodType(lambda self, *args, forward=forward, **more: checkpoint(forward, *args, **options, **more), block)


def with_hooks(way, folder):
    """Saved tensors in files; parameters stay, as they are there anyway."""
    own = {p.data_ptr() for p in way.module.parameters()}
    count = iter(range(1 << 40))

    def pack(tensor):
        if tensor.data_ptr() in own or not tensor.numel():
            return tensor
        name = os.path.join(folder, str(next(count)))
        tensor.detach().contiguous().numpy().tofile(name)
        return name, tensor.shape, tensor.dtype

    def unpack(saved):
        if isinstance(saved, torch.Tensor):
            return saved
        name, shape, kind = saved
        tensor = torch.empty(shape, dtype=kind)
        with open(name, "rb") as file:
            file.readinto(tensor.view(-1).numpy())
        return tensor

    def step():
        with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
            loss = way.plain()
        for file in os.scandir(folder):
            os.unlink(file.path)
        return loss

    return step


def same(one, other):
    return all(torch.equal(a, b) for a, b in zip(one.module.state_dict().values(), other.module.state_dict().values()))


def measure(name, rounds, time_limit, tight):
    if tight:
        poet.torch.return_freed_memory()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    module, loss_fn, batch = NETWORKS[name]()
    eager = Way(copy.deepcopy(module), loss_fn, batch)
    torch.manual_seed(0)
    eager.step()
    rest = eager.held()
    peak = eager.peak()
    gradients = sum(p.numel() * p.element_size() for p in module.parameters())
    ways = {}
    for part in PARTS:
        early = not part.endswith("activations")
        if part == "least":
            budget = part
        elif early:
            budget = int(peak * float(part[:-1]) / 100) + (1 << 16 if part == "100%" else 0)  # what the plan reserves for small things
        else:
            budget = int(rest + gradients + 0.6 * (peak - rest - gradients))
        way = Way(copy.deepcopy(module), loss_fn, batch)
        begin = time.perf_counter()
        try:
            step = poet.torch.compile_step(way.module, loss_fn, way.optimizer, batch, ram_budget=budget, storage="/var/tmp",
                                           updates="early" if early else "last", time_limit=time_limit)  # fmt: skip
        except poet.InputError as error:
            ways[part] = str(error)
            continue
        way.compiling = time.perf_counter() - begin
        way.poet = step
        way.step = lambda step=step: step(batch)
        ways[part] = way
    others = {}
    plain = copy.deepcopy(module)
    count = len(blocks_of(name, plain))
    for part in sorted({max(1, count * quarter // 4) for quarter in (1, 2, 3, 4)}):
        mine = copy.deepcopy(module)
        blocks = blocks_of(name, mine)
        checkpointed(mine, blocks[:part])
        others[f"{part} of {count}"] = Way(mine, loss_fn, batch)
    folder = tempfile.mkdtemp(prefix="poet-hooks-", dir="/var/tmp")
    hooks = Way(copy.deepcopy(module), loss_fn, batch)
    hooks.step = with_hooks(hooks, folder)
    others["hooks"] = hooks

    fresh = Way(copy.deepcopy(module), loss_fn, batch)
    mine = {part: way for part, way in ways.items() if isinstance(way, Way)}
    right = {part: True for part in mine}
    for i in range(rounds + 1):
        losses = {"eager": fresh.timed(i)}
        for part, way in {**mine, **others}.items():
            losses[part] = way.timed(i)
        for part, way in mine.items():
            right[part] = right[part] and torch.equal(losses[part], losses["eager"]) and same(way, fresh)
    ratio = lambda way: statistics.median(a / b for a, b in zip(way.times[1:], fresh.times[1:]))  # noqa: E731  # the first one warms up
    peaks = {label: way.peak() for label, way in {**mine, **others}.items()}
    os.rmdir(folder)
    eager_seconds = statistics.median(fresh.times[1:])
    rows, failed = [], False
    for part, way in ways.items():
        if isinstance(way, str):
            rows.append([name, part, "", "", "", "", "", way.split(";")[0][:60], "", ""])
            continue
        step = way.poet
        allowed = step.peak_bytes if part == "least" else max(step.peak_bytes, 0)
        within = [(ratio(other), label) for label, other in others.items() if label != "hooks" and peaks[label] <= max(allowed, step.result.ram_budget)]
        best = f"{min(within)[0]:.2f} ({min(within)[1]})" if within else "cannot"
        failed |= not right[part] or peaks[part] > step.peak_bytes
        bound = step.result.bound / step.result.baseline - 1
        rows.append([name, part, mb(step.peak_bytes), mb(peaks[part]), mb(way.resident()), "equal" if right[part] else "DIFFERENT", f"{ratio(way):.2f}", best,
                     f"{step.result.overhead:.1%} (>= {bound:.1%})", f"{way.compiling:.0f}"])  # fmt: skip
    rows.append([name, "eager", mb(peak), mb(peak), mb(fresh.resident()), "", f"1 ({eager_seconds:.2f} s)", "", "", ""])
    rows.append([name, "hooks", "", mb(peaks["hooks"]), "", "", f"{ratio(hooks):.2f}", "", "", ""])
    print("\n".join("| " + " | ".join(row) + " |" for row in rows), flush=True)
    return 1 if failed else 0


def mb(size):
    return f"{size / 1e6:.1f}"


HEAD = """| module | budget | plan, MB | held, MB | process grows, MB | bits | time / eager | checkpoint within it | energy over keep-all (proven) | compiling, s |
|---|---|---|---|---|---|---|---|---|---|
"""


def table_of(script, description, head, time_limit, flag, about, measure):
    """The program: measure(name, rounds, time limit, flag) prints the rows of a module, each in a process of its own; exit 1 if one returns that."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", metavar="TABLE.md")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=time_limit)
    parser.add_argument("--only", default=",".join(NETWORKS))
    parser.add_argument(flag, action="store_true", dest="flag", help=about)
    parser.add_argument("--here", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        sys.exit(measure(options.here, options.rounds, options.time_limit, options.flag))
    table, failed = head, False
    print(head, end="", flush=True)
    for name in options.only.split(","):
        done = subprocess.run([sys.executable, script, "--here", name, "--rounds", str(options.rounds), "--time-limit", str(options.time_limit)]
                              + [flag] * options.flag, stdout=subprocess.PIPE, text=True)  # fmt: skip
        print(done.stdout, end="", flush=True)
        table += done.stdout
        failed |= done.returncode != 0
    if options.o:
        with open(options.o, "w") as file:
            file.write(table)
    sys.exit(failed)


if __name__ == "__main__":
    table_of(__file__, __doc__, HEAD, 10, "--tight", "freed memory goes back to the operating system: the process, too, keeps to the plan", measure)
