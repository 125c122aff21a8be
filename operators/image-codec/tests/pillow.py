"""Writes pillow.txt: what Pillow makes of pictures that a test can make, too.

python pillow.py > pillow.txt
"""

import itertools

import numpy as np
import PIL
from PIL import Image

SIZES = [(7, 5), (64, 48), (33, 90), (1, 1)]
TARGETS = [(14, 10), (20, 31), (7, 90), (3, 2), (224, 13)]
MODES = {1: "L", 3: "RGB"}
REGIONS = [(3, 2, 30, 40), (0.5, 1.25, 21.75, 20.5)]


def noise(width, height, channels):
    state, values = 1, []
    for _ in range(width * height * channels):
        state = (state * 1664525 + 1013904223) % 2**32
        values.append(state >> 24)
    return np.array(values, np.uint8).reshape(height, width, channels)


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def line(filter, size, channels, target, region=None):
    pixels = noise(*size, channels)
    picture = Image.fromarray(pixels[:, :, 0] if channels == 1 else pixels)
    assert picture.mode == MODES[channels]
    made = picture.resize(target, getattr(Image.Resampling, filter.upper()), box=region)
    print(filter, *size, channels, *target, fnv1a(made.tobytes()), *(region or ()))


print(f"# Pillow {PIL.__version__}: filter, size, channels, new size, FNV-1a of the result, region")
FILTERS = ["nearest", "box", "bilinear", "hamming", "bicubic", "lanczos"]
for filter, size, channels, target in itertools.product(FILTERS, SIZES, MODES, TARGETS):
    line(filter, size, channels, target)
for filter, channels, target, region in itertools.product(FILTERS, MODES, TARGETS, REGIONS):
    line(filter, (64, 48), channels, target, region)
