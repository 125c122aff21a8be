//! Videos one after the other in one file, without encoding them again.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use mp4::{Mp4Reader, Mp4Track};

use crate::VideoError;
use crate::file::{Mp4File, TICKS, TRACK};

/// Writes videos of [`Mp4Video`](crate::Mp4Video), all of one size and rate, one after
/// the other into `out`; returns how many pictures that are.
///
/// # Errors
/// [`VideoError::Read`], [`VideoError::Different`], [`VideoError::Empty`] for no videos,
/// [`VideoError::Write`].
pub fn join(videos: &[PathBuf], out: &Path) -> Result<u64, VideoError> {
    let mut joined: Option<(Mp4File, Stream)> = None;
    for path in videos {
        let unread = |reason: String| VideoError::Read { path: path.clone(), reason };
        let mut reader = open(path)?;
        let track = reader.tracks().get(&TRACK);
        let track = track.ok_or_else(|| unread("it has no picture track".to_owned()))?;
        let stream = Stream::of(track).map_err(|error| unread(error.to_string()))?;
        let samples = track.sample_count();
        let (file, first) = match &mut joined {
            Some(begun) => begun,
            none => {
                let mut file = Mp4File::create(out, stream.size, stream.rate())?;
                file.begin(stream.sequence.clone(), stream.parameters.clone())?;
                none.insert((file, stream.clone()))
            }
        };
        if *first != stream {
            return Err(VideoError::Different(path.clone()));
        }
        for number in 1..=samples {
            let sample = reader.read_sample(TRACK, number);
            let sample = sample.map_err(|error| unread(error.to_string()))?;
            let sample = sample.ok_or_else(|| unread(format!("picture {number} is missing")))?;
            file.push(sample.bytes.to_vec(), sample.is_sync)?;
        }
    }
    joined.map_or(Err(VideoError::Empty), |(file, _)| file.finish())
}

/// What must be the same for pictures to follow each other.
#[derive(Clone, PartialEq)]
struct Stream {
    size: [u32; 2],
    timescale: u32,
    sequence: Vec<u8>,
    parameters: Vec<u8>,
}

impl Stream {
    fn of(track: &Mp4Track) -> mp4::Result<Self> {
        Ok(Stream {
            size: [track.width(), track.height()].map(u32::from),
            timescale: track.timescale(),
            sequence: track.sequence_parameter_set()?.to_vec(),
            parameters: track.picture_parameter_set()?.to_vec(),
        })
    }

    /// Pictures a second.
    fn rate(&self) -> f64 {
        f64::from(self.timescale) / f64::from(TICKS)
    }
}

fn open(path: &Path) -> Result<Mp4Reader<BufReader<File>>, VideoError> {
    let unread = |reason: String| VideoError::Read { path: path.to_owned(), reason };
    let file = File::open(path).map_err(|error| unread(error.to_string()))?;
    let bytes = file.metadata().map_err(|error| unread(error.to_string()))?.len();
    Mp4Reader::read_header(BufReader::new(file), bytes).map_err(|error| unread(error.to_string()))
}
