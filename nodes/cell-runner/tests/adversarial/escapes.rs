//! Ways out through the interpreter: introspection, forged code, frames, imports.

use super::Sees::{Contained, Errs, Prints, Raises};
use super::{Case, breaks, case};

pub const CASES: &[Case] = &[
    // Code objects.
    case(
        "code-replace",
        "(lambda: 0).__code__.replace(co_code=b'\\xff' * 64)",
        Raises("TypeError"),
    ),
    case(
        "code-replace-dunder",
        "(lambda: 0).__code__.__replace__(co_code=b'')",
        Raises("TypeError"),
    ),
    case(
        "code-copy-replace",
        "import copy\ncopy.replace((lambda: 0).__code__, co_code=b'\\x01')",
        Errs,
    ),
    case(
        "code-constructor",
        "type((lambda: 0).__code__)(0, 0, 0, 0, 0, 0, b'', (), (), (), '', '', '', 0, b'', b'')",
        Raises("TypeError"),
    ),
    case(
        "code-new",
        "C = type((lambda: 0).__code__)\nC.__new__(C, 0, 0, 0, 0, 0, 0, b'', (), (), (), '', '', '', 0, b'', b'')",
        Raises("TypeError"),
    ),
    case(
        "code-new-through-object",
        "C = type((lambda: 0).__code__)\nobject.__new__(C)",
        Raises("TypeError"),
    ),
    case("code-subclass", "class C(type((lambda: 0).__code__)): pass", Raises("TypeError")),
    case(
        "code-reduce",
        "import copyreg\ncopyreg.__newobj__(type((lambda: 0).__code__))",
        Raises("TypeError"),
    ),
    case(
        "function-set-code",
        "def f(): pass\ndef g(): return 1\nf.__code__ = g.__code__",
        Raises("AttributeError"),
    ),
    case(
        "function-set-code-by-descriptor",
        "def f(): pass\ntype(f).__dict__['__code__'].__set__(f, (lambda: 1).__code__)",
        Raises("AttributeError"),
    ),
    case(
        "function-wrong-closure",
        "import types\nx = 1\ndef outer():\n    y = 2\n    def inner(): return y\n    return inner\ntypes.FunctionType(outer().__code__, {}, 'f', (), ())()",
        Raises("ValueError"),
    ),
    case(
        "function-closure-of-junk",
        "import types\ndef outer():\n    y = 2\n    def inner(): return y\n    return inner\ntypes.FunctionType(outer().__code__, {}, 'f', (), (1,))",
        Raises("TypeError"),
    ),
    case("marshal-import", "import marshal", Errs),
    case(
        "marshal-in-sys",
        "import sys\nsys.modules['marshal'].loads(b'\\xe3' + b'\\xff' * 40)",
        Errs,
    ),
    case(
        "marshal-through-importlib",
        "import sys\nsys.modules['_frozen_importlib_external'].marshal.loads(b'\\xe3' + b'\\xff' * 40)",
        Errs,
    ),
    breaks(
        "marshal-made-again",
        "import sys\nB = sys.modules['_frozen_importlib'].BuiltinImporter\nsys.modules.pop('marshal', None)\nB.load_module('marshal').loads(b'\\xe3' + b'\\xff' * 40)",
        Errs,
    ),
    case(
        "marshal-through-frozen-object",
        "import sys\nsys.modules['_frozen_importlib']._imp.get_frozen_object('x', b'\\xe3' + b'\\xff' * 40)",
        Errs,
    ),
    case("pickle-code", "import pickle\npickle.loads(b\"cos\\nsystem\\n(S'id'\\ntR.\")", Errs),
    case(
        "compile-bad-tree",
        "import ast\nexec(compile(ast.Module(body=[ast.Expr(value=ast.Name(id='x', ctx=ast.Store()))], type_ignores=[]), 'x', 'exec'))",
        Errs,
    ),
    case("compile-null-name", "exec(compile('a\\0b', 'x', 'exec'))", Errs),
    // Frames, generators, tracebacks.
    case(
        "frame-set-line",
        "import sys\nf = sys._getframe()\nf.f_lineno = 1",
        Raises("AttributeError"),
    ),
    case(
        "frame-set-line-while-traced",
        "import sys\ndef t(frame, event, arg):\n    frame.f_lineno = 1\n    return t\nsys.settrace(t)\n(lambda: 0)()",
        Raises("AttributeError"),
    ),
    case(
        "trace-all-threads",
        "import sys\nsys._settraceallthreads(print)",
        Raises("AttributeError"),
    ),
    case("profile", "import sys\nsys.setprofile(lambda *a: 1 / 0)", Raises("AttributeError")),
    case("monitoring", "import sys\nsys.monitoring.use_tool_id(1, 'x')", Raises("AttributeError")),
    case("audit-hook", "import sys\nsys.addaudithook(lambda *a: 1 / 0)", Raises("AttributeError")),
    case(
        "frames-to-the-top",
        "import sys\nf = sys._getframe()\nwhile f.f_back: f = f.f_back\nprint(f.f_code.co_filename)",
        Prints("<cell"),
    ),
    case("frame-clear-running", "import sys\nsys._getframe().clear()", Raises("RuntimeError")),
    case(
        "frame-locals-of-runtime",
        "def f():\n    import sys\n    try: robo.move_to('x')\n    except ValueError as e: tb = e.__traceback__\n    while tb.tb_next: tb = tb.tb_next\n    tb.tb_frame.f_locals['arguments'] = 7\n    return len(tb.tb_frame.f_globals)\nprint('globals', f() > 0)",
        Contained,
    ),
    case(
        "generator-frame-clear",
        "def g():\n    yield 1\n    yield 2\nx = g(); next(x)\nx.gi_frame.clear()",
        Raises("RuntimeError"),
    ),
    case(
        "generator-reenter",
        "def g():\n    yield next(x)\nx = g()\nnext(x)",
        Raises("ValueError"),
    ),
    case(
        "generator-thrown-junk",
        "def g(): yield 1\nx = g(); next(x)\nx.throw(7)",
        Raises("TypeError"),
    ),
    case(
        "traceback-loop",
        "try: 1 / 0\nexcept Exception as e:\n    t = e.__traceback__\n    t.tb_next = t",
        Errs,
    ),
    case(
        "exception-cause-loop",
        "a = ValueError('a'); b = ValueError('b')\na.__cause__ = b; b.__cause__ = a\nraise a",
        Raises("ValueError"),
    ),
    // Types and memory.
    case(
        "subclasses-that-open",
        "found = [c for c in object.__subclasses__() if 'FileIO' in c.__name__]\nfor c in found:\n    c('/etc/passwd')\nprint('none of', len(found))",
        Contained,
    ),
    case(
        "subclasses-loader-reads",
        "L = [c for c in object.__subclasses__() if c.__name__ == 'FileLoader']\nprint(L[0]('x', '/etc/passwd').get_data('/etc/passwd')[:4])",
        Errs,
    ),
    case(
        "loader-in-sys",
        "import sys\nL = sys.modules['_frozen_importlib_external'].SourceFileLoader('x', '/etc/passwd')\nprint(L.get_data('/etc/passwd')[:4])",
        Errs,
    ),
    case("class-of-builtin", "(1).__class__ = bool", Raises("TypeError")),
    case("bases-of-builtin", "int.__bases__ = (object,)", Raises("TypeError")),
    case("patch-builtin-type", "int.__add__ = lambda a, b: 0", Raises("TypeError")),
    case("dict-of-builtin-type", "int.__dict__['x'] = 1", Raises("TypeError")),
    case(
        "mro-lies",
        "class M(type):\n    def mro(cls): return [cls, int, object]\nclass C(metaclass=M): pass\nC() + 1",
        Errs,
    ),
    case(
        "mappingproxy-inside",
        "class X:\n    def __eq__(self, other):\n        other['evil'] = 1\nint.__dict__ == X()",
        Contained,
    ),
    case("gc-objects", "import gc\ngc.get_objects()", Errs),
    case("gc-referrers", "import gc\ngc.get_referrers(robo)", Errs),
    case("ctypes", "import ctypes\nctypes.string_at(0)", Raises("ModuleNotFoundError")),
    case(
        "memory-view-of-freed",
        "b = bytearray(8)\nm = memoryview(b)\nb.extend(b'x' * 10**6)",
        Raises("BufferError"),
    ),
    case("memory-view-released", "m = memoryview(b'abc')\nm.release()\nm[0]", Raises("ValueError")),
    case("struct-beyond", "import struct\nstruct.unpack_from('q', b'abc', 2**62)", Errs),
    case(
        "array-from-huge",
        "import array\na = array.array('d')\na.frombytes(b'x' * 7)",
        Raises("ValueError"),
    ),
    case(
        "sort-changes-list",
        "l = list(range(1000))\nl.sort(key=lambda x: l.clear() or x)",
        Raises("ValueError"),
    ),
    case(
        "dict-changes-while-iterated",
        "d = {i: i for i in range(100)}\nfor k in d: d[k + 1000] = 1",
        Raises("RuntimeError"),
    ),
    case(
        "eq-changes-dict",
        "class E:\n    def __hash__(self): return 1\n    def __eq__(self, o):\n        d.clear()\n        return False\nd = {}\nfor i in range(50): d[E()] = i\nprint('survived')",
        Prints("survived"),
    ),
    case(
        "del-revives",
        "import time\nkept = []\nclass R:\n    def __del__(self): kept.append(self)\nfor _ in range(10000): R()\nprint('survived', len(kept) > 0)",
        Prints("survived"),
    ),
    case(
        "del-raises-and-loops",
        "class R:\n    def __del__(self): 1 / 0\nfor _ in range(100): R()\nprint('survived')",
        Prints("survived"),
    ),
    // Imports.
    case(
        "import-subprocess",
        "import subprocess\nsubprocess.run(['id'])",
        Raises("ModuleNotFoundError"),
    ),
    case("import-socket", "import socket", Raises("ModuleNotFoundError")),
    case("import-posix", "import posix", Raises("ModuleNotFoundError")),
    case("import-underscore-io", "import _io\n_io.FileIO('/etc/passwd')", Errs),
    case("import-importlib", "import importlib\nimportlib.import_module('subprocess')", Errs),
    case("import-by-dunder", "__import__('socket')", Raises("ModuleNotFoundError")),
    case(
        "import-unguarded",
        "g = __import__.__closure__\nfor c in g or ():\n    if callable(c.cell_contents):\n        c.cell_contents('socket')",
        Contained,
    ),
    case(
        "import-as-another-module",
        "g = {'__name__': 'elsewhere', '__builtins__': __builtins__}\nexec('import subprocess; subprocess.run([\"id\"])', g)",
        Errs,
    ),
    breaks(
        "import-a-list-of-paths",
        "import sys\nsys.path.insert(0, '/usr/lib/python3')\nimport antigravity",
        Errs,
    ),
    breaks(
        "import-own-finder",
        "import sys\nclass F:\n    def find_spec(self, *a): raise SystemExit('found')\nsys.meta_path.insert(0, F())\nimport statistics, socket",
        Contained,
    ),
    breaks("import-cleared", "import sys\nsys.modules.clear()\nimport json", Contained),
    breaks(
        "import-builtins-gone",
        "import builtins\nfor n in list(vars(builtins)): delattr(builtins, n)\nprint(1)",
        Errs,
    ),
    breaks("import-replaced", "import builtins\nbuiltins.__import__ = None\nimport math", Errs),
    case(
        "subinterpreter",
        "import sys\nm = sys.modules['_frozen_importlib'].BuiltinImporter.load_module('_interpreters')\nm.create()",
        Errs,
    ),
    case("thread", "import _thread\n_thread.start_new_thread(print, ('in a thread',))", Errs),
    case(
        "crash-on-purpose",
        "import sys\nm = sys.modules['_frozen_importlib'].BuiltinImporter.load_module('faulthandler')\nm._sigsegv()",
        Errs,
    ),
];
