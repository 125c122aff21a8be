"""Writes pixels.txt: what Pillow makes of pictures that a test can make, too.

python pixels.py > pixels.txt
"""

import itertools

import numpy as np
import PIL
from PIL import Image

CHANNELS = {"1": 1, "L": 1, "RGB": 3, "RGBA": 4, "HSV": 3}
WIDTH, HEIGHT = 37, 29
FILL = 7


def noise(count):
    state, values = 1, []
    for _ in range(count):
        state = (state * 1664525 + 1013904223) % 2**32
        values.append(state >> 24)
    return np.array(values, np.uint8)


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def picture(mode):
    pixels = noise(WIDTH * HEIGHT * CHANNELS[mode])
    if mode == "1":
        levels = np.where(pixels > 100, 255, 0).astype(np.uint8).reshape(HEIGHT, WIDTH)
        return Image.fromarray(levels).convert("1", dither=Image.Dither.NONE)
    return Image.frombytes(mode, (WIDTH, HEIGHT), pixels.tobytes())


def raw(image):
    return (image.convert("L") if image.mode == "1" else image).tobytes()


print(f"# Pillow {PIL.__version__}: what was done, FNV-1a of the result")
for old, new, dither in itertools.product(CHANNELS, CHANNELS, (0, 3)):
    try:
        made = picture(old).convert(new, dither=Image.Dither(dither))
    except ValueError:
        continue
    print("convert", old, new, dither // 3, fnv1a(raw(made)))

seen = {}
transform = Image.Image.transform


def watched(self, size, method, data=None, *rest, **options):
    seen["size"], seen["matrix"] = size, data
    return transform(self, size, method, data, *rest, **options)


Image.Image.transform = watched
FILTERS = ["nearest", "bilinear", "bicubic"]
for angle, mode, filter, expand in itertools.product(
    (30, 45, -10.5, 90, 123.4, 200), ("L", "RGB"), FILTERS, (False, True)
):
    fill = (FILL,) * CHANNELS[mode]
    center = (10, 11) if angle == 90 else None
    made = picture(mode).rotate(
        angle,
        Image.Resampling[filter.upper()],
        expand,
        center,
        None,
        fill if len(fill) > 1 else FILL,
    )
    matrix = [repr(float(value)) for value in seen["matrix"]]
    print("affine", mode, filter, *seen["size"], *matrix, fnv1a(raw(made)))

premultiplied = picture("RGBA").convert("RGBa")
print("premultiply", fnv1a(premultiplied.tobytes()))
print("unmultiply", fnv1a(premultiplied.convert("RGBA").tobytes()))
below, above = picture("RGB"), picture("RGB").transpose(Image.Transpose.ROTATE_180)
below.paste(above, (0, 0), picture("L"))
print("blend", fnv1a(below.tobytes()))
print("pack_bits", fnv1a(picture("1").tobytes()))
