"""poet.torch: code that asks for values of the batch is another step where they are others."""

from support import main
from torch_support import TorchCase, torch

if torch is not None:
    from torch import nn
    from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

    import poet.torch


def sum_of(packed):
    return packed.data.square().sum()


class Guards(TorchCase):
    def compiled_for(self, batch, forward, module=None):
        module = module or nn.Linear(8, 8)
        optimizer = torch.optim.SGD(module.parameters(), 0.01)
        return poet.torch.compile_step(module, None, optimizer, batch, forward=forward, ram_budget="100%", time_limit=1)

    def follows(self, forward, batches, steps, module=None):
        """All batches train like PyTorch, with so many compiled steps."""
        step = self.compiled_for(batches[0], forward, module)
        for _ in range(2):
            for batch in batches:
                self.assertEqual(step.verify(batch), [])
                step(batch)
        self.assertEqual(len(step._compiled), steps)

    def test_branches(self):
        def forward(module, batch):
            return module(batch[0]).sum() if batch[1].all() else (module(batch[0]) * batch[1]).sum()

        x = torch.randn(4, 8)
        self.follows(forward, [(x, torch.tensor(mask).view(4, 1)) for mask in ([True] * 4, [False, True, True, True], [True, False, False, True])], 2)
        self.follows(lambda module, batch: module(batch).sum() * (2 if batch.mean() > 1 else 3), [x, x + 10, x - 1], 2)

    def test_numbers_lists_and_arrays(self):
        x = torch.randn(4, 8)
        pairs = [(x, torch.tensor(pair)) for pair in ([1, 2], [2, 1], [3, 1])]
        self.follows(lambda module, batch: module(batch[0])[: batch[1].max().item()].sum(), pairs, 2)
        self.follows(lambda module, batch: sum(module(batch[0])[i].sum() * k for k, i in enumerate(batch[1].tolist())), pairs, 3)
        self.follows(lambda module, batch: sum(module(batch[0])[int(i)].sum() * k for k, i in enumerate(batch[1].numpy())), pairs, 3)
        self.follows(lambda module, batch: sum(module(batch[0]).tanh().sum() for _ in range(batch[1][1])), pairs, 2)
        self.follows(lambda module, batch: module(batch[0]).sum() * (2 if torch.equal(batch[1], torch.tensor([1, 2])) else 3), pairs, 2)
        self.follows(lambda module, batch: module(torch.cat([batch[0], torch.zeros(batch[1][0], 8)])).square().sum(), pairs, 3)
        self.follows(lambda module, batch: torch.tensor_split(module(batch[0]), batch[1][:1])[0].sum(), pairs, 3)

    def test_values_asked_in_iterations_and_functions_of_ones_own(self):
        class Times(torch.autograd.Function):
            @staticmethod
            def forward(ctx, y, count):
                ctx.count = int(count[0])
                return y * ctx.count

            @staticmethod
            def backward(ctx, gradient):
                return gradient * ctx.count, None

        x = torch.randn(4, 8)
        pairs = [(x, torch.tensor(pair)) for pair in ([1, 2], [2, 3], [1, 2])]
        self.follows(lambda module, batch: sum(module(batch[0])[i.item()].sum() for i in batch[1]), pairs, 2)
        self.follows(lambda module, batch: Times.apply(module(batch[0]), batch[1]).sum(), pairs, 2)
        self.follows(lambda module, batch: module(batch[0]).sum() * torch.from_numpy(batch[1].numpy() * 2)[0].item(), pairs, 2)

    def test_what_was_changed_in_place_before(self):
        def forward(module, batch):
            z = batch[1].clone()
            z[0] = 0
            z.add_(1)
            return module(batch[0]).sum() * z[0].item() * z[1].item()

        x = torch.randn(4, 8)
        self.follows(forward, [(x, torch.tensor(pair)) for pair in ([1, 2], [2, 2], [2, 3])], 2)

    def test_what_was_changed_by_way_of_another_is_refused(self):
        def by_rows(batch):
            mask = torch.zeros(2, 2, dtype=torch.long)
            for row, length in zip(mask, batch[1]):
                row[:1].copy_(length > 1)
            return mask.any()

        def by_item_of_a_row(batch):
            mask = torch.zeros(2, 2, dtype=torch.long)
            for i in range(2):
                mask[i][:1] = batch[1][i]
            return mask.any()

        def by_base(batch):
            base = batch[1].clone()
            view = base[:1]
            base.add_(1)
            return view.sum() > 2

        for changed in (by_rows, by_item_of_a_row, by_base):
            with self.subTest(changed.__name__), self.assertRaisesRegex(poet.torch.CaptureError, "uses the value of a tensor that (was changed in place by way of another|is made of others)"):
                self.compiled_for(
                    (torch.randn(4, 8), torch.tensor([0, 1])), lambda module, batch, changed=changed: module(batch[0]).sum() * (2 if changed(batch) else 3)
                )

    def test_tensors_made_of_elements(self):
        x = torch.randn(4, 8)
        pairs = [(x, torch.tensor(pair)) for pair in ([1, 2], [2, 3], [1, 2])]
        self.follows(lambda module, batch: (module(batch[0])[:, :2] * torch.tensor([batch[1][0], 1])).sum(), pairs, 2)
        self.follows(lambda module, batch: (module(batch[0])[:, :2] * torch.tensor(data=[batch[1][0], 1])).sum(), pairs, 2)
        self.follows(lambda module, batch: (module(batch[0])[:, :2] * torch.tensor(batch[1])).sum(), pairs, 1)  # no element is asked for
        for make in (lambda module, batch: torch.tensor([batch[0].mean(), 1.0]), lambda module, batch: torch.tensor([module.weight[0, 0], 1.0])):
            with self.assertRaisesRegex(poet.torch.CaptureError, "uses (a|the) value of"):
                self.compiled_for(pairs[0], lambda module, batch, make=make: (module(batch[0])[:, :2] * make(module, batch)).sum())

    def test_constants_of_outside(self):
        scale = torch.tensor([2])

        def forward(module, batch):
            return module(batch).sum() * scale.item()

        step = self.compiled_for(x := torch.randn(4, 8), forward)
        self.assertEqual(step.verify(x), [])
        scale.fill_(3)
        self.assertEqual(step.verify(x), [])
        self.assertEqual(len(step._compiled), 2)

    def test_packed_sequences(self):
        x = torch.randn(3, 5, 8)
        lengths = ([5, 3, 2], [5, 4, 1], [5, 3, 2])
        for kind in (nn.RNN, nn.GRU, nn.LSTM):
            module = kind(8, 4, batch_first=True)
            with self.subTest(kind.__name__):
                self.follows(lambda module, batch: sum_of(module(batch)[0]), [pack_padded_sequence(x, torch.tensor(each), batch_first=True) for each in lengths], 2, module)
                self.follows(lambda module, batch: sum_of(module(pack_padded_sequence(*batch, batch_first=True))[0]), [(x, torch.tensor(each)) for each in lengths], 2, module)
                self.follows(
                    lambda module, batch: pad_packed_sequence(module(pack_padded_sequence(*batch, batch_first=True))[0])[0].square().sum(), [(x, each) for each in lengths], 2, module
                )

    def test_connectionist_temporal_classification(self):
        batches = [(torch.randn(6, 2, 8), torch.randint(1, 8, (2, 3)), torch.tensor(long), torch.tensor(short)) for long, short in (([6, 6], [3, 3]), ([6, 5], [3, 2]), ([6, 5], [3, 2]))]
        self.follows(lambda module, batch: nn.functional.ctc_loss(module(batch[0]).log_softmax(-1), batch[1], input_lengths=batch[2], target_lengths=batch[3]), batches, 2)

    def test_what_training_chance_and_floats_decide_is_refused(self):
        def of_a_stale_view(module, batch):
            z = batch[:1, 0].int()
            view = z[0]
            z.add_(1)
            return module(batch).sum() * view.item()

        for forward, why in (
            (lambda module, batch: module(batch).sum() * (2 if module.weight.sum() > 0 else 1), "uses the value of a tensor that training changes, so what the step computes is not known"),
            (lambda module, batch: module(batch).sum() * (2 if module(batch).sum() > 0 else 1), "uses the value of a tensor that training changes, so what the step computes is not known"),
            (lambda module, batch: module(batch).sum() * (2 if torch.rand(1) > 0.5 else 1), "uses the value of a tensor that is drawn by chance"),
            (of_a_stale_view, "that was changed in place by way of another"),
            (lambda module, batch: module(batch).sum() * batch.mean().item(), "uses a value of floating point that the batch has: every batch would be a step of its own"),
            (lambda module, batch: module(batch)[batch > 0].sum(), "value"),
            (lambda module, batch: module(batch).sum() * torch.from_dlpack(batch.int()).sum(), "hands over the memory of a tensor, which steps cannot follow"),
            (lambda module, batch: module(batch).sum() * torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(batch.int())).sum(), "hands over the memory of a tensor"),
        ):
            with self.subTest(why), self.assertRaisesRegex(poet.torch.CaptureError, why):
                self.compiled_for(torch.randn(4, 8), forward)


if __name__ == "__main__":
    main()
