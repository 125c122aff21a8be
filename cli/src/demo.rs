//! `rua demo`: the demo episode, with a word on what to look at.

use std::process::ExitCode;

use eyre::Result;

use crate::args::{Demo, Play, Scene};
use crate::play::{self, Request};
use crate::print;

pub fn run(args: &Demo) -> Result<ExitCode> {
    // The dataflow's own defaults are the demo episode.
    let play = Play {
        robot: "libero".to_owned(),
        scene: Scene::default(),
        out: args.out.clone(),
        ..Play::default()
    };
    let request = Request::check(&play)?;
    print::line(
        "The demo: cells of Python pick up a bowl in a LIBERO-PRO scene and put it on a plate.",
    );
    print::line(
        "Its policy knows where to look: it shows how things work together, not how clever they are.",
    );
    print::line("");
    let verdict = play::play(&request, play::Manner::Shown)?;
    print::line("");
    print::line(verdict.line());
    let dir = request.dir.display();
    if verdict.solved() {
        print::line("The scene's own predicate says that the task is solved.");
    }
    print::line(format_args!(
        "
The run is in {dir}
  result.json                 the verdict, with steps and times
  episodes/000/cells/         each cell with what it printed
  episodes/000/pictures/      the first and the last picture
  episodes/000/state.arrows   the whole simulator state of every control step, for pyarrow

Next
  ./rua play --seed 1         the same task, another scene
  ./rua suites                what else there is
  ./rua play --policy FILE    your own cells; begin with robots/policies/libero_demo.py
"
    ));
    verdict.status(true)
}
