"""poet.torch: any module's step within a budget is PyTorch's own in every bit, and PyTorch never holds more than the plan says."""

import copy
import errno
import gc
import os
import re
import tempfile
import threading
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


    class Computes(nn.Module):
        """Two linear layers, and something between."""

        def __init__(self, parts, buffers, compute):
            super().__init__()
            self.first, self.last = nn.Linear(6, 6), nn.Linear(6, 5)
            self.parts = nn.ModuleList(copy.deepcopy(parts))
            self.compute = compute
            for name, buffer in buffers.items():
                self.register_buffer(name, buffer.clone())

        def forward(self, x):
            return self.last(self.compute(self, self.first(x)))

    class Last(nn.Module):
        """What a recurrent layer says at last."""

        def __init__(self, layer):
            super().__init__()
            self.layer = layer
            self.head = nn.Linear(8, 5)

        def forward(self, x):
            return self.head(self.layer(x)[0][:, -1])


def norm_twice(norm, y):
    return norm(norm(y) * 2)


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

    def test_operators_of_all_sorts(self):
        def reads_statistics(module, y):
            return module.parts[0](y) + module.parts[0].running_mean

        def evaluates_with_new_statistics(module, y):
            norm = module.parts[0]
            return nn.functional.batch_norm(norm(y), norm.running_mean, norm.running_var, training=False)

        def resets_statistics(module, y):
            module.parts[0].running_mean.zero_()
            return module.parts[0](y)

        def ignores_random_numbers(module, y):
            module.parts[0](y)
            torch.rand(3)
            return module.parts[1](y)

        def changes_a_view(module, y):
            z = y.clone()
            z[:, :5].add_(1).sigmoid_()
            return z

        def counts(module, y):
            module.count += 1
            return y * module.count

        def keeps_an_attribute(module, y):
            module.latest = y
            return y

        norm, drop = nn.BatchNorm1d(6), nn.Dropout(0.5)
        number = {"count": torch.tensor(0.0)}
        for name, parts, buffers, compute in (
            ("silu", (), {}, lambda m, y: nn.functional.silu(y)),
            ("mish", (), {}, lambda m, y: nn.functional.mish(y)),
            ("hardswish", (), {}, lambda m, y: nn.functional.hardswish(y * 1, inplace=True)),
            ("scalars", (), {}, lambda m, y: y * 3 + (torch.arange(6) * 3) * (torch.arange(6) * 3.0)),
            ("view changed", (), {}, changes_a_view),
            ("statistics read", (norm,), {}, reads_statistics),
            ("statistics used", (norm,), {}, evaluates_with_new_statistics),
            ("statistics reset", (norm,), {}, resets_statistics),
            ("norm twice", (norm,), {}, lambda m, y: norm_twice(m.parts[0], y)),
            ("statistics in one buffer", (), {"both": torch.ones(2, 6)}, lambda m, y: nn.functional.batch_norm(y, m.both[0], m.both[1], training=True)),
            ("spectral norm", (nn.utils.spectral_norm(nn.Linear(6, 6)),), {}, lambda m, y: m.parts[0](y)),
            ("random numbers ignored", (drop, drop), {}, ignores_random_numbers),
            ("counter", (), number, counts),
            ("attribute", (), {}, keeps_an_attribute),
            ("indices", (), {}, lambda m, y: y[torch.arange(8), :] + y[torch.tensor([0, 1, 2, 0, 1, 2, 0, 1])]),
            ("dropout of a view", (drop,), {}, lambda m, y: m.parts[0](y.t()).t()),
            ("inverse", (), {}, lambda m, y: y @ torch.linalg.inv(y.t() @ y + torch.eye(6))),
        ):  # fmt: skip
            for storage in (True, None):
                with self.subTest(name, storage=storage):
                    module = Computes(parts, buffers, compute)
                    self.expect_same(module, [(torch.randn(8, 6), torch.randint(0, 5, (8,)))] * 2, storage=storage)
        self.assertFalse(any(isinstance(each, torch.Tensor) for each in vars(module).values()))

    def test_layers_of_all_sorts(self):
        for layer in (nn.RReLU(), nn.InstanceNorm2d(4, track_running_stats=True), nn.GroupNorm(2, 4), nn.Dropout2d(0.5),
                      nn.Upsample(scale_factor=2, mode="bilinear"), nn.ConvTranspose2d(4, 4, 2, 2)):  # fmt: skip
            with self.subTest(type(layer).__name__):
                module = nn.Sequential(nn.Conv2d(3, 4, 3), layer, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 5))
                self.expect_same(module, [(torch.randn(6, 3, 8, 8), torch.randint(0, 5, (6,)))] * 2, storage=None)
        for layer in (nn.GRU(12, 8, batch_first=True), nn.RNN(12, 8, batch_first=True), nn.LSTM(12, 8, 2, dropout=0.3, batch_first=True)):
            with self.subTest(type(layer).__name__):
                module = Last(layer)
                self.expect_same(module, [(torch.randn(6, 5, 12), torch.randint(0, 5, (6,)))] * 2)

    def test_a_loss_with_weights_of_its_own(self):
        weight = torch.rand(5)
        self.expect_same(nn.Linear(6, 5), [(torch.randn(8, 6), torch.randint(0, 5, (8,)))] * 2,
                         loss_fn=lambda output, target: nn.functional.cross_entropy(output, target, weight=weight))  # fmt: skip

    def test_mixed_precision(self):
        module = nn.Sequential(nn.Linear(12, 40), nn.Tanh(), nn.Linear(40, 3))
        batch = torch.randn(30, 12), torch.randint(0, 3, (30,))

        def forward(module, batch):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return nn.functional.cross_entropy(module(batch[0]).float(), batch[1])

        step, _ = self.compiled(module, batch, loss_fn=None, forward=forward)
        expected = forward(module, batch)
        self.assertTrue(torch.equal(step(batch), expected.detach()))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            expected = forward(module, batch)
            self.assertTrue(torch.equal(step(batch), expected.detach()))

    def test_batches_of_another_structure_are_another_step(self):
        module = nn.Linear(3, 1)

        def forward(module, batch):
            return module(batch["a"]).sum() if "a" in batch else module(-batch["b"]).sum()

        step, optimizer = self.compiled(module, {"a": torch.ones(2, 3)}, loss_fn=None, forward=forward)
        for batch in ({"a": torch.ones(2, 3)}, {"b": torch.ones(2, 3)}):
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

    def test_an_optimizer_that_fails_leaves_buffers_and_generator(self):
        module = Branches()
        step, optimizer = self.compiled(module, batch := images())
        before, random = state_of(module, optimizer), torch.get_rng_state()
        with mock.patch.object(optimizer, "step", side_effect=ValueError("no")), self.assertRaisesRegex(ValueError, "no"):
            step(batch)
        self.assertTrue(all(torch.equal(one, other) for one, other in zip(state_of(module, optimizer), before)))
        self.assertTrue(torch.equal(random, torch.get_rng_state()))
        self.assertTrue(all(parameter.grad is None for parameter in module.parameters()))

    def test_nothing_is_left_of_a_step_that_is_gone(self):
        def count():
            gc.collect()
            return len(os.listdir("/proc/self/fd")), threading.active_count()

        before = count()
        for _ in range(3):
            step, _ = self.compiled(Branches(), batch := images(), time_limit=1)
            step(batch)
            self.assertIsNotNone(step._current().pages)
            del step
        self.assertEqual(count(), before)

    def test_another_process_is_told(self):
        step, _ = self.compiled(Branches(), batch := images())
        child = os.fork()
        if child == 0:
            try:
                step(batch)
            except poet.torch.StorageError as error:
                os._exit(7 if "another process" in str(error) else 1)
            os._exit(2)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)

    def test_two_threads_compile(self):
        results = []

        def work():
            step, _ = self.compiled(Branches(), batch := images(), time_limit=1)
            results.append(float(step(batch)))

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(results), 2)

    def test_state_that_is_no_buffer_is_refused(self):
        class Counts(nn.Linear):
            steps = 0

            def forward(self, x):
                self.steps += 1
                return super().forward(x)

        module = Counts(3, 3)
        module.steps = 5
        with self.assertRaisesRegex(poet.torch.CaptureError, "^steps: is changed by the step"):
            self.compiled(module, (torch.randn(2, 3), torch.tensor([0, 1])))
        self.assertEqual(module.steps, 5)
        for refused in (lambda x: x.prod(1, keepdim=True), lambda x: x.cumprod(1)):
            with self.assertRaisesRegex(poet.torch.CaptureError, "gradient"):
                self.compiled(Computes((), {}, lambda m, y, refused=refused: y + refused(y)), (torch.randn(8, 6), torch.randint(0, 5, (8,))))

    def test_early_updates_need_parameters_that_stand_alone(self):
        module = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
        module[0].weight.data = module[1].weight.data
        with self.assertRaisesRegex(poet.InputError, "updates: .*share their storage"):
            self.compiled(module, (torch.randn(2, 3), torch.tensor([0, 1])), updates="early")

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
            (ValueError, "batch", {"batch": (batch[0].clone().requires_grad_(), batch[1])}),
            (ValueError, "device", {"device": "tpu"}),
            (ValueError, "storage", {"storage": "/nowhere"}),
            (ValueError, "updates", {"updates": "never"}),
            (ValueError, "keep_gradients", {"updates": "early", "keep_gradients": True}),
            (ValueError, "module", {"module": nn.Sequential(nn.ReLU())}),
            (TypeError, "power", {"power": 3}),
            (TypeError, "tolerance", {"tolerance": "a"}),
            (ValueError, "tolerance", {"tolerance": -1}),
            (TypeError, "storage", {"storage": 5}),
            (TypeError, "progress", {"progress": 3}),
            (ValueError, "loss_fn", {"loss_fn": lambda x, y: x}),
        ):
            with self.subTest(arguments=arguments), self.assertRaisesRegex(kind, name):
                call(**arguments)


if __name__ == "__main__":
    main()
