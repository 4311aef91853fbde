"""poet.torch: any module's step within a budget is PyTorch's own in every bit, and PyTorch never holds more than the plan says."""

import copy
import errno
import os
import re
import tempfile
import unittest
from unittest import mock

try:
    import torch
    from torch import nn
except ImportError:
    torch = None

from support import main

if torch is not None:
    import poet.torch
    from poet.torch.measure import allocations

    class Branches(nn.Module):
        """Batch norm, changes in place, views, a skip, shared weights and dropout."""

        def __init__(self):
            super().__init__()
            self.first = nn.Conv2d(3, 8, 3, padding=1)
            self.norm = nn.BatchNorm2d(8)
            self.shared = nn.Conv2d(8, 8, 3, padding=1)
            self.again = self.shared
            self.drop = nn.Dropout(0.3)
            self.head = nn.Linear(8 * 64, 10)

        def forward(self, x):
            x = torch.relu_(self.norm(self.first(x)))
            x = x + self.drop(self.shared(x))
            x = self.norm(self.again(x))
            return self.head(nn.functional.max_pool2d(x, 2).flatten(1))

    class Words(nn.Module):
        """Embedding, LSTM and attention, whose output has the embedding's weights."""

        def __init__(self):
            super().__init__()
            self.tokens = nn.Embedding(50, 16)
            self.lstm = nn.LSTM(16, 16, batch_first=True)
            self.attend = nn.TransformerEncoderLayer(16, 2, 32, 0.1, batch_first=True)
            self.out = nn.Linear(16, 50, bias=False)
            self.out.weight = self.tokens.weight

        def forward(self, x):
            return self.out(self.attend(self.lstm(self.tokens(x))[0]).mean(1))


def images(samples=16):
    return torch.randn(samples, 3, 16, 16), torch.randint(0, 10, (samples,))


def words(samples=8):
    return torch.randint(0, 50, (samples, 12)), torch.randint(0, 50, (samples,))


def cross_entropy(*args):
    return nn.functional.cross_entropy(*args)


def sgd(parameters):
    return torch.optim.SGD(parameters, 0.05, momentum=0.9)


def state_of(module, optimizer):
    """All that a step changes."""
    tensors = list(module.state_dict().values())
    for parameter in module.parameters():
        tensors += [each for each in optimizer.state[parameter].values() if isinstance(each, torch.Tensor)]
    return [tensor.clone() for tensor in tensors]


@unittest.skipIf(torch is None, "needs PyTorch")
class Torch(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        torch.set_num_threads(1)

    def compiled(self, module, batch, make=sgd, loss_fn=cross_entropy, **options):
        """A step at the least RAM, unless options say otherwise, and its optimizer."""
        options = {"ram_budget": "least", "time_limit": 2, **options}
        optimizer = make(module.parameters())
        return poet.torch.compile_step(module, loss_fn, optimizer, batch, **options), optimizer

    def expect_same(self, module, batches, make=sgd, loss_fn=cross_entropy, gradients=True, **options):
        """Against a copy of the module trained by PyTorch alone. Returns the step."""
        plain = copy.deepcopy(module)
        plain_optimizer = make(plain.parameters())
        step, optimizer = self.compiled(module, batches[0], make, loss_fn, keep_gradients=gradients, **options)
        for i, batch in enumerate(batches):
            torch.manual_seed(i)
            loss = step(batch)
            ours = torch.rand(1)  # the generator is where it would be
            torch.manual_seed(i)
            plain_optimizer.zero_grad(set_to_none=True)
            expected = loss_fn(plain(*batch[:-1]), batch[-1])
            expected.backward()
            plain_optimizer.step()
            self.assertTrue(torch.equal(loss, expected), f"loss of step {i}")
            self.assertTrue(torch.equal(ours, torch.rand(1)), f"generator after step {i}")
            if gradients:
                for (name, one), other in zip(module.named_parameters(), plain.parameters()):
                    self.assertTrue(torch.equal(one.grad, other.grad), f"gradient of {name}, step {i}")
            for one, other in zip(state_of(module, optimizer), state_of(plain, plain_optimizer)):
                self.assertTrue(torch.equal(one, other), f"state after step {i}")
        self.assertNotEqual(float(loss), 0.0)
        return step

    # ---- the same bits

    def test_bits_are_pytorchs_at_the_least_ram(self):
        step = self.expect_same(Branches(), [images() for _ in range(3)])
        self.assertLess(step.peak_bytes, step.keep_all_bytes)
        self.assertIn("pages.read", step.code)
        self.assertTrue(step.plan.valid)

    def test_recomputing_random_operators_draws_the_same(self):
        step = self.expect_same(Branches(), [images() for _ in range(3)], storage=None)
        calls = re.findall(r"aten_convolution\(", step.code)
        self.assertGreater(len(calls), 3)
        self.assertNotIn("pages.", step.code)

    def test_masks_are_drawn_again(self):
        module = nn.Sequential(nn.Linear(64, 512), nn.Dropout(0.5), nn.ReLU(), nn.Linear(512, 512), nn.Dropout(0.5), nn.Linear(512, 4))
        batch = torch.randn(2048, 64), torch.randint(0, 4, (2048,))
        step = self.expect_same(module, [batch] * 2, storage=None, updates="early", gradients=False)
        self.assertIn("with again(", step.code)

    def test_sequences(self):
        self.expect_same(Words(), [words() for _ in range(2)])

    def test_optimizers(self):
        for make in (
            lambda p: torch.optim.Adam(p, 0.01, weight_decay=0.1),
            lambda p: torch.optim.AdamW(p, 0.01, amsgrad=True),
            lambda p: torch.optim.RMSprop(p, 0.01, momentum=0.5),
            lambda p: torch.optim.Adagrad(p, 0.01),
            lambda p: torch.optim.ASGD(p, 0.01),
        ):
            for updates in ("last", "early"):
                with self.subTest(optimizer=type(make([nn.Parameter(torch.zeros(1))])).__name__, updates=updates):
                    module = nn.Sequential(nn.Linear(12, 40), nn.Tanh(), nn.Linear(40, 3))
                    batch = torch.randn(30, 12), torch.randint(0, 3, (30,))
                    self.expect_same(module, [batch] * 3, make, gradients=updates == "last", updates=updates)

    def test_early_updates_need_less(self):
        module = nn.Sequential(*(nn.Linear(256, 256) for _ in range(6)))
        batch = torch.randn(4, 256), torch.randn(4, 256)
        last, _ = self.compiled(copy.deepcopy(module), batch, loss_fn=nn.functional.mse_loss)
        early, _ = self.compiled(module, batch, loss_fn=nn.functional.mse_loss, updates="early")
        self.assertLess(early.peak_bytes, last.peak_bytes - 3 * 256 * 256 * 4)

    def test_learning_rate_schedules_and_groups(self):
        def make(parameters):
            parameters = list(parameters)
            optimizer = torch.optim.SGD([{"params": parameters[:2], "lr": 0.5}, {"params": parameters[2:]}], 0.1, momentum=0.5)
            optimizer.schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.1)
            step = optimizer.step
            optimizer.step = lambda: (step(), optimizer.schedule.step())
            return optimizer

        module = nn.Sequential(nn.Linear(12, 40), nn.Tanh(), nn.Linear(40, 3))
        self.expect_same(module, [(torch.randn(30, 12), torch.randint(0, 3, (30,)))] * 3, make)

    def test_frozen_and_unused_parameters(self):
        module = Branches()
        module.spare = nn.Linear(2, 2)
        module.first.weight.requires_grad_(False)
        plain = copy.deepcopy(module)
        step, _ = self.compiled(module, batch := images())
        torch.manual_seed(0)
        step(batch)
        optimizer = sgd(plain.parameters())
        torch.manual_seed(0)
        cross_entropy(plain(batch[0]), batch[1]).backward()
        optimizer.step()
        for one, other in zip(module.parameters(), plain.parameters()):
            self.assertTrue(torch.equal(one, other))

    def test_evaluation_mode_and_other_shapes_compile_again(self):
        module = Branches()
        step = self.expect_same(module, [images(), images(), images(6)])
        self.assertEqual(len(step._compiled), 2)
        module.eval()
        step(images())
        self.assertEqual(len(step._compiled), 3)

    def test_a_loss_of_ones_own(self):
        module = nn.Linear(8, 2)

        def forward(module, batch):
            return module(batch["x"]).square().sum() * batch["weight"]

        batch = {"x": torch.randn(5, 8), "weight": 0.5}
        step, _ = self.compiled(module, batch, loss_fn=None, forward=forward)
        expected = forward(module, batch)
        self.assertTrue(torch.equal(step(batch), expected.detach()))

    # ---- the cap

    def test_pytorch_holds_no_more_than_planned(self):
        for updates in ("last", "early"):
            module = Branches()
            step, optimizer = self.compiled(module, batch := images(), lambda p: torch.optim.Adam(p, 0.01), updates=updates)
            step(batch)
            held = [*module.parameters(), *module.buffers(), *batch]
            held += [each for state in optimizer.state.values() for each in state.values()]
            with poet.torch.Ledger(held) as ledger:
                step(batch)
            self.assertLessEqual(ledger.peak_bytes, step.peak_bytes)
            self.assertGreater(ledger.peak_bytes, step.peak_bytes * 0.8)
            before = sum(each.numel() * each.element_size() for each in held)
            _, peak = allocations(lambda: step(batch))  # and inside operators
            self.assertLessEqual(before + peak, step.peak_bytes)
            self.assertGreater(before + peak, step.peak_bytes * 0.9)

    def test_budgets(self):
        module, batch = Branches(), images()
        step, _ = self.compiled(module, batch, ram_budget="90%")
        self.assertLessEqual(step.peak_bytes, 0.9 * step.keep_all_bytes)
        with self.assertRaisesRegex(poet.InputError, r"ram_budget: .*a plan is known with ram_budget=\d+"):
            self.compiled(module, batch, ram_budget=1000)
        for wrong in ("x%", "-5%", "many", -1):
            with self.assertRaisesRegex(ValueError, "ram_budget"):
                self.compiled(module, batch, ram_budget=wrong)
        with self.assertRaisesRegex(ValueError, "deadline"):
            self.compiled(module, batch, ram_budget="90%", deadline=1e-9)

    # ---- what goes wrong

    def test_failing_storage_leaves_everything_as_it_was(self):
        module, batch = Branches(), images()
        step, optimizer = self.compiled(module, batch)
        step(batch)
        for call in ("pwrite", "preadv"):
            for nth in (0, 1):
                before, random = state_of(module, optimizer), torch.get_rng_state()
                real, count = getattr(os, call), iter(range(1000))

                def failing(*args, real=real, count=count, nth=nth):
                    if next(count) == nth:
                        raise OSError(errno.EIO, "Input/output error")
                    return real(*args)

                with mock.patch.object(os, call, failing), self.assertRaisesRegex(poet.torch.StorageError, "Input/output error"):
                    step(batch)
                for one, other in zip(state_of(module, optimizer), before):
                    self.assertTrue(torch.equal(one, other))
                self.assertTrue(torch.equal(random, torch.get_rng_state()))
                step(batch)  # and goes on

    def test_storage_without_room(self):
        with mock.patch.object(os, "posix_fallocate", side_effect=OSError(errno.ENOSPC, "No space left on device")):
            with self.assertRaisesRegex(poet.torch.StorageError, "No space left"):
                self.compiled(Branches(), images())

    def test_no_files_are_left(self):
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            step, _ = self.compiled(Branches(), batch := images(), storage=folder)
            step(batch)
            self.assertEqual(os.listdir(folder), [])

    def test_control_flow_that_depends_on_data_is_refused_with_its_line(self):
        class Chooses(nn.Linear):
            def forward(self, x):
                if x.sum() > 0:  # here
                    x = -x
                return super().forward(x)

        with self.assertRaises(poet.torch.CaptureError) as caught:
            self.compiled(Chooses(3, 3), (torch.randn(2, 3), torch.tensor([0, 1])))
        self.assertIn("if x.sum() > 0:  # here", str(caught.exception))
        self.assertIn(f"{os.path.basename(__file__)}:", caught.exception.place)
        for bad in (lambda x: x[x > 0].sum() + x * 0, lambda x: x * x.max().item(), lambda x: x[: int(x.argmax())].sum() + x):
            class Bad(nn.Linear):
                def forward(self, x, bad=bad):
                    return super().forward(bad(x))

            with self.assertRaises(poet.torch.CaptureError):
                self.compiled(Bad(3, 3), (torch.randn(2, 3), torch.tensor([0, 1])))

    def test_changed_batches_are_refused(self):
        class Overwrites(nn.Linear):
            def forward(self, x):
                return super().forward(x.mul_(2))

        with self.assertRaisesRegex(poet.torch.CaptureError, "changes its batch in place"):
            self.compiled(Overwrites(3, 3), (torch.randn(2, 3), torch.tensor([0, 1])))

    def test_wrong_arguments_are_named(self):
        module, batch = nn.Linear(3, 3), (torch.randn(2, 3), torch.tensor([0, 1]))
        optimizer = sgd(module.parameters())

        def call(module=module, loss_fn=cross_entropy, optimizer=optimizer, batch=batch, **options):
            return poet.torch.compile_step(module, loss_fn, optimizer, batch, **{"ram_budget": "least", **options})

        for kind, name, arguments in (
            (TypeError, "module", {"module": 3}),
            (TypeError, "loss_fn", {"loss_fn": None}),
            (TypeError, "loss_fn", {"loss_fn": "mse"}),
            (TypeError, "optimizer", {"optimizer": "sgd"}),
            (ValueError, "optimizer", {"optimizer": torch.optim.LBFGS(module.parameters())}),
            (ValueError, "example_batch", {"batch": batch[0]}),
            (ValueError, "example_batch", {"batch": (batch[0].clone().requires_grad_(), batch[1])}),
            (ValueError, "device", {"device": "tpu"}),
            (ValueError, "storage", {"storage": "/nowhere"}),
            (ValueError, "updates", {"updates": "never"}),
            (ValueError, "keep_gradients", {"updates": "early", "keep_gradients": True}),
            (ValueError, "module", {"module": nn.Sequential(nn.ReLU())}),
            (ValueError, "loss_fn", {"loss_fn": lambda x, y: x}),
        ):
            with self.subTest(arguments=arguments), self.assertRaisesRegex(kind, name):
                call(**arguments)


if __name__ == "__main__":
    main()
