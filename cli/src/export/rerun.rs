//! `rua export --rerun`: an episode for the Rerun viewer.

use std::path::Path;
use std::process::{Command, ExitCode};

use eyre::{Report, Result, WrapErr as _, bail};
use image_codec::Format;
use libero::render::Want;
use ruaflow_export::{Episode, ExportError, Story, View, ViewWriter};
use ruaflow_record::{RecordError, RunDir};

use super::args::Export;
use super::seen::{Seen, Studios};
use super::{SIZE, cameras, new_file};
use crate::args::Size;
use crate::clone::Clone;
use crate::print;
use crate::recorded::open_run;

const JPEG_QUALITY: u8 = 90;

pub fn run(args: &Export, run: &Path, out: &Path) -> Result<ExitCode> {
    new_file(out, "rrd")?;
    let python = ruaflow_kit::home().join("rerun/bin/python");
    if !python.is_file() {
        bail!("the Rerun SDK is not installed; run `./rua setup --with rerun`");
    }
    let script = Clone::find()?.rerun_script();
    let dir = open_run(run)?;
    let number = args.episode.unwrap_or(0);
    let episode = Episode::read(&dir, number)?;
    let folder = tempfile::tempdir().wrap_err("no temporary folder")?;
    let steps = write_tables(args, &dir, &episode, folder.path())?;

    let made = folder.path().join("made.rrd");
    let output = Command::new(&python).arg(&script).arg(folder.path()).arg(&made).output();
    let output = output.wrap_err_with(|| format!("can't run {python:?}"))?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        let last = words.trim_end().lines().next_back().unwrap_or("it says nothing");
        bail!("{script:?} failed: {last}");
    }
    move_file(&made, out)?;
    print::line(format_args!(
        "{}: {steps} control steps, {:.1} MB; see it with `{}`",
        out.display(),
        std::fs::metadata(out)?.len() as f64 / 1e6,
        ruaflow_kit::home().join("rerun/bin/rerun").display(),
    ));
    Ok(ExitCode::SUCCESS)
}

/// Writes what the script reads; returns how many control steps that are.
fn write_tables(args: &Export, dir: &RunDir, episode: &Episode, folder: &Path) -> Result<usize> {
    let cameras = cameras(args, &episode.card)?;
    let Size { width, height } = args.size.unwrap_or(SIZE);
    let mut studios = Studios::on(args.egl_device.clone());
    let mut seen = match studios.of(dir, episode) {
        Ok(seen) => Some(seen),
        // What the robot measured is worth looking at, too.
        Err(error) if lacks_states(&error) => None,
        Err(error) => return Err(error),
    };
    let number = episode.source.episode;
    let mut writer = ViewWriter::create(folder, &episode.source.run, number, &episode.card)?;
    let stride = match args.fps {
        Some(fps) => (episode.card.control_hz / f64::from(fps)).round().max(1.0) as usize,
        None => 1,
    };
    let mut steps = 0;
    for observation in episode.observations.iter().step_by(stride) {
        let step = observation.control_step;
        let (mut bodies, mut views) = (Vec::new(), Vec::new());
        if let Some(seen) = &mut seen {
            bodies = seen.body_poses(step)?;
            for camera in &cameras {
                views.extend(view(seen, episode, step, camera, [width, height])?);
            }
        }
        writer.step(observation, &bodies, &views)?;
        steps += 1;
    }
    writer.finish(&Story::read(dir, number)?)?;
    Ok(steps)
}

fn lacks_states(error: &Report) -> bool {
    matches!(error.downcast_ref(), Some(ExportError::Record(RecordError::Light { .. })))
}

fn view(
    seen: &mut Seen,
    episode: &Episode,
    step: u64,
    camera: &str,
    size: [u32; 2],
) -> Result<Option<View>> {
    let want = Want { depth: true, ..Want::default() };
    let Some(picture) = seen.picture(episode, step, camera, size, want)? else { return Ok(None) };
    let format = Format::Jpeg { quality: JPEG_QUALITY };
    Ok(Some(View {
        camera: camera.to_owned(),
        size,
        jpeg: image_codec::encode_parts(size[0], size[1], &picture.color, format)?,
        depth: picture.depth,
        intrinsics: picture.intrinsics,
        camera_to_world: picture.camera_to_world,
    }))
}

/// Gives a file its name at once, also where it must be copied to another disk.
fn move_file(from: &Path, to: &Path) -> Result<()> {
    let mut part = to.as_os_str().to_owned();
    part.push(".part");
    let part = Path::new(&part);
    let moved = std::fs::copy(from, part).and_then(|_| std::fs::rename(part, to));
    if moved.is_err() {
        // What did not fit is of no use.
        let _ = std::fs::remove_file(part);
    }
    moved.wrap_err_with(|| format!("can't write {to:?}"))
}
