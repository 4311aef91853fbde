"""Small random ONNX graphs over the operators that poet claims, with weights and constants of every kind.

A graph has an input x of floats with the batch first, and one output (batch, width) that every value reaches.
`model.must_train` and `model.must_stay` name the stored tensors of which a reader of the file can be sure.
"""

import math
import random

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BATCH = 2


class Generator:
    def __init__(self, seed, steps=6):
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.nodes, self.initialisers, self.values = [], [], []  # values: (name, shape) of run-time real numbers
        self.weights = []  # (name, shape) of trained initialisers and views of them
        self.must_train, self.must_stay = set(), set()
        self.count = 0
        self.opset = self.random.choice([13, 14, 15, 16, 17])
        shape = (BATCH,) + tuple(self.random.choice([2, 3, 4]) for _ in range(self.random.choice([1, 1, 2, 3])))
        self.x = shape
        self.values.append(("x", shape))
        for _ in range(steps):
            self.step()
        self.finish()

    # ---- what nodes read ------------------------------------------------------------------------------------------

    def name(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def pick(self, *ranks):
        fitting = [value for value in self.values if not ranks or len(value[1]) in ranks]
        if fitting:
            return fitting[-1] if self.random.random() < 0.5 else self.random.choice(fitting)
        rank = self.random.choice(ranks)  # one of the right rank
        name, shape = self.pick()
        total = math.prod(shape[1:])
        to = (shape[0], total) + (1,) * (rank - 2) if rank > 1 else (shape[0] * total,)
        return self.reshaped(name, to), to

    def store(self, array, stem="w"):
        name = self.name(stem)
        self.initialisers.append(numpy_helper.from_array(array, name))
        return name

    def integers(self, *numbers):
        return self.store(np.array(numbers, np.int64), "i")

    def normal(self, shape):
        return self.numbers.standard_normal(shape).astype(np.float32)

    def weight(self, shape, views=True):
        """A trained tensor of this shape: stored so, shared, or by views of another shape."""
        same = [name for name, other in self.weights if other == tuple(shape)]
        if same and self.random.random() < 0.3:
            return self.random.choice(same)
        shape = tuple(shape)
        total = math.prod(shape)
        how = self.random.random() if views and total > 1 else 1.0
        if how < 0.15 and len(shape) >= 1:  # reshaped
            if total % 2 == 0 and self.random.random() < 0.5:
                stored = self.random.choice([(2, total // 2), (total // 2, 2), (total,), (1, 2, total // 2)])
            else:
                stored = self.random.choice([(total,), (1, total), (total, 1)])
            made = self.reshaped(self.weight(stored, False), shape)
        elif how < 0.25 and len(shape) >= 2:
            order = list(range(len(shape)))
            self.random.shuffle(order)
            stored = [0] * len(shape)
            for i, axis in enumerate(order):
                stored[axis] = shape[i]
            made = self.node("Transpose", [self.weight(stored, False)], perm=order)
        elif how < 0.3 and len(shape) >= 2:
            axis = self.random.randrange(len(shape) + 1)
            stored = self.weight(shape[:axis] + (1,) + shape[axis:], False)
            if self.opset >= 13:
                made = self.node("Squeeze", [stored, self.integers(axis)])
        elif how < 0.34:
            made = self.node("Unsqueeze", [self.weight(shape[1:], False), self.integers(0)]) if shape and shape[0] == 1 else self.node(
                "Identity", [self.weight(shape, False)])
        elif how < 0.38:
            made = self.node("Cast", [self.weight(shape, False)], to=TensorProto.FLOAT)
        elif how < 0.43:
            made = self.node("Mul", [self.weight(shape, False), self.number()])
        elif how < 0.46 and shape[-1] > 1:
            rows = self.weight(shape[:-1] + (shape[-1] + 1,), False)
            made = self.node("Slice", [rows, self.integers(1), self.integers(shape[-1] + 1), self.integers(len(shape) - 1)])
        elif how < 0.5:
            table = self.weight((shape[0] + 1,) + shape[1:], False)
            made = self.node("Gather", [table, self.integers(*[self.random.randrange(-shape[0] - 1, shape[0] + 1) for _ in range(shape[0])])])
        elif how < 0.53 and len(shape) >= 1 and shape[0] > 1:
            cut = self.random.randrange(1, shape[0])
            made = self.node("Concat", [self.weight((cut,) + shape[1:], False), self.weight((shape[0] - cut,) + shape[1:], False)], axis=0)
        else:
            made = self.store(self.normal(shape))
            if total > 1:
                self.must_train.add(made)
        self.weights.append((made, shape))
        return made

    def constant(self, shape):
        """A tensor that does not train, of one of the kinds that files have."""
        shape = tuple(shape)
        how = self.random.random()
        if how < 0.35:
            name = self.name("c")
            self.nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(self.normal(shape))))
            self.must_stay.add(name)
            return name
        if how < 0.7 and shape:
            name = self.name("f")
            fill = self.random.choice([0.0, 1.0, 1.5, -0.5])
            value = {} if fill == 0 and self.random.random() < 0.5 else {"value": helper.make_tensor("v", TensorProto.FLOAT, [1], [fill])}
            self.nodes.append(helper.make_node("ConstantOfShape", [self.integers(*shape)], [name], **value))
            self.must_stay.add(name)
            return name
        if how < 0.85:
            value = self.name("c")
            self.nodes.append(helper.make_node("Constant", [], [value], value_float=self.random.uniform(0.5, 2)))
            return self.node("Expand", [value, self.integers(*shape)]) if shape else value
        mask = self.store(self.numbers.integers(0, 2, shape).astype(np.int64), "m")
        return self.node("Cast", [mask], to=TensorProto.FLOAT)

    def number(self):
        """A single number."""
        name = self.name("n")
        value = np.array(self.random.uniform(0.5, 1.5), np.float32)
        if self.random.random() < 0.5:
            value = value.reshape(1)
        if self.random.random() < 0.6:
            self.nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(value)))
        else:
            self.initialisers.append(numpy_helper.from_array(value, name))
        return name

    def operand(self, shape):
        """Something that broadcasts to the shape."""
        how = self.random.random()
        fitting = [name for name, other in self.values if self.broadcasts(other, shape)]
        if how < 0.25 and fitting:
            return self.random.choice(fitting)
        part = list(shape[self.random.randrange(len(shape)):]) if shape else []
        part = [1 if self.random.random() < 0.2 else d for d in part]
        if how < 0.65:
            return self.weight(part)
        return self.constant(part) if how < 0.85 else self.number()

    @staticmethod
    def broadcasts(a, b):
        try:
            return np.broadcast_shapes(a, b) == tuple(b)
        except ValueError:
            return False

    # ---- nodes ----------------------------------------------------------------------------------------------------

    def node(self, op, inputs, outputs=1, **attributes):
        names = [self.name("t") for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, name=names[0], **attributes))
        return names[0] if outputs == 1 else names

    def reshaped(self, name, shape):
        return self.node("Reshape", [name, self.integers(*shape)])

    def add(self, name, shape):
        self.values.append((name, tuple(int(d) for d in shape)))

    def step(self):
        kinds = [self.unary, self.binary, self.binary, self.product, self.product, self.gemm, self.window, self.norm, self.softmax,
                 self.reduction, self.moved, self.cut, self.choice, self.gathered, self.activation, self.extremum, self.recurrent, self.placed, self.placed,
                 self.fused]
        self.random.choice(kinds)()

    def unary(self):
        name, shape = self.pick()
        op = self.random.choice(["Abs", "Atan", "Cos", "Erf", "Identity", "Neg", "Sigmoid", "Sin", "Softplus", "Softsign", "Tanh", "Exp", "Sqrt", "Log",
                                 "Reciprocal"])
        if op == "Exp":
            name = self.node("Tanh", [name])
        if op in ("Sqrt", "Log", "Reciprocal"):
            name = self.node("Softplus", [name])
        self.add(self.node(op, [name]), shape)

    def activation(self):
        name, shape = self.pick()
        op = self.random.choice(["Relu", "LeakyRelu", "Elu", "Celu", "Selu", "HardSigmoid", "HardSwish", "PRelu", "Clip", "Sum", "Mean", "Pow"])
        if op == "HardSwish" and self.opset < 14:
            op = "Relu"
        if op == "PRelu":
            slope = self.weight(self.random.choice([shape[-1:], (1,), (shape[-1],)]))
            self.add(self.node(op, [name, slope]), shape)
        elif op == "Clip":
            self.add(self.node(op, [name, self.store(np.array(-0.7, np.float32), "n"), self.store(np.array(0.8, np.float32), "n")]), shape)
        elif op in ("Sum", "Mean"):
            self.add(self.node(op, [name, self.operand(shape), self.operand(shape)]), shape)
        elif op == "Pow":
            self.add(self.node(op, [name, self.store(np.array(self.random.choice([2, 3]), np.float32), "n")]), shape)
        else:
            self.add(self.node(op, [name]), shape)

    def binary(self):
        name, shape = self.pick()
        other = self.operand(shape)
        op = self.random.choice(["Add", "Add", "Sub", "Mul", "Mul", "Div"])
        if op == "Div":
            other = self.node("Add", [self.node("Abs", [other]), self.number()])
        pair = [name, other] if op == "Div" or self.random.random() < 0.6 else [other, name]
        self.add(self.node(op, pair), shape)

    def product(self):
        name, shape = self.pick(2, 3, 4)
        out = self.random.choice([2, 3, 4])
        how = self.random.random()
        if how < 0.45:
            weight = self.weight((shape[-1], out)) if self.random.random() < 0.85 else self.constant((shape[-1], out))
            y, to = self.node("MatMul", [name, weight]), shape[:-1] + (out,)
            if self.random.random() < 0.5:
                y = self.node("Add", [y, self.weight((out,))])
        elif how < 0.6:
            y, to = self.node("MatMul", [self.weight((out, shape[-2])), name]), shape[:-2] + (out, shape[-1])
        elif how < 0.7:
            y, to = self.node("MatMul", [name, self.weight((shape[-1],))]), shape[:-1]
        elif how < 0.8 and len(shape) > 2:
            y, to = self.node("MatMul", [name, self.weight(shape[1:-2] + (shape[-1], out))]), shape[:-1] + (out,)
        elif how < 0.9:
            order = list(range(len(shape)))
            order[-2:] = reversed(order[-2:])
            other = self.node("Transpose", [name], perm=order)
            y, to = self.node("MatMul", [name, other]), shape[:-1] + (shape[-2],)
            y = self.node("Mul", [y, self.number()])
        else:
            letters = "abcd"[:len(shape)]
            y = self.node("Einsum", [name, self.weight((out, shape[-1]))], equation=f"{letters},z{letters[-1]}->{letters[:-1]}z")
            to = shape[:-1] + (out,)
        self.add(y, to)

    def gemm(self):
        name, shape = self.pick(2)
        out = self.random.choice([1, 2, 3])
        attributes = {}
        if self.random.random() < 0.3:
            attributes["alpha"] = 0.5
        if self.random.random() < 0.4:
            attributes["beta"] = self.random.choice([0.5, 2.0, 1.0])
        if self.random.random() < 0.3:
            name = self.node("Transpose", [name], perm=[1, 0])
            attributes["transA"] = 1
        if self.random.random() < 0.5:
            attributes["transB"] = 1
            weight = self.weight((out, shape[1]))
        else:
            weight = self.weight((shape[1], out))
        inputs = [name, weight]
        if self.random.random() < 0.8:
            bias = self.random.choice([(out,), (1,), (1, out), (shape[0], 1), (shape[0], out)])
            inputs.append(self.weight(bias) if self.random.random() < 0.85 else self.constant(bias))
        self.add(self.node("Gemm", inputs, **attributes), (shape[0], out))

    def window(self):
        name, shape = self.pick(3, 4)
        n = len(shape) - 2
        kernel = [min(self.random.choice([1, 2]), d) for d in shape[2:]]
        out = self.random.choice([2, 4])
        op = self.random.choice(["Conv", "Conv", "ConvTranspose", "MaxPool", "AveragePool", "GlobalAveragePool"])
        if op == "GlobalAveragePool":
            return self.add(self.node(op, [name]), shape[:2] + (1,) * n)
        if op == "ConvTranspose":
            inputs = [name, self.weight((shape[1], out, *kernel))] + ([self.weight((out,))] if self.random.random() < 0.5 else [])
            return self.add(self.node(op, inputs, kernel_shape=kernel), (shape[0], out) + tuple(d + k - 1 for d, k in zip(shape[2:], kernel)))
        after = tuple(d - k + 1 for d, k in zip(shape[2:], kernel))
        if op != "Conv":
            return self.add(self.node(op, [name], kernel_shape=kernel), shape[:2] + after)
        group = 2 if shape[1] % 2 == 0 and self.random.random() < 0.3 else 1
        inputs = [name, self.weight((out, shape[1] // group, *kernel))] + ([self.weight((out,))] if self.random.random() < 0.6 else [])
        return self.add(self.node(op, inputs, kernel_shape=kernel, group=group), (shape[0], out) + after)

    def norm(self):
        how = self.random.random()
        if how < 0.4 and self.opset >= 17:
            name, shape = self.pick(2, 3, 4)
            axis = self.random.randrange(1, len(shape))
            if math.prod(shape[axis:]) < 2:
                return
            part = shape[axis:]
            scale = self.weight(part) if self.random.random() < 0.7 else self.constant(part)
            inputs = [name, scale] + ([self.weight(part)] if self.random.random() < 0.5 else [])
            return self.add(self.node("LayerNormalization", inputs, axis=axis - (len(shape) if self.random.random() < 0.5 else 0)), shape)
        name, shape = self.pick(3, 4)
        if math.prod(shape[2:]) < 2:
            return
        scale, shift = ((self.weight if self.random.random() < 0.75 else self.constant)(shape[1:2]) for _ in range(2))
        if how < 0.7:
            return self.add(self.node("InstanceNormalization", [name, scale, shift]), shape)
        mean, variance = self.store(self.normal(shape[1:2]), "s"), self.store(np.abs(self.normal(shape[1:2])) + 1, "s")
        self.add(self.node("BatchNormalization", [name, scale, shift, mean, variance]), shape)

    def softmax(self):
        name, shape = self.pick(2, 3, 4)
        self.add(self.node(self.random.choice(["Softmax", "LogSoftmax"]), [name], axis=self.random.randrange(-1, len(shape))), shape)

    def reduction(self):
        name, shape = self.pick(2, 3, 4)
        op = self.random.choice(["ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp", "ReduceSum"])
        axis = self.random.randrange(1, len(shape))
        keep = self.random.random() < 0.6
        to = shape[:axis] + ((1,) if keep else ()) + shape[axis + 1:]
        if op == "ReduceSum":
            return self.add(self.node(op, [name, self.integers(axis)], keepdims=int(keep)), to)
        self.add(self.node(op, [name], axes=[axis], keepdims=int(keep)), to)

    def moved(self):
        name, shape = self.pick(2, 3, 4)
        how = self.random.randrange(5)
        if how == 0:
            order = [0] + self.random.sample(range(1, len(shape)), len(shape) - 1)
            self.add(self.node("Transpose", [name], perm=order), [shape[i] for i in order])
        elif how == 1:
            self.add(self.reshaped(name, (shape[0], math.prod(shape[1:]))), (shape[0], math.prod(shape[1:])))
        elif how == 2 and len(shape) < 4:
            axis = self.random.randrange(1, len(shape) + 1)
            self.add(self.node("Unsqueeze", [name, self.integers(axis)]), shape[:axis] + (1,) + shape[axis:])
        elif how == 3:
            self.add(self.node("Flatten", [name], axis=1), (shape[0], math.prod(shape[1:])))
        else:
            axis = self.random.randrange(1, len(shape))
            self.add(self.node("CumSum", [name, self.store(np.array(axis, np.int64), "i")]), shape)

    def cut(self):
        name, shape = self.pick(2, 3, 4)
        axis = self.random.randrange(1, len(shape))
        how = self.random.randrange(5)
        if how == 0:
            other = self.weight((shape[:axis] + (2,) + shape[axis + 1:]))
            self.add(self.node("Concat", [name, other] if self.random.random() < 0.5 else [other, name], axis=axis),
                     shape[:axis] + (shape[axis] + 2,) + shape[axis + 1:])
        elif how == 1 and shape[axis] > 1:
            begin = self.random.randrange(shape[axis])
            step = self.random.choice([1, 1, 2, -1])
            end = shape[axis] if step > 0 else -10**9
            rows = len(range(shape[axis])[begin::step])
            self.add(self.node("Slice", [name, self.integers(begin), self.integers(end), self.integers(axis), self.integers(step)]),
                     shape[:axis] + (rows,) + shape[axis + 1:])
        elif how == 2 and shape[axis] > 1:
            first = self.random.randrange(1, shape[axis])
            parts = self.node("Split", [name, self.integers(first, shape[axis] - first)], 2, axis=axis)
            for part, size in zip(parts, (first, shape[axis] - first)):
                self.add(part, shape[:axis] + (size,) + shape[axis + 1:])
        elif how == 3:
            pads = [0] * (2 * len(shape))
            pads[axis], pads[len(shape) + axis] = 1, self.random.randrange(2)
            mode = self.random.choice(["constant", "edge"] + (["reflect"] if shape[axis] > 1 else []))
            self.add(self.node("Pad", [name, self.integers(*pads)], mode=mode), shape[:axis] + (shape[axis] + sum(pads),) + shape[axis + 1:])
        else:
            times = [1] * len(shape)
            times[axis] = 2
            self.add(self.node("Tile", [name, self.integers(*times)]), shape[:axis] + (2 * shape[axis],) + shape[axis + 1:])

    def choice(self):
        name, shape = self.pick()
        if self.random.random() < 0.5:
            condition = self.store(self.numbers.integers(0, 2, shape[self.random.randrange(len(shape)):]).astype(bool), "b")
        else:
            condition = self.node(self.random.choice(["Less", "Greater"]), [name, self.number()])
        pair = [name, self.operand(shape)]
        self.random.shuffle(pair)
        self.add(self.node("Where", [condition, *pair]), shape)

    def gathered(self):
        name, shape = self.pick(2, 3, 4)
        axis = self.random.randrange(1, len(shape))
        if self.random.random() < 0.4:
            at = self.random.randrange(-shape[axis], shape[axis])
            self.add(self.node("Gather", [name, self.store(np.array(at, np.int64), "i")], axis=axis), shape[:axis] + shape[axis + 1:])
        elif self.random.random() < 0.5:
            rows = [self.random.randrange(-shape[axis], shape[axis]) for _ in range(3)]
            self.add(self.node("Gather", [name, self.integers(*rows)], axis=axis), shape[:axis] + (3,) + shape[axis + 1:])
        else:
            table = self.weight((5, 3))
            ids = self.store(self.numbers.integers(-5, 5, (BATCH, 2)).astype(np.int64), "i")
            self.add(self.node("Gather", [table, ids]), (BATCH, 2, 3))

    def placed(self):
        """At positions of several axes; the largest."""
        name, shape = self.pick(2, 3, 4)
        how = self.random.randrange(4)
        if how == 0:
            length = self.random.randrange(1, len(shape) + 1)
            places = self.random.sample(list(np.ndindex(*shape[:length])), 2)
            rows = self.store(np.array([[i - d if self.random.random() < 0.3 else i for i, d in zip(at, shape)] for at in places], np.int64), "i")
            updates = self.weight((2,) + shape[length:])
            if self.random.random() < 0.5:
                updates = self.node("Tanh", [updates])
            data = name if self.random.random() < 0.7 else self.constant(shape)
            self.add(self.node("ScatterND", [data, rows, updates]), shape)
        elif how == 1:
            places = [self.random.choice(list(np.ndindex(*shape[1:2]))) for _ in range(2)]
            rows = self.store(np.array([[[b, *at] for at in places] for b in range(shape[0])], np.int64), "i")
            self.add(self.node("GatherND", [name, rows]), (shape[0], 2) + shape[2:])
        elif how == 2:
            axis = self.random.randrange(1, len(shape))
            k = self.random.randrange(1, shape[axis] + 1)
            y = self.node("TopK", [name, self.integers(k)], 2, axis=axis, largest=self.random.randrange(2))[0]
            self.add(y, shape[:axis] + (k,) + shape[axis + 1:])
        else:
            probabilities = self.node("Softmax", [name], axis=-1)
            zero = self.store(np.array(0, np.float32), "n")
            self.add(self.node("Where", [self.node("IsNaN", [probabilities]), zero, probabilities]), shape)

    def fused(self):
        """As ONNX Runtime's optimiser writes."""
        name, shape = self.pick(2, 3)
        how = self.random.randrange(3)
        if how == 0:
            out, turned = 3, self.random.randrange(2)
            weight = self.weight((out, shape[-1]) if turned else (shape[-1], out))
            self.add(self.node("FusedMatMul", [name, weight], domain="com.microsoft", alpha=0.5, transB=turned), shape[:-1] + (out,))
        elif how == 1:
            self.add(self.node("BiasGelu", [name, self.weight(shape[-1:])], domain="com.microsoft"), shape)
        elif shape[-1] > 1:
            scale, shift, bias = (self.weight(shape[-1:]) for _ in range(3))
            self.add(self.node("SkipLayerNormalization", [name, self.node("Tanh", [name]), scale, shift, bias], domain="com.microsoft"), shape)

    def extremum(self):
        name, shape = self.pick()
        self.add(self.node(self.random.choice(["Max", "Min"]), [name, self.operand(shape)]), shape)

    def recurrent(self):
        if self.random.random() < 0.6:
            return
        name, shape = self.pick(3)
        op = self.random.choice(["LSTM", "GRU", "RNN"])
        gates, hidden = {"LSTM": 4, "GRU": 3, "RNN": 1}[op], 2
        inputs = [self.node("Transpose", [name], perm=[1, 0, 2]), self.weight((1, gates * hidden, shape[2])), self.weight((1, gates * hidden, hidden))]
        if self.random.random() < 0.6:
            inputs.append(self.weight((1, 2 * gates * hidden)))
        attributes = {"hidden_size": hidden}
        if op == "GRU":
            attributes["linear_before_reset"] = self.random.randrange(2)
        y = self.node(op, inputs, **attributes)
        y = self.node("Transpose", [self.node("Squeeze", [y, self.integers(1)])], perm=[1, 0, 2])
        self.add(y, (shape[0], shape[1], hidden))

    def finish(self):
        """Joins what nothing reads yet into (batch, width)."""
        read = {name for node in self.nodes for name in node.input}
        parts = []
        for name, shape in self.values:
            if name in read or shape[0] != BATCH:
                continue
            parts.append(self.node("Flatten", [name], axis=1) if len(shape) != 2 else name)
        last, shape = self.values[-1]
        if not parts:
            parts = [self.node("Flatten", [last], axis=1) if len(shape) != 2 else last]
        output = self.node("Concat", parts, axis=1) if len(parts) > 1 else self.node("Identity", parts)
        graph = helper.make_graph(
            self.nodes, "random", [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.x)],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, [BATCH, None])], self.initialisers)
        self.model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)], ir_version=8)
        needed = {output}
        for node in reversed(self.nodes):
            if needed & set(node.output):
                needed |= set(node.input)
        self.must_train &= needed
        self.must_stay &= needed


def generate(seed, steps=6):
    """A model, and what of it must train and must not."""
    made = Generator(seed, steps)
    onnx.checker.check_model(made.model)
    return made.model, made.must_train, made.must_stay
