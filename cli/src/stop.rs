//! `rua stop`: reach a run's controller from outside the dataflow.

use std::path::Path;
use std::process::ExitCode;

use eyre::{Context as _, Result, bail};
use ruaflow_kit::Command;

use crate::args::Stop;
use crate::failure::usage;
use crate::print;
use crate::recorded::open_run;

pub fn run(args: &Stop) -> Result<ExitCode> {
    let run = choose(args.run.as_deref(), ruaflow_kit::live_runs()?)?;
    let command = if args.now { Command::StopNow } else { Command::Stop };
    let answer = ruaflow_kit::ask(&run, command).wrap_err_with(|| {
        format!("run {run:?} does not answer; is it still live? `rua stop` without a name looks")
    })?;
    print::line(format!("{run}: {answer}"));
    Ok(ExitCode::SUCCESS)
}

/// The run that is meant: an id, a run's folder, or the only one that is live.
fn choose(named: Option<&str>, mut live: Vec<String>) -> Result<String> {
    let Some(name) = named else {
        return match live.len() {
            0 => bail!("no run is live"),
            1 => Ok(live.remove(0)),
            _ => {
                Err(usage(format!("several runs are live, name one of them: {}", live.join(", "))))
            }
        };
    };
    let run = match Path::new(name).is_dir() {
        true => open_run(Path::new(name))?.run().to_owned(),
        false => name.to_owned(),
    };
    if !live.contains(&run) {
        let those = if live.is_empty() {
            "none is".to_owned()
        } else {
            format!("those that are: {}", live.join(", "))
        };
        bail!("run {run:?} is not live; {those}");
    }
    Ok(run)
}

#[cfg(test)]
mod tests {
    use ruaflow_record::RunDir;

    use super::*;

    fn live(runs: &[&str]) -> Vec<String> {
        runs.iter().map(|run| (*run).to_owned()).collect()
    }

    #[test]
    fn one_live_run_needs_no_name() {
        assert_eq!(choose(None, live(&["a"])).unwrap(), "a");
        assert_eq!(choose(Some("b"), live(&["a", "b"])).unwrap(), "b");
    }

    #[test]
    fn otherwise_it_says_what_is_live() {
        assert_eq!(choose(None, vec![]).unwrap_err().to_string(), "no run is live");
        assert!(choose(None, live(&["a", "b"])).unwrap_err().to_string().contains("a, b"));
        assert!(
            choose(Some("c"), live(&["a"])).unwrap_err().to_string().contains("those that are: a")
        );
    }

    #[test]
    fn a_folder_stands_for_its_run() {
        let folder = tempfile::tempdir().unwrap();
        let (_dir, _lock) = RunDir::create(&folder.path().join("r"), "the-run").unwrap();
        let path = folder.path().join("r").display().to_string();
        assert_eq!(choose(Some(&path), live(&["the-run"])).unwrap(), "the-run");
    }
}
