//! `rua prune`: removes runs, or makes them lighter, by rule.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use eyre::{Result, bail};
use ruaflow_record::{Level, RecordError, RunDir};

use crate::args::{Judged, Prune};
use crate::clone::Clone;
use crate::failure::usage;
use crate::print;
use crate::size::Bytes;

/// Folders below one given, at most.
const DEPTH: usize = 6;

pub fn run(args: &Prune) -> Result<ExitCode> {
    let rules = [
        args.older_than.is_some(),
        args.keep_last.is_some(),
        args.only.is_some(),
        args.max_size.is_some(),
        args.to_light,
    ];
    if !rules.contains(&true) {
        return Err(usage(
            "say what may go: --older-than, --keep-last, --only, --max-size or --to-light",
        ));
    }
    let paths =
        if args.paths.is_empty() { vec![Clone::find()?.runs()] } else { args.paths.clone() };
    let mut runs = Vec::new();
    for path in &paths {
        if !path.is_dir() {
            return Err(usage(format!("{path:?} is no folder")));
        }
        find(path, DEPTH, false, &mut runs);
    }
    runs.sort_by_key(|run| run.ended);
    let chosen = choose(args, &runs, SystemTime::now());
    let mut freed = 0;
    let mut failed = 0;
    for run in &chosen {
        let doing = match (args.yes, args.to_light) {
            (false, false) => "would remove",
            (false, true) => "would lighten",
            (true, false) => "removed",
            (true, true) => "lightened",
        };
        let bytes = run.gain(args.to_light);
        let done = if args.yes { run.prune(args.to_light) } else { Ok(()) };
        match done {
            Ok(()) => {
                freed += bytes;
                print::line(format_args!("{doing} {}: {}", run.dir.root().display(), Bytes(bytes)));
            }
            Err(error) => {
                failed += 1;
                eprintln!("rua: {error}");
            }
        }
    }
    let all: u64 = runs.iter().map(|run| run.bytes).sum();
    print::line(format_args!(
        "{} of {} runs, {} of {}{}",
        chosen.len() - failed,
        runs.len(),
        Bytes(freed),
        Bytes(all),
        if args.yes { "" } else { "; --yes does it" }
    ));
    if failed > 0 {
        bail!("{failed} runs could not be pruned");
    }
    Ok(ExitCode::SUCCESS)
}

/// A run that is over.
struct Run {
    dir: RunDir,
    ended: SystemTime,
    solved: bool,
    light: bool,
    bytes: u64,
    /// A campaign would play its episodes again.
    of_campaign: bool,
}

impl Run {
    /// `None` for a run that goes on.
    fn of(dir: RunDir, of_campaign: bool) -> Option<Self> {
        if dir.is_live() {
            return None;
        }
        let result = dir.result().ok();
        let written = fs::metadata(dir.result_path()).or_else(|_| fs::metadata(dir.root()));
        let written =
            written.and_then(|file| file.modified()).unwrap_or_else(|_| SystemTime::now());
        let finished = result.as_ref().and_then(|result| result.finished_at.as_deref());
        Some(Run {
            ended: finished.and_then(|at| humantime::parse_rfc3339(at).ok()).unwrap_or(written),
            solved: result.as_ref().is_some_and(|result| result.environment_success),
            light: result.as_ref().is_none_or(|result| result.record == Level::Light),
            bytes: dir.bytes(),
            of_campaign,
            dir,
        })
    }

    /// Whether anything would be gained, and may be.
    fn may_go(&self, to_light: bool) -> bool {
        match to_light {
            true => !self.light || !self.dir.beyond_light().is_empty(),
            false => !self.of_campaign && self.dir.strangers().is_empty(),
        }
    }

    fn gain(&self, to_light: bool) -> u64 {
        if !to_light {
            return self.bytes;
        }
        let files = self.dir.beyond_light();
        files.iter().filter_map(|path| fs::metadata(path).ok()).map(|file| file.len()).sum()
    }

    fn prune(&self, to_light: bool) -> Result<(), RecordError> {
        if to_light { self.dir.lighten() } else { self.dir.remove() }
    }
}

/// Finds the runs in a folder; a link is not followed.
fn find(folder: &Path, depth: usize, of_campaign: bool, runs: &mut Vec<Run>) {
    if let Ok(dir) = RunDir::open(folder) {
        runs.extend(Run::of(dir, of_campaign));
        return;
    }
    if depth == 0 {
        return;
    }
    let of_campaign = of_campaign || folder.join("plan.yml").is_file();
    let Ok(entries) = fs::read_dir(folder) else { return };
    let below = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut below: Vec<PathBuf> = below.map(|entry| entry.path()).collect();
    below.sort();
    below.iter().for_each(|path| find(path, depth - 1, of_campaign, runs));
}

/// What the rules let go of, of runs in the order in which they ended.
fn choose<'a>(args: &Prune, runs: &'a [Run], now: SystemTime) -> Vec<&'a Run> {
    let older = args.older_than.map(|age| now.checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH));
    let kept = runs.len().saturating_sub(args.keep_last.unwrap_or(0));
    let mut chosen: Vec<&Run> = runs[..kept]
        .iter()
        .filter(|run| older.is_none_or(|limit| run.ended < limit))
        .filter(|run| match args.only {
            None => true,
            Some(Judged::Solved) => run.solved,
            Some(Judged::Failed) => !run.solved,
        })
        .filter(|run| run.may_go(args.to_light))
        .collect();
    if let Some(Bytes(limit)) = args.max_size {
        let mut all: u64 = runs.iter().map(|run| run.bytes).sum();
        chosen.retain(|run| {
            let too_much = all > limit;
            if too_much {
                all -= run.gain(args.to_light).min(all);
            }
            too_much
        });
    }
    chosen
}

/// An age such as `30d` or `12h`.
pub fn age(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|_| "expected an age such as 30d or 12h".to_owned())
}

#[cfg(test)]
mod tests {
    use ruaflow_record::RunResult;

    use super::*;

    /// Runs of 1, 2, … days of age, the older ones solved.
    fn runs(folder: &Path, count: u64) -> Vec<Run> {
        for n in 0..count {
            let (dir, _lock) = RunDir::create(&folder.join(format!("{n}")), "r").unwrap();
            let ended = SystemTime::now() - Duration::from_secs(86_400 * (n + 1));
            let result = RunResult {
                schema: RunResult::SCHEMA.into(),
                environment_success: n >= count / 2,
                finished_at: Some(humantime::format_rfc3339(ended).to_string()),
                ..RunResult::default()
            };
            dir.write_result(&result).unwrap();
            dir.free_reserve();
            fs::create_dir(dir.episode_dir(0)).unwrap();
            fs::write(dir.episode_dir(0).join("state.parquet"), vec![0; 10_000]).unwrap();
        }
        let mut found = Vec::new();
        find(folder, DEPTH, false, &mut found);
        found.sort_by_key(|run| run.ended);
        found
    }

    fn names(args: &Prune, runs: &[Run]) -> Vec<String> {
        let chosen = choose(args, runs, SystemTime::now());
        let name = |run: &&Run| run.dir.root().file_name().unwrap().to_string_lossy().into_owned();
        chosen.iter().map(name).collect()
    }

    #[test]
    fn rules_hold_together_and_the_oldest_go_first() {
        let tmp = tempfile::tempdir().unwrap();
        let runs = runs(tmp.path(), 4);
        let day = |n: u64| Some(Duration::from_secs(86_400 * n + 3600));
        let with = |change: fn(&mut Prune)| {
            let mut args = Prune::default();
            change(&mut args);
            args
        };
        assert_eq!(names(&Prune { older_than: day(2), ..Prune::default() }, &runs), ["3", "2"]);
        assert_eq!(names(&with(|args| args.keep_last = Some(1)), &runs), ["3", "2", "1"]);
        assert_eq!(names(&with(|args| args.only = Some(Judged::Failed)), &runs), ["1", "0"]);
        assert_eq!(names(&with(|args| args.only = Some(Judged::Solved)), &runs), ["3", "2"]);
        let both = Prune { older_than: day(1), only: Some(Judged::Failed), ..Prune::default() };
        assert_eq!(names(&both, &runs), ["1"]);
        let size = Some(Bytes(2 * runs[0].bytes + 100));
        assert_eq!(names(&Prune { max_size: size, ..Prune::default() }, &runs), ["3", "2"]);
        assert!(names(&with(|args| args.max_size = Some(Bytes(1 << 40))), &runs).is_empty());
        assert_eq!(names(&with(|args| args.to_light = true), &runs).len(), 4);
    }

    #[test]
    fn live_runs_campaigns_and_folders_with_something_else_in_them_stay() {
        let tmp = tempfile::tempdir().unwrap();
        let all = runs(tmp.path(), 3);
        let everything = Prune { keep_last: Some(0), ..Prune::default() };
        assert_eq!(names(&everything, &all).len(), 3);
        fs::write(tmp.path().join("0/film.mp4"), "").unwrap();
        fs::create_dir(tmp.path().join("thesis")).unwrap();
        std::os::unix::fs::symlink(tmp.path().join("1"), tmp.path().join("link")).unwrap();
        let _live = RunDir::open(&tmp.path().join("1")).unwrap().hold().unwrap();
        let mut found = Vec::new();
        find(tmp.path(), DEPTH, false, &mut found);
        assert_eq!(names(&everything, &found), ["2"]);
        fs::write(tmp.path().join("plan.yml"), "").unwrap();
        found.clear();
        find(tmp.path(), DEPTH, false, &mut found);
        assert!(names(&everything, &found).is_empty(), "a campaign would play them again");
    }

    #[test]
    fn ages_and_sizes_are_read() {
        assert_eq!(age("2d"), Ok(Duration::from_secs(2 * 86_400)));
        assert!(age("soon").is_err());
        assert_eq!("10GB".parse(), Ok(Bytes(10_000_000_000)));
    }
}
