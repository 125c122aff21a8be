//! `rua demo`: a task of LIBERO-PRO, solved offline with nothing but pictures.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::process::ExitCode;

use eyre::Result;
use libero::data::Data;

use crate::args::{Demo, Play, Scene, Stage};
use crate::play::{self, Request};
use crate::{print, suites};

/// LIBERO-PRO's suites: four of LIBERO's, each changed in four ways.
const BASES: [&str; 4] = ["libero_spatial", "libero_object", "libero_goal", "libero_10"];
const CHANGES: [&str; 4] = ["lan", "object", "swap", "task"];
const TASKS: u32 = 10;
/// Seeds of a random demo.
const SEEDS: u32 = 50;
/// Tasks that a demo by chance plays, until one is solved.
const TRIES: u32 = 3;

pub fn run(args: &Demo) -> Result<ExitCode> {
    print::line(
        "The demo: a grammar reads the task, a small net finds things in pictures, and cells of
Python move the arm by what they measure. No language model, no GPU, no key, and nothing
is known of the scene beforehand. It does not solve everything: docs/builtin.md says what.",
    );
    let chosen = args.task.is_some() || args.seed.is_some() || args.out.is_some();
    let mut left = if chosen { 1 } else { TRIES };
    loop {
        left -= 1;
        let (play, request) = request(args)?;
        print::line("");
        let verdict = play::play(&request, play::Manner::Shown)?;
        print::line("");
        print::line(verdict.line());
        let dir = request.dir.display();
        if left > 0 && verdict.completed() && !verdict.solved() {
            print::line(format_args!(
                "Not solved; {dir}/episodes/000/cells says how far it came. Another one:"
            ));
            continue;
        }
        print::line(if verdict.solved() {
            "The scene's own predicate says that the task is solved."
        } else {
            "This one was not solved; the cells say how far it came."
        });
        let Scene { suite, task, seed, .. } = play.stage.scene;
        print::line(format_args!(
            "
The run is in {dir}
  episodes/000/cells/         each cell, what it printed, and a picture of what it found
  episodes/000/pictures/      the first and the last picture
  result.json                 the verdict, with steps and times
  episodes/000/state.parquet  the whole simulator state of every control step, for pyarrow

Next
  ./rua demo --suite {} --task {} --seed {}    this one again
  ./rua render {dir} -o demo.mp4    a film of it
  ./rua suites                what else there is
  ./rua play --planner openai --model …    let a language model write the cells
",
            suite.unwrap_or_default(),
            task.unwrap_or_default(),
            seed.unwrap_or_default(),
        ));
        return verdict.status(true);
    }
}

fn request(args: &Demo) -> Result<(Play, Request)> {
    let scene = scene(args);
    suites::find(&Data::locate()?, scene.suite.as_deref().unwrap_or_default())?;
    let play = Play {
        planner: Some("builtin".to_owned()),
        stage: Stage {
            robot: "libero".to_owned(),
            scene,
            perception: Some("builtin".to_owned()),
            out: args.out.clone(),
            ..Stage::default()
        },
        ..Play::default()
    };
    let request = Request::check(&play)?;
    Ok((play, request))
}

/// What was asked for; the rest by chance.
fn scene(args: &Demo) -> Scene {
    let suite = args
        .suite
        .clone()
        .unwrap_or_else(|| format!("{}_{}", BASES[any(4) as usize], CHANGES[any(4) as usize]));
    Scene {
        suite: Some(suite),
        task: Some(args.task.unwrap_or_else(|| any(TASKS))),
        seed: Some(args.seed.unwrap_or_else(|| any(SEEDS))),
        ..Scene::default()
    }
}

/// A number below `end`, another one each time.
fn any(end: u32) -> u32 {
    // A new hasher has a random key.
    (RandomState::new().build_hasher().finish() % u64::from(end)) as u32
}
