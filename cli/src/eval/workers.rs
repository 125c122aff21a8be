//! `rua eval`: plays a plan with several dataflows at once.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Parser as _;
use eyre::{Context as _, Result, bail};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use ruaflow_eval::{Batch, Campaign, Grouping, Plan, Player, summarize};
use ruaflow_record::{Happening, ProgressReader};
use signal_hook::consts::{SIGINT, SIGTERM};

use super::args::Eval;
use super::{catalog, summarize as table};
use crate::args::Rua;
use crate::failure::usage;
use crate::space::Episodes;
use crate::{print, space};

/// Episodes of one run at most: what a dead dataflow can cost.
const LONGEST: usize = 25;
/// Memory that an episode with pictures takes, bytes.
const EPISODE_MEMORY: u64 = 3 << 29;
const TICK: Duration = Duration::from_millis(200);
/// Runs that fail one after the other without finishing an episode.
const FRUITLESS: usize = 3;
/// What runs of an earlier, killed `rua eval` get to end.
const EARLIER: Duration = Duration::from_secs(60);

pub fn run(args: &Eval) -> Result<ExitCode> {
    let text = fs::read_to_string(&args.plan)
        .map_err(|error| usage(format!("the plan {:?} can't be read: {error}", args.plan)))?;
    let plan = Plan::parse(&text, catalog::of)
        .map_err(|error| usage(format!("{}: {error}", args.plan.display())))?;
    for player in &plan.players {
        check(&plan, player)?;
    }
    let workers = args.workers.map(usize::from).or(plan.workers).unwrap_or_else(room);
    let out = args
        .out
        .clone()
        .unwrap_or_else(|| Path::new("evals").join(args.plan.file_stem().unwrap_or_default()));
    print::line(format_args!(
        "{} episodes: {} scenes, {} repeats, {} players; {workers} at once, in {}",
        plan.episodes(),
        plan.scenes.len(),
        plan.repeats,
        plan.players.len(),
        out.display()
    ));
    print::line(space::check(&out, &recorded(&plan))?);
    if args.dry_run {
        return Ok(ExitCode::SUCCESS);
    }
    let campaign = Campaign::open(&out, plan, &text).map_err(|error| usage(error.to_string()))?;
    wait_for_earlier(&campaign)?;
    let complete = Pool::new(&campaign, &out, workers)?.work()?;
    finish(&campaign, &out, complete)
}

/// A player's flags have to be those of `rua play`.
fn check(plan: &Plan, player: &Player) -> Result<()> {
    let words = ["rua".to_owned()].into_iter().chain(play_words(plan, player));
    match Rua::try_parse_from(words) {
        Ok(_) => Ok(()),
        Err(error) => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            Err(usage(format!("player {:?}: {first}", player.name)))
        }
    }
}

/// How the players' episodes are recorded.
fn recorded(plan: &Plan) -> Vec<Episodes> {
    let of = |player: &Player| {
        let flag = |name: &str| player.flags.get(name).map(String::as_str);
        Episodes {
            count: (plan.episodes() / plan.players.len().max(1)) as u64,
            level: flag("record").and_then(|word| word.parse().ok()).unwrap_or_default(),
            max_steps: flag("max-steps").and_then(|steps| steps.parse().ok()).unwrap_or(0),
        }
    };
    plan.players.iter().map(of).collect()
}

fn play_words(plan: &Plan, player: &Player) -> Vec<String> {
    let flags = player.flags.iter().map(|(name, value)| match value.as_str() {
        // A switch.
        "true" => format!("--{name}"),
        value => format!("--{name}={value}"),
    });
    ["play".to_owned(), format!("--robot={}", plan.robot)].into_iter().chain(flags).collect()
}

/// Episodes that fit on this machine at once.
fn room() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    });
    let fit = memory.map_or(1, |kib| (kib << 10) / EPISODE_MEMORY);
    cores.min(usize::try_from(fit).unwrap_or(usize::MAX)).max(1)
}

/// Runs whose `rua eval` was killed go on for a while; their episodes count.
fn wait_for_earlier(campaign: &Campaign) -> Result<()> {
    let until = Instant::now() + EARLIER;
    let mut told = false;
    while let Some(run) = campaign.live_run() {
        if Instant::now() > until {
            bail!("{run:?} of an earlier `rua eval` is still alive; end it with `rua stop`");
        }
        if !std::mem::replace(&mut told, true) {
            eprintln!("waiting for what an earlier `rua eval` has left running");
        }
        std::thread::sleep(TICK);
    }
    Ok(())
}

fn finish(campaign: &Campaign, out: &Path, complete: bool) -> Result<ExitCode> {
    let standing = campaign.standing();
    for problem in &standing.problems {
        eprintln!("rua: {problem}");
    }
    let summaries = summarize(&standing.trials, Grouping::Suite);
    let summary = out.join("summary.json");
    let text = serde_json::to_string_pretty(&summaries)?;
    fs::write(&summary, text).wrap_err_with(|| format!("can't write {summary:?}"))?;
    for line in table::lines(&summaries) {
        print::line(line);
    }
    if standing.retried > 0 {
        print::line(format_args!(
            "{} episodes were played again after a failure",
            standing.retried
        ));
    }
    let left: usize = standing.left.iter().map(Vec::len).sum();
    if complete && left == 0 {
        print::line(format_args!("`rua report {}` makes a page of it", out.display()));
        return Ok(ExitCode::SUCCESS);
    }
    print::line(format_args!("{left} episodes are left; the same command goes on with them"));
    Ok(ExitCode::FAILURE)
}

/// The workers and what waits for them.
struct Pool<'a> {
    campaign: &'a Campaign,
    logs: PathBuf,
    seats: Vec<Option<Run>>,
    waiting: VecDeque<Batch>,
    view: View,
    /// Set by Ctrl-C.
    stop: Arc<AtomicBool>,
    fruitless: usize,
}

/// A `rua play` at work.
struct Run {
    child: Child,
    batch: Batch,
    progress: ProgressReader,
    log: PathBuf,
    finished: usize,
    /// Whether it was asked to end; a second time would be a kill.
    asked: bool,
}

impl<'a> Pool<'a> {
    fn new(campaign: &'a Campaign, out: &Path, workers: usize) -> Result<Self> {
        let logs = out.join("logs");
        fs::create_dir_all(&logs).wrap_err_with(|| format!("can't make {logs:?}"))?;
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&stop))?;
        }
        let standing = campaign.standing();
        Ok(Pool {
            view: View::new(campaign.plan(), standing.trials.len(), workers),
            campaign,
            logs,
            seats: (0..workers).map(|_| None).collect(),
            waiting: VecDeque::new(),
            stop,
            fruitless: 0,
        })
    }

    /// Plays until nothing is left or a person stops it; whether nothing is left.
    fn work(mut self) -> Result<bool> {
        loop {
            let left = self.campaign.standing().left;
            let batches = ruaflow_eval::batches(&left, self.seats.len(), LONGEST);
            if batches.is_empty() {
                return Ok(true);
            }
            self.waiting = batches.into();
            self.play_all()?;
            if self.stopped() {
                return Ok(false);
            }
        }
    }

    fn play_all(&mut self) -> Result<()> {
        loop {
            for seat in 0..self.seats.len() {
                let free = self.seats[seat].is_none();
                if free
                    && !self.stopped()
                    && self.fruitless < FRUITLESS
                    && let Some(batch) = self.waiting.pop_front()
                {
                    self.seats[seat] = Some(self.start(batch, seat)?);
                }
            }
            if self.seats.iter().all(Option::is_none) {
                break;
            }
            std::thread::sleep(TICK);
            self.follow()?;
        }
        if self.fruitless >= FRUITLESS {
            bail!("{FRUITLESS} runs in a row ended without an episode; see {:?}", self.logs);
        }
        Ok(())
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn start(&self, batch: Batch, seat: usize) -> Result<Run> {
        let plan = self.campaign.plan();
        let player = &plan.players[batch.player];
        let dir = self.campaign.new_run(batch.player);
        fs::create_dir_all(&dir).wrap_err_with(|| format!("can't make {dir:?}"))?;
        let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let file = |kind| self.logs.join(format!("{}-{name}.{kind}", player.name));
        let (scenes, log) = (file("json"), file("log"));
        fs::write(&scenes, serde_json::to_string(&batch.scenes)?)
            .wrap_err_with(|| format!("can't write {scenes:?}"))?;
        let output = File::create(&log).wrap_err_with(|| format!("can't write {log:?}"))?;
        let mut command = on_core(seat, self.seats.len())?;
        command
            .args(play_words(plan, player))
            .arg("--scenes")
            .arg(&scenes)
            .arg("--out")
            .arg(&dir)
            .arg("--with-parent")
            // A Ctrl-C in the terminal reaches the pool, which ends its runs in good order.
            .process_group(0)
            .stdin(Stdio::null())
            .stderr(output.try_clone()?)
            .stdout(output);
        let child = command.spawn().wrap_err("can't start `rua play`")?;
        let progress = ProgressReader::new(&dir.join("progress.jsonl"));
        Ok(Run { child, batch, progress, log, finished: 0, asked: false })
    }

    /// Looks after the runs once.
    fn follow(&mut self) -> Result<()> {
        let stopped = self.stopped();
        for (seat, place) in self.seats.iter_mut().enumerate() {
            let Some(run) = place else { continue };
            for line in run.progress.poll().unwrap_or_default() {
                run.finished += usize::from(matches!(line.what, Happening::Ended { .. }));
                self.view.tell(seat, run.batch.player, &line.what);
            }
            if let Some(status) = run.child.try_wait()? {
                // Solved or not: an episode that was finished is what counts.
                let fruitful = run.finished > 0 || stopped;
                self.fruitless = if fruitful { 0 } else { self.fruitless + 1 };
                if !status.success() && !stopped {
                    self.view.note(&format!("a run failed, see {}", run.log.display()));
                }
                self.view.idle(seat);
                *place = None;
            } else if stopped && !run.asked {
                ask_to_end(&run.child);
                run.asked = true;
            }
        }
        Ok(())
    }
}

fn ask_to_end(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process};
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // It may have ended by itself.
        let _ = kill_process(pid, Signal::TERM);
    }
}

/// `rua` itself; several workers each keep to a core of their own, so that their
/// renderers don't fight for all of them.
fn on_core(seat: usize, workers: usize) -> Result<Command> {
    let rua = std::env::current_exe()?;
    let cores = allowed_cores();
    let Some(core) = cores.get(seat).filter(|_| workers > 1 && workers <= cores.len()) else {
        return Ok(Command::new(rua));
    };
    if !Path::new("/usr/bin/taskset").exists() {
        return Ok(Command::new(rua));
    }
    let mut command = Command::new("/usr/bin/taskset");
    command.arg("--cpu-list").arg(core.to_string()).arg(rua).env("LP_NUM_THREADS", "1");
    Ok(command)
}

/// The cores that this process may use, which `taskset` or a container may limit.
fn allowed_cores() -> Vec<usize> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    list.map(core_list).unwrap_or_default()
}

/// Reads the kernel's notation, such as `0-3,8`.
fn core_list(text: &str) -> Vec<usize> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    text.trim().split(',').filter_map(range).flatten().collect()
}

/// What a person sees meanwhile.
struct View {
    bars: MultiProgress,
    all: ProgressBar,
    seats: Vec<ProgressBar>,
    players: Vec<String>,
    /// Solved and finished, of each player, in this start.
    counts: Vec<(u64, u64)>,
}

impl View {
    fn new(plan: &Plan, done: usize, workers: usize) -> Self {
        let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let style = "{bar:30} {pos}/{len} episodes, {eta} left  {msg}";
        let all = bars.add(ProgressBar::new(plan.episodes() as u64).with_position(done as u64));
        all.set_style(
            ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        all.reset_eta();
        let line = ProgressStyle::with_template("  {msg}");
        let line = line.unwrap_or_else(|_| ProgressStyle::default_spinner());
        let seats =
            (0..workers).map(|_| bars.add(ProgressBar::new_spinner().with_style(line.clone())));
        let seats = seats.collect();
        let players: Vec<String> = plan.players.iter().map(|player| player.name.clone()).collect();
        View { counts: vec![(0, 0); players.len()], bars, all, seats, players }
    }

    fn tell(&mut self, seat: usize, player: usize, what: &Happening) {
        let name = &self.players[player];
        match what {
            Happening::Episode { suite, task, seed, instruction, .. } => {
                self.seats[seat]
                    .set_message(format!("{name}  {suite} {task} seed {seed}: {instruction}"));
            }
            Happening::Ended { success, judged, reason, control_steps, seconds, .. } => {
                let (solved, finished) = &mut self.counts[player];
                *solved += u64::from(*success);
                *finished += u64::from(*judged);
                self.all.inc(1);
                let counts = self.players.iter().zip(&self.counts);
                let counts: Vec<String> =
                    counts.map(|(name, (solved, all))| format!("{name} {solved}/{all}")).collect();
                self.all.set_message(counts.join("  "));
                if self.bars.is_hidden() {
                    let doing = self.seats[seat].message();
                    print::line(format_args!(
                        "{}/{} {doing}: {}, {control_steps} steps, {seconds:.1} s",
                        self.all.position(),
                        self.all.length().unwrap_or_default(),
                        reason.as_str()
                    ));
                }
            }
            _ => {}
        }
    }

    fn idle(&self, seat: usize) {
        self.seats[seat].set_message("");
    }

    fn note(&self, text: &str) {
        if self.bars.println(text).is_err() || self.bars.is_hidden() {
            eprintln!("{text}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_cores_is_read_as_the_kernel_writes_it() {
        assert_eq!(core_list("\t0-3,8,10-11\n"), [0, 1, 2, 3, 8, 10, 11]);
        assert_eq!(core_list(""), Vec::<usize>::new());
        let own = allowed_cores();
        assert!(!own.is_empty(), "a process runs somewhere");
    }
}
