//! What a cell can do: the language agents write, the names they find, what they are told.
#![allow(clippy::unwrap_used)]

mod common;

use std::time::{Duration, Instant};

use cell_runner::protocol::ErrorKind;
use common::Cells;
use serde_json::json;

#[test]
fn names_live_on_in_later_cells() {
    let mut cells = Cells::new();
    cells.stdout("x = 41\ndef twice(v):\n    return 2 * v");
    assert_eq!(cells.stdout("x += 1; print(twice(x))"), "84\n");
    let ran = cells.run("x = 1\nraise RuntimeError('half way')");
    assert_eq!(ran.error_line(), "RuntimeError: half way");
    assert_eq!(cells.stdout("print(x)"), "1\n");
}

#[test]
fn the_names_of_the_reference_are_there() {
    let mut cells = Cells::new();
    assert_eq!(
        cells.stdout("log(math.pi > 3, time.time() > 0, callable(display), callable(finish))"),
        "True True True True\n"
    );
    assert_eq!(
        cells.stdout("print(robo.task, robo.done, robo.OPEN, robo.CLOSE, robo.MAX_PLANAR_MOVE_M)"),
        "pick up the bowl False -1.0 1.0 0.3\n"
    );
    let ran = cells.run("display(None)");
    assert_ne!(ran.error(), "");
}

/// Shapes counted in recorded cells of a frontier model, without numpy.
#[test]
fn the_python_that_agents_write_runs() {
    let mut cells = Cells::new();
    let program = r"
def move_checked(xyz, gripper=robo.OPEN, tries=3):
    for _ in range(tries):
        r = robo.move_to(xyz, gripper, step_clip=0.015)
        if r.reached: return r
    raise RuntimeError('not reached')

pose = (0.1, -0.2)
r = move_checked([*pose, 0.30])
assert r.reached and 0.25 < r.final_eef_pos[2] < 0.35
safe = list(r.final_eef_pos);safe[2] = 1.03
for name, (row, col) in [('bowl', (10, 20)), ('plate', (30, 40))]:
    print(name, row + col, +1)
    if robo.done:break
above = [p for p in [pose, (3, 4)] for _ in range(1) if p[0] < 1]
print(above, max(p[0] for p in above), safe[:2], 'z=' + str(round(safe[2], 2)), {'a': 1}.get('b'))
while len(safe) > 2: safe.pop()
print(robo.state().object_names, robo.state(0).eef_pos[2])
move_checked
";
    let ran = cells.run(program);
    assert_eq!(ran.error(), "");
    assert_eq!(
        ran.output.stdout,
        "bowl 30 1\nplate 70 1\n[(0.1, -0.2)] 0.1 [0.1, -0.2] z=1.03 None\n('bowl_1', 'plate_1') 1.1733\n"
    );
    assert!(ran.done.value.unwrap().starts_with("<function move_checked at"));
    // Helpers work in the next cell.
    cells.stdout("move_checked((0, 0, 1), 'hold')");
    let (method, arguments) = cells.calls.last().unwrap();
    assert_eq!(method, "move_to");
    assert_eq!(
        json!(arguments),
        json!({
            "xyz": [0.0, 0.0, 1.0], "gripper": "hold", "tol": 0.012, "step_clip": 0.015,
            "max_steps": 80, "target_yaw": null, "yaw_step_clip": 0.1, "action_scale": 0.05,
        })
    );
}

#[test]
fn more_of_the_language() {
    let mut cells = Cells::new();
    for (code, printed) in [
        (
            "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass P:\n    x: float = 1.5\nprint(P())",
            "P(x=1.5)\n",
        ),
        ("print(f'{1/3:.3f} {robo.CLOSE=}')", "0.333 robo.CLOSE=1.0\n"),
        ("match (1, 2):\n    case (a, b) if a < b: print('less')", "less\n"),
        (
            "import json, re, statistics, itertools, collections\nprint(json.dumps({'a': [1, None]}), re.sub('b+', '-', 'abba'), statistics.median([3, 1, 2]))",
            "{\"a\": [1, null]} a-a 2\n",
        ),
        (
            "try:\n    1/0\nexcept ZeroDivisionError as e: print(e)\nfinally: print('end')",
            "division by zero\nend\n",
        ),
        ("import random; random.seed(0); print(random.random())", "0.8444218515250481\n"),
        ("print({'b', 'a', 'c'} == {'c', 'b', 'a'}, sum(i * i for i in range(10)))", "True 285\n"),
        ("import os; print(os.path.join('a', 'b'), os.environ)", "a/b {}\n"),
        (
            "from robo import OPEN, ToolError; import robo; print(OPEN, robo.CLOSE, ToolError is robo.ToolError)",
            "-1.0 1.0 True\n",
        ),
        (
            "import uuid, secrets, hashlib, decimal, fractions, datetime, enum, functools, textwrap\nprint(len(str(uuid.uuid4())), len(secrets.token_hex(4)))",
            "36 8\n",
        ),
        (
            "import inspect; print(inspect.signature(robo.set_gripper), robo.release.__doc__.splitlines()[0])",
            "(gripper, steps=5) Opens the gripper where it is; ends early when that solves the task.\n",
        ),
        (
            "help(robo.set_gripper)",
            "set_gripper(gripper, steps=5)\nDrives the gripper while the arm stays where it is.\n",
        ),
    ] {
        let out = cells.stdout(code);
        assert!(out.starts_with(printed), "{code}\n{out}");
    }
}

#[test]
fn every_module_on_the_list_can_be_imported() {
    let mut cells = Cells::new();
    let listed = cells.run("import nowhere").error_line().to_owned();
    assert!(listed.contains("is not available in a cell"), "{listed}");
    let modules = listed.split("available: ").last().unwrap().to_owned();
    cells.stdout(&format!("import {modules}"));
}

#[test]
fn the_last_expression_is_echoed() {
    let mut cells = Cells::new();
    assert_eq!(cells.run("1 + 1").done.value.as_deref(), Some("2"));
    assert_eq!(cells.run("x = 3").done.value, None);
    assert_eq!(cells.run("print('a')").done.value, None);
    assert_eq!(cells.run("for i in range(3): i").done.value, None);
    let value = cells.run("'x' * 100_000").done.value.unwrap();
    assert!(value.len() < 4_100 && value.contains("characters cut"), "{}", value.len());
    let ran = cells.run("class Bad:\n    def __repr__(self): raise ValueError('no repr')\nBad()");
    assert_eq!(ran.error_line(), "ValueError: no repr");
}

#[test]
fn results_are_records_that_cannot_be_changed() {
    let mut cells = Cells::new();
    let ran = cells.run("robo.move_to((0, 0.1, 1))");
    assert_eq!(
        ran.done.value.unwrap(),
        "Move(target_xyz=(0.0, 0.1, 1.0), final_eef_pos=(0.0, 0.1, 1.0), final_dist_m=0.0, \
         reached=True, steps_used=12, max_steps=80, terminated=False, truncated=False, \
         stalled=False, stall_reason=None)"
    );
    let ran = cells.run("s = robo.state()\ns.step = 4");
    assert_eq!(
        ran.error_line(),
        "AttributeError: State is a measured result and cannot be changed"
    );
    assert!(cells.run("robo.OPEN = 3").error_line().starts_with("AttributeError"));
    assert_eq!(
        cells.run("robo.moveto((0, 0, 1))").error_line(),
        "AttributeError: 'Robo' object has no attribute 'moveto'. Did you mean: 'move_to'?"
    );
    assert_eq!(
        cells.stdout("print(robo.state() == s, hash(s) == hash(robo.state()))"),
        "True True\n"
    );
}

#[test]
fn a_bad_argument_raises_before_anything_is_called() {
    let mut cells = Cells::new();
    for (code, error) in [
        ("robo.move_to((0, 0))", "ValueError: move_to(): xyz must be 3 numbers, got 2 numbers"),
        (
            "robo.move_to((0, 0, float('nan')))",
            "ValueError: move_to(): xyz must be finite, got NaN",
        ),
        ("robo.move_to((0, 0, 10**400))", "ValueError: move_to(): xyz must be finite, got inf"),
        ("robo.move_to('abc')", "ValueError: move_to(): xyz must be 3 numbers, got str \"abc\""),
        ("robo.move_to({'x': 1})", "ValueError: move_to(): xyz must be 3 numbers, got dict"),
        (
            "robo.move_to((0, 0, 1), 2)",
            "ValueError: move_to(): gripper must be within [-1, 1] or \"hold\", got 2",
        ),
        (
            "robo.move_to((0, 0, 1), gripperr=1)",
            "TypeError: Robo.move_to() got an unexpected keyword argument 'gripperr'",
        ),
        (
            "robo.move_to()",
            "TypeError: Robo.move_to() missing 1 required positional argument: 'xyz'",
        ),
        (
            "robo.rotate_wrist(0.1, 0.2)",
            "ValueError: rotate_wrist() needs exactly one of target_yaw and delta_yaw",
        ),
        ("robo.state('first')", "ValueError: state(): step must be an integer, got str \"first\""),
    ] {
        assert_eq!(cells.run(code).error_line(), error, "{code}");
    }
    assert_eq!(cells.calls, []);
    // Anything that yields numbers is a position.
    cells.stdout("robo.move_to(x / 10 for x in range(3))");
    cells.stdout("from fractions import Fraction\nrobo.move_to([Fraction(1, 2), True + 0, 0.5])");
    assert_eq!(cells.calls[1].1["xyz"], json!([0.5, 1.0, 0.5]));
}

#[test]
fn tracebacks_show_the_cells_own_lines_and_nothing_else() {
    let mut cells = Cells::new();
    cells.stdout("def grip(width):\n    return robo.set_gripper(gripper=width / 0.04)");
    let ran = cells.run("widths = [0.02, 0.08]\nfor width in widths:\n    try:\n        grip(width)\n    except ToolError as error:\n        print(error.tool, '|', error.message, '|', error.payload)\n");
    assert_eq!(ran.output.stdout, "set_gripper | node \"controller\" has died | None\n");
    assert_eq!(
        ran.error(),
        "Traceback (most recent call last):
  File \"<cell 2>\", line 4, in <module>
    grip(width)
    ~~~~^^^^^^^
  File \"<cell 1>\", line 2, in grip
    return robo.set_gripper(gripper=width / 0.04)
           ~~~~~~~~~~~~~~~~^^^^^^^^^^^^^^^^^^^^^^
ValueError: set_gripper(): gripper must be within [-1, 1] or \"hold\", got 2
"
    );
}

#[test]
fn a_syntax_error_shows_where() {
    let mut cells = Cells::new();
    let ran = cells.run("x = 1\nif x\n    y = 2");
    assert_eq!(
        ran.error(),
        "  File \"<cell 1>\", line 2\n    if x\n        ^\nSyntaxError: expected ':'\n"
    );
    assert_eq!(ran.done.error.unwrap().kind, ErrorKind::Raised);
    // Nothing of it ran.
    assert_eq!(cells.run("x").error_line(), "NameError: name 'x' is not defined");
}

#[test]
fn finish_ends_the_cell() {
    let mut cells = Cells::new();
    let ran = cells.run("try:\n    finish('success', summary='bowl is on the plate')\nexcept Exception:\n    print('swallowed')\nprint('after')");
    assert_eq!(ran.error(), "");
    assert_eq!(ran.output.stdout, "");
    let finish = ran.done.finish.unwrap();
    assert_eq!(
        (finish.status.as_str(), finish.summary.as_str()),
        ("success", "bowl is on the plate")
    );

    let ran = cells.run("finish(status='done')");
    assert_eq!(
        ran.error_line(),
        "ValueError: finish(): status must be \"success\", \"failure\" or \"stuck\", got 'done'"
    );
    assert_eq!(ran.done.finish, None);

    // Swallowing it does not help: the robot does not move any more.
    let ran =
        cells.run("try:\n    finish('stuck')\nexcept BaseException:\n    pass\nrobo.release()");
    assert_eq!(ran.error_line(), "EpisodeFinished: finish() was called");
    assert!(ran.done.finish.is_some() && cells.calls.is_empty());
}

#[test]
fn a_finished_episode_cannot_be_swallowed() {
    let mut cells = Cells::new();
    cells.calls_left = 1;
    let ran = cells.run(
        "try:
    while True:
        try:
            robo.move_to((0, 0, 1))
            print('moved')
        except Exception:
            print('swallowed')
finally:
    print('finally', robo.done)",
    );
    assert_eq!(ran.output.stdout, "moved\nfinally True\n");
    assert_eq!(ran.done.error.as_ref().unwrap().kind, ErrorKind::EpisodeFinished);
    assert_eq!(ran.error_line(), "EpisodeFinished: terminated");

    let ran = cells.run("try:\n    robo.move_to((0, 0, 1))\nexcept BaseException as end:\n    print(end.reason)\nprint(robo.state().step)\nrobo.move_to((0, 0, 1))");
    assert_eq!(ran.output.stdout, "terminated\n3\n");
    assert_eq!(ran.error_line(), "EpisodeFinished: terminated");
}

#[test]
fn printed_text_is_kept_head_and_tail() {
    let mut cells = Cells::new();
    let ran = cells.run("import sys\nprint('first')\nfor i in range(20_000): print(i)\nprint('last', file=sys.stderr)\nprint('end', end='')");
    let out = ran.output.stdout;
    assert!(out.starts_with("first\n0\n1\n") && out.ends_with("\n19999\nend"), "{out}");
    assert!(out.chars().count() < 8_100 && out.contains("characters cut"));
    assert_eq!(ran.output.stderr, "last\n");
    // One write of everything, and text that is no proper text.
    let ran = cells.run("print('x' * 5_000_000)\nprint('\\ud800 ok é')");
    assert!(ran.output.stdout.ends_with("ok é\n"));
}

#[test]
fn files_processes_and_network_are_refused() {
    let mut cells = Cells::new();
    for (code, error) in [
        ("open('/etc/passwd')", "PermissionError: "),
        ("import os; os.listdir('/')", "PermissionError: "),
        (
            "import os; os.system('true')",
            "PermissionError: os.system is not allowed: a cell has no files, processes or network",
        ),
        ("import io; io.FileIO('/etc/passwd')", "TypeError: 'NoneType' object is not callable"),
        ("input()", "PermissionError: input() is not allowed: nobody is there to type"),
        ("import subprocess", "ModuleNotFoundError: "),
        (
            "(lambda: 0).__code__.replace(co_code=b'abc')",
            "TypeError: 'NoneType' object is not callable",
        ),
        (
            "import sys; sys.setrecursionlimit(10**9)",
            "ValueError: the recursion limit of a cell is 10000 at most",
        ),
    ] {
        let ran = cells.run(code);
        assert!(ran.error_line().starts_with(error), "{code}\n{}", ran.error());
    }
    let paths = cells.stdout("import sys, json\nprint(sys.executable, sys.path, json.__file__ if hasattr(json, '__file__') else '')\nprint(sys.prefix)");
    assert!(!paths.contains("registry") && !paths.contains("cell-runner"), "{paths}");
}

#[test]
fn exit_ends_a_cell_quietly() {
    let mut cells = Cells::new();
    let ran = cells.run("import sys\nprint('a')\nsys.exit('enough')\nprint('b')");
    assert_eq!(
        (ran.error(), ran.output.stdout.as_str(), ran.output.stderr.as_str()),
        ("", "a\n", "enough\n")
    );
    assert_eq!(cells.run("raise SystemExit(1)").error(), "");
}

#[test]
fn a_sleeping_or_looping_cell_can_be_interrupted() {
    let mut cells = Cells::new();
    cells.stdout("y = 5");
    for code in ["time.sleep(1000)", "while True: pass", "import time as t\nt.sleep(1e30)"] {
        let index = cells.start(code);
        std::thread::sleep(Duration::from_millis(300));
        let asked = Instant::now();
        cells.child.interrupt(index, "the cell's deadline of 1 s has passed");
        let ran = cells.wait(Duration::from_secs(20)).unwrap();
        assert!(asked.elapsed() < Duration::from_secs(2), "{code}");
        assert_eq!(ran.error_line(), "KeyboardInterrupt: the cell's deadline of 1 s has passed");
        assert_eq!(ran.done.error.unwrap().kind, ErrorKind::Interrupted);
    }
    // A late interrupt does not hit the next cell, and the namespace is whole.
    cells.child.interrupt(1, "late");
    assert_eq!(cells.stdout("time.sleep(0.1); print(y)"), "5\n");
}

#[test]
fn deep_recursion_is_an_exception() {
    let mut cells = Cells::new();
    let ran = cells.run("def down(n): return down(n + 1)\ndown(0)");
    assert!(ran.error_line().starts_with("RecursionError: maximum recursion depth exceeded"));
    let ran = cells.run("import sys\nsys.setrecursionlimit(10_000)\nclass R:\n    def __repr__(self): return repr(self)\nrepr(R())");
    assert!(ran.error_line().starts_with("RecursionError"), "{}", ran.error());
    cells.stdout("a = []\nfor _ in range(300_000): a = [a]\ndel a");
}
