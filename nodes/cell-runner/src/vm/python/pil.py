"""`PIL` for cells: Image, ImageDraw, ImageOps, ImageColor and a plain ImageFont."""

__version__ = "13.0.0"
