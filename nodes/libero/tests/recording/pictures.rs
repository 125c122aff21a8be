//! Pictures, pixel by pixel.

use std::path::Path;

use eyre::{Result, WrapErr as _};
use libero::{
    render::{Picture, Renderer, Want},
    state::SimState,
};
use serde::Serialize;

use super::SavedPicture;

/// Side of the recorded pictures, pixels.
const SIDE: u32 = 256;

/// How many pixels differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PictureRow {
    pub when: String,
    pub camera: String,
    pub color: usize,
    pub depth: usize,
    pub instances: usize,
}

/// Renders `state` as `saved` was, and counts the pixels that differ.
pub fn compare(
    renderer: &mut Renderer,
    state: &SimState,
    saved: &SavedPicture,
    folder: &Path,
) -> Result<PictureRow> {
    let want = Want { depth: true, segmentation: true };
    let ours = renderer.render(state, &saved.camera, SIDE, SIDE, want)?;
    let read = |file: &String| {
        std::fs::read(folder.join(file)).wrap_err_with(|| format!("{file:?} can't be read"))
    };
    let Picture { color, depth, segmentation, .. } = ours;
    Ok(PictureRow {
        when: saved.when.clone(),
        camera: saved.camera.clone(),
        color: differing::<3>(&read(&saved.color)?, &color)?,
        depth: differing::<4>(&read(&saved.depth)?, &bytes(&depth, |depth| depth.to_bits()))?,
        instances: differing::<4>(&read(&saved.instances)?, &bytes(&segmentation, |label| *label))?,
    })
}

fn bytes<T>(values: &[T], bits: impl Fn(&T) -> u32) -> Vec<u8> {
    values.iter().flat_map(|value| bits(value).to_le_bytes()).collect()
}

/// Pixels of `N` bytes that differ.
fn differing<const N: usize>(theirs: &[u8], ours: &[u8]) -> Result<usize> {
    eyre::ensure!(theirs.len() == ours.len(), "{} bytes and {}", theirs.len(), ours.len());
    let pixels = theirs.as_chunks::<N>().0.iter().zip(ours.as_chunks::<N>().0);
    Ok(pixels.filter(|(a, b)| a != b).count())
}
