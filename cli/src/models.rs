//! `rua models`: what can see for a run, and files that a user brings.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use eyre::Result;
use perception::sam3;
use serde_json::{Value, json};

use crate::args::{Models, ModelsCommand};
use crate::clone::Clone;
use crate::failure::usage;
use crate::print;

pub fn run(args: &Models) -> Result<ExitCode> {
    match &args.command {
        None => list(args.json)?,
        Some(ModelsCommand::Import { dir }) => import(dir)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A backend of `PERCEPTION`, as the list has it.
struct Model {
    word: &'static str,
    what: &'static str,
    dir: Option<PathBuf>,
    /// What is missing, or the size in bytes of what is there.
    state: Result<u64, String>,
}

fn list(as_json: bool) -> Result<()> {
    let models = models()?;
    if as_json {
        return print::json(&models.iter().map(to_json).collect::<Vec<_>>());
    }
    for model in &models {
        let state = match (&model.state, &model.dir) {
            (Ok(size), Some(dir)) => format!("{:.1} MB in {}", *size as f64 / 1e6, dir.display()),
            (Ok(_), None) => "always there".to_owned(),
            (Err(missing), _) => format!("not there: {missing}"),
        };
        print::line(format_args!("{:8} {}\n{:8} {state}", model.word, model.what, ""));
    }
    print::line("A run takes one with --perception, or PERCEPTION in its dataflow.");
    Ok(())
}

fn to_json(model: &Model) -> Value {
    json!({
        "name": model.word,
        "what": model.what,
        "dir": model.dir,
        "bytes": model.state.as_ref().ok(),
        "missing": model.state.as_ref().err(),
    })
}

fn models() -> Result<Vec<Model>> {
    let (builtin, sam3_dir) = (Clone::find()?.builtin_eyes(), perception::sam3_dir());
    let builtin_files = perception::builtin::FILES.iter().map(|file| (*file).to_owned());
    let sam3_files = sam3::files(&sam3_dir).map_err(|error| error.to_string());
    Ok(vec![
        Model {
            word: "builtin",
            what: "RuaFlow's own small net for LIBERO's things",
            state: sizes(&builtin, builtin_files),
            dir: Some(builtin),
        },
        Model {
            word: "sam3",
            what: "Segment Anything 3, from files you have: rua models import DIR",
            state: sam3_files.and_then(|files| sizes(&sam3_dir, files.into_iter())),
            dir: Some(sam3_dir),
        },
        Model {
            word: "oracle",
            what: "the simulator's own knowledge, privileged: for development, never for a result",
            state: Ok(0),
            dir: None,
        },
    ])
}

/// Bytes of some files of a folder, or which of them is missing.
fn sizes(dir: &Path, files: impl Iterator<Item = String>) -> Result<u64, String> {
    files
        .map(|file| {
            let path = dir.join(file);
            std::fs::metadata(&path)
                .map(|file| file.len())
                .map_err(|error| format!("{}: {error}", path.display()))
        })
        .sum()
}

fn import(dir: &Path) -> Result<()> {
    let taken =
        sam3::import(dir, &perception::sam3_dir()).map_err(|error| usage(error.to_string()))?;
    for (file, size) in &taken.files {
        print::line(format_args!("{:28} {:9.1} MB", file, *size as f64 / 1e6));
    }
    print::line(format_args!(
        "SAM3 is in {}. A run uses it with --perception sam3, or PERCEPTION: sam3 in its dataflow.",
        taken.dir.display()
    ));
    Ok(())
}
