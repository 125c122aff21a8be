//! `rua export`: recorded episodes for other programs.

pub mod args;
mod lerobot;
mod rerun;
mod seen;

use std::path::Path;
use std::process::ExitCode;

use eyre::Result;
use ruaflow_kit::nearest;
use ruaflow_schemas::Card;

use self::args::Export;
use crate::args::{Quality, Render, Size};
use crate::failure::usage;
use crate::render;

const SIZE: Size = Size { width: 256, height: 256 };
const VIDEO_SIZE: Size = Size { width: 512, height: 512 };

pub fn run(args: &Export) -> Result<ExitCode> {
    match (&args.lerobot, &args.rerun, &args.mp4) {
        (Some(dir), _, _) => lerobot::run(args, dir),
        (_, Some(out), _) => rerun::run(args, one_run(args)?, out),
        (_, _, Some(out)) => video(args, one_run(args)?, out),
        (None, None, None) => Err(usage("say what to make: --lerobot, --rerun or --mp4")),
    }
}

/// A video is what `rua render` makes.
fn video(args: &Export, run: &Path, out: &Path) -> Result<ExitCode> {
    new_file(out, "mp4")?;
    render::run(&Render {
        run: run.to_owned(),
        out: out.to_owned(),
        episode: args.episode.unwrap_or(0),
        step: None,
        from: None,
        to: None,
        camera: args.camera.clone(),
        size: args.size.unwrap_or(VIDEO_SIZE),
        fps: args.fps.map(f64::from),
        captions: args.captions,
        quality: Quality::Full,
        egl_device: args.egl_device.clone(),
    })
}

fn one_run(args: &Export) -> Result<&Path> {
    match &args.runs[..] {
        [run] => Ok(run),
        _ => Err(usage("several runs go into a dataset only (--lerobot); name one of them")),
    }
}

/// Fails unless a file can be made new, with this ending.
fn new_file(out: &Path, ending: &str) -> Result<()> {
    if out.extension().is_none_or(|found| found != ending) {
        return Err(usage(format!("{out:?} does not end in .{ending}")));
    }
    if out.exists() {
        return Err(usage(format!("{out:?} exists; remove it, or choose another name")));
    }
    Ok(())
}

/// The cameras that were asked for, else the robot's own.
fn cameras(args: &Export, card: &Card) -> Result<Vec<String>> {
    let own = || card.cameras.iter().map(|camera| camera.name.clone()).collect();
    let names: Vec<String> = match args.cameras.as_deref() {
        None => own(),
        Some("none") => Vec::new(),
        Some(names) => names.split(',').map(|name| name.trim().to_owned()).collect(),
    };
    for (at, name) in names.iter().enumerate() {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || !name.chars().all(plain) {
            return Err(usage(format!("{name:?} is no camera's name")));
        }
        if names[..at].contains(name) {
            return Err(usage(format!("camera {name:?} is named twice")));
        }
    }
    Ok(names)
}

/// Fails unless a camera is one of the card's.
fn known_camera(name: &str, card: &Card) -> Result<()> {
    let known = || card.cameras.iter().map(|camera| camera.name.as_str());
    if known().any(|camera| camera == name) {
        return Ok(());
    }
    let near = nearest(name, known()).unwrap_or("none");
    let known: Vec<&str> = known().collect();
    Err(usage(format!(
        "there is no camera {name:?}: did you mean {near:?}? known are {}",
        known.join(", ")
    )))
}
