//! `rua export --lerobot`: episodes as a dataset to train on.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use eyre::{Report, Result, bail, eyre};
use libero::render::Want;
use ruaflow_eval::{Problem, Trial, find};
use ruaflow_export::lerobot::{Dataset, Recipe};
use ruaflow_export::{Episode, ExportError, Source};
use ruaflow_record::RunDir;
use signal_hook::consts::{SIGINT, SIGTERM};

use super::args::{Export, Only};
use super::seen::Studios;
use super::{SIZE, cameras};
use crate::args::Size;
use crate::failure::usage;
use crate::print;
use crate::recorded::open_run;

pub fn run(args: &Export, dir: &Path) -> Result<ExitCode> {
    let trials = chosen(args)?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    let studios = Studios::on(args.egl_device.clone());
    let mut exporter = Exporter { args, dir, stop, dataset: None, studios };
    let (mut added, mut left_out) = (0, Vec::new());
    for (at, trial) in trials.iter().enumerate() {
        let start = Instant::now();
        let name = format!("{}:{}", trial.source.display(), trial.episode);
        match exporter.add(trial) {
            Ok(None) => {}
            Ok(Some(rows)) => {
                added += 1;
                let (of, seconds) = (trials.len(), start.elapsed().as_secs_f64());
                print::line(format_args!("{}/{of}  {name}  {rows} rows, {seconds:.1} s", at + 1));
            }
            // What one recording lacks says nothing about the others.
            Err(error) if lacks_something(&error) && trials.len() > 1 => {
                eprintln!("rua: left out: {error}");
                left_out.push(error);
            }
            Err(error) => return Err(exporter.with_standing(error)),
        }
    }
    let Some(mut dataset) = exporter.dataset.take().filter(|dataset| dataset.episodes() > 0) else {
        return Err(left_out.pop().unwrap_or_else(|| eyre!("there is nothing to export")));
    };
    dataset.pack()?;
    print::line(format_args!(
        "{}: {} episodes, {} rows; {added} added, {} left out",
        dir.display(),
        dataset.episodes(),
        dataset.rows(),
        left_out.len()
    ));
    Ok(ExitCode::SUCCESS)
}

/// The episodes that were asked for.
fn chosen(args: &Export) -> Result<Vec<Trial>> {
    let (mut trials, mut problems) = (Vec::new(), Vec::new());
    for path in &args.runs {
        let found = find(path);
        trials.extend(found.trials);
        problems.extend(found.problems);
    }
    if trials.is_empty() {
        return Err(match problems.pop() {
            Some(nothing @ Problem::Nothing(_)) => usage(nothing.to_string()),
            Some(problem) => problem.into(),
            None => eyre!("no episode was played to its end in there"),
        });
    }
    for problem in problems {
        eprintln!("rua: {problem}");
    }
    if let Some(number) = args.episode {
        trials.retain(|trial| trial.episode == number);
        if trials.is_empty() {
            return Err(usage(format!("there is no episode {number} in there that has ended")));
        }
    }
    let played = trials.len();
    if args.only == Only::Solved {
        trials.retain(Trial::solved);
    }
    if trials.is_empty() {
        bail!("none of {played} episodes is solved; `--only all` takes those that are not, too");
    }
    Ok(trials)
}

/// Whether it is the recording's fault.
fn lacks_something(error: &Report) -> bool {
    matches!(
        error.downcast_ref::<ExportError>(),
        Some(ExportError::Episode { .. } | ExportError::Record(_) | ExportError::Content { .. })
    )
}

struct Exporter<'a> {
    args: &'a Export,
    dir: &'a Path,
    stop: Arc<AtomicBool>,
    /// Opened for the first episode, whose robot decides what is not asked for.
    dataset: Option<Dataset>,
    studios: Studios,
}

impl Exporter<'_> {
    /// Adds an episode and returns its number of rows; `None` when it is in there already.
    fn add(&mut self, trial: &Trial) -> Result<Option<u64>> {
        let run = open_run(&trial.source)?;
        let source = Source { run: run.run().to_owned(), episode: trial.episode };
        if self.dataset.as_ref().is_some_and(|dataset| dataset.holds(&source)) {
            return Ok(None);
        }
        let episode = Episode::read(&run, trial.episode)?;
        let recipe = self.recipe(&episode)?;
        let dataset = match &mut self.dataset {
            Some(dataset) => dataset,
            none => {
                let opened = Dataset::open(self.dir, recipe.clone(), self.args.resume);
                none.insert(opened.map_err(wrong_usage)?)
            }
        };
        if dataset.holds(&source) {
            return Ok(None);
        }
        append(dataset, &mut self.studios, &run, &episode, &recipe, &self.stop).map(Some)
    }

    fn recipe(&self, episode: &Episode) -> Result<Recipe> {
        let Size { width, height } = self.args.size.unwrap_or(SIZE);
        Ok(Recipe {
            fps: self.args.fps.unwrap_or(episode.card.control_hz.round() as u32),
            size: [width, height],
            cameras: cameras(self.args, &episode.card)?,
        })
    }

    /// An error with what is safe in spite of it.
    fn with_standing(&self, error: Report) -> Report {
        match self.dataset.as_ref().map_or(0, Dataset::episodes) {
            0 => error,
            episodes => error.wrap_err(format!(
                "{:?} holds {episodes} whole episodes, and the same command with --resume goes on",
                self.dir
            )),
        }
    }
}

/// A folder or a recipe that can't be meant is the user's to mend.
fn wrong_usage(error: ExportError) -> Report {
    match error {
        ExportError::Foreign { .. } | ExportError::Exists { .. } | ExportError::Differs { .. } => {
            usage(error.to_string())
        }
        other => other.into(),
    }
}

fn append(
    dataset: &mut Dataset,
    studios: &mut Studios,
    run: &RunDir,
    episode: &Episode,
    recipe: &Recipe,
    stop: &AtomicBool,
) -> Result<u64> {
    let mut seen = match recipe.cameras.is_empty() {
        true => None,
        false => Some(studios.of(run, episode)?),
    };
    dataset.append(episode, |step, camera| {
        if stop.load(Ordering::Relaxed) {
            bail!("stopped");
        }
        let picture = match &mut seen {
            Some(seen) => seen.picture(episode, step, camera, recipe.size, Want::default())?,
            None => None,
        };
        let picture = picture.ok_or_else(|| {
            episode.refused(format!(
                "control step {step} has no picture of camera {camera:?} and can't be rendered; \
                 --cameras none leaves pictures out"
            ))
        })?;
        Ok(picture.color)
    })
}
