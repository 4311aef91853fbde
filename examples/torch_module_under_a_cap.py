"""A PyTorch module is trained within half of the RAM that PyTorch takes for it, to the same bits. In cells, for notebooks."""

# %% The module, as its author trains it
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


# %% A step within half of the RAM: captured, measured, planned
step = poet.torch.compile_step(model, nn.functional.cross_entropy, optimizer, batch_of(), ram_budget="50%", time_limit=2)
print(step)
print(step.code[:1200] + "    ...")

# %% Its results are PyTorch's in every bit: one step of each from the same state, which is then put back
different = step.verify(batch_of())
assert not different, different

# %% Trained by it
for i in range(10):
    batch = batch_of()
    loss = step(batch)
    print(f"step {i}: loss {loss:.4f}")
assert not step.verify(batch)

# %% What PyTorch held, counted from outside
with poet.torch.Ledger([*model.parameters(), *model.buffers(), *batch]) as ledger:
    step(batch)
print(f"held at most {ledger.peak_bytes / 1e6:.1f} MB of {step.peak_bytes / 1e6:.1f} MB planned; keeping everything takes {step.keep_all_bytes / 1e6:.1f} MB")
