"""poet.torch: what a step returns, and what it does with gradients: accumulation, clipping, scaling, loops of one's own."""

import copy
import errno
import os
from unittest import mock

from support import main
from torch_support import Branches, TorchCase, cross_entropy, enough, images, torch

if torch is not None:
    from torch import nn

    import poet.torch
    from poet.torch.device import CPU, allocations
    from poet.torch.tensors import storage_of
    from poet.torch.optimizers import measure_clipping

IS_1 = torch is not None and torch.__version__.startswith("1.")


def adam(module):
    return torch.optim.Adam(module.parameters(), 0.01)


class UpdatesCase(TorchCase):
    def step_of(self, module, optimizer, batch, **options):
        options = {"loss_fn": cross_entropy, "ram_budget": "least", "time_limit": 4, "progress": enough, **options}
        return poet.torch.compile_step(module, options.pop("loss_fn"), optimizer, batch, **options)

    def expect_equal(self, module, plain, optimizer, plain_optimizer):
        for (name, one), other in zip(module.state_dict().items(), plain.state_dict().values()):
            self.assertTrue(torch.equal(one, other), name)
        for one, other in zip(module.parameters(), plain.parameters()):
            self.assertEqual(one.grad is None, other.grad is None)
            self.assertTrue(one.grad is None or torch.equal(one.grad, other.grad))
            for mine, theirs in zip(optimizer.state[one].values(), plain_optimizer.state[other].values()):
                self.assertTrue(torch.equal(mine, theirs) if isinstance(mine, torch.Tensor) else mine == theirs)

    def held(self, module, optimizer, batch):
        states = [each for state in optimizer.state.values() for each in state.values() if isinstance(each, torch.Tensor)]
        gradients = [parameter.grad for parameter in module.parameters() if parameter.grad is not None]
        storages = {storage_of(t).data_ptr(): storage_of(t).nbytes() for t in (*module.parameters(), *module.buffers(), *batch, *states, *gradients)}
        return sum(storages.values())

    def expect_within_the_plan(self, step, module, optimizer, batch, is_tight=True):
        before = self.held(module, optimizer, batch)
        returned, peak = allocations(lambda: step(batch))
        del returned
        self.assertLessEqual(before + peak, step.peak_bytes)
        self.assertGreater(before + peak, 0.8 * step.peak_bytes if is_tight else 0)


class Returns(UpdatesCase):
    def test_outputs_come_with_the_loss(self):
        for names in (None, ("loss", "logits", "mean")):
            module, batch = Branches(), images()
            plain = copy.deepcopy(module)

            def forward(module, batch, names=names):
                logits = module(batch[0])
                several = nn.functional.cross_entropy(logits, batch[1]), logits, [module.norm.running_mean, "text", 3, None, module.head.bias]
                return several if names is None else dict(zip(names, several))

            step = self.step_of(module, adam(module), batch, loss_fn=None, forward=forward)
            self.assertIsNone(step.unchecked)
            plain_optimizer = adam(plain)
            for seed in range(2):
                torch.manual_seed(seed)
                ours = step(batch)
                torch.manual_seed(seed)
                theirs = forward(plain, batch)
                kept = copy.deepcopy([each.detach() for each in (theirs[2] if names is None else theirs["mean"]) if isinstance(each, torch.Tensor)])
                loss = theirs[0] if names is None else theirs["loss"]
                plain_optimizer.zero_grad()
                loss.backward()
                plain_optimizer.step()
                if names is not None:
                    self.assertEqual(list(ours), list(names))
                    ours, theirs = list(ours.values()), list(theirs.values())
                for one, other in zip(ours[:2], theirs[:2]):
                    self.assertTrue(torch.equal(one, other))
                    self.assertFalse(one.requires_grad)
                self.assertEqual(ours[2][1:4], ["text", 3, None])
                self.assertTrue(torch.equal(ours[2][4], kept[1]))  # as it was before the update
            self.assertEqual(step.verify(batch), [])
            self.expect_within_the_plan(step, module, step.optimizer, batch)

    def test_what_cannot_be_returned_is_refused(self):
        module, batch = nn.Linear(4, 2), (torch.randn(3, 4), torch.tensor([0, 1, 0]))
        for result, why in (
            (lambda loss: (loss, object()), "forward: returns a object: beside tensors there may be numbers"),
            (lambda loss: {"cost": loss}, "loss_fn: must return a tensor of one element, or it and more"),
            (lambda loss: (), "loss_fn: must return a tensor of one element"),
            (lambda loss: loss.expand(3), "loss_fn: must return a tensor of one element"),
        ):
            with self.assertRaisesRegex(poet.torch.CaptureError, why):
                self.step_of(module, adam(module), batch, loss_fn=None, forward=lambda module, batch, result=result: result(cross_entropy(module(batch[0]), batch[1])))


class Accumulation(UpdatesCase):
    def train(self, calls, every, clip=None, frozen=False):
        module = Branches()
        batches = [images() for _ in range(calls)]
        plain = copy.deepcopy(module)
        optimizer, plain_optimizer = adam(module), adam(plain)
        step = self.step_of(module, optimizer, batches[0], accumulate=every, clip_norm=clip)
        schedules = [torch.optim.lr_scheduler.ExponentialLR(each, 0.5) for each in (optimizer, plain_optimizer)]
        for i, batch in enumerate(batches):
            if frozen and i == calls // 2:
                for each in (module, plain):
                    each.first.weight.requires_grad_(False)
            torch.manual_seed(i)
            loss = step(batch)
            torch.manual_seed(i)
            expected = cross_entropy(plain(batch[0]), batch[1])
            expected.backward()
            self.assertTrue(torch.equal(loss, expected))
            if (i + 1) % every == 0:
                if clip is not None:
                    nn.utils.clip_grad_norm_(plain.parameters(), clip)
                plain_optimizer.step()
                plain_optimizer.zero_grad(set_to_none=True)
                for schedule in schedules:
                    schedule.step()
            self.expect_equal(module, plain, optimizer, plain_optimizer)
        self.expect_within_the_plan(step, module, optimizer, batches[0])
        self.assertEqual(step.verify(batches[0]), [])
        return step

    def test_gradients_of_several_calls_are_added_up(self):
        self.assertIn("update(", self.train(7, 3).code)

    def test_gradients_are_clipped(self):
        self.train(3, 1, clip=0.1)
        self.train(4, 2, clip=0.1)

    def test_parameters_with_one_gradient_are_added_to_once(self):
        class Sums(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer, self.position, self.kind = nn.Linear(8, 90), nn.Parameter(torch.zeros(90, 90)), nn.Parameter(torch.zeros(90, 90))

            def forward(self, x):
                return self.layer(x) + self.position + self.kind

        batch = torch.randn(90, 8), torch.randint(0, 90, (90,))
        for options in ({"updates": "none"}, {"accumulate": 4}, {"accumulate": 4, "clip_norm": 0.1}):
            with self.subTest(options):
                module = Sums()
                plain = copy.deepcopy(module)
                step = self.step_of(module, adam(module), batch, **options)
                for _ in range(3):
                    step(batch)
                    cross_entropy(plain(batch[0]), batch[1]).backward()
                for one, other in zip(module.parameters(), plain.parameters()):
                    self.assertTrue(torch.equal(one.grad, other.grad))
                self.assertEqual(step.verify(batch), [])
                self.expect_within_the_plan(step, module, step.optimizer, batch, is_tight=options.get("updates") != "none")  # there is no state yet
        module = Sums()
        step = self.step_of(module, adam(module), batch, clip_norm=0.1, keep_gradients=True)
        self.assertEqual(step.verify(batch), [])
        step(batch)
        for parameter in module.parameters():
            parameter.grad = None
        self.expect_within_the_plan(step, module, step.optimizer, batch)

    def test_a_gradient_that_is_something_else_is_copied(self):
        class Given(torch.autograd.Function):
            """Has a tensor as its gradient."""

            @staticmethod
            def forward(ctx, parameter, tensor):
                ctx.save_for_backward(tensor)
                return (parameter * tensor).sum()

            @staticmethod
            def backward(ctx, gradient):
                return ctx.saved_tensors[0], None

        module = nn.BatchNorm1d(4)
        for what in (lambda module, batch: batch, lambda module, batch: module.running_var.expand(4), lambda module, batch: module.bias.detach()):
            for options in ({"clip_norm": 1e-3}, {"accumulate": 3, "clip_norm": 1e-3}):
                batch = torch.rand(4) + 1
                plain = copy.deepcopy(module)
                forward = lambda module, batch, what=what: (Given.apply(module.weight, what(module, batch)), what(module, batch))  # noqa: E731
                step = self.step_of(module, adam(module), batch, loss_fn=None, forward=forward, **options)
                for _ in range(2):
                    kept = batch.clone()
                    step(batch)
                    self.assertTrue(torch.equal(batch, kept))
                    self.assertTrue(torch.equal(module.running_var, plain.running_var))
                    self.assertTrue(torch.equal(module.bias, plain.bias))

    def test_clipping_has_its_workspace(self):
        module, batch = nn.Linear(4, 2), (torch.randn(3, 4), torch.tensor([0, 1, 0]))
        seconds, workspace = measure_clipping(list(module.parameters()), 1.0, CPU)
        self.assertGreater(seconds, 0)
        self.assertGreater(workspace, 0)
        with mock.patch("poet.torch.compiling.measure_clipping", return_value=(seconds, 12_352)):
            step = self.step_of(module, adam(module), batch, clip_norm=1.0)
        self.assertEqual(step.result.graph.to_json()["ops"][-1]["workspace_bytes"], 12_352)

    def test_parameters_are_frozen_on_the_way(self):
        self.assertEqual(len(self.train(4, 1, frozen=True)._compiled), 2)

    def test_loops_of_ones_own(self):
        module, batch = Branches(), images()
        plain = copy.deepcopy(module)
        optimizer, plain_optimizer = adam(module), adam(plain)
        step = self.step_of(module, optimizer, batch, updates="none")
        for i in range(4):
            torch.manual_seed(i)
            step(batch)
            torch.manual_seed(i)
            cross_entropy(plain(batch[0]), batch[1]).backward()
            self.expect_equal(module, plain, optimizer, plain_optimizer)
            if i % 2:
                for each in (optimizer, plain_optimizer):
                    each.step()
                    each.zero_grad()
        self.expect_within_the_plan(step, module, optimizer, batch)
        self.assertEqual(step.verify(batch), [])

    def test_a_step_that_fails_names_gradients_that_were_added(self):
        module, batch = Branches(), images()
        step = self.step_of(module, adam(module), batch, accumulate=2)
        step(batch)
        if "pages.read" not in step.code:
            self.skipTest("the plan does not page")
        real, count = os.preadv, iter(range(1000))
        with mock.patch.object(os, "preadv", side_effect=getattr(os, "preadv")) as counted:
            step(batch)
        calls = counted.call_count

        def failing(*args):
            if next(count) == calls - 1:
                raise OSError(errno.EIO, "Input/output error")
            return real(*args)

        with mock.patch.object(os, "preadv", failing), self.assertRaisesRegex(poet.torch.StorageError, "Input/output error(; gradients that were added already: .*)?$"):
            step(batch)

    def test_scaled_losses(self):
        if IS_1:
            self.skipTest("PyTorch 1 has no GradScaler for the CPU")
        for growth, clip in ((1, None), (1000, 0.1)):
            module, batch = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2)), (torch.randn(5, 8), torch.randint(0, 2, (5,)))
            plain = copy.deepcopy(module)
            optimizer, plain_optimizer = adam(module), adam(plain)
            scaler, plain_scaler = (torch.amp.GradScaler("cpu", init_scale=2.0**60, growth_interval=growth) for _ in range(2))
            with torch.autocast("cpu", dtype=torch.float16):
                step = self.step_of(module, optimizer, batch, scaler=scaler, clip_norm=clip)
                for _ in range(12):
                    loss = step(batch)
                    plain_optimizer.zero_grad()
                    expected = cross_entropy(plain(batch[0]), batch[1])
                    plain_scaler.scale(expected).backward()
                    if clip is not None:
                        plain_scaler.unscale_(plain_optimizer)
                        nn.utils.clip_grad_norm_(plain.parameters(), clip)
                    plain_scaler.step(plain_optimizer)
                    plain_scaler.update()
                    self.assertTrue(torch.equal(loss, expected.detach()))
                    self.assertEqual(scaler.get_scale(), plain_scaler.get_scale())
                    for one, other in zip(module.parameters(), plain.parameters()):
                        self.assertTrue(torch.equal(one, other))
                self.assertEqual(len(step._compiled), 1)
                self.assertLess(scaler.get_scale(), 2.0**60)  # infinite gradients were met
                self.assertEqual(step.verify(batch), [])
                self.assertEqual(scaler.get_scale(), plain_scaler.get_scale())

    def test_wrong_arguments_are_named(self):
        module, batch = nn.Linear(4, 2), (torch.randn(3, 4), torch.tensor([0, 1, 0]))
        for kind, name, options in (
            (TypeError, "accumulate", {"accumulate": 2.0}),
            (TypeError, "accumulate", {"accumulate": True}),
            (ValueError, "accumulate", {"accumulate": 0}),
            (ValueError, "accumulate", {"accumulate": 2, "updates": "early"}),
            (ValueError, "accumulate", {"accumulate": 2, "updates": "none"}),
            (TypeError, "clip_norm", {"clip_norm": "1"}),
            (ValueError, "clip_norm", {"clip_norm": 0}),
            (ValueError, "clip_norm", {"clip_norm": float("nan")}),
            (ValueError, "clip_norm", {"clip_norm": 1.0, "updates": "early"}),
            (TypeError, "scaler", {"scaler": 2.0}),
        ):
            with self.subTest(options), self.assertRaisesRegex(kind, f"^{name}: "):
                self.step_of(module, adam(module), batch, **options)


if __name__ == "__main__":
    main()
