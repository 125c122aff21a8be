"""Writes images.txt: what Pillow makes of some calls that a cell can make, too.

python images.py > images.txt
"""

import hashlib

import numpy as np
from PIL import Image, ImageDraw, ImageOps  # noqa: F401  (the calls below use them)


def noise(*shape):
    state, values = 1, []
    for _ in range(int(np.prod(shape))):
        state = (state * 1664525 + 1013904223) % 2**32
        values.append(state >> 24)
    return np.array(values, dtype=np.uint8).reshape(shape)


def told(made):
    """A number for a picture, or the text of anything else."""
    if isinstance(made, Image.Image):
        made = (made.mode, made.size, made.tobytes())
    return hashlib.sha256(repr(made).encode()).hexdigest()[:16]


def changed(image, change):
    change(image)
    return image


rgb = Image.fromarray(noise(21, 33, 3))
grey = Image.fromarray(noise(21, 33))
rgba = Image.fromarray(noise(21, 33, 4))
bits = Image.fromarray(noise(21, 33) > 120)
all_modes = [rgb, grey, rgba, bits]
# %%

CALLS = """
[told(im.resize((50, 40), getattr(Image, f))) for im in all_modes for f in ("NEAREST", "BILINEAR", "BICUBIC", "LANCZOS")]
[told(im.resize((11, 9), Image.Resampling.LANCZOS)) for im in all_modes]
[told(im.resize((11, 9), box=(2, 3, 20, 18))) for im in all_modes]
[told(im.crop(box)) for im in all_modes for box in ((3, 4, 20, 15), (-5, -3, 10, 10), (30, 18, 40, 30))]
[told(im.rotate(90)) for im in all_modes]
[told(im.rotate(angle, expand=True)) for im in all_modes for angle in (0, 30, 90, 180, 270)]
[told(im.rotate(-12.5, Image.BICUBIC, fillcolor=9)) for im in (grey,)]
[told(im.rotate(-12.5, Image.BILINEAR)) for im in all_modes]
[told(im.transpose(Image.Transpose(way))) for im in all_modes for way in range(7)]
[told(im.convert(mode)) for im in all_modes for mode in ("1", "L", "RGB", "RGBA", "HSV") if im.mode != "1" or mode != "HSV"]
[im.size + (im.width, im.height, im.mode) for im in all_modes]
[im.getpixel((3, 4)) for im in all_modes]
[im.getbbox() for im in all_modes]
[im.histogram() for im in all_modes]
[told(changed(im.copy(), lambda im: im.putpixel((2, 3), 1))) for im in (grey,)]
[told(changed(im.copy(), lambda im: im.putpixel((2, 3), (1, 2, 3)))) for im in (rgb,)]
[told(changed(im.copy(), lambda im: im.paste(im.crop((0, 0, 9, 9)), (28, 15)))) for im in all_modes]
[told(changed(im.copy(), lambda im: im.paste("red", (1, 2, 9, 8)))) for im in (rgb, rgba)]
[told(changed(im.copy(), lambda im: im.paste(im.rotate(180), (0, 0), grey))) for im in (rgb, grey)]
[told(changed(im.copy(), lambda im: im.thumbnail((15, 15)))) for im in all_modes]
[np.asarray(im).tolist() for im in all_modes]
[told(Image.merge(im.mode, im.split())) for im in (rgb, rgba)]
[told(im.point(lambda value: 255 - value // 2)) for im in (rgb, grey)]
[told(Image.new("RGB", (5, 4), color)) for color in (0, "orange", "#ff8000", (1, 2, 3))]
told(Image.frombytes("RGB", (2, 2), bytes(range(12))))
[told(ImageOps.mirror(im)) for im in all_modes]
told(changed(rgb.copy(), lambda im: ImageDraw.Draw(im).line((1, 2, 30, 17), fill="red")))
told(changed(rgb.copy(), lambda im: ImageDraw.Draw(im).line([(3, 19), (9, 2), (30, 20)], fill=(0, 255, 0))))
told(changed(rgb.copy(), lambda im: ImageDraw.Draw(im).rectangle((5, 6, 20, 15), outline="white", width=2)))
told(changed(grey.copy(), lambda im: ImageDraw.Draw(im).rectangle([(5, 6), (20, 15)], fill=7)))
"""

if __name__ == "__main__":
    import PIL

    print(f"# Pillow {PIL.__version__}: a number for what each call made")
    for call in CALLS.strip().splitlines():
        print(told(eval(call)), call)
