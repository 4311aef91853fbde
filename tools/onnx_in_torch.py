"""An interpreter of ONNX graphs in PyTorch, by the standard's text: what poet's import is compared with.

It computes in double precision and lets PyTorch differentiate. Every tensor that the file stores is used as it is
stored; which of them train is for the caller to say.
"""

import math

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch.nn import functional as F


REAL = torch.float64  # what real numbers are computed in; float32 shows how far rounding takes a correct program


def tensor_of(proto):
    array = numpy_helper.to_array(proto)
    if array.dtype.kind == "f" or str(array.dtype) == "bfloat16":
        return torch.tensor(np.asarray(array, np.float64), dtype=REAL)
    return torch.tensor(np.array(array))


def attributes_of(node):
    values = {}
    for attribute in node.attribute:
        value = onnx.helper.get_attribute_value(attribute)
        values[attribute.name] = value.decode() if isinstance(value, bytes) else value
    return values


INTEGERS = {9: torch.bool, 6: torch.int64, 7: torch.int64}


def ints(x):
    return [int(i) for i in x.reshape(-1)]


def reduced(x, a, op, axes):
    axes = a.get("axes") if axes is None else ints(axes)
    if axes is None or len(axes) == 0:
        if a.get("noop_with_empty_axes"):
            return x
        axes = list(range(x.dim()))
    keep = bool(a.get("keepdims", 1))
    axes = sorted({i % max(x.dim(), 1) for i in axes})
    if not axes or x.dim() == 0:
        return x
    if op == "ReduceSum":
        return x.sum(axes, keep)
    if op == "ReduceMean":
        return x.mean(axes, keep)
    if op == "ReduceL1":
        return x.abs().sum(axes, keep)
    if op == "ReduceL2":
        return (x * x).sum(axes, keep).sqrt()
    if op == "ReduceSumSquare":
        return (x * x).sum(axes, keep)
    if op == "ReduceLogSumExp":
        return torch.logsumexp(x, axes, keep)
    for axis in reversed(axes):  # amax shares the gradient of equal ones
        x = (x.max if op == "ReduceMax" else x.min)(axis, True)[0]
    return x if keep else x.reshape([d for i, d in enumerate(x.shape) if i not in axes])


def padded_window(x, a, kernel, value=0.0):
    """x with explicit padding, as `pads` says."""
    pads = a.get("pads", [0] * (2 * len(kernel)))
    n = len(kernel)
    flat = []
    for i in reversed(range(n)):
        flat += [pads[i], pads[n + i]]
    return F.pad(x, flat, value=value) if any(flat) else x


def conv(x, w, b, a):
    n = w.dim() - 2
    x = padded_window(x, a, w.shape[2:])
    f = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}[n]
    return f(x, w, b, stride=a.get("strides", [1] * n), dilation=a.get("dilations", [1] * n), groups=a.get("group", 1))


def conv_transpose(x, w, b, a):
    n = w.dim() - 2
    f = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}[n]
    y = f(x, w, b, stride=a.get("strides", [1] * n), dilation=a.get("dilations", [1] * n), groups=a.get("group", 1),
          output_padding=a.get("output_padding", [0] * n))
    pads = a.get("pads", [0] * (2 * n))
    for i in range(n):
        y = y.narrow(2 + i, pads[i], y.shape[2 + i] - pads[i] - pads[n + i])
    return y


def max_pool(x, a):
    kernel = a["kernel_shape"]
    n = len(kernel)
    f = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}[n]
    return f(padded_window(x, a, kernel, -math.inf), kernel, stride=a.get("strides", [1] * n), dilation=a.get("dilations", [1] * n))


def average_pool(x, a):
    kernel = a["kernel_shape"]
    n = len(kernel)
    f = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}[n]
    stride = a.get("strides", [1] * n)
    sums = f(padded_window(x, a, kernel), kernel, stride=stride)
    if a.get("count_include_pad", 0):
        return sums
    return sums / f(padded_window(torch.ones_like(x), a, kernel), kernel, stride=stride)


def sliced(x, starts, ends, axes, steps):
    axes = list(range(len(starts))) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    for start, end, axis, step in zip(starts, ends, axes, steps):
        size = x.shape[axis]
        index = list(range(size))[slice(start, end if not (step < 0 and end < -size) else None, step)]
        x = x.index_select(axis, torch.tensor(index, dtype=torch.int64))
    return x


def padded(x, pads, value, mode, axes):
    n = x.dim()
    axes = list(range(n)) if axes is None else [i % n for i in axes]
    for k, axis in enumerate(axes):
        before, after = pads[k], pads[len(axes) + k]
        size = x.shape[axis]
        if mode == "constant":
            shape = list(x.shape)
            parts = []
            for amount in (before, after):
                shape[axis] = max(amount, 0)
                parts.append(torch.full(shape, value, dtype=x.dtype))
            x = torch.cat([parts[0], x.narrow(axis, max(-before, 0), size + min(before, 0) + min(after, 0)), parts[1]], axis)
        else:
            index = []
            for i in range(-before, size + after):
                if mode == "edge":
                    index.append(min(max(i, 0), size - 1))
                elif mode == "wrap":
                    index.append(i % size)
                else:
                    i = abs(i)
                    index.append(2 * (size - 1) - i if i >= size else i)
            x = x.index_select(axis, torch.tensor(index))
    return x


def normalised(x, dims, eps):
    mean = x.mean(dims, True)
    return (x - mean) / ((x - mean) ** 2).mean(dims, True).add(eps).sqrt()


def per_channel(w, x):
    return w.reshape([1, -1] + [1] * (x.dim() - 2))


def gemm(a, b, c, at):
    a = a.t() if at.get("transA") else a
    b = b.t() if at.get("transB") else b
    y = at.get("alpha", 1.0) * (a @ b)
    return y if c is None else y + at.get("beta", 1.0) * c


def recurrent(node, a, x, w, r, b, lengths, h0, c0=None):
    kind, hidden = node.op_type, r.shape[2]
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind]
    if a.get("layout"):
        x = x.transpose(0, 1)
        h0 = None if h0 is None else h0.transpose(0, 1)
        c0 = None if c0 is None else c0.transpose(0, 1)
    steps, batch = x.shape[:2]
    direction = a.get("direction", "forward")
    ways = {"forward": [0], "reverse": [1], "bidirectional": [0, 1]}[direction]
    all_y, last_h, last_c = [], [], []
    for d, way in enumerate(ways):
        bw, br = (b[d, :gates * hidden], b[d, gates * hidden:]) if b is not None else (0.0, 0.0)
        h = h0[d] if h0 is not None else torch.zeros(batch, hidden, dtype=x.dtype)
        c = c0[d] if c0 is not None else torch.zeros(batch, hidden, dtype=x.dtype)
        ys = [None] * steps
        for t in (range(steps) if way == 0 else reversed(range(steps))):
            xw, hr = x[t] @ w[d].t() + bw, h @ r[d].t() + br
            if kind == "LSTM":
                i, o, f, g = (xw + hr).chunk(4, 1)
                c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
                h = torch.sigmoid(o) * torch.tanh(c)
            elif kind == "GRU":
                xz, xr, xn = xw.chunk(3, 1)
                hz, hr_, hn = hr.chunk(3, 1)
                z, reset = torch.sigmoid(xz + hz), torch.sigmoid(xr + hr_)
                if a.get("linear_before_reset"):
                    n = torch.tanh(xn + reset * hn)
                else:
                    rn = r[d][2 * hidden:]
                    n = torch.tanh(xn + (reset * h) @ rn.t() + (br[2 * hidden:] if b is not None else 0.0))
                h = (1 - z) * n + z * h
            else:
                name = (a.get("activations") or [b"Tanh"])[0]
                h = (torch.relu if name in (b"Relu", "Relu") else torch.tanh)(xw + hr)
            ys[t] = h
        all_y.append(torch.stack(ys))
        last_h.append(h)
        last_c.append(c)
    y, h, c = torch.stack(all_y, 1), torch.stack(last_h), torch.stack(last_c)
    if a.get("layout"):
        y, h, c = y.permute(2, 0, 1, 3), h.transpose(0, 1), c.transpose(0, 1)
    return y, h, c


def resized(x, scales, sizes, a):
    mode = a.get("mode", "nearest")
    for axis in range(x.dim()):
        size = x.shape[axis]
        scale = scales[axis] if scales is not None else sizes[axis] / size
        out = int(math.floor(size * scale)) if sizes is None else sizes[axis]
        if out == size and scale == 1:
            continue
        rows = []
        for i in range(out):
            how = a.get("coordinate_transformation_mode", "half_pixel")
            at = {"asymmetric": i / scale, "half_pixel": (i + 0.5) / scale - 0.5,
                  "pytorch_half_pixel": (i + 0.5) / scale - 0.5 if out > 1 else 0.0,
                  "align_corners": i * (size - 1) / (out - 1) if out > 1 else 0.0}[how]
            row = torch.zeros(size, dtype=x.dtype)
            if mode == "nearest":
                rounding = {"floor": math.floor, "ceil": math.ceil, "round_prefer_floor": lambda v: math.ceil(v - 0.5),
                            "round_prefer_ceil": lambda v: math.floor(v + 0.5)}[a.get("nearest_mode", "round_prefer_floor")]
                row[min(max(rounding(at), 0), size - 1)] = 1
            else:
                low = math.floor(at)
                for k, share in ((low, 1 - (at - low)), (low + 1, at - low)):
                    row[min(max(k, 0), size - 1)] += share
            rows.append(row)
        x = torch.movedim(torch.movedim(x, axis, -1) @ torch.stack(rows).t(), -1, axis)
    return x


UNARY = {
    "Abs": torch.abs, "Atan": torch.atan, "Ceil": torch.ceil, "Cos": torch.cos, "Erf": torch.erf, "Exp": torch.exp,
    "Floor": torch.floor, "Identity": lambda x: x, "Log": torch.log, "Mish": F.mish, "Neg": lambda x: -x, "Not": torch.logical_not,
    "Reciprocal": lambda x: 1 / x, "Relu": torch.relu, "Round": torch.round, "Sigmoid": torch.sigmoid, "Sign": torch.sign,
    "Sin": torch.sin, "Softplus": F.softplus, "Softsign": F.softsign, "Sqrt": torch.sqrt, "Tanh": torch.tanh,
    "HardSwish": lambda x: x * torch.clamp(x / 6 + 0.5, 0, 1),
}
BINARY = {
    "Add": torch.add, "Sub": torch.sub, "Mul": torch.mul, "Pow": torch.pow, "And": torch.logical_and, "Or": torch.logical_or,
    "Xor": torch.logical_xor, "Equal": torch.eq, "Less": torch.lt, "LessOrEqual": torch.le, "Greater": torch.gt,
    "GreaterOrEqual": torch.ge, "MatMul": torch.matmul,
}


def compute(node, x, opset):
    """The results of a node whose inputs are `x` (None: left out)."""
    kind, a = node.op_type, attributes_of(node)
    get = lambda i: x[i] if i < len(x) else None  # noqa: E731
    whole = lambda i, name: ints(get(i)) if get(i) is not None else (list(a[name]) if name in a else None)  # noqa: E731
    if kind in UNARY:
        return UNARY[kind](x[0])
    if kind in BINARY:
        return BINARY[kind](x[0], x[1])
    if kind == "Div":
        return x[0] / x[1] if x[0].is_floating_point() else torch.div(x[0], x[1], rounding_mode="trunc")
    if kind in ("Sum", "Mean"):
        total = sum(x[1:], x[0])
        return total if kind == "Sum" else total / len(x)
    if kind in ("Max", "Min"):
        y = x[0]
        for other in x[1:]:
            y = torch.where(y >= other if kind == "Max" else y <= other, y, other)
        return y
    if kind == "Constant":
        if "value" in a:
            return tensor_of(a["value"])
        for name, type_ in (("value_float", REAL), ("value_floats", REAL), ("value_int", torch.int64), ("value_ints", torch.int64)):
            if name in a:
                return torch.tensor(a[name], dtype=type_)
    if kind == "ConstantOfShape":
        value = tensor_of(a["value"]) if "value" in a else torch.zeros(1, dtype=REAL)
        return value.reshape(1).expand(ints(x[0])).clone()
    if kind == "Shape":
        return torch.tensor(list(x[0].shape))
    if kind == "Cast":
        return x[0].to(INTEGERS.get(a["to"], REAL))
    if kind == "Reshape":
        shape = [x[0].shape[i] if d == 0 and not a.get("allowzero") else d for i, d in enumerate(ints(x[1]))]
        return x[0].reshape(shape)
    if kind == "Flatten":
        axis = a.get("axis", 1)
        axis = axis + x[0].dim() if axis < 0 else axis
        return x[0].reshape(math.prod(x[0].shape[:axis]), -1)
    if kind == "Squeeze":
        axes = whole(1, "axes")
        axes = [i for i, d in enumerate(x[0].shape) if d == 1] if axes is None else [i % x[0].dim() for i in axes]
        return x[0].reshape([d for i, d in enumerate(x[0].shape) if i not in axes])
    if kind == "Unsqueeze":
        axes = whole(1, "axes")
        rank = x[0].dim() + len(axes)
        shape = iter(x[0].shape)
        axes = [i % rank for i in axes]
        return x[0].reshape([1 if i in axes else next(shape) for i in range(rank)])
    if kind == "Transpose":
        return x[0].permute(a.get("perm", list(reversed(range(x[0].dim())))))
    if kind == "Concat":
        return torch.cat(x, a["axis"])
    if kind == "Split":
        axis = a.get("axis", 0)
        parts = whole(1, "split")
        if parts is None:
            n = a.get("num_outputs", len(node.output))
            each = -(-x[0].shape[axis] // n)
            return torch.split(x[0], each, axis)
        return torch.split(x[0], parts, axis)
    if kind == "Slice":
        return sliced(x[0], whole(1, "starts"), whole(2, "ends"), whole(3, "axes"), whole(4, "steps"))
    if kind == "Gather":
        axis = a.get("axis", 0) % x[0].dim()
        index = x[1] % x[0].shape[axis]
        shape = list(x[0].shape[:axis]) + list(index.shape) + list(x[0].shape[axis + 1:])
        return x[0].index_select(axis, index.reshape(-1)).reshape(shape)
    if kind == "GatherElements":
        axis = a.get("axis", 0) % x[0].dim()
        return torch.gather(x[0], axis, x[1] % x[0].shape[axis])
    if kind == "GatherND":
        at = x[1] % torch.tensor(x[0].shape[:x[1].shape[-1]])
        return x[0][tuple(at[..., i] for i in range(at.shape[-1]))]
    if kind == "ScatterND":
        at = x[1] % torch.tensor(x[0].shape[:x[1].shape[-1]])
        return x[0].index_put(tuple(at[..., i] for i in range(at.shape[-1])), x[2], accumulate=a.get("reduction") == "add")
    if kind == "Expand":
        return x[0].expand(torch.broadcast_shapes(x[0].shape, ints(x[1])))
    if kind == "Tile":
        return x[0].repeat(ints(x[1]))
    if kind == "Where":
        return torch.where(x[0], x[1], x[2])
    if kind == "Pad":
        value = get(2)
        axes = None if get(3) is None else ints(x[3])
        return padded(x[0], whole(1, "pads"), float(a.get("value", 0.0) if value is None else value), a.get("mode", "constant"), axes)
    if kind == "Clip":
        low, high = get(1), get(2)
        low = a.get("min", -math.inf) if low is None else float(low)
        high = a.get("max", math.inf) if high is None else float(high)
        return torch.clamp(x[0], low, high)
    if kind == "CumSum":
        axis = int(x[1])
        y = x[0].flip(axis) if a.get("reverse") else x[0]
        y = y.cumsum(axis) - (y if a.get("exclusive") else 0)
        return y.flip(axis) if a.get("reverse") else y
    if kind == "Trilu":
        k = int(get(1)) if get(1) is not None else 0
        return torch.triu(x[0], k) if a.get("upper", 1) else torch.tril(x[0], k)
    if kind == "OneHot":
        hot = F.one_hot(x[0] % int(x[1]), int(x[1]))
        return torch.movedim(torch.where(hot.bool(), x[2][1], x[2][0]), -1, a.get("axis", -1))
    if kind.startswith("Reduce"):
        return reduced(x[0], a, kind, get(1))
    if kind in ("Softmax", "LogSoftmax"):
        f = F.softmax if kind == "Softmax" else F.log_softmax
        if opset >= 13:
            return f(x[0], a.get("axis", -1))
        axis = a.get("axis", 1) % x[0].dim()
        return f(x[0].reshape(math.prod(x[0].shape[:axis]), -1), 1).reshape(x[0].shape)
    if kind == "LeakyRelu":
        return F.leaky_relu(x[0], a.get("alpha", 0.01))
    if kind == "Elu":
        return F.elu(x[0], a.get("alpha", 1.0))
    if kind == "Celu":
        return F.celu(x[0], a.get("alpha", 1.0))
    if kind == "Selu":
        return F.selu(x[0])
    if kind == "ThresholdedRelu":
        return torch.where(x[0] > a.get("alpha", 1.0), x[0], torch.zeros_like(x[0]))
    if kind == "HardSigmoid":
        return torch.clamp(x[0] * a.get("alpha", 0.2) + a.get("beta", 0.5), 0, 1)
    if kind == "IsNaN":
        return torch.isnan(x[0])
    if kind == "TopK":
        return torch.topk(x[0], int(x[1]), a.get("axis", -1), largest=bool(a.get("largest", 1)))
    if kind == "FusedMatMul":
        left, right = (t.transpose(-1, -2) if a.get(flag) else t for t, flag in zip(x, ("transA", "transB")))
        return a.get("alpha", 1.0) * (left @ right)
    if kind == "BiasGelu":
        return F.gelu(x[0] + x[1])
    if kind == "SkipLayerNormalization":
        total = sum(x[4:], x[0] + x[1])
        return normalised(total, [-1], a.get("epsilon", 1e-12)) * x[2] + x[3]
    if kind == "Gelu":
        return F.gelu(x[0], approximate=a.get("approximate", "none"))
    if kind == "PRelu":
        return torch.where(x[0] >= 0, x[0], x[0] * x[1])
    if kind == "Gemm":
        return gemm(x[0], x[1], get(2), a)
    if kind == "Einsum":
        return torch.einsum(a["equation"].replace(" ", ""), *x)
    if kind == "Conv":
        return conv(x[0], x[1], get(2), a)
    if kind == "ConvTranspose":
        return conv_transpose(x[0], x[1], get(2), a)
    if kind == "MaxPool":
        return max_pool(x[0], a)
    if kind == "AveragePool":
        return average_pool(x[0], a)
    if kind == "GlobalAveragePool":
        return x[0].mean(list(range(2, x[0].dim())), True)
    if kind == "GlobalMaxPool":
        return x[0].reshape(*x[0].shape[:2], -1).max(2)[0].reshape(list(x[0].shape[:2]) + [1] * (x[0].dim() - 2))
    if kind == "BatchNormalization":  # in training: by the batch's statistics
        dims = [0] + list(range(2, x[0].dim()))
        return normalised(x[0], dims, a.get("epsilon", 1e-5)) * per_channel(x[1], x[0]) + per_channel(x[2], x[0])
    if kind == "InstanceNormalization":
        y = normalised(x[0], list(range(2, x[0].dim())), a.get("epsilon", 1e-5))
        return y * per_channel(x[1], x[0]) + per_channel(x[2], x[0])
    if kind == "GroupNormalization":
        groups = a["num_groups"]
        y = x[0].reshape(x[0].shape[0], groups, -1)
        y = normalised(y, [2], a.get("epsilon", 1e-5)).reshape(x[0].shape)
        scale, shift = (w if len(w) == x[0].shape[1] else w.repeat_interleave(x[0].shape[1] // groups) for w in x[1:3])
        return y * per_channel(scale, x[0]) + per_channel(shift, x[0])
    if kind == "LayerNormalization":
        axis = a.get("axis", -1) % x[0].dim()
        y = normalised(x[0], list(range(axis, x[0].dim())), a.get("epsilon", 1e-5)) * x[1]
        return y if get(2) is None else y + x[2]
    if kind == "RMSNormalization":
        axis = a.get("axis", -1) % x[0].dim()
        dims = list(range(axis, x[0].dim()))
        return x[0] / ((x[0] ** 2).mean(dims, True) + a.get("epsilon", 1e-5)).sqrt() * x[1]
    if kind == "LRN":
        size, half = a["size"], (a["size"] - 1) // 2
        squares = padded(x[0] ** 2, [half, size - 1 - half], 0.0, "constant", [1])
        sums = sum(squares.narrow(1, i, x[0].shape[1]) for i in range(size))
        return x[0] / (a.get("bias", 1.0) + a.get("alpha", 1e-4) / size * sums) ** a.get("beta", 0.75)
    if kind in ("LSTM", "GRU", "RNN"):
        return recurrent(node, a, *[get(i) for i in range(7 if kind == "LSTM" else 6)])
    if kind == "Resize":
        scales = x[2].tolist() if get(2) is not None and get(2).numel() else None
        return resized(x[0], scales, ints(x[3]) if get(3) is not None else None, a)
    if kind == "DepthToSpace":
        n, c, h, w = x[0].shape
        b = a["blocksize"]
        if a.get("mode", "DCR") == "DCR":
            return x[0].reshape(n, b, b, c // b // b, h, w).permute(0, 3, 4, 1, 5, 2).reshape(n, c // b // b, h * b, w * b)
        return x[0].reshape(n, c // b // b, b, b, h, w).permute(0, 1, 4, 2, 5, 3).reshape(n, c // b // b, h * b, w * b)
    if kind == "SpaceToDepth":
        n, c, h, w = x[0].shape
        b = a["blocksize"]
        return x[0].reshape(n, c, h // b, b, w // b, b).permute(0, 3, 5, 1, 2, 4).reshape(n, c * b * b, h // b, w // b)
    raise NotImplementedError(kind)


def run(model, given):
    """The outputs of the model's graph; `given`: tensors by name, inputs and stored tensors in place of the file's."""
    opset = next(entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx"))
    values = {tensor.name: tensor_of(tensor) for tensor in model.graph.initializer}
    values.update(given)
    for node in model.graph.node:
        results = compute(node, [values[name] if name else None for name in node.input], opset)
        if isinstance(results, torch.Tensor):
            results = [results]
        for name, result in zip(node.output, results):
            if name:
                values.setdefault(name, result)
    return [values[output.name] for output in model.graph.output]
