//! Labelled pictures of LIBERO scenes, from which the builtin segmenter is trained and by
//! which it is judged; `training/perception/README.md` says how.
//!
//! `cargo run --release -p libero --example perception_data -- train|held-out FOLDER
//! [--rounds N] [--layouts N] [--share K/N] [--suites A,B] [--device D]`
//!
//! What is held out: the benchmark's initial states and seeds 0 to 9 serve `held-out` alone.
//! `train` opens no file of initial states, and draws from seeds of one million and more.

mod labels;
mod layout;
mod scenery;
mod shard;

use std::collections::BTreeSet;
use std::path::PathBuf;

use eyre::{Result, WrapErr, bail, eyre};
use libero::bddl::Problem;
use libero::data::Data;
use libero::egl::EglDevice;
use libero::rng::NumpyRandom;
use libero::scene::Scene;
use libero::sim::Simulator;
use libero::suites::{self, Task};

use self::layout::Layout;
use self::scenery::{Scenery, View};
use self::shard::Shard;

/// Seeds that no training picture comes from.
const HELD_OUT_SEEDS: std::ops::RangeInclusive<u32> = 0..=9;
const FIRST_TRAINING_SEED: u32 = 1_000_000;
/// Arm poses a layout is seen with.
const ARM_POSES: usize = 3;
/// Waiting steps after a reset, as before an episode.
const SETTLE: u32 = 15;

struct Options {
    held_out: bool,
    folder: PathBuf,
    /// How often each kind of scene is composed, each time with other extra objects and cameras.
    rounds: u32,
    /// Layouts a composed scene, or seeds a task.
    layouts: u32,
    /// This process's share of the work: `(k, n)`.
    share: (usize, usize),
    suites: Option<Vec<String>>,
    device: EglDevice,
}

fn main() -> Result<()> {
    let options = Options::read(std::env::args().skip(1))?;
    std::fs::create_dir_all(&options.folder)?;
    let data = Data::locate()?;
    let tasks = complete_tasks(&data, options.suites.as_deref())?;
    match options.held_out {
        true => held_out(&data, &tasks, &options),
        false => train(&data, &tasks, &options),
    }
}

/// Tasks of the suites that lack nothing.
fn complete_tasks(data: &Data, wanted: Option<&[String]>) -> Result<Vec<(Task, Problem)>> {
    let mut tasks = Vec::new();
    for suite in suites::all(data)? {
        let asked = wanted.is_none_or(|names| names.contains(&suite.name));
        if asked && suite.entries(data).iter().all(|entry| entry.missing.is_empty()) {
            for index in 0..suite.tasks.len() {
                tasks.push(suite.task(data, index)?);
            }
        }
    }
    Ok(tasks)
}

/// Every set of things that occurs together, `rounds` times over, in layouts of our own.
fn train(data: &Data, tasks: &[(Task, Problem)], options: &Options) -> Result<()> {
    let mut seen = BTreeSet::new();
    let kinds: Vec<_> = tasks.iter().filter(|(_, problem)| seen.insert(kind(problem))).collect();
    let work = (0..options.rounds).flat_map(|round| kinds.iter().map(move |task| (round, *task)));
    for (number, (round, (task, problem))) in work.enumerate() {
        if number % options.share.1 != options.share.0 {
            continue;
        }
        let seed = FIRST_TRAINING_SEED + number as u32;
        assert!(!HELD_OUT_SEEDS.contains(&seed), "a held-out seed");
        let name = format!("{}-{}-{round}", task.suite, task.index);
        let mut rng = NumpyRandom::new(seed);
        let outcome = train_scene(data, problem, options, &mut rng)
            .and_then(|shard| shard.write(&options.folder, &name));
        // One scene that finds no place for its things must not end the whole run.
        if let Err(error) = outcome {
            eprintln!("{name}: {error:#}");
        }
    }
    Ok(())
}

fn train_scene(
    data: &Data,
    problem: &Problem,
    options: &Options,
    rng: &mut NumpyRandom,
) -> Result<Shard> {
    let problem = scenery::with_extra_objects(data, problem, rng)?;
    let mut scenery = Scenery::varied(data, &problem, rng)?;
    let mut shard = Shard::default();
    for _ in 0..options.layouts {
        let layout = Layout::draw(&mut scenery, rng)?;
        for _ in 0..ARM_POSES {
            layout.pose_arm(&mut scenery, rng);
            for view in [View::Scene, View::Wrist] {
                let camera = scenery.camera(view, rng);
                shard.push(scenery.picture(&options.device, camera)?, &scenery, camera)?;
            }
        }
    }
    Ok(shard)
}

/// The benchmark's own scenes, as an episode of each held-out seed begins; the wrist sees them
/// from poses of ours.
fn held_out(data: &Data, tasks: &[(Task, Problem)], options: &Options) -> Result<()> {
    for (number, (task, problem)) in tasks.iter().enumerate() {
        if number % options.share.1 != options.share.0 {
            continue;
        }
        let mut sim = Simulator::new(Scene::load(data, &task.suite, task.index)?)?;
        let mut scenery = Scenery::original(data, problem)?;
        let mut shard = Shard::default();
        for seed in HELD_OUT_SEEDS.take(options.layouts as usize) {
            let name = || format!("{} task {} seed {seed}", task.suite, task.index);
            sim.reset(u64::from(seed), SETTLE).wrap_err_with(name)?;
            scenery.set_state(&sim.state())?;
            let mut rng = NumpyRandom::new(seed);
            for view in [View::Scene, View::Wrist] {
                if view == View::Wrist {
                    layout::pose_arm(&mut scenery, &mut rng);
                }
                let camera = scenery.original_camera(view);
                shard.push(scenery.picture(&options.device, camera)?, &scenery, camera)?;
            }
        }
        shard.with_depth().write(&options.folder, &format!("{}-{}", task.suite, task.index))?;
    }
    Ok(())
}

/// What tells scenes apart: the workspace and the categories in it.
fn kind(problem: &Problem) -> (String, Vec<(String, usize)>) {
    let groups = problem.objects.iter().chain(&problem.fixtures);
    let mut things: Vec<_> =
        groups.map(|group| (group.category.clone(), group.instances.len())).collect();
    things.sort();
    (problem.class.clone(), things)
}

impl Options {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Self> {
        let held_out = match arguments.next().as_deref() {
            Some("train") => false,
            Some("held-out") => true,
            other => bail!("expected `train` or `held-out`, found {other:?}"),
        };
        let folder = arguments.next().ok_or_else(|| eyre!("no folder named"))?.into();
        let mut options = Self {
            held_out,
            folder,
            rounds: 1,
            layouts: 5,
            share: (0, 1),
            suites: None,
            device: EglDevice::Any,
        };
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or_else(|| eyre!("{name} has no value"))?;
            match name.as_str() {
                "--rounds" => options.rounds = value.parse()?,
                "--layouts" => options.layouts = value.parse()?,
                "--share" => {
                    let (k, n) = value.split_once('/').ok_or_else(|| eyre!("--share K/N"))?;
                    options.share = (k.parse()?, n.parse()?);
                }
                "--suites" => {
                    options.suites = Some(value.split(',').map(str::to_owned).collect());
                }
                "--device" => options.device = EglDevice::parse(Some(&value)),
                _ => bail!("option {name:?} is not known"),
            }
        }
        Ok(options)
    }
}
