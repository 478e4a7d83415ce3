"""ViTDet in torch, written after detectron2's source, with the names of its weights: the vision transformer, the simple
feature pyramid, and the heads with layer normalization."""

import math

import torch
from torch import nn
from torch.nn import functional

LEVELS = ["p2", "p3", "p4", "p5"]


class LayerNorm(nn.Module):
    """Layer normalization over the channels of each pixel."""

    def __init__(self, channels):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.zeros(channels))

    def forward(self, maps):
        pixels = maps.movedim(1, -1)
        return functional.layer_norm(pixels, self.weight.shape, self.weight, self.bias, 1e-6).movedim(-1, 1)


class NormalizedConv(nn.Conv2d):
    """A convolution that keeps the size, then layer normalization, and ReLU if asked for."""

    def __init__(self, inputs, outputs, kernel, relu=False):
        super().__init__(inputs, outputs, kernel, padding=kernel // 2, bias=False)
        self.norm, self.relu = LayerNorm(outputs), relu

    def forward(self, maps):
        maps = self.norm(super().forward(maps))
        return maps.relu() if self.relu else maps


class Attention(nn.Module):
    def __init__(self, channels, heads, side):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(channels, 3 * channels), nn.Linear(channels, channels)
        self.rel_pos_h, self.rel_pos_w = (
            nn.Parameter(0.3 * torch.randn(2 * side - 1, channels // heads)) for _ in range(2)
        )

    def forward(self, patches):
        count, height, width, channels = patches.shape
        qkv = self.qkv(patches).reshape(count, height, width, 3, self.heads, -1)
        query, key, value = qkv.permute(3, 0, 4, 1, 2, 5)
        scores = torch.einsum("nhijc,nhklc->nhijkl", query / math.sqrt(channels // self.heads), key)
        scores = scores + torch.einsum("nhijc,ikc->nhijk", query, between(self.rel_pos_h, height))[..., None]
        scores = scores + torch.einsum("nhijc,jlc->nhijl", query, between(self.rel_pos_w, width))[..., None, :]
        weights = scores.flatten(-2).softmax(-1).reshape(scores.shape)
        attended = torch.einsum("nhijkl,nhklc->nijhc", weights, value)
        return self.proj(attended.flatten(3))


def between(embeddings, side):
    """The embedding for each pair of places of an axis."""
    if len(embeddings) != 2 * side - 1:
        embeddings = functional.interpolate(embeddings.T[None], size=2 * side - 1, mode="linear")[0].T
    places = torch.arange(side)
    return embeddings[places[:, None] - places + side - 1]


class Block(nn.Module):
    def __init__(self, channels, heads, window, side):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(channels, eps=1e-6), nn.LayerNorm(channels, eps=1e-6)
        self.attn = Attention(channels, heads, window or side)
        self.mlp = nn.Module()
        self.mlp.fc1, self.mlp.fc2 = nn.Linear(channels, 4 * channels), nn.Linear(4 * channels, channels)
        self.window = window

    def forward(self, patches):
        attend = self.attn if self.window == 0 else self.in_windows
        patches = patches + attend(self.norm1(patches))
        return patches + self.mlp.fc2(functional.gelu(self.mlp.fc1(self.norm2(patches))))

    def in_windows(self, patches):
        """The windows are padded with zeros, which take part in the attention."""
        _, height, width, _ = patches.shape
        size = self.window
        padded = functional.pad(patches, (0, 0, 0, -width % size, 0, -height % size))
        rows = []
        for top in range(0, height, size):
            row = [self.attn(padded[:, top : top + size, left : left + size]) for left in range(0, width, size)]
            rows.append(torch.cat(row, 2))
        return torch.cat(rows, 1)[:, :height, :width]


class ViT(nn.Module):
    """`settings` has the names of burn-roi-detection's config."""

    def __init__(self, settings):
        super().__init__()
        channels, patch = settings["channels"], settings["patch_size"]
        self.patch_embed = nn.Module()
        self.patch_embed.proj = nn.Conv2d(3, channels, patch, patch)
        self.side = settings["pretrained_size"] // patch
        self.pos_embed = nn.Parameter(0.3 * torch.randn(1, self.side**2 + 1, channels))
        side, spans_all = settings["input_size"] // patch, settings["global_blocks"]
        windows = [0 if block in spans_all else settings["window_size"] for block in range(settings["blocks"])]
        self.blocks = nn.ModuleList([Block(channels, settings["heads"], window, side) for window in windows])

    def forward(self, images):
        maps = self.patch_embed.proj(images)
        positions = self.pos_embed[0, 1:].T.reshape(1, -1, self.side, self.side)
        if maps.shape[2:] != positions.shape[2:]:
            positions = functional.interpolate(positions, maps.shape[2:], mode="bicubic")
        patches = (maps + positions).permute(0, 2, 3, 1)
        for block in self.blocks:
            patches = block(patches)
        return {"last_feat": patches.permute(0, 3, 1, 2)}


class SimpleFeaturePyramid(nn.Module):
    size_divisibility = 32

    def __init__(self, settings, outputs):
        super().__init__()
        self.bottom_up = ViT(settings)
        channels = settings["channels"]
        half, quarter = channels // 2, channels // 4
        double = lambda inputs, outputs: nn.ConvTranspose2d(inputs, outputs, 2, 2)
        first = {
            "simfp_2": ([double(channels, half), LayerNorm(half), nn.GELU(), double(half, quarter)], quarter),
            "simfp_3": ([double(channels, half)], half),
            "simfp_4": ([], channels),
            "simfp_5": ([nn.MaxPool2d(2, 2)], channels),
        }
        for name, (layers, inputs) in first.items():
            convolutions = [NormalizedConv(inputs, outputs, 1), NormalizedConv(outputs, outputs, 3)]
            self.add_module(name, nn.Sequential(*layers, *convolutions))
        self.names = list(first)

    def forward(self, images):
        [maps] = self.bottom_up(images).values()
        levels = {level: getattr(self, name)(maps) for level, name in zip(LEVELS, self.names)}
        return levels | {"p6": levels["p5"][..., ::2, ::2]}


class RegionProposalHead(nn.Module):
    """Two convolutions before the two outputs."""

    def __init__(self, channels, anchors):
        super().__init__()
        self.conv = nn.Sequential()
        for index in range(2):
            self.conv.add_module(f"conv{index}", nn.Conv2d(channels, channels, 3, padding=1))
        self.objectness_logits = nn.Conv2d(channels, anchors, 1)
        self.anchor_deltas = nn.Conv2d(channels, 4 * anchors, 1)

    def forward(self, levels):
        levels = [self.conv.conv1(self.conv.conv0(level).relu()).relu() for level in levels]
        return [self.objectness_logits(level) for level in levels], [self.anchor_deltas(level) for level in levels]


class BoxHead(nn.Module):
    def __init__(self, channels, size, hidden):
        super().__init__()
        for index in range(4):
            self.add_module(f"conv{index + 1}", NormalizedConv(channels, channels, 3, relu=True))
        self.fc1 = nn.Linear(channels * size * size, hidden)

    def forward(self, pooled):
        for index in range(4):
            pooled = getattr(self, f"conv{index + 1}")(pooled)
        return self.fc1(pooled.flatten(1)).relu()


class MaskHead(nn.Module):
    def __init__(self, channels, classes):
        super().__init__()
        for index in range(4):
            self.add_module(f"mask_fcn{index + 1}", NormalizedConv(channels, channels, 3, relu=True))
        self.deconv, self.predictor = nn.ConvTranspose2d(channels, channels, 2, 2), nn.Conv2d(channels, classes, 1)

    def forward(self, pooled):
        for index in range(4):
            pooled = getattr(self, f"mask_fcn{index + 1}")(pooled)
        return self.predictor(self.deconv(pooled).relu())


def liven(model):
    """Gives all norms scales and shifts."""
    for module in model.modules():
        if isinstance(module, (LayerNorm, nn.LayerNorm)):
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.normal_(module.bias, 0.0, 0.2)
