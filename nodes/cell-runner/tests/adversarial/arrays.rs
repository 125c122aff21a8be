//! What arrays are misused for.

use super::Sees::{Contained, Errs, MemoryEnds, Raises, TimesOut};
use super::{Case, case};

pub const CASES: &[Case] = &[
    case("array-huge", "np.zeros(10**12)", MemoryEnds),
    case("array-shape-overflows", "np.zeros((2**40, 2**40))", Errs),
    case("array-shape-negative", "np.zeros(-1)", Errs),
    case("array-doubles", "a = np.ones(10)\nwhile True: a = np.concatenate([a, a])", MemoryEnds),
    case("array-broadcast-huge", "np.ones((10**6, 1)) + np.ones(10**6)", MemoryEnds),
    case("array-outer", "np.outer(np.ones(10**5), np.ones(10**5))", MemoryEnds),
    case(
        "array-of-hostile-length",
        "class L:\n    def __len__(self): return 10**12\n    def __getitem__(self, i): return i\nnp.array(L())",
        Contained,
    ),
    case("array-of-itself", "l = []\nl.append(l)\nnp.array(l)", Contained),
    case("array-nested-deep", "l = 1\nfor _ in range(10000): l = [l]\nnp.array(l)", Errs),
    case("array-of-objects", "np.array([object()], dtype=object)", Errs),
    case("array-index-beyond", "np.zeros(3)[10]", Raises("IndexError")),
    case("array-index-far-beyond", "np.zeros(3)[2**70]", Errs),
    case("array-take-beyond", "np.zeros(3)[np.array([2**40])] = 1", Raises("IndexError")),
    case(
        "array-strides-forged",
        "np.lib.stride_tricks.as_strided(np.zeros(3), shape=(10**9,))",
        Errs,
    ),
    case("array-from-short-bytes", "np.frombuffer(b'abc', dtype='float64')", Errs),
    case("array-set-shape", "a = np.zeros(4)\na.shape = (10**9,)", Errs),
    case("array-set-data", "a = np.zeros(4)\na.data = 7", Errs),
    case(
        "array-interface",
        "class A:\n    __array_interface__ = {'data': (4096, False), 'shape': (9,), 'typestr': '<f8', 'version': 3}\nnp.array(A())[0] + 1",
        Errs,
    ),
    case("array-pickled", "np.load('{canary}', allow_pickle=True)", Errs),
    case("array-saved", "np.save('{canary}', np.zeros(3))", Contained),
    case("array-mapped", "np.memmap('{canary}', mode='w+', shape=3)", Errs),
    case("array-to-file", "np.zeros(3).tofile('{canary}')", Errs),
    case("array-loop", "while True: np.sort(np.random.rand(100000))", TimesOut),
    case(
        "array-sorted-in-one-call",
        "np.sort(np.random.rand(3 * 10**6))\nraise ValueError('sorted')",
        Raises("ValueError"),
    ),
    case("array-power-of-matrix", "np.linalg.matrix_power(np.ones((200, 200)), 2**60)", Contained),
    case("array-product-in-one-call", "a = np.ones((1500, 1500))\nwhile True: a @ a", TimesOut),
];
