"""`PIL.Image` for cells: pictures as bytes, with the results of Pillow.

The modes are 1, L, RGB, RGBA and HSV.
"""

import builtins
import enum
import math

import _pil
import numpy as np

from . import ImageColor

MODES = {"1": 1, "L": 1, "RGB": 3, "RGBA": 4, "HSV": 3}
MAX_SIDE = 8192


class Resampling(enum.IntEnum):
    NEAREST = 0
    LANCZOS = 1
    BILINEAR = 2
    BICUBIC = 3
    BOX = 4
    HAMMING = 5


class Transpose(enum.IntEnum):
    FLIP_LEFT_RIGHT = 0
    FLIP_TOP_BOTTOM = 1
    ROTATE_90 = 2
    ROTATE_180 = 3
    ROTATE_270 = 4
    TRANSPOSE = 5
    TRANSVERSE = 6


class Dither(enum.IntEnum):
    NONE = 0
    FLOYDSTEINBERG = 3


for _names in (Resampling, Transpose, Dither):
    globals().update({name: value for name, value in _names.__members__.items() if name != "NONE"})


class UnidentifiedImageError(OSError):
    """The bytes are of no format that is known."""


class Image:
    """A picture; made by `new`, `open` and `fromarray`."""

    format = None

    def __init__(self):
        self.mode, self._pixels = "", np.zeros((0, 0), np.uint8)

    @property
    def size(self):
        return (self.width, self.height)

    @property
    def width(self):
        return self._pixels.shape[1]

    @property
    def height(self):
        return self._pixels.shape[0]

    def __repr__(self):
        return f"<PIL.Image.Image image mode={self.mode} size={self.width}x{self.height}>"

    def __eq__(self, other):
        if not isinstance(other, Image):
            return NotImplemented
        same = self.mode == other.mode and self.size == other.size
        return same and self.tobytes() == other.tobytes()

    __hash__ = None

    def __array__(self, dtype=None, copy=None):
        pixels = self._pixels != 0 if self.mode == "1" else self._pixels.copy()
        return pixels if dtype is None else pixels.astype(dtype)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass

    def close(self):
        """Does nothing; the picture is in memory."""

    def load(self):
        """Does nothing; the picture is in memory."""

    def copy(self):
        return made(self.mode, self._pixels.copy())

    def getbands(self):
        return tuple(self.mode) if len(self.mode) > 1 else (self.mode,)

    def tobytes(self):
        if self.mode == "1":
            return _pil.pack_bits(self._pixels)
        return self._pixels.tobytes()

    # Pixels

    def getpixel(self, xy):
        x, y = self._place(xy)
        pixel = self._pixels[y, x]
        return int(pixel) if self._pixels.ndim == 2 else tuple(int(value) for value in pixel)

    def putpixel(self, xy, value):
        x, y = self._place(xy)
        self._pixels[y, x] = self._color(value)

    def _place(self, xy):
        x, y = (int(at) for at in xy)
        x, y = x + self.width * (x < 0), y + self.height * (y < 0)
        if not (0 <= x < self.width and 0 <= y < self.height):
            raise IndexError("image index out of range")
        return x, y

    def _color(self, color):
        return ImageColor.getcolor(color, self.mode)

    def getdata(self, band=None):
        pixels = self._pixels if band is None else self._pixels[:, :, band]
        if pixels.ndim == 2:
            return pixels.reshape(-1).tolist()
        return [tuple(pixel) for pixel in pixels.reshape(-1, pixels.shape[2]).tolist()]

    def putdata(self, data):
        flat = np.array(list(data), dtype=np.uint8)
        self._pixels = flat.reshape(self._pixels.shape)

    def split(self):
        if self._pixels.ndim == 2:
            return (self.copy(),)
        return tuple(self.getchannel(band) for band in range(self._pixels.shape[2]))

    def getchannel(self, channel):
        bands = self.getbands()
        index = bands.index(channel) if isinstance(channel, str) else channel
        if not 0 <= index < len(bands):
            raise ValueError("band index out of range")
        if len(bands) == 1:
            return self.copy()
        return made("L", np.ascontiguousarray(self._pixels[:, :, index]))

    def point(self, lut, mode=None):
        """Each value through a function or a table of 256 values for each band."""
        bands = 1 if self._pixels.ndim == 2 else self._pixels.shape[2]
        if callable(lut):
            lut = [lut(value) for value in range(256)] * bands
        table = np.array([min(255, max(0, int(value))) for value in lut], dtype=np.uint8)
        if table.size != 256 * bands:
            raise ValueError("wrong number of lut entries")
        if bands == 1:
            pixels = table[self._pixels]
        else:
            parts = [table[256 * i : 256 * i + 256][self._pixels[:, :, i]] for i in range(bands)]
            pixels = np.stack(parts, axis=2)
        return made(mode or self.mode, pixels)

    def histogram(self):
        bands = (
            [self._pixels] if self._pixels.ndim == 2 else [band._pixels for band in self.split()]
        )
        counts = []
        for band in bands:
            counts += np.bincount(band.reshape(-1).astype(np.int64), minlength=256).tolist()
        return counts

    def getbbox(self):
        """(left, top, right, bottom) of what is not zero, or None."""
        full = self._pixels[:, :, 3] if self.mode == "RGBA" else self._pixels
        full = full != 0 if full.ndim == 2 else (full != 0).any(axis=2)
        rows, columns = np.where(full.any(axis=1))[0], np.where(full.any(axis=0))[0]
        if rows.size == 0:
            return None
        return (int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1)

    def getextrema(self):
        bands = [band._pixels for band in self.split()]
        extrema = tuple((int(band.min()), int(band.max())) for band in bands)
        return extrema[0] if len(extrema) == 1 else extrema

    # Other modes, sizes and shapes

    def convert(self, mode=None, matrix=None, dither=None, **options):
        mode = mode or self.mode
        if matrix is not None or mode not in MODES:
            raise ValueError(f"conversion from {self.mode} to {mode} is not there: use {modes()}")
        if mode == self.mode:
            return self.copy()
        dithered = dither is None or dither == Dither.FLOYDSTEINBERG
        return made(mode, _pil.convert(self._pixels, self.mode, mode, dithered))

    def resize(self, size, resample=None, box=None, reducing_gap=None):
        width, height = checked_size(size)
        box = (0, 0, *self.size) if box is None else tuple(box)
        resample = Resampling.BICUBIC if resample is None else Resampling(resample)
        if self.mode == "1":
            resample = Resampling.NEAREST
        args = ((width, height), resample.name.lower(), tuple(float(edge) for edge in box))
        if self.mode == "RGBA" and resample != Resampling.NEAREST:
            pixels = _pil.resize(_pil.premultiply(self._pixels), *args)
            return made(self.mode, _pil.unmultiply(pixels))
        return made(self.mode, _pil.resize(self._pixels, *args))

    def thumbnail(self, size, resample=Resampling.BICUBIC, reducing_gap=2.0):
        """Shrinks the picture itself to fit, and keeps its proportions."""
        width, height = (math.floor(side) for side in size)
        if width >= self.width and height >= self.height:
            return
        aspect = self.width / self.height
        if width / height >= aspect:
            width = rounded_side(height * aspect, lambda n: abs(aspect - n / height))
        else:
            wrong = lambda n: 0 if n == 0 else abs(aspect - width / n)  # noqa: E731
            height = rounded_side(width / aspect, wrong)
        self._pixels = self.resize((width, height), resample)._pixels

    def reduce(self, factor, box=None):
        """The mean of each block of factor x factor pixels."""
        across, down = factor if isinstance(factor, (tuple, list)) else (factor, factor)
        part = self if box is None else self.crop(box)
        size = (-(-part.width // across), -(-part.height // down))
        return part.resize(size, Resampling.BOX, (0, 0, *part.size))

    def crop(self, box=None):
        """The part (left, top, right, bottom); black beyond the edges."""
        if box is None:
            return self.copy()
        left, top, right, bottom = (round(edge) for edge in box)
        if right < left:
            raise ValueError("Coordinate 'right' is less than 'left'")
        if bottom < top:
            raise ValueError("Coordinate 'lower' is less than 'upper'")
        shape = (bottom - top, right - left, *self._pixels.shape[2:])
        pixels = np.zeros(shape, np.uint8)
        x0, y0, x1, y1 = max(left, 0), max(top, 0), min(right, self.width), min(bottom, self.height)
        if x0 < x1 and y0 < y1:
            pixels[y0 - top : y1 - top, x0 - left : x1 - left] = self._pixels[y0:y1, x0:x1]
        return made(self.mode, pixels)

    def transpose(self, method):
        pixels = self._pixels
        method = Transpose(method)
        if method in (
            Transpose.ROTATE_90,
            Transpose.TRANSPOSE,
            Transpose.TRANSVERSE,
            Transpose.ROTATE_270,
        ):
            pixels = pixels.swapaxes(0, 1)
        if method in (
            Transpose.FLIP_TOP_BOTTOM,
            Transpose.ROTATE_180,
            Transpose.ROTATE_90,
            Transpose.TRANSVERSE,
        ):
            pixels = pixels[::-1]
        if method in (
            Transpose.FLIP_LEFT_RIGHT,
            Transpose.ROTATE_180,
            Transpose.ROTATE_270,
            Transpose.TRANSVERSE,
        ):
            pixels = pixels[:, ::-1]
        return made(self.mode, np.ascontiguousarray(pixels))

    def rotate(
        self,
        angle,
        resample=Resampling.NEAREST,
        expand=False,
        center=None,
        translate=None,
        fillcolor=None,
    ):
        """Turns the picture by so many degrees counter-clockwise."""
        angle %= 360.0
        width, height = self.size
        if not (center or translate):
            if angle == 0:
                return self.copy()
            if angle == 180:
                return self.transpose(Transpose.ROTATE_180)
            if angle in (90, 270) and (expand or width == height):
                return self.transpose(Transpose.ROTATE_90 if angle == 90 else Transpose.ROTATE_270)
        shift = translate or (0, 0)
        middle = center or (width / 2, height / 2)
        turn = -math.radians(angle)
        cos, sin = round(math.cos(turn), 15), round(math.sin(turn), 15)
        matrix = [cos, sin, 0.0, -sin, cos, 0.0]

        def through(x, y):
            a, b, c, d, e, f = matrix
            return a * x + b * y + c, d * x + e * y + f

        matrix[2], matrix[5] = through(-middle[0] - shift[0], -middle[1] - shift[1])
        matrix[2] += middle[0]
        matrix[5] += middle[1]
        if expand:
            corners = [through(x, y) for x, y in ((0, 0), (width, 0), (width, height), (0, height))]
            xs, ys = zip(*corners, strict=True)
            wide = math.ceil(max(xs)) - math.floor(min(xs))
            high = math.ceil(max(ys)) - math.floor(min(ys))
            matrix[2], matrix[5] = through(-(wide - width) / 2.0, -(high - height) / 2.0)
            width, height = wide, high
        fill = 0 if fillcolor is None else fillcolor
        fill = self._color(fill)
        fill = list(fill) if isinstance(fill, tuple) else [fill]
        resample = Resampling.NEAREST if self.mode == "1" else Resampling(resample)
        if resample not in (Resampling.NEAREST, Resampling.BILINEAR, Resampling.BICUBIC):
            raise ValueError("rotate() takes NEAREST, BILINEAR or BICUBIC")
        args = ((width, height), tuple(matrix), resample.name.lower(), bytes(fill))
        if self.mode == "RGBA" and resample != Resampling.NEAREST:
            return made(
                self.mode, _pil.unmultiply(_pil.affine(_pil.premultiply(self._pixels), *args))
            )
        return made(self.mode, _pil.affine(self._pixels, *args))

    def paste(self, im, box=None, mask=None):
        """Puts a picture or a colour into the picture itself."""
        if isinstance(box, Image):
            box, mask = None, box
        box = (0, 0) if box is None else tuple(int(edge) for edge in box)
        whole = self.size if not isinstance(im, Image) else im.size
        if len(box) == 2:
            whole = mask.size if mask is not None and not isinstance(im, Image) else whole
            box = (*box, box[0] + whole[0], box[1] + whole[1])
        left, top, right, bottom = box
        wide, high = right - left, bottom - top
        if isinstance(im, Image):
            if im.size != (wide, high):
                raise ValueError("images do not match")
            source = im.convert(self.mode)._pixels
        else:
            source = np.zeros((high, wide, *self._pixels.shape[2:]), np.uint8)
            source[...] = np.array(self._color(im), dtype=np.uint8)
        x0, y0 = max(left, 0), max(top, 0)
        x1, y1 = min(right, self.width), min(bottom, self.height)
        if x0 >= x1 or y0 >= y1:
            return
        part = (slice(y0 - top, y1 - top), slice(x0 - left, x1 - left))
        target = self._pixels[y0:y1, x0:x1]
        source = source[part]
        if mask is not None:
            if mask.size != (wide, high):
                raise ValueError("images do not match")
            share = mask.getchannel("A") if mask.mode == "RGBA" else mask.convert("L")
            source = _pil.blend(
                np.ascontiguousarray(target),
                np.ascontiguousarray(source),
                np.ascontiguousarray(share._pixels[part]),
            )
        target[...] = source

    def putalpha(self, alpha):
        """Gives the picture itself an alpha channel."""
        rgba = self.convert("RGBA")
        rgba._pixels[:, :, 3] = alpha.convert("L")._pixels if isinstance(alpha, Image) else alpha
        self.mode, self._pixels = "RGBA", rgba._pixels

    def save(self, fp, format=None, quality=75, **options):
        """Writes PNG or JPEG to a file of the workspace, or to an open one."""
        name = fp if isinstance(fp, str) else getattr(fp, "name", "") or ""
        if format is None:
            format = str(name).rpartition(".")[2]
        format = {"JPG": "JPEG"}.get(format.upper(), format.upper())
        if format not in ("PNG", "JPEG"):
            raise ValueError(f"unknown file extension or format {format!r}: use PNG or JPEG")
        if format == "JPEG" and self.mode == "RGBA":
            raise OSError("cannot write mode RGBA as JPEG")
        image = (
            self
            if self.mode in ("L", "RGB", "RGBA")
            else self.convert("L" if self.mode == "1" else "RGB")
        )
        data = _pil.encode(image._pixels, format.lower(), int(quality))
        if hasattr(fp, "write"):
            fp.write(data)
            return
        with builtins.open(fp, "wb") as file:
            file.write(data)

    def show(self, title=None):
        """There is no screen: `display(image)` shows the picture to you."""
        raise RuntimeError("there is no screen: use display(image)")


def made(mode, pixels):
    image = Image()
    image.mode, image._pixels = mode, pixels
    return image


def modes():
    return ", ".join(MODES)


def checked_mode(mode):
    if mode not in MODES:
        raise ValueError(f"unrecognized image mode {mode!r}: a cell has {modes()}")


def checked_size(size):
    width, height = size
    if width != int(width) or height != int(height):
        raise TypeError("'float' object cannot be interpreted as an integer")
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE):
        raise ValueError(f"height and width must be > 0 and at most {MAX_SIDE}")
    return int(width), int(height)


def rounded_side(exact, wrong):
    return max(min(math.floor(exact), math.ceil(exact), key=wrong), 1)


def new(mode, size, color=0):
    """A picture of one colour: a number, a tuple, or a name such as "red"."""
    checked_mode(mode)
    width, height = checked_size(size)
    channels = MODES[mode]
    pixels = np.zeros((height, width) if channels == 1 else (height, width, channels), np.uint8)
    image = made(mode, pixels)
    if color:
        pixels[...] = np.array(image._color(color), dtype=np.uint8)
    return image


def fromarray(obj, mode=None):
    """A picture of an array: bool or uint8, (height, width) or (height, width, 3 or 4)."""
    array = np.asarray(obj)
    kind, shape = str(array.dtype), array.shape
    if kind == "bool" and len(shape) == 2:
        return made("1", array.astype(np.uint8) * np.uint8(255))
    channels = 1 if len(shape) == 2 else shape[2] if len(shape) == 3 else 0
    guessed = {1: "L", 3: "RGB", 4: "RGBA"}.get(channels)
    if kind != "uint8" or guessed is None:
        raise TypeError(
            f"Cannot handle this data type: shape {shape}, {kind}; give uint8, as"
            " np.clip(a, 0, 255).astype(np.uint8)"
        )
    if channels == 1 and len(shape) == 3:
        array = array[:, :, 0]
    if mode is not None:
        checked_mode(mode)
        if MODES[mode] != channels:
            raise ValueError(f"an array of shape {shape} is no picture of mode {mode}")
    return made(mode or guessed, np.ascontiguousarray(array).copy())


def frombytes(mode, size, data):
    """A picture of raw bytes, row by row from the top."""
    checked_mode(mode)
    width, height = checked_size(size)
    return made(mode, _pil.from_bytes(bytes(data), width, height, MODES[mode]))


def open(fp, mode="r", formats=None):
    """A PNG or JPEG: a file of the workspace, or one that is open."""
    if hasattr(fp, "read"):
        data = fp.read()
    else:
        with builtins.open(fp, "rb") as file:
            data = file.read()
    try:
        mode, pixels = _pil.decode(bytes(data))
    except ValueError as error:
        raise UnidentifiedImageError(f"cannot identify image file {fp!r}: {error}") from None
    return made(mode, pixels)


def merge(mode, bands):
    checked_mode(mode)
    if len(bands) != MODES[mode]:
        raise ValueError("wrong number of bands")
    if len(bands) == 1:
        return bands[0].copy()
    return made(mode, np.stack([band._pixels for band in bands], axis=2))


def blend(im1, im2, alpha):
    """im1 and im2 mixed: alpha 0 is im1, 1 is im2."""
    if im1.mode != im2.mode or im1.size != im2.size:
        raise ValueError("images do not match")
    first, second = im1._pixels.astype(np.float32), im2._pixels.astype(np.float32)
    mixed = first + np.float32(alpha) * (second - first)
    return made(im1.mode, np.clip(mixed, 0, 255).astype(np.uint8))


def composite(image1, image2, mask):
    """image1 where the mask is white, image2 where it is black."""
    image = image2.copy()
    image.paste(image1, None, mask)
    return image
