"""poet.torch: a step follows what its code reads besides module and batch, or refuses it."""

import functools
import random
import types
import unittest.mock
import warnings

from support import main
from torch_support import TorchCase, torch

if torch is not None:
    import numpy as np
    from torch import nn

    import poet.torch
    from poet.torch.surroundings import Surroundings

    mse = nn.functional.mse_loss

    class Scaled(nn.Linear):
        def __init__(self):
            super().__init__(8, 8)
            self.factor = 1

        def forward(self, x):
            return super().forward(x) * self.factor

FACTOR = 1.0
SETTINGS = {"scale": 1}
loss = None


def scaled_by_global(module, batch):
    return mse(module(batch[0]), batch[1]) * FACTOR


def twice_removed(module, batch):
    return scaled_by_global(module, batch)


class Weighted:
    """A loss that is no module."""

    weight = 1.0

    def __init__(self):
        self.given = 0.0
        self.terms = [types.SimpleNamespace(factor=1.0)]

    def __call__(self, one, other):
        return mse(one, other) * self.weight * self.scale() * self.terms[0].factor

    def scale(self):
        return 1.0 + self.offset

    @property
    def offset(self):
        return getattr(self, "given")


class SurroundingsCase(TorchCase):
    def setUp(self):
        super().setUp()
        torch.manual_seed(0)
        self.batch = torch.randn(6, 8), torch.randn(6, 8)

    def step_of(self, module, loss=None, forward=None, optimizer=None):
        optimizer = optimizer or torch.optim.SGD(module.parameters(), 0.1)
        return poet.torch.compile_step(module, loss, optimizer, self.batch, ram_budget="100%", time_limit=5, forward=forward)

    def follows(self, change, module=None, loss=None, forward=None):
        """The change has an effect, and the step has it, too."""
        module = module or nn.Linear(8, 8)
        loss = loss if loss or forward else mse
        step = self.step_of(module, loss, forward)
        self.assertEqual(step.verify(self.batch), [])
        before = float(step(self.batch))
        change()
        self.assertEqual(step.verify(self.batch), [])
        self.assertNotAlmostEqual(float(step(self.batch)), before, delta=0.1 * before)
        compiled = len(step._compiled)
        step(self.batch)
        self.assertEqual(len(step._compiled), compiled)  # only once

    def test_variables_of_closures(self):
        beta = 1.0
        table = {"betas": [1.0]}

        def forward(module, batch):
            return mse(module(batch[0]), batch[1]) * beta * table["betas"][0]

        def change():
            nonlocal beta
            beta = 3.0

        self.follows(change, forward=forward)
        self.follows(lambda: table["betas"].__setitem__(0, 5.0), forward=forward)

    def test_decorators(self):
        factor = 1.0

        def scaled(function):
            @functools.wraps(function)
            def wrapper(*given):
                return function(*given) * factor

            return wrapper

        @torch.enable_grad()
        @scaled
        def forward(module, batch):
            return mse(module(batch[0]), batch[1]) * FACTOR

        def change():
            nonlocal factor
            factor = 3.0

        def change_global(value):
            global FACTOR
            FACTOR = value

        self.follows(change, forward=forward)
        self.follows(lambda: change_global(4.0), forward=forward)
        change_global(1.0)

    def test_another_teacher(self):
        teacher = nn.Linear(8, 8)

        def forward(module, batch):
            with torch.no_grad():
                wanted = teacher(batch[0])
            return mse(module(batch[0]), wanted)

        def change():
            nonlocal teacher
            teacher = nn.Linear(8, 8)
            with torch.no_grad():
                teacher.weight.mul_(10)

        self.follows(change, forward=forward)

    def test_globals_also_of_functions_that_are_called(self):
        def change(value):
            global FACTOR
            FACTOR = value

        for forward in (scaled_by_global, twice_removed, lambda module, batch: twice_removed(module, batch)):
            self.follows(lambda: change(4.0), forward=forward)
            change(1.0)

    def test_globals_with_the_name_of_an_attribute_do_not_count(self):
        global loss
        forward = lambda module, batch: types.SimpleNamespace(loss=mse(module(batch[0]), batch[1])).loss  # noqa: E731
        step = self.step_of(nn.Linear(8, 8), forward=forward)
        for _ in range(3):
            loss = step(self.batch)
        self.assertEqual(len(step._compiled), 1)

    def test_arguments_of_partial_functions(self):
        weights = Weighted()
        self.follows(lambda: setattr(weights, "weight", 3.0), loss=functools.partial(lambda how, one, other: how(one, other), weights))

    def test_attributes_of_classes_and_of_a_loss_that_is_no_module(self):
        class Scaled(nn.Module):
            scale = 1.0

            def __init__(self):
                super().__init__()
                self.inner, self.modes = nn.Linear(8, 8), {"plain"}
                self.settings = [types.SimpleNamespace(factor=1.0)]

            def forward(self, x):
                return self.scaled(self.inner(x))

            def scaled(self, x):
                return x * self.scale * self.settings[0].factor * (2 if "double" in self.modes else 1)

        module = Scaled()
        self.follows(lambda: setattr(Scaled, "scale", 7.0), module=module)
        self.follows(lambda: module.modes.add("double"), module=module)
        self.follows(lambda: setattr(module.settings[0], "factor", 5.0), module=module)
        for name in ("weight", "given"):
            loss = Weighted()
            self.follows(lambda: setattr(loss, name, 5.0), loss=loss)
        loss = Weighted()
        self.follows(lambda: setattr(loss.terms[0], "factor", 5.0), loss=loss)

    def test_flags_of_pytorch(self):
        module = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)
        self.batch = torch.randn(2, 3, 8), torch.randn(2, 3, 8)
        step = self.step_of(module, mse)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            compiled = self.step_of(nn.Linear(8, 8), mse)
            self.assertEqual(compiled.verify(self.batch), [])
        kinds = len(step._compiled)
        if hasattr(torch.nn, "attention"):
            with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
                self.assertEqual(step.verify(self.batch), [])
            self.assertEqual(len(step._compiled), kinds + 1)
        with torch.backends.mkldnn.flags(enabled=False):
            self.assertEqual(step.verify(self.batch), [])

    def test_autocast_casts_a_parameter_once_unless_its_cache_is_off(self):
        def twice(module, batch):
            return (module(torch.tanh(module(batch[0]))) ** 2).mean()

        gradients = []
        for cached in (True, False):
            torch.manual_seed(1)
            module = nn.Linear(8, 8)
            with torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=cached):
                step = self.step_of(module, forward=twice)
                self.assertEqual(step.verify(self.batch), [])
                self.assertEqual(torch.is_autocast_cache_enabled(), cached)
                step.keep_gradients = True
                step(self.batch)
            gradients.append(module.weight.grad)
        self.assertFalse(torch.equal(*gradients))

    def test_operators_are_measured_without_autocast(self):
        module = nn.TransformerEncoderLayer(8, 2, 16, 0.1, batch_first=True)
        self.batch = torch.randn(2, 3, 8), torch.randn(2, 3, 8)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            self.assertEqual(self.step_of(module, mse).verify(self.batch), [])

    def test_options_and_groups_of_the_optimizer(self):
        module = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 8))
        optimizer = torch.optim.SGD(module[2].parameters(), 0.1)
        step = self.step_of(module, mse, optimizer=optimizer)
        peak = step.peak_bytes
        optimizer.param_groups[0]["lr"] = 0.01  # which takes no memory
        step(self.batch)
        self.assertEqual(len(step._compiled), 1)
        optimizer.param_groups[0]["momentum"] = 0.9
        optimizer.add_param_group({"params": list(module[0].parameters())})
        self.assertEqual(step.verify(self.batch), [])
        self.assertGreater(step.peak_bytes, peak)

    def test_numbers_of_other_generators_are_refused(self):
        for name, draw in (("random", random.random), ("numpy.random", np.random.rand)):
            states = random.getstate(), repr(np.random.get_state(legacy=False))
            with self.assertRaisesRegex(poet.torch.CaptureError, f"module: draws numbers by {name}, which steps cannot follow"):
                self.step_of(nn.Linear(8, 8), forward=lambda module, batch: mse(module(batch[0]), batch[1]) * draw())
            self.assertEqual((random.getstate(), repr(np.random.get_state(legacy=False))), states)
        generator = torch.Generator()
        with self.assertRaisesRegex(poet.InputError, "generator"):
            self.step_of(nn.Linear(8, 8), forward=lambda module, batch: mse(module(batch[0]) * torch.rand(8, generator=generator), batch[1]))

    def test_seeds_within_a_step_are_refused(self):
        def seeded(module, batch):
            torch.manual_seed(5)
            return mse(nn.functional.dropout(module(batch[0])), batch[1])

        def forked(module, batch):
            with torch.random.fork_rng():
                noise = torch.rand(8)
            return mse(module(batch[0]) * noise, batch[1])

        linear = nn.Linear(8, 8)
        state = torch.get_rng_state()
        for forward, line in ((seeded, "torch.manual_seed\\(5\\)"), (forked, "with torch.random.fork_rng\\(\\):")):
            with self.assertRaisesRegex(poet.torch.CaptureError, f"torch_surroundings_test.py:[0-9]+: {line}: sets the state of PyTorch's generator"):
                self.step_of(linear, forward=forward)
            self.assertTrue(torch.equal(state, torch.get_rng_state()))

    def test_hooks_after_accumulation_are_refused(self):
        module = nn.Linear(8, 8)
        if not hasattr(module.weight, "register_post_accumulate_grad_hook"):
            self.skipTest("PyTorch 1 has none")
        step = self.step_of(module, mse)
        module.weight.register_post_accumulate_grad_hook(lambda parameter: parameter.grad.mul_(2))
        with self.assertRaisesRegex(poet.InputError, "hook on the gradient of weight"):
            step(self.batch)

    def test_steps_that_were_run_last_are_kept(self):
        step = self.step_of(nn.Linear(8, 8), mse)
        first, kept = step._latest, 6
        with unittest.mock.patch("poet.torch.kept.MOST", kept):
            for count in range(1, kept + 3):
                step((self.batch[0].repeat(count, 2)[:, :8], self.batch[1].repeat(count, 2)[:, :8]))
                self.assertEqual(len(step._compiled), min(kept, 1 + count))
                step(self.batch)
        self.assertIs(step._latest, first)

    def test_steps_that_are_all_compiled_are_told_once(self):
        module = Scaled()
        step = self.step_of(module, mse)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            for module.factor in range(2, 22):
                step(self.batch)
        (warning,) = [each for each in told if "poet.torch" in str(each.message)]
        self.assertRegex(str(warning.message), "^poet.torch: each of the last 8 calls compiled a new step, because this differed: factor among attributes of modules. What changes")
        self.assertEqual(warning.filename, __file__)
        module = Scaled()
        step = self.step_of(module, mse)
        with self.assertWarnsRegex(UserWarning, "of the last .* calls compiled a new step"):  # the eighth of them with another length
            for module.factor, count in enumerate([1, 2] * 5 + [2] * 3, 2):
                step((self.batch[0][:count], self.batch[1][:count]))
        scale = [1]
        step = self.step_of(nn.Linear(8, 8), forward=lambda module, batch: mse(module(batch[0]) * SETTINGS["scale"] * scale[0], batch[1]))
        with self.assertWarnsRegex(UserWarning, "because this differed: SETTINGS among what the code reads"):
            for SETTINGS["scale"] in range(2, 12):
                step(self.batch)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for count in range(1, 7):  # lengths, as epochs have them
                for _ in range(2):
                    step((self.batch[0][:count], self.batch[1][:count]))

    def test_library_code_is_not_followed(self):
        surroundings = Surroundings([nn.Linear(8, 8), nn.functional.cross_entropy, np.mean])
        self.assertEqual(surroundings.key(), ((), []))


if __name__ == "__main__":
    main()
