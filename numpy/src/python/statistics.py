"""Statistics and signals that are compositions. Runs inside the module `numpy`."""


def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """The mean, of values that may weigh differently."""
    a = asanyarray(a)
    if weights is None:
        result = mean(a, axis, keepdims=keepdims)
        total = asanyarray(result).dtype.type(a.size / asanyarray(result).size)
    else:
        weights = asanyarray(weights)
        kind = result_type(a.dtype, weights.dtype)
        if a.dtype.kind in "biu":
            kind = result_type(kind, float64)
        if a.shape != weights.shape:
            if axis is None:
                raise TypeError("Axis must be specified when shapes of a and weights differ.")
            if weights.ndim != 1 or weights.shape[0] != a.shape[_normal_axis(axis, a.ndim)]:
                raise ValueError(
                    "Shape of weights must be consistent with shape of a along specified axis."
                )
            spread = [1] * a.ndim
            spread[axis] = -1
            weights = broadcast_to(weights.reshape(spread), a.shape)
        total = sum(weights, axis, dtype=kind, keepdims=keepdims)
        if any(total == 0.0):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        result = multiply(a, weights, dtype=kind).sum(axis, keepdims=keepdims) / total
    if returned:
        return result, broadcast_to(total, shape(result)).copy()[()]
    return result


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    """The covariance matrix."""
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    m = asarray(m)
    if m.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    kind = result_type(m, float64) if dtype is None else dtype
    X = array(m, ndmin=2, dtype=kind)
    if not rowvar and m.ndim != 1:
        X = X.T
    if X.shape[0] == 0:
        return array([]).reshape(0, 0)
    if y is not None:
        y = array(y, ndmin=2, dtype=kind)
        X = concatenate((X, y.T if not rowvar and y.shape[0] != 1 else y), axis=0)
    if ddof is None:
        ddof = 0 if bias else 1
    w = None
    if fweights is not None:
        w = asarray(fweights, dtype=float)
    if aweights is not None:
        aweights = asarray(aweights, dtype=float)
        w = aweights if w is None else w * aweights
    centre, weight = average(X, axis=1, weights=w, returned=True)
    weight = weight[0]
    if w is None:
        factor = X.shape[1] - ddof
    elif ddof == 0:
        factor = weight
    elif aweights is None:
        factor = weight - ddof
    else:
        factor = weight - ddof * sum(w * aweights) / weight
    if factor <= 0:
        import warnings

        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=2)
        factor = 0.0
    X = X - centre[:, None]
    X_T = X.T if w is None else (X * w).T
    return (dot(X, X_T) * true_divide(1, factor)).squeeze()


def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    """The correlation coefficients."""
    c = cov(x, y, rowvar, dtype=dtype)
    if ndim(c) == 0:
        return c / c
    deviation = sqrt(diag(c))
    c = c / deviation[:, None]
    c = c / deviation[None, :]
    return clip(c, -1, 1)


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """Where the bins of a histogram begin and end."""
    a = asarray(a).ravel()
    if isinstance(bins, str):
        raise NotImplementedError(
            f"RuaFlow's numpy chooses no bins by {bins!r}; nearest: a number of bins, or edges"
        )
    if ndim(bins) == 1:
        edges = asarray(bins)
        if any(edges[:-1] > edges[1:]):
            raise ValueError("`bins` must increase monotonically, when an array")
        return edges
    if ndim(bins) != 0:
        raise ValueError("`bins` must be 1d, when an array")
    if isinstance(bins, (float, floating)):
        raise TypeError("`bins` must be an integer, a string, or an array")
    if bins < 1:
        raise ValueError("`bins` must be positive, when an integer")
    low, high = _range(a, range)
    kind = result_type(low, high, a)
    if kind.kind in "biu":
        kind = result_type(kind, float)
    return linspace(low, high, int(bins) + 1, endpoint=True, dtype=kind)


def _range(a, range):
    if range is not None:
        low, high = range
        if low > high:
            raise ValueError("max must be larger than min in range parameter.")
        if not (isfinite(low) and isfinite(high)):
            raise ValueError(f"supplied range of [{low}, {high}] is not finite")
    elif a.size == 0:
        low, high = 0, 1
    else:
        low, high = a.min(), a.max()
        if not (isfinite(low) and isfinite(high)):
            raise ValueError(f"autodetected range of [{low}, {high}] is not finite")
    if low == high:
        low, high = low - 0.5, high + 0.5
    return low, high


def histogram(a, bins=10, range=None, density=None, weights=None):
    """Counts of values in bins, and the bins' edges."""
    a = asarray(a)
    if weights is not None:
        weights = asarray(weights)
        if weights.shape != a.shape:
            raise ValueError("weights should have the same shape as a.")
        weights = weights.ravel()
    a = a.ravel()
    if a.dtype == bool:
        a = a.astype(uint8)
    edges = histogram_bin_edges(a, bins, range, weights)
    values = a
    if ndim(bins) == 0:
        low, high = _range(a, range)
        inside = (a >= low) & (a <= high)
        if not inside.all():
            values = a[inside]
            weights = None if weights is None else weights[inside]
        count = len(edges) - 1
        places = (subtract(values, low, dtype=float64) / (float64(high) - low) * count).astype(
            int64
        )
        places[places == count] -= 1
        places[values < edges[places]] -= 1
        places[(values >= edges[places + 1]) & (places != count - 1)] += 1
        counts = bincount(places, weights, minlength=count)
        if weights is not None:
            counts = counts.astype(weights.dtype)
    elif weights is None:
        ordered = sort(values)
        below = concatenate(
            (ordered.searchsorted(edges[:-1], "left"), ordered.searchsorted(edges[-1:], "right"))
        )
        counts = diff(below)
    else:
        order = argsort(values)
        ordered = values[order]
        sums = concatenate((zeros(1, weights.dtype), weights[order].cumsum()))
        below = concatenate(
            (ordered.searchsorted(edges[:-1], "left"), ordered.searchsorted(edges[-1:], "right"))
        )
        counts = diff(sums[below])
    if density:
        widths = array(diff(edges), float)
        return counts / widths / counts.sum(), edges
    return counts, edges


def bincount(x, /, weights=None, minlength=0):
    """How often each small integer occurs, or what it weighs."""
    x = asarray(x)
    if x.ndim != 1:
        raise ValueError(
            "object too deep for desired array"
            if x.ndim
            else "object of too small depth for desired array"
        )
    if x.size and x.dtype.kind not in "biu":
        raise TypeError(
            f"Cannot cast array data from {x.dtype!r} to dtype('int64') according to the rule 'safe'"
        )
    x = x.astype(int64)
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if not x.size:
        return zeros(minlength, dtype=int64 if weights is None else float64)
    if x.min() < 0:
        raise ValueError("'list' argument must have no negative elements")
    count = _builtins.max(minlength, int(x.max()) + 1)
    if weights is None:
        below = sort(x).searchsorted(arange(count + 1))
        return diff(below)
    weights = asarray(weights, dtype=float64)
    if weights.shape != x.shape:
        raise ValueError("The weights and list don't have the same length.")
    result = zeros(count)
    add.at(result, x, weights)
    return result


def diff(a, n=1, axis=-1, prepend=None, append=None):
    """Differences of neighbours."""
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    a = asanyarray(a)
    if a.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = _normal_axis(axis, a.ndim)
    parts = []
    for part in (prepend, a, append):
        if part is None:
            continue
        part = asanyarray(part)
        if part.ndim == 0:
            spread = list(a.shape)
            spread[axis] = 1
            part = broadcast_to(part, tuple(spread))
        parts.append(part)
    if n == 0:
        return a
    if len(parts) > 1:
        a = concatenate(parts, axis)
    rest = [slice(None)] * a.ndim
    first, second = list(rest), list(rest)
    first[axis], second[axis] = slice(None, -1), slice(1, None)
    first, second = tuple(first), tuple(second)
    minus = not_equal if a.dtype == bool else subtract
    for _ in range(n):
        a = minus(a[second], a[first])
    return a


def ediff1d(ary, to_end=None, to_begin=None):
    """Differences of neighbours of the flattened array."""
    ary = asanyarray(ary).ravel()
    parts = [ary[1:] - ary[:-1]]
    if to_begin is not None:
        parts.insert(0, asanyarray(to_begin).ravel().astype(ary.dtype))
    if to_end is not None:
        parts.append(asanyarray(to_end).ravel().astype(ary.dtype))
    return concatenate(parts) if len(parts) > 1 else parts[0]


def gradient(f, *varargs, axis=None, edge_order=1):
    """Central differences, one-sided at the ends."""
    f = asanyarray(f)
    axes = tuple(range(f.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = [_normal_axis(one, f.ndim) for one in axes]
    if not varargs:
        steps = [1.0] * len(axes)
    elif len(varargs) == 1 and ndim(varargs[0]) == 0:
        steps = list(varargs) * len(axes)
    elif len(varargs) == len(axes):
        steps = []
        for one, at in zip(varargs, axes):
            one = asanyarray(one)
            if one.ndim == 0:
                steps.append(one[()])
                continue
            if one.ndim != 1:
                raise ValueError("distances must be either scalars or 1d")
            if len(one) != f.shape[at]:
                raise ValueError(
                    "when 1d, distances must match the length of the corresponding dimension"
                )
            gaps = diff(one.astype(float))
            steps.append(gaps[0] if len(gaps) and (gaps == gaps[0]).all() else gaps)
    else:
        raise TypeError("invalid number of arguments")
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    kind = f.dtype if f.dtype.kind == "f" else dtype(float64)
    if f.dtype.kind in "biu":
        f = f.astype(float64)
    results = []
    for at, step in zip(axes, steps):
        if f.shape[at] < edge_order + 1:
            raise ValueError(
                "Shape of array too small to calculate a numerical gradient, "
                "at least (edge_order + 1) elements are required."
            )
        rows = moveaxis(f, at, 0)
        out = empty(rows.shape, dtype=kind)
        spread = (-1,) + (1,) * (rows.ndim - 1)
        if ndim(step) == 0:
            out[1:-1] = (rows[2:] - rows[:-2]) / (2.0 * step)
            first, last = step, step
        else:
            left, right = step[:-1].reshape(spread), step[1:].reshape(spread)
            a = -right / (left * (left + right))
            b = (right - left) / (left * right)
            c = left / (right * (left + right))
            out[1:-1] = a * rows[:-2] + b * rows[1:-1] + c * rows[2:]
            first, last = step[0], step[-1]
        if edge_order == 1:
            out[0] = (rows[1] - rows[0]) / first
            out[-1] = (rows[-1] - rows[-2]) / last
        else:
            if ndim(step) == 0:
                a, b, c = -1.5 / step, 2.0 / step, -0.5 / step
                d, e, g = 0.5 / step, -2.0 / step, 1.5 / step
            else:
                one, two = step[0], step[1]
                a, b, c = (
                    -(2.0 * one + two) / (one * (one + two)),
                    (one + two) / (one * two),
                    -one / (two * (one + two)),
                )
                one, two = step[-2], step[-1]
                d, e, g = (
                    two / (one * (one + two)),
                    -(two + one) / (one * two),
                    (2.0 * two + one) / (two * (one + two)),
                )
            out[0] = a * rows[0] + b * rows[1] + c * rows[2]
            out[-1] = d * rows[-3] + e * rows[-2] + g * rows[-1]
        results.append(moveaxis(out, 0, at))
    return results[0] if len(results) == 1 else tuple(results)


def trapezoid(y, x=None, dx=1.0, axis=-1):
    """The area under a curve, by trapezoids."""
    y = asanyarray(y)
    if x is None:
        width = dx
    else:
        x = asanyarray(x)
        if x.ndim == 1:
            spread = [1] * y.ndim
            spread[axis] = -1
            width = diff(x).reshape(spread)
        else:
            width = diff(x, axis=axis)
    first, second = [slice(None)] * y.ndim, [slice(None)] * y.ndim
    first[axis], second[axis] = slice(1, None), slice(None, -1)
    return (width * (y[tuple(first)] + y[tuple(second)]) / 2.0).sum(axis)


def interp(x, xp, fp, left=None, right=None, period=None):
    """Values of a piecewise linear function."""
    x, xp, fp = asarray(x, dtype=float64), asarray(xp, dtype=float64), asarray(fp, dtype=float64)
    if xp.ndim != 1 or fp.ndim != 1:
        raise ValueError(
            "Data points must be 1-D sequences"
            if period is not None
            else "object too deep for desired array"
        )
    if xp.shape != fp.shape:
        raise ValueError("fp and xp are not of the same length.")
    if not xp.size:
        raise ValueError("array of sample points is empty")
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        period = absolute(period)
        x, xp = x % period, xp % period
        order = argsort(xp)
        xp, fp = xp[order], fp[order]
        xp = concatenate((xp[-1:] - period, xp, xp[0:1] + period))
        fp = concatenate((fp[-1:], fp, fp[0:1]))
    left = fp[0] if left is None else left
    right = fp[-1] if right is None else right
    if len(xp) == 1:
        middle = full(x.shape, fp[0])
    else:
        place = clip(searchsorted(xp, x, side="right") - 1, 0, len(xp) - 2)
        with errstate(all="ignore"):
            slope = (fp[place + 1] - fp[place]) / (xp[place + 1] - xp[place])
            middle = slope * (x - xp[place]) + fp[place]
            other = slope * (x - xp[place + 1]) + fp[place + 1]
            middle = where(isnan(middle), other, middle)
            middle = where(isnan(middle) & (fp[place] == fp[place + 1]), fp[place], middle)
        middle = where(x == xp[place], fp[place], middle)
    result = where(x < xp[0], left, where(x > xp[-1], right, where(x == xp[-1], fp[-1], middle)))
    return where(isnan(x), x, result)[()]


def convolve(a, v, mode="full"):
    """The convolution of two vectors."""
    a, v = array(a, ndmin=1), array(v, ndmin=1)
    if len(v) > len(a):
        a, v = v, a
    if len(a) == 0:
        raise ValueError("a cannot be empty")
    if len(v) == 0:
        raise ValueError("v cannot be empty")
    return _slide(a, v[::-1], mode)


def correlate(a, v, mode="valid"):
    """The cross-correlation of two vectors."""
    a, v = array(a, ndmin=1), array(v, ndmin=1)
    if len(a) == 0 or len(v) == 0:
        raise ValueError(
            "first array argument cannot be empty"
            if not len(a)
            else "second array argument cannot be empty"
        )
    if len(v) > len(a):
        return _slide(v, a, mode)[::-1]
    return _slide(a, v, mode)


def _slide(a, v, mode):
    kind = result_type(a, v)
    n, m = len(a), len(v)
    wide = zeros(n + 2 * (m - 1), dtype=kind)
    wide[m - 1 : m - 1 + n] = a
    whole = zeros(n + m - 1, dtype=kind)
    for at in range(m):
        if kind.kind == "b":
            whole |= wide[at : at + n + m - 1] & v[at]
        else:
            whole += wide[at : at + n + m - 1] * v[at]
    if mode == "full":
        return whole
    if mode == "same":
        start = (m - 1) // 2
        return whole[start : start + n]
    if mode == "valid":
        return whole[m - 1 : n]
    raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")


def polyval(p, x):
    """The values of a polynomial, highest power first."""
    p = asarray(p)
    x = asanyarray(x)
    y = zeros_like(x)
    for coefficient in p:
        y = y * x + coefficient
    return y[()]


def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """The polynomial of a degree that fits points best in least squares."""
    order = int(deg) + 1
    x, y = asarray(x) + 0.0, asarray(y) + 0.0
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if x.size == 0:
        raise TypeError("expected non-empty vector for x")
    if y.ndim < 1 or y.ndim > 2:
        raise TypeError("expected 1D or 2D array for y")
    if x.shape[0] != y.shape[0]:
        raise TypeError("expected x and y to have same length")
    if cov:
        raise NotImplementedError("RuaFlow's numpy has no polyfit(cov=True); nearest: linalg.lstsq")
    rcond = len(x) * finfo(x.dtype).eps if rcond is None else rcond
    left, right = vander(x, order), y
    if w is not None:
        w = asarray(w) + 0.0
        left = left * w[:, newaxis]
        right = right * (w[:, newaxis] if right.ndim == 2 else w)
    scale = sqrt((left * left).sum(axis=0))
    left = left / scale
    found, residuals, rank, singular = linalg.lstsq(left, right, rcond)
    found = (found.T / scale).T
    if rank != order and not full:
        import warnings

        warnings.warn("Polyfit may be poorly conditioned", exceptions.RankWarning, stacklevel=2)
    if full:
        return found, residuals, rank, singular, rcond
    return found
