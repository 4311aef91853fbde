"""Parts that networks of several tools are made of."""

import torch
from torch import nn


def conv_bn(a, b, kernel=3, stride=1, groups=1, act=nn.ReLU):
    layers = [nn.Conv2d(a, b, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(b)]
    return nn.Sequential(*layers, *([act()] if act else []))


class Residual(nn.Module):
    """body(x) + shortcut(x), then `act`."""

    def __init__(self, body, shortcut=None, act=None):
        super().__init__()
        self.body, self.shortcut, self.act = body, shortcut or nn.Identity(), act or nn.Identity()

    def forward(self, x):
        return self.act(self.body(x) + self.shortcut(x))


class Pooled(nn.Module):
    """Means of the channels, then a linear classifier."""

    def __init__(self, channels, classes=10):
        super().__init__()
        self.pool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(channels, classes)

    def forward(self, x):
        return self.fc(torch.flatten(self.pool(x), 1))


def basic(a, b, stride=1):
    short = None if a == b else conv_bn(a, b, 1, stride, act=None)
    return Residual(nn.Sequential(conv_bn(a, b, 3, stride), conv_bn(b, b, act=None)), short, nn.ReLU())


class First(nn.Module):
    def forward(self, x):
        return x[:, 0]


class Attention(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads, self.scale = heads, (width // heads)**-0.5
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        def split(y):
            return y.reshape(y.shape[0], y.shape[1], self.heads, -1).permute(0, 2, 1, 3)

        q, k, v = split(self.q(x)), split(self.k(x)), split(self.v(x))
        p = self.drop(torch.softmax(q @ k.transpose(-1, -2) * self.scale, -1))
        return self.out((p @ v).permute(0, 2, 1, 3).reshape(x.shape))


def encoder(width, heads, dropout=0.0):
    feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(dropout))
    attend = nn.Sequential(Attention(width, heads, dropout), nn.Dropout(dropout))
    return nn.Sequential(Residual(attend, act=nn.LayerNorm(width)), Residual(feed, act=nn.LayerNorm(width)))
