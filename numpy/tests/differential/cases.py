"""Generates snippets, the same ones for the same seed. Each leaves its result in `r`."""

import random

DTYPES = ["bool", "uint8", "int32", "int64", "float16", "float32", "float64"]
SHAPES = [
    (),
    (1,),
    (3,),
    (4,),
    (0,),
    (2, 3),
    (3, 3),
    (3, 1),
    (1, 4),
    (3, 4),
    (2, 3, 4),
    (2, 0),
    (2, 1, 3),
]

OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">=", "&", "|", "^"]
EXACT_UNARY = """negative positive absolute fabs sign square rint floor ceil trunc isfinite isnan
    isinf signbit logical_not invert reciprocal sqrt""".split()
CLOSE_UNARY = """exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh
    arcsinh arccosh arctanh cbrt deg2rad rad2deg""".split()
EXACT_BINARY = """add subtract multiply divide floor_divide remainder fmod maximum minimum fmax fmin
    equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor
    bitwise_and bitwise_or bitwise_xor copysign heaviside""".split()
CLOSE_BINARY = "power float_power hypot arctan2 logaddexp".split()
REDUCTIONS = "sum prod mean std var min max any all ptp count_nonzero".split()
NAN_REDUCTIONS = "nansum nanprod nanmean nanstd nanvar nanmin nanmax nanmedian".split()


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, *options):
        return self.random.choice(options)

    def one(self, options):
        return self.random.choice(options)

    def number(self, dtype):
        if dtype == "bool":
            return self.pick("True", "False")
        if dtype == "uint8":
            return str(self.pick(0, 1, 2, 3, 7, 100, 200, 255))
        if dtype.startswith("int"):
            return str(self.pick(-100, -7, -3, -2, -1, 0, 1, 2, 3, 5, 8, 12, 1000))
        return self.pick(
            "0.0",
            "-0.0",
            "1.0",
            "-1.0",
            "0.5",
            "-2.5",
            "1.5",
            "3.25",
            "0.1",
            "-0.3",
            "2.0",
            "7.125",
            "100.0",
            "1e-3",
            "12345.678",
            "np.nan",
            "np.inf",
            "-np.inf",
            "1e-5",
            "0.333",
        )

    def calm(self, dtype):
        """A number without special values."""
        while True:
            text = self.number(dtype)
            if "np." not in text and text != "-0.0":
                return text

    def shape(self):
        return self.one(SHAPES)

    def array(self, dtype=None, shape=None, calm=False):
        dtype = dtype or self.one(DTYPES)
        shape = self.shape() if shape is None else shape
        number = self.calm if calm else self.number
        return f"np.array({self.nested(shape, lambda: number(dtype))}, dtype='{dtype}')" + self.fix(
            shape
        )

    def fix(self, shape):
        return f".reshape({shape})" if 0 in shape else ""

    def nested(self, shape, number):
        if not shape:
            return number()
        return "[" + ", ".join([self.nested(shape[1:], number) for _ in range(shape[0])]) + "]"

    def distinct(self, dtype, shape):
        """An array without equal elements, so that orders are unique."""
        count = 1
        for n in shape:
            count *= n
        values = list(range(-3, count - 3)) if dtype != "uint8" else list(range(count))
        self.random.shuffle(values)
        values = iter(values)
        scale = "" if dtype in ("uint8", "int32", "int64") else " * 0.25"
        return (
            f"(np.array({self.nested(shape, lambda: str(next(values)))}){scale}).astype('{dtype}')"
        )

    def operand(self):
        kind = self.random.random()
        if kind < 0.62:
            return self.array()
        if kind < 0.76:
            dtype = self.one(DTYPES)
            return f"np.{'bool_' if dtype == 'bool' else dtype}({self.number(dtype)})"
        if kind < 0.92:
            return self.pick(
                "2", "-3", "0", "1", "True", "0.5", "-1.5", "300", "2.0", "70000", "float('nan')"
            )
        return self.pick("[1, 2, 3]", "(0.5, 1.5, -2.0)", "[[1], [2], [3]]")

    def mate(self, shape):
        """A shape that fits, most of the time."""
        if self.random.random() < 0.12:
            return self.shape()
        cut = self.random.randrange(len(shape) + 1)
        return tuple([1 if self.random.random() < 0.25 else n for n in shape[cut:]])

    def axis(self, shape):
        if self.random.random() < 0.06:
            return self.pick("5", "-7")
        if not shape:
            return self.pick("None", "0", "-1")
        options = ["None"] + [str(at) for at in range(-len(shape), len(shape))]
        if len(shape) > 1:
            options += ["(0, 1)", "(-1, 0)", "()"]
        return self.one(options)

    def single_axis(self, shape):
        return str(self.random.randrange(-len(shape), len(shape))) if shape else "0"

    def index(self, shape):
        parts = []
        for n in shape:
            kind = self.random.random()
            if kind < 0.3:
                parts.append(str(self.random.randrange(-max(n, 1), max(n, 1))))
            elif kind < 0.62:
                bounds = [self.pick("", "", "0", "1", "2", "-1", "-2", "10") for _ in range(2)]
                step = self.pick("", "", ":2", ":-1", ":-2", ":3")
                parts.append(":".join(bounds) + step)
            elif kind < 0.7:
                parts.append("None")
                parts.append(":")
            elif kind < 0.78:
                parts.append("...")
                break
            elif kind < 0.9:
                count = self.pick(1, 2, 3)
                numbers = [str(self.random.randrange(-max(n, 1), max(n, 1))) for _ in range(count)]
                text = "[" + ", ".join(numbers) + "]"
                parts.append(text if self.random.random() < 0.5 else f"np.array({text})")
            else:
                bits = [self.pick("True", "False") for _ in range(n)]
                parts.append("np.array([" + ", ".join(bits) + "], dtype=bool)")
            if self.random.random() < 0.15:
                break
        if not parts:
            parts = [self.pick("...", "()", "None")]
        if self.random.random() < 0.03:
            parts.append(self.pick("99", "1.5", "'x'"))
        return ", ".join(parts)


def operators(m):
    shape = m.shape()
    a = m.array(shape=shape) if m.random.random() < 0.7 else m.operand()
    b = m.array(shape=m.mate(shape)) if m.random.random() < 0.5 else m.operand()
    op = m.one(OPERATORS)
    kind = "close" if op in ("**",) else "exact"
    if m.random.random() < 0.12:
        return f"r = divmod({a}, {b})", "exact"
    return f"r = {a} {op} {b}", kind


def scalar_operators(m):
    def number():
        dtype = m.one(DTYPES)
        return m.pick(
            f"np.{'bool_' if dtype == 'bool' else dtype}({m.number(dtype)})",
            m.pick("2", "-3", "0.5", "True", "7", "0", "1e10"),
        )

    dtype = m.one(DTYPES)
    a = f"np.{'bool_' if dtype == 'bool' else dtype}({m.number(dtype)})"
    b = number()
    if m.random.random() < 0.5:
        a, b = b, a
    op = m.one(OPERATORS + ["<<", ">>"])
    return f"r = {a} {op} {b}", "close" if op == "**" else "exact"


def unary(m):
    if m.random.random() < 0.5:
        return f"r = np.{m.one(EXACT_UNARY)}({m.operand()})", "exact"
    return f"r = np.{m.one(CLOSE_UNARY)}({m.operand()})", "close"


def prefix(m):
    return f"r = {m.pick('-', '+', '~', 'abs')}({m.operand()})", "exact"


def binary(m):
    shape = m.shape()
    a, b = m.array(shape=shape), m.array(shape=m.mate(shape))
    if m.random.random() < 0.3:
        b = m.operand()
    if m.random.random() < 0.7:
        return f"r = np.{m.one(EXACT_BINARY)}({a}, {b})", "exact"
    return f"r = np.{m.one(CLOSE_BINARY)}({a}, {b})", "close"


def reduction(m):
    shape = m.shape()
    name = m.one(REDUCTIONS)
    args = [m.array(shape=shape)]
    if m.random.random() < 0.7:
        args.append(f"axis={m.axis(shape)}")
    if m.random.random() < 0.3:
        args.append("keepdims=True")
    if name in ("std", "var") and m.random.random() < 0.4:
        args.append("ddof=1")
    if name in ("sum", "prod", "mean") and m.random.random() < 0.2:
        args.append(f"dtype={m.pick('float', 'np.float32', 'np.int64')}")
    if name in ("sum", "max", "min") and m.random.random() < 0.15:
        args.append("initial=5")
    close = "close" if name in ("std", "var", "prod") else "exact"
    return f"r = np.{name}({', '.join(args)})", close


def nan_reduction(m):
    shape = m.shape()
    axis = f", axis={m.axis(shape)}" if m.random.random() < 0.6 else ""
    return (
        f"r = np.{m.one(NAN_REDUCTIONS)}({m.array(dtype=m.pick('float64', 'float32', 'int64'), shape=shape)}{axis})",
        "close",
    )


def method(m):
    shape = m.one([(4,), (2, 3), (3, 3), (2, 3, 4)])
    a = m.array(shape=shape)
    call = m.pick(
        "sum()",
        "mean()",
        "min()",
        "max()",
        "std()",
        "var()",
        "any()",
        "all()",
        "argmax()",
        "argmin()",
        f"sum(axis={m.single_axis(shape)})",
        f"max({m.single_axis(shape)})",
        f"mean(axis={m.single_axis(shape)}, keepdims=True)",
        "cumsum()",
        f"cumsum(axis={m.single_axis(shape)})",
        "cumprod()",
        "ravel()",
        "flatten()",
        "tolist()",
        "copy()",
        "round()",
        "round(1)",
        "clip(0, 2)",
        "clip(min=1)",
        "nonzero()",
        "squeeze()",
        "repeat(2)",
        f"repeat(2, axis={m.single_axis(shape)})",
        "reshape(-1)",
        "transpose()",
        "astype(float)",
        "astype(int)",
        "astype('uint8')",
        "astype(bool)",
        "astype(np.float32)",
        "astype(np.float16)",
        "tobytes()",
        "item(0)",
        "item(-1)",
        "T",
        "shape",
        "ndim",
        "size",
        "dtype",
        "itemsize",
        "nbytes",
        "strides",
        "argsort(kind='stable')",
        "take([0, 1])",
        f"take([0, -1], axis={m.single_axis(shape)})",
        "diagonal()",
        "trace()",
        "swapaxes(0, -1)",
        "dot(2)",
        "flags.writeable",
    )
    return f"r = ({a}).{call}", "close" if call.startswith(("std", "var", "cumprod")) else "exact"


def indexing(m):
    shape = m.one([(4,), (5,), (2, 3), (3, 4), (2, 3, 4), (0,), ()])
    return f"a = {m.array(shape=shape)}\nr = a[{m.index(shape)}]", "exact"


def masking(m):
    shape = m.one([(5,), (3, 4), (2, 3, 2)])
    a = m.array(dtype=m.pick("float64", "int64", "float32", "uint8"), shape=shape, calm=True)
    test = m.pick(
        "a > 1", "a <= 0.5", "a == a", "a > 1e9", "(a > 0) & (a < 3)", "~(a > 0)", "a % 2 == 0"
    )
    use = m.pick(
        "a[mask]",
        "a[~mask].sum()",
        "np.where(mask, a, 0)",
        "np.where(mask)",
        "np.argwhere(mask)",
        "np.flatnonzero(mask)",
        "mask.sum(), mask.mean()",
        "np.count_nonzero(mask, axis=0)",
        "np.nonzero(mask)",
    )
    return f"a = {a}\nmask = {test}\nr = {use}", "exact"


def assignment(m):
    shape = m.one([(4,), (5,), (2, 3), (3, 4), (2, 3, 4)])
    value = m.pick(
        "7",
        "-1.5",
        "True",
        "np.float32(2.5)",
        "np.nan",
        "300",
        "[1]",
        "np.arange(3)",
        "[[9], [8]]",
        "a[0]",
        "a[::-1]",
    )
    op = m.pick("=", "=", "=", "+=", "*=", "-=")
    return f"a = {m.array(shape=shape)}\na[{m.index(shape)}] {op} {value}\nr = a", "exact"


def in_place(m):
    shape = m.one([(3,), (2, 3), (3, 3)])
    a = m.array(shape=shape)
    b = m.operand() if m.random.random() < 0.6 else m.array(shape=m.mate(shape))
    op = m.pick("+=", "-=", "*=", "/=", "//=", "%=", "**=", "&=", "|=", "^=")
    return f"a = {a}\nb = a\nb {op} {b}\nr = (a, b is a)", "close" if op == "**=" else "exact"


def aliasing(m):
    shape = m.one([(6,), (2, 3), (3, 4), (2, 3, 4)])
    view = m.pick(
        "a[1:]",
        "a[::-1]",
        "a[::2]",
        "a.T",
        "a.reshape(-1)",
        "a.ravel()",
        "a.flatten()",
        "a[..., 0]",
        "a[None]",
        "a.swapaxes(0, -1)",
        "a.T.reshape(-1)",
        "a.T.ravel()",
        "np.squeeze(a)",
        "np.expand_dims(a, 0)",
        "a[[0, 1]]",
        "a[a > 0]",
        "a.copy()",
        "np.asarray(a)",
        "np.array(a)",
        "a.astype(a.dtype)",
        "a.astype(a.dtype, copy=False)",
        "np.flip(a, 0)",
        "np.moveaxis(a, 0, -1)",
        "np.atleast_2d(a)",
        "np.split(a, 2)[1]",
        "a.view()",
        "a[...]",
        "np.rot90(np.atleast_2d(a))",
        "np.transpose(a)",
        "np.reshape(a, (-1, 2))",
        "a[-1:]",
        "a[0:0]",
        "np.ravel(a)",
        "np.roll(a, 1)",
        "np.asarray(a, dtype=float)",
    )
    return (
        f"a = {m.distinct(m.pick('int64', 'float32', 'float64'), shape)}\nv = {view}\nv[...] = 99\n"
        "r = (a, v, np.shares_memory(a, v), a.base is None)",
        "exact",
    )


def overlap(m):
    left, right = m.pick(
        ("a[1:]", "a[:-1]"),
        ("a[:-1]", "a[1:]"),
        ("a[::-1]", "a"),
        ("a[:]", "a[::-1]"),
        ("a[2:]", "a[:-2]"),
    )
    op = m.pick("=", "+=", "*=")
    return (
        f"a = np.arange({m.pick(5, 8, 40)}) * {m.pick('1', '1.5')}\n{left} {op} {right}\nr = a",
        "exact",
    )


def shaping(m):
    shape = m.one([(4,), (6,), (2, 3), (3, 4), (2, 3, 4), (1, 3, 1), ()])
    a = m.array(shape=shape)
    axis = m.single_axis(shape)
    call = m.pick(
        f"np.reshape(a, {m.pick('-1', '(-1, 2)', '(2, -1)', '(3, 2)', '(5, 5)', '(-1, -1)', '(1, -1, 1)')})",
        "np.ravel(a)",
        "np.transpose(a)",
        f"np.swapaxes(a, 0, {axis})",
        f"np.moveaxis(a, 0, {axis})",
        f"np.expand_dims(a, {m.pick('0', '-1', '1', '(0, 1)', '9')})",
        "np.squeeze(a)",
        f"np.squeeze(a, axis={axis})",
        "np.atleast_1d(a)",
        "np.atleast_2d(a)",
        "np.atleast_3d(a)",
        f"np.flip(a, {m.pick('None', axis)})",
        "np.fliplr(a)",
        "np.flipud(a)",
        f"np.roll(a, {m.pick('1', '-2', '3')}, axis={m.pick('None', axis)})",
        "np.rot90(a)",
        "np.rot90(a, 2)",
        "np.rot90(a, -1)",
        f"np.tile(a, {m.pick('2', '(2, 1)', '(1, 2, 2)')})",
        f"np.repeat(a, {m.pick('2', '3', '0')}, axis={m.pick('None', axis)})",
        f"np.pad(a, {m.pick('1', '(1, 2)', '2')}, mode='{m.pick('constant', 'edge', 'reflect', 'symmetric', 'wrap')}')",
        "np.pad(a, 1, constant_values=7)",
        "np.diagonal(a)",
        "np.trace(a)",
        f"np.tril(a, {m.pick('0', '1', '-1')})",
        f"np.triu(a, {m.pick('0', '1', '-1')})",
        f"np.diag(a, {m.pick('0', '1')})",
        f"np.broadcast_to(a, {m.pick('(2, 3, 4)', '(3, 3)', '(2, 6)')})",
        f"np.split(a, 2, axis={axis})",
        f"np.array_split(a, 3, axis={axis})",
        "np.hsplit(a, 2)",
        "np.vsplit(a, 2)",
        f"np.delete(a, {m.pick('0', '[0, 1]', '-1', 'slice(0, 2)', '9')}, axis={m.pick('None', axis)})",
        f"np.insert(a, {m.pick('0', '1', '[0, 1]')}, 5, axis={m.pick('None', axis)})",
        "np.append(a, 3)",
        f"np.append(a, a, axis={axis})",
        f"np.take(a, {m.pick('0', '[0, 1]', '[-1, 0, 1]', '[[0], [1]]')}, axis={m.pick('None', axis)})",
        f"np.unstack(a, axis={axis})",
        f"np.rollaxis(a, {axis})",
        "np.resize(a, (2, 5))",
    )
    return f"a = {a}\nr = {call}", "exact"


def joining(m):
    shape = m.one([(3,), (2, 3), (3, 3), (2, 3, 2)])
    other = shape if m.random.random() < 0.85 else m.shape()
    a, b = m.array(shape=shape), m.array(shape=other)
    axis = m.single_axis(shape)
    call = m.pick(
        f"concatenate([a, b], axis={axis})",
        f"stack([a, b], axis={axis})",
        "vstack([a, b])",
        "hstack((a, b))",
        "dstack([a, b])",
        "column_stack([a, b])",
        "concatenate([a, b], axis=None)",
        "concatenate([a, [1]])",
        "stack([a, b])",
        "array([a, b])",
        "block([a, b])",
    )
    return f"a = {a}\nb = {b}\nr = np.{call}", "exact"


def sorting(m):
    shape = m.one([(5,), (7,), (2, 3), (3, 4), (2, 3, 2)])
    dtype = m.pick("uint8", "int32", "int64", "float32", "float64", "float16")
    a = m.distinct(dtype, shape) if m.random.random() < 0.5 else m.array(shape=shape, dtype=dtype)
    axis = m.pick("-1", "0", "None")
    call = m.pick(
        f"np.sort(a, axis={axis})",
        f"np.argsort(a, axis={axis}, kind='stable')",
        "np.unique(a)",
        "np.unique(a, return_counts=True)",
        "np.unique(a, return_index=True, return_inverse=True)",
        "np.unique(a, axis=0)",
        f"np.argmax(a, axis={axis})",
        f"np.argmin(a, axis={axis})",
        "np.searchsorted(np.sort(a.ravel()), [0, 1.5, 100])",
        "np.searchsorted(np.sort(a.ravel()), 2, side='right')",
        "np.isin(a, [0, 1, 2])",
        "np.intersect1d(a, [0, 1, 2])",
        "np.union1d(a, [0, 1])",
        "np.setdiff1d(a, [0, 1])",
        "np.setxor1d(a, [0, 1])",
        "np.lexsort((a.ravel(), a.ravel()[::-1]))",
        "np.partition(a, 1, axis=-1)[..., 1]",
        "np.sort(a.ravel())[::-1]",
        "np.cumsum(a)",
        f"np.cumsum(a, axis={axis})",
        f"np.diff(a, axis={m.pick('-1', '0')})",
        "np.diff(a, n=2)",
        "np.ediff1d(a)",
        "np.digitize(a, [0, 1, 2])",
        "np.nanargmax(a)",
        "np.nanargmin(a)",
    )
    return f"a = {a}\nr = {call}", "exact"


def statistics(m):
    shape = m.one([(5,), (6,), (2, 3), (3, 4), (4, 3), (2, 3, 2)])
    dtype = m.pick("int64", "float32", "float64", "float16", "uint8")
    a = (
        m.distinct(dtype, shape)
        if m.random.random() < 0.6
        else m.array(shape=shape, dtype=dtype, calm=m.random.random() < 0.8)
    )
    axis = m.pick("None", "0", "-1")
    q = m.pick("50", "25", "[1, 99]", "[0, 50, 100]", "33.3", "120")
    call = m.pick(
        f"np.median(a, axis={axis})",
        f"np.median(a, axis={axis}, keepdims=True)",
        f"np.percentile(a, {q}, axis={axis})",
        f"np.quantile(a, {m.pick('0.5', '0.1', '[0.25, 0.75]')}, axis={axis})",
        f"np.percentile(a, 40, method='{m.pick('lower', 'higher', 'nearest', 'midpoint', 'linear', 'hazen', 'weibull', 'median_unbiased', 'inverted_cdf')}')",
        f"np.nanmedian(a, axis={axis})",
        f"np.nanpercentile(a, 30, axis={axis})",
        f"np.average(a, axis={axis})",
        "np.average(a, weights=np.ones(a.shape))",
        "np.cov(a)",
        "np.corrcoef(a)",
        "np.histogram(a, bins=4)",
        "np.histogram(a, bins=[0, 1, 2, 5])",
        "np.histogram(a, bins=3, range=(0, 2))",
        "np.gradient(a.astype(float))",
        "np.interp([0.5, 1.5, 9], [0, 1, 2], [10, 20, 40])",
        "np.trapezoid(a.astype(float))",
        "np.convolve(a.ravel(), [1, 2])",
        "np.correlate(a.ravel(), [1, 2])",
        "np.ptp(a)",
        f"np.ptp(a, axis={m.pick('0', '-1')})",
        "np.bincount(np.abs(a.ravel()).astype(int))",
        "np.polyval([1, 2, 3], a)",
        "np.clip(a, 0, 2)",
        "np.round(a, 1)",
        "np.nan_to_num(a)",
    )
    return f"a = {a}\nr = {call}", "close"


def linear(m):
    def matrix(rows, columns):
        values = m.nested((rows, columns), lambda: str(m.random.randrange(-5, 6)))
        return f"np.array({values}, dtype='{m.pick('float64', 'float64', 'float32', 'int64', 'float16')}')"

    n = m.pick(2, 3, 4)
    a, b = matrix(n, n), matrix(n, m.pick(1, 2, 3))
    call = m.pick(
        "a @ b",
        "np.dot(a, b)",
        "np.matmul(a, b)",
        "a @ b[:, 0]",
        "np.vdot(a, a)",
        "np.inner(a, a)",
        "np.outer(a[0], b[:, 0])",
        "np.tensordot(a, b, 1)",
        "np.einsum('ij,jk->ik', a, b)",
        "np.einsum('ii->i', a)",
        "np.einsum('ij->j', a)",
        "np.kron(a, b)",
        "np.cross(a[0, :3], a[1, :3])",
        "np.trace(a)",
        "np.linalg.norm(a)",
        "np.linalg.norm(a, axis=1)",
        "np.linalg.norm(a[0])",
        "np.linalg.norm(a, ord=1)",
        "np.linalg.norm(a, ord=np.inf)",
        "np.linalg.norm(a, axis=0, keepdims=True)",
        "np.linalg.norm(a, 'fro')",
        "np.linalg.norm(a[0], 1)",
        "np.linalg.norm(a[0], np.inf)",
        "np.linalg.norm(a, 2)",
        "np.linalg.det(a)",
        "np.linalg.inv(a + 7 * np.eye(len(a)))",
        "np.linalg.solve(a + 7 * np.eye(len(a)), b)",
        "np.linalg.pinv(b)",
        "np.linalg.matrix_rank(a)",
        "np.linalg.matrix_power(a, 3)",
        "np.linalg.eigvalsh(a + a.T)",
        "np.linalg.svd(a, compute_uv=False)",
        "np.linalg.cond(a + 7 * np.eye(len(a)))",
        "np.linalg.slogdet(a)",
        "np.linalg.cholesky(a @ a.T + 40 * np.eye(len(a)))",
        "np.linalg.lstsq(a + 7 * np.eye(len(a)), b)[0]",
        "np.linalg.inv(b)",
        "np.linalg.inv(np.zeros((2, 2)))",
        "np.linalg.multi_dot([a, a, b])",
        "a @ a[:1]",
        "np.abs(np.linalg.qr(a.astype(float) + 7 * np.eye(len(a)))[1])",
    )
    return f"a = {a}\nb = {b}\nr = {call}", "linalg"


def creating(m):
    dtype = m.pick("", "", f", dtype='{m.one(DTYPES)}'")
    call = m.pick(
        f"np.zeros({m.shape()}{dtype})",
        f"np.ones({m.shape()}{dtype})",
        f"np.full({m.shape()}, {m.pick('7', '1.5', 'True', 'np.nan')}{dtype})",
        f"np.eye({m.pick(1, 3)}, {m.pick(2, 3)}, k={m.pick(-1, 0, 1)}{dtype})",
        f"np.identity(3{dtype})",
        f"np.arange({m.pick('5', '2, 8', '0, 10, 3', '10, 0, -2', '0, 1, 0.25', '5.0', '-3', '1, 1', '0.1, 0.5, 0.1', 'np.int32(4)', 'np.float32(3)')}{dtype})",
        f"np.linspace({m.pick('0, 1, 5', '0, 10, 4', '1, -1, 3', '0, 1, 1', '0, 1, 0', '[0, 1], [2, 5], 3', '0, 1, 5, endpoint=False', '0, 1, 7, retstep=True')}{dtype})",
        "np.logspace(0, 2, 3)",
        "np.geomspace(1, 1000, 4)",
        f"np.tri(3, 4, {m.pick(-1, 0, 1)})",
        f"np.zeros_like({m.array()})",
        f"np.ones_like({m.array()})",
        f"np.full_like({m.array()}, {m.pick('3', '2.5')})",
        f"np.empty_like({m.array()}).shape",
        "np.indices((2, 3))",
        "np.meshgrid([1, 2, 3], [4, 5])",
        "np.meshgrid([1, 2], [4, 5, 6], indexing='ij')",
        "np.mgrid[0:2, 0:3]",
        "np.ogrid[0:2, 0:3]",
        "np.mgrid[0:1:3j]",
        "np.r_[1:4, 0, 4]",
        "np.c_[[1, 2], [3, 4]]",
        "np.fromfunction(lambda i, j: i + j, (2, 3))",
        "np.diag([1, 2, 3])",
        "np.vander([1, 2, 3])",
        f"np.array({m.pick('[1, 2.5]', '[True, 2]', '[[1, 2], [3, 4.0]]', '[]', '[[]]', '5', '(1, 2)', 'range(4)', '[[1, 2], [3]]', '[1, [2]]', '[np.float32(1), 2]', '[np.int32(1), 2.5]', '[np.array([1, 2]), [3, 4]]', '[True, False]', '[1, 2, 3], ndmin=2')}{dtype})",
        f"np.asarray({m.pick('[1, 2]', '2.5', '[[True]]', 'np.arange(3)')}{dtype})",
        "np.fromiter((i * i for i in range(4)), dtype=int)",
    )
    return f"r = {call}", "close" if "space" in call else "exact"


def casting(m):
    source = m.one(DTYPES)
    special = m.random.random() < 0.2
    array = m.array(dtype=source, calm=not special)
    return f"r = {array}.astype('{m.one(DTYPES)}')", "exact"


def outputs(m):
    shape = m.one([(3,), (2, 3)])
    a, b = m.array(shape=shape, calm=True), m.array(shape=shape, calm=True)
    target = f"np.zeros({m.pick(shape, shape, (2, 2))}, dtype='{m.one(DTYPES)}')"
    name = m.one(["add", "multiply", "subtract", "maximum", "divide", "greater"])
    mask = m.array(dtype="bool", shape=shape)
    call = m.pick(
        f"np.{name}(a, b, out=o)",
        f"np.{name}(a, b, out=o, where={mask})",
        "np.sum(a, axis=0, out=o[0])",
        "np.clip(a, 0, 1, out=o)",
        f"np.{name}(a, b, dtype='{m.one(DTYPES)}')",
        f"np.sum(a, where={mask})",
        f"np.mean(a, where={mask})",
        f"np.max(a, where={mask}, initial=-1)",
    )
    return f"a = {a}\nb = {b}\no = {target}\nx = {call}\nr = (o, x, x is o)", "exact"


def methods_of_ufuncs(m):
    shape = m.one([(4,), (2, 3), (3, 3)])
    a = m.array(shape=shape, calm=True, dtype=m.pick("int64", "float64", "uint8", "bool"))
    name = m.pick(
        "add",
        "multiply",
        "maximum",
        "minimum",
        "logical_and",
        "logical_or",
        "bitwise_or",
        "bitwise_and",
        "subtract",
    )
    call = m.pick(
        f"np.{name}.reduce(a)",
        f"np.{name}.reduce(a, axis={m.single_axis(shape)})",
        f"np.{name}.accumulate(a)",
        f"np.{name}.outer(a, [1, 2])",
        f"np.{name}.reduce(a, axis=None)",
        f"np.{name}.reduce(a, axis=0, keepdims=True)",
    )
    return f"a = {a}\nr = {call}", "exact"


def printing(m):
    dtype = m.one(DTYPES)
    shape = m.one([(3,), (7,), (20,), (2, 3), (3, 4), (2, 2, 3), (1, 1), (0,), ()])
    make = m.pick(
        m.array(dtype=dtype, shape=shape),
        f"(np.arange({m.pick(5, 30, 1001, 1200)}) * {m.pick('1', '0.1', '1.5', '1e10', '1e-7', '123456.789', '-0.001')}).astype('{dtype if dtype != 'bool' else 'float64'}')",
        f"np.linspace({m.pick('0, 1, 11', '-1, 1, 7', '0, 1e6, 5', '1e-9, 1, 4')})",
        f"np.random.default_rng({m.random.randrange(50)}).normal(size={m.pick('3', '(2, 3)', '(4, 3)', '(40, 40)', '(3, 3, 3)')})",
        f"np.random.default_rng({m.random.randrange(50)}).normal(size={m.pick('3', '(2, 3)', '(4, 3)')}).astype('{m.pick('float32', 'float16')}')",
        f"np.random.default_rng({m.random.randrange(50)}).integers(-1000, 1000, size={m.pick('3', '(2, 3)', '(30, 40)')})",
    )
    if m.random.random() < 0.35:
        options = m.pick(
            "precision=3",
            "suppress=True",
            "precision=2, suppress=True",
            "linewidth=40",
            "threshold=5",
            "threshold=5, edgeitems=1",
            "sign='+'",
            "floatmode='fixed', precision=3",
            "nanstr='?', infstr='oo'",
            "sign=' '",
            "floatmode='unique'",
            "formatter={'float': lambda x: f'{x:.1f}'}",
        )
        return f"a = {make}\nwith np.printoptions({options}):\n    r = [repr(a), str(a)]", "exact"
    return f"r = {make}", "exact"


def scalars(m):
    dtype = m.one(DTYPES)
    x = f"np.{'bool_' if dtype == 'bool' else dtype}({m.number(dtype)})"
    call = m.pick(
        "x",
        "str(x)",
        "repr(x)",
        "f'{x}'",
        "f'{x:.3f}'",
        "float(x)",
        "bool(x)",
        "x.item()",
        "x.dtype",
        "x.shape",
        "hash(x) == hash(x.item())",
        "isinstance(x, float)",
        "isinstance(x, np.floating)",
        "isinstance(x, np.integer)",
        "isinstance(x, np.number)",
        "x == x.item()",
        "x + 1",
        "x * 2.5",
        "1 / (x + 1)",
        "x.astype(int)",
        "round(x)",
        "round(x, 1)",
        "int(x)",
        "-x",
        "abs(x)",
        "[x, 1]",
        "{x: 1}[x]",
        "max(x, 0)",
        "x.sum()",
        "x.round(1)",
        "x in [1, 0]",
        "np.array([x, x])",
        "x // 2",
        "x % 3",
        "divmod(x, 2)",
        "type(x).__name__",
        "x.ndim, x.size",
        "complex(x)",
        "x ** 2",
        "x < 1",
        "format(x, '8.2f')",
        "x.tolist()",
        "np.isscalar(x)",
        "np.float64(x)",
        "np.int32(x)",
        "np.array(x)",
        "x[()]",
        "list(range(3))[x]",
        "x if x else 0",
    )
    return f"x = {x}\nr = {call}", "exact"


def streams(m):
    seed = m.random.randrange(1000)
    draws = [
        m.pick(
            "random()",
            "random(3)",
            "uniform(-1, 1, 4)",
            "uniform(2, 5)",
            "normal(size=3)",
            "normal(1, 0.1, (2, 2))",
            "integers(10)",
            "integers(0, 5, 6)",
            "integers(0, 256, 5, dtype='uint8')",
            "choice(5, 3)",
            "choice([1.5, 2.5, 3.5])",
            "choice(10, 4, replace=False)",
            "choice(3, 5, p=[0.2, 0.3, 0.5])",
            "permutation(6)",
            "exponential(2.0, 3)",
            "standard_normal(2)",
            "permutation([3, 4, 5])",
            "integers(1, 7, size=(2, 2), endpoint=True)",
            "standard_normal(2, dtype='float32')",
            "random(2, dtype='float32')",
        )
        for _ in range(2)
    ]
    legacy = [
        m.pick(
            "rand()",
            "rand(2, 2)",
            "randn(3)",
            "uniform(0, 2, 3)",
            "normal(0, 1, 2)",
            "randint(0, 10)",
            "randint(5, size=4)",
            "choice(5, 2)",
            "permutation(5)",
            "random()",
            "random_sample(2)",
            "standard_normal()",
            "choice([1, 2, 3], 2, replace=False)",
            "exponential()",
        )
        for _ in range(2)
    ]
    if m.random.random() < 0.5:
        return (
            f"g = np.random.default_rng({seed})\nr = [g.{draws[0]}, g.{draws[1]}, g.random()]",
            "exact",
        )
    return (
        f"np.random.seed({seed})\nr = [np.random.{legacy[0]}, np.random.{legacy[1]}, np.random.rand()]",
        "close",
    )


def comparing(m):
    shape = m.one([(3,), (2, 3)])
    a, b = m.array(shape=shape), m.array(shape=m.mate(shape))
    call = m.pick(
        "np.allclose(a, b)",
        "np.isclose(a, b)",
        "np.array_equal(a, b)",
        "np.array_equal(a, a, equal_nan=True)",
        "np.isclose(a, a, equal_nan=True)",
        "np.allclose(a, a + 1e-9)",
        "a == None",
        "a != 'x'",
        "bool(a.any())",
        "(a == b).all()",
        "np.array_equiv(a, b)",
        "3 in a",
        "np.maximum(a, b)",
        "np.where(a > b, a, b)",
        "np.select([a > 1, a < 0], [a, -1.0 * a], 5)",
        "a.any() and b.all()",
        "len(a)",
        "list(a)",
        "[x for x in a]",
        "max(a.ravel())",
        "sorted(a.ravel().tolist(), key=str)",
        "sum(a)",
        "a.tolist() == b.tolist()",
        "bool(a)",
        "float(a)",
        "not a",
        "int(a[0])" if len(shape) == 1 else "a[0] < a[1]",
    )
    return f"a = {a}\nb = {b}\nr = {call}", "exact"


FAMILIES = [
    (operators, 9), (scalar_operators, 6), (unary, 5), (prefix, 1), (binary, 5), (reduction, 7), (nan_reduction, 2),
    (method, 6), (indexing, 9), (masking, 3), (assignment, 7), (in_place, 4), (aliasing, 4), (overlap, 1), (shaping, 8),
    (joining, 3), (sorting, 5), (statistics, 6), (linear, 5), (creating, 5), (casting, 3), (outputs, 3),
    (methods_of_ufuncs, 2), (printing, 6), (scalars, 6), (streams, 4), (comparing, 4),
]  # fmt: skip


def generate(seed, count):
    """`count` pairs of code and how closely results must agree: exact, close, linalg."""
    maker = Maker(seed)
    families = [family for family, weight in FAMILIES for _ in range(weight)]
    seen = set()
    while len(seen) < count:
        code, kind = maker.one(families)(maker)
        if code not in seen:
            seen.add(code)
            yield code, kind
