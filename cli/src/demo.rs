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

pub fn run(args: &Demo) -> Result<ExitCode> {
    let scene = scene(args);
    let name = scene.suite.as_deref().unwrap_or_default();
    suites::find(&Data::locate()?, name)?;
    let again = format!(
        "--suite {name} --task {} --seed {}",
        scene.task.unwrap_or_default(),
        scene.seed.unwrap_or_default()
    );
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
    print::line(
        "The demo: a grammar reads the task, a small net finds things in pictures, and cells of
Python move the arm by what they measure. No language model, no GPU, no key, and nothing
is known of the scene beforehand. It does not solve everything: docs/builtin.md says what.",
    );
    print::line("");
    let verdict = play::play(&request, play::Manner::Shown)?;
    print::line("");
    print::line(verdict.line());
    let dir = request.dir.display();
    print::line(if verdict.solved() {
        "The scene's own predicate says that the task is solved."
    } else {
        "This one was not solved; the cells say how far it came."
    });
    print::line(format_args!(
        "
The run is in {dir}
  episodes/000/cells/         each cell, what it printed, and a picture of what it found
  episodes/000/pictures/      the first and the last picture
  result.json                 the verdict, with steps and times
  episodes/000/state.arrows   the whole simulator state of every control step, for pyarrow

Next
  ./rua demo {again}    this one again
  ./rua render {dir} -o demo.mp4    a film of it
  ./rua suites                what else there is
  ./rua play --planner openai --model …    let a language model write the cells
"
    ));
    verdict.status(true)
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
