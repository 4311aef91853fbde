"""The small networks that compare_training.py trains."""

import torch
from torch import nn
from torch.nn import functional as F

from torch_blocks import First, Pooled, Residual, basic, conv_bn, encoder


def small_cnn():
    """Groups, strides, unequal padding, dilation, biases, both pools, a residual, batch normalisation."""
    body = nn.Sequential(nn.Conv2d(12, 12, 3, padding=1, groups=4), nn.BatchNorm2d(12), nn.ReLU(),
                         nn.Conv2d(12, 12, (3, 1), padding=(1, 0), bias=False), nn.BatchNorm2d(12, eps=1e-3,
                                                                                            momentum=0.2))
    return nn.Sequential(nn.Conv2d(3, 12, 5, stride=2, padding=2), nn.BatchNorm2d(12), nn.ReLU(), Residual(body),
                         nn.MaxPool2d(3, 2, 1), nn.Conv2d(12, 20, 3, padding=2, dilation=2), nn.ReLU(),
                         nn.AvgPool2d(2), nn.Conv2d(20, 24, 2, stride=2, groups=2), nn.Tanh(), nn.Flatten(),
                         nn.Linear(96, 30), nn.Sigmoid(), nn.Linear(30, 10))


def mlp():
    return nn.Sequential(nn.Linear(64, 50), nn.ReLU(), nn.Linear(50, 40, bias=False), nn.LeakyReLU(0.1),
                         nn.Linear(40, 30), nn.ELU(), nn.Linear(30, 10))


def resnet18():
    layers, at = [conv_bn(3, 64)], 64
    for i, width in enumerate((64, 128, 256, 512)):
        layers += [basic(at, width, 2 if i > 0 else 1), basic(width, width)]
        at = width
    return nn.Sequential(*layers, Pooled(at))


def vgg():
    layers, at = [], 3
    for width in (32, 0, 64, 0, 128, 128, 0, 256, 256, 0):
        layers += [nn.Conv2d(at, width, 3, padding=1), nn.ReLU()] if width else [nn.MaxPool2d(2)]
        at = width or at
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(1024, 256), nn.ReLU(), nn.Dropout(0.0),
                         nn.Linear(256, 10))


def mobilenet_v2():
    from torchvision import models
    return models.mobilenet_v2(weights=None, num_classes=10, dropout=0.0)


def mobilenet_v2_smooth():
    """Without kinks, so that the comparison is sharp."""
    net = mobilenet_v2()
    for module in list(net.modules()):
        for name, part in module.named_children():
            if isinstance(part, nn.ReLU6):
                setattr(module, name, nn.SiLU())
    return net


class Bert(nn.Module):
    """Token and position embeddings, two encoder layers, a pooler and a classifier."""

    def __init__(self, words=100, width=48, length=12):
        super().__init__()
        self.words, self.positions = nn.Embedding(words, width), nn.Embedding(length, width)
        self.norm, self.drop = nn.LayerNorm(width), nn.Dropout(0.0)
        self.body = nn.Sequential(encoder(width, 4), encoder(width, 4))
        self.head = nn.Sequential(First(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 10))

    def forward(self, ids):
        x = self.words(ids) + self.positions(torch.arange(ids.shape[1]))
        return self.head(self.body(self.drop(self.norm(x))))


class Recurrent(nn.Module):
    """Two recurrent layers, the first in both directions; the last step is classified."""

    def __init__(self, layer):
        super().__init__()
        self.first, self.second = layer(12, 16, bidirectional=True, batch_first=True), layer(32, 20, batch_first=True)
        self.fc = nn.Linear(20, 10)

    def forward(self, x):
        return self.fc(self.second(self.first(x)[0])[0][:, -1])


class Unet(nn.Module):
    """Down, up by a transposed convolution and by a resize, together with what was there before."""

    def __init__(self):
        super().__init__()
        self.before, self.down, self.inner = conv_bn(3, 8), nn.MaxPool2d(2), conv_bn(8, 16)
        self.up = nn.ConvTranspose2d(16, 8, 3, stride=2, padding=1, output_padding=1)
        self.resize = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False)
        self.norm, self.last = nn.GroupNorm(4, 32), Pooled(32)

    def forward(self, x):
        before = self.before(x)
        inner = self.inner(self.down(before))
        both = torch.cat([self.up(inner), before, self.resize(inner)], 1)
        return self.last(F.silu(self.norm(both)))


def images(batch, size=32):
    return lambda: torch.randn(batch, 3, size, size)


# Function that builds it, one that makes its input, opset.
NETWORKS = {
    "small_cnn": (small_cnn, images(8), 15),
    "mlp": (mlp, lambda: torch.randn(16, 64), 15),
    "mlp_mse": (mlp, lambda: torch.randn(16, 64), 15),
    "bert": (Bert, lambda: torch.randint(0, 100, (4, 12)), 17),
    "bert_opset_15": (Bert, lambda: torch.randint(0, 100, (4, 12)), 15),
    "lstm": (lambda: Recurrent(nn.LSTM), lambda: torch.randn(6, 9, 12), 15),
    "gru": (lambda: Recurrent(nn.GRU), lambda: torch.randn(6, 9, 12), 15),
    "unet": (Unet, images(4, 16), 15),
    "vgg": (vgg, images(4), 15),
    "resnet18": (resnet18, images(4), 15),
    "mobilenet_v2": (mobilenet_v2, images(8, 64), 15),
    "mobilenet_v2_smooth": (mobilenet_v2_smooth, images(8, 64), 15),
}
