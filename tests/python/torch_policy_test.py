"""poet.torch.policy(): a plan for those who stay with autograd, in every bit, and in the memory that it says."""

import collections
import contextlib
import copy
import unittest

from torch_support import Branches, Computes, TorchCase, cross_entropy, images, torch

if torch is not None:
    import poet
    import poet.torch
    from poet.torch.device import CPU, allocations
    from poet.torch.tape import Course, Tape
    from torch.utils.checkpoint import checkpoint

SELECTIVE = torch is not None and hasattr(torch.utils.checkpoint, "create_selective_checkpoint_contexts")


def backward(module, loss_of, batch):
    """Loss, gradients, buffers and a random number after a forward and backward pass, and its peak beyond what there was."""

    def run():
        torch.manual_seed(3)
        module.zero_grad(set_to_none=True)
        loss = loss_of(module, *batch)
        loss.backward()
        return loss.detach()

    loss, peak = allocations(run)
    return [loss, *(p.grad for p in module.parameters()), *(b.clone() for b in module.buffers()), torch.rand(1)], peak


def attention():
    layers = [torch.nn.TransformerEncoderLayer(32, 2, 64, 0.1, batch_first=True) for _ in range(3)]
    return torch.nn.Sequential(*layers, torch.nn.Flatten(), torch.nn.Linear(32 * 16, 10)), (torch.randn(16, 16, 32), torch.randint(0, 10, (16,)))


def plain(module, *batch):
    return cross_entropy(module(*batch[:-1]), batch[-1])


class Policy(TorchCase):
    def planned(self, module, batch):
        """A step at the least RAM, whose plan has gradients there all the time, as they may be with autograd."""
        return self.compiled(copy.deepcopy(module), batch, storage=None, updates="none")[0]

    def expect_equal(self, results, expected):
        for i, (one, other) in enumerate(zip(results, expected, strict=True)):
            self.assertTrue(torch.equal(one, other), f"result {i}")

    @unittest.skipIf(SELECTIVE, "of older versions")
    def test_older_versions_are_told_what_is_needed(self):
        step, _ = self.compiled(Branches(), images())
        with self.assertRaisesRegex(poet.InputError, "^policy: needs PyTorch 2.4 or newer"):
            poet.torch.policy(step)

    @unittest.skipUnless(SELECTIVE, "needs PyTorch 2.4")
    def test_memory_is_the_plans_and_bits_are_pytorchs(self):
        branches = Branches()
        for module, batch in ((branches, images(64)), attention()):
            step = self.planned(module, batch)
            self.assertLess(step.peak_bytes, step.keep_all_bytes)
            policy = poet.torch.policy(step)

            def kept(module, *batch, policy=policy):
                return checkpoint(plain, module, *batch, use_reentrant=False, context_fn=policy)

            one, other = copy.deepcopy(module), copy.deepcopy(module)
            expected, eager = backward(one, plain, batch)
            results, peak = backward(other, kept, batch)
            self.expect_equal(results, expected)
            if module is not branches:  # of which one operator needs most of it
                self.assertLess(peak, eager)
            there = [*module.parameters(), *module.parameters(), *module.buffers(), *batch]  # twice: the optimizer's state
            # A step can also compute gradients again, which autograd cannot.
            times = collections.Counter(row["name"] for row in step.plan.steps() if row["kind"] == "compute")
            longer = sum(v.bytes for op in step._current().program.ops if op.is_backward and times[op.name] > 1 for v in op.outputs.values())
            self.assertLessEqual(peak, step.peak_bytes + longer - sum(tensor.numel() * tensor.element_size() for tensor in there))
            self.expect_equal(backward(other, kept, batch)[0], backward(one, plain, batch)[0])

    @unittest.skipUnless(SELECTIVE, "needs PyTorch 2.4")
    def test_loss_outside_and_pages_which_count_as_kept(self):
        module, batch = Branches(), images(64)
        step, _ = self.compiled(copy.deepcopy(module), batch)
        results, _ = backward(
            copy.deepcopy(module), lambda module, x, y: cross_entropy(checkpoint(module, x, use_reentrant=False, context_fn=poet.torch.policy(step)), y), batch
        )
        self.expect_equal(results, backward(copy.deepcopy(module), plain, batch)[0])

    @unittest.skipUnless(SELECTIVE, "needs PyTorch 2.4")
    def test_what_is_changed_in_place_is_not_kept(self):
        module, batch = Computes([], {}, lambda self, y: y.mul_(3).tanh_() * self.first.bias), (torch.randn(4, 6), torch.randint(0, 5, (4,)))
        program = self.planned(module, batch)._current().program
        first = next(value for op in program.ops if not op.is_backward for value in op.outputs.values())  # is no more once it was multiplied
        contexts = lambda: (Tape(Course(program, frozenset([first]), []), CPU), contextlib.nullcontext())  # noqa: E731
        results, _ = backward(copy.deepcopy(module), lambda *args: checkpoint(plain, *args, use_reentrant=False, context_fn=contexts), batch)
        self.expect_equal(results, backward(copy.deepcopy(module), plain, batch)[0])

    @unittest.skipUnless(SELECTIVE, "needs PyTorch 2.4")
    def test_compiled(self):
        module, batch = attention()
        step = self.planned(module, batch)
        policy = poet.torch.policy(step)
        compiled = torch.compile(lambda module, *batch: checkpoint(plain, module, *batch, use_reentrant=False, context_fn=policy), backend="aot_eager")
        mine = copy.deepcopy(module)
        backward(mine, compiled, batch)  # compiles it
        results, peak = backward(mine, compiled, batch)
        expected, eager = backward(copy.deepcopy(module), plain, batch)
        self.expect_equal(results, expected)
        self.assertLess(peak, eager)

    @unittest.skipUnless(SELECTIVE, "needs PyTorch 2.4")
    def test_another_forward_pass_is_refused(self):
        step = self.planned(Branches(), images())
        policy = poet.torch.policy(step)
        for other, batch, why in ((Branches(), images(8), "is of a step for other shapes"), (torch.nn.Linear(4, 4), (torch.randn(2, 4),), "computes nothing")):
            with self.assertRaisesRegex(poet.torch.CaptureError, why):
                checkpoint(other, batch[0], use_reentrant=False, context_fn=policy)
        with self.assertRaisesRegex(TypeError, "step: must be what compile_step"):
            poet.torch.policy(step.plan)


if __name__ == "__main__":
    unittest.main()
