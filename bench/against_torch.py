#!/usr/bin/env python3
"""A training step that keeps everything: poet's runtime against PyTorch's, in turns, on the same threads.

usage: against_torch.py POET [--threads N] [--rounds N] [--steps N] [--only NAME,...]

Both train by SGD on batches that are in memory; the time is a step's without fetching data. Of each program the fastest
round counts (medians of its steps): what else runs on the machine only ever adds. Needs PyTorch and torchvision.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
from torch_or_skip import need  # noqa: E402

need("torch", "torchvision")
import torch  # noqa: E402
from torch import nn  # noqa: E402
from torchvision import models  # noqa: E402


class BasicBlock(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(after)
        self.conv2 = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(after)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = nn.Identity()
        if stride != 1 or before != after:
            self.downsample = nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(y)) + self.downsample(x))


def resnet18_cifar():
    layers = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True)]
    before = 64
    for width, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [BasicBlock(before, width, stride), BasicBlock(width, width, 1)]
        before = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


def vgg16_cifar():
    layers, before = [], 3
    for width in (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0):
        if width == 0:
            layers.append(nn.MaxPool2d(2))
            continue
        layers += [nn.Conv2d(before, width, 3, 1, 1), nn.ReLU(inplace=True)]
        before = width
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(512, 4096), nn.ReLU(inplace=True), nn.Dropout(),
                         nn.Linear(4096, 4096), nn.ReLU(inplace=True), nn.Dropout(), nn.Linear(4096, 10))


def exported(net, shape, folder):
    warnings.simplefilter("ignore")
    file = pathlib.Path(folder) / "net.onnx"
    torch.onnx.export(net.train(), torch.randn(shape), str(file), opset_version=15, do_constant_folding=False,
                      training=torch.onnx.TrainingMode.TRAINING, input_names=["input"],
                      dynamic_axes={"input": {0: "batch"}})
    return ["--onnx", str(file)]


# Name -> network, image size, classes, batch sizes, whether poet has it built in.
NETWORKS = {
    "resnet18_cifar": (resnet18_cifar, 32, 10, (8, 32), True),
    "vgg16_cifar": (vgg16_cifar, 32, 10, (8, 32), True),
    "mobilenet_v2": (models.mobilenet_v2, 224, 1000, (4,), False),
}


def torch_step(net, images, targets, steps):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    loss_of = nn.CrossEntropyLoss()
    seconds = []
    for _ in range(steps + 2):
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        loss_of(net(images), targets).backward()
        optimizer.step()
        seconds.append(time.perf_counter() - begin)
    return sorted(seconds[2:])[steps // 2]


def poet_step(poet, what, batch, steps, threads):
    call = [poet, "run", *what, "--batch-size", str(batch), "--platform", "jetsontx2", "--ram-budget", "8GB",
            "--steps", str(steps + 2), "--threads", str(threads), "--quiet", "--json"]
    done = subprocess.run(call, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(call)}\n{done.stderr}")
    return json.loads(done.stdout)["measured"]["step_seconds"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("poet")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--only")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(f"PyTorch {torch.__version__}, threads: {options.threads}; the fastest of {options.rounds} rounds each\n")
    print("| network | batch | PyTorch ms | poet ms | ratio |\n|---|---|---|---|---|")
    for name in options.only.split(",") if options.only else NETWORKS:
        build, size, classes, batches, built_in = NETWORKS[name]
        net = build().train()
        for batch in batches:
            with tempfile.TemporaryDirectory() as folder:
                what = ["--model", name] if built_in else exported(net, (batch, 3, size, size), folder)
                images, targets = torch.randn(batch, 3, size, size), torch.randint(0, classes, (batch,))
                theirs, ours = [], []
                for _ in range(options.rounds):
                    theirs.append(torch_step(net, images, targets, options.steps))
                    ours.append(poet_step(options.poet, what, batch, options.steps, options.threads))
            print(f"| {name} | {batch} | {1e3 * min(theirs):.1f} | {1e3 * min(ours):.1f} | "
                  f"{min(ours) / min(theirs):.2f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
