#!/usr/bin/env python3
"""torchvision's networks, and others (torch_networks.py), exported by PyTorch and imported by POET (the program).

usage: import_torchvision.py POET [--list] [--all] [--modes all] [PATTERN...]

Every network has random weights and a batch of two. One line for each: parameters, multiply-accumulates of the forward
pass, operators, and the processor time of the import, or why it failed. Checked are, exactly:
- parameters: PyTorch's, as far as the output depends on them (heads for training only are left out, and said);
  also against the number that torchvision publishes, where it does;
- multiply-accumulates: those of the convolutions and matrix products that PyTorch runs in one forward pass.
PATTERN (as of file names) chooses networks. Without one, those of more than 100 million parameters are left out, but
for one of their kind; --all takes them too. They are exported with opset 13 in training mode without constant
folding (what PyTorch cannot export so, in evaluation mode or with opset 16); with --modes all, opsets 13 and 16, every
mode, with and without folding. Exit code 1: something failed. 77: PyTorch or torchvision is not installed.
"""

import argparse
import fnmatch
import gc
import json
import os
import resource
import subprocess
import sys
import tempfile

from torch_or_skip import need

need("torch", "torchvision")
import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

import torch_export  # noqa: E402
from torch_networks import networks  # noqa: E402

LARGE = 100_000_000
# Where the smallest of a family is above LARGE.
TAKEN_ANYWAY = {"vgg11", "vgg11_bn"}


class Macs(TorchDispatchMode):
    """Counts multiply-accumulates of convolutions and matrix products while it is on."""

    def __init__(self):
        super().__init__()
        self.total, self.paused = 0, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        if not self.paused:
            self.total += self.of(function.overloadpacket.__name__, args, out)
        return out

    @staticmethod
    def of(name, args, out):
        if name in ("convolution", "_convolution"):
            x, weight, is_transposed = args[0], args[1], args[6]
            return (x if is_transposed else out).numel() * weight[0].numel()
        if name in ("mm", "bmm", "mv", "dot"):
            return out.numel() * args[0].shape[-1]
        if name in ("addmm", "baddbmm", "addmv"):
            return out.numel() * args[1].shape[-1]
        return 0


def parameters_of(out):
    """Those that it was computed from."""
    found, todo, seen = set(), [out.grad_fn], set()
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            found.add(node.variable)
        todo += [before for before, _ in node.next_functions]
    return found


def examine(net, inputs):
    """The parameters that the output depends on, names of the others, and the multiply-accumulates without modules
    of which no parameter is used (heads that only training has)."""
    used = parameters_of(net(*inputs))
    unused = sorted(name for name, p in net.named_parameters() if p not in used)
    counter = Macs()

    def pause(*_):
        counter.paused += 1

    def resume(*_):
        counter.paused -= 1

    handles = []
    for module in net.modules():
        own_parameters = list(module.parameters())
        if own_parameters and not used.intersection(own_parameters):
            handles += [module.register_forward_pre_hook(pause), module.register_forward_hook(resume)]
    with counter:  # with gradients: without them, in evaluation mode, attention is one operator
        net(*inputs)
    for handle in handles:
        handle.remove()
    return used, unused, counter.total


def folded(net, inputs):
    """By how much the parameters are fewer where exporters put a batch normalisation into the convolution before."""
    produced, less, handles = {}, [0], []

    def convolved(module, _inputs, output):
        produced[id(output)] = (module, output)

    def normalised(module, given, _output):
        conv = produced.get(id(given[0]))
        if conv is not None:
            channels = module.num_features
            less[0] += 2 * channels if conv[0].bias is not None else channels

    for module in net.modules():
        if isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
            handles.append(module.register_forward_hook(convolved))
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            handles.append(module.register_forward_hook(normalised))
    net(*inputs)
    for handle in handles:
        handle.remove()
    return less[0]


class Mode:
    """PRESERVE is for a network in evaluation mode: as EVAL, but nothing is put into the convolutions."""

    def __init__(self, opset, training, folding=False):
        self.opset, self.training, self.folding = opset, training, folding
        self.text = f"{opset} {training}{' folded' if folding else ''}"


# The first one in which PyTorch can export the network.
DEFAULT_MODES = [Mode(13, "TRAINING"), Mode(13, "PRESERVE"), Mode(16, "TRAINING"), Mode(16, "PRESERVE")]
ALL_MODES = [Mode(o, t, f) for o in (13, 16) for t in ("TRAINING", "EVAL", "PRESERVE") for f in (False, True)]


def export(net, inputs, path, mode):
    """Empty, or what PyTorch says when it cannot. Its warnings are not about the file."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)  # the exporter prints
    try:
        torch_export.export(net, inputs, path, mode.opset, mode.training, mode.folding)
        return ""
    except Exception as error:  # of many classes
        return str(error).strip().split("\n")[0][:120] or type(error).__name__
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def short(count):
    for unit in ("", " k", " M", " G"):
        if count < 1000 or unit == " G":
            return f"{count:.3g}{unit}" if count >= 1 else "0"
        count /= 1000


def heads(unused):
    """Modules rather than every parameter of them."""
    return ", ".join(sorted({".".join(name.removeprefix("net.").split(".")[:1]) for name in unused}))


def one(poet, network, mode, folder):
    """The line about one network in one mode, and whether all is well: True, False, or None where PyTorch fails."""
    build, make_inputs, published = network
    torch.manual_seed(0)
    net = build()
    net.requires_grad_(True)
    net.train(mode.training == "TRAINING")
    inputs = make_inputs()
    used, unused, macs = examine(net, inputs)
    of_use, of_all = (sum(p.numel() for p in which) for which in (used, net.parameters()))
    expected = of_use - (folded(net, inputs) if mode.training == "EVAL" else 0)
    path = os.path.join(folder, "net.onnx")
    error = export(net, inputs, path, mode)
    if error:
        return f"PyTorch does not export it: {error}", None
    del net, used
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run([poet, "import", path, "--json"], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    os.remove(path)
    if run.returncode != 0:
        return run.stderr.strip().replace(path, "FILE"), False
    ours, problems = json.loads(run.stdout)["total"], ""
    if ours["parameters"] != expected:
        problems += f"; WRONG: PyTorch has {expected:,} parameters"
    if ours["forward_macs"] != macs:
        problems += f"; WRONG: PyTorch runs {macs:,} multiply-accumulates, not {ours['forward_macs']:,}"
    if published not in (None, of_use, of_all):
        problems += f"; WRONG: torchvision publishes {published:,} parameters, PyTorch has {of_all:,}"
    notes = f"; unused: {heads(unused)}" if unused else ""
    line = f"{ours['parameters']:>11,} {short(ours['forward_macs']):>7} {ours['ops']:>5} {seconds:>6.2f}"
    return line + notes + problems, not problems


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("poet", metavar="POET")
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--modes", choices=["default", "all"], default="default")
    arguments = parser.parse_intermixed_args()
    known = networks()
    for pattern in arguments.patterns:
        if not fnmatch.filter(known, pattern):
            sys.exit(f"no network is called {pattern}; --list shows them")
    chosen = {name: network for name, network in known.items()
              if (any(fnmatch.fnmatch(name, pattern) for pattern in arguments.patterns) if arguments.patterns
                  else arguments.all or name in TAKEN_ANYWAY or (network[2] or 0) <= LARGE)}
    if arguments.list:
        print("\n".join(chosen))
        return 0
    counts = {True: 0, False: 0, None: 0}
    print(f"{'network':<36} {'opset, mode':<18} {'parameters':>11} {'MACs':>7} {'ops':>5} {'s':>6}")
    with tempfile.TemporaryDirectory() as folder:
        for name, network in chosen.items():
            for mode in ALL_MODES if arguments.modes == "all" else DEFAULT_MODES:
                line, well = one(arguments.poet, network, mode, folder)
                gc.collect()
                if well is None and arguments.modes == "default" and mode is not DEFAULT_MODES[-1]:
                    continue
                counts[well] += 1
                print(f"{name:<36} {mode.text:<18} {line}", flush=True)
                if arguments.modes == "default":
                    break
    unexported = f", {counts[None]} not exported by PyTorch" if counts[None] else ""
    print(f"{counts[True]} imported, {counts[False]} failed{unexported}")
    return 1 if counts[False] or counts[True] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
