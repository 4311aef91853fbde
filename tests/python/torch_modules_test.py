"""poet.torch: every layer of torch.nn in a step at the least RAM: the same bits as PyTorch's, and never more bytes than planned."""

from support import main
from torch_support import TorchCase, enough, torch

if torch is not None:
    from torch import nn

    import poet.torch
    from poet.torch.device import allocations
    from poet.torch.tensors import storage_of

IS_1 = torch is not None and torch.__version__.startswith("1.")


class Wrapped(nn.Module if torch is not None else object):
    """A linear layer, the layer in question, and its output's mean of squares against a target's."""

    def __init__(self, layer, width, shape, call=None):
        super().__init__()
        self.first, self.layer, self.shape, self.call = nn.Linear(width, width), layer, shape, call

    def forward(self, x):
        x = self.first(x).view(self.shape)
        out = self.layer(x) if self.call is None else self.call(self.layer, x)
        while isinstance(out, (tuple, list)):
            out = out[0]
        return out


def mean_of_squares(out, target):
    return (out * target).square().mean()


def self_attention(layer, x):
    return layer(x, x, x)


def on_both(layer, x):
    return layer(x, x.flip(0))


def layers():
    """Pairs of a name and a function that makes the layer, the shape of what it gets, and how it is called."""
    seq, image, volume = (4, 6, 8), (2, 4, 6, 8), (2, 3, 4, 4, 4)
    of_shape = {
        (6, 16): ["Identity()", "ELU()", "Hardshrink()", "Hardsigmoid()", "Hardtanh()", "Hardswish()", "LeakyReLU()", "LogSigmoid()", "PReLU()", "ReLU()", "ReLU6()",
                  "SELU()", "CELU()", "GELU()", "GELU('tanh')", "Sigmoid()", "SiLU()", "Mish()", "Softplus()", "Softshrink()", "Softsign()", "Tanh()", "Tanhshrink()",
                  "Threshold(0.1, 2)", "GLU()", "Softmin(1)", "Softmax(1)", "LogSoftmax(1)", "Linear(16, 5)", "Dropout(0.3)", "AlphaDropout(0.3)", "FeatureAlphaDropout(0.3)",
                  "BatchNorm1d(16)", "LayerNorm(16)", "GroupNorm(4, 16)", "RReLU()", "Unflatten(1, (4, 4))", "LazyLinear(3)"],
        (4, 16, 6): ["Conv1d(16, 4, 3)", "ConvTranspose1d(16, 4, 3)", "MaxPool1d(2)", "AvgPool1d(2)", "LPPool1d(2, 2)", "AdaptiveMaxPool1d(3)", "AdaptiveAvgPool1d(3)",
                     "InstanceNorm1d(16, affine=True)", "ReflectionPad1d(1)", "ReplicationPad1d(1)", "ZeroPad2d(1)", "ConstantPad1d(1, 2.0)", "Dropout1d(0.3)"],
        image: ["Conv2d(4, 5, 3, padding=1)", "Conv2d(4, 8, 3, groups=4, dilation=2)", "Conv2d(4, 4, 3, padding='same', padding_mode='circular')",
                "ConvTranspose2d(4, 3, 3, stride=2)", "MaxPool2d(2)", "AvgPool2d(2)", "LPPool2d(2, 2)", "AdaptiveMaxPool2d(3)", "AdaptiveAvgPool2d(3)", "FractionalMaxPool2d(2, output_ratio=0.5)",
                "BatchNorm2d(4)", "InstanceNorm2d(4)", "LocalResponseNorm(2)", "Softmax2d()", "Dropout2d(0.3)", "ReflectionPad2d(1)", "ReplicationPad2d(1)", "ConstantPad2d(1, 2.0)",
                "PixelShuffle(2)", "PixelUnshuffle(2)", "Upsample(scale_factor=2)", "Upsample(scale_factor=2, mode='bilinear')", "UpsamplingNearest2d(scale_factor=2)",
                "UpsamplingBilinear2d(scale_factor=2)", "Unfold(2)", "Flatten()"],
        volume: ["Conv3d(3, 2, 2)", "ConvTranspose3d(3, 2, 2)", "MaxPool3d(2)", "AvgPool3d(2)", "AdaptiveAvgPool3d(2)", "AdaptiveMaxPool3d(2)", "FractionalMaxPool3d(2, output_ratio=0.5)",
                 "BatchNorm3d(3)", "InstanceNorm3d(3)", "Dropout3d(0.3)", "ReplicationPad3d(1)", "ReflectionPad3d(1)", "ConstantPad3d(1, 2.0)", "Upsample(scale_factor=2, mode='trilinear')"],
        seq: ["RNN(8, 4, batch_first=True)", "GRU(8, 4, 2, dropout=0.3)", "LSTM(8, 4, bidirectional=True)", "TransformerEncoderLayer(8, 2, 16, 0.1)",
              "TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.1, batch_first=True), 2)"],
    }  # fmt: skip
    for shape, names in of_shape.items():
        for name in names:
            yield name, shape, None
    yield "Fold((4, 4), 2, stride=2)", (2, 4, 4), None
    yield "MultiheadAttention(8, 2, 0.1)", seq, self_attention
    yield "TransformerDecoderLayer(8, 2, 16, 0.1)", seq, on_both
    yield "Transformer(8, 2, 1, 1, 16, 0.1)", seq, on_both
    yield "Bilinear(16, 16, 3)", (6, 16), on_both
    yield "CosineSimilarity()", (6, 16), on_both
    yield "PairwiseDistance()", (6, 16), on_both
    yield "RNNCell(16, 4)", (6, 16), None
    yield "GRUCell(16, 4)", (6, 16), None
    yield "LSTMCell(16, 4)", (6, 16), None
    yield "ParameterList([nn.Parameter(torch.ones(16))])", (6, 16), lambda layer, x: x * layer[0]
    yield "Sequential(nn.Linear(16, 4), nn.Tanh())", (6, 16), None
    if not IS_1:
        yield "RMSNorm(16)", (6, 16), None
        yield "CircularPad2d(1)", image, None
        yield "ChannelShuffle(2)", image, None
        yield "SyncBatchNorm(4).eval()", image, None


class Layers(TorchCase):
    def trains(self, module, batch, loss, **options):
        optimizer = torch.optim.SGD(module.parameters(), 0.05, momentum=0.9)
        step = poet.torch.compile_step(module, loss, optimizer, batch, ram_budget="least", time_limit=1, progress=enough, **options)
        self.assertIsNone(step.unchecked)
        for _ in range(2):
            self.assertEqual(step.verify(batch), [])
            step(batch)
        states = [each for state in optimizer.state.values() for each in state.values() if isinstance(each, torch.Tensor)]
        held = {storage_of(t).data_ptr(): storage_of(t).nbytes() for t in (*module.parameters(), *module.buffers(), *batch, *states)}
        _, peak = allocations(lambda: step(batch))
        self.assertLessEqual(sum(held.values()) + peak, step.peak_bytes)

    def test_layers(self):
        for name, shape, call in layers():
            with self.subTest(name):
                torch.manual_seed(0)
                layer = eval("nn." + name)
                rows = shape[0]
                width = torch.Size(shape[1:]).numel()
                module = Wrapped(layer, width, shape, call)
                module(x := torch.randn(rows, width))
                batch = x, torch.randn(module(x).shape)
                self.trains(module, batch, mean_of_squares)


if __name__ == "__main__":
    main()
