"""numpy.testing: the assertions that people use."""

import numpy as np


def _report(actual, desired, header, err_msg, verbose):
    lines = ["", header]
    if err_msg:
        lines.append(str(err_msg))
    if verbose:
        lines.append(f" ACTUAL: {actual!r}")
        lines.append(f" DESIRED: {desired!r}")
    return "\n".join(lines)


def _compare(agrees, actual, desired, header, err_msg, verbose, equal_nan=True):
    actual, desired = np.asarray(actual), np.asarray(desired)
    scalar = actual.shape == () or desired.shape == ()
    if actual.shape != desired.shape and not scalar:
        detail = f"{header}\n(shapes {actual.shape}, {desired.shape} mismatch)"
        raise AssertionError(_report(actual, desired, detail, err_msg, verbose))
    agree = agrees(actual, desired)
    if equal_nan:
        agree = agree | (np.isnan(actual) & np.isnan(desired))
    agree = np.asarray(agree)
    if not agree.all():
        wrong, total = int((~agree).sum()), agree.size
        detail = f"{header}\n\nMismatched elements: {wrong} / {total} ({100 * wrong / total:.3g}%)"
        with np.errstate(all="ignore"):
            apart = np.abs(np.subtract(actual, desired, dtype=float))
            finite = apart[np.isfinite(apart)]
            if finite.size:
                detail += f"\nMax absolute difference among violations: {finite.max()}"
        raise AssertionError(_report(actual, desired, detail, err_msg, verbose))


def assert_allclose(
    actual, desired, rtol=1e-07, atol=0, equal_nan=True, err_msg="", verbose=True, *, strict=False
):
    """AssertionError unless |actual - desired| <= atol + rtol * |desired| everywhere."""
    header = f"Not equal to tolerance rtol={rtol:g}, atol={atol:g}"

    def close(a, b):
        return np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)

    _compare(close, actual, desired, header, err_msg, verbose, equal_nan=False)


def assert_array_equal(actual, desired, err_msg="", verbose=True, *, strict=False):
    """AssertionError unless arrays are equal."""
    if strict and np.asarray(actual).dtype != np.asarray(desired).dtype:
        raise AssertionError("\nArrays are not equal\n(dtypes mismatch)")
    _compare(np.equal, actual, desired, "Arrays are not equal", err_msg, verbose)


def assert_equal(actual, desired, err_msg="", verbose=True, *, strict=False):
    """AssertionError unless two objects are equal, element by element."""
    if isinstance(desired, dict):
        if not isinstance(actual, dict):
            raise AssertionError(repr(type(actual)))
        assert_equal(len(actual), len(desired), err_msg, verbose)
        for key in desired:
            assert_equal(actual[key], desired[key], f"key={key!r}\n{err_msg}", verbose)
    elif isinstance(desired, (list, tuple)) and isinstance(actual, (list, tuple)):
        assert_equal(len(actual), len(desired), err_msg, verbose)
        for at in range(len(desired)):
            assert_equal(actual[at], desired[at], f"item={at!r}\n{err_msg}", verbose)
    elif isinstance(desired, np.ndarray) or isinstance(actual, np.ndarray):
        assert_array_equal(actual, desired, err_msg, verbose)
    elif not (actual == desired or (actual != actual and desired != desired)):
        raise AssertionError(_report(actual, desired, "Items are not equal:", err_msg, verbose))


def assert_array_almost_equal(actual, desired, decimal=6, err_msg="", verbose=True):
    """AssertionError unless |actual - desired| < 1.5 * 10**-decimal everywhere."""
    header = f"Arrays are not almost equal to {decimal} decimals"

    def close(a, b):
        with np.errstate(invalid="ignore"):
            return (a == b) | (np.abs(np.subtract(a, b, dtype=float)) < 1.5 * 10.0**-decimal)

    _compare(close, actual, desired, header, err_msg, verbose)


def assert_almost_equal(actual, desired, decimal=7, err_msg="", verbose=True):
    """AssertionError unless two numbers (or arrays) agree to so many decimals."""
    assert_array_almost_equal(actual, desired, decimal, err_msg, verbose)


def assert_array_less(x, y, err_msg="", verbose=True, *, strict=False):
    """AssertionError unless x < y everywhere."""
    header = "Arrays are not strictly ordered `x < y`"
    _compare(np.less, x, y, header, err_msg, verbose, equal_nan=False)


def assert_(val, msg=""):
    """AssertionError unless true."""
    if not val:
        raise AssertionError(msg() if callable(msg) else msg)


def assert_raises(exception_class, callable=None, *args, **kwargs):
    """Checks that a call raises; a context manager without a callable."""
    if callable is None:
        return _Raises(exception_class)
    with _Raises(exception_class):
        callable(*args, **kwargs)


class _Raises:
    def __init__(self, wanted):
        self.wanted, self.exception = wanted, None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _):
        if kind is None:
            raise AssertionError(f"{self.wanted.__name__} not raised")
        self.exception = error
        return issubclass(kind, self.wanted)
