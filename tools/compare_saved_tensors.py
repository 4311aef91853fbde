#!/usr/bin/env python3
"""What PyTorch's autograd saves for the backward pass next to what poet's training graph keeps for it.

usage: compare_saved_tensors.py POET [NETWORK...]

Small networks are defined here, run one training step in PyTorch, are exported to ONNX by it and imported by
POET (the program). On both sides what is counted is the memory of distinct tensors that the backward pass
reads and the forward pass (or the data of the step) has made: no parameters, no running statistics. Every
difference must have one of the reasons below; what is left over is printed as unexplained, and the exit code
is 1 when that is not 0. The reasons are those of PyTorch 1.13. Exit code 77: PyTorch is not installed, or it is
another version and something is unexplained.
"""

import collections
import json
import os
import subprocess
import sys
import tempfile

from torch_or_skip import need

need("torch")
import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from torch_blocks import First, Pooled, Residual, basic, conv_bn, encoder  # noqa: E402
from torch_export import export  # noqa: E402

BATCH = 4


def bottleneck(a, b, stride=1):
    body = nn.Sequential(conv_bn(a, b, 1), conv_bn(b, b, 3, stride), conv_bn(b, 4 * b, 1, act=None))
    return Residual(body, None if a == 4 * b else conv_bn(a, 4 * b, 1, stride, act=None), nn.ReLU())


def inverted(a, b, stride):
    wide = 6 * a
    body = nn.Sequential(conv_bn(a, wide, 1, act=nn.ReLU6), conv_bn(wide, wide, 3, stride, wide, nn.ReLU6),
                         conv_bn(wide, b, 1, act=None))
    return Residual(body) if a == b and stride == 1 else body


def residual_net(block, stem, widths, blocks, expansion=1):
    layers, at = [conv_bn(3, stem)], stem
    for i, width in enumerate(widths):
        for j in range(blocks):
            layers.append(block(at, width, 2 if i > 0 and j == 0 else 1))
            at = expansion * width
    return nn.Sequential(*layers, Pooled(at))


def mlp():
    widths = [784, 10, 120, 100, 200, 10, 10]
    layers = []
    for a, b in zip(widths, widths[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers)


def lenet():
    return nn.Sequential(nn.Conv2d(3, 6, 5), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 5), nn.Sigmoid(),
                         nn.AvgPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.Tanh(), nn.Linear(120, 10))


def vgg16():
    layers, at = [], 3
    for width in (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0):
        layers += [nn.Conv2d(at, width, 3, padding=1), nn.ReLU()] if width else [nn.MaxPool2d(2)]
        at = width or at
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(512, 4096), nn.ReLU(), nn.Dropout(0.5),
                         nn.Linear(4096, 4096), nn.ReLU(), nn.Dropout(0.5), nn.Linear(4096, 10))


class Fire(nn.Module):
    def __init__(self, a, squeeze, expand):
        super().__init__()
        self.squeeze = nn.Sequential(nn.Conv2d(a, squeeze, 1), nn.ReLU())
        self.one = nn.Sequential(nn.Conv2d(squeeze, expand, 1), nn.ReLU())
        self.three = nn.Sequential(nn.Conv2d(squeeze, expand, 3, padding=1), nn.ReLU())

    def forward(self, x):
        x = self.squeeze(x)
        return torch.cat([self.one(x), self.three(x)], 1)


def squeezenet():
    return nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), Fire(64, 16, 64),
                         Fire(128, 16, 64), nn.MaxPool2d(2), Fire(128, 32, 128), nn.Dropout(0.5),
                         Pooled(256))


def mobilenet_v2():
    return nn.Sequential(conv_bn(3, 32, act=nn.ReLU6), inverted(32, 16, 1), inverted(16, 24, 2),
                         inverted(24, 24, 1), inverted(24, 32, 2), conv_bn(32, 128, 1, act=nn.ReLU6),
                         Pooled(128))


class Excite(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(channels, channels // 4, 1), nn.ReLU(),
                                   nn.Conv2d(channels // 4, channels, 1), nn.Hardsigmoid())

    def forward(self, x):
        return self.scale(x) * x


def mobilenet_v3():
    body = [conv_bn(3, 16, act=nn.Hardswish)]
    for a, b, stride in ((16, 24, 2), (24, 24, 1), (24, 40, 2)):
        part = nn.Sequential(conv_bn(a, 4 * a, 1, act=nn.Hardswish),
                             conv_bn(4 * a, 4 * a, 5, stride, 4 * a, nn.Hardswish), Excite(4 * a),
                             conv_bn(4 * a, b, 1, act=None))
        body.append(Residual(part) if a == b and stride == 1 else part)
    return nn.Sequential(*body, Pooled(40))


def transformer():
    return nn.Sequential(encoder(768, 12, 0.1), First(), nn.Linear(768, 2))


def bert_small():
    return nn.Sequential(nn.Embedding(1000, 128), nn.LayerNorm(128), nn.Dropout(0.1), encoder(128, 2, 0.1),
                         encoder(128, 2, 0.1), First(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 2))


class Sequences(nn.Module):
    """Two recurrent layers, the first in both directions; the last step is classified."""

    def __init__(self, layer):
        super().__init__()
        self.first, self.second = layer(32, 48, bidirectional=True), layer(96, 64)
        self.fc = nn.Linear(64, 5)

    def forward(self, x):
        return self.fc(self.second(self.first(x)[0])[0][-1])


IMAGE = (BATCH, 3, 32, 32)
class Unet(nn.Module):
    """Down, up by a transposed convolution, and together with what was there before, over rows (1) or volumes (3)."""

    def __init__(self, axes, classes=10):
        super().__init__()

        def kind(name):
            return getattr(nn, f"{name}{axes}d")

        def after(conv, b):
            return nn.Sequential(conv, kind("BatchNorm")(b), nn.ReLU())

        def block(a, b):
            return after(kind("Conv")(a, b, 3, padding=1, bias=False), b)

        self.before, self.down, self.inner = block(3, 8), kind("MaxPool")(2), block(8, 16)
        self.up = after(kind("ConvTranspose")(16, 8, 3, stride=2, padding=1, output_padding=1), 8)
        self.after, self.pool, self.last = block(16, 8), kind("AvgPool")(2), block(8, 8)
        self.mean, self.classify = kind("AdaptiveAvgPool")(1), nn.Linear(8, classes)

    def forward(self, x):
        before = self.before(x)
        both = torch.cat([self.up(self.inner(self.down(before))), before], 1)
        return self.classify(torch.flatten(self.mean(self.last(self.pool(self.after(both)))), 1))


NETWORKS = {
    "mlp": (mlp, (BATCH, 784)),
    "lenet": (lenet, IMAGE),
    "vgg16_cifar": (vgg16, IMAGE),
    "resnet14_cifar": (lambda: residual_net(basic, 16, (16, 32, 64), 2), IMAGE),
    "resnet18_cifar": (lambda: residual_net(basic, 64, (64, 128, 256, 512), 2), IMAGE),
    "resnet_bottleneck": (lambda: residual_net(bottleneck, 64, (64, 128), 2, 4), IMAGE),
    "squeezenet": (squeezenet, IMAGE),
    "mobilenet_v2": (mobilenet_v2, IMAGE),
    "mobilenet_v3": (mobilenet_v3, IMAGE),
    "transformer": (transformer, (BATCH, 64, 768)),
    "bert_small": (bert_small, (BATCH, 64)),
    "lstm": (lambda: Sequences(nn.LSTM), (24, BATCH, 32)),
    "gru": (lambda: Sequences(nn.GRU), (24, BATCH, 32)),
    "unet_rows": (lambda: Unet(1), (BATCH, 3, 256)),
    "unet_volumes": (lambda: Unet(3), (BATCH, 3, 16, 16, 16)),
}

SCALARS = "numbers of no dimension (factors, the loss's count of samples), which poet has as attributes"
INTEGERS = "targets and token ids: 8 bytes each in PyTorch, 4 in poet"
INDICES = "indices of max pools: 8 bytes each in PyTorch, 1 (a place in the window) in poet"
MASKS = "dropout masks: 4 bytes per element in PyTorch (scaled real numbers), 1 in poet"
PARTS = "one token selected: PyTorch saves a view, which holds all tokens; poet keeps a copy of the one"
OUTPUTS = "outputs of ReLU6 and hard sigmoids that PyTorch does not save"
CELLS = "tanh of an LSTM's cell states, which poet finds again from the cell states"
GATES = "the candidate's part of a GRU's sums, which PyTorch holds with the two gates but does not read"
DIFFERENCES = "differences of a GRU's state and candidate, which poet finds again from both"
UNREAD = {
    "MaxPool2DWithIndicesBackward0": "inputs of max pools, whose gradient needs the indices only",
    "MaxPool3DWithIndicesBackward0": "inputs of max pools, whose gradient needs the indices only",
    "AvgPool2DBackward0": "inputs of average pools, whose gradient needs no values",
    "AvgPool3DBackward0": "inputs of average pools, whose gradient needs no values",
    "MeanBackward1": "inputs of global average pools, whose gradient needs no values",
    "HardtanhBackward0": "inputs of ReLU6, whose gradient poet tells from the output",
    "HardsigmoidBackward0": "inputs of hard sigmoids, whose gradient poet tells from the output",
}


class Saved:
    """One storage that autograd holds, how many of its elements the saved views show, and who saved it:
    (operator, attribute)."""

    def __init__(self, views):
        self.bytes, self.elements = views[0].storage().nbytes(), views[0].storage().size()
        parts = {}
        for view in views:
            start = view.storage_offset()
            parts[start] = max(parts.get(start, 0), view.numel())
        self.shown = min(sum(parts.values()), self.elements)
        self.dtype, self.savers = views[0].dtype, set()


def saved_by_torch(net, x, targets):
    """Storages by address; the addresses of the dropouts' masks; outputs, by address, of operators whose gradient
    poet computes from the output where PyTorch takes the input. The loss keeps the storages alive."""
    masks, outputs = set(), {}

    def dropped(_module, _inputs, output):
        mask = getattr(output.grad_fn, "_saved_other", None)
        if mask is not None:
            masks.add(mask.data_ptr())

    def clipped(_module, _inputs, output):
        outputs[output.storage().data_ptr()] = output

    for module in net.modules():
        if isinstance(module, (nn.ReLU6, nn.Hardsigmoid)):
            module.register_forward_hook(clipped)
        if isinstance(module, nn.Dropout):
            module.register_forward_hook(dropped)
    hooked = collections.defaultdict(list)

    def pack(tensor):
        hooked[tensor.storage().data_ptr()].append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = F.cross_entropy(net(x), targets)
    own = {t.storage().data_ptr() for t in list(net.parameters()) + list(net.buffers())}
    storages = {at: Saved(views) for at, views in hooked.items() if at not in own}
    # Who saved them: the hooks do not tell, the graph does.
    todo, seen = [loss.grad_fn], set()
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        todo += [after for after, _ in node.next_functions]
        for name in dir(node):
            found = getattr(node, name) if name.startswith("_saved_") else None
            if torch.is_tensor(found) and found.storage().data_ptr() in storages:
                made = node.next_functions[0][0] if name == "_saved_self" else None
                of_difference = made is not None and made.name() == "SubBackward0"
                savers = storages[found.storage().data_ptr()].savers
                savers.add((node.name(), name + (" of a difference" if of_difference else "")))
    return storages, masks, outputs, loss


def explained(storages, masks, outputs):
    """What poet should keep of it, and bytes of every reason for a difference."""
    kept, reasons = 0, collections.Counter()
    for at, output in outputs.items():
        if at not in storages:
            kept += output.storage().nbytes()
            reasons[OUTPUTS] -= output.storage().nbytes()
    for at, saved in storages.items():
        operators = {operator for operator, _ in saved.savers}
        is_indices = any((f"MaxPool{axes}DWithIndicesBackward0", "_saved_result1") in saved.savers for axes in (2, 3))
        if saved.elements == 1:
            ours, why = 0, SCALARS
        elif is_indices:
            ours, why = saved.elements, INDICES
        elif at in masks:
            ours, why = saved.elements, MASKS
        elif saved.dtype == torch.int64:
            ours, why = 4 * saved.elements, INTEGERS
        elif at in outputs:
            ours, why = saved.bytes, ""
        elif len(operators) == 1 and next(iter(operators)) in UNREAD:
            ours, why = 0, UNREAD[next(iter(operators))]
        elif saved.savers == {("MulBackward0", "_saved_other"), ("TanhBackward0", "_saved_result")}:
            ours, why = 0, CELLS
        elif saved.savers == {("MulBackward0", "_saved_self of a difference")}:
            ours, why = 0, DIFFERENCES
        elif saved.shown < saved.elements:
            ours, why = saved.bytes // saved.elements * saved.shown, GATES if "SigmoidBackward0" in operators else PARTS
        else:
            ours, why = saved.bytes, ""
        kept += ours
        if why:
            reasons[why] += saved.bytes - ours
    return kept, reasons


def kept_by_poet(poet, net, x, folder):
    onnx, instance = os.path.join(folder, "net.onnx"), os.path.join(folder, "net.json")
    # Folding puts the gates of recurrent weights into ONNX's order; otherwise nodes do, in every step.
    recurrent = any(isinstance(module, nn.RNNBase) for module in net.modules())
    export(net, x, onnx, opset=14, folding=recurrent)
    command = [poet, "import", "--platform", "a72", "-o", instance, onnx]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{' '.join(command)}: {run.stderr}")
    with open(instance, encoding="utf-8") as file:
        graph = json.load(file)
    values, ops = graph["values"], graph["ops"]
    read = set()
    for op in ops:
        if op["pass"] != "backward":
            continue
        for v in op["inputs"]:
            while values[v].get("alias_of") is not None:
                v = values[v]["alias_of"]
            if values[v].get("producer") is not None and ops[values[v]["producer"]]["pass"] == "forward":
                read.add(v)
    return sum(values[v]["bytes"] for v in read)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    chosen = sys.argv[2:] or list(NETWORKS)
    total, unexplained = collections.Counter(), 0
    print(f"| network (batch {BATCH}) | PyTorch saves | poet keeps | explained | unexplained |")
    print("|---|---:|---:|---:|---:|")
    for name in chosen:
        build, shape = NETWORKS[name]
        torch.manual_seed(0)
        net = build().train()
        x = torch.randint(0, 1000, shape) if name == "bert_small" else torch.randn(shape)
        storages, masks, outputs, loss = saved_by_torch(net, x, torch.zeros(BATCH, dtype=torch.long))
        theirs = sum(saved.bytes for saved in storages.values())
        expected, reasons = explained(storages, masks, outputs)
        del loss, outputs
        with tempfile.TemporaryDirectory() as folder:
            ours = kept_by_poet(sys.argv[1], net, x, folder)
        rest = expected - ours
        unexplained += abs(rest)
        total += reasons
        print(f"| {name} | {theirs:,} | {ours:,} | {theirs - expected:,} | {rest:,} |", flush=True)
    print("\nThe differences, over all networks:")
    for why, size in total.most_common():
        print(f"- {size:,} bytes: {why}")
    if unexplained and not torch.__version__.startswith("1.13."):
        print(f"skipped: PyTorch {torch.__version__} may save other tensors than 1.13 does")
        return 77
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
