//! What does not end: loops, native calls, sleeps, recursion.

use super::Sees::{Contained, Errs, MemoryOrTime, Prints, Raises, TimesOut};
use super::{Case, breaks, case};

pub const CASES: &[Case] = &[
    case("loop", "while True: pass", TimesOut),
    case(
        "loop-catches-exception",
        "while True:\n    try: pass\n    except Exception: pass",
        TimesOut,
    ),
    case(
        "loop-catches-everything",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        TimesOut,
    ),
    case("loop-in-finally", "try:\n    while True: pass\nfinally:\n    while True: pass", TimesOut),
    case(
        "loop-in-context-manager",
        "class C:\n    def __enter__(self): pass\n    def __exit__(self, *a): return True\nwhile True:\n    with C():\n        while True: pass",
        TimesOut,
    ),
    case(
        "loop-in-del",
        "class D:\n    def __del__(self):\n        while True: pass\nD()",
        Contained,
    ),
    case(
        "loop-in-repr",
        "class R:\n    def __repr__(self):\n        while True: pass\nR()",
        TimesOut,
    ),
    case(
        "loop-in-str-of-exception",
        "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E",
        TimesOut,
    ),
    case(
        "loop-in-exception-after-interrupt",
        "class E(KeyboardInterrupt):\n    def __str__(self):\n        while True:\n            try:\n                while True: pass\n            except BaseException: pass\nraise E",
        TimesOut,
    ),
    case(
        "loop-in-generator",
        "def g():\n    while True:\n        try: yield\n        except GeneratorExit: pass\nfor _ in g(): pass",
        TimesOut,
    ),
    case(
        "loop-in-hash",
        "class H:\n    def __hash__(self):\n        while True: pass\n{H(): 1}",
        TimesOut,
    ),
    breaks(
        "loop-in-import",
        "import sys\nclass F:\n    def find_spec(self, *a):\n        while True: pass\nsys.meta_path.insert(0, F())\nimport colorsys, sched, tomllib",
        Contained,
    ),
    case("native-sum", "sum(range(10**12))", TimesOut),
    case("native-list", "list(iter(int, 1))", MemoryOrTime),
    case("native-all", "all(iter(lambda: True, False))", TimesOut),
    case("native-count", "import itertools\nfor _ in itertools.repeat(0): pass", TimesOut),
    case(
        "native-consume",
        "import collections, itertools\ncollections.deque(itertools.count(), maxlen=0)",
        TimesOut,
    ),
    case("native-in", "import itertools\n-1 in itertools.count()", TimesOut),
    case("native-max", "import itertools\nmax(itertools.repeat(1))", MemoryOrTime),
    case("power-tower", "9**9**9", MemoryOrTime),
    case("power-shift", "x = 3\nwhile True: x = x * x", TimesOut),
    case("power-modulo", "pow(7, 3**200000, 11**100000)", TimesOut),
    case("factorial", "import math\nmath.factorial(10**8)", TimesOut),
    case("big-int-to-text", "str(7**10**6)", Errs),
    case("big-int-from-text", "int('7' * 10**6)", Errs),
    case(
        "decimal",
        "import decimal\ndecimal.getcontext().prec = 10**8\ndecimal.Decimal(2).sqrt()",
        Contained,
    ),
    case(
        "fraction",
        "import fractions\nx = fractions.Fraction(1, 3)\nwhile True: x = x * x + 1",
        TimesOut,
    ),
    case("regex", "import re\nre.match('(a+)+$', 'a' * 60 + 'b')", TimesOut),
    case("regex-nested", "import re\nre.match('((a|aa)+)+$', 'a' * 80 + 'b')", TimesOut),
    case("regex-alternatives", "import re\nre.match('(x|x|x)*y', 'x' * 60)", TimesOut),
    case(
        "hash-collisions",
        "s = set()\nfor i in range(20000): s.add(i * (2**61 - 1))\nprint('done')",
        Contained,
    ),
    case("sleep", "import time\ntime.sleep(10**9)", TimesOut),
    case("sleep-forever", "time.sleep(float('inf'))", TimesOut),
    case(
        "sleep-catching",
        "while True:\n    try: time.sleep(100)\n    except BaseException: pass",
        TimesOut,
    ),
    breaks(
        "sleep-original",
        "import sys\nB = sys.modules['_frozen_importlib'].BuiltinImporter\nsys.modules.pop('time')\nB.load_module('time').sleep(10**6)",
        TimesOut,
    ),
    case("sleep-negative", "time.sleep(-1)", Raises("ValueError")),
    case("sleep-not-a-number", "time.sleep(float('nan'))", Raises("ValueError")),
    case(
        "schedule",
        "import sched, time\ns = sched.scheduler()\ns.enter(10**6, 1, print)\ns.run()",
        TimesOut,
    ),
    case("queue-get", "import queue\nqueue.Queue().get()", Contained),
    case(
        "lock",
        "import _thread\nl = _thread.allocate_lock(); l.acquire(); l.acquire()",
        Contained,
    ),
    case("recursion", "def f(): f()\nf()", Raises("RecursionError")),
    case("recursion-limit", "import sys\nsys.setrecursionlimit(10**9)", Raises("ValueError")),
    breaks(
        "recursion-limit-again",
        "import sys\nsys.setrecursionlimit(10000)\ndef f(n): return f(n + 1)\nf(0)",
        Raises("RecursionError"),
    ),
    breaks(
        "recursion-limit-afresh",
        "import sys\nB = sys.modules['_frozen_importlib'].BuiltinImporter\nsys.modules.pop('sys')\nB.load_module('sys').setrecursionlimit(10**9)\nraise ValueError('limit set')",
        Errs,
    ),
    case("recursion-repr", "l = []\nfor _ in range(100000): l = [l]\nrepr(l)", Contained),
    case(
        "recursion-eq",
        "a = []; a.append(a); b = []; b.append(b)\na == b",
        Raises("RecursionError"),
    ),
    case(
        "recursion-getattr",
        "class A:\n    def __getattr__(self, n): return getattr(self, n + 'x')\nA().a",
        Raises("RecursionError"),
    ),
    case("recursion-json", "import json\njson.loads('[' * 200000)", Errs),
    case("recursion-source", "eval('(' * 100000 + ')' * 100000)", Errs),
    case("recursion-unary", "eval('-' * 100000 + '1')", Contained),
    case("recursion-lambda", "eval('lambda: ' * 50000 + '1')", Contained),
    case(
        "native-stack",
        "g = iter([1])\nfor _ in range(3000000): g = map(abs, g)\nnext(g)",
        Contained,
    ),
    case(
        "native-stack-chain",
        "import itertools\ng = iter([])\nfor _ in range(300000): g = itertools.chain(g, [1])\nnext(g)",
        Contained,
    ),
    case(
        "native-stack-partial",
        "import functools\nf = abs\nfor _ in range(300000): f = functools.partial(f)\nf(1)",
        Contained,
    ),
    case(
        "deep-drop",
        "x = None\nfor _ in range(1000000): x = (x,)\ndel x\nprint('dropped')",
        Contained,
    ),
    case(
        "traceback-bomb",
        "def f(n):\n    try: f(n + 1)\n    except RecursionError: raise ValueError(n)\nf(0)",
        Raises("ValueError"),
    ),
    case(
        "exception-group-bomb",
        "e = ValueError('x')\nfor _ in range(400): e = ExceptionGroup('g', [e, e])\nraise e",
        Contained,
    ),
    case("source-of-many-lines", "exec('x = 1\\n' * 200000)\nprint('ran')", Contained),
    case(
        "many-arguments",
        "eval('f(' + ','.join(['1'] * 100000) + ')', {'f': lambda *a: len(a)})",
        Contained,
    ),
    case(
        "comprehension-nested",
        "[[[[0 for a in range(999)] for b in range(999)] for c in range(999)] for d in range(999)]",
        Contained,
    ),
    case(
        "interrupt-kept",
        "try:\n    while True: pass\nexcept KeyboardInterrupt: print('kept')",
        Prints("kept"),
    ),
];
