use std::path::{Path, PathBuf};

use ruaflow_record::{RunDir, RunResult, TopicReader, read_rows};
use ruaflow_schemas::Frame;

/// What a run has left on disk.
pub struct Records {
    dir: RunDir,
}

impl Records {
    pub fn open(path: &Path) -> Self {
        Records { dir: RunDir::open(path).unwrap() }
    }

    /// Whether a planner or a recorder still works on them.
    pub fn is_live(&self) -> bool {
        self.dir.is_live()
    }

    pub fn result(&self) -> RunResult {
        self.dir.result().unwrap()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.root().join(name)
    }

    /// All rows of a topic in an episode.
    pub fn rows<F: Frame>(&self, episode: u32) -> Vec<F> {
        let path = self.dir.topic_path(Some(episode), F::TOPIC);
        read_rows(&path).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Reads every topic file to its end; returns how many there are.
    pub fn assert_readable(&self) -> usize {
        let files = topic_files(self.dir.root());
        for path in &files {
            let mut reader = TopicReader::open(path).unwrap();
            while reader.next_batch().unwrap_or_else(|error| panic!("{error}")).is_some() {}
        }
        files.len()
    }
}

fn topic_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(topic_files(&path));
        } else if path.extension().is_some_and(|kind| kind == "arrows" || kind == "parquet") {
            files.push(path);
        }
    }
    files
}
