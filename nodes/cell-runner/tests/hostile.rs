//! Cells that hang, crash or eat memory end, and a new process takes their place.
#![allow(clippy::unwrap_used)]

mod common;

use std::io::Write as _;
use std::time::{Duration, Instant};

use cell_runner::child::{ChildConfig, Exit, Output};
use common::{Cells, config};

/// Runs a cell that takes its process down by itself.
fn dies(code: &str) -> (Exit, Output) {
    let mut cells = Cells::with_config(&ChildConfig { memory_bytes: 128 << 20, ..config() });
    cells.start(code);
    match cells.wait(Duration::from_secs(90)) {
        Err(died) => died,
        Ok(ran) => panic!("{code}\nended with {ran:?}"),
    }
}

/// Runs a cell that hears no interrupt, and kills it.
fn must_be_killed(code: &str) {
    let mut cells = Cells::new();
    cells.stdout("'up'");
    let index = cells.start(&format!("print('before')\n{code}"));
    std::thread::sleep(Duration::from_millis(500));
    cells.child.interrupt(index, "enough");
    assert!(cells.still_runs(Duration::from_millis(500)), "{code} ended when asked to");
    let killed = Instant::now();
    cells.child.kill();
    let (exit, output) = cells.wait(Duration::from_secs(20)).unwrap_err();
    assert_eq!(exit, Exit::Killed, "{code}");
    // What it had printed is there.
    assert_eq!(output.stdout, "before\n", "{code}");
    assert!(killed.elapsed() < Duration::from_secs(5), "{code}");
}

#[test]
fn a_loop_that_swallows_everything_is_killed() {
    must_be_killed(
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    );
}

#[test]
fn native_loops_are_killed() {
    must_be_killed("sum(range(10**12))");
    must_be_killed("9**9**9");
    must_be_killed("import re; re.match('(a+)+$', 'a' * 60 + 'b')");
}

#[test]
fn memory_hogs_end_in_out_of_memory() {
    for code in [
        "print('before')\nd = {}\nfor i in range(10**9): d[i] = str(i)",
        "print('before')\ns = 'x'\nwhile True: s += s",
        "print('before')\ns = set(range(10**9))",
        "print('before')\n''.join('x' * 1000 for _ in range(10**9))",
    ] {
        let (exit, output) = dies(code);
        assert_eq!(exit, Exit::OutOfMemory { limit_bytes: 128 << 20 }, "{code}");
        assert_eq!(output.stdout, "before\n", "{code}");
    }
}

#[test]
fn one_big_allocation_is_an_exception() {
    let mut cells = Cells::new();
    for code in ["'a' * 10**11", "[0] * 10**11", "bytearray(10**12)", "1 << 10**12"] {
        let ran = cells.run(code);
        assert!(
            ran.error_line().starts_with("MemoryError")
                || ran.error_line().starts_with("OverflowError"),
            "{code}\n{}",
            ran.error()
        );
    }
}

#[test]
fn a_native_stack_overflow_is_named() {
    let (exit, _) = dies("g = iter([1])\nfor _ in range(10_000_000): g = map(abs, g)\nnext(g)");
    assert!(matches!(exit, Exit::StackOverflow | Exit::OutOfMemory { .. }), "{exit}");
}

#[test]
fn forged_bytecode_and_its_makers_are_gone() {
    let mut cells = Cells::new();
    for code in [
        "import marshal",
        "import sys; assert sys.modules['marshal'] is None; raise ImportError",
        "__import__('_imp').create_dynamic",
        "type((lambda: 0).__code__)(0, 0, 0, 0, 0, 0, b'', (), (), (), '', '', '', 0, b'', b'')",
        "import gc",
    ] {
        assert_ne!(cells.run(code).error(), "", "{code}");
    }
    assert_eq!(cells.stdout("print('alive')"), "alive\n");
}

#[test]
fn a_child_dies_with_its_pipe() {
    let mut cells = Cells::new();
    cells.stdout("print(1)");
    let pid = cells.child.id();
    drop(cells);
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
}

#[test]
fn a_fresh_child_follows_at_once() {
    let mut cells = Cells::new();
    cells.stdout("x = 1");
    cells.child.kill();
    assert!(cells.wait(Duration::from_secs(5)).is_err());
    let mut fresh = Cells::new();
    assert_eq!(fresh.run("x").error_line(), "NameError: name 'x' is not defined");
}

#[test]
fn a_child_has_nothing_of_its_node() {
    let mut cells = Cells::new();
    cells.stdout("print(1)");
    let proc = format!("/proc/{}", cells.child.id());
    let status = std::fs::read_to_string(format!("{proc}/status")).unwrap();
    for line in ["NoNewPrivs:\t1", "Seccomp:\t2", "CapEff:\t0000000000000000"] {
        assert!(status.contains(line), "{status}");
    }
    let files = match std::fs::read_dir(format!("{proc}/fd")) {
        Ok(files) => files,
        // Only root may look into a process that cannot be traced.
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "SKIPPED: a child's descriptors: {error}");
            return;
        }
    };
    assert_eq!(std::fs::read(format!("{proc}/environ")).unwrap(), b"");
    let mut files: Vec<String> =
        files.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    assert_eq!(files, ["0", "1", "2", "3"]);
    let null = std::fs::read_link(format!("{proc}/fd/0")).unwrap();
    assert_eq!(null.to_str(), Some("/dev/null"));
}
