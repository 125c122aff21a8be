use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;

use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder as _};
use ruaflow_record::{RecordError, compact, write_atomically};

/// Makes ended streams into tables and pictures smaller on a thread of its own, so
/// that no row and no episode waits for it.
pub(crate) struct Compactor {
    files: Option<Sender<PathBuf>>,
    thread: Option<JoinHandle<()>>,
}

impl Compactor {
    pub fn start() -> std::io::Result<Self> {
        let (files, waiting) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("compactor".to_owned())
            .spawn(move || work(&waiting))?;
        Ok(Compactor { files: Some(files), thread: Some(thread) })
    }

    /// A stream, to which nothing more may be written, or a PNG file.
    pub fn take(&self, file: PathBuf) {
        if let Some(files) = &self.files {
            // A thread that has given up leaves the files as they are.
            let _ = files.send(file);
        }
    }

    /// Waits until all is done.
    pub fn finish(&mut self) {
        self.files = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::warn!("the compaction of files ended early");
        }
    }
}

impl Drop for Compactor {
    fn drop(&mut self) {
        self.finish();
    }
}

fn work(waiting: &Receiver<PathBuf>) {
    for file in waiting {
        let is_picture = file.extension().is_some_and(|kind| kind == "png");
        let done = if is_picture { pack(&file) } else { compact(&file) };
        match done {
            Ok(()) => {}
            Err(error @ RecordError::DiskFull { .. }) => {
                tracing::warn!(%error, "files stay as they are; `rua repair` compacts the streams");
                return;
            }
            Err(error) => tracing::warn!(%error, "a file stays as it is"),
        }
    }
}

/// Packs a picture more tightly, pixel by pixel the same: while the robot waited for
/// it, speed counted more.
fn pack(path: &Path) -> Result<(), RecordError> {
    let Ok(before) = std::fs::read(path) else { return Ok(()) };
    match packed(&before) {
        Some(after) if after.len() < before.len() => write_atomically(path, &after),
        _ => Ok(()),
    }
}

fn packed(png: &[u8]) -> Option<Vec<u8>> {
    let picture = image_codec::decode(png).ok()?;
    let mut bytes = Vec::new();
    PngEncoder::new_with_quality(&mut bytes, CompressionType::Default, FilterType::Adaptive)
        .write_image(&picture.pixels, picture.width, picture.height, ExtendedColorType::Rgb8)
        .ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use image_codec::{Format, Rgb, decode, encode};

    use super::*;

    #[test]
    fn a_picture_gets_smaller_and_stays_the_same() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("001.1-wrist.png");
        let grain = |at: u32| (at.wrapping_mul(2_654_435_761) >> 28) as u8;
        let pixels = (0..3 * 128 * 128).map(|at| (at / 400) as u8 + grain(at)).collect();
        let picture = Rgb { width: 128, height: 128, pixels };
        let before = encode(&picture, Format::Png).unwrap();
        std::fs::write(&path, &before).unwrap();
        let mut compactor = Compactor::start().unwrap();
        compactor.take(path.clone());
        compactor.take(tmp.path().join("gone.png"));
        compactor.finish();
        let after = std::fs::read(&path).unwrap();
        assert!(after.len() < before.len(), "{} of {}", after.len(), before.len());
        assert_eq!(decode(&after).unwrap().pixels, picture.pixels);
    }
}
