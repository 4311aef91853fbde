"""Modules for poet.torch's tests, and steps of them next to PyTorch's own."""

import copy
import os
import unittest

from support import ALL

os.environ["POET_CACHE"] = "off"  # operators are measured in every test
try:
    import torch
    from torch import nn
except ImportError:
    torch = None

if torch is not None:
    import poet.torch

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


# An eighth of it goes into the quick search for the least RAM; the one that follows ends when there is a plan.
TIME_LIMIT = 20 if ALL else 8


def enough(_phase, incumbent, _bound, _seconds):
    """Whether the search goes on: until there is a plan."""
    return incumbent is None


def state_of(module, optimizer):
    """All that a step changes."""
    tensors = list(module.state_dict().values())
    for parameter in module.parameters():
        tensors += [each for each in optimizer.state[parameter].values() if isinstance(each, torch.Tensor)]
    return [tensor.clone() for tensor in tensors]


@unittest.skipIf(torch is None, "needs PyTorch")
class TorchCase(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        torch.set_num_threads(1)

    def compiled(self, module, batch, make=sgd, loss_fn=cross_entropy, **options):
        """A step at the least RAM, unless options say otherwise, and its optimizer."""
        options = {"ram_budget": "least", "time_limit": TIME_LIMIT, "progress": enough, **options}
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
