//! What people read on the terminal: one line for each happening.

use ruaflow_record::{Happening, Status};

/// The line, if a person wants to know.
pub(crate) fn line(what: &Happening) -> Option<String> {
    Some(match what {
        Happening::Run { run, dir, .. } => format!("run {run}, recorded in {}", dir.display()),
        Happening::Episode { episode, suite, task, seed, instruction, reset_s, .. } => {
            let suite = if suite.is_empty() { String::new() } else { format!("{suite} ") };
            format!(
                "episode {episode}: {suite}task {task} seed {seed}, {instruction:?}, scene set in {reset_s:.1} s"
            )
        }
        Happening::Serving { url, token_file, .. } => {
            format!("the robot is at {url}, its token in {}", token_file.display())
        }
        Happening::Cell { status, .. } if status == "started" => return None,
        Happening::Cell { index, status, title, seconds, control_steps, error, .. } => {
            let title = if title.is_empty() { String::new() } else { format!(" ({title})") };
            let error = if error.is_empty() { String::new() } else { format!(": {error}") };
            let (seconds, steps) = (seconds.unwrap_or_default(), control_steps.unwrap_or_default());
            format!("cell {index}{title}: {status}, {seconds:.2} s, {steps} control steps{error}")
        }
        Happening::Turn { turn, input, output, dollars, seconds, .. } => {
            let dollars = dollars.map_or(String::new(), |dollars| format!(", ${dollars:.4}"));
            format!("turn {turn}: {input} tokens in, {output} out{dollars}, {seconds:.1} s")
        }
        Happening::Progress { .. } => return None,
        Happening::Note { text } => text.clone(),
        Happening::Warning { node, message } => format!("warning from {node}: {message}"),
        Happening::Ended {
            episode,
            reason,
            success,
            judged,
            control_steps,
            calls,
            cells,
            seconds,
        } => {
            let solved = match (success, judged) {
                (true, _) => "solved",
                (false, true) => "not solved",
                (false, false) => "over",
            };
            format!(
                "episode {episode}: {solved} ({}), {cells} cells, {calls} calls, {control_steps} control steps, {seconds:.1} s",
                reason.as_str()
            )
        }
        Happening::Verdict { status, judged, solved, episodes, error, seconds, .. } => {
            let end = match (status, error) {
                (Status::Completed, _) => "completed".to_owned(),
                (Status::Interrupted, _) => "interrupted".to_owned(),
                (_, Some(error)) => format!("failed, {}: {}", error.node, error.message),
                (_, None) => "failed".to_owned(),
            };
            let solved = if *judged {
                format!("{solved} of {episodes} episodes solved, ")
            } else {
                String::new()
            };
            format!("{end}: {solved}{seconds:.1} s")
        }
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use ruaflow_record::{Failure, Reason};

    use super::*;

    #[test]
    fn each_happening_is_one_line() {
        let happenings = [
            Happening::Run {
                run: "r".into(),
                dir: PathBuf::from("/runs/r"),
                robot: String::new(),
                planner: "script".into(),
                episodes: 1,
            },
            Happening::Episode {
                episode: 0,
                suite: "libero_spatial".into(),
                task: 2,
                seed: 5,
                instruction: "pick up the bowl".into(),
                max_control_steps: 0,
                reset_s: 1.25,
            },
            Happening::Cell {
                episode: 0,
                index: 1,
                status: "error".into(),
                title: "approach".into(),
                seconds: Some(0.5),
                control_steps: Some(31),
                printed: String::new(),
                error: "ValueError: no".into(),
            },
            Happening::Ended {
                episode: 0,
                reason: Reason::CellError,
                success: false,
                judged: true,
                control_steps: 31,
                calls: 2,
                cells: 1,
                seconds: 0.62,
            },
            Happening::Verdict {
                status: Status::Failed,
                success: false,
                judged: true,
                solved: 0,
                episodes: 1,
                error: Some(Failure {
                    node: "libero".into(),
                    message: "node \"libero\" died".into(),
                }),
                seconds: 3.0,
            },
        ];
        let lines: Vec<String> = happenings.iter().filter_map(line).collect();
        assert_eq!(
            lines,
            [
                "run r, recorded in /runs/r",
                "episode 0: libero_spatial task 2 seed 5, \"pick up the bowl\", scene set in 1.2 s",
                "cell 1 (approach): error, 0.50 s, 31 control steps: ValueError: no",
                "episode 0: not solved (cell_error), 1 cells, 2 calls, 31 control steps, 0.6 s",
                "failed, libero: node \"libero\" died: 0 of 1 episodes solved, 3.0 s",
            ]
        );
    }
}
