use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;

use ruaflow_record::{RecordError, compact};

/// Makes ended streams into tables on a thread of its own, so that no row and no
/// episode waits for it.
pub(crate) struct Compactor {
    streams: Option<Sender<PathBuf>>,
    thread: Option<JoinHandle<()>>,
}

impl Compactor {
    pub fn start() -> std::io::Result<Self> {
        let (streams, waiting) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("compactor".to_owned())
            .spawn(move || work(&waiting))?;
        Ok(Compactor { streams: Some(streams), thread: Some(thread) })
    }

    /// Nothing more may be written to the stream.
    pub fn take(&self, stream: PathBuf) {
        if let Some(streams) = &self.streams {
            // A thread that has given up leaves the streams as they are.
            let _ = streams.send(stream);
        }
    }

    /// Waits until all is done.
    pub fn finish(&mut self) {
        self.streams = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::warn!("the compaction of streams ended early");
        }
    }
}

impl Drop for Compactor {
    fn drop(&mut self) {
        self.finish();
    }
}

fn work(waiting: &Receiver<PathBuf>) {
    for stream in waiting {
        match compact(&stream) {
            Ok(()) => {}
            Err(error @ RecordError::DiskFull { .. }) => {
                tracing::warn!(%error, "streams stay as they are; `rua repair` compacts them");
                return;
            }
            Err(error) => tracing::warn!(%error, "a stream stays as it is"),
        }
    }
}
