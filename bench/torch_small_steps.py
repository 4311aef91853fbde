"""Steps of milliseconds by poet.torch next to PyTorch's own, at a budget that keeps everything: what a step costs beside its operators.

usage: PYTHONPATH=build/python OMP_NUM_THREADS=1 python3 bench/torch_small_steps.py [BUDGET]

Medians of rounds in which both take turns.
"""

import statistics
import sys
import time

import torch
from torch import nn

import poet.torch

ROUNDS, STEPS = 30, 20


def modules():
    yield "linear", nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 64)), torch.randn(32, 64)
    yield "encoder layer", nn.Sequential(nn.TransformerEncoderLayer(64, 4, 128, 0.1, batch_first=True), nn.Linear(64, 64)), torch.randn(8, 16, 64)
    convolutions = [nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU()]
    yield "convolutions", nn.Sequential(*convolutions, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 64)), torch.randn(16, 3, 16, 16)


def seconds(step):
    begin = time.perf_counter()
    for _ in range(STEPS):
        step()
    return (time.perf_counter() - begin) / STEPS


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    print("| module | operators | PyTorch, ms | poet, ms | ratio |\n|---|---|---|---|---|")
    for name, module, x in modules():
        batch = x, torch.randn(module(x).shape)
        optimizer = torch.optim.SGD(module.parameters(), 0.01, momentum=0.9)
        step = poet.torch.compile_step(module, nn.functional.mse_loss, optimizer, batch, ram_budget=(sys.argv[1:] or ["100%"])[0], time_limit=5)

        def eager(module=module, batch=batch, optimizer=optimizer):
            optimizer.zero_grad(set_to_none=True)
            nn.functional.mse_loss(module(batch[0]), batch[1]).backward()
            optimizer.step()

        rounds = [(seconds(eager), seconds(lambda step=step, batch=batch: step(batch))) for _ in range(ROUNDS)]
        plain, ours = (statistics.median(column) for column in zip(*rounds))
        ratio = statistics.median(mine / theirs for theirs, mine in rounds)
        print(f"| {name} | {step.code.count(' = ')} | {1000 * plain:.2f} | {1000 * ours:.2f} | {ratio:.2f} |")


main()
