//! The backend `builtin`: plays without a model, by the crate `ruaflow-builtin`.

use ruaflow_builtin::{Ending as Outcome, Ran, World, solve};

use crate::backend::{Backend, Ending, Over};
use crate::episode::Episode;

pub(crate) struct Builtin;

impl Backend for Builtin {
    fn play(&mut self, episode: &mut Episode) -> Result<Ending, String> {
        let task = episode.card().instruction.clone();
        Ok(match solve(&task, &mut Cells(episode)) {
            Ok(Outcome::Finished(summary)) => {
                Ending::Finished { status: "success".to_owned(), summary }
            }
            Ok(Outcome::GaveUp(summary)) => {
                Ending::Finished { status: "failure".to_owned(), summary }
            }
            Err(over) => over.into(),
        })
    }
}

struct Cells<'a>(&'a mut Episode);

impl World for Cells<'_> {
    type Over = Over;

    fn run(&mut self, code: &str, title: &str) -> Result<Ran, Over> {
        let result = self.0.run(code, title)?;
        // A status without a traceback still tells that not all was run.
        let error = match result.status.as_str() {
            "ok" => None,
            status if result.error.is_empty() => Some(status.to_owned()),
            _ => Some(result.error),
        };
        Ok(Ran { stdout: result.stdout, error, names_lost: result.namespace_lost })
    }
}

#[cfg(test)]
mod tests {
    use ruaflow_prompt::Rules;
    use ruaflow_schemas::{Card, CellResult};

    use super::*;
    use crate::backend::Why;
    use crate::rehearsal;

    fn card(instruction: &str) -> Card {
        Card { robot: "libero".to_owned(), instruction: instruction.to_owned(), ..Card::default() }
    }

    #[test]
    fn cells_are_run_until_the_task_is_solved() {
        let card = card("turn on the stove");
        let (mut episode, ran) = rehearsal::with(Rules::default(), card, |code, _| {
            match code.contains("turn_knob(\"") {
                true => Err(Over::because(Why::Solved)),
                false => Ok(CellResult { status: "ok".to_owned(), ..CellResult::default() }),
            }
        });
        assert_eq!(Builtin.play(&mut episode), Ok(Ending::Over));
        assert_eq!(ran.cells().len(), 2, "the helpers, then the knob");
    }

    #[test]
    fn what_is_not_understood_is_said_and_nothing_is_run() {
        let (mut episode, ran) =
            rehearsal::with(Rules::default(), card("juggle the plates"), |_, _| {
                Ok(CellResult::default())
            });
        let Ok(Ending::Finished { status, summary }) = Builtin.play(&mut episode) else {
            panic!("it should finish");
        };
        assert_eq!(status, "failure");
        assert!(summary.contains("juggle") && ran.cells().is_empty(), "{summary}");
    }
}
