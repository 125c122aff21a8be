//! Video files without ffmpeg: H.264 by OpenH264, in an MP4 that browsers play.
//!
//! ```no_run
//! # fn main() -> Result<(), ruaflow_video::VideoError> {
//! let black = vec![0; 3 * 256 * 256];
//! let mut video = ruaflow_video::Mp4Video::create("out.mp4".as_ref(), [256, 256], 20.0)?;
//! video.push(&black)?;
//! video.finish()?;
//! # Ok(())
//! # }
//! ```

mod caption;
mod file;
mod join;
mod nal;

use std::path::{Path, PathBuf};

use openh264::OpenH264API;
use openh264::encoder::{
    Complexity, Encoder, EncoderConfig, FrameRate, FrameType, IntraFramePeriod, QpRange,
    RateControlMode, VuiConfig,
};
use openh264::formats::{RgbSliceU8, YUVBuffer};

pub use crate::caption::caption;
use crate::file::Mp4File;
pub use crate::join::join;
use crate::nal::Access;

/// Side of a picture, pixels; the codec also wants it even.
pub const SIDES: std::ops::RangeInclusive<u32> = 16..=2048;
/// Pictures a second.
pub const RATES: std::ops::RangeInclusive<f64> = 0.1..=1000.0;

/// A picture that can be jumped to comes this often, seconds.
const SEEK_EVERY: f64 = 2.0;

/// Why there is no video.
#[derive(Debug, thiserror::Error)]
pub enum VideoError {
    /// H.264 can't have pictures of this size.
    #[error("a video of {width} x {height} pixels is not possible; sides are even, 16 to 2048")]
    Size {
        /// Pixels.
        width: u32,
        /// Pixels.
        height: u32,
    },
    /// Too slow or too fast.
    #[error("{0} pictures a second are not possible; 0.1 to 1000 are")]
    Rate(f64),
    /// A picture of another size.
    #[error("a picture has {found} bytes, {expected} belong to this video")]
    Picture {
        /// `3 x width x height`.
        expected: usize,
        /// Bytes given.
        found: usize,
    },
    /// There must be at least one.
    #[error("a video without pictures")]
    Empty,
    /// The codec failed.
    #[error("the H.264 encoder failed")]
    Codec(#[from] openh264::Error),
    /// The codec gave no picture that can be stored.
    #[error("H.264: {0}")]
    Stream(&'static str),
    /// A file that is to be joined could not be read.
    #[error("could not read the video {path:?}: {reason}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Only videos of one encoder, size and rate can follow each other in a file.
    #[error("{0:?} is encoded in another way than the videos before it")]
    Different(PathBuf),
    /// The file could not be written.
    #[error("could not write {path:?}: {reason}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

/// A video that grows picture by picture.
///
/// Until [`Self::finish`] it is in a file beside `path` with `.part` at its end,
/// which goes when the value is dropped.
pub struct Mp4Video {
    file: Mp4File,
    size: [u32; 2],
    encoder: Encoder,
}

impl Mp4Video {
    /// A video of `[width, height]` pixels, `rate` pictures a second.
    ///
    /// # Errors
    /// [`VideoError::Size`], [`VideoError::Rate`], [`VideoError::Write`].
    pub fn create(path: &Path, size: [u32; 2], rate: f64) -> Result<Self, VideoError> {
        Self::with_seek_points(path, size, rate, (SEEK_EVERY * rate).ceil() as u32)
    }

    /// As [`Self::create`], with every `every`th picture one that can be jumped to: few
    /// for a small file, many for one that is read here and there.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub fn with_seek_points(
        path: &Path,
        size: [u32; 2],
        rate: f64,
        every: u32,
    ) -> Result<Self, VideoError> {
        let [width, height] = size;
        if size.iter().any(|side| !SIDES.contains(side) || side % 2 == 1) {
            return Err(VideoError::Size { width, height });
        }
        if !RATES.contains(&rate) {
            return Err(VideoError::Rate(rate));
        }
        let config = EncoderConfig::new()
            .max_frame_rate(FrameRate::from_hz(rate as f32))
            .rate_control_mode(RateControlMode::Off)
            .qp(QpRange::new(20, 30))
            .complexity(Complexity::High)
            .intra_frame_period(IntraFramePeriod::from_num_frames(every))
            .skip_frames(false)
            // One thread, so that the same pictures give the same file.
            .num_threads(1)
            // What the conversion from RGB gives.
            .vui(VuiConfig::bt601());
        let encoder = Encoder::with_api_config(OpenH264API::from_source(), config)?;
        Ok(Mp4Video { file: Mp4File::create(path, size, rate)?, size, encoder })
    }

    /// Adds a picture: RGB, `height x width x 3` bytes, top row first.
    ///
    /// # Errors
    /// [`VideoError::Picture`], [`VideoError::Codec`], [`VideoError::Write`].
    pub fn push(&mut self, rgb: &[u8]) -> Result<(), VideoError> {
        let [width, height] = self.size.map(|side| side as usize);
        let expected = 3 * width * height;
        if rgb.len() != expected {
            return Err(VideoError::Picture { expected, found: rgb.len() });
        }
        let picture = YUVBuffer::from_rgb8_source(RgbSliceU8::new(rgb, (width, height)));
        let stream = self.encoder.encode(&picture)?;
        let is_sync = stream.frame_type() == FrameType::IDR;
        let access = Access::read(&stream.to_vec());
        if access.picture.is_empty() {
            return Err(VideoError::Stream("the encoder gave no picture"));
        }
        if self.file.pictures() == 0 {
            let (Some(sequence), Some(parameters)) = (access.sequence, access.parameters) else {
                return Err(VideoError::Stream("the first picture has no parameters"));
            };
            self.file.begin(sequence, parameters)?;
        }
        self.file.push(access.picture, is_sync)
    }

    /// Ends the file and gives it its name; returns how many pictures it has.
    ///
    /// # Errors
    /// [`VideoError::Empty`], [`VideoError::Write`].
    pub fn finish(self) -> Result<u64, VideoError> {
        self.file.finish()
    }
}
