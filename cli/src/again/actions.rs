//! Recorded actions made again in a simulator of this process, several episodes at once.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use eyre::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use replay::{Difference, Original, Outcome, ReplayError, Rerun, Simulators, rerun};
use ruaflow_record::{EpisodeResult, RunDir};
use serde::Serialize;

use super::{Recorded, Replay};
use crate::failure::{WRONG_USAGE, usage};
use crate::print;

const BAR: &str = "{bar:30} {pos}/{len} episodes  {elapsed}  {wide_msg}";
/// A simulator of LIBERO takes some 0.3 GB, and more of them than this gain little.
const MOST_JOBS: usize = 4;

pub fn run(args: &Replay, runs: Vec<Recorded>) -> Result<ExitCode> {
    let jobs = jobs(runs);
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_JOBS);
    let threads = args.jobs.map_or(cores, usize::from).min(jobs.len());
    let began = Instant::now();
    // SAFETY: nothing in this process uses MuJoCo yet.
    unsafe { libero::physics::log_to_tracing() };
    let reports = replay_all(&jobs, threads, !args.json);
    let sum = Sum::of(&reports, began.elapsed());
    if args.json {
        print::json(&Whole { episodes: &reports, sum: &sum })?;
    } else if let [Report { outcome: Verdict::NotReplayed, reason, .. }] = reports.as_slice() {
        return Err(usage(reason.clone().unwrap_or_default()));
    } else if reports.len() > 1 {
        print::line(sum.line());
    }
    Ok(sum.status())
}

/// An episode to be made again.
struct Job {
    run: PathBuf,
    dir: RunDir,
    episode: EpisodeResult,
}

/// Episodes of one scene come one after the other: it is loaded once.
fn jobs(runs: Vec<Recorded>) -> Vec<Job> {
    let mut jobs = Vec::new();
    for Recorded { name, dir, episodes } in runs {
        let known = dir.result().map(|result| result.episodes).unwrap_or_default();
        let meant = known.into_iter().filter(|episode| episodes.contains(&episode.episode));
        jobs.extend(meant.map(|episode| Job { run: name.clone(), dir: dir.clone(), episode }));
    }
    jobs.sort_by(|a, b| scene(&a.episode).cmp(&scene(&b.episode)));
    jobs
}

fn scene(episode: &EpisodeResult) -> (&str, u32) {
    (&episode.suite, episode.task)
}

fn replay_all(jobs: &[Job], threads: usize, shown: bool) -> Vec<Report> {
    let bar = ProgressBar::with_draw_target(
        Some(jobs.len() as u64),
        if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() },
    );
    // The template is ours; a wrong one would only look plain.
    if let Ok(style) = ProgressStyle::with_template(BAR) {
        bar.set_style(style.progress_chars("━╸ "));
    }
    bar.enable_steady_tick(Duration::from_millis(100));
    let next = AtomicUsize::new(0);
    let (sender, finished) = channel();
    let mut reports = Vec::new();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let sender = sender.clone();
            let (next, bar) = (&next, &bar);
            scope.spawn(move || work(jobs, next, bar, &sender));
        }
        drop(sender);
        for report in finished {
            if shown {
                bar.suspend(|| report.lines().iter().for_each(print::line));
            }
            bar.inc(1);
            reports.push(report);
        }
    });
    bar.finish_and_clear();
    reports.sort_by(|a, b| (&a.run, a.episode).cmp(&(&b.run, b.episode)));
    reports
}

fn work(jobs: &[Job], next: &AtomicUsize, bar: &ProgressBar, sender: &Sender<Report>) {
    let mut simulators = Simulators::default();
    while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
        let name = job.run.display();
        let made = |step| bar.set_message(format!("{name} {}: step {step}", job.episode.episode));
        let report = Report::of(job, replay_one(job, &mut simulators, made));
        if sender.send(report).is_err() {
            return;
        }
    }
}

fn replay_one(
    job: &Job,
    simulators: &mut Simulators,
    made: impl FnMut(u64),
) -> Result<(Original, Rerun), ReplayError> {
    let original = Original::read(&job.dir, job.episode.episode)?;
    let robot = &original.recording.card.robot;
    let simulator =
        simulators.find(robot).ok_or_else(|| ReplayError::NoSimulator(robot.clone()))?;
    let rerun = rerun(&original, simulator, made)?;
    Ok((original, rerun))
}

/// What came of an episode.
#[derive(Debug, Serialize)]
struct Report {
    run: PathBuf,
    episode: u32,
    robot: String,
    suite: String,
    task: u32,
    seed: u64,
    outcome: Verdict,
    /// Control steps that were made again, and states that were compared.
    steps: u64,
    compared: u64,
    /// Control steps that were recorded beyond them, of which rows are missing.
    missing: u64,
    difference: Option<Difference>,
    /// Why it could not be replayed, or not to its end.
    reason: Option<String>,
    other_versions: Vec<Versions>,
    reset_s: f64,
    stepping_s: f64,
    /// Simulated time over the time that the control steps took.
    times_real_time: f64,
    #[serde(skip)]
    simulated_s: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Equal,
    Different,
    NotReplayed,
}

#[derive(Debug, Serialize)]
struct Versions {
    name: String,
    recorded: String,
    here: String,
}

impl Report {
    fn of(job: &Job, replayed: Result<(Original, Rerun), ReplayError>) -> Self {
        let EpisodeResult { episode, suite, task, seed, .. } = job.episode.clone();
        let report = Report {
            run: job.run.clone(),
            episode,
            robot: String::new(),
            suite,
            task,
            seed,
            outcome: Verdict::NotReplayed,
            steps: 0,
            compared: 0,
            missing: 0,
            difference: None,
            reason: None,
            other_versions: Vec::new(),
            reset_s: 0.0,
            stepping_s: 0.0,
            times_real_time: 0.0,
            simulated_s: 0.0,
        };
        match replayed {
            Ok((original, rerun)) => report.with(&original, rerun),
            Err(error) => Report { reason: Some(error.to_string()), ..report },
        }
    }

    fn with(self, original: &Original, rerun: Rerun) -> Self {
        let card = &original.recording.card;
        let versions = original.other_versions(&rerun.versions).into_iter();
        let (outcome, difference, reason) = match rerun.outcome {
            Outcome::Equal => (Verdict::Equal, None, None),
            Outcome::Different(difference) => (Verdict::Different, Some(difference), None),
            Outcome::NotMade { control_step, reason } => {
                let reason = format!("control step {control_step} was not made again: {reason}");
                (Verdict::Different, None, Some(reason))
            }
        };
        let simulated_s = rerun.steps as f64 / card.control_hz;
        let stepping_s = rerun.stepping.as_secs_f64();
        let recorded = original.recording.last_step();
        Report {
            robot: card.robot.clone(),
            outcome,
            steps: rerun.steps,
            compared: rerun.compared,
            missing: if outcome == Verdict::Equal {
                recorded.saturating_sub(rerun.steps)
            } else {
                0
            },
            difference,
            reason,
            other_versions: versions
                .map(|(name, recorded, here)| Versions { name, recorded, here })
                .collect(),
            reset_s: rerun.reset.as_secs_f64(),
            stepping_s,
            times_real_time: simulated_s / stepping_s,
            simulated_s,
            ..self
        }
    }

    fn lines(&self) -> Vec<String> {
        let Report { run, episode, suite, task, seed, steps, .. } = self;
        let scene = match suite.is_empty() {
            true => format!("seed {seed}"),
            false => format!("{suite} {task}, seed {seed}"),
        };
        let place = format!("{} {episode}: {scene}", run.display());
        let first = match (self.outcome, &self.difference) {
            (Verdict::Equal, _) => {
                let speed = self.times_real_time;
                format!("✓ {place}: {steps} control steps, equal, {speed:.1} x real time")
            }
            (_, Some(difference)) => format!("✗ {place}: different at {difference}"),
            (Verdict::Different, None) => {
                format!("✗ {place}: {}", self.reason.as_deref().unwrap_or_default())
            }
            (Verdict::NotReplayed, None) => {
                format!("· {place}: not replayed: {}", self.reason.as_deref().unwrap_or_default())
            }
        };
        let missing = (self.missing > 0)
            .then(|| format!("  of {} further control steps rows are missing", self.missing));
        let versions = self.other_versions.iter().map(|Versions { name, recorded, here }| {
            format!("  recorded with {name} {recorded}; here it is {here}")
        });
        std::iter::once(first).chain(missing).chain(versions).collect()
    }
}

#[derive(Serialize)]
struct Whole<'a> {
    episodes: &'a [Report],
    #[serde(flatten)]
    sum: &'a Sum,
}

#[derive(Serialize)]
struct Sum {
    equal: usize,
    different: usize,
    not_replayed: usize,
    steps: u64,
    /// All of it, resets and loading included.
    seconds: f64,
    /// Simulated time over that.
    times_real_time: f64,
}

impl Sum {
    fn of(reports: &[Report], took: Duration) -> Self {
        let count = |verdict| reports.iter().filter(|r| r.outcome == verdict).count();
        let seconds = took.as_secs_f64();
        Sum {
            equal: count(Verdict::Equal),
            different: count(Verdict::Different),
            not_replayed: count(Verdict::NotReplayed),
            steps: reports.iter().map(|report| report.steps).sum(),
            seconds,
            times_real_time: reports.iter().map(|r| r.simulated_s).sum::<f64>() / seconds,
        }
    }

    fn line(&self) -> String {
        let Sum { equal, different, not_replayed, steps, seconds, times_real_time } = self;
        let left = match not_replayed {
            0 => String::new(),
            n => format!(", {n} not replayed"),
        };
        format!(
            "{equal} equal, {different} different{left}; {steps} control steps in {seconds:.1} s, {times_real_time:.1} x real time"
        )
    }

    fn status(&self) -> ExitCode {
        match (self.different, self.not_replayed) {
            (0, 0) => ExitCode::SUCCESS,
            (0, _) => ExitCode::from(WRONG_USAGE),
            _ => ExitCode::FAILURE,
        }
    }
}
