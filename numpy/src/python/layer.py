"""The parts of numpy that are compositions of others. Runs inside the module `numpy`."""

import builtins as _builtins


class finfo:
    """Limits of a floating point type."""

    _LIMITS = {
        "float16": (16, 10, 5, 3),
        "float32": (32, 23, 8, 6),
        "float64": (64, 52, 11, 15),
    }

    def __init__(self, dtype):
        if isinstance(dtype, (ndarray, generic)):
            dtype = dtype.dtype
        elif isinstance(dtype, float):
            dtype = float64
        self.dtype = _as_dtype(dtype)
        if self.dtype.kind != "f":
            raise ValueError(f"data type {self.dtype.type!r} not inexact")
        self.bits, self.nmant, self.iexp, self.precision = self._LIMITS[self.dtype.name]
        number = self.dtype.type
        self.nexp = self.iexp
        self.machep, self.negep = -self.nmant, -self.nmant - 1
        self.maxexp = 2 ** (self.iexp - 1)
        self.minexp = 2 - self.maxexp
        self.eps = number(2.0**self.machep)
        self.epsneg = number(2.0**self.negep)
        self.max = number((2.0 - 2.0**self.machep) * 2.0 ** (self.maxexp - 1))
        self.min = -self.max
        self.smallest_normal = self.tiny = number(2.0**self.minexp)
        self.smallest_subnormal = number(2.0 ** (self.minexp - self.nmant))
        self.resolution = number(10.0**-self.precision)

    def __repr__(self):
        return (
            f"finfo(resolution={self.resolution}, min={self.min}, max={self.max}, "
            f"dtype={self.dtype})"
        )


class iinfo:
    """Limits of an integer type."""

    def __init__(self, int_type):
        if isinstance(int_type, (ndarray, generic)):
            int_type = int_type.dtype
        elif isinstance(int_type, int):
            int_type = int64
        self.dtype = _as_dtype(int_type)
        self.kind = self.dtype.kind
        if self.kind not in "iu":
            raise ValueError(f"Invalid integer data type {self.kind!r}.")
        self.bits = self.dtype.itemsize * 8
        if self.kind == "u":
            self.min, self.max = 0, 2**self.bits - 1
        else:
            self.min, self.max = -(2 ** (self.bits - 1)), 2 ** (self.bits - 1) - 1

    def __repr__(self):
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


def _as_dtype(what):
    return what if isinstance(what, dtype) else dtype(what)


class errstate:
    """Sets for a `with` block what floating point trouble does: ignore, warn or raise."""

    def __init__(self, **settings):
        self._settings = settings

    def __enter__(self):
        self._before = seterr(**self._settings)
        return self

    def __exit__(self, *_):
        seterr(**self._before)

    def __call__(self, function):
        def wrapped(*args, **kwargs):
            with errstate(**self._settings):
                return function(*args, **kwargs)

        wrapped.__name__ = getattr(function, "__name__", "wrapped")
        return wrapped


class printoptions:
    """Sets for a `with` block how arrays are printed."""

    def __init__(self, **options):
        self._options = options

    def __enter__(self):
        self._before = get_printoptions()
        set_printoptions(**self._options)
        return get_printoptions()

    def __exit__(self, *_):
        set_printoptions(**self._before)


class vectorize:
    """Calls a Python function for every element of its broadcast arguments."""

    def __init__(
        self, pyfunc=None, otypes=None, doc=None, excluded=None, cache=False, signature=None
    ):
        if signature is not None:
            raise NotImplementedError(
                "RuaFlow's numpy has no vectorize(signature=...); nearest: apply_along_axis"
            )
        if isinstance(otypes, str):
            otypes = [dtype(one) for one in otypes]
        self.pyfunc, self.otypes, self.excluded = pyfunc, otypes, excluded or ()
        self.__doc__ = doc if doc is not None else getattr(pyfunc, "__doc__", None)
        self.__name__ = getattr(pyfunc, "__name__", "vectorize")

    def __call__(self, *args, **kwargs):
        if self.pyfunc is None:
            # The decorator with arguments: @vectorize(otypes=[float])
            return vectorize(args[0], otypes=self.otypes, excluded=self.excluded)
        varied = [at for at in range(len(args)) if at not in self.excluded]
        names = [name for name in kwargs if name not in self.excluded]
        arrays = [asarray(args[at]) for at in varied] + [asarray(kwargs[name]) for name in names]
        if not arrays:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        arrays = broadcast_arrays(*arrays)
        shape = arrays[0].shape
        positional, named = list(args), dict(kwargs)
        results = []
        for values in zip(*[one.ravel() for one in arrays]):
            for at, value in zip(varied, values):
                positional[at] = value
            for name, value in zip(names, values[len(varied) :]):
                named[name] = value
            results.append(self.pyfunc(*positional, **named))
        if not results:
            if self.otypes is None:
                raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
            made = [empty(shape, one) for one in self.otypes]
            return made[0] if len(made) == 1 else tuple(made)
        types = self.otypes
        if isinstance(results[0], tuple):
            columns = list(zip(*results))
            types = types or [asarray(column[0]).dtype for column in columns]
            return tuple(
                array(column, dtype=one).reshape(shape)[()] for column, one in zip(columns, types)
            )
        one = types[0] if types else asarray(results[0]).dtype
        return array(results, dtype=one).reshape(shape)[()]


def frompyfunc(func, /, nin, nout):
    """As vectorize; RuaFlow's numpy has no object arrays, so the result has a number type."""
    return vectorize(func)


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """Applies a function to one-dimensional slices along an axis."""
    arr = asanyarray(arr)
    axis = _normal_axis(axis, arr.ndim)
    moved = moveaxis(arr, axis, -1)
    outer = moved.shape[:-1]
    results = [asarray(func1d(moved[at], *args, **kwargs)) for at in ndindex(outer)]
    if not results:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    inner = results[0].ndim
    joined = stack(results).reshape(outer + results[0].shape)
    for offset in range(inner):
        joined = moveaxis(joined, len(outer) + offset, axis + offset)
    return joined


def apply_over_axes(func, a, axes):
    """Applies a reduction over several axes, one after the other."""
    result = asarray(a)
    for axis in [axes] if isinstance(axes, int) else axes:
        axis = _normal_axis(axis, result.ndim)
        reduced = asarray(func(result, axis))
        result = reduced if reduced.ndim == result.ndim else expand_dims(reduced, axis)
    return result


def _normal_axis(axis, ndim):
    axis = axis.__index__()
    if not -ndim <= axis < ndim:
        raise exceptions.AxisError(axis, ndim)
    return axis % ndim if ndim else 0


def fromfunction(function, shape, *, dtype=float, like=None, **kwargs):
    """Calls a function once, with arrays of the indices."""
    return function(*indices(shape, dtype=dtype), **kwargs)


def fromiter(iter, dtype, count=-1, *, like=None):
    """A one-dimensional array of what an iterable yields."""
    values = []
    for value in iter:
        if len(values) == count:
            break
        values.append(value)
    if len(values) < count:
        raise ValueError(
            f"iterator too short: Expected {count} but iterator had only {len(values)} items."
        )
    return array(values, dtype=dtype)


def piecewise(x, condlist, funclist, *args, **kw):
    """A function defined by parts."""
    x = asanyarray(x)
    if isscalar(condlist) or not (isinstance(condlist[0], (list, ndarray)) or x.ndim == 0):
        condlist = [condlist]
    conditions = [asarray(one, dtype=bool) for one in condlist]
    functions = list(funclist)
    if len(functions) == len(conditions) + 1:
        rest = ones(x.shape, dtype=bool)
        for one in conditions:
            rest &= ~one
        conditions.append(rest)
    elif len(functions) != len(conditions):
        raise ValueError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or "
            f"{len(conditions) + 1} functions are expected"
        )
    result = zeros_like(x)
    for condition, function in zip(conditions, functions):
        if callable(function):
            values = x[condition]
            if values.size:
                result[condition] = function(values, *args, **kw)
        else:
            result[condition] = function
    return result


class ndenumerate:
    """Pairs of index and element."""

    def __init__(self, arr):
        self._values = asarray(arr)
        self._pairs = zip(ndindex(self._values.shape), self._values.flat)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._pairs)


class ndindex:
    """All indices of an array of this shape, the last one fastest."""

    def __init__(self, *shape):
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            shape = tuple(shape[0])
        if any([length < 0 for length in shape]):
            raise ValueError("negative dimensions are not allowed")
        self._shape = shape
        self._indices = self._walk(shape)

    def _walk(self, shape):
        if 0 in shape:
            return
        at = [0] * len(shape)
        while True:
            yield tuple(at)
            for axis in range(len(shape) - 1, -1, -1):
                at[axis] += 1
                if at[axis] < shape[axis]:
                    break
                at[axis] = 0
            else:
                return

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._indices)


def broadcast_arrays(*args, subok=False):
    """The arrays, each as a view of their common shape."""
    arrays = [asarray(one) for one in args]
    shape = broadcast_shapes(*[one.shape for one in arrays])
    return tuple([one if one.shape == shape else broadcast_to(one, shape) for one in arrays])


def array_equiv(a1, a2):
    """Whether two arrays are equal after broadcasting."""
    try:
        a1, a2 = broadcast_arrays(a1, a2)
    except ValueError:
        return False
    return _builtins.bool((a1 == a2).all())


def isscalar(element):
    """Whether something is a number, a string or bytes and no array."""
    return isinstance(element, (generic, int, float, complex, str, bytes))


def iterable(y):
    """Whether something can be iterated."""
    try:
        iter(y)
    except TypeError:
        return False
    return True


def ndim(a):
    """The number of dimensions."""
    return asarray(a).ndim


def shape(a):
    """The lengths of the dimensions."""
    return asarray(a).shape


def size(a, axis=None):
    """The number of elements, or the length of one dimension."""
    a = asarray(a)
    if axis is None:
        return a.size
    if isinstance(axis, tuple):
        count = 1
        for one in axis:
            count *= a.shape[_normal_axis(one, a.ndim)]
        return count
    return a.shape[_normal_axis(axis, a.ndim)]


def _flat_writable(a):
    if not isinstance(a, ndarray):
        raise TypeError(f"argument 1 must be numpy.ndarray, not {type(a).__name__}")
    return a.flat


def put(a, ind, v, mode="raise"):
    """Sets elements at flat indices; short values repeat."""
    flat = _flat_writable(a)
    ind = asarray(ind).ravel()
    v = asarray(v).ravel()
    if not ind.size:
        return
    if not v.size:
        return
    if mode == "clip":
        ind = clip(ind, 0, a.size - 1)
    elif mode == "wrap":
        ind = ind % a.size
    flat[ind] = resize(v, ind.shape)


def place(arr, mask, vals):
    """Sets where a mask is true, from values that repeat."""
    mask = asarray(mask, dtype=bool)
    count = count_nonzero(mask)
    if not count:
        return
    vals = asarray(vals).ravel()
    if not vals.size:
        raise ValueError("Cannot insert from an empty array!")
    _flat_writable(arr)[mask.ravel()] = resize(vals, (count,))


def putmask(a, mask, values):
    """Sets where a mask is true, from the same places of the values."""
    flat = _flat_writable(a)
    mask = asarray(mask, dtype=bool).ravel()
    flat[mask] = resize(asarray(values), (a.size,))[mask]


def copyto(dst, src, casting="same_kind", where=True):
    """Copies values into an array."""
    if not isinstance(dst, ndarray):
        raise TypeError(f"copyto() argument 1 must be numpy.ndarray, not {type(dst).__name__}")
    if isinstance(src, (ndarray, generic)) and not can_cast(src.dtype, dst.dtype, casting):
        raise TypeError(
            f"Cannot cast array data from {src.dtype!r} to {dst.dtype!r} "
            f"according to the rule {casting!r}"
        )
    if where is True:
        dst[...] = src
        return
    mask = broadcast_to(asarray(where), dst.shape)
    dst[mask] = broadcast_to(asarray(src), dst.shape)[mask]


def fill_diagonal(a, val, wrap=False):
    """Sets the main diagonal."""
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim == 2:
        step = a.shape[1] + 1
        end = None if wrap else a.shape[1] * a.shape[1]
    else:
        if len({*a.shape}) != 1:
            raise ValueError("All dimensions of input must be of equal length")
        step = 1 + _builtins.sum([a.shape[0] ** power for power in range(1, a.ndim)])
        end = None
    flat = a.flat
    places = arange(0, a.size, step) if end is None else arange(0, _builtins.min(end, a.size), step)
    flat[places] = resize(asarray(val), places.shape) if iterable(val) else val


def resize(a, new_shape):
    """The elements, repeated as often as a shape needs them."""
    if isinstance(new_shape, (int, integer)):
        new_shape = (new_shape,)
    flat = ravel(a)
    count = 1
    for length in new_shape:
        if length < 0:
            raise ValueError("all elements of `new_shape` must be non-negative")
        count *= length
    if flat.size == 0 or count == 0:
        return zeros(new_shape, dtype=flat.dtype)
    if flat.size == count:
        return flat.reshape(new_shape).copy()
    return flat[arange(count) % flat.size].reshape(new_shape)


def block(arrays):
    """Joins nested lists of blocks: the innermost along the last axis."""

    def depth(part):
        return 1 + _builtins.max([depth(one) for one in part]) if isinstance(part, list) else 0

    levels = depth(arrays)
    dims = levels

    def widest(part):
        if isinstance(part, list):
            if not part:
                raise ValueError("List at arrays cannot be empty")
            return _builtins.max([widest(one) for one in part])
        return asarray(part).ndim

    dims = _builtins.max(levels, widest(arrays))

    def join(part, level):
        if not isinstance(part, list):
            return array(part, ndmin=dims)
        return concatenate([join(one, level + 1) for one in part], axis=-(levels - level))

    return join(arrays, 0)


def ix_(*args):
    """Open mesh of index vectors: a[ix_(rows, columns)] is the sub-grid."""
    result = []
    for at, sequence in enumerate(args):
        vector = asarray(sequence)
        if vector.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if vector.dtype == bool:
            vector = vector.nonzero()[0]
        elif vector.size == 0:
            vector = vector.astype(int64)
        result.append(vector.reshape((1,) * at + (-1,) + (1,) * (len(args) - at - 1)))
    return tuple(result)


def unravel_index(indices, shape, order="C"):
    """Flat indices as a tuple of indices, one an axis."""
    if isinstance(shape, (int, integer)):
        shape = (shape,)
    flat = asarray(indices)
    if flat.dtype.kind not in "iu" and flat.size:
        raise TypeError("only int indices permitted")
    flat = flat.astype(int64)
    count = 1
    for length in shape:
        count *= int(length)
    bad = flat[(flat < 0) | (flat >= count)]
    if bad.size:
        raise ValueError(f"index {bad.ravel()[0]} is out of bounds for array with size {count}")
    result = []
    for length in reversed(shape) if order == "C" else shape:
        result.append((flat % length)[()])
        flat = flat // length
    return tuple(reversed(result)) if order == "C" else tuple(result)


def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    """Flat indices of index arrays, one an axis."""
    if isinstance(dims, (int, integer)):
        dims = (dims,)
    columns = [asarray(one) for one in multi_index]
    if len(columns) != len(dims):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(dims)}")
    flat = zeros(broadcast_shapes(*[one.shape for one in columns]), dtype=int64)
    pairs = list(zip(columns, dims))
    for column, length in pairs if order == "C" else reversed(pairs):
        if mode == "raise" and ((column < 0) | (column >= length)).any():
            raise ValueError("invalid entry in coordinates array")
        if mode == "clip":
            column = clip(column, 0, length - 1)
        elif mode == "wrap":
            column = column % length
        flat = flat * length + column
    return flat[()]


def trim_zeros(filt, trim="fb", axis=None):
    """A vector without the zeros at its ends."""
    places = flatnonzero(asarray(filt))
    first, last = 0, len(filt)
    if not places.size:
        return filt[:0]
    if "f" in trim.lower():
        first = int(places[0])
    if "b" in trim.lower():
        last = int(places[-1]) + 1
    return filt[first:last]


def unwrap(p, discont=None, axis=-1, *, period=6.283185307179586):
    """Angles without jumps of more than half a period."""
    p = asarray(p)
    steps = diff(p, axis=axis)
    discont = period / 2 if discont is None else discont
    if result_type(p, period).kind == "i":
        half, remainder_ = divmod(period, 2)
        ambiguous = remainder_ == 0
    else:
        half, ambiguous = period / 2, True
    wrapped = mod(steps + half, period) - half
    if ambiguous:
        wrapped = where((wrapped == -half) & (steps > 0), half, wrapped)
    correction = where(abs(steps) < discont, 0, wrapped - steps)
    result = array(p, dtype=result_type(p, period))
    rest = [slice(None)] * p.ndim
    rest[axis] = slice(1, None)
    result[tuple(rest)] = p[tuple(rest)] + correction.cumsum(axis)
    return result


def sinc(x):
    """sin(pi x) / (pi x)."""
    x = asanyarray(x)
    angle_ = pi * where(x == 0, 1.0e-20, x)
    return (sin(angle_) / angle_)[()]


def _window(M, make):
    if M < 1:
        return array([], dtype=float64)
    if M == 1:
        return ones(1)
    return make(arange(1 - M, M, 2), M)


def hanning(M):
    """The Hann window."""
    return _window(M, lambda n, M: 0.5 + 0.5 * cos(pi * n / (M - 1)))


def hamming(M):
    """The Hamming window."""
    return _window(M, lambda n, M: 0.54 + 0.46 * cos(pi * n / (M - 1)))


def blackman(M):
    """The Blackman window."""
    return _window(
        M,
        lambda n, M: 0.42 + 0.5 * cos(pi * n / (M - 1)) + 0.08 * cos(2.0 * pi * n / (M - 1)),
    )


def bartlett(M):
    """The triangular window."""
    return _window(M, lambda n, M: where(less_equal(n, 0), 1 + n / (M - 1), 1 - n / (M - 1)))


def compress(condition, a, axis=None, out=None):
    """Slices along an axis where a condition holds."""
    condition = asarray(condition, dtype=bool)
    if condition.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    return take(a, flatnonzero(condition), axis=axis)


def extract(condition, arr):
    """Elements where a condition holds."""
    return take(ravel(arr), flatnonzero(ravel(condition)))


def choose(a, choices, out=None, mode="raise"):
    """Picks each element from one of several arrays."""
    a = asarray(a)
    arrays = [asarray(one) for one in choices]
    if mode == "wrap":
        a = a % len(arrays)
    elif mode == "clip":
        a = clip(a, 0, len(arrays) - 1)
    elif ((a < 0) | (a >= len(arrays))).any():
        raise ValueError("invalid entry in choice array")
    a, *arrays = broadcast_arrays(a, *arrays)
    stacked = stack(arrays)
    return take_along_axis(stacked, a[newaxis].astype(int64), 0)[0]


def real(val):
    """The real part: the array itself, for there are no complex numbers here."""
    return asanyarray(val)[()]


def imag(val):
    """The imaginary part: zeros."""
    return zeros_like(asanyarray(val))[()]


def isreal(x):
    """Whether elements are real: all are."""
    return ones(shape(x), dtype=bool)[()]


def iscomplex(x):
    """Whether elements are complex: none is."""
    return zeros(shape(x), dtype=bool)[()]


def isrealobj(x):
    """Whether an array has a real type: each has."""
    return True


def iscomplexobj(x):
    """Whether an array has a complex type: none has."""
    return False


def asarray_chkfinite(a, dtype=None, order=None):
    """An array; ValueError for NaN and infinity."""
    a = asarray(a, dtype=dtype)
    if a.dtype.kind == "f" and not isfinite(a).all():
        raise ValueError("array must not contain infs or NaNs")
    return a


def vander(x, N=None, increasing=False):
    """Powers of a vector, one a column."""
    x = asarray(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    N = len(x) if N is None else N
    result = empty((len(x), N), dtype=promote_types(x.dtype, int))
    view = result if increasing else result[:, ::-1]
    if N > 0:
        view[:, 0] = 1
    for power_ in range(1, N):
        view[:, power_] = view[:, power_ - 1] * x
    return result


def roots(p):
    """The roots of a polynomial; only real ones can be given."""
    p = atleast_1d(p)
    if p.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    places = flatnonzero(p)
    if not len(places):
        return array([])
    trailing = len(p) - places[-1] - 1
    p = p[int(places[0]) : int(places[-1]) + 1].astype(float)
    if len(p) > 1:
        companion = diag(ones(len(p) - 2), -1)
        companion[0, :] = -p[1:] / p[0]
        found = linalg.eigvals(companion)
    else:
        found = array([])
    return hstack((found, zeros(int(trailing))))


def polyder(p, m=1):
    """The derivative of a polynomial."""
    p = asarray(p)
    for _ in range(m):
        p = p[:-1] * arange(len(p) - 1, 0, -1)
    return p


def polyint(p, m=1, k=None):
    """The integral of a polynomial."""
    p = asarray(p)
    constants = [0.0] * m if k is None else atleast_1d(k).tolist()
    if len(constants) == 1:
        constants = constants * m
    for constant in constants[:m]:
        p = concatenate((p / arange(len(p), 0, -1), [constant]))
    return p


def polyadd(a1, a2):
    """The sum of two polynomials."""
    a1, a2 = atleast_1d(a1), atleast_1d(a2)
    longer = _builtins.max(len(a1), len(a2))
    return concatenate((zeros(longer - len(a1), a1.dtype), a1)) + concatenate(
        (zeros(longer - len(a2), a2.dtype), a2)
    )


def polysub(a1, a2):
    """The difference of two polynomials."""
    return polyadd(a1, negative(atleast_1d(a2)))


def polymul(a1, a2):
    """The product of two polynomials."""
    return convolve(a1, a2)


def show_config(mode="stdout"):
    """Says what this numpy is."""
    print("RuaFlow's numpy: a native module of the cell's Python, no BLAS, no LAPACK")


def _results():
    from collections import namedtuple

    for name, fields in [
        ("EigResult", "eigenvalues eigenvectors"),
        ("EighResult", "eigenvalues eigenvectors"),
        ("SlogdetResult", "sign logabsdet"),
        ("QRResult", "Q R"),
        ("SVDResult", "U S Vh"),
    ]:
        setattr(linalg, name, namedtuple(name, fields))


_results()


def modf(x, /, out=None):
    """Fractional and whole parts."""
    x = asanyarray(x)
    whole = trunc(x).astype(result_type(x, 1.0))
    fraction = where(isinf(x), 0.0, x - whole) if x.dtype.kind == "f" else x - whole
    return copysign(fraction, x)[()], whole[()]


def tril_indices(n, k=0, m=None):
    """Indices of the lower triangle."""
    return nonzero(tri(n, m, k=k, dtype=bool))


def triu_indices(n, k=0, m=None):
    """Indices of the upper triangle."""
    return nonzero(~tri(n, m, k=k - 1, dtype=bool))


def tril_indices_from(arr, k=0):
    """Indices of an array's lower triangle."""
    return tril_indices(arr.shape[-2], k=k, m=arr.shape[-1])


def triu_indices_from(arr, k=0):
    """Indices of an array's upper triangle."""
    return triu_indices(arr.shape[-2], k=k, m=arr.shape[-1])


def diag_indices(n, ndim=2):
    """Indices of the main diagonal."""
    return (arange(n),) * ndim


def diag_indices_from(arr):
    """Indices of an array's main diagonal."""
    return diag_indices(arr.shape[0], arr.ndim)


def astype(x, dtype, /, *, copy=True, device=None):
    """An array's astype as a function."""
    return x.astype(dtype, copy=copy)


def isfortran(a):
    """Whether an array lies in Fortran order only."""
    return a.flags.f_contiguous and not a.flags.c_contiguous


def min_scalar_type(a, /):
    """The smallest type that holds a scalar; an array's own type."""
    value = asarray(a)
    if value.ndim or value.dtype == bool:
        return value.dtype
    if value.dtype.kind == "f":
        for one in (float16, float32):
            if not isfinite(value) or abs(value) <= finfo(one).max:
                return dtype(one)
        return dtype(float64)
    return dtype(uint8) if 0 <= value <= 255 else dtype(int32 if abs(value) < 2**31 else int64)
