"""poet.torch: compiled steps in a file, and processes that begin with them."""

import functools
import itertools
import json
import os
import pathlib
import pickle
import sys
import tempfile
import unittest
import zlib
from unittest import mock

from support import main, python
from torch_support import TorchCase, torch

if torch is not None:
    import poet
    import poet.torch
    from poet.torch import compiling

# A process that compiles by a file, if there is one, says what it captured and trained, and writes the file.
PROCESS = """
import contextvars, fractions, functools, json, operator, os, sys
import numpy, torch, poet.torch
from poet.torch import compiling
from torch import nn

file, check, budget, samples = sys.argv[1], sys.argv[2] == "check", sys.argv[3], int(sys.argv[4])
FACTOR = 2.0
TABLE = torch.tensor([1.0, 2.0, 3.0, 4.0])
HALF, THIRD, OBJECTS, PICK = numpy.float32(0.5), fractions.Fraction(1, 3), numpy.array([None, 1.25]), operator.itemgetter(0)
OF_CONTEXT = contextvars.ContextVar("by", default=0.5)

def times(by, module, inputs, output):
    return output * by

def hook_of(by):
    return lambda module, inputs, output: output * by

class Scale:
    def __init__(self, by):
        self.by = by

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = nn.LSTM(6, 8, batch_first=True)
        self.conv = nn.Conv1d(8, 8, 3, padding=1)
        self.norm, self.drop, self.last = nn.BatchNorm1d(8), nn.Dropout(0.3), nn.Linear(8, 4)
        self.act, self.scale = torch.tanh, Scale(1.5)
        self.array = numpy.array([0.5, 0.25], dtype=numpy.float32)

    def forward(self, x):
        h = self.drop(self.norm(self.conv(self.rows(x)[0].transpose(1, 2))))
        h[:, :1] += 1
        h = self.act(h.mean(2)) * FACTOR * self.scale.by * float(self.array[0]) + torch.tensor([0.5])
        if x.shape[0] > 1 and (x[:, 0, 0] > 9).any():
            h = -h
        return self.last(h) * TABLE * HALF * float(THIRD) * OBJECTS[1] * PICK((1.5, 2.5)) * OF_CONTEXT.get()

captures = []
capture = compiling.capture
compiling.capture = lambda *each: captures.append(1) or capture(*each)
torch.set_num_threads(1)
torch.manual_seed(3)
net = Net()
net.last.register_forward_hook(functools.partial(times, 2.0))
net.norm.register_forward_hook(hook_of(0.5))
loss = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 1.0, 0.5]))
optimizer = torch.optim.Adam(net.parameters(), 0.01)
batch = torch.randn(samples, 5, 6), torch.randint(0, 4, (samples,))
step = poet.torch.compile_step(net, loss, optimizer, batch, ram_budget=budget, check=check, saved=file, time_limit=4, progress=lambda phase, plan, *_: plan is None)
captured = len(captures)
different = step.verify(batch)
TABLE[0] = 1.5
loss.weight[1] = 3.0
different += step.verify(batch)
losses = [float(step(batch)) for _ in range(3)]
step.save(file)
print(json.dumps([captured, different, losses, step.unchecked, step.peak_bytes]))
"""


@unittest.skipIf(torch is None, "PyTorch is absent")
class Saved(TorchCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = os.path.join(folder.name, "net.steps")

    def run_one(self, *sources, check="check", budget="least", samples="4"):
        """Of each source in one process: captures, what differed from PyTorch's own, losses, why unchecked, peak."""
        code = f"import sys; sys.argv = ['process', {self.file!r}, {check!r}, {budget!r}, {samples!r}]\n"
        code += "".join(f"exec(compile({source!r}, 'net', 'exec'), {{'__name__': 'net'}})\n" for source in sources or [PROCESS])
        out, error = (process := python(code)).communicate()
        self.assertEqual(process.returncode, 0, error)
        results = [json.loads(line) for line in out.splitlines()]
        return results if len(sources) > 1 else results[0]

    def test_another_process_captures_nothing_and_trains_equally(self):
        first = self.run_one()
        self.assertGreater(first[0], 0)
        self.assertEqual(first[1], [])
        for check, unchecked in (("check", None), ("no", "check=False")):
            self.assertEqual(self.run_one(check=check), [0, [], first[2], unchecked, first[4]])

    def test_what_has_changed_is_compiled_again(self):
        self.run_one(budget="100%")
        captures, different, *_ = self.run_one(check="no", budget="99%")
        self.assertGreater(captures, 0)
        self.assertEqual(different, [])
        captures, different, *_ = self.run_one(check="no", budget="100%", samples="5")
        self.assertGreater(captures, 0)
        self.assertEqual(different, [])
        changes = [
            ("FACTOR = 2.0", "FACTOR = 3.0"),
            ("self.act, self.scale = torch.tanh", "self.act, self.scale = torch.sigmoid"),
            ("Scale(1.5)", "Scale(2.5)"),
            ("[0.5, 0.25]", "[0.75, 0.25]"),
            ("float32(0.5)", "float32(0.25)"),
            ("Fraction(1, 3)", "Fraction(2, 3)"),
            ("[None, 1.25]", "[None, 1.5]"),
            ("itemgetter(0)", "itemgetter(1)"),
            ("default=0.5", "default=0.25"),
            ("partial(times, 2.0)", "partial(times, 3.0)"),
            ("hook_of(0.5)", "hook_of(0.75)"),
            ("h = -h", "h = h * 2"),
            ("h.mean(2)", "h.sum(2)"),
            ("nn.Dropout(0.3)", "nn.Dropout(0.4)"),
            ("torch.optim.Adam(net.parameters(), 0.01)", "torch.optim.SGD(net.parameters(), 0.01, momentum=0.9)"),
            ("loss = nn.CrossEntropyLoss(", "loss = nn.CrossEntropyLoss(label_smoothing=0.1, "),
            ("loss, optimizer, batch", "functools.partial(nn.functional.cross_entropy, weight=loss.weight), optimizer, batch"),
            ("loss, optimizer, batch", "functools.partial(nn.functional.multi_margin_loss, weight=loss.weight), optimizer, batch"),
            ("torch.randn(samples, 5, 6)", "10 + torch.randn(samples, 5, 6)"),
        ]
        variants = [PROCESS.replace(old, new).replace("step.save(file)", "") for old, new in changes]
        self.assertNotIn(PROCESS.replace("step.save(file)", ""), variants)
        unchanged, *others = self.run_one(PROCESS.replace("step.save(file)", ""), *variants, check="no", budget="100%", samples="5")
        self.assertEqual(unchanged[0], 0)
        for (_, new), (captures, different, *_) in zip(changes, others):
            self.assertGreater(captures, 0, new)
            self.assertEqual(different, [], new)

    def test_what_compares_otherwise_is_compiled_again(self):
        # The code is the same, and what it reads is nowhere to be seen.
        hidden = PROCESS.replace("TABLE = torch", "os.environ.setdefault('BY', '1.0')\nTABLE = torch").replace("* FACTOR", "* float(os.environ['BY'])")
        self.run_one(hidden)
        captures, different, *_ = self.run_one("import os; os.environ['BY'] = '5.0'\n" + hidden)
        self.assertGreater(captures, 0)
        self.assertEqual(different, [])

    def test_files_that_cannot_be(self):
        with self.assertRaisesRegex(poet.InputError, "^saved: .* is not a file of step.save"):
            pathlib.Path(self.file).write_text("steps")
            self.step(saved=self.file)
        with self.assertRaisesRegex(TypeError, "^saved: must be a path, not float"):
            self.step(saved=3.5)
        step = self.step()
        step.save(self.file)
        whole = pathlib.Path(self.file).read_bytes()
        head = whole.index(b"\n", whole.index(b"\n") + 1) + 1
        for content in (whole[:-9], whole[: head - 1], whole[:head], whole + b"more", whole[:head] + zlib.compress(pickle.dumps([3]))):
            pathlib.Path(self.file).write_bytes(content)
            with self.assertRaisesRegex(poet.InputError, "^saved: .* is damaged: "):
                self.step(saved=self.file)
        with open(self.file, "r+b") as file:
            content = file.read().replace(torch.__version__.encode(), torch.__version__.replace(".", ",").encode(), 1)
            file.seek(0)
            file.write(content)
        self.assertEqual(self.step(saved=self.file).verify(self.batch), [])  # another version's
        with self.assertRaisesRegex(poet.InputError, "^file: .* cannot be written: No such file or directory"):
            step.save(os.path.join(self.file + ".d", "steps"))
        with self.assertRaisesRegex(poet.InputError, "^saved: .* cannot be read: Is a directory"):
            self.step(saved=os.path.dirname(self.file))
        self.assertEqual(os.listdir(os.path.dirname(self.file)), [os.path.basename(self.file)])

    def test_a_tensor_that_no_name_tells_cannot_be_saved(self):
        hidden = {"by": torch.full((4,), 2.0)}

        def loss(module, batch):
            (by,) = [hidden[name] for name in hidden if name.startswith("b")]
            return (module(batch[0]) * by).square().mean()

        step = self.step(loss_fn=None, forward=loss)
        step.save(self.file)  # it is in a container in a closure

        class Holder:
            __slots__ = ("by",)

        holder = Holder()
        holder.by = torch.full((4,), 2.0)
        step = self.step(loss_fn=None, forward=lambda module, batch: (module(batch[0]) * vars_of(holder)).square().mean())
        with self.assertRaisesRegex(poet.InputError, "^step: cannot be saved: its code reads a tensor that is neither"):
            step.save(self.file)

    @unittest.skipUnless(hasattr(torch, "amp") and hasattr(torch.amp, "GradScaler"), "PyTorch 1 scales with a GPU alone")
    def test_a_scaler_that_is_on_is_not_one_that_is_off(self):
        self.step(scaler=self.scaler(enabled=False)).save(self.file)
        with mock.patch.object(compiling, "capture", side_effect=AssertionError("captured")):
            self.step(scaler=self.scaler(enabled=False), saved=self.file, check=False)
            with self.assertRaisesRegex(AssertionError, "captured"):
                self.step(scaler=self.scaler(init_scale=4.0), saved=self.file)
        self.step(scaler=self.scaler(init_scale=4.0)).save(self.file)
        with mock.patch.object(compiling, "capture", side_effect=AssertionError("captured")):
            step = self.step(scaler=self.scaler(init_scale=8.0), saved=self.file)
        self.assertEqual(step.verify(self.batch), [])

    def scaler(self, **options):
        return torch.amp.GradScaler("cpu", **options)

    def test_tensors_with_the_same_memory_are_not_two(self):
        """Objects are compared by what they hold; whether two are one is another matter."""
        one = torch.full((4,), 2.0)

        def forward(module, batch, other):
            return (module(batch[0]) * one * other).square().mean()

        for is_saved_of_one, is_loaded_of_one in itertools.product((True, False), repeat=2):
            of_saving, of_loading = (one if is_of_one else one.clone() for is_of_one in (is_saved_of_one, is_loaded_of_one))
            self.step(loss_fn=None, forward=functools.partial(forward, other=of_saving)).save(self.file)
            with mock.patch.object(compiling, "capture", wraps=compiling.capture) as capture:
                step = self.step(loss_fn=None, forward=functools.partial(forward, other=of_loading), saved=self.file)
            self.assertEqual(capture.called, is_saved_of_one != is_loaded_of_one)
            with torch.no_grad():
                of_loading.mul_(1.5)
            self.assertEqual(step.verify(self.batch), [])

    def test_a_tensor_whose_value_decides_what_runs_cannot_be_saved(self):
        flag = torch.tensor(1)

        def forward(module, batch):
            return module(batch[0]).square().mean() * (2 if flag.item() == 1 else 3)

        step = self.step(loss_fn=None, forward=forward)
        flag.fill_(2)
        self.assertEqual(step.verify(self.batch), [])
        with self.assertRaisesRegex(poet.InputError, "^step: cannot be saved: its code reads a tensor .* or goes by its value"):
            step.save(self.file)

    def step(self, **options):
        module = torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.ReLU(), torch.nn.Linear(4, 4))
        self.batch = torch.randn(3, 6), torch.randn(3, 4)
        options = {"loss_fn": torch.nn.functional.mse_loss, "ram_budget": "100%", **options}
        return poet.torch.compile_step(module, options.pop("loss_fn"), torch.optim.SGD(module.parameters(), 0.1), self.batch, **options)


def vars_of(holder):
    return next(getattr(holder, name) for name in type(holder).__slots__)


if __name__ == "__main__":
    main()
