//! `rua cell`: runs cells in their sandbox, without a robot and without dora.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use cell_runner::child::{Child, ChildConfig, ChildEvent};
use cell_runner::feedback::{Feedback, Images, UnknownKind};
use cell_runner::runner::{Outgoing, Runner, Spawn};
use eyre::{Result, WrapErr as _, bail};
use planner::Script;
use ruaflow_record::picture_name;
use ruaflow_robots::NONE;
use ruaflow_schemas::{CallResult, Card, Cell, CellResult};

use crate::args;
use crate::clone::Clone;
use crate::failure::usage;
use crate::print;

const MEMORY_BYTES: u64 = 1 << 30;

/// The only episode there is.
const EPISODE: i64 = 0;

/// A call is refused at once, so this is never reached.
const CALL_TIMEOUT: Duration = Duration::from_secs(10);

pub fn run(args: &args::Cell) -> Result<ExitCode> {
    let script = read(&args.file)?;
    let robot = args.robot.as_deref().unwrap_or(NONE.name);
    ruaflow_robots::find(robot).map_err(|error| usage(error.to_string()))?;
    let feedback: Feedback =
        args.feedback.parse().map_err(|error: UnknownKind| usage(error.to_string()))?;
    // Goes with the end of the command, unless a folder was named.
    let temporary = tempfile::tempdir()?;
    let workspace = match &args.workspace {
        Some(folder) => std::path::absolute(folder)?,
        None => temporary.path().to_owned(),
    };
    if let Some(folder) = &args.pictures {
        std::fs::create_dir_all(folder).wrap_err_with(|| format!("can't make {folder:?}"))?;
    }

    let mut bench = Bench::start(&Clone::find()?.program("cell-runner"), robot, feedback)?;
    for (index, (code, _)) in (1..).zip(script.cells()) {
        let result = bench.cell(Cell {
            id: index.to_string(),
            index,
            code: code.to_owned(),
            timeout_ms: u64::from(args.timeout) * 1000,
            workspace: workspace.display().to_string(),
            ..Cell::default()
        })?;
        tell(&result, args)?;
        if result.status == "finished" {
            break;
        }
        if result.status != "ok" {
            return Ok(ExitCode::FAILURE);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn read(file: &Path) -> Result<Script> {
    if file == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).wrap_err("can't read standard input")?;
        return Ok(Script::parse("-", &text)?);
    }
    if !file.is_file() {
        return Err(usage(format!("there is no file {file:?}")));
    }
    Ok(Script::load(file)?.0)
}

/// Prints what an agent would see.
fn tell(result: &CellResult, args: &args::Cell) -> Result<()> {
    print::line(result.feedback.trim_end());
    let Some(folder) = &args.pictures else { return Ok(()) };
    for (number, picture) in result.images.iter().enumerate() {
        let name = format!("{:03}.{}", result.index, picture_name(number + 1, &picture.name));
        let path: PathBuf = folder.join(name);
        std::fs::write(&path, &picture.png.0).wrap_err_with(|| format!("can't write {path:?}"))?;
    }
    Ok(())
}

/// A cell runner whose controller is nobody.
struct Bench {
    runner: Runner,
    events: Receiver<(u64, ChildEvent)>,
}

impl Bench {
    fn start(program: &Path, robot: &str, feedback: Feedback) -> Result<Self> {
        if !program.is_file() {
            bail!("{program:?} is missing: run `./rua setup`");
        }
        let config = ChildConfig { program: program.to_owned(), memory_bytes: MEMORY_BYTES };
        let (sender, events) = mpsc::channel();
        let spawn: Spawn = Box::new(move |generation| {
            let sender = sender.clone();
            Child::spawn(&config, move |event| {
                // Nobody listens once the command ends.
                let _ = sender.send((generation, event));
            })
        });
        let mut runner = Runner::new(spawn, CALL_TIMEOUT)?;
        runner.report(feedback, Images::OnDemand);
        runner.give_guides(true);
        runner.on_card(EPISODE, Card { robot: robot.to_owned(), ..Card::default() })?;
        Ok(Self { runner, events })
    }

    fn cell(&mut self, cell: Cell) -> Result<CellResult> {
        self.runner.on_cell(EPISODE, cell);
        loop {
            while let Some(outgoing) = self.runner.outgoing() {
                match outgoing {
                    Outgoing::CellResult(result) => return Ok(*result),
                    Outgoing::Call(call) => self.runner.on_result(EPISODE, refusal(call.id))?,
                    Outgoing::Warning(text) => tracing::warn!(text, "cell runner"),
                    _ => {}
                }
            }
            let event = match self.runner.deadline() {
                Some(at) => self.events.recv_timeout(at.saturating_duration_since(Instant::now())),
                None => self.events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match event {
                Ok((generation, event)) => self.runner.on_child(generation, event)?,
                Err(RecvTimeoutError::Timeout) => self.runner.on_time()?,
                Err(RecvTimeoutError::Disconnected) => bail!("the cell's process is gone"),
            }
        }
    }
}

/// What a controller without a robot would say.
fn refusal(id: String) -> CallResult {
    CallResult {
        id,
        error: "tool_error".to_owned(),
        message: "`rua cell` runs cells without a robot".to_owned(),
        ..CallResult::default()
    }
}
