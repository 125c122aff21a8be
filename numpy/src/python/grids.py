"""The index tricks: s_, r_, c_, mgrid, ogrid."""


class _IndexExpression:
    """`s_[1:2, ...]` is the index itself."""

    def __init__(self, maketuple):
        self.maketuple = maketuple

    def __getitem__(self, item):
        return (item,) if self.maketuple and not isinstance(item, tuple) else item


s_ = _IndexExpression(False)
index_exp = _IndexExpression(True)


def _stretch(part):
    """A slice as numbers: a step `5j` counts the points and includes the end."""
    start = 0 if part.start is None else part.start
    step = 1 if part.step is None else part.step
    if part.stop is None:
        raise TypeError("a slice in r_, c_, mgrid or ogrid needs an end")
    if isinstance(step, complex):
        return linspace(start, part.stop, int(_builtins.abs(step)))
    return arange(start, part.stop, step)


class _Concatenator:
    def __init__(self, columns):
        self._columns = columns

    def __getitem__(self, key):
        parts = key if isinstance(key, tuple) else (key,)
        axis, dims, place = (-1, 2, 0) if self._columns else (0, 1, -1)
        if parts and isinstance(parts[0], str):
            if parts[0] in ("r", "c"):
                raise NotImplementedError(
                    f"RuaFlow's numpy has no matrix for r_[{parts[0]!r}]; nearest: hstack, vstack"
                )
            numbers = [int(one) for one in parts[0].split(",")]
            axis = numbers[0]
            if len(numbers) > 1:
                dims = numbers[1]
            if len(numbers) > 2:
                place = numbers[2]
            parts = parts[1:]
        pieces = []
        scalars = []
        for part in parts:
            scalar = isscalar(part)
            piece = _stretch(part) if isinstance(part, slice) else asarray(part)
            if piece.ndim < dims:
                before = place if place >= 0 else dims - piece.ndim + place + 1
                lengths = [1] * (dims - piece.ndim)
                lengths[before:before] = piece.shape
                piece = piece.reshape(lengths)
            pieces.append(piece)
            scalars.append(part if scalar else piece)
        joined = result_type(*scalars)
        return concatenate([piece.astype(joined, copy=False) for piece in pieces], axis=axis)

    def __len__(self):
        return 0


r_ = _Concatenator(False)
c_ = _Concatenator(True)


class _Grid:
    def __init__(self, sparse):
        self._sparse = sparse

    def __getitem__(self, key):
        if isinstance(key, slice):
            return _stretch(key)
        axes = [_stretch(part) for part in key]
        common = result_type(*axes)
        axes = [axis.astype(common, copy=False) for axis in axes]
        if self._sparse:
            count = len(axes)
            return tuple(
                [
                    axis.reshape((1,) * at + (-1,) + (1,) * (count - at - 1))
                    for at, axis in enumerate(axes)
                ]
            )
        return stack(meshgrid(*axes, indexing="ij"))


mgrid = _Grid(False)
ogrid = _Grid(True)
