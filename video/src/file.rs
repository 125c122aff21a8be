//! The file around the encoded pictures.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use mp4::{AvcConfig, MediaConfig, Mp4Config, Mp4Sample, Mp4Writer, TrackConfig, TrackType};

use crate::VideoError;

/// Units of time in which a picture lasts, so that odd rates stay exact enough.
pub(crate) const TICKS: u32 = 1000;
pub(crate) const TRACK: u32 = 1;

/// An MP4 file with one track, under another name until it is whole.
pub(crate) struct Mp4File {
    path: PathBuf,
    part: PathBuf,
    size: [u32; 2],
    timescale: u32,
    /// None once finished.
    writer: Option<Mp4Writer<BufWriter<File>>>,
    pictures: u64,
}

impl Mp4File {
    pub fn create(path: &Path, size: [u32; 2], rate: f64) -> Result<Self, VideoError> {
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let mut video = Mp4File {
            path: path.to_owned(),
            part: part.into(),
            size,
            timescale: (rate * f64::from(TICKS)).round() as u32,
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
            timescale: video.timescale,
        };
        let writer = Mp4Writer::write_start(BufWriter::new(file), &config);
        video.writer = Some(writer.map_err(|error| video.unwritten(error))?);
        Ok(video)
    }

    /// Describes the stream, once its parameters are known.
    pub fn begin(&mut self, sequence: Vec<u8>, parameters: Vec<u8>) -> Result<(), VideoError> {
        let [width, height] = self.size.map(|side| side as u16);
        let (seq_param_set, pic_param_set) = (sequence, parameters);
        let config = AvcConfig { width, height, seq_param_set, pic_param_set };
        let track = TrackConfig {
            track_type: TrackType::Video,
            timescale: self.timescale,
            language: "und".to_owned(),
            media_conf: MediaConfig::AvcConfig(config),
        };
        self.write(|writer| writer.add_track(&track))
    }

    /// Adds an encoded picture, each of its units with its length before it.
    pub fn push(&mut self, picture: Vec<u8>, is_sync: bool) -> Result<(), VideoError> {
        let sample = Mp4Sample {
            start_time: self.pictures * u64::from(TICKS),
            duration: TICKS,
            rendering_offset: 0,
            is_sync,
            bytes: picture.into(),
        };
        self.pictures += 1;
        self.write(|writer| writer.write_sample(TRACK, &sample))
    }

    pub fn pictures(&self) -> u64 {
        self.pictures
    }

    /// Ends the file and gives it its name; returns how many pictures it has.
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

impl Drop for Mp4File {
    fn drop(&mut self) {
        // After a good end it has another name.
        let _ = std::fs::remove_file(&self.part);
    }
}
