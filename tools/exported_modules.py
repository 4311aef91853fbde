"""Small PyTorch modules of what exporters are known to change on the way: (module, inputs) by name."""

import torch
from torch import nn
from torch.nn import functional as F


class Of(nn.Module):
    """A module of named parts and a function."""

    def __init__(self, forward, **parts):
        super().__init__()
        for name, part in parts.items():
            if isinstance(part, torch.Tensor) and not isinstance(part, nn.Parameter):
                self.register_buffer(name, part)
            else:
                setattr(self, name, part)
        self.compute = forward

    def forward(self, *inputs):
        return self.compute(self, *inputs)


def parameter(*shape):
    return nn.Parameter(torch.randn(*shape))


def tied(net):
    net.head.weight = net.table.weight
    return net


def cells(net, x):
    h = torch.zeros(x.shape[0], 6)
    for t in range(x.shape[1]):
        h = net.cell(x[:, t], h)
    return net.out(h)


def lstm_cells(net, x):
    h = c = torch.zeros(x.shape[0], 6)
    for t in range(x.shape[1]):
        h, c = net.cell(x[:, t], (h, c))
    return net.out(h)


def scan(net, x):
    """A selective state space: h = a h + b x, from zeros."""
    h = torch.zeros(x.shape[0], x.shape[2])
    ys = []
    for t in range(x.shape[1]):
        h = torch.sigmoid(net.a) * h + net.b(x[:, t])
        ys.append(h * net.c)
    return torch.stack(ys, 1).flatten(1)


def attention(net, x):
    q, k, v = net.qkv(x).chunk(3, -1)
    mask = torch.full((x.shape[1], x.shape[1]), float("-inf")).triu(1)
    return net.out((q @ k.transpose(1, 2) / 2.0 + mask).softmax(-1) @ v)


def sdpa(net, x):
    q, k, v = (t.reshape(x.shape[0], x.shape[1], 2, 4).transpose(1, 2) for t in net.qkv(x).chunk(3, -1))
    y = F.scaled_dot_product_attention(q, k, v, is_causal=net.causal)
    return net.out(y.transpose(1, 2).flatten(2))


def class_token(net, x):
    tokens = torch.cat([net.cls_token.expand(x.shape[0], -1, -1), x], 1) + net.position
    return net.head(net.norm(tokens)[:, 0])


def image(*shape):
    return lambda: (torch.randn(*shape),)


def rows(width=8, batch=3):
    return image(batch, width)


def ids(n=11, *shape):
    return lambda: (torch.randint(0, n, shape),)


def lora(net, x):
    return net.base(x) + x @ net.a @ net.b


def rotary(net, x):
    angle = torch.arange(x.shape[1])[:, None] * net.rates[None, :]
    return net.f(x * torch.cos(angle) + x.flip(-1) * torch.sin(angle))


MODULES = {
    "embedding_bag": (lambda: nn.Sequential(nn.EmbeddingBag(11, 6), nn.Linear(6, 3)), ids(11, 3, 4)),
    "lora": (lambda: Of(lora, base=nn.Linear(8, 8), a=parameter(8, 2), b=nn.Parameter(torch.zeros(2, 8))), rows()),
    "rotary": (lambda: Of(rotary, f=nn.Linear(8, 8), rates=0.1 ** torch.arange(8.0)), image(2, 5, 8)),
    "token_types": (lambda: Of(lambda m, i: m.f(m.table(i) + m.types(torch.zeros_like(i))), table=nn.Embedding(11, 8), types=nn.Embedding(2, 8),
                               f=nn.Linear(8, 4)), ids(11, 2, 5)),
    "scalar_of_function": (lambda: Of(lambda m, x: m.f(x) * m.s.exp(), f=nn.Linear(8, 8), s=nn.Parameter(torch.tensor(0.3))), rows()),
    "buffer_clone": (lambda: Of(lambda m, x: m.f((x - m.mean.clone()) / torch.tensor([0.5] * 4 + [0.7] * 4)), f=nn.Linear(8, 8), mean=torch.randn(8)), rows()),
    "mlp": (lambda: nn.Sequential(nn.Linear(8, 6), nn.Tanh(), nn.Linear(6, 4, bias=False)), rows()),
    "zeros_added": (lambda: Of(lambda m, x: m.f(x) + torch.zeros(3, 8) + 1.5 * torch.ones(3, 8), f=nn.Linear(8, 8)), rows()),
    "zeros_state": (lambda: Of(lambda m, x: m.g(torch.zeros(3, 8) + m.f(x)), f=nn.Linear(8, 8), g=nn.Linear(8, 4)), rows()),
    "masked_fill": (lambda: Of(lambda m, x: m.f(x).masked_fill(m.mask, -2.0), f=nn.Linear(8, 8), mask=torch.rand(8) > 0.5), rows()),
    "gru_cell": (lambda: Of(cells, cell=nn.GRUCell(5, 6), out=nn.Linear(6, 3)), image(3, 4, 5)),
    "rnn_cell": (lambda: Of(cells, cell=nn.RNNCell(5, 6), out=nn.Linear(6, 3)), image(3, 4, 5)),
    "lstm_cell": (lambda: Of(lstm_cells, cell=nn.LSTMCell(5, 6), out=nn.Linear(6, 3)), image(3, 3, 5)),
    "scan": (lambda: Of(scan, a=parameter(5), b=nn.Linear(5, 5), c=parameter(5)), image(3, 4, 5)),
    "norm_without_affine": (lambda: Of(lambda m, x: m.f(m.n(x) * (1 + m.s)), n=nn.LayerNorm(8, elementwise_affine=False), s=parameter(8),
                                       f=nn.Linear(8, 4)), rows()),
    "norm_without_bias": (lambda: nn.Sequential(nn.LayerNorm(8, bias=False), nn.Linear(8, 4)), rows()),
    "norm_over_two_axes": (lambda: nn.Sequential(nn.Linear(4, 4), nn.LayerNorm((3, 4)), nn.Flatten(), nn.Linear(12, 2)), image(2, 3, 4)),
    "group_norm": (lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.GroupNorm(2, 4), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3)), image(2, 3, 6, 6)),
    "group_norm_without_affine": (lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.GroupNorm(2, 4, affine=False), nn.Flatten(), nn.Linear(64, 3)),
                                  image(2, 3, 6, 6)),
    "instance_norm": (lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.InstanceNorm2d(4, affine=True), nn.Flatten(), nn.Linear(64, 3)), image(2, 3, 6, 6)),
    "batch_norm": (lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4), nn.Flatten(),
                                         nn.Linear(16, 3)), image(4, 3, 6, 6)),
    "rms_norm": (lambda: nn.Sequential(nn.Linear(8, 8), nn.RMSNorm(8), nn.Linear(8, 4)), rows()),
    "tied_embedding": (lambda: tied(Of(lambda m, i: m.head(torch.tanh(m.f(m.table(i)))), table=nn.Embedding(11, 8), f=nn.Linear(8, 8),
                                       head=nn.Linear(8, 11, bias=False))), ids(11, 2, 5)),
    "positions": (lambda: Of(lambda m, i: m.head(m.table(i) + m.place(torch.arange(i.shape[1]))), table=nn.Embedding(11, 8), place=nn.Embedding(9, 8),
                             head=nn.Linear(8, 4)), ids(11, 2, 5)),
    "class_token": (lambda: Of(class_token, cls_token=parameter(1, 1, 8), position=parameter(1, 5, 8), norm=nn.LayerNorm(8), head=nn.Linear(8, 3)),
                    image(2, 4, 8)),
    "attention_with_mask": (lambda: Of(attention, qkv=nn.Linear(8, 24), out=nn.Linear(8, 8)), image(2, 5, 8)),
    "sdpa": (lambda: Of(sdpa, qkv=nn.Linear(8, 24), out=nn.Linear(8, 8), causal=False), image(2, 5, 8)),
    "sdpa_causal": (lambda: Of(sdpa, qkv=nn.Linear(8, 24), out=nn.Linear(8, 8), causal=True), image(2, 5, 8)),
    "multihead": (lambda: Of(lambda m, x: m.a(x, x, x, need_weights=False)[0], a=nn.MultiheadAttention(8, 2, batch_first=True)), image(2, 5, 8)),
    "gate": (lambda: Of(lambda m, x: x + m.gate * m.f(x), gate=nn.Parameter(torch.tensor(0.3)), f=nn.Linear(8, 8)), rows()),
    "buffer": (lambda: Of(lambda m, x: m.f(x) * m.table + m.shift, f=nn.Linear(8, 8), table=torch.randn(8), shift=torch.randn(1, 8)), rows()),
    "prelu": (lambda: nn.Sequential(nn.Linear(8, 8), nn.PReLU(), nn.Linear(8, 4), nn.PReLU(4)), rows()),
    "power": (lambda: Of(lambda m, x: m.f(x).abs().clamp(min=0.1) ** m.p, f=nn.Linear(8, 8), p=nn.Parameter(torch.rand(8) + 1)), rows()),
    "reshaped_matrix": (lambda: Of(lambda m, x: x @ m.v.reshape(8, 3), v=parameter(4, 6)), rows()),
    "matrix_both_ways": (lambda: Of(lambda m, x: torch.tanh(x @ m.v) @ m.v.t() + (x @ m.v.reshape(4, 16)[:, :8].repeat(2, 1)), v=parameter(8, 8)), rows()),
    "einsum": (lambda: Of(lambda m, x: torch.einsum("bij,kj->bik", x, m.v) * m.s[:, None], v=parameter(3, 4), s=parameter(5)), image(2, 5, 4)),
    "lstm": (lambda: Of(lambda m, x: m.out(m.l(x)[0][:, -1]), l=nn.LSTM(5, 6, batch_first=True), out=nn.Linear(6, 3)), image(3, 4, 5)),
    "gru": (lambda: Of(lambda m, x: m.out(m.l(x)[0][:, -1]), l=nn.GRU(5, 6, batch_first=True), out=nn.Linear(6, 3)), image(3, 4, 5)),
    "conv_transpose": (lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.ConvTranspose2d(4, 2, 2, stride=2), nn.Flatten(), nn.Linear(128, 2)), image(2, 3, 6, 6)),
    "encoder": (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), 2, enable_nested_tensor=False),
                image(2, 4, 8)),
}
