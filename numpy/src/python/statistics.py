"""Statistics that are compositions. Runs inside the module `numpy`."""


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
