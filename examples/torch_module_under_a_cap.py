"""A PyTorch module is trained within half of the RAM that PyTorch takes for it, to the same bits. In cells, for notebooks."""

# %% The module, as its author trains it
import copy

import torch
from torch import nn

import poet.torch

torch.manual_seed(0)
torch.set_num_threads(1)


def block(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True), nn.Dropout2d(0.1))


model = nn.Sequential(block(3, 16), block(16, 16), nn.MaxPool2d(2), block(16, 32), block(32, 32), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))
optimizer = torch.optim.Adam(model.parameters(), 0.003)
patterns = torch.randn(10, 3, 32, 32)


def batch_of(count=64):
    labels = torch.randint(0, 10, (count,))
    return patterns[labels] + 0.5 * torch.randn(count, 3, 32, 32), labels


# %% The same for comparison, by PyTorch alone
plain = copy.deepcopy(model)
plain_optimizer = torch.optim.Adam(plain.parameters(), 0.003)


def plain_step(batch):
    plain_optimizer.zero_grad(set_to_none=True)
    loss = nn.functional.cross_entropy(plain(batch[0]), batch[1])
    loss.backward()
    plain_optimizer.step()
    return loss


# %% A step within half of the RAM: captured, measured, planned
step = poet.torch.compile_step(model, nn.functional.cross_entropy, optimizer, batch_of(), ram_budget="50%", time_limit=10)
print(step)
print(step.code[:1200] + "    ...")

# %% Trained by it; every bit is PyTorch's
for i in range(10):
    batch = batch_of()
    torch.manual_seed(i)
    loss = step(batch)
    torch.manual_seed(i)
    assert torch.equal(loss, plain_step(batch))
    print(f"step {i}: loss {loss:.4f}")
assert all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), plain.state_dict().values()))

# %% What PyTorch held, counted from outside
with poet.torch.Ledger([*model.parameters(), *model.buffers(), *batch]) as ledger:
    step(batch)
print(f"held at most {ledger.peak_bytes / 1e6:.1f} MB of {step.peak_bytes / 1e6:.1f} MB planned; keeping everything takes {step.keep_all_bytes / 1e6:.1f} MB")
