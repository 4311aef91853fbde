"""poet.torch: a step that is compiled is compared with PyTorch's own."""

import copy
import functools
import pickle
import sys
from unittest import mock

from support import main
from torch_support import Branches, TorchCase, images, state_of, torch

if torch is not None:
    from torch import nn
    import torch.utils.checkpoint
    from torch._subclasses import FakeTensor

    import poet.torch


def is_captured():
    frame = sys._getframe()
    while frame is not None and frame.f_code.co_name != "capture":
        frame = frame.f_back
    return frame is not None


if torch is not None:

    class Counting(nn.Linear):
        """With a buffer that its code changes and a tensor that is neither that nor a parameter."""

        def __init__(self):
            super().__init__(8, 8)
            self.register_buffer("count", torch.zeros(()))
            self.scale = torch.full((8,), 0.5)

        def forward(self, x):
            self.count.add_(1)
            return super().forward(x) * self.scale


class Check(TorchCase):
    def linear(self, compute, **options):
        module, x = nn.Linear(8, 8), torch.randn(4, 8)
        optimizer = torch.optim.SGD(module.parameters(), 0.1)
        return module, x, lambda: poet.torch.compile_step(
            module, None, optimizer, x, forward=lambda module, batch: compute(module(batch)), ram_budget="100%", time_limit=2, **options
        )

    def test_code_that_looks_for_fake_tensors_is_captured_on_real_ones(self):
        def compute(y):
            return (y * 3).sum() if isinstance(y, FakeTensor) else (y * 2).sum()

        module, x, compile_step = self.linear(compute)
        step = compile_step()
        self.assertIsNone(step.unchecked)
        self.assertEqual(step.verify(x), [])
        self.assertIn("2)", step.code)

    def test_code_that_does_something_else_while_it_is_captured_is_refused_with_its_line(self):
        def compute(y):
            y = y.tanh()
            if is_captured():
                y = y.exp()  # here
            return y.sum()

        module, x, compile_step = self.linear(compute)
        before = state_of(module, mock.Mock(state={parameter: {} for parameter in module.parameters()}))
        with self.assertRaisesRegex(
            poet.torch.CaptureError,
            r"torch_check_test.py:\d+: y = y.exp\(\)  # here: computes aten::exp while it is captured, but aten::sum otherwise, "
            r"so that gradient of weight, gradient of bias, loss would not be PyTorch's; check=False trains so",
        ):
            compile_step()
        for one, other in zip(before, module.state_dict().values()):
            self.assertTrue(torch.equal(one, other))
        module, x, compile_step = self.linear(compute, check=False)
        step = compile_step()
        self.assertEqual(step.unchecked, "check=False")
        self.assertIn("gradient of weight", step.verify(x))

    def test_numbers_that_differ_while_it_is_captured_are_refused(self):
        _, _, compile_step = self.linear(lambda y: (y * (2.0 if is_captured() else 3.0)).sum())
        with self.assertRaisesRegex(poet.torch.CaptureError, r"^.*torch_check_test.py:\d+: .*computes aten::mul with \(2.0,\) while it is captured, but with \(3.0,\) otherwise"):
            compile_step()

    def test_modules_can_be_copied_and_pickled_afterwards(self):
        module = Counting()
        batch = torch.randn(4, 8), torch.randn(4, 8)
        step = poet.torch.compile_step(module, torch.nn.functional.mse_loss, torch.optim.SGD(module.parameters(), 0.1), batch, ram_budget="100%")
        step(batch)
        for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
            self.assertTrue(torch.equal(other.count, module.count) and torch.equal(other.scale, module.scale))
            self.assertEqual(other(batch[0]).shape, (4, 8))

    def test_checkpoints_are_the_plans_to_decide(self):
        class Checkpointed(torch.nn.Module):
            def __init__(self, how, part):
                super().__init__()
                self.first, self.part, self.how = torch.nn.Linear(8, 8), part, how

            def forward(self, x):
                return self.how(self.part, self.first(x))

        checkpoint = torch.utils.checkpoint.checkpoint
        batch = torch.randn(4, 8), torch.randn(4, 8)
        ways = [functools.partial(checkpoint, use_reentrant=kind) for kind in (True, False)]
        ways.append(lambda part, x: torch.utils.checkpoint.checkpoint_sequential(part, 2, x, **({} if torch.__version__.startswith("1.") else {"use_reentrant": False})))
        for how in ways:
            module = Checkpointed(how, torch.nn.Sequential(torch.nn.Dropout(0.3), torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 8)))
            step = poet.torch.compile_step(module, torch.nn.functional.mse_loss, torch.optim.SGD(module.parameters(), 0.1), batch, ram_budget="100%")
            self.assertEqual(step.verify(batch), [])
            self.assertEqual(step.code.count("tanh("), 1)
        self.assertIs(torch.utils.checkpoint.checkpoint, checkpoint)
        # Statistics are updated again where the part is computed again.
        module = Checkpointed(ways[1], torch.nn.BatchNorm1d(8))
        with self.assertRaisesRegex(poet.torch.CaptureError, r"part.running_mean, .* would differ from PyTorch's, as torch.utils.checkpoint runs its part twice; leave it out"):
            poet.torch.compile_step(module, torch.nn.functional.mse_loss, torch.optim.SGD(module.parameters(), 0.1), batch, ram_budget="100%")

    def test_nothing_is_changed_by_it(self):
        module, batch = Branches(), images()
        before, random = [each.clone() for each in module.state_dict().values()], torch.get_rng_state()
        for parameter in module.parameters():
            parameter.grad = torch.ones_like(parameter)
        step, optimizer = self.compiled(module, batch, lambda p: torch.optim.Adam(p, 0.01))
        self.assertIsNone(step.unchecked)
        for one, other in zip(before, module.state_dict().values()):
            self.assertTrue(torch.equal(one, other))
        self.assertTrue(torch.equal(random, torch.get_rng_state()))
        self.assertFalse(optimizer.state)
        self.assertTrue(all(bool((parameter.grad == 1).all()) for parameter in module.parameters()))

    def test_it_is_left_out_where_memory_lacks(self):
        with mock.patch("poet._core.available_memory", return_value=10_000):
            step, _ = self.compiled(Branches(), images())
        self.assertRegex(step.unchecked, r"^PyTorch's own step may take \d+ bytes, and 10000 are available$")
        for wrong in (1, None, "yes"):
            with self.assertRaisesRegex(TypeError, "^check: must be True or False, not "):
                self.compiled(nn.Linear(3, 2), (torch.randn(4, 3), torch.randint(0, 2, (4,))), check=wrong)

    def test_code_that_does_not_do_the_same_twice_is_refused(self):
        count = iter(range(100))

        class Counted(torch.autograd.Function):
            @staticmethod
            def forward(ctx, y):
                return y * next(count)

            @staticmethod
            def backward(ctx, gradient):
                return gradient

        _, _, compile_step = self.linear(lambda y: Counted.apply(y).sum())
        with self.assertRaisesRegex(poet.torch.CaptureError, "^module: does something else each time: "):
            compile_step()

    def test_tensors_can_be_resized_afterwards(self):
        module = nn.Sequential(nn.Linear(6, 3), nn.BatchNorm1d(3))
        self.compiled(module, (torch.randn(4, 6), torch.randint(0, 3, (4,))))
        module[1].running_mean.resize_(8)
        self.assertEqual(module[1].running_mean.shape, (8,))

    def test_progress_tells_of_what_is_before_the_search(self):
        seen = []
        self.compiled(Branches(), images(), progress=lambda phase, incumbent, *_: seen.append((phase, incumbent)) or incumbent is None)
        self.assertEqual(seen[0], ("capturing", None))
        self.assertTrue(any(incumbent is not None for _, incumbent in seen))

    def test_code_that_fails_alone_fails_with_its_own_error(self):
        def compute(y):
            if not is_captured():
                raise RuntimeError("only captured")
            return y.sum()

        _, _, compile_step = self.linear(compute)
        with self.assertRaisesRegex(RuntimeError, "^only captured$"):
            compile_step()


if __name__ == "__main__":
    main()
