#!/usr/bin/env python3
"""Networks as users of microcontrollers have them, exported by PyTorch, and data in the formats that they come in.

usage: small_networks.py FOLDER     writes mobilenet_v2_035.onnx, keyword_spotting.onnx, cifar/, keywords/

Exit code 77: PyTorch or torchvision is not installed.
"""
import pathlib
import random
import struct
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
from torch_or_skip import need  # noqa: E402

need("torch", "torchvision")
import torch  # noqa: E402
from torch import nn  # noqa: E402
from torchvision import models  # noqa: E402


def keyword_spotting(words=12, channels=64, blocks=4):
    """DS-CNN, small, of Hello Edge (Zhang et al. 2017): 49 frames of 10 coefficients, separable convolutions."""

    def block(inside, outside, **how):
        return [nn.Conv2d(inside, outside, bias=False, **how), nn.BatchNorm2d(outside), nn.ReLU()]

    layers = block(1, channels, kernel_size=(10, 4), stride=(2, 2), padding=(5, 1))
    for _ in range(blocks):
        layers += block(channels, channels, kernel_size=3, padding=1, groups=channels)
        layers += block(channels, channels, kernel_size=1)
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, words))


def mobilenet_v2(classes=10):
    """MobileNetV2 at 0.35 of its width for pictures of 32 x 32: the first two strides are 1, as usual for these."""
    stages = [[1, 16, 1, 1], [6, 24, 2, 1], [6, 32, 3, 2], [6, 64, 4, 2], [6, 96, 3, 1], [6, 160, 3, 2], [6, 320, 1, 1]]
    network = models.mobilenet_v2(width_mult=0.35, num_classes=classes, inverted_residual_setting=stages)
    network.features[0][0].stride = (1, 1)
    return network


def export(network, sample, file):
    mode = torch.onnx.TrainingMode.TRAINING
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(network, sample, str(file), training=mode, do_constant_folding=False, opset_version=13,
                          input_names=["x"])


def classes(count, numbers, seed):
    """Samples of `count` classes that differ in a pattern, with noise: labels and lists of numbers from 0 to 255."""
    chance = random.Random(seed)
    patterns = [[chance.randrange(40, 216) for _ in range(numbers)] for _ in range(count)]
    while True:
        label = chance.randrange(count)
        yield label, [min(255, max(0, base + chance.randrange(-40, 41))) for base in patterns[label]]


def write_cifar(folder, samples):
    """In the binary format of CIFAR-10: a byte that is the label, then 3 x 32 x 32 pixels."""
    folder.mkdir(exist_ok=True)
    made = classes(10, 3 * 32 * 32, 1)
    with open(folder / "data_batch_1.bin", "wb") as out:
        for label, pixels in (next(made) for _ in range(samples)):
            out.write(bytes([label] + pixels))


def write_keywords(folder, samples):
    """As raw tensors: coefficients in float32, words in a byte each."""
    folder.mkdir(exist_ok=True)
    made = classes(12, 49 * 10, 2)
    with open(folder / "x.bin", "wb") as x, open(folder / "targets.u8", "wb") as targets:
        for label, numbers in (next(made) for _ in range(samples)):
            x.write(struct.pack(f"<{len(numbers)}f", *(n / 64 - 2 for n in numbers)))
            targets.write(bytes([label]))


def write_all(folder, samples=64):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    export(mobilenet_v2(), torch.randn(1, 3, 32, 32), folder / "mobilenet_v2_035.onnx")
    export(keyword_spotting(), torch.randn(1, 1, 49, 10), folder / "keyword_spotting.onnx")
    write_cifar(folder / "cifar", samples)
    write_keywords(folder / "keywords", samples)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        raise SystemExit(__doc__)
    write_all(sys.argv[1])
