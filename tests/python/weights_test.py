"""Weights: where a trainer begins, array types, ONNX files in and out; the rules of `poet run` and `poet weights`."""

import os
import pickle
import tempfile
import unittest

import numpy as np
import poet
from poet import _safetensors

from support import SMALL, main, program

try:
    import torch
except ImportError:
    torch = None


def equal(a, b):
    return all(np.array_equal(a[name], b[name]) for name in a)


def plan_of(**changes):
    problem = {**SMALL, "ram_budget": "10MB", **changes}
    if "onnx" in changes:
        problem.pop("model")
    return poet.solve(**problem).plan


def field(number, value):
    """Of a protobuf message: text, bytes, or a number below 128."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    value = value.encode() if isinstance(value, str) else value
    size = len(value)
    return bytes([number << 3 | 2, size & 127 | 128, size >> 7]) + value


def looked_up_and_added(tensors):
    """An ONNX model: (x + table[places[i]]) w, where nothing but the file knows `places`."""
    def node(operator, inputs, output):
        return field(1, b"".join(field(1, name) for name in inputs) + field(2, output) + field(4, operator))

    def declared(number, name, element_type, *sizes):
        shape = b"".join(field(1, field(2, size) if isinstance(size, str) else field(1, size)) for size in sizes)
        return field(number, field(1, name) + field(2, field(1, field(1, element_type) + field(2, shape))))

    def stored(name, tensor):
        return field(5, b"".join(field(1, size) for size in tensor.shape) + field(2, 7 if tensor.dtype == np.int64 else 1) + field(8, name) + field(9, tensor.tobytes()))

    graph = (node("Gather", ["places", "i"], "place") + node("Gather", ["table", "place"], "row") + node("Add", ["x", "row"], "sum") + node("MatMul", ["sum", "w"], "out") + field(2, "g")
             + b"".join(stored(name, tensor) for name, tensor in tensors.items())
             + declared(11, "x", 1, "n", 4) + declared(11, "i", 7, "n") + declared(12, "out", 1, "n", 3))
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17))


class Weights(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.plan = plan_of()
        cls.weights = poet.Trainer(cls.plan, seed=7).state_dict()  # sgd: parameters alone
        cls.first = next(iter(cls.weights))
        cls.safetensors, cls.onnx = cls.file("net.safetensors"), cls.file("net.onnx")
        poet.Trainer(cls.plan, seed=7).save(cls.safetensors)
        cls.done = poet.convert_weights(cls.safetensors, cls.onnx, model="linear")
        cls.imported = plan_of(onnx=cls.onnx)

    @classmethod
    def file(cls, name):
        return os.path.join(cls.folder.name, name)

    def assert_begins(self, trainer, weights=None):
        self.assertTrue(equal(weights or self.weights, trainer.state_dict()))

    # ---- where training begins

    def test_a_plan_of_an_onnx_file_begins_with_its_weights(self):
        self.assert_begins(poet.Trainer(self.imported))
        self.assert_begins(poet.Trainer(pickle.loads(pickle.dumps(self.imported))))
        graph = poet.import_onnx(self.onnx, "m4", batch_size=64)
        self.assert_begins(poet.Trainer(poet.solve(graph=graph, ram_budget="10MB", beyond_device_ram=True).plan))
        self.assertFalse(equal(self.weights, poet.Trainer(self.imported, onnx=False).state_dict()))
        trained = poet.train(self.imported, steps=3)
        self.imported.save(self.file("net.plan"))
        said = program("run", self.file("net.plan"), "--onnx", self.onnx, "--steps", 3)
        self.assertEqual([np.float32(loss) for loss in said["losses"]], list(trained.losses))

    def test_a_plan_of_a_file_begins_with_the_onnx_file_that_is_named(self):
        self.imported.save(self.file("again.plan"))
        plan = poet.read_plans(self.file("again.plan"))[0]
        self.assertFalse(equal(self.weights, poet.Trainer(plan).state_dict()))
        for arguments in ({"weights": self.onnx}, {"onnx": self.onnx}):
            self.assert_begins(poet.Trainer(plan, **arguments))
            self.assert_begins(poet.Trainer(plan, **arguments, validation=self.data()))

    def data(self):
        chance = np.random.default_rng(3)
        return {name: chance.standard_normal((64, *shape), dtype=np.float32) if dtype == "float32" else chance.integers(0, 10, (64, *shape))
                for name, (dtype, shape) in poet.inputs(self.plan).items()}

    def test_the_onnx_file_has_what_weights_lack(self):
        other = {self.first: self.weights[self.first] + 1}
        self.assert_begins(poet.Trainer(self.imported, weights=other), {**self.weights, **other})

    def test_constants_come_from_the_onnx_file(self):
        tensors = {"w": np.full((4, 3), 0.5, np.float32), "table": np.arange(12, dtype=np.float32).reshape(3, 4),
                   "places": np.array([2, 0, 1])}
        file = self.file("constants.onnx")
        with open(file, "wb") as stream:
            stream.write(looked_up_and_added(tensors))
        trained = np.full((4, 3), 1.5, np.float32)  # as the file has it, which multiplies x from the right
        plan = poet.solve(onnx=file, device="m4", batch_size=4, trainable="w").plan
        state = poet.Trainer(plan, weights={"w": trained}).state_dict()
        self.assertTrue(equal({**tensors, "w": trained}, state))
        with self.assertRaisesRegex(poet.InputError, "places"):
            poet.Trainer(plan, onnx=False)

    # ---- what does not fit

    def test_names_are_those_of_the_network(self):
        misspelt = {name + "s" if name == self.first else name: tensor for name, tensor in self.weights.items()}
        with self.assertRaisesRegex(poet.InputError, f"^weights: '{self.first}s' is no tensor of the network; did you mean {self.first}[?]; strict=False"):
            poet.Trainer(self.plan, weights=misspelt)
        with self.assertRaisesRegex(poet.InputError, f"^weights: 'module.{self.first}' .*; did you mean {self.first}[?]; strict=False"):
            poet.Trainer(self.plan, weights={f"module.{name}": tensor for name, tensor in self.weights.items()})
        partial = dict(list(self.weights.items())[1:])
        with self.assertRaisesRegex(poet.InputError, f"^weights: lacks '{self.first}', a parameter of the network; strict=False"):
            poet.Trainer(self.plan, weights=partial)
        _safetensors.write(self.file("partial.safetensors"), partial)
        with self.assertRaisesRegex(poet.InputError, f"partial.safetensors: lacks '{self.first}'"):
            poet.train(self.plan, weights=self.file("partial.safetensors"))
        for weights in (misspelt, partial):
            trainer = poet.Trainer(self.plan, weights=weights, strict=False, seed=3)
            self.assert_begins(trainer, partial)
            self.assertEqual(trainer.notices, [f"1 of {len(self.weights)} parameters are not in weights and begin with values by the seed 3: {self.first}"])
            self.assertEqual(poet.train(self.plan, weights=weights, strict=False, seed=3, steps=1).notices, trainer.notices)
        counted = {**self.weights, "norm.num_batches_tracked": np.int64(3), f"{self.first}.velocity": self.weights[self.first]}
        self.assert_begins(poet.Trainer(self.plan, weights=counted))
        with self.assertRaisesRegex(poet.InputError, "is not the file that the plan was made for"):
            poet.Trainer(poet.solve("vgg16_cifar", device="a72", batch_size=1, time_limit=1).plan, weights=self.onnx)

    def test_arguments_that_exclude_each_other(self):
        for arguments, named in (
            ({"weights": self.safetensors, "resume": self.safetensors}, "^weights: excludes resume"),
            ({"data": self.data(), "samples": 5}, "^samples: is for the synthetic set"),
            ({"onnx": self.onnx, "weights": self.onnx}, "^onnx: excludes weights from an ONNX file"),
            ({"input_shapes": {"input": (1, 2)}}, "^input_shapes: says how to read"),
            ({"checkpoint": "x.onnx"}, "^checkpoint: is a safetensors file"),
            ({"validation": self.data(), "best": "x.onnx"}, "^best: is a safetensors file"),
            ({"onnx_out": "x.safetensors"}, "^onnx_out: is an ONNX file"),
            ({"checkpoint": "x", "onnx_out": "./x"}, "^onnx_out: must name another file"),
        ):
            with self.subTest(named=named), self.assertRaisesRegex(poet.InputError, named):
                poet.train(self.plan, **arguments)
        with self.assertRaisesRegex(poet.InputError, "^checkpoint: is a safetensors file"):
            poet.Trainer(self.plan).save(self.file("x.onnx"))
        with self.assertRaisesRegex(poet.InputError, "^file: is an ONNX file; checkpoint and Trainer.save[(][)] write safetensors$"):
            poet.Trainer(self.plan).save_onnx(self.file("x.safetensors"))
        self.assertFalse(os.path.exists(self.file("x.onnx")) or os.path.exists(self.file("x.safetensors")))

    def test_a_mistaken_argument_is_named_with_what_was_meant(self):
        for call, arguments, said in (
            (poet.train, {"lr": 0.1}, r"^train\(\): lr is no argument of it; did you mean learning_rate[?]$"),
            (poet.train, {"validat_every": 1}, "did you mean validate_every"),
            (poet.Trainer, {"lr": 0.1}, r"^Trainer\(\): lr is no argument of it; did you mean learning_rate[?]$"),
            (poet.train, {"steps": 3, "epochs": 1}, r"epochs is no argument of it; did you mean steps, the number of batches[?]$"),
            (poet.train, {"betas": (0.9, 0.99)}, "did you mean beta1 and beta2[?]$"),
            (poet.train, {"batch_size": 4}, "batch_size is no argument of it: the plan holds it, so it is an argument of solve"),
            (poet.Trainer, {"colour": 1}, r"^Trainer\(\): colour is no argument of it$"),
        ):
            with self.subTest(said=said), self.assertRaisesRegex(TypeError, said):
                call(self.plan, **arguments)
        with self.assertRaisesRegex(TypeError, "^weights: must be arrays by name, or a path, not tuple$"):
            poet.Trainer(self.plan, weights=(1, 2))

    def test_shapes_are_said_as_python_has_them(self):
        for said, expected in (("`input_shapes` x0=4x20", '`input_shapes` {"x0": (4, 20)}'), ("`input_shapes` t=4, or", '`input_shapes` {"t": (4,)}, or'),
                               ("`input_shapes` sets them all", "`input_shapes` sets them all")):
            self.assertEqual(poet._core.with_argument_names(said), expected)

    # ---- types

    def test_narrow_numbers_are_widened(self):
        half = {name: tensor.astype(np.float16) for name, tensor in self.weights.items()}
        self.assert_begins(poet.Trainer(self.plan, weights=half), {name: tensor.astype(np.float32) for name, tensor in half.items()})
        with self.assertRaisesRegex(poet.InputError, f"^weights: '{self.first}' holds complex64; weights are"):
            poet.Trainer(self.plan, weights={**self.weights, self.first: self.weights[self.first].astype(np.complex64)})
        with self.assertRaisesRegex(poet.InputError, f"^weights: '{self.first}'"):
            poet.Trainer(self.plan, weights={**self.weights, self.first: [[1.0], [2.0, 3.0]]})

    @unittest.skipUnless(torch, "torch is absent")
    def test_parameters_of_pytorch(self):
        parameters = {name: torch.nn.Parameter(torch.from_numpy(tensor)) for name, tensor in self.weights.items()}
        self.assert_begins(poet.Trainer(self.plan, weights=parameters))
        narrow = {name: parameter.bfloat16() for name, parameter in parameters.items()}
        self.assert_begins(poet.Trainer(self.plan, weights=narrow), {name: tensor.detach().float().numpy() for name, tensor in narrow.items()})

    def test_masks_may_be_boolean(self):
        data = self.data()
        labels = next(name for name, array in data.items() if array.dtype.kind == "i")
        ones = {**data, labels: data[labels] % 2}
        one, other = (poet.train(self.plan, arrays, steps=1).losses for arrays in (ones, {**ones, labels: ones[labels].astype(bool)}))
        self.assertTrue(np.array_equal(one, other))

    # ---- ONNX out

    def test_trained_weights_go_into_an_onnx_file(self):
        for plan, name in ((self.imported, "into"), (self.plan, "made")):
            trained = poet.train(plan, steps=2, onnx_out=self.file(name + ".onnx"))
            self.assert_begins(poet.Trainer(plan, weights=self.file(name + ".onnx")), trained.state_dict)
        trainer = poet.Trainer(self.imported)
        trainer.step()
        trainer.save_onnx(self.file("saved.onnx"))
        self.assert_begins(poet.Trainer(self.imported, weights=self.file("saved.onnx")), trainer.state_dict())

    def test_weights_are_converted_as_by_the_program(self):
        self.assertEqual((self.done["file"], self.done["tensors"]), (self.onnx, len(self.weights)))
        self.assertEqual(poet.convert_weights(self.onnx, self.file("back.safetensors"))["tensors"], len(self.weights))
        self.assertTrue(equal(self.weights, _safetensors.read(self.file("back.safetensors"))))
        said = program("weights", self.onnx, "-o", self.file("said.safetensors"))
        self.assertEqual({**said, "file": None}, {**poet.convert_weights(self.onnx, self.file("back.safetensors")), "file": None})
        for arguments, named in (
            ((self.onnx, "x"), '^out: "x" must end in'),
            ((self.onnx, "x.onnx"), "^out: weights of an ONNX file go into a .safetensors file"),
            ((self.safetensors, "x.onnx"), "^onnx: is needed, or `model`"),
            (("/no/file.onnx", "x.safetensors"), "/no/file.onnx"),
            ((__file__, "x.onnx"), "weights_test.py: .* [(]weights come from safetensors, or from a file called .onnx[)]$"),
        ):
            with self.subTest(named=named), self.assertRaisesRegex(poet.InputError, named):
                poet.convert_weights(*arguments)
        with self.assertRaisesRegex(poet.InputError, "^model: cannot be combined with `onnx`"):
            poet.convert_weights(self.safetensors, "x.onnx", onnx=self.onnx, model="linear")


if __name__ == "__main__":
    main()
