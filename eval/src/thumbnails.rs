//! Small pictures of an episode's beginning and end.

use std::fs;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image_codec::{Filter, Format, Pixels, decode, encode_parts, resize};
use ruaflow_record::RunDir;

use crate::trial::Trial;

const SIDE: u32 = 128;
const QUALITY: u8 = 80;

/// The first and the last picture that was recorded of a scene camera, as base64
/// of JPEG; `None` when there is none.
pub fn thumbnails(trial: &Trial) -> Option<(String, Option<String>)> {
    let run = RunDir::open(&trial.source).ok()?;
    let entries = fs::read_dir(run.pictures_dir(trial.episode)).ok()?;
    let mut pictures: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "png"))
        // A wrist camera shows little of a scene.
        .filter(|path| !path.to_string_lossy().contains("wrist"))
        .collect();
    pictures.sort();
    let first = thumbnail(pictures.first()?)?;
    let last = pictures[1..].last().and_then(thumbnail);
    Some((first, last))
}

fn thumbnail(path: &PathBuf) -> Option<String> {
    let picture = decode(&fs::read(path).ok()?).ok()?;
    let pixels = Pixels {
        width: picture.width,
        height: picture.height,
        channels: 3,
        bytes: &picture.pixels,
    };
    let small = resize(pixels, SIDE, SIDE, Filter::Bilinear).ok()?;
    let jpeg = encode_parts(SIDE, SIDE, &small, Format::Jpeg { quality: QUALITY }).ok()?;
    Some(STANDARD.encode(jpeg))
}
