"""PyTorch modules to train: torchvision's, and others that people have. Each is a function that returns the module, its loss and a batch."""
import torch
from torch import nn

try:
    import torchvision
except RuntimeError:  # PyPI's is made for GPUs: beside a PyTorch for CPUs its own operators, which these networks do without, have to be declared
    library = torch.library.Library("torchvision", "DEF")
    for operator in ("nms", "qnms"):
        library.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    import torchvision

CLASSES = 10


def images(batch, side, classes=CLASSES):
    return torch.randn(batch, 3, side, side), torch.randint(0, classes, (batch,))


def vision(name, batch, side, **options):
    return getattr(torchvision.models, name)(num_classes=CLASSES, **options), nn.functional.cross_entropy, images(batch, side)


class UNet(nn.Module):
    """Of three levels, with transposed convolutions and skip connections; segments into two classes."""

    def __init__(self, width=16):
        super().__init__()

        def double(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True), nn.Conv2d(o, o, 3, padding=1), nn.ReLU(inplace=True))

        self.down = nn.ModuleList([double(3, width), double(width, 2 * width), double(2 * width, 4 * width)])
        self.up = nn.ModuleList([nn.ConvTranspose2d(4 * width, 2 * width, 2, 2), nn.ConvTranspose2d(2 * width, width, 2, 2)])
        self.join = nn.ModuleList([double(4 * width, 2 * width), double(2 * width, width)])
        self.head = nn.Conv2d(width, 2, 1)

    def forward(self, x):
        kept = []
        for level in self.down[:-1]:
            kept.append(level(x))
            x = nn.functional.max_pool2d(kept[-1], 2)
        x = self.down[-1](x)
        for up, join in zip(self.up, self.join):
            x = join(torch.cat([kept.pop(), up(x)], 1))
        return self.head(x)


class Sequences(nn.Module):
    """An LSTM whose last output is classified."""

    def __init__(self, hidden=128):
        super().__init__()
        self.lstm = nn.LSTM(32, hidden, num_layers=2, batch_first=True)
        self.head = nn.Linear(hidden, CLASSES)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


class Encoder(nn.Module):
    """BERT's shape: embeddings and encoder layers of torch.nn, with dropout; the first token is classified."""

    def __init__(self, layers=4, width=128, dropout=0.1):
        super().__init__()
        self.tokens = nn.Embedding(1000, width)
        self.positions = nn.Parameter(torch.randn(1, 512, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout, activation="gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, CLASSES)

    def forward(self, x):
        return self.head(self.layers(self.tokens(x) + self.positions[:, : x.shape[1]])[:, 0])


class Block(nn.Module):
    """Causal attention and two linear layers, norm first."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def attention(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        scores = q @ k.transpose(-2, -1) * (width // self.heads) ** -0.5
        causal = torch.ones(length, length, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(causal, float("-inf")).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Decoder(nn.Module):
    """GPT's shape; the embedding's weights are the output's, too, when `tied`."""

    def __init__(self, layers=4, width=128, heads=4, words=1000, tied=False):
        super().__init__()
        self.tokens = nn.Embedding(words, width)
        self.positions = nn.Parameter(torch.randn(1, 512, width) * 0.02)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.head = nn.Linear(width, words, bias=False)
        if tied:
            self.head.weight = self.tokens.weight

    def forward(self, x):
        x = self.tokens(x) + self.positions[:, : x.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def words(batch, length, of=1000):
    text = torch.randint(0, of, (batch, length + 1))
    return text[:, :-1].contiguous(), text[:, 1:].contiguous()


def next_word(logits, target):
    return nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten())


def vit(batch):
    module = torchvision.models.VisionTransformer(
        image_size=64, patch_size=8, num_layers=6, num_heads=4, hidden_dim=192, mlp_dim=768, num_classes=CLASSES
    )
    return module, nn.functional.cross_entropy, images(batch, 64)


def dropouts(batch):
    module = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Dropout2d(0.2), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.Dropout(0.5),
        nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(1024, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, CLASSES),
    )  # fmt: skip
    return module, nn.functional.cross_entropy, images(batch, 32)


NETWORKS = {
    "resnet18": lambda: vision("resnet18", 32, 96),
    "resnet50": lambda: vision("resnet50", 16, 96),
    "mobilenet_v2": lambda: vision("mobilenet_v2", 32, 96),
    "vgg16": lambda: vision("vgg16", 8, 64),
    "densenet121": lambda: vision("densenet121", 16, 64),
    "unet": lambda: (UNet(), nn.functional.cross_entropy, (torch.randn(8, 3, 128, 128), torch.randint(0, 2, (8, 128, 128)))),
    "vit": lambda: vit(8),
    "lstm": lambda: (Sequences(), nn.functional.cross_entropy, (torch.randn(64, 64, 32), torch.randint(0, CLASSES, (64,)))),
    "encoder": lambda: (Encoder(), nn.functional.cross_entropy, (torch.randint(0, 1000, (4, 128)), torch.randint(0, CLASSES, (4,)))),
    "decoder": lambda: (Decoder(), next_word, words(4, 128)),
    "dropout": lambda: dropouts(64),
    "shared": lambda: (Decoder(layers=2, tied=True), next_word, words(4, 128)),
}


def blocks_of(name, module):
    """What torch.utils.checkpoint is put around: the blocks that a module repeats, in order."""
    kinds = {
        "resnet18": "BasicBlock", "resnet50": "Bottleneck", "mobilenet_v2": "InvertedResidual", "densenet121": "_DenseLayer",
        "vit": "EncoderBlock", "encoder": "TransformerEncoderLayer", "decoder": "Block", "shared": "Block", "lstm": "LSTM",
    }  # fmt: skip
    if name in kinds:
        return [part for part in module.modules() if type(part).__name__ == kinds[name]]
    if name == "unet":
        return [*module.down, *module.join]
    if name == "vgg16":  # its layers up to each pooling
        module.features = _grouped(module.features, nn.MaxPool2d)
        return list(module.features)
    parts = [nn.Sequential(*module[:3]), nn.Sequential(*module[3:6])]  # "dropout"
    rest = list(module[6:])
    module._modules.clear()
    for i, part in enumerate([*parts, *rest]):
        module.add_module(str(i), part)
    return parts


def _grouped(layers, last):
    groups, group = [], []
    for layer in layers:
        group.append(layer)
        if isinstance(layer, last):
            groups.append(nn.Sequential(*group))
            group = []
    return nn.Sequential(*groups, *group)
