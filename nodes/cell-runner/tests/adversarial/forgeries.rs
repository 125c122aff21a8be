//! What lies to the node, or wants the robot to move when it must not.

use super::Sees::{Contained, Errs, Finishes, Raises, TimesOut};
use super::{Case, breaks, case};

pub const CASES: &[Case] = &[
    case("finish-lies", "finish('victory')", Raises("ValueError")),
    case(
        "finish-then-move",
        "try: finish('success')\nexcept BaseException: pass\nrobo.move_to((0, 0, 1))",
        Finishes,
    ),
    case(
        "finish-then-move-in-finally",
        "try: finish('success')\nfinally: robo.move_to((0, 0, 1))",
        Finishes,
    ),
    case(
        "finish-natively-with-junk",
        "import sys\nsys.modules['_cell'].finish('victory', 'x' * 10**7)",
        Errs,
    ),
    case("call-natively-unknown", "import sys\nsys.modules['_cell'].call('reset', {})", Errs),
    case(
        "call-natively-unchecked",
        "import sys\nsys.modules['_cell'].call('move_to', {'xyz': 'far away'})",
        Errs,
    ),
    case(
        "attribute-natively-unknown",
        "import sys\nsys.modules['_cell'].attribute('__class__')",
        Contained,
    ),
    case("result-changed", "s = robo.state()\ns.terminated = True", Raises("AttributeError")),
    case(
        "result-changed-inside",
        "s = robo.state()\nobject.__setattr__(s, 'terminated', True)",
        Contained,
    ),
    breaks(
        "robo-replaced",
        "import sys\nsys.modules['robo'] = None\nrobo = None\nrobo.state()",
        Errs,
    ),
    breaks(
        "robo-patched",
        "type(robo).state = lambda self: 'forged'\nassert robo.state() == 'forged'\nraise ValueError('only here')",
        Raises("ValueError"),
    ),
    case("interrupt-raised", "raise KeyboardInterrupt('the deadline has passed')", Errs),
    case("finished-raised", "raise EpisodeFinished('terminated')", Contained),
    case("finished-class-forged", "class Finished(BaseException): pass\nraise Finished", Errs),
    case(
        "crash-words-printed",
        "import sys\nprint('memory allocation of 4096 bytes failed', file=sys.stderr)\nraise ValueError('alive')",
        Raises("ValueError"),
    ),
    case(
        "protocol-printed",
        "print('\\x02\\0\\0\\0\\0\\0\\0\\0{}')\nraise ValueError('alive')",
        Raises("ValueError"),
    ),
    breaks(
        "stdout-replaced",
        "import sys\nsys.stdout = None\nprint('unheard')\nraise ValueError('alive')",
        Errs,
    ),
    case(
        "stream-forged",
        "import sys\nS = type(sys.stdout)\nS('node').write('forged')\nraise ValueError('alive')",
        Raises("ValueError"),
    ),
    breaks("stream-closed", "import sys\nsys.stdout.close()", Errs),
    breaks(
        "runtime-patched",
        "import traceback\ntraceback.TracebackException.from_exception = None\nraise ValueError('mine')",
        Errs,
    ),
    breaks(
        "runtime-forges-error",
        "import traceback\ntraceback.TracebackException.format = lambda self: ['all is well']\nraise ValueError('mine')",
        Contained,
    ),
    case(
        "hidden-file-name",
        "exec(compile('while True: pass', '<ruaflow robo>', 'exec'))",
        TimesOut,
    ),
    case(
        "move-without-end",
        "while True:\n    try: robo.move_to((0, 0, 1))\n    except BaseException: pass",
        TimesOut,
    ),
    case("ask-without-end", "while True: robo.state()", TimesOut),
];
