//! `rua repair`: finish a run that nobody was left to finish.

use std::process::ExitCode;

use eyre::{Result, bail};
use ruaflow_record::{RepairReport, RepairedFile, RunDir, Status};

use crate::args::Repair;
use crate::print;
use crate::recorded::not_a_run;

pub fn run(args: &Repair) -> Result<ExitCode> {
    let report = ruaflow_record::repair(&args.run).map_err(not_a_run)?;
    for file in &report.files {
        print::line(file_line(file));
    }
    if report.compacted > 0 {
        print::line(format_args!("compacted {} topics", report.compacted));
    }
    let result = RunDir::open(&args.run)?.result()?;
    let status = match result.status {
        Status::Completed => "completed",
        Status::Failed => "failed",
        Status::Interrupted => "interrupted",
        Status::Running => "running",
    };
    print::line(match (report.finished_result, report == RepairReport::default()) {
        (true, _) => format!("finished result.json: {status}"),
        (false, false) => format!("result.json was finished already: {status}"),
        (false, true) => format!("nothing to repair: {status}"),
    });
    match &report.left[..] {
        [] => Ok(ExitCode::SUCCESS),
        [one] => bail!("left as it is: {one}"),
        [first, more @ ..] => bail!("left as they are: {first}, and {} more", more.len()),
    }
}

fn file_line(file: &RepairedFile) -> String {
    let path = file.path.display();
    match file {
        RepairedFile { removed: true, .. } => format!("removed {path}: it held no whole row"),
        RepairedFile { cut_bytes: 0, batches, .. } => format!("closed {path}: {batches} batches"),
        RepairedFile { cut_bytes, batches, .. } => {
            format!("closed {path}: {batches} batches, {cut_bytes} bytes of a torn one cut off")
        }
    }
}
