"""`PIL.ImageOps` for cells."""

from . import Image


def mirror(image):
    """Left and right exchanged."""
    return image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)


def flip(image):
    """Top and bottom exchanged."""
    return image.transpose(Image.Transpose.FLIP_TOP_BOTTOM)


def invert(image):
    """Each value v becomes 255 - v."""
    return image.point([255 - value for value in range(256)] * len(image.getbands()))


def grayscale(image):
    return image.convert("L")


def crop(image, border=0):
    """Takes so many pixels off each side."""
    left, top, right, bottom = borders(border)
    return image.crop((left, top, image.width - right, image.height - bottom))


def expand(image, border=0, fill=0):
    """Adds a frame of so many pixels."""
    left, top, right, bottom = borders(border)
    size = (image.width + left + right, image.height + top + bottom)
    framed = Image.new(image.mode, size, fill)
    framed.paste(image, (left, top))
    return framed


def borders(border):
    if not isinstance(border, (tuple, list)):
        return (border,) * 4
    return tuple(border) * 2 if len(border) == 2 else tuple(border)


def scale(image, factor, resample=Image.Resampling.BICUBIC):
    if factor <= 0:
        raise ValueError("the factor must be greater than 0")
    size = (round(factor * image.width), round(factor * image.height))
    return image.resize(size, resample)


def contain(image, size, method=Image.Resampling.BICUBIC):
    """As large as fits into the size, with its proportions kept."""
    ratio, wanted = image.width / image.height, size[0] / size[1]
    if ratio > wanted:
        size = (size[0], round(image.height / image.width * size[0]))
    elif ratio < wanted:
        size = (round(image.width / image.height * size[1]), size[1])
    return image.resize(size, method)


def autocontrast(image):
    """Spreads each band over 0 to 255."""
    table = []
    extrema = image.getextrema()
    for low, high in extrema if isinstance(extrema[0], tuple) else (extrema,):
        if high <= low:
            table += range(256)
            continue
        scale = 255.0 / (high - low)
        table += [max(0, min(255, int(value * scale - low * scale))) for value in range(256)]
    return image.point(table)
