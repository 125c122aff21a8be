//! Joins small files of a dataset.

use std::fs;
use std::path::{Path, PathBuf};

use super::ledger::{Entry, Ledger};
use super::tables;
use super::tree::Stage;
use crate::ExportError;

/// What a file with rows should not go beyond.
pub(super) const DATA_MB: u64 = 100;
/// The same of a video.
pub(super) const VIDEO_MB: u64 = 200;
const MB: u64 = 1 << 20;

/// Writes joined files into `stage`, keeps what need not change, and notes both in the
/// ledger. False, and nothing noted, when there is nothing to join.
pub(super) fn pack(
    target: &Path,
    ledger: &mut Ledger,
    stage: &mut Stage,
) -> Result<bool, ExportError> {
    let cameras = ledger.recipe.cameras.clone();
    let size = |path: String| fs::metadata(target.join(path)).map_or(0, |file| file.len());
    let largest_video = |file: u64| {
        let each = cameras.iter().map(|camera| size(Entry::video_path(camera, file)));
        each.max().unwrap_or(0)
    };
    let data = bins(ledger.episodes.iter().map(|entry| entry.data), DATA_MB * MB, |file| {
        size(Entry::data_path(file))
    });
    let videos =
        bins(ledger.episodes.iter().map(|entry| entry.video), VIDEO_MB * MB, largest_video);
    if data.iter().chain(&videos).all(|files| files.len() == 1) {
        return Ok(false);
    }

    for (file, members) in (0..).zip(&data) {
        let path = Entry::data_path(file);
        if *members == [file] {
            stage.keep(&path)?;
            continue;
        }
        let mut batches = Vec::new();
        for &member in members {
            batches.extend(tables::read(&target.join(Entry::data_path(member)))?);
        }
        tables::write(&stage.create(&path)?, &batches, None)?;
    }
    for camera in &cameras {
        for (file, members) in (0..).zip(&videos) {
            let path = Entry::video_path(camera, file);
            if *members == [file] {
                stage.keep(&path)?;
                continue;
            }
            let parts: Vec<PathBuf> = members
                .iter()
                .map(|&member| target.join(Entry::video_path(camera, member)))
                .collect();
            ruaflow_video::join(&parts, &stage.create(&path)?)?;
        }
    }

    let bin_of = |bins: &[Vec<u64>], file: u64| {
        (0..).zip(bins).find(|(_, members)| members.contains(&file)).map_or(file, |(bin, _)| bin)
    };
    let (mut in_file, mut pictures) = (u64::MAX, 0);
    for entry in &mut ledger.episodes {
        entry.data = bin_of(&data, entry.data);
        entry.video = bin_of(&videos, entry.video);
        if entry.video != in_file {
            (in_file, pictures) = (entry.video, 0);
        }
        entry.video_from = pictures;
        pictures += entry.rows;
    }
    Ok(true)
}

/// Neighbouring files that fit into one together.
fn bins(files: impl Iterator<Item = u64>, limit: u64, size: impl Fn(u64) -> u64) -> Vec<Vec<u64>> {
    let mut files: Vec<u64> = files.collect();
    files.dedup();
    let mut bins: Vec<Vec<u64>> = Vec::new();
    let mut filled = 0;
    for file in files {
        let bytes = size(file);
        match bins.last_mut() {
            Some(bin) if filled + bytes <= limit => {
                bin.push(file);
                filled += bytes;
            }
            _ => {
                bins.push(vec![file]);
                filled = bytes;
            }
        }
    }
    bins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_share_a_file_up_to_its_limit() {
        let sizes = [40, 50, 20, 90, 200, 10, 10];
        let bins = bins([0, 0, 1, 2, 3, 4, 5, 6].into_iter(), 100, |file| sizes[file as usize]);
        assert_eq!(bins, [vec![0, 1], vec![2], vec![3], vec![4], vec![5, 6]]);
    }
}
