"""Networks for import_torchvision.py: torchvision's, and others that are defined here.

A network is (function that builds it with random weights, function that makes its inputs, number of parameters that
torchvision publishes or None).
"""

import torch
from torch import nn
from torch.nn import functional as F
from torchvision import models
from torchvision.models import detection, segmentation, video


def image(size, batch=2):
    return lambda: (torch.randn(batch, 3, size, size),)


def clip(frames, size):
    return lambda: (torch.randn(2, 3, frames, size, size),)


def real(*shape):
    return lambda: (torch.randn(*shape),)


def tokens(*lengths):
    """Ids, of which the last ones of the second sample are 0: padding."""

    def make():
        out = []
        for length in lengths:
            ids = torch.randint(1, 100, (2, length))
            ids[1, length - 2:] = 0
            out.append(ids)
        return tuple(out)

    return make


class First(nn.Module):
    """The first output of a network that has several."""

    def __init__(self, net, key="out"):
        super().__init__()
        self.net, self.key = net, key

    def forward(self, *inputs):
        out = self.net(*inputs)
        return out[self.key] if isinstance(out, dict) else out if torch.is_tensor(out) else out[0]


class Maps(nn.Module):
    """The channels' means over every map of a pyramid, side by side."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        return torch.cat([y.mean((2, 3)) for y in self.net(x).values()], 1)


class Detector(nn.Module):
    """Class scores of every anchor: what comes before boxes are chosen."""

    def __init__(self, net):
        super().__init__()
        self.backbone, self.head = net.backbone, net.head

    def forward(self, x):
        return self.head(list(self.backbone(x).values()))["cls_logits"]


# Image sizes where 64 does not do: PyTorch exports adaptive pools of whole windows only, and some have a fixed size.
CLASSIFIER_SIZES = {"alexnet": 224, "inception_v3": 299, "maxvit": 224, "swin_v2": 256, "swin": 224, "vgg": 224,
                    "vit_h": 518, "vit": 224}


def classifiers():
    for name in sorted(models.__dict__):
        build = models.__dict__[name]
        weights = models.__dict__.get({n.lower(): n for n in models.__dict__}.get(name + "_weights"))
        if not callable(build) or not isinstance(weights, type):
            continue
        size = next((s for prefix, s in CLASSIFIER_SIZES.items() if name.startswith(prefix)), 64)
        options = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
        yield name, (lambda build=build, options=options: First(build(weights=None, **options)), image(size),
                     weights.DEFAULT.meta["num_params"])


def dense():
    """Segmentation, and what detection is made of."""
    bare = {"weights": None, "weights_backbone": None}
    for name, weights in (("fcn_resnet50", "FCN_ResNet50"), ("fcn_resnet101", "FCN_ResNet101"),
                          ("deeplabv3_resnet50", "DeepLabV3_ResNet50"),
                          ("deeplabv3_resnet101", "DeepLabV3_ResNet101"),
                          ("deeplabv3_mobilenet_v3_large", "DeepLabV3_MobileNet_V3_Large"),
                          ("lraspp_mobilenet_v3_large", "LRASPP_MobileNet_V3_Large")):
        aux = {} if "lraspp" in name else {"aux_loss": True}
        build = getattr(segmentation, name)
        yield name, (lambda build=build, aux=aux: First(build(**bare, **aux)), image(64),
                     getattr(segmentation, weights + "_Weights").DEFAULT.meta["num_params"])
    utils = detection.backbone_utils
    for resnet in ("resnet18", "resnet50"):
        yield f"{resnet}_fpn", (lambda resnet=resnet: Maps(utils.resnet_fpn_backbone(
            backbone_name=resnet, weights=None, norm_layer=nn.BatchNorm2d)), image(64), None)
    yield "resnet18_fpn_frozen", (lambda: Maps(utils.resnet_fpn_backbone(backbone_name="resnet18", weights=None)),
                                  image(64), None)
    yield "mobilenet_v3_large_fpn", (lambda: Maps(utils.mobilenet_backbone(
        backbone_name="mobilenet_v3_large", weights=None, fpn=True, norm_layer=nn.BatchNorm2d)), image(64), None)
    for name in ("fasterrcnn_resnet50_fpn", "fasterrcnn_resnet50_fpn_v2", "fasterrcnn_mobilenet_v3_large_fpn"):
        yield name + "_backbone", (lambda name=name: Maps(getattr(detection, name)(**bare).backbone), image(64), None)
    for name, size in (("ssd300_vgg16", 300), ("ssdlite320_mobilenet_v3_large", 320), ("retinanet_resnet50_fpn", 64),
                       ("retinanet_resnet50_fpn_v2", 64), ("fcos_resnet50_fpn", 64)):
        yield name, (lambda name=name: Detector(getattr(detection, name)(**bare)), image(size), None)


def videos():
    for name, frames, size in (("r3d_18", 4, 32), ("mc3_18", 4, 32), ("r2plus1d_18", 4, 32), ("s3d", 16, 224)):
        weights = {"r3d_18": "R3D_18", "mc3_18": "MC3_18", "r2plus1d_18": "R2Plus1D_18", "s3d": "S3D"}[name]
        yield name, (lambda name=name: getattr(video, name)(weights=None), clip(frames, size),
                     getattr(video, weights + "_Weights").DEFAULT.meta["num_params"])
    for name in ("mvit_v1_b", "mvit_v2_s"):
        yield name, (lambda name=name: getattr(video, name)(weights=None), clip(16, 224), None)


class Tokens(nn.Module):
    """Token and position embeddings."""

    def __init__(self, width=64):
        super().__init__()
        self.token, self.position = nn.Embedding(100, width), nn.Embedding(32, width)

    def forward(self, ids):
        return self.token(ids) + self.position(torch.arange(ids.shape[1]))


class Encoder(nn.Module):
    def __init__(self, mask=None, activation="relu", norm_first=False):
        super().__init__()
        self.embed, self.mask = Tokens(), mask
        layer = nn.TransformerEncoderLayer(64, 4, 128, activation=activation, batch_first=True, norm_first=norm_first)
        self.body, self.head = nn.TransformerEncoder(layer, 2), nn.Linear(64, 100)
        if mask == "causal":
            self.register_buffer("causal", nn.Transformer.generate_square_subsequent_mask(12))

    def forward(self, ids):
        x = self.embed(ids)
        if self.mask == "causal":
            x = self.body(x, mask=self.causal)
        elif self.mask == "padding":
            x = self.body(x, src_key_padding_mask=ids == 0)
        else:
            x = self.body(x)
        return self.head(x)


class Decoder(nn.Module):
    """Reads a memory that is fed."""

    def __init__(self):
        super().__init__()
        self.embed, self.head = Tokens(), nn.Linear(64, 100)
        self.body = nn.TransformerDecoder(nn.TransformerDecoderLayer(64, 4, 128, batch_first=True), 2)

    def forward(self, ids, memory):
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        return self.head(self.body(self.embed(ids), memory, tgt_mask=mask))


class Translator(nn.Module):
    def __init__(self, padding=False):
        super().__init__()
        self.padding, self.source, self.target, self.head = padding, Tokens(), Tokens(), nn.Linear(64, 100)
        self.body = nn.Transformer(64, 4, 2, 2, 128, batch_first=True)
        self.register_buffer("causal", nn.Transformer.generate_square_subsequent_mask(10))

    def forward(self, source, target):
        masks = {"tgt_mask": self.causal}
        if self.padding:
            pad = source == 0
            masks.update(src_key_padding_mask=pad, memory_key_padding_mask=pad, tgt_key_padding_mask=target == 0)
        return self.head(self.body(self.source(source), self.target(target), **masks))


class Gpt(nn.Module):
    """Causal attention with a triangle of ones, tied embeddings."""

    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads, self.embed, self.norm = heads, Tokens(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.feed = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(),
                                  nn.Linear(4 * width, width))
        self.head = nn.Linear(width, 100, bias=False)
        self.head.weight = self.embed.token.weight
        self.register_buffer("lower", torch.tril(torch.ones(32, 32)).view(1, 1, 32, 32))

    def forward(self, ids):
        x = self.embed(ids)
        n, s, d = x.shape
        q, k, v = (y.view(n, s, self.heads, -1).transpose(1, 2) for y in self.qkv(self.norm(x)).split(d, 2))
        scores = (q @ k.transpose(-2, -1)) * (1.0 / (d // self.heads) ** 0.5)
        scores = scores.masked_fill(self.lower[:, :, :s, :s] == 0, float("-inf"))
        x = x + self.out((torch.softmax(scores, -1) @ v).transpose(1, 2).contiguous().view(n, s, d))
        return self.head(x + self.feed(x))


class Recurrent(nn.Module):
    """Classes of a sequence, or with `every` of each position."""

    def __init__(self, kind, layers=1, bidirectional=False, batch_first=True, every=False):
        super().__init__()
        self.embed, self.every, self.batch_first = nn.Embedding(100, 32), every, batch_first
        self.body = kind(32, 48, layers, bidirectional=bidirectional, batch_first=batch_first,
                         dropout=0.1 if layers > 1 else 0.0)
        self.head = nn.Linear(96 if bidirectional else 48, 10)

    def forward(self, ids):
        x = self.embed(ids)
        out, _ = self.body(x if self.batch_first else x.transpose(0, 1))
        if self.every:
            return self.head(out)
        return self.head(out[:, -1] if self.batch_first else out[-1])


def convolutions(dimensions):
    conv, norm, pool, adaptive = {
        1: (nn.Conv1d, nn.BatchNorm1d, nn.MaxPool1d, nn.AdaptiveAvgPool1d),
        3: (nn.Conv3d, nn.BatchNorm3d, nn.MaxPool3d, nn.AdaptiveAvgPool3d)}[dimensions]
    return nn.Sequential(conv(4, 16, 5, padding=2), norm(16), nn.ReLU(), pool(2),
                         conv(16, 32, 3, padding=2, dilation=2, groups=4), norm(32), nn.ReLU(), pool(2),
                         conv(32, 32, 3, stride=2), nn.LeakyReLU(0.1), adaptive(1), nn.Flatten(), nn.Linear(32, 10))


class WaveNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Conv1d(1, 16, 1), nn.Conv1d(16, 8, 1)
        self.layers = nn.ModuleList(nn.Conv1d(16, 32, 2, dilation=2 ** i) for i in range(4))

    def forward(self, x):
        x = self.first(x)
        for i, layer in enumerate(self.layers):
            a, b = layer(F.pad(x, (2 ** i, 0))).chunk(2, 1)
            x = x + torch.tanh(a) * torch.sigmoid(b)
        return self.last(x).transpose(1, 2)


def double(a, b, norm=nn.BatchNorm2d):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), norm(b), nn.ReLU(), nn.Conv2d(b, b, 3, padding=1), norm(b),
                         nn.ReLU())


class UNet(nn.Module):
    def __init__(self, up):
        super().__init__()
        widths = (16, 32, 64)
        self.down = nn.ModuleList(double(a, b) for a, b in zip((3,) + widths, widths))
        self.up = nn.ModuleList(up(b, a) for a, b in ((32, 64), (16, 32)))
        self.mix = nn.ModuleList(double(2 * a, a) for a in (32, 16))
        self.last = nn.Conv2d(16, 5, 1)

    def forward(self, x):
        kept = []
        for i, down in enumerate(self.down):
            x = down(F.max_pool2d(x, 2) if i else x)
            kept.append(x)
        for up, mix, skip in zip(self.up, self.mix, (kept[1], kept[0])):
            x = mix(torch.cat([skip, up(x)], 1))
        return self.last(x)


def transposed(a, b):
    return nn.ConvTranspose2d(a, b, 2, 2)


def upsampled(mode):
    corners = {} if mode == "nearest" else {"align_corners": mode == "bilinear corners"}
    return lambda a, b: nn.Sequential(nn.Upsample(scale_factor=2, mode=mode.split()[0], **corners), nn.Conv2d(a, b, 1))


class Shuffled(nn.Module):
    """Super-resolution: channels become pixels."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 32, 5, padding=2), nn.PReLU(), nn.Conv2d(32, 40, 3, padding=1),
                                  nn.PixelShuffle(2))

    def forward(self, x):
        return self.body(x)


class Diffusion(nn.Module):
    """A block with GroupNorm, SiLU and an embedding of the step's sines."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Conv2d(3, 32, 3, padding=1), nn.Conv2d(32, 3, 3, padding=1)
        self.time = nn.Sequential(nn.Linear(32, 64), nn.SiLU(), nn.Linear(64, 32))
        self.one = nn.Sequential(nn.GroupNorm(8, 32), nn.SiLU(), nn.Conv2d(32, 32, 3, padding=1))
        self.two = nn.Sequential(nn.GroupNorm(8, 32), nn.SiLU(), nn.Conv2d(32, 32, 3, padding=1))

    def forward(self, x, step):
        angle = step[:, None] * torch.exp(-torch.arange(16) / 2.0)[None]
        t = self.time(torch.cat([angle.sin(), angle.cos()], 1))
        x = self.first(x)
        return self.last(x + self.two(self.one(x) + t[:, :, None, None]))


class Recommender(nn.Module):
    """Wide and deep: tables of several fields beside numbers."""

    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(50, 8) for _ in range(3))
        self.deep = nn.Sequential(nn.Linear(3 * 8 + 4, 32), nn.ReLU(), nn.Linear(32, 2))
        self.wide = nn.Linear(4, 2)

    def forward(self, ids, numbers):
        fields = [table(ids[:, i]) for i, table in enumerate(self.tables)]
        return self.deep(torch.cat(fields + [numbers], 1)) + self.wide(numbers)


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches, self.norms = nn.Conv2d(3, 32, 8, 8), nn.ModuleList(nn.LayerNorm(32) for _ in range(3))
        self.tokens = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))
        self.channels = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32))
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = x + self.tokens(self.norms[0](x).transpose(1, 2)).transpose(1, 2)
        x = x + self.channels(self.norms[1](x))
        return self.head(self.norms[2](x).mean(1))


def own():
    ids = tokens(12)
    yield "encoder", (Encoder, ids, None)
    yield "encoder_gelu_norm_first", (lambda: Encoder(activation="gelu", norm_first=True), ids, None)
    yield "encoder_causal", (lambda: Encoder("causal"), ids, None)
    yield "encoder_padding", (lambda: Encoder("padding"), ids, None)
    yield "decoder", (Decoder, lambda: tokens(12)() + (torch.randn(2, 9, 64),), None)
    yield "encoder_decoder", (Translator, tokens(12, 10), None)
    yield "encoder_decoder_padding", (lambda: Translator(True), tokens(12, 10), None)
    yield "gpt", (Gpt, ids, None)
    for kind in (nn.LSTM, nn.GRU, nn.RNN):
        name = kind.__name__.lower()
        yield name, (lambda kind=kind: Recurrent(kind), ids, None)
        yield name + "_bidirectional", (lambda kind=kind: Recurrent(kind, 2, True), ids, None)
        yield name + "_tagger", (lambda kind=kind: Recurrent(kind, 2, every=True), ids, None)
        yield name + "_time_first", (lambda kind=kind: Recurrent(kind, 2, batch_first=False), ids, None)
    yield "conv1d", (lambda: convolutions(1), real(2, 4, 64), None)
    yield "conv3d", (lambda: convolutions(3), real(2, 4, 24, 24, 24), None)
    yield "wavenet", (WaveNet, real(2, 1, 40), None)
    yield "unet_transposed", (lambda: UNet(transposed), image(32), None)
    for mode in ("nearest", "bilinear", "bilinear corners"):
        yield "unet_" + mode.replace(" ", "_"), (lambda mode=mode: UNet(upsampled(mode)), image(32), None)
    yield "pixel_shuffle", (Shuffled, image(16), None)
    yield "diffusion", (Diffusion, lambda: (torch.randn(2, 3, 16, 16), torch.rand(2)), None)
    yield "recommender", (Recommender, lambda: (torch.randint(0, 50, (2, 3)), torch.randn(2, 4)), None)
    yield "mixer", (Mixer, image(32), None)


def networks():
    """All by name."""
    found = {}
    for family in (own, classifiers, dense, videos):
        found.update(family())
    return found
