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

mod nal;

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use mp4::{AvcConfig, MediaConfig, Mp4Config, Mp4Sample, Mp4Writer, TrackConfig, TrackType};
use openh264::OpenH264API;
use openh264::encoder::{
    Complexity, Encoder, EncoderConfig, FrameRate, FrameType, IntraFramePeriod, QpRange,
    RateControlMode, VuiConfig,
};
use openh264::formats::{RgbSliceU8, YUVBuffer};

use crate::nal::Access;

/// Side of a picture, pixels; the codec also wants it even.
pub const SIDES: std::ops::RangeInclusive<u32> = 16..=2048;
/// Pictures a second.
pub const RATES: std::ops::RangeInclusive<f64> = 0.1..=1000.0;

/// Units of time in which a picture lasts, so that odd rates stay exact enough.
const TICKS: u32 = 1000;
/// A picture that can be jumped to comes this often, seconds.
const SEEK_EVERY: f64 = 2.0;
const TRACK: u32 = 1;

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
    path: PathBuf,
    part: PathBuf,
    size: [u32; 2],
    rate: f64,
    encoder: Encoder,
    /// None once finished.
    writer: Option<Mp4Writer<BufWriter<File>>>,
    pictures: u64,
}

impl Mp4Video {
    /// A video of `[width, height]` pixels, `rate` pictures a second.
    ///
    /// # Errors
    /// [`VideoError::Size`], [`VideoError::Rate`], [`VideoError::Write`].
    pub fn create(path: &Path, size: [u32; 2], rate: f64) -> Result<Self, VideoError> {
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
            .intra_frame_period(
                IntraFramePeriod::from_num_frames((SEEK_EVERY * rate).ceil() as u32),
            )
            .skip_frames(false)
            // One thread, so that the same pictures give the same file.
            .num_threads(1)
            // What the conversion from RGB gives.
            .vui(VuiConfig::bt601());
        let encoder = Encoder::with_api_config(OpenH264API::from_source(), config)?;
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let mut video = Mp4Video {
            path: path.to_owned(),
            part: part.into(),
            size,
            rate,
            encoder,
            writer: None,
            pictures: 0,
        };
        let file = File::create(&video.part).map_err(|error| video.unwritten(error))?;
        let brands = ["isom", "iso2", "avc1", "mp41"].map(|brand| brand.parse());
        let brands: Result<Vec<mp4::FourCC>, _> = brands.into_iter().collect();
        let compatible_brands = brands.map_err(|error| video.unwritten(error))?;
        let config = Mp4Config {
            major_brand: compatible_brands[0],
            minor_version: 512,
            compatible_brands,
            timescale: video.timescale(),
        };
        let writer = Mp4Writer::write_start(BufWriter::new(file), &config);
        video.writer = Some(writer.map_err(|error| video.unwritten(error))?);
        Ok(video)
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
        if self.pictures == 0 {
            self.add_track(&access)?;
        }
        let sample = Mp4Sample {
            start_time: self.pictures * u64::from(TICKS),
            duration: TICKS,
            rendering_offset: 0,
            is_sync,
            bytes: access.picture.into(),
        };
        self.pictures += 1;
        self.write(|writer| writer.write_sample(TRACK, &sample))
    }

    /// Ends the file and gives it its name; returns how many pictures it has.
    ///
    /// # Errors
    /// [`VideoError::Empty`], [`VideoError::Write`].
    pub fn finish(mut self) -> Result<u64, VideoError> {
        if self.pictures == 0 {
            return Err(VideoError::Empty);
        }
        self.write(Mp4Writer::write_end)?;
        let file = self.writer.take().map(|writer| writer.into_writer().into_inner());
        if let Some(Err(error)) = file {
            return Err(self.unwritten(error));
        }
        std::fs::rename(&self.part, &self.path).map_err(|error| self.unwritten(error))?;
        Ok(self.pictures)
    }

    /// Describes the stream, once its parameters are known.
    fn add_track(&mut self, access: &Access) -> Result<(), VideoError> {
        let (Some(seq_param_set), Some(pic_param_set)) =
            (access.sequence.clone(), access.parameters.clone())
        else {
            return Err(VideoError::Stream("the first picture has no parameters"));
        };
        let [width, height] = self.size.map(|side| side as u16);
        let config = AvcConfig { width, height, seq_param_set, pic_param_set };
        let track = TrackConfig {
            track_type: TrackType::Video,
            timescale: self.timescale(),
            language: "und".to_owned(),
            media_conf: MediaConfig::AvcConfig(config),
        };
        self.write(|writer| writer.add_track(&track))
    }

    /// Units of time in a second.
    fn timescale(&self) -> u32 {
        (self.rate * f64::from(TICKS)).round() as u32
    }

    fn write(
        &mut self,
        write: impl FnOnce(&mut Mp4Writer<BufWriter<File>>) -> mp4::Result<()>,
    ) -> Result<(), VideoError> {
        match self.writer.as_mut().map(write) {
            Some(Err(error)) => Err(self.unwritten(error)),
            _ => Ok(()),
        }
    }

    fn unwritten(&self, reason: impl ToString) -> VideoError {
        VideoError::Write { path: self.path.clone(), reason: reason.to_string() }
    }
}

impl Drop for Mp4Video {
    fn drop(&mut self) {
        // After a good end it has another name.
        let _ = std::fs::remove_file(&self.part);
    }
}
