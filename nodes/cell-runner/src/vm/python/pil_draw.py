"""`PIL.ImageDraw` for cells: to mark places in a picture before it is shown."""

import itertools
import math

import numpy as np

from . import ImageFont


class ImageDraw:
    """Draws into a picture; made by `Draw(image)`."""

    def __init__(self, image):
        self._image = image

    def _ink(self, ink, other=None):
        if ink is None:
            ink = other
        if ink is None:
            ink = 255 if self._image.mode in ("1", "L") else (255,) * len(self._image.getbands())
        return np.array(self._image._color(ink), dtype=np.uint8)

    def _span(self, y, x0, x1, ink):
        """Pixels x0 to x1, both included, of row y."""
        x0, x1 = max(x0, 0), min(x1, self._image.width - 1)
        if 0 <= y < self._image.height and x0 <= x1:
            self._image._pixels[y, x0 : x1 + 1] = ink

    def _dot(self, x, y, ink):
        self._span(y, x, x, ink)

    def point(self, xy, fill=None):
        ink = self._ink(fill)
        for x, y in points(xy):
            self._dot(int(x), int(y), ink)

    def line(self, xy, fill=None, width=0, joint=None):
        ink = self._ink(fill)
        corners = points(xy)
        for start, end in itertools.pairwise(corners):
            if width <= 1:
                for x, y in straight(start, end):
                    self._dot(x, y, ink)
            else:
                self._fill(thick(start, end, width), ink)
        if joint == "curve" and width > 4:
            for x, y in corners[1:-1]:
                half = width / 2
                self.ellipse((x - half, y - half, x + half, y + half), fill)

    def rectangle(self, xy, fill=None, outline=None, width=1):
        x0, y0, x1, y1 = (math.floor(edge) for edge in box_of(xy))
        if fill is not None:
            ink = self._ink(fill)
            for y in range(max(y0, 0), min(y1, self._image.height - 1) + 1):
                self._span(y, x0, x1, ink)
        if width and (outline is not None or fill is None):
            ink = self._ink(outline)
            for inset in range(width):
                for y in (y0 + inset, y1 - inset):
                    self._span(y, x0, x1, ink)
            for y in range(max(y0, 0), min(y1, self._image.height - 1) + 1):
                self._span(y, x0, min(x0 + width - 1, x1), ink)
                self._span(y, max(x1 - width + 1, x0), x1, ink)

    def ellipse(self, xy, fill=None, outline=None, width=1):
        x0, y0, x1, y1 = box_of(xy)
        if fill is not None:
            self._ring(x0, y0, x1, y1, None, self._ink(fill))
        if width and (outline is not None or fill is None):
            self._ring(x0, y0, x1, y1, width, self._ink(outline))

    def circle(self, xy, radius, fill=None, outline=None, width=1):
        x, y = xy
        self.ellipse((x - radius, y - radius, x + radius, y + radius), fill, outline, width)

    def _ring(self, x0, y0, x1, y1, width, ink):
        image = self._image
        left, right = max(math.floor(x0), 0), min(math.ceil(x1), image.width - 1)
        top, bottom = max(math.floor(y0), 0), min(math.ceil(y1), image.height - 1)
        if left > right or top > bottom:
            return
        x = np.arange(left, right + 1) - (x0 + x1) / 2
        y = (np.arange(top, bottom + 1) - (y0 + y1) / 2)[:, None]

        def inside(inset):
            across, down = (x1 - x0 + 1) / 2 - inset, (y1 - y0 + 1) / 2 - inset
            if across <= 0 or down <= 0:
                return np.zeros((bottom - top + 1, right - left + 1), dtype=bool)
            return (x / across) ** 2 + (y / down) ** 2 <= 1

        mask = inside(0) if width is None else inside(0) & ~inside(width)
        image._pixels[top : bottom + 1, left : right + 1][mask] = ink

    def polygon(self, xy, fill=None, outline=None, width=1):
        corners = points(xy)
        if fill is not None:
            self._fill(corners, self._ink(fill))
        if outline is not None or fill is None:
            self.line([*corners, corners[0]], outline, width)

    def _fill(self, corners, ink):
        """Fills rows between crossings of their middle, and draws the edges."""
        edges = list(itertools.pairwise([*corners, corners[0]]))
        first = max(math.floor(min(y for _, y in corners)), 0)
        last = min(math.ceil(max(y for _, y in corners)), self._image.height - 1)
        for row in range(first, last + 1):
            cuts = []
            for (x0, y0), (x1, y1) in edges:
                if (y0 <= row) != (y1 <= row):
                    cuts.append(x0 + (row - y0) * (x1 - x0) / (y1 - y0))
            cuts.sort()
            for start, end in zip(cuts[::2], cuts[1::2], strict=False):
                self._span(row, math.ceil(start), math.floor(end), ink)
        for start, end in edges:
            for x, y in straight(start, end):
                self._dot(x, y, ink)

    def text(self, xy, text, fill=None, font=None, anchor=None, spacing=4, **options):
        """Writes in one plain font, about as high as the font's size says."""
        font = font or ImageFont.load_default(options.get("font_size"))
        ink = self._ink(fill)
        left, top = (int(at) for at in xy)
        width, height = self._extent(text, font, spacing)
        if anchor:
            left -= {"m": width // 2, "r": width}.get(anchor[0], 0)
            top -= {"m": height // 2, "s": height, "b": height, "d": height}.get(anchor[1:], 0)
        for line in str(text).split("\n"):
            for x, y in font.points(line):
                for row in range(font.scale):
                    start = left + x
                    self._span(top + y + row, start, start + font.scale - 1, ink)
            top += ImageFont.ROWS * font.scale + spacing

    def textbbox(self, xy, text, font=None, anchor=None, spacing=4, **options):
        font = font or ImageFont.load_default(options.get("font_size"))
        width, height = self._extent(text, font, spacing)
        return (xy[0], xy[1], xy[0] + width, xy[1] + height)

    def textlength(self, text, font=None, **options):
        return (font or ImageFont.load_default(options.get("font_size"))).getlength(text)

    @staticmethod
    def _extent(text, font, spacing):
        lines = str(text).split("\n")
        height = len(lines) * (ImageFont.ROWS * font.scale + spacing) - spacing
        return max(font.getlength(line) for line in lines), height


def Draw(im, mode=None):
    return ImageDraw(im)


def points(xy):
    """(x, y) pairs of a list of pairs or of a flat list."""
    xy = [*xy]
    if xy and not isinstance(xy[0], (int, float, np.integer, np.floating)):
        return [(x, y) for x, y in xy]
    if len(xy) % 2:
        raise ValueError("coordinate list must contain an even number of numbers")
    return list(zip(xy[::2], xy[1::2], strict=True))


def box_of(xy):
    (x0, y0), (x1, y1) = points(xy)
    if x1 < x0:
        raise ValueError("x1 must be greater than or equal to x0")
    if y1 < y0:
        raise ValueError("y1 must be greater than or equal to y0")
    return x0, y0, x1, y1


def straight(start, end):
    """The pixels between two points, by Bresenham's algorithm, both included."""
    (x, y), (x1, y1) = ((int(at) for at in point) for point in (start, end))
    x1, y1 = clamped(x1), clamped(y1)
    x, y = clamped(x), clamped(y)
    across, down = abs(x1 - x), abs(y1 - y)
    right, below = (1 if x1 >= x else -1), (1 if y1 >= y else -1)
    steep = down >= across
    long, short = (down, across) if steep else (across, down)
    error = 2 * short - long
    for _ in range(long):
        yield x, y
        if error >= 0:
            x, y = (x + right, y) if steep else (x, y + below)
            error -= 2 * long
        error += 2 * short
        x, y = (x, y + below) if steep else (x + right, y)
    yield x1, y1


def clamped(at):
    """Far outside of any picture is far enough."""
    return max(-20_000, min(20_000, at))


def thick(start, end, width):
    """The corners of a line that is so many pixels wide."""
    (x0, y0), (x1, y1) = start, end
    length = math.hypot(x1 - x0, y1 - y0) or 1.0
    across, down = (y1 - y0) / length, (x1 - x0) / length
    half = (width - 1) / 2
    return [
        (x0 - across * half, y0 + down * half),
        (x1 - across * half, y1 + down * half),
        (x1 + across * half, y1 - down * half),
        (x0 + across * half, y0 - down * half),
    ]
