"""Runs a snippet and says all there is to say of its `r`. Runs in CPython and in the cell's Python."""

import warnings

import numpy as np

_KNOWN = (
    "AxisError LinAlgError ValueError TypeError IndexError KeyError ZeroDivisionError "
    "OverflowError MemoryError FloatingPointError NotImplementedError AttributeError "
    "AssertionError RuntimeError NameError SyntaxError"
).split()


def run(code):
    """The outcome of a snippet as plain data."""
    names = {"np": np}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(code, names)
            outcome = describe(names["r"])
        except Exception as error:
            outcome = {"error": _error(error), "text": str(error)}
    outcome["warnings"] = sorted({f"{one.category.__name__}: {one.message}" for one in caught})
    return outcome


def _error(error):
    for one in type(error).__mro__:
        if one.__name__ in _KNOWN:
            return one.__name__
    return type(error).__name__


def describe(value):
    """Type, dtype, shape, exact values, repr and str."""
    if isinstance(value, np.ndarray):
        return {
            "kind": "array",
            "dtype": str(value.dtype),
            "shape": list(value.shape),
            "values": [_exact(one) for one in value.ravel().tolist()],
            "repr": repr(value),
            "str": str(value),
            "writeable": bool(value.flags.writeable),
        }
    if isinstance(value, np.generic):
        return {
            "kind": type(value).__name__,
            "values": [_exact(value.item())],
            "repr": repr(value),
            "str": str(value),
        }
    if isinstance(value, (tuple, list)):
        return {"kind": type(value).__name__, "items": [describe(one) for one in value]}
    if isinstance(value, dict):
        pairs = [[describe(key), describe(one)] for key, one in value.items()]
        return {"kind": "dict", "items": pairs}
    if isinstance(value, np.dtype):
        return {"kind": "dtype", "dtype": str(value), "repr": repr(value)}
    if isinstance(value, (float, complex)):
        return {"kind": type(value).__name__, "values": [_exact(value)], "repr": repr(value)}
    return {"kind": type(value).__name__, "repr": repr(value)}


def _exact(value):
    if isinstance(value, float):
        return "nan" if value != value else value.hex()
    return repr(value)
