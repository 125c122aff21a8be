//! How often words that relate pick the thing that an instruction means, over the
//! benchmark's own instructions:
//!
//! `cargo run --release -p perception --example relations -- [--eyes oracle|builtin]
//! [--models DIR] [--seeds FIRST..END] [--side PIXELS] [SUITE…]`
//!
//! Without suites, all whose instructions relate. With `oracle`, an error is one of the
//! words; with `builtin`, also one of the eyes. The benchmark's goal says which thing is
//! meant.

use std::collections::BTreeMap;
use std::path::PathBuf;

use eyre::{Result, bail, eyre};
use libero::bddl::Predicate;
use libero::data::Data;
use libero::render::{Picture as Rendered, Renderer, Want};
use libero::scene::Scene;
use libero::sim::Simulator;
use libero::suites;
use perception::answer::answer;
use perception::builtin::Builtin;
use perception::oracle::Oracle;
use perception::{Cache, Eyes, Labels, Question, Sight};
use ruaflow_schemas::{Bytes, SegmentRequest};

const SUITES: [&str; 9] = [
    "libero_spatial",
    "libero_spatial_lan",
    "libero_spatial_object",
    "libero_spatial_swap",
    "libero_spatial_task",
    "libero_90",
    "libero_10",
    "libero_10_swap",
    "libero_10_task",
];
/// As a run begins.
const SETTLE: u32 = 15;

/// A phrase, and which name of which goal condition is the thing.
type Meant = (&'static str, usize, Name);

/// Phrases of instructions that are not "pick the … and place it", with the goal
/// condition that names the thing, and which of its two names.
const PHRASES: [(&str, &[Meant]); 20] = [
    ("put the black bowl at the back on", &[("the black bowl at the back", 0, First)]),
    ("put the black bowl at the front on", &[("the black bowl at the front", 0, First)]),
    ("put the black bowl in the middle on", &[("the black bowl in the middle", 0, First)]),
    ("put the middle black bowl on", &[("the middle black bowl", 0, First)]),
    (
        "stack the black bowl at the front on",
        &[("the black bowl at the front", 0, First), ("the black bowl in the middle", 0, Second)],
    ),
    ("stack the black bowl in the middle on", &[("the black bowl in the middle", 0, First)]),
    ("put the butter at the back in", &[("the butter at the back", 0, First)]),
    ("put the butter at the front in", &[("the butter at the front", 0, First)]),
    ("put the right moka pot", &[("the right moka pot", 0, First)]),
    ("put the left moka pot", &[("the left moka pot", 0, First)]),
    ("pick up the black bowl on the left", &[("the black bowl on the left", 0, First)]),
    (
        "stack the left bowl on the right bowl",
        &[("the left bowl", 0, First), ("the right bowl", 0, Second)],
    ),
    (
        "stack the right bowl on the left bowl",
        &[("the right bowl", 0, First), ("the left bowl", 0, Second)],
    ),
    (
        "put the white mug on the left plate and put the yellow and white mug on the right plate",
        &[("the left plate", 0, Second), ("the right plate", 1, Second)],
    ),
    (
        "put the yellow and white mug on the left plate and put the white mug on the right plate",
        &[("the left plate", 0, Second), ("the right plate", 1, Second)],
    ),
    ("put the red mug on the left plate", &[("the left plate", 0, Second)]),
    ("put the white mug on the left plate", &[("the left plate", 0, Second)]),
    ("put the red mug on the right plate", &[("the right plate", 0, Second)]),
    ("put the yellow and white mug on the right plate", &[("the right plate", 0, Second)]),
    ("pick up the book", &[]),
];

use Name::{First, Second};

/// Which name of a goal condition.
#[derive(Clone, Copy)]
enum Name {
    First,
    Second,
}

struct Case {
    phrase: String,
    /// The instance that is meant.
    meant: String,
}

fn main() -> Result<()> {
    let asked = Arguments::read()?;
    match asked.eyes.as_str() {
        "oracle" => measure(&asked, Oracle),
        "builtin" => measure(&asked, Builtin::open(&asked.models)?),
        other => bail!("--eyes is {other:?}, expected oracle or builtin"),
    }
}

struct Arguments {
    eyes: String,
    models: PathBuf,
    seeds: std::ops::Range<u64>,
    side: u32,
    suites: Vec<String>,
}

impl Arguments {
    fn read() -> Result<Self> {
        let mut read = Arguments {
            eyes: "oracle".to_owned(),
            models: "models/perception".into(),
            seeds: 0..5,
            side: 512,
            suites: Vec::new(),
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| eyre!("{word} needs a value"));
            match word.as_str() {
                "--eyes" => read.eyes = value()?,
                "--models" => read.models = value()?.into(),
                "--side" => read.side = value()?.parse()?,
                "--seeds" => {
                    let text = value()?;
                    let (first, end) = text.split_once("..").ok_or_else(|| eyre!("FIRST..END"))?;
                    read.seeds = first.parse()?..end.parse()?;
                }
                _ => read.suites.push(word),
            }
        }
        if read.suites.is_empty() {
            read.suites = SUITES.map(str::to_owned).to_vec();
        }
        Ok(read)
    }
}

#[derive(Default)]
struct Tally {
    asked: usize,
    right: usize,
}

fn measure<E: Eyes>(asked: &Arguments, mut eyes: E) -> Result<()> {
    let data = Data::locate()?;
    let (mut by_suite, mut all) = (BTreeMap::<&str, Tally>::new(), Tally::default());
    for suite in &asked.suites {
        let tasks = suites::find(&data, suite)?.entries(&data);
        for entry in tasks.iter().filter(|entry| entry.missing.is_empty()) {
            let instruction = entry.instruction.clone().unwrap_or_default();
            if !instruction_relates(suite, &instruction) {
                continue;
            }
            let scene = Scene::load(&data, suite, entry.index)?;
            let cases = cases(suite, &instruction, &scene.problem.goal);
            let mut simulator = Simulator::new(scene)?;
            let mut renderer = Renderer::new(simulator.render_scene())?;
            for seed in asked.seeds.clone() {
                simulator.reset(seed, SETTLE)?;
                let want = Want { depth: true, segmentation: true };
                let side = asked.side;
                let picture = renderer.render(&simulator.state(), "agentview", side, side, want)?;
                let names = renderer.scene().instances().to_vec();
                for case in &cases {
                    let (chosen, reason) = ask(&mut eyes, &picture, &names, &case.phrase)?;
                    let right = chosen.as_deref() == Some(case.meant.as_str());
                    let tally = by_suite.entry(suite).or_default();
                    for tally in [tally, &mut all] {
                        tally.asked += 1;
                        tally.right += usize::from(right);
                    }
                    if !right {
                        println!(
                            "{suite} {} seed {seed}: {:?} is {}, answered {} ({reason})",
                            entry.index,
                            case.phrase,
                            case.meant,
                            chosen.as_deref().unwrap_or("nothing")
                        );
                    }
                }
            }
        }
    }
    for (suite, tally) in by_suite.into_iter().chain([("all", all)]) {
        let share = 100.0 * tally.right as f64 / tally.asked.max(1) as f64;
        println!("{suite:24} {:5} of {:5}  {share:5.1} %", tally.right, tally.asked);
    }
    Ok(())
}

/// Which instance the answer's mask lies on, and why it was chosen.
fn ask<E: Eyes>(
    eyes: &mut E,
    picture: &Rendered,
    names: &[String],
    phrase: &str,
) -> Result<(Option<String>, String)> {
    let question = Question::check(SegmentRequest {
        prompt: phrase.to_owned(),
        top_k: 1,
        min_score: 0.2,
        width: picture.width,
        height: picture.height,
        color: Bytes(picture.color.clone()),
        depth: picture.depth.clone(),
        intrinsics: picture.intrinsics,
        camera_to_world: picture.camera_to_world,
        ..SegmentRequest::default()
    })?;
    let labels = Labels { of: picture.segmentation.clone(), names: names.to_vec() };
    let sight = Sight { picture: question.picture.clone(), labels: Some(labels) };
    let mut cache = Cache::default();
    let (features, _) = cache.features(eyes, sight)?;
    let found = answer(eyes, features, &question)?;
    let Some(best) = found.instances.first() else { return Ok((None, found.reason)) };
    let mut counts = BTreeMap::<u32, usize>::new();
    for (label, _) in picture.segmentation.iter().zip(&best.mask.0).filter(|(_, on)| **on != 0) {
        *counts.entry(*label).or_default() += 1;
    }
    let label = counts.into_iter().max_by_key(|(_, count)| *count).map_or(0, |(label, _)| label);
    let name = (label as usize).checked_sub(1).and_then(|at| names.get(at));
    Ok((Some(name.map_or("background", String::as_str).to_owned()), found.reason))
}

fn instruction_relates(suite: &str, instruction: &str) -> bool {
    suite.starts_with("libero_spatial")
        || PHRASES.iter().any(|(begins, _)| instruction.starts_with(begins))
}

fn cases(suite: &str, instruction: &str, goal: &[Predicate]) -> Vec<Case> {
    let names = |at: usize| match goal.get(at) {
        Some(Predicate::On(a, b) | Predicate::In(a, b)) => Some([a, b]),
        _ => None,
    };
    let first = || names(0).map(|[a, _]| a.clone());
    let listed = || PHRASES.iter().find(|(begins, _)| instruction.starts_with(begins));
    if suite.starts_with("libero_spatial") || listed().is_some_and(|(_, of)| of.is_empty()) {
        let phrase = picked(instruction).to_owned();
        let relates = suite.starts_with("libero_spatial") || phrase.contains(" the ");
        let case = first().filter(|_| relates).map(|meant| Case { phrase, meant });
        return case.into_iter().collect();
    }
    let of = listed().map(|(_, of)| *of).unwrap_or_default();
    let case = |&(phrase, at, name): &(&str, usize, Name)| {
        let [a, b] = names(at)?;
        let meant = match name {
            First => a.clone(),
            Second => b.clone(),
        };
        Some(Case { phrase: phrase.to_owned(), meant })
    };
    of.iter().filter_map(case).collect()
}

/// "pick up … and place it": what is picked.
fn picked(instruction: &str) -> &str {
    let object = instruction.split_once(' ').map_or(instruction, |(_, rest)| rest);
    let object = object.strip_prefix("up ").unwrap_or(object);
    let ends = [" and place", " and put", " and set"].into_iter();
    let end = ends.filter_map(|end| object.rfind(end)).max();
    end.map_or(object, |end| &object[..end])
}
