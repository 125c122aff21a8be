"""`display`: pictures for the agent."""

import _host

MAX_SIDE = 2048


def display(image, caption=""):
    """Adds a picture to what you see after the cell.

    image: an array (height, width), (height, width, 3) or (height, width, 4); a
        PIL image; or the bytes of a PNG or JPEG file. Values are 0 to 255; floats
        and masks within 0 to 1 are spread, and a (height, width) array of any
        other floats, such as heights, is shown from its lowest to its highest value
    caption: what to call it
    """
    pixels = pixels_of(image)
    height, width = pixels.shape[:2]
    if max(height, width) > MAX_SIDE:
        raise ValueError(
            f"display(): {width} x {height} pixels; {MAX_SIDE} a side at most: crop or resize it"
        )
    refusal, _, message = _host.display(list(pixels.shape), pixels.tobytes(), str(caption))
    if refusal is not None:
        raise RuntimeError(f"display(): {message}")


def pixels_of(image):
    import numpy as np

    if isinstance(image, (bytes, bytearray, memoryview)):
        import io

        from PIL import Image

        image = Image.open(io.BytesIO(bytes(image)))
    mode = getattr(image, "mode", None)
    if isinstance(mode, str) and hasattr(image, "convert"):
        image = image if mode in ("L", "RGB", "RGBA") else image.convert("RGB")
    array = np.asarray(image)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if not (array.ndim == 2 or (array.ndim == 3 and array.shape[2] in (3, 4))) or not array.size:
        raise ValueError(
            "display(): an array is (height, width), (height, width, 3) or (height, width, 4),"
            f" got shape {array.shape}"
        )
    return np.ascontiguousarray(bytes_of(array, np))


def bytes_of(array, np):
    kind = str(array.dtype)
    if kind == "uint8":
        return array
    if kind == "bool":
        return array.astype(np.uint8) * np.uint8(255)
    finite = array[np.isfinite(array)] if kind.startswith("float") else array
    if finite.size == 0:
        raise ValueError("display(): the array holds no finite number")
    low, high = float(finite.min()), float(finite.max())
    if kind.startswith("float") and low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    elif low >= 0 and high <= 255 and (array.ndim == 3 or not kind.startswith("float")):
        low, high = 0.0, 255.0
    elif array.ndim == 3 or not kind.startswith("float"):
        raise ValueError(
            f"display(): values are 0 to 255 (or 0 to 1 as floats), got {low:g} to {high:g}"
        )
    span = high - low if high > low else 1.0
    spread = (array.astype(np.float32) - low) * (255.0 / span)
    return np.nan_to_num(np.clip(spread + 0.5, 0, 255)).astype(np.uint8)
