//! A campaign on disk: its plan, the runs of its players, and what is left to do.
//!
//! Nothing is kept in memory that a power cut could take: which episodes are done
//! is read from the runs themselves each time.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use ruaflow_record::{RunDir, write_atomically};

use crate::plan::{Plan, Scene};
use crate::read::{self, Problem};
use crate::trial::{Outcome, Trial};

const PLAN: &str = "plan.yml";
const LOCK: &str = ".lock";
const RUNS: &str = "runs";

/// A folder that holds a campaign, for one program at a time.
#[derive(Debug)]
pub struct Campaign {
    root: PathBuf,
    plan: Plan,
    _lock: File,
}

/// Scenes that one player is to play in one run, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Index of the player in the plan.
    pub player: usize,
    pub scenes: Vec<Scene>,
}

/// Where a campaign stands.
#[derive(Debug)]
pub struct Standing {
    /// One a planned episode that has been played to its end, or given up.
    pub trials: Vec<Trial>,
    /// Episodes whose infrastructure failed and that were tried again.
    pub retried: usize,
    /// What is left, a list a player.
    pub left: Vec<Vec<Scene>>,
    pub problems: Vec<Problem>,
}

#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    #[error("{0:?} holds another campaign; use another folder, or the plan that is in it")]
    OtherPlan(PathBuf),

    #[error("another `rua eval` is at work in {0:?}")]
    Busy(PathBuf),

    #[error("{0:?} is not empty and holds no campaign; use another folder")]
    NotEmpty(PathBuf),

    #[error("{path:?} can't be used: {reason}")]
    Io { path: PathBuf, reason: String },
}

impl Campaign {
    /// Begins a campaign in `root`, or goes on with the one that is there.
    ///
    /// # Errors
    /// When the folder holds something else, is in use or can't be written.
    pub fn open(root: &Path, plan: Plan, text: &str) -> Result<Self, CampaignError> {
        let io = |path: &Path, reason: &dyn ToString| CampaignError::Io {
            path: path.to_owned(),
            reason: reason.to_string(),
        };
        let written = root.join(PLAN);
        if !written.exists() && fs::read_dir(root).is_ok_and(|mut entries| entries.next().is_some())
        {
            return Err(CampaignError::NotEmpty(root.to_owned()));
        }
        fs::create_dir_all(root.join(RUNS)).map_err(|error| io(root, &error))?;
        let lock = root.join(LOCK);
        let file = OpenOptions::new().create(true).append(true).open(&lock);
        let file = file.map_err(|error| io(&lock, &error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(CampaignError::Busy(root.to_owned())),
            Err(TryLockError::Error(error)) => return Err(io(&lock, &error)),
        }
        match fs::read_to_string(&written) {
            Ok(there) if there == text => {}
            Ok(_) => return Err(CampaignError::OtherPlan(root.to_owned())),
            Err(_) => {
                write_atomically(&written, text.as_bytes())
                    .map_err(|error| io(&written, &error))?;
            }
        }
        Ok(Campaign { root: root.to_owned(), plan, _lock: file })
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// A folder for a player's next run, which does not exist yet.
    pub fn new_run(&self, player: usize) -> PathBuf {
        let folder = self.runs(player);
        let highest = names(&folder).into_iter().filter_map(|name| name.parse::<u32>().ok()).max();
        folder.join(format!("{:05}", highest.map_or(0, |n| n + 1)))
    }

    /// A run in which somebody is still at work.
    pub fn live_run(&self) -> Option<PathBuf> {
        let folders = (0..self.plan.players.len()).map(|player| self.runs(player));
        let runs =
            folders.flat_map(|folder| names(&folder).into_iter().map(move |n| folder.join(n)));
        runs.into_iter().find(|run| RunDir::open(run).is_ok_and(|run| run.is_live()))
    }

    fn runs(&self, player: usize) -> PathBuf {
        self.root.join(RUNS).join(&self.plan.players[player].name)
    }

    /// Reads from the runs what has been done.
    pub fn standing(&self) -> Standing {
        let mut standing =
            Standing { trials: Vec::new(), retried: 0, left: Vec::new(), problems: Vec::new() };
        for player in 0..self.plan.players.len() {
            let found = read_player(&self.runs(player), &self.plan.players[player].name);
            standing.problems.extend(found.problems);
            let (trials, retried, left) = self.settle(found.trials);
            standing.trials.extend(trials);
            standing.retried += retried;
            standing.left.push(left);
        }
        standing
    }

    /// Which of a player's episodes stand, how many were tried again, and what is left.
    fn settle(&self, trials: Vec<Trial>) -> (Vec<Trial>, usize, Vec<Scene>) {
        let mut of_scene: HashMap<Scene, Vec<Trial>> = HashMap::new();
        for trial in trials {
            if let Ok(task) = trial.key.task.parse() {
                let (suite, seed) = (trial.key.suite.clone(), trial.key.seed);
                of_scene.entry(Scene { suite, task, seed }).or_default().push(trial);
            }
        }
        let (mut stand, mut retried, mut left) = (Vec::new(), 0, Vec::new());
        for scene in &self.plan.scenes {
            let trials = of_scene.remove(scene).unwrap_or_default();
            let (broken, mut played): (Vec<_>, Vec<_>) =
                trials.into_iter().partition(|trial| trial.outcome == Outcome::Infrastructure);
            let wanted = self.plan.repeats as usize;
            // Two runs may have played the last one at once, before and after a kill.
            played.truncate(wanted);
            let missing = wanted - played.len();
            // Each missing episode may fail `retries` times before it is given up.
            let chances = (self.plan.retries as usize + 1) * missing;
            if missing > 0 && broken.len() >= chances {
                retried += broken.len() - missing;
                played.extend(broken.into_iter().take(missing));
            } else {
                retried += broken.len();
                left.extend(std::iter::repeat_n(scene.clone(), missing));
            }
            for (repeat, trial) in played.iter_mut().enumerate() {
                trial.key.repeat = u32::try_from(repeat).unwrap_or(u32::MAX);
            }
            stand.extend(played);
        }
        (stand, retried, left)
    }
}

/// Reads a campaign for tables; `None` for a folder that holds none.
pub fn read_campaign(root: &Path) -> Option<read::Found> {
    if !root.join(PLAN).is_file() || !root.join(RUNS).is_dir() {
        return None;
    }
    let mut found = read::Found::default();
    for player in names(&root.join(RUNS)) {
        let of_player = read_player(&root.join(RUNS).join(&player), &player);
        found.problems.extend(of_player.problems);
        found.trials.extend(renumbered(of_player.trials));
    }
    Some(found)
}

/// Episodes of a player in the order they were played, also those that a run
/// finished before it was killed.
fn read_player(folder: &Path, player: &str) -> read::Found {
    let mut found = read::Found::default();
    for name in names(folder) {
        let path = folder.join(&name);
        match read::finished(&path) {
            Ok(trials) => found.trials.extend(trials),
            // A run that was killed before it had written anything has played nothing.
            Err(_) if !path.join("result.json").exists() => {}
            Err(problem) => found.problems.push(problem),
        }
    }
    for trial in &mut found.trials {
        trial.system = player.to_owned();
    }
    found
}

/// Without episodes that were played again after their infrastructure had failed.
fn renumbered(trials: Vec<Trial>) -> Vec<Trial> {
    let mut played: BTreeMap<_, Vec<Trial>> = BTreeMap::new();
    for mut trial in trials {
        trial.key.repeat = 0;
        played.entry(trial.key.clone()).or_default().push(trial);
    }
    let mut all = Vec::new();
    for mut same in played.into_values() {
        if same.iter().any(|trial| trial.outcome != Outcome::Infrastructure) {
            same.retain(|trial| trial.outcome != Outcome::Infrastructure);
        } else {
            same.truncate(1);
        }
        for (repeat, trial) in same.iter_mut().enumerate() {
            trial.key.repeat = u32::try_from(repeat).unwrap_or(u32::MAX);
        }
        all.extend(same);
    }
    all
}

/// Names in a folder, sorted; none when there is no such folder.
fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// Cuts what is left into runs: scenes of one task stay together, since a
/// simulator keeps its compiled model, and the last runs are short, so that no
/// worker waits long for another.
pub fn batches(left: &[Vec<Scene>], workers: usize, longest: usize) -> Vec<Batch> {
    let mut batches = Vec::new();
    for (player, scenes) in left.iter().enumerate() {
        let mut rest = &scenes[..];
        while !rest.is_empty() {
            let fair = rest.len().div_ceil(workers.max(1) * 2);
            let (now, later) = rest.split_at(fair.clamp(1, longest.max(1)));
            batches.push(Batch { player, scenes: now.to_vec() });
            rest = later;
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Player;
    use crate::trial::Outcome::{Failed, Infrastructure, Solved};
    use crate::trial::tests::trial;

    fn plan(tasks: u32, repeats: u32, retries: u32) -> Plan {
        let scene = |task| Scene { suite: "libero_spatial".to_owned(), task, seed: 0 };
        Plan {
            robot: "libero".to_owned(),
            scenes: (0..tasks).map(scene).collect(),
            repeats,
            players: vec![Player { name: "a".to_owned(), flags: BTreeMap::new() }],
            workers: None,
            retries,
        }
    }

    fn campaign(dir: &Path, plan: Plan) -> Campaign {
        Campaign::open(dir, plan, "x").unwrap()
    }

    #[test]
    fn what_is_left_is_what_was_not_played_or_broke() {
        let dir = tempfile::tempdir().unwrap();
        let campaign = campaign(dir.path(), plan(3, 2, 1));
        let trials = vec![
            trial("a", 0, Solved),
            trial("a", 0, Failed),
            trial("a", 1, Infrastructure),
            trial("a", 2, Infrastructure),
            trial("a", 2, Infrastructure),
            trial("a", 2, Solved),
        ];
        let (stand, retried, left) = campaign.settle(trials);
        assert_eq!(stand.len(), 2 + 2);
        // Task 1: one chance of four is used; task 2: its second episode is given up.
        assert_eq!(left.iter().map(|scene| scene.task).collect::<Vec<_>>(), [1, 1]);
        assert_eq!(retried, 1 + 1);
        let keys: std::collections::BTreeSet<_> = stand.iter().map(|t| &t.key).collect();
        assert_eq!(keys.len(), stand.len(), "every episode is of its own");
    }

    #[test]
    fn an_episode_played_twice_by_accident_counts_once() {
        let dir = tempfile::tempdir().unwrap();
        let campaign = campaign(dir.path(), plan(1, 1, 1));
        let (stand, _, left) = campaign.settle(vec![trial("a", 0, Failed), trial("a", 0, Solved)]);
        assert_eq!((stand.len(), left.len()), (1, 0));
        assert_eq!(stand[0].outcome, Failed, "the one that ended first");
    }

    #[test]
    fn a_folder_is_for_one_campaign_and_one_program() {
        let dir = tempfile::tempdir().unwrap();
        let first = campaign(dir.path(), plan(1, 1, 1));
        let busy = Campaign::open(dir.path(), plan(1, 1, 1), "x").unwrap_err();
        assert!(matches!(busy, CampaignError::Busy(_)), "{busy}");
        drop(first);
        let other = Campaign::open(dir.path(), plan(2, 1, 1), "y").unwrap_err();
        assert!(matches!(other, CampaignError::OtherPlan(_)), "{other}");
        let foreign = tempfile::tempdir().unwrap();
        fs::write(foreign.path().join("thesis.tex"), "").unwrap();
        let error = Campaign::open(foreign.path(), plan(1, 1, 1), "x").unwrap_err();
        assert!(matches!(error, CampaignError::NotEmpty(_)), "{error}");
    }

    #[test]
    fn batches_cover_everything_once_and_end_small() {
        let scenes = plan(37, 1, 1).scenes;
        let cut = batches(&[scenes.clone(), Vec::new()], 2, 16);
        let back: Vec<Scene> = cut.iter().flat_map(|batch| batch.scenes.clone()).collect();
        assert_eq!(back, scenes);
        assert!(cut.iter().all(|batch| batch.scenes.len() <= 10));
        assert_eq!(cut.last().unwrap().scenes.len(), 1);
    }
}
