"""The builtin segmenter's two nets: one for pictures, one for phrases.

A pixel is what a phrase names when their vectors point the same way, so that once a picture is
embedded, a question about it is one product.
"""

import itertools

import text
import torch
from torch import nn
from torch.nn import functional as F

DIMENSIONS = 48
# Offsets are learned in units of this many label pixels.
OFFSET_UNIT = 32.0


def norm(channels):
    return nn.BatchNorm2d(channels, momentum=0.03)


def convolution(inputs, outputs, kernel=3, stride=1, groups=1):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        norm(outputs),
    )


class Block(nn.Module):
    """A wide look at each channel, then a mix of channels."""

    def __init__(self, channels, grow=3):
        super().__init__()
        self.body = nn.Sequential(
            convolution(channels, channels, 5, groups=channels),
            convolution(channels, grow * channels, 1),
            nn.ReLU(inplace=True),
            convolution(grow * channels, channels, 1),
        )
        nn.init.constant_(self.body[-1][1].weight, 0.2)

    def forward(self, x):
        return x + self.body(x)


class Surroundings(nn.Module):
    """Adds what the whole picture says to each place."""

    def __init__(self, channels):
        super().__init__()
        self.mix = nn.Sequential(
            nn.Conv2d(channels, channels, 1),
            nn.ReLU(inplace=True),
            nn.Conv2d(channels, channels, 1),
        )

    def forward(self, x):
        return x + self.mix(x.mean((2, 3), keepdim=True))


class Join(nn.Module):
    """A coarse map onto a finer one."""

    def __init__(self, coarse, fine, outputs, blocks):
        super().__init__()
        self.coarse = convolution(coarse, outputs, 1)
        self.fine = convolution(fine, outputs, 1)
        self.blocks = nn.Sequential(*(Block(outputs, 2) for _ in range(blocks)))

    def forward(self, coarse, fine):
        coarse = F.interpolate(self.coarse(coarse), scale_factor=2, mode="bilinear")
        return self.blocks(F.relu(coarse + self.fine(fine)))


class PictureNet(nn.Module):
    """RGB to a vector for each second pixel and offsets for each fourth."""

    def __init__(self, width=1.0):
        super().__init__()
        c = [max(8, int(width * channels) // 8 * 8) for channels in (24, 48, 96, 192, 256)]
        down = nn.ReLU
        self.stem = nn.Sequential(convolution(3, c[0], 3, 2), down(inplace=True))
        self.fourth = nn.Sequential(
            convolution(c[0], c[1], 3, 2), down(inplace=True), *self.blocks(c[1], 2, 2)
        )
        self.eighth = nn.Sequential(convolution(c[1], c[2], 3, 2), *self.blocks(c[2], 4, 2))
        self.sixteenth = nn.Sequential(convolution(c[2], c[3], 3, 2), *self.blocks(c[3], 6, 3))
        self.last = nn.Sequential(
            convolution(c[3], c[4], 3, 2), *self.blocks(c[4], 3, 3), Surroundings(c[4])
        )
        self.to_sixteenth = Join(c[4], c[3], c[3], 1)
        self.to_eighth = Join(c[3], c[2], c[2], 1)
        self.to_fourth = Join(c[2], c[1], c[2], 2)
        self.offsets = nn.Sequential(Block(c[2], 1), nn.Conv2d(c[2], 4, 1))
        fine = 2 * c[0]
        self.second = Join(c[2], c[0], fine, 1)
        self.vectors = nn.Conv2d(fine, DIMENSIONS, 1)

    @staticmethod
    def blocks(channels, count, grow):
        return [Block(channels, grow) for _ in range(count)]

    def forward(self, picture):
        """`picture` in [0, 1], n x 3 x side x side."""
        half = self.stem((picture - 0.45) * 4.0)
        fourth = self.fourth(half)
        eighth = self.eighth(fourth)
        sixteenth = self.sixteenth(eighth)
        x = self.to_sixteenth(self.last(sixteenth), sixteenth)
        x = self.to_fourth(self.to_eighth(x, eighth), fourth)
        return self.vectors(self.second(x, half)), self.offsets(x)


class PhraseNet(nn.Module):
    """A phrase's features to the vector, the threshold, and whether it names a part."""

    def __init__(self, size=64, hidden=192):
        super().__init__()
        self.table = nn.Embedding(text.BUCKETS, size)
        nn.init.normal_(self.table.weight, std=0.1)
        self.mix = nn.Sequential(
            nn.Linear(3 * size, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, DIMENSIONS + 2),
        )
        self.scale = nn.Parameter(torch.tensor(2.7))

    def forward(self, features):
        """`features` is n x `text.SLOTS`; n x `DIMENSIONS`, n, n."""
        there = (features > 0).unsqueeze(-1).float()
        rows = self.table(features) * there
        bounds = [0, text.WORDS, text.WORDS + text.PAIRS, text.SLOTS]
        means = []
        for start, end in itertools.pairwise(bounds):
            count = there[:, start:end].sum(1).clamp(min=1.0)
            means.append(rows[:, start:end].sum(1) / count)
        mixed = self.mix(torch.cat(means, 1) * 4.0)
        vector = F.normalize(mixed[:, :DIMENSIONS], dim=1) * self.scale.exp()
        return vector, mixed[:, DIMENSIONS] - 8.0, mixed[:, DIMENSIONS + 1]


class Eyes(nn.Module):
    def __init__(self, kinds, width=1.0):
        super().__init__()
        self.width = width
        self.picture = PictureNet(width)
        self.phrase = PhraseNet()
        # For training alone: which of all kinds a pixel shows.
        self.kinds = nn.Linear(DIMENSIONS, kinds)


class ExportedPicture(nn.Module):
    """From bytes as a frame holds them to unit vectors: side x side x 3 to D x side/2 x side/2."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, image):
        picture = image.permute(2, 0, 1).unsqueeze(0).float() / 255.0
        vectors, offsets = self.net(picture)
        return F.normalize(vectors, dim=1)[0], offsets[0] * OFFSET_UNIT
