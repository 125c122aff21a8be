//! A command line as a child in a process group of its own.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getppid, kill_process_group, set_parent_process_death_signal};

/// What the group gets to end by itself.
const GRACE: Duration = Duration::from_secs(1);
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// The longest line that is read; a picture is in some.
const LONGEST_LINE: u64 = 64 << 20;
/// Bytes of standard error that are told when it dies.
const TOLD: usize = 2_000;
const BACKLOG: usize = 64;

/// Ends with all its children when it is dropped.
pub(super) struct Process {
    child: Child,
    group: Option<Pid>,
    lines: Receiver<String>,
    /// Its standard input ends when this does.
    input: Option<Sender<()>>,
    errors: Arc<Mutex<String>>,
    /// Reads standard error.
    reader: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts a command and gives it its standard input, which ends with
    /// [`end_input`](Self::end_input). What it writes to standard error is kept in a
    /// file, too.
    pub fn start(mut command: Command, input: Vec<u8>, errors: &Path) -> std::io::Result<Self> {
        let planner = Pid::from_raw(std::process::id() as i32);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        // SAFETY: only system calls that are safe between fork and exec.
        unsafe {
            command.pre_exec(move || {
                set_parent_process_death_signal(Some(Signal::KILL))?;
                if getppid() != planner {
                    return Err(std::io::Error::other("the planner has ended"));
                }
                Ok(())
            });
        }
        let mut child = command.spawn()?;
        let (sender, lines) = sync_channel(BACKLOG);
        if let Some(stdout) = child.stdout.take() {
            std::thread::Builder::new().name("agent output".to_owned()).spawn(move || {
                each_line(stdout, |line| sender.send(line).is_ok());
            })?;
        }
        let told = Arc::<Mutex<String>>::default();
        let mut reader = None;
        if let Some(stderr) = child.stderr.take() {
            let (told, mut file) = (told.clone(), File::create(errors)?);
            let thread = std::thread::Builder::new().name("agent errors".to_owned());
            reader = Some(thread.spawn(move || {
                each_line(stderr, |line| {
                    // On a full disk this is the least that is lost.
                    let _ = writeln!(file, "{line}");
                    keep_end(&mut told.lock().unwrap_or_else(PoisonError::into_inner), &line);
                    true
                });
            })?);
        }
        let (sender, ended) = channel::<()>();
        if let Some(mut stdin) = child.stdin.take() {
            // On a thread, for it may be more than a pipe holds.
            std::thread::Builder::new().name("agent input".to_owned()).spawn(move || {
                // One that dies at once does not read; its end says more.
                let _ = stdin.write_all(&input);
                let _ = ended.recv();
            })?;
        }
        let group = Pid::from_raw(child.id() as i32);
        Ok(Process { child, group, lines, input: Some(sender), errors: told, reader })
    }

    /// Ends its standard input once all of it is written.
    pub fn end_input(&mut self) {
        self.input = None;
    }

    /// The next line of its output, if it comes within this time.
    pub fn line(&self, within: Duration) -> Option<String> {
        match within.is_zero() {
            true => self.lines.try_recv().ok(),
            false => self.lines.recv_timeout(within).ok(),
        }
    }

    /// Its exit status, once it has ended.
    pub fn ended(&mut self) -> std::io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// The end of what it wrote to standard error, all of it once it has ended.
    pub fn errors(&self) -> String {
        let until = Instant::now() + GRACE;
        while self.reader.as_ref().is_some_and(|reader| !reader.is_finished())
            && Instant::now() < until
        {
            sleep(LOOK_EVERY);
        }
        self.errors.lock().unwrap_or_else(PoisonError::into_inner).trim().to_owned()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let signal = |signal| {
            // None of the group may be left.
            let _ = self.group.map(|group| kill_process_group(group, signal));
        };
        signal(Signal::TERM);
        let until = Instant::now() + GRACE;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < until {
            sleep(LOOK_EVERY);
        }
        // Children that outlived their parent, too.
        signal(Signal::KILL);
        let _ = self.child.wait();
    }
}

/// Reads lines until there are none, or `take` wants no more.
fn each_line(reader: impl Read, mut take: impl FnMut(String) -> bool) {
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    loop {
        line.clear();
        match reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line);
        if !take(text.trim_end_matches(['\n', '\r']).to_owned()) {
            return;
        }
    }
}

fn keep_end(told: &mut String, line: &str) {
    told.push_str(line);
    told.push('\n');
    if let Some(excess) = told.len().checked_sub(TOLD) {
        let cut = (excess..told.len()).find(|at| told.is_char_boundary(*at)).unwrap_or(0);
        told.drain(..cut);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(script);
        command
    }

    fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
        let start = Instant::now();
        while !happened() {
            assert!(start.elapsed() < Duration::from_secs(60), "waited in vain for {what}");
            sleep(LOOK_EVERY);
        }
    }

    fn lives(pid: i32) -> bool {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat"));
        state.is_ok_and(|state| !state.contains(") Z "))
    }

    #[test]
    fn it_reads_its_input_and_tells_both_outputs() {
        let tmp = tempfile::tempdir().unwrap();
        let errors = tmp.path().join("errors.txt");
        let script = "read x; echo got $x; echo wrong >&2; exit 3";
        let mut process = Process::start(shell(script), b"hello\n".to_vec(), &errors).unwrap();
        let mut line = None;
        wait_until("its line", || {
            line = process.line(Duration::ZERO);
            line.is_some()
        });
        assert_eq!(line.as_deref(), Some("got hello"));
        let mut status = None;
        wait_until("its end", || {
            status = process.ended().unwrap();
            status.is_some()
        });
        assert_eq!(status.unwrap().code(), Some(3));
        assert_eq!(process.errors(), "wrong");
        assert_eq!(std::fs::read_to_string(errors).unwrap(), "wrong\n");
    }

    #[test]
    fn its_children_end_with_it_even_if_they_do_not_want_to() {
        let tmp = tempfile::tempdir().unwrap();
        let script =
            "trap '' TERM; sh -c \"trap '' TERM; echo \\$\\$; sleep 600\" & wait; sleep 600";
        let errors = tmp.path().join("errors.txt");
        let process = Process::start(shell(script), Vec::new(), &errors).unwrap();
        let mut child = None;
        wait_until("its child", || {
            child = process.line(Duration::ZERO).and_then(|line| line.parse::<i32>().ok());
            child.is_some()
        });
        let child = child.unwrap();
        assert!(lives(child));
        drop(process);
        wait_until("the child's end", || !lives(child));
    }

    #[test]
    fn a_long_input_is_read_to_its_end() {
        let tmp = tempfile::tempdir().unwrap();
        let errors = tmp.path().join("errors.txt");
        let input = vec![b'x'; 1 << 20];
        let mut process = Process::start(shell("wc -c"), input, &errors).unwrap();
        assert_eq!(process.line(Duration::ZERO), None);
        process.end_input();
        let mut line = None;
        wait_until("its line", || {
            line = process.line(Duration::ZERO);
            line.is_some()
        });
        assert_eq!(line.unwrap().trim(), "1048576");
    }

    #[test]
    fn only_the_end_of_long_errors_is_told() {
        let mut told = String::new();
        for number in 0..1000 {
            keep_end(&mut told, &format!("ß {number}"));
        }
        assert!(told.len() <= TOLD && told.ends_with("ß 999\n"), "{told}");
    }
}
