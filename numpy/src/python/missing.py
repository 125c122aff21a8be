"""What numpy has and RuaFlow's numpy has not: errors that say so."""

_NEAREST = {
    "fft": "convolve, correlate",
    "ma": "a boolean mask: a[mask]",
    "polynomial": "polyfit, polyval",
    "matrix": "array with @",
    "asmatrix": "asarray",
    "mat": "asarray",
    "bmat": "block",
    "poly1d": "polyfit, polyval",
    "load": "a module of the workspace, or open()",
    "save": "print, or open() and tolist()",
    "savez": "print, or open() and tolist()",
    "savez_compressed": "print, or open() and tolist()",
    "loadtxt": "open() and array()",
    "savetxt": "open() and tolist()",
    "genfromtxt": "open() and array()",
    "fromfile": "open() and frombuffer",
    "fromstring": "array([float(x) for x in text.split()])",
    "memmap": "array",
    "nditer": "ndenumerate",
    "broadcast": "broadcast_arrays",
    "datetime64": "time, datetime",
    "timedelta64": "datetime",
    "int8": "int32",
    "int16": "int32",
    "uint16": "int32",
    "uint32": "int64",
    "uint64": "int64",
    "uint": "int64",
    "byte": "int32",
    "short": "int32",
    "ushort": "int32",
    "uintc": "int64",
    "uintp": "int64",
    "ulong": "int64",
    "ulonglong": "int64",
    "longdouble": "float64",
    "float128": "float64",
    "complex64": "two float64 arrays",
    "complex128": "two float64 arrays",
    "cdouble": "two float64 arrays",
    "csingle": "two float64 arrays",
    "clongdouble": "two float64 arrays",
    "complexfloating": "floating",
    "object_": "a Python list",
    "str_": "str",
    "bytes_": "bytes",
    "void": "a Python tuple",
    "recarray": "a dict of arrays",
    "rec": "a dict of arrays",
    "char": "str methods",
    "strings": "str methods",
    "lib": "numpy itself",
    "ctypeslib": "numpy itself",
    "frexp": "log2, exp2",
    "ldexp": "exp2",
    "spacing": "nextafter, finfo",
    "i0": "exp",
    "packbits": "bitwise_or",
    "unpackbits": "bitwise_and",
    "einsum_path": "einsum",
    "histogramdd": "histogram2d",
    "mask_indices": "triu_indices",
    "real_if_close": "real",
    "sort_complex": "sort",
    "nested_iters": "ndindex",
    "busday_count": "datetime",
    "is_busday": "datetime",
}

# Names that numpy 2 took away, and what it says to use.
_REMOVED = {
    "float_": "float64",
    "float": "the builtin float",
    "int": "the builtin int",
    "object": "the builtin object",
    "str": "the builtin str",
    "complex": "the builtin complex",
    "complex_": "complex128",
    "Inf": "inf",
    "Infinity": "inf",
    "infty": "inf",
    "NaN": "nan",
    "NAN": "nan",
    "PINF": "inf",
    "NINF": "-inf",
    "product": "prod",
    "cumproduct": "cumprod",
    "alltrue": "all",
    "sometrue": "any",
    "round_": "round",
    "row_stack": "vstack",
    "in1d": "isin",
    "trapz": "trapezoid",
    "asfarray": "asarray(a, dtype=float)",
    "find_common_type": "result_type",
    "cast": "astype",
    "source": "inspect.getsource",
    "msort": "sort(a, axis=0)",
}


def _refuse(module, name, known):
    import difflib

    if name.startswith("__") or name == "_":
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    if module == "numpy" and name in _REMOVED:
        raise AttributeError(f"numpy 2 has no {name!r}; use {_REMOVED[name]}")
    if module == "numpy" and name in _NEAREST:
        raise AttributeError(f"RuaFlow's numpy has no {name!r}; nearest: {_NEAREST[name]}")
    near = difflib.get_close_matches(name, [one for one in known if one[0] != "_"], 3)
    hint = f"; nearest: {', '.join(near)}" if near else ""
    raise AttributeError(f"RuaFlow's {module} has no {name!r}{hint}")


def __getattr__(name):
    _refuse("numpy", name, globals())


def _guard(module):
    def __getattr__(name):
        _refuse(module.__name__, name, vars(module))

    module.__getattr__ = __getattr__


for _module in (linalg, random):
    _guard(_module)
del _module
