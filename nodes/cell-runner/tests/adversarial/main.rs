//! Hostile cells, run as an agent's are: through the [`Runner`] in a real child
//! with real walls. For each: what the agent sees, in time; that the robot did
//! not move; that the next cell works. At the end: that nothing was left outside.
#![allow(clippy::unwrap_used)]

mod arrays;
mod bombs;
mod escapes;
mod forged_child;
mod forgeries;
mod hangs;
mod outside;
mod seat;
mod walls;

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use ruaflow_schemas::CellResult;
use seat::Seat;

/// A hostile cell.
pub struct Case {
    name: &'static str,
    /// `{canary}` stands for the path of a file that must not come into being.
    code: &'static str,
    sees: Sees,
    deadline: Duration,
    /// It breaks its own interpreter, which is its own loss.
    breaks: bool,
}

impl Case {
    /// Whether its names may hold nearly all memory afterwards.
    fn hoards(&self) -> bool {
        matches!(
            self.sees,
            Sees::MemoryEnds | Sees::MemoryOrTime | Sees::OutOfMemory | Sees::Contained
        )
    }
}

/// One that ends by itself, unless [`Sees::TimesOut`].
const fn case(name: &'static str, code: &'static str, sees: Sees) -> Case {
    let deadline = match sees {
        Sees::TimesOut | Sees::MemoryOrTime | Sees::Contained => Duration::from_millis(500),
        _ => Duration::from_secs(20),
    };
    Case { name, code, sees, deadline, breaks: false }
}

const fn breaks(name: &'static str, code: &'static str, sees: Sees) -> Case {
    Case { breaks: true, ..case(name, code, sees) }
}

/// What the agent is to see of a cell.
#[derive(Debug, Clone, Copy)]
pub enum Sees {
    /// This exception.
    Raises(&'static str),
    /// Some exception.
    Errs,
    /// No error, and this in what was printed.
    Prints(&'static str),
    /// The end of its deadline.
    TimesOut,
    /// The end of its process, because of memory.
    OutOfMemory,
    /// That, or an exception that says so.
    MemoryEnds,
    /// That, or the end of its deadline first.
    MemoryOrTime,
    /// `finish` counts.
    Finishes,
    /// Anything: only what is outside matters.
    Contained,
}

impl Sees {
    fn matches(self, result: &CellResult) -> bool {
        let status = result.status.as_str();
        let last = result.error.trim_end().lines().last().unwrap_or("");
        let out_of_memory = status == "crashed" && result.error.contains("more memory than it may");
        match self {
            Self::Raises(class) => status == "error" && result.error.contains(class),
            Self::Errs => status == "error" && !last.is_empty(),
            Self::Prints(text) => status == "ok" && result.stdout.contains(text),
            Self::TimesOut => status == "timeout" && result.error.contains("deadline"),
            Self::OutOfMemory => out_of_memory,
            Self::MemoryEnds => out_of_memory || (status == "error" && is_memory_error(last)),
            Self::MemoryOrTime => Self::MemoryEnds.matches(result) || status == "timeout",
            Self::Finishes => status == "finished",
            Self::Contained => {
                matches!(status, "ok" | "error" | "timeout" | "crashed" | "episode_finished")
            }
        }
    }
}

fn is_memory_error(line: &str) -> bool {
    ["MemoryError", "OverflowError", "ValueError"].iter().any(|class| line.starts_with(class))
}

/// Seats that work at the same time; more than processors, because most cells wait.
const SEATS: usize = 4;

/// Bytes of any text that an agent gets: 8,000 characters, and notes of what was cut.
const MAX_TEXT: usize = 40_000;

/// After its deadline a cell has a second to end, and the node one more to say so.
const LATE: Duration = Duration::from_secs(2);

#[test]
fn hostile_cells_stay_inside() {
    let folder = tempfile::tempdir().unwrap();
    let canary = folder.path().join("escaped");
    let tables = [
        arrays::CASES,
        escapes::CASES,
        outside::CASES,
        hangs::CASES,
        bombs::CASES,
        forgeries::CASES,
    ];
    let cases: Vec<&Case> = tables.into_iter().flatten().collect();
    assert!(cases.len() >= 120);
    let waiting = Mutex::new(cases.into_iter());
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..SEATS {
            scope.spawn(|| {
                let mut seat = Seat::new();
                loop {
                    let Some(case) = waiting.lock().unwrap().next() else { return };
                    if let Err(failure) = run(&mut seat, case, &canary) {
                        failures.lock().unwrap().push(format!("{}: {failure}", case.name));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(!has_listener(45671));
}

fn run(seat: &mut Seat, case: &Case, canary: &Path) -> Result<(), String> {
    let code = case.code.replace("{canary}", &canary.display().to_string());
    let (result, took) = seat.run(&code, case.deadline);
    let moved = seat.moves();
    let (next, _) = seat.run("print(1 + 1)", Duration::from_secs(20));
    let works = (next.status.as_str(), next.stdout.as_str()) == ("ok", "2\n");
    if case.breaks || case.hoards() || !works {
        // The others deserve an interpreter that is whole and has room.
        *seat = Seat::new();
    }
    let seen = format!(
        "after {took:?}: {} {:?} stdout {:?}",
        result.status,
        tail(&result.error),
        tail(&result.stdout)
    );
    if !case.sees.matches(&result) {
        return Err(format!("not {:?} but {seen}", case.sees));
    }
    if took > case.deadline + LATE {
        return Err(format!("too late {seen}"));
    }
    let texts = [&result.stdout, &result.stderr, &result.error, &result.value];
    if texts.iter().any(|text| text.len() > MAX_TEXT) {
        return Err("more text than anybody reads".to_owned());
    }
    if moved > 0 && case.name != "move-without-end" {
        return Err(format!("the robot was to move {moved} times, {seen}"));
    }
    if !works && !case.breaks {
        return Err(format!("the next cell gave {next:?}; {seen}"));
    }
    Ok(())
}

fn tail(text: &str) -> &str {
    &text[text.floor_char_boundary(text.len().saturating_sub(160))..]
}

/// Whether anybody on this machine listens at a port.
fn has_listener(port: u16) -> bool {
    let local = format!(":{port:04X} ");
    ["/proc/net/tcp", "/proc/net/tcp6"].iter().any(|table| {
        let table = std::fs::read_to_string(table).unwrap_or_default();
        table.lines().any(|line| line.contains(&local) && line.contains(" 0A "))
    })
}
