"""`PIL.ImageColor` for cells: colours by number, tuple or name."""

NAMES = {
    "black": (0, 0, 0),
    "white": (255, 255, 255),
    "red": (255, 0, 0),
    "green": (0, 128, 0),
    "lime": (0, 255, 0),
    "blue": (0, 0, 255),
    "yellow": (255, 255, 0),
    "cyan": (0, 255, 255),
    "aqua": (0, 255, 255),
    "magenta": (255, 0, 255),
    "fuchsia": (255, 0, 255),
    "gray": (128, 128, 128),
    "grey": (128, 128, 128),
    "silver": (192, 192, 192),
    "maroon": (128, 0, 0),
    "olive": (128, 128, 0),
    "purple": (128, 0, 128),
    "teal": (0, 128, 128),
    "navy": (0, 0, 128),
    "orange": (255, 165, 0),
    "pink": (255, 192, 203),
    "brown": (165, 42, 42),
}


def getrgb(color):
    """(red, green, blue), or with alpha, of a name or "#rrggbb"."""
    text = color.lower()
    if text in NAMES:
        return NAMES[text]
    digits = text[1:]
    if text.startswith("#") and len(digits) in (3, 4, 6, 8):
        size = 1 if len(digits) < 5 else 2
        try:
            parts = [int(digits[i : i + size], 16) for i in range(0, len(digits), size)]
        except ValueError:
            parts = []
        if parts:
            return tuple(part * 17 if size == 1 else part for part in parts)
    if text.startswith(("rgb(", "rgba(")) and text.endswith(")"):
        try:
            return tuple(int(part) for part in text[text.index("(") + 1 : -1].split(","))
        except ValueError:
            pass
    raise ValueError(
        f"unknown color specifier: {color!r}; there are {', '.join(NAMES)}, and #rrggbb"
    )


def getcolor(color, mode):
    """A colour as a pixel of the mode."""
    given = color
    if isinstance(given, str):
        given = getrgb(given)
        if mode in ("1", "L"):
            red, green, blue = given[:3]
            given = (red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16
    if mode in ("1", "L"):
        value = given[0] if isinstance(given, (tuple, list)) else given
        value = int(value)
        return 255 * (value != 0) if mode == "1" else max(0, min(255, value))
    channels = 4 if mode == "RGBA" else 3
    if not isinstance(given, (tuple, list)):
        given = int(given)
        given = (given & 255, given >> 8 & 255, given >> 16 & 255, given >> 24 & 255)[:channels]
    given = tuple(max(0, min(255, int(value))) for value in given)
    if len(given) == 3 and channels == 4:
        given = (*given, 255)
    if len(given) == 4 and channels == 3:
        given = given[:3]
    if len(given) != channels:
        raise TypeError(f"color must be int, or tuple of {channels} elements")
    return given
