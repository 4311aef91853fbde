#!/usr/bin/env python3
"""Training steps of PyTorch modules at half and at 35% of their activations: poet.torch beside what PyTorch 2 has for that.

usage: torch_peers.py [-o TABLE.md] [--rounds N] [--time-limit SECONDS] [--only NAME,...] [--inductor]

For each module of torch_networks.py, of some with half of the batch, one thread. Activations are what PyTorch alone ("eager") holds at its peak beyond parameters,
buffers, batch, optimizer state and gradients. A cell has a step's time over eager's in the same round, the median of the rounds, in which all take turns, and
the peak that PyTorch's allocator held; of several candidates the fastest within the budget, and if none is, "over" with the smallest peak. What a first step
from the same state computes otherwise than eager in a bit stands in brackets (loss, gradients, buffers).

checkpoint   torch.utils.checkpoint around the first half, three quarters or all of the blocks
selective    the same around all blocks, with products of matrices and convolutions saved; and around the whole step, compiled (aot_eager)
min-cut      torch._functorch.config.activation_memory_budget at 0.4 and 0.1, compiled (aot_eager; with --inductor by Inductor, too)
hooks        every saved tensor in a file
poet         compile_step(ram_budget=..., updates="last"), pages in /var/tmp
policy       poet.torch.policy(): the same budget without pages, autograd's own backward pass

Exit 1 when poet's step differs from eager's in a bit, or a peak of it is above its plan.
"""
import copy
import functools
import os
import statistics
import tempfile
import time
import warnings

import torch
import torch._functorch.config
from torch._dynamo.backends.registry import lookup_backend
from torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts

import poet.torch
from torch_networks import NETWORKS, blocks_of
from torch_steps import Way, checkpointed, mb, table_of, with_hooks

PARTS = (0.5, 0.35)
HALVED = ("resnet18", "resnet50", "mobilenet_v2", "vgg16", "densenet121", "vit", "lstm")  # the batches of
PEERS = ("checkpoint", "selective", "min-cut", "hooks")
aten = torch.ops.aten
PRODUCTS = [aten.mm.default, aten.addmm.default, aten.bmm.default, aten.baddbmm.default, aten.convolution.default,
            aten._scaled_dot_product_flash_attention_for_cpu.default]  # fmt: skip
products_saved = functools.partial(create_selective_checkpoint_contexts, PRODUCTS)


def whole(way, context_fn):
    """A forward pass with its loss in one checkpoint."""
    return lambda: checkpoint(way.loss, use_reentrant=False, context_fn=context_fn)


def peers_of(name, fresh, folder, inductor):
    """The ways that PyTorch has, by what they are."""
    ways = {}
    count = len(blocks_of(name, fresh().module))
    for part in sorted({max(1, count * quarter // 4) for quarter in (2, 3, 4)}):
        way = fresh()
        checkpointed(way.module, blocks_of(name, way.module)[:part])
        ways["checkpoint", f"{part} of {count}"] = way
    way = ways["selective", "by block"] = fresh()
    checkpointed(way.module, blocks_of(name, way.module), context_fn=products_saved)
    way = ways["selective", "compiled"] = fresh()
    compiled(way, whole(way, products_saved), "aot_eager")
    for backend in ["aot_eager"] + ["inductor"] * inductor:
        for budget in (0.4, 0.1):
            way = ways["min-cut", f"{budget}" + ", inductor" * (backend == "inductor")] = fresh()
            compiled(way, way.loss, backend, budget)
    way = ways["hooks", ""] = fresh()
    way.step = with_hooks(way, folder)
    return ways


def compiled(way, forward, backend, budget=1.0):
    """Has torch.compile compile the forward pass, by a first step, with a backend of its own: modules are inputs of what it compiles, so that copies
    of one would share the first one's graph, and its budget. Whatever is compiled later has the way's budget, too."""
    state = copy.deepcopy(way.module.state_dict())
    way.forward = torch.compile(forward, backend=lambda graph, inputs: lookup_backend(backend)(graph, inputs))

    def step():
        with torch._functorch.config.patch(activation_memory_budget=budget):
            return way.plain()

    way.step = step
    begin = time.perf_counter()
    way.failure = failure_of(way)
    way.compiling = time.perf_counter() - begin
    way.module.load_state_dict(state)
    way.optimizer.state.clear()


def failure_of(way):
    """Runs a step. Returns why it fails in a word, or None."""
    try:
        way.step()
    except Exception as error:
        return "changed in place" if "mutated" in str(error) else type(error).__name__
    return None


def ours(fresh, budget, time_limit):
    """The step of compile_step() within a budget, and the policy of one without pages; or why there is none."""
    ways = []
    for options in ({"storage": "/var/tmp"}, {"storage": None, "updates": "none"}, {"storage": None}):
        if len(ways) == 2:
            break  # with gradients that are there all the time there was a plan
        way = fresh()
        begin = time.perf_counter()
        try:
            step = poet.torch.compile_step(way.module, way.loss_fn, way.optimizer, way.batch, ram_budget=budget, time_limit=time_limit, **options)
        except poet.InputError:
            if len(ways) == 0 or "updates" not in options:
                ways.append(None)
            continue
        way.compiling = time.perf_counter() - begin
        way.plan = step.peak_bytes
        if ways or options["storage"] is None:
            way.forward = whole(way, poet.torch.policy(step))
        else:
            way.step = lambda step=step, batch=way.batch: step(batch)
        ways.append(way)
    return ways


def differences(way, eager, losses):
    """What a first step has made otherwise in a bit. The optimizer's momentum is then the gradient."""
    pairs = zip(way.optimizer.state.values(), eager.optimizer.state.values())
    buffers = zip(way.module.buffers(), eager.module.buffers())
    found = ["loss"] * (not torch.equal(*losses))
    found += ["gradients"] * (not all(torch.equal(a["momentum_buffer"], b["momentum_buffer"]) for a, b in pairs))
    return found + ["buffers"] * (not all(torch.equal(a, b) for a, b in buffers))


def measure(name, rounds, time_limit, inductor):
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    torch.manual_seed(0)
    module, loss_fn, batch = NETWORKS[name]()
    if name in HALVED:
        batch = tuple(tensor[: len(tensor) // 2].clone() for tensor in batch)
    fresh = lambda: Way(copy.deepcopy(module), loss_fn, batch)  # noqa: E731
    eager = fresh()
    eager.step()
    there = eager.held() + sum(p.numel() * p.element_size() for p in module.parameters())
    activations = eager.peak() - there
    eager = fresh()
    folder = tempfile.mkdtemp(prefix="poet-hooks-", dir="/var/tmp")
    ways = peers_of(name, fresh, folder, inductor)
    for part in PARTS:
        for kind, way in zip(("poet", "policy"), ours(fresh, int(there + part * activations), time_limit)):
            if way is not None:
                ways[kind, part] = way
    for way in ways.values():
        way.failure = getattr(way, "failure", None)
    for i in range(rounds + 1):  # the first one warms up
        loss = eager.timed(i)
        for way in ways.values():
            if way.failure is None:
                torch.manual_seed(i)
                try:
                    theirs = way.timed(i)
                except Exception as error:
                    way.failure = "changed in place" if "mutated" in str(error) else type(error).__name__
                    continue
                if i == 0:
                    way.differs = differences(way, eager, (theirs, loss))
    for way in ways.values():
        way.high = way.peak() if way.failure is None else None
    os.rmdir(folder)
    failed = False
    for part in PARTS:
        budget = there + part * activations
        chosen = {kind: best({label: way for (each, label), way in ways.items() if each == kind}, budget, eager) for kind in PEERS}
        mine, policy = ways.get(("poet", part)), ways.get(("policy", part))
        cells = [cell(mine, budget, eager), cell(policy, budget, eager)] + [text for text, _ in chosen.values()]
        within = [way for _, way in chosen.values() if way is not None]
        against = [statistics.median(a / b for a, b in zip(mine.times[1:], way.times[1:])) for way in within] if mine else []
        failed |= mine is not None and (bool(mine.differs) or mine.high > mine.plan)
        seconds = [f"{way.compiling:.0f}" if way else "" for way in (mine, policy, ways["min-cut", "0.1"])]
        print("| " + " | ".join([name, f"{part:.0%}", mb(budget), *cells, f"{max(against):.2f}" if against else ("none goes" if mine else ""), ", ".join(seconds)]) + " |",
              flush=True)  # fmt: skip
    print(f"| {name} | eager | {mb(there + activations)} | 1 ({statistics.median(eager.times[1:]):.2f} s) |  |  |  |  |  |  |  |", flush=True)
    return 1 if failed else 0


def ratio(way, eager):
    return statistics.median(a / b for a, b in zip(way.times[1:], eager.times[1:]))


def cell(way, budget, eager, label=""):
    if way is None:
        return "no plan"
    if way.failure is not None:
        return way.failure
    held = f"{mb(way.high)} MB" + f", {label}" * bool(label)
    text = f"{ratio(way, eager):.2f} ({held})" if way.high <= budget else f"over ({held})"
    return text + f" [{', '.join(way.differs)}]" * bool(way.differs)


def best(ways, budget, eager):
    """Returns the cell of the fastest within the budget, and that way; else of the smallest, and None."""
    run = {label: way for label, way in ways.items() if way.failure is None}
    if not run:
        return next(iter(ways.values())).failure, None
    within = {label: way for label, way in run.items() if way.high <= budget}
    if within:
        label = min(within, key=lambda label: ratio(within[label], eager))
        return cell(within[label], budget, eager, label), within[label]
    label = min(run, key=lambda label: run[label].high)
    return cell(run[label], budget, eager, label), None


HEAD = f"""| module | of activations | budget, MB | poet | policy | {" | ".join(PEERS)} | poet / best peer | compiling: poet, policy, min-cut, s |
|---|---|---|---|---|---|---|---|---|---|---|
"""


if __name__ == "__main__":
    table_of(__file__, __doc__, HEAD, 3, "--inductor", "min-cut by Inductor, too, which compiles C++", measure)
