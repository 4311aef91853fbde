"""Training by plans: the same bits whatever the budget, those of `poet run`; numpy in and out."""

import os
import re
import tempfile
import threading
import unittest
import warnings

import numpy as np
import poet

from support import SMALL, main, program


def plan_of(**changes):
    return poet.solve(**{**SMALL, **changes}).plan


def equal(a, b):
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


class Training(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.roomy = plan_of(ram_budget="10MB", optimizer="adam")
        cls.tight = plan_of(ram_budget=900_000, optimizer="adam")

    def data(self, samples=192):
        chance = np.random.default_rng(3)
        arrays = {}
        for name, (dtype, shape) in poet.inputs(self.roomy).items():
            arrays[name] = (chance.standard_normal((samples, *shape), dtype=np.float32) if dtype == "float32"
                            else chance.integers(0, 10, (samples, *shape)))
        return arrays

    def test_bits_are_the_same_whatever_the_budget(self):
        self.assertGreater(self.tight.verdict["page_ins"], 0)
        self.assertGreater(poet.Trainer(self.roomy).ram_bytes, poet.Trainer(self.tight).ram_bytes)
        data = self.data()
        one, other = (poet.train(plan, data, steps=12, seed=5) for plan in (self.roomy, self.tight))
        self.assertTrue(np.array_equal(one.losses, other.losses))
        self.assertTrue(equal(one.state_dict, other.state_dict))
        self.assertEqual(len(set(one.losses.tolist())), 12)

    def test_this_machine_is_measured(self):
        here = poet.profile("linear", batch_size=4, seconds=1, active_watts=3, name="here", storage="/var/tmp")
        self.assertEqual((here.name, here.active_watts), ("here", 3.0))
        self.assertTrue(here.origins["/flops_per_second"].startswith("measured"))
        self.assertIn("poet.profile", here.origins["/active_watts"])
        self.assertGreater(len(here.overrides), 3)
        result = poet.solve("linear", batch_size=4, device=here, ram_budget="20MB")
        self.assertTrue(result.feasible)
        for name, wrong in (("active_watts", 0), ("seconds", -1), ("kernels", "none"), ("threads", 0), ("storage", "/nowhere/at/all"), ("name", ""),
                            ("split", "x")):
            with self.assertRaisesRegex(ValueError, name if name != "storage" else "/nowhere"):
                poet.profile("linear", **{name: wrong})
        with self.assertRaisesRegex(TypeError, "nonsense"):
            poet.profile("linear", nonsense=1)

    def test_it_learns(self):
        trained = poet.train(self.tight, steps=100, samples=128, learning_rate=0.003)
        self.assertLess(trained.losses[-20:].mean(), 0.75 * trained.losses[:5].mean())
        self.assertRegex(repr(trained), r"^<poet\.Trained: 100 steps, loss [\d.]+ at first, [\d.]+ at last, \d+ tensors>$")

    def test_losses_and_state_are_those_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            self.tight.save(f"{folder}/x.plan")
            said = program("run", f"{folder}/x.plan", "--steps", 5, "--seed", 2, "--checkpoint", f"{folder}/x.safetensors")
            trained = poet.train(self.tight, steps=5, seed=2)
            self.assertEqual([np.float32(loss) for loss in said["losses"]], list(trained.losses))
            resumed = poet.Trainer(self.tight, resume=f"{folder}/x.safetensors")
            self.assertEqual(resumed.steps_done, 5)
            self.assertTrue(equal(resumed.state_dict(), trained.state_dict))

    def test_samples_are_shuffled_for_every_epoch_unless_told_otherwise(self):
        epoch = 3  # steps
        data = self.data(epoch * SMALL["batch_size"] + 5)  # the last five fill no batch
        rate = dict(learning_rate=1e-30)  # the loss is that of the batch alone
        given = poet.train(self.tight, data, steps=2 * epoch, shuffle=False, **rate)
        self.assertEqual(list(given.losses[:epoch]), list(given.losses[epoch:]))
        first = {name: array[: SMALL["batch_size"]] for name, array in data.items()}
        self.assertEqual(given.losses[0], poet.train(self.tight, first, steps=1, shuffle=False, **rate).losses[0])
        orders = [poet.train(self.tight, data, steps=2 * epoch, seed=seed, shuffle=True, **rate).losses for seed in (0, 0, 1)]
        self.assertEqual(list(orders[0]), list(orders[1]))
        self.assertEqual(list(orders[0]), list(poet.train(self.tight, data, steps=2 * epoch, **rate).losses))
        self.assertEqual(len({loss for losses in (orders[0], orders[2], given.losses[:epoch]) for loss in losses}), 5 * epoch)
        for wrong in ("no", 2, [True]):
            with self.subTest(wrong=wrong), self.assertRaisesRegex(TypeError, "^shuffle: cannot be "):
                poet.train(self.tight, data, shuffle=wrong)

    def test_the_order_of_the_data_is_that_of_the_program_and_a_resumed_run_is_told_of_another(self):
        with tempfile.TemporaryDirectory() as folder:
            self.tight.save(f"{folder}/x.plan")
            run = ("run", f"{folder}/x.plan", "--samples", 200)
            said = program(*run, "--steps", 5, "--no-shuffle", "--checkpoint", f"{folder}/x.safetensors")
            trained = poet.train(self.tight, steps=5, samples=200, shuffle=False)
            self.assertEqual([np.float32(loss) for loss in said["losses"]], list(trained.losses))
            self.assertNotEqual(said["losses"], program(*run, "--steps", 5)["losses"])
            self.assertRegex(said["data"], "^synthetic, .*, not shuffled$")
            resume = dict(samples=200, resume=f"{folder}/x.safetensors")
            self.assertEqual(poet.Trainer(self.tight, **resume, shuffle=False).notices, [])
            self.assertRegex(poet.Trainer(self.tight, **resume).notices[0], "^data differs from the checkpoint's: .*, before .*, not shuffled$")
            paged = plan_of(ram_budget=700_000, persistent="auto", optimizer="momentum", accumulate=2, gap=1)  # parameters, too
            poet.train(paged, steps=1, storage=f"{folder}/pages", shuffle=False)
            self.assertEqual(poet.Trainer(paged, resume=f"{folder}/pages", shuffle=False).steps_done, 1)
            with self.assertRaisesRegex(poet.InputError, "holds a run that differs in its data: .*, not shuffled, not "):
                poet.Trainer(paged, resume=f"{folder}/pages")

    def test_validations_are_those_of_the_program(self):
        data, unseen = self.data(), {name: array[:150] for name, array in self.data(200).items()}
        with tempfile.TemporaryDirectory() as folder:
            self.tight.save(f"{folder}/x.plan")
            for kind, arrays in (("data", data), ("unseen", unseen)):
                os.mkdir(f"{folder}/{kind}")
                for name, (dtype, _) in poet.inputs(self.tight).items():
                    arrays[name].astype(dtype).tofile(f"{folder}/{kind}/{name}.bin")
            files = ("--data", f"{folder}/data", "--validate", f"{folder}/unseen", "--best", f"{folder}/said")
            said = program("run", f"{folder}/x.plan", "--steps", 40, "--validate-every", 2, "--stop-after", 3, "--learning-rate", 0.01, *files)
            how = dict(steps=40, learning_rate=0.01)
            seen = []
            trained = poet.train(self.tight, data, validation=unseen, validate_every=2, best=f"{folder}/best", stop_after=3,
                                 on_validation=seen.append, **how)
            self.assertEqual([(found.step, found.loss, found.accuracy) for found in trained.validations],
                             [(found["step"], found["loss"], found["accuracy"]) for found in said["validations"]])
            self.assertEqual((trained.best_step, trained.best_loss), (said["best_step"], said["best_validation_loss"]))
            self.assertEqual((said["end"], len(trained.losses)), ("no_better", trained.best_step + 6))
            self.assertEqual(seen, trained.validations)
            best = poet.Trainer(self.roomy, resume=f"{folder}/best", validation=f"{folder}/unseen", learning_rate=0.01)
            self.assertEqual(best.steps_done, best.best_step)
            self.assertEqual(best.validate().loss, trained.best_loss)
            self.assertTrue(equal(best.state_dict(), poet.Trainer(self.roomy, resume=f"{folder}/said").state_dict()))
            # Without --validate-every after the last step; and no bit of the training is another.
            plain = poet.train(self.tight, data, **{**how, "steps": 5})
            last = poet.train(self.tight, data, validation=unseen, **{**how, "steps": 5})
            self.assertTrue(np.array_equal(plain.losses, last.losses) and equal(plain.state_dict, last.state_dict))
            self.assertEqual([found.step for found in last.validations], [5])

    def test_a_validation_before_the_first_step_may_stay_the_best(self):
        with tempfile.TemporaryDirectory() as folder:
            trainer = poet.Trainer(self.roomy, self.data(), validation=self.data(128), learning_rate=100.0)
            self.assertIsNone(trainer.best_step)
            first = trainer.validate(f"{folder}/best")
            self.assertEqual((trainer.best_step, trainer.best_loss), (0, first.loss))
            next(iter(trainer.run(1)))
            self.assertGreater(trainer.validate(f"{folder}/best").loss, first.loss)
            self.assertEqual((trainer.best_step, trainer.best_loss), (0, first.loss))
            self.assertEqual(poet.Trainer(self.roomy, resume=f"{folder}/best").steps_done, 0)

    def test_numbers_that_are_not_finite_replace_no_checkpoint(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertWarnsRegex(UserWarning, "^training ended: (at|after) step .*; try a smaller `learning_rate`$"):
                trained = poet.train(self.roomy, steps=20, learning_rate=1e30, checkpoint=f"{folder}/x", validation=self.data(64),
                                     validate_every=1)
            self.assertLess(len(trained.losses), 20)
            self.assertEqual(len(trained.validations), len(trained.losses) - 1)
            self.assertFalse(os.path.exists(f"{folder}/x"))

    def test_data_that_are_not_finite_are_named(self):
        data = self.data(64)
        name = next(name for name, array in data.items() if array.dtype.kind == "f")
        data[name][3].flat[0] = np.nan
        with self.assertWarnsRegex(UserWarning, f"^training ended: at step 1 the loss is nan: '{name}' has nan at sample 3$"):
            poet.train(self.roomy, data, steps=3)

    def test_a_validation_of_less_than_a_batch(self):
        trained = poet.train(self.roomy, self.data(64), steps=1, validation=self.data(5))
        self.assertTrue(np.isfinite(trained.validations[0].loss))

    def test_validation_is_told_what_is_wrong(self):
        data = self.data(64)
        first = next(iter(data))
        for arguments, named in (
            ({"validate_every": 2}, "validate_every: needs validation"),
            ({"best": "x"}, "best: needs validation"),
            ({"stop_after": 1}, "stop_after: needs validation"),
            ({"validation": data, "validate_every": 0}, "validate_every: must be a whole number from 1 to 1000000000, not 0"),
            ({"validation": data, "best": "x", "checkpoint": "./x"}, "best: must name another file"),
            ({"validation": {**data, first: data[first][:, :3]}}, "validation: .*one sample is"),
            ({"validation": {**data, "more": data[first]}}, "validation: \"more\" is no input"),
            ({"validation": "/no/folder"}, "validation: .*/no/folder"),
        ):
            with self.subTest(arguments=named), self.assertRaisesRegex(poet.InputError, named):
                poet.train(self.tight, steps=1, **arguments)
        with self.assertRaisesRegex(poet.InputError, "validation: is not given"):
            poet.Trainer(self.roomy).validate()

    def test_a_run_goes_on_from_its_checkpoint(self):
        data = self.data()
        with tempfile.TemporaryDirectory() as folder:
            whole = poet.train(self.tight, data, steps=10)
            poet.train(self.roomy, data, steps=4, checkpoint=f"{folder}/at4")
            rest = poet.Trainer(self.tight, data, resume=f"{folder}/at4")
            losses = [step.loss for step in rest.run(6)]
            self.assertEqual(losses, whole.losses[4:].tolist())
            self.assertTrue(equal(rest.state_dict(), whole.state_dict))

    def test_schedules_decay_and_accumulation(self):
        roomy, tight = (plan_of(ram_budget=budget, optimizer="momentum", accumulate=2, clip_norm=0.5, label_smoothing=0.1)
                        for budget in ("10MB", 800_000))
        self.assertGreater(tight.verdict["page_ins"], 0)
        how = dict(steps=8, weight_decay=0.01, nesterov=True, lr_schedule="cosine", lr_length=3, lr_warmup=1)
        one, other = (poet.train(plan, self.data(), **how) for plan in (roomy, tight))
        self.assertTrue(np.array_equal(one.losses, other.losses))
        self.assertTrue(equal(one.state_dict, other.state_dict))
        # The fifth update has the rate 0: nothing changes but the velocities.
        more = poet.train(roomy, self.data(), **{**how, "steps": 10})
        weight = next(name for name in one.state_dict if name.endswith(".weight"))
        self.assertTrue(np.array_equal(more.state_dict[weight], one.state_dict[weight]))
        self.assertFalse(np.array_equal(more.state_dict[weight + ".velocity"], one.state_dict[weight + ".velocity"]))
        # A run that stops in the middle of an update goes on to the same bits.
        with tempfile.TemporaryDirectory() as folder:
            rest = {name: value for name, value in how.items() if name != "steps"}
            poet.train(tight, self.data(), steps=3, checkpoint=f"{folder}/at3", **rest)
            resumed = poet.Trainer(roomy, self.data(), resume=f"{folder}/at3", **rest)
            self.assertEqual([step.loss for step in resumed.run(5)], one.losses[3:].tolist())
            self.assertTrue(equal(resumed.state_dict(), one.state_dict))
        for arguments, named in (({"lr_schedule": "linear"}, "lr_schedule"), ({"lr_gamma": 0.5}, "lr_gamma"), ({"weight_decay": -1}, "weight_decay")):
            with self.subTest(arguments=arguments), self.assertRaisesRegex(ValueError, named):
                poet.Trainer(roomy, **arguments)

    def test_notices_are_those_of_the_program(self):
        plan = plan_of(ram_budget="10MB", optimizer="momentum", accumulate=2)
        with tempfile.TemporaryDirectory() as folder:
            plan.save(f"{folder}/x.plan")
            said = program("run", f"{folder}/x.plan", "--steps", 3, "--seed", 2, "--checkpoint", f"{folder}/x.safetensors")
            trained = poet.train(plan, steps=3, seed=2, checkpoint=f"{folder}/x.safetensors")
            self.assertEqual(trained.notices, ["the last 1 step did no update: `accumulate` 2 updates after every 2; "
                                               "the checkpoint has the sum of their gradients, for `resume`"])
            self.assertEqual([re.sub("--([a-z]+)", r"`\1`", notice) for notice in said["notices"]], trained.notices)
            paged = plan_of(ram_budget=700_000, persistent="auto", optimizer="momentum", accumulate=2, gap=1)  # parameters, too
            kept = poet.train(paged, steps=1, storage=f"{folder}/pages")
            self.assertEqual(poet.Trainer(paged, resume=f"{folder}/pages").steps_done, 1)
            self.assertRegex(kept.notices[0], "^no update was done: .*; the page file has the sum of their gradients, for `resume`$")
            other = poet.train(plan, steps=1, seed=2, resume=f"{folder}/x.safetensors", learning_rate=0.5)
            said = program("run", f"{folder}/x.plan", "--steps", 4, "--resume", f"{folder}/x.safetensors", "--learning-rate", 0.5)
            self.assertEqual(other.notices, said["notices"])
            self.assertIn("the checkpoint's", other.notices[0])
            data = self.data()
            unseen = poet.train(self.roomy, data, validation=data, steps=2, validate_every=3, best=f"{folder}/best", seed=2)
            self.assertEqual(unseen.notices, [f"`best` {folder}/best was not written: the network is measured after every 3 steps, and the run ended before"])

    def test_weights_go_in_and_come_out(self):
        before = poet.Trainer(self.tight).state_dict()
        changed = {name: np.full_like(tensor, 0.25) for name, tensor in before.items() if tensor.dtype == np.float32 and "." in name}
        after = poet.Trainer(self.tight, weights=changed).state_dict()
        self.assertEqual(after.keys(), before.keys())
        self.assertGreater(sum(np.array_equal(after[name], changed[name]) for name in changed), 0)

    def test_axes_may_be_flat_but_not_in_another_order(self):
        fits = poet.training._is_of_shape
        self.assertTrue(fits((3, 32, 32), (3, 32, 32)) and fits((3072,), (3, 32, 32)) and fits((28, 28), (784,)) and fits((1,), ()))
        self.assertFalse(fits((32, 32, 3), (3, 32, 32)) or fits((2,), ()) or fits((28, 27), (784,)))
        data = self.data()
        first = next(iter(data))
        square = {**data, first: data[first].reshape(-1, 28, 28).transpose(0, 2, 1).transpose(0, 2, 1)}
        one, other = (poet.train(self.tight, arrays, steps=2).losses for arrays in (data, square))
        self.assertTrue(np.array_equal(one, other))

    def test_threads_take_turns(self):
        trainer = poet.Trainer(self.roomy)
        numbers = []
        threads = [threading.Thread(target=lambda: numbers.extend(step.number for step in trainer.run(25))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(numbers), list(range(1, 101)))

    def test_callbacks_see_every_step_and_may_end_it(self):
        seen = []
        trained = poet.train(self.roomy, steps=50, on_step=lambda step: seen.append(step.number) or step.number < 3)
        self.assertEqual(seen, [1, 2, 3])
        self.assertEqual(len(trained.losses), 3)
        self.assertTrue(all(step.seconds > 0 for step in trained.steps))

    def test_whole_numbers_have_their_ranges(self):
        trainer = poet.Trainer(self.roomy, seed=np.uint64(2**64 - 1), samples=np.int32(64), lr_schedule="constant")
        self.assertEqual(len(list(trainer.run(np.int64(2)))), 2)
        self.assertEqual(len(poet.train(self.roomy, steps=2.0, seed=np.float32(3)).losses), 2)
        problem = dict(model="linear", device="a72", time_limit=1)
        for call, name, least in (
            (lambda **number: poet.Trainer(self.roomy, **number), "seed", 0),
            (lambda **number: poet.Trainer(self.roomy, **number), "samples", 1),
            (lambda **number: poet.Trainer(self.roomy, **number), "threads", 1),
            (lambda **number: poet.Trainer(self.roomy, lr_schedule="step", **number), "lr_step_size", 1),
            (lambda **number: poet.train(self.roomy, **number), "steps", 1),
            (lambda **number: trainer.run(**number), "steps", 0),
            (lambda **number: poet.train(self.roomy, validation=self.data(64), **number), "stop_after", 1),
            (lambda **number: poet.solve(**problem, **number), "batch_size", 1),
            (lambda **number: poet.solve(**problem, **number), "accumulate", 1),
        ):
            for number, error in ((least - 1, poet.InputError), (-1, poet.InputError), (2.5, poet.InputError), (10**30, poet.InputError),
                                  (float("nan"), poet.InputError), ("many", poet.InputError), (True, TypeError), (np.bool_(True), TypeError),
                                  ([1], TypeError)):
                rule = f"^{name}: must be a whole number from {least} to [0-9]+, not "
                with self.subTest(name=name, number=number), warnings.catch_warnings(), self.assertRaisesRegex(error, rule):
                    warnings.simplefilter("ignore")  # to numpy its truth values are integers, with a warning
                    call(**{name: number})

    def test_what_does_not_fit_is_named(self):
        data = self.data()
        first = next(iter(data))
        labels = next(name for name, array in data.items() if np.issubdtype(array.dtype, np.integer))
        for arguments, named in (
            ({"data": {}}, "data"),
            ({"data": {**data, "more": data[first]}}, "more"),
            ({"data": {**data, first: data[first][:5]}}, "samples"),
            ({"data": {**data, first: data[first][:, :3]}}, "one sample is"),
            ({"data": {**data, labels: data[labels] + 1000}}, "numbers are 0 to"),
            ({"data": {**data, labels: data[labels] / 2}}, "reads int32"),
            ({"data": "/no/folder"}, "/no/folder"),
            ({"weights": "/no/weights"}, "/no/weights"),
            ({"resume": "/no/checkpoint"}, "/no/checkpoint"),
            ({"storage": "/no/folder/x"}, "/no/folder"),
            ({"kernels": "slow"}, "kernels"),
            ({"learning_rate": -1}, "learning_rate"),
            ({"momentum": 0.5}, "momentum"),
            ({"threads": 0}, "threads"),
        ):
            with self.subTest(arguments=arguments), self.assertRaisesRegex(ValueError, named):
                poet.Trainer(self.tight, **arguments).step()
        for wrong in (None, "plan"):
            with self.assertRaisesRegex(TypeError, "^plan"):
                poet.Trainer(wrong)
        for arguments in ({"data": 1}, {"weights": 1}, {"storage": 1}, {"resume": b"x"}, {"checkpoint": 1}, {"on_step": 1},
                          {"validation": "x", "best": 1}):
            with self.subTest(arguments=arguments), self.assertRaisesRegex(TypeError, f"^{list(arguments)[-1]}: must be "):
                poet.train(self.tight, **arguments)
        for name in ("data", "weights", "storage", "resume", "checkpoint"):
            with self.subTest(name=name), self.assertRaisesRegex(poet.InputError, f"^{name}: is an empty path"):
                poet.train(self.tight, **{name: ""})
        for call in (self.tight.save, self.tight.show, poet.read_plans, poet.Graph.read, poet.Device.load):
            with self.subTest(call=call), self.assertRaisesRegex(TypeError, "^[a-z_]*file: must be a path, not int"):
                call(1)
        with self.assertRaisesRegex(poet.InputError, "^weights"):
            poet.Trainer(self.tight, weights={"nobody": np.zeros(3, np.float32)})
        with self.assertRaisesRegex(poet.InputError, "file"):
            self.tight.show("x.txt")
        with self.assertRaisesRegex(TypeError, "colour"):
            poet.Trainer(self.tight, colour=1)
        published = poet.solve(graph=poet.Graph.published("linear", "m4"), ram_budget=1 << 30).plan
        with self.assertRaisesRegex(poet.InputError, "semantics|rules|published|staged"):
            poet.Trainer(published)


if __name__ == "__main__":
    main()
