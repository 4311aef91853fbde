"""poet.torch: what cannot be is refused by name, and what fails leaves everything as it was."""

import errno
import gc
import os
import tempfile
import threading
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

from support import main
from torch_support import TorchCase, cross_entropy, images, sgd, state_of, torch

if torch is not None:
    from torch import nn

    import poet.torch
    from torch_support import Branches, Computes


class Failures(TorchCase):
    def test_failing_storage_leaves_everything_as_it_was(self):
        module, batch = Branches(), images()
        step, optimizer = self.compiled(module, batch)
        step(batch)
        for call in ("pwrite", "preadv"):
            with mock.patch.object(os, call, side_effect=getattr(os, call)) as counted:
                step(batch)
            self.assertGreater(counted.call_count, 0)
            for nth in {0, counted.call_count - 1}:
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
            step, _ = self.compiled(Branches(), batch := images())
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
        def work(_):
            step, _ = self.compiled(Branches(), batch := images())
            return float(step(batch))

        with ThreadPoolExecutor(2) as threads:
            self.assertEqual(len(list(threads.map(work, range(2)))), 2)  # and what one raises comes back

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

    def test_a_list_in_a_dictionary_is_put_back(self):
        class Collects(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer, self.seen = nn.Linear(6, 3), {"h": []}

            def forward(self, x):
                self.seen["h"].append(1)
                return self.layer(x)

        module = Collects()
        with self.assertRaisesRegex(poet.torch.CaptureError, "^seen: is changed by the step and goes into the next"):
            self.compiled(module, (torch.randn(4, 6), torch.randint(0, 3, (4,))))
        self.assertEqual(module.seen, {"h": []})

    def test_another_thread_does_what_steps_cannot(self):
        """While a step is captured: it seeds the generator and assigns data."""
        errors, other = [], torch.zeros(1)

        def does():
            try:
                state = torch.get_rng_state()
                torch.manual_seed(0)
                torch.set_rng_state(state)
                other.data = torch.ones(1)
            except Exception as error:
                errors.append(error)

        def forward(module, batch):
            thread = threading.Thread(target=does)
            thread.start()
            thread.join()
            return cross_entropy(module(batch[0]), batch[1])

        batch = torch.randn(4, 6), torch.randint(0, 3, (4,))
        self.compiled(nn.Linear(6, 3), batch, loss_fn=None, forward=forward)
        self.assertEqual((errors, float(other)), ([], 1.0))

    def test_what_a_step_adds_to_the_module_is_refused(self):
        def adds(module, y):
            module.register_buffer("late", y.detach())
            return y

        def replaces(module, y):
            module.first.weight = nn.Parameter(module.first.weight * 2)
            return y

        def grows(module, y):
            module.known = torch.cat([module.known, y.detach()])
            return y

        for compute, message in ((adds, "^late: is added"), (replaces, "^first.weight: is assigned anew"), (grows, "^known: .*another shape")):
            module = Computes((), {"known": torch.zeros(1, 6)}, compute)
            weight = module.first.weight
            with self.assertRaisesRegex(poet.torch.CaptureError, message):
                self.compiled(module, (torch.randn(8, 6), torch.randint(0, 5, (8,))))
            self.assertIs(module.first.weight, weight)
            self.assertEqual([name for name, _ in module.named_buffers()], ["known"])

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
        if poet.torch.storage.is_in_ram("/var/tmp"):
            self.skipTest("/var/tmp is in RAM here")
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            step, _ = self.compiled(Branches(), batch := images(), storage=folder)
            step(batch)
            self.assertEqual(os.listdir(folder), [])

    def test_control_flow_that_depends_on_data_is_refused_with_its_line(self):
        class Chooses(nn.Linear):
            def forward(self, x):
                y = super().forward(x)
                if y.sum() > 0:  # here
                    y = -y
                return y

        with self.assertRaises(poet.torch.CaptureError) as caught:
            self.compiled(Chooses(3, 3), (torch.randn(2, 3), torch.tensor([0, 1])))
        self.assertIn("if y.sum() > 0:  # here", str(caught.exception))
        self.assertIn(f"{os.path.basename(__file__)}:", caught.exception.place)
        for bad in (lambda x: x[x > 0].sum() + x * 0, lambda x: x * x.max().item(), lambda x: x[: int(torch.randn(3).argmax())].sum() + x):
            class Bad(nn.Linear):
                def forward(self, x, bad=bad):
                    return super().forward(bad(x))

            with self.assertRaises(poet.torch.CaptureError):
                self.compiled(Bad(3, 3), (torch.randn(2, 3), torch.tensor([0, 1])))

    @unittest.skipUnless(hasattr(torch, "func"), "PyTorch 1 has none")
    def test_zeros_without_memory_are_refused(self):
        def curved(module, batch):
            return torch.func.hessian(lambda x: module(x).square().sum())(batch[0][0]).square().sum()

        module = nn.Linear(3, 2)
        with warnings.catch_warnings(), self.assertRaisesRegex(poet.torch.CaptureError, "^aten::_efficientzerotensor: .*torch.autograd.functional"):
            warnings.simplefilter("ignore")
            self.compiled(module, (torch.randn(2, 3),), loss_fn=None, forward=curved)

    def test_sparse_gradients_are_refused(self):
        module = nn.Sequential(nn.Embedding(5, 6, sparse=True), nn.Flatten())
        with self.assertRaisesRegex(poet.torch.CaptureError, "makes a sparse gradient, which steps cannot hold; sparse=False makes a dense one"):
            self.compiled(module, (torch.tensor([[1], [2]]), torch.tensor([0, 3])), lambda parameters: torch.optim.SGD(parameters, 0.1))

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
            (ValueError, "optimizer", {"optimizer": sgd([*module.parameters(), nn.Parameter(torch.zeros(2))])}),
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
