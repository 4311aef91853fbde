"""poet.torch: any module's step within a budget is PyTorch's own in every bit, and PyTorch never holds more than the plan says."""

import copy
from unittest import mock

from support import ALL, main
from torch_support import TorchCase, cross_entropy, images, norm_twice, sgd, state_of, torch, words

if torch is not None:
    from torch import nn

    import poet.torch
    from poet.torch.device import allocations
    from torch_support import Branches, Computes, Last, Words


class Bits(TorchCase):
    def test_bits_are_pytorchs_at_the_least_ram(self):
        step = self.expect_same(Branches(), [images() for _ in range(3)])
        self.assertLess(step.peak_bytes, step.keep_all_bytes)
        self.assertIn("pages.read", step.code)
        self.assertTrue(step.plan.valid)

    def test_what_is_computed_again_has_the_same_bits(self):
        step = self.expect_same(Branches(), [images() for _ in range(3)], storage=None)
        # Which operators is a matter of how long they took when they were measured.
        self.assertLess(step.peak_bytes, step.keep_all_bytes)
        self.assertGreater(step.plan.verdict["recomputations"], 0)
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

    def test_shapes_are_compiled_before_they_come(self):
        module = Branches()
        step, _ = self.compiled(module, images())
        before = [each.clone() for each in module.state_dict().values()]
        step.compile(images(6))
        self.assertEqual(len(step._compiled), 2)
        self.assertTrue(all(torch.equal(one, other) for one, other in zip(before, module.state_dict().values())))
        for samples in (6, 16):
            self.assertEqual(step.verify(images(samples)), [])
        self.assertEqual(len(step._compiled), 2)
        step.compile(images())
        several, _ = self.compiled(module, images(), shapes=[images(6), images(), images(4)])
        self.assertEqual(len(several._compiled), 3)
        self.assertEqual(several.keep_all_bytes, step.keep_all_bytes)  # the first batch is the latest
        with self.assertRaisesRegex(TypeError, "^shapes: must be a list of batches, not Tensor"):
            self.compiled(module, images(), shapes=images()[0])

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

        def assigns_buffers(module, y):
            module.count = module.count + 1
            module.mean = 0.9 * module.mean + 0.1 * y.detach().mean(0)
            module.mean, module.other = module.other, module.mean
            return y * module.count - module.mean

        def writes_by_mask(module, y):
            z = y.clone()
            z[y < 0] = 0.5
            return z

        def keeps_an_attribute(module, y):
            module.latest = y
            return y

        norm, drop = nn.BatchNorm1d(6), nn.Dropout(0.5)
        number = {"count": torch.tensor(0.0)}
        for i, (name, parts, buffers, compute) in enumerate((
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
            ("buffers assigned", (), {**number, "mean": torch.rand(6), "other": torch.rand(6)}, assigns_buffers),
            ("mask", (), {}, writes_by_mask),
            ("attribute", (), {}, keeps_an_attribute),
            ("indices", (), {}, lambda m, y: y[torch.arange(8), :] + y[torch.tensor([0, 1, 2, 0, 1, 2, 0, 1])]),
            ("dropout of a view", (drop,), {}, lambda m, y: m.parts[0](y.t()).t()),
            ("inverse", (), {}, lambda m, y: y @ torch.linalg.inv(y.t() @ y + torch.eye(6))),
            ("solution", (), {}, lambda m, y: torch.linalg.solve(y.t() @ y + torch.eye(6), y.t()).t()),
            ("normal distribution", (), {}, lambda m, y: torch.distributions.Normal(y, 1.0).rsample()),
            ("gamma distribution", (), {}, lambda m, y: torch.distributions.Gamma(nn.functional.softplus(y) + 0.1, 1.0).rsample()),
            ("parameter of no elements", (nn.Linear(0, 3),), {}, lambda m, y: y + m.parts[0](y[:, :0])[:, :1]),
            ("determinant", (), {}, lambda m, y: y * torch.linalg.det(y.t() @ y + torch.eye(6))),
        )):  # fmt: skip
            for storage in (True, None) if ALL else (True, None)[i % 2:][:1]:
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

    def test_bags_of_embeddings(self):
        """On fake tensors PyTorch 1 has results with elements where there are none."""
        words, offsets, weights, y = torch.randint(0, 10, (8,)), torch.tensor([0, 2, 4, 6]), torch.rand(8), torch.randint(0, 3, (4,))
        for mode in ("sum", "mean", "max"):
            self.expect_same(nn.EmbeddingBag(10, 3, mode=mode), [(words, offsets, y)] * 2, ram_budget="100%")

        class Weighted(nn.EmbeddingBag):
            def forward(self, words, offsets, weights):
                return super().forward(words, offsets, per_sample_weights=weights)

        self.expect_same(Weighted(10, 3, mode="sum"), [(words, offsets, weights, y)] * 2, ram_budget="100%")

    def test_losses_of_all_sorts(self):
        for loss_fn in (nn.HuberLoss(), nn.HuberLoss("sum", delta=0.5), nn.SmoothL1Loss(), nn.SoftMarginLoss()):
            with self.subTest(loss_fn):
                self.expect_same(nn.Linear(6, 5), [(torch.randn(8, 6), torch.randn(8, 5))] * 2, loss_fn=loss_fn, storage=None)

    def test_label_smoothing(self):
        for samples, ignored, options in ((33, 0, {}), (33, 20, {}), (33, 20, {"ignore_index": 2}), (33, 5, {"weight": torch.rand(5)}), (33, 5, {"reduction": "sum"})):
            with self.subTest(ignored=ignored, **options):
                loss_fn = nn.CrossEntropyLoss(label_smoothing=0.1, **options)
                batches = [(torch.randn(samples, 6), torch.randint(0, 5, (samples,))) for _ in range(3)]
                for count, (_, target) in enumerate(batches):  # another number in each batch
                    target[: ignored - count] = loss_fn.ignore_index
                step = self.expect_same(nn.Linear(6, 5), batches, loss_fn=loss_fn, storage=None)
                self.assertEqual(step.verify(batches[0]), [])
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    self.assertEqual(step.verify(batches[1]), [])

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

    def test_parts_and_parameters_in_the_loss(self):
        module = Branches()

        def forward(module, batch):
            y = module.norm(module.first(batch[0]))
            penalty = sum(p.square().sum() for p in module.parameters())
            return nn.functional.cross_entropy(module.head(nn.functional.max_pool2d(y, 2).flatten(1)), batch[1]) + 0.01 * penalty

        step, _ = self.compiled(module, batch := images(), loss_fn=None, forward=forward)
        self.assertEqual(step.verify(batch), [])
        self.assertIn("parameters[", step.code)

    def test_numbers_that_the_module_reads_may_change(self):
        module = Branches()
        step, _ = self.compiled(module, batch := images())
        module.drop.p = 0.9
        self.assertEqual(step.verify(batch), [])
        self.assertEqual(len(step._compiled), 2)

    def test_steps_verify_themselves(self):
        for updates in ("last", "early"):
            module = Branches()
            step, optimizer = self.compiled(module, batch := images(), lambda p: torch.optim.Adam(p, 0.01), updates=updates)
            for _ in range(2):  # without the optimizer's state, and with it
                before, random = state_of(module, optimizer), torch.get_rng_state()
                self.assertEqual(step.verify(batch), [])
                self.assertTrue(all(torch.equal(one, other) for one, other in zip(state_of(module, optimizer), before)))
                self.assertEqual(len(state_of(module, optimizer)), len(before))
                self.assertTrue(torch.equal(random, torch.get_rng_state()))
                with mock.patch.object(step, "_forward", lambda module, batch: cross_entropy(module(batch[0].flip(3)), batch[1])):
                    different = step.verify(batch)
                for name in ("loss", "first.weight", "norm.running_mean", "exp_avg of head.bias"):
                    self.assertIn(name, different)
                self.assertEqual("gradient of head.bias" in different, updates == "last")
                step(batch)

    def test_batches_of_another_structure_are_another_step(self):
        module = nn.Linear(3, 1)

        def forward(module, batch):
            return module(batch["a"]).sum() if "a" in batch else module(-batch["b"]).sum()

        step, optimizer = self.compiled(module, {"a": torch.ones(2, 3)}, loss_fn=None, forward=forward)
        for batch in ({"a": torch.ones(2, 3)}, {"b": torch.ones(2, 3)}):
            expected = forward(module, batch)
            self.assertTrue(torch.equal(step(batch), expected.detach()))


class Cap(TorchCase):
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
            self.assertGreater(ledger.peak_bytes, step.peak_bytes * 0.7)  # without what operators need inside
            before = sum(each.numel() * each.element_size() for each in held)
            _, peak = allocations(lambda: step(batch))  # and inside operators
            self.assertLessEqual(before + peak, step.peak_bytes)
            self.assertGreater(before + peak, step.peak_bytes * 0.9)

    def test_updates_hold_what_the_one_before_has_left(self):
        for make in (lambda p: torch.optim.Adam(p, 1e-3), lambda p: torch.optim.Adamax(p, 1e-3), lambda p: torch.optim.RMSprop(p)):
            module = Computes([nn.Linear(6, 6)], {}, lambda self, y: y @ self.left @ self.right.T)
            module.left, module.right = (nn.Parameter(torch.randn(6, 90_000)) for _ in range(2))
            batch = torch.randn(4, 6), torch.randint(0, 5, (4,))
            step, optimizer = self.compiled(module, batch, make)
            step(batch)
            held = [*module.parameters(), *batch]
            held += [each for state in optimizer.state.values() for each in state.values() if isinstance(each, torch.Tensor)]
            with poet.torch.Ledger(held) as ledger:
                step(batch)
            self.assertLessEqual(ledger.peak_bytes, step.peak_bytes)

    def test_what_is_in_ram_all_the_time_is_named(self):
        module, batch = nn.Linear(4, 2), (torch.randn(2000, 4), torch.randn(2000, 2))
        options = {"loss_fn": nn.functional.mse_loss, "storage": None}
        with self.assertRaisesRegex(poet.InputError, r"parameters \(128 B\), the batch \(48,000 B\), optimizer state \(40 B\), generator state .* alone exceed the RAM budget"):
            self.compiled(module, batch, ram_budget=4000, **options)
        step, _ = self.compiled(module, batch, **options)
        self.assertRegex(" ".join(step.plan.text().split()), r"of it parameters \(128 B\), the batch \(48,000 B\), ")

    def test_budgets(self):
        module, batch = Branches(), images()
        step, _ = self.compiled(module, batch, ram_budget="90%")
        self.assertLessEqual(step.peak_bytes, 0.9 * step.keep_all_bytes)
        with self.assertRaisesRegex(poet.InputError, r"ram_budget: .*a plan is known with ram_budget=\d+"):
            self.compiled(module, batch, ram_budget=1000)
        for wrong in ("x%", "-5%", "many", -1):
            with self.assertRaisesRegex(ValueError, "ram_budget"):
                self.compiled(module, batch, ram_budget=wrong)
        with self.assertRaisesRegex(ValueError, r"^deadline: .*; a plan is known with deadline=[0-9.e-]+$"):
            self.compiled(module, batch, ram_budget="90%", deadline=1e-9)
        with self.assertRaisesRegex(TypeError, r"^compile_step\(\): budget is no argument of it; did you mean ram_budget[?]$"):
            self.compiled(module, batch, budget="90%")


if __name__ == "__main__":
    main()
