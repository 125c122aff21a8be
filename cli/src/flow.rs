//! A dataflow under `dora run`, with all its processes.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use eyre::{Context as _, Result};
use rustix::process::{
    Pid, Signal, getpid, getppid, kill_process, set_parent_process_death_signal,
};

use crate::clone::Clone;
use crate::processes;

/// What nodes get to end by themselves once dora has ended.
const NODE_GRACE: Duration = Duration::from_secs(1);
const OUTPUT_WAIT: Duration = Duration::from_secs(1);

pub struct Flow {
    dora: Child,
    status: Option<ExitStatus>,
    output: Output,
}

impl Flow {
    /// Starts a dataflow; `settings` is what its nodes read their settings from.
    ///
    /// To be called on a thread that lives as long as the flow: the kernel ends
    /// dora when that thread ends, however it ends.
    pub fn start(dora: &Path, dataflow: &Path, settings: &Path) -> Result<Self> {
        processes::adopt_orphans().wrap_err("can't look after the dataflow's processes")?;
        let (reader, writer) = std::io::pipe()?;
        let mut command = Command::new(dora);
        command
            .arg("run")
            .arg(dataflow)
            .env("PATH", Clone::path_variable(dora))
            .env(ruaflow_kit::Settings::FILE_VARIABLE, settings)
            .env("NO_COLOR", "1")
            // dora would print forty lines after every error.
            .env_remove("RUST_BACKTRACE")
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer)
            // A Ctrl-C is for rua, which asks for a clean end first.
            .process_group(0);
        let rua = getpid();
        // SAFETY: only system calls that are safe between fork and exec.
        unsafe {
            command.pre_exec(move || {
                set_parent_process_death_signal(Some(Signal::KILL))?;
                if getppid() != Some(rua) {
                    return Err(std::io::Error::other("rua has ended"));
                }
                Ok(())
            });
        }
        let child = command.spawn().wrap_err_with(|| format!("can't start {dora:?}"))?;
        // The command keeps our ends of the pipe open.
        drop(command);
        Ok(Flow { dora: child, status: None, output: Output::collect(reader)? })
    }

    /// dora's exit status, once it and all nodes have ended.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        if self.status.is_none()
            && let Some(status) = self.dora.try_wait()?
        {
            self.status = Some(status);
            processes::end_children(NODE_GRACE);
            self.output.wait();
        }
        Ok(self.status)
    }

    /// Asks dora to stop all nodes, as Ctrl-C does.
    pub fn interrupt(&self) {
        if self.status.is_none()
            && let Some(pid) = Pid::from_raw(self.dora.id() as i32)
        {
            // It may just have ended.
            let _ = kill_process(pid, Signal::INT);
        }
    }

    /// Kills dora and all nodes.
    pub fn kill(&mut self) {
        if self.status.is_none() {
            let _ = self.dora.kill();
            self.status = self.dora.wait().ok();
        }
        processes::end_children(Duration::ZERO);
        self.output.wait();
    }

    pub fn output(&self) -> &Output {
        &self.output
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        self.kill();
    }
}

/// What dora and the nodes print.
#[derive(Clone)]
pub struct Output(Arc<Mutex<Log>>);

#[derive(Default)]
struct Log {
    lines: Vec<String>,
    failures: Vec<NodeFailure>,
    file: Option<File>,
    complete: bool,
}

/// A node that ended with a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeFailure {
    pub node: String,
    pub reason: String,
}

impl Output {
    fn collect(reader: std::io::PipeReader) -> Result<Self> {
        let output = Output(Arc::default());
        let collector = output.clone();
        std::thread::Builder::new().name("dora output".to_owned()).spawn(move || {
            for line in BufReader::new(reader).split(b'\n') {
                let Ok(line) = line else { break };
                collector.lock().push(&String::from_utf8_lossy(&line));
            }
            collector.lock().complete = true;
        })?;
        Ok(output)
    }

    /// Keeps all of it in a file as well, from the first line on.
    pub fn keep_in(&self, path: &Path) -> std::io::Result<()> {
        let mut log = self.lock();
        if log.file.is_none() {
            let mut file = File::create(path)?;
            for line in &log.lines {
                writeln!(file, "{line}")?;
            }
            log.file = Some(file);
        }
        Ok(())
    }

    pub fn lines(&self) -> Vec<String> {
        self.lock().lines.clone()
    }

    /// Nodes that failed, in the order in which they ended.
    pub fn failures(&self) -> Vec<NodeFailure> {
        self.lock().failures.clone()
    }

    /// What a node has printed.
    pub fn printed_by(&self, node: &str) -> Vec<String> {
        let mark = format!(" {node}: ");
        let lines = &self.lock().lines;
        let printed = lines.iter().filter(|line| line.get(9..15) == Some("stdout"));
        printed.filter_map(|line| Some(line.split_once(&mark)?.1.trim().to_owned())).collect()
    }

    fn wait(&self) {
        let start = Instant::now();
        while !self.lock().complete && start.elapsed() < OUTPUT_WAIT {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log {
    fn push(&mut self, line: &str) {
        let line = line.trim_end_matches('\r');
        if let Some(file) = &mut self.file {
            // On a full disk the log is the least that is lost.
            let _ = writeln!(file, "{line}");
        }
        self.failures.extend(failure(line));
        self.lines.push(line.to_owned());
    }
}

/// dora 1.1 prints `14:11:44 ERROR  planner: daemon exited because of signal SIGKILL`.
fn failure(line: &str) -> Option<NodeFailure> {
    let rest = line.get(8..)?.trim_start().strip_prefix("ERROR")?;
    let (node, rest) = rest.split_once(':')?;
    let reason = rest.trim().strip_prefix("daemon ")?;
    let reason = reason.split(" with stderr output").next().unwrap_or(reason);
    reason.starts_with("exited").then(|| NodeFailure {
        node: node.trim().to_owned(),
        reason: reason.trim_end_matches(':').to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_node_is_found_in_the_output() {
        let killed = "14:11:44 ERROR  cell-runner: daemon exited because of signal SIGKILL";
        let found = failure(killed).unwrap();
        assert_eq!(
            (found.node.as_str(), found.reason.as_str()),
            ("cell-runner", "exited because of signal SIGKILL")
        );
        let code = "14:11:44 ERROR  b: daemon exited with code 1 with stderr output:";
        assert_eq!(failure(code).unwrap().reason, "exited with code 1");
        for other in [
            "14:11:44 INFO   b: daemon b finished successfully",
            "",
            "ERROR",
            "14:11:44 ERROR  b: disk full",
        ] {
            assert_eq!(failure(other), None, "{other:?}");
        }
    }

    #[test]
    fn what_a_node_printed_is_found() {
        let output = Output(Arc::default());
        output.lock().push("14:11:40 stdout b: hello: world\r");
        output.lock().push("14:11:40 stdout a-b: other");
        output.lock().push("14:11:40 INFO   b: daemon node is ready");
        assert_eq!(output.printed_by("b"), ["hello: world"]);
    }
}
