//! What is in a dataset: the one account that every other file of `meta/` is made from.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Recipe;
use super::columns::{ACTION, Columns, DONE, JOINTS, Layout, STATE, SUCCESS, image};
use super::stats::Stats;
use super::tables;
use super::tree::Stage;
use crate::{Episode, ExportError, Source};

/// Its file; a folder without it is not ours.
const LEDGER: &str = "meta/ruaflow.json";
const FORMAT: &str = "ruaflow-lerobot-v1";
/// Files in a folder.
const CHUNK: u64 = 1000;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ledger {
    format: String,
    pub recipe: Recipe,
    layout: Layout,
    pub tasks: Vec<String>,
    pub episodes: Vec<Entry>,
}

/// An episode of the dataset.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    pub source: Source,
    pub index: u64,
    /// Number of its task.
    pub task: usize,
    /// Number of its first row among all.
    pub from: u64,
    pub rows: u64,
    /// Number of its file with rows.
    pub data: u64,
    /// Number of its file in each camera's folder.
    pub video: u64,
    /// Pictures before its first one in there.
    pub video_from: u64,
    pub stats: BTreeMap<String, Stats>,
}

impl Entry {
    pub fn data_path(file: u64) -> String {
        numbered("data", file, "parquet")
    }

    pub fn video_path(camera: &str, file: u64) -> String {
        numbered(&format!("videos/{}", image(camera)), file, "mp4")
    }
}

fn numbered(folder: &str, file: u64, ending: &str) -> String {
    let (chunk, file) = chunk_and_file(file);
    format!("{folder}/chunk-{chunk:03}/file-{file:03}.{ending}")
}

/// Number of a file's folder, and its own in there.
pub(super) fn chunk_and_file(file: u64) -> (u64, u64) {
    (file / CHUNK, file % CHUNK)
}

impl Ledger {
    pub fn new(recipe: Recipe, layout: Layout) -> Self {
        let format = FORMAT.to_owned();
        Ledger { format, recipe, layout, tasks: Vec::new(), episodes: Vec::new() }
    }

    /// That of a folder; `None` when nothing is there.
    pub fn find(dir: &Path) -> Result<Option<Self>, ExportError> {
        let path = dir.join(LEDGER);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(_) => {
                let nothing = match fs::read_dir(dir) {
                    Ok(mut entries) => entries.next().is_none(),
                    Err(error) => error.kind() == std::io::ErrorKind::NotFound,
                };
                let foreign = || ExportError::Foreign { dir: dir.to_owned() };
                return if nothing { Ok(None) } else { Err(foreign()) };
            }
        };
        let value: Value =
            serde_json::from_str(&text).map_err(|error| ExportError::content(&path, error))?;
        if value["format"] != FORMAT {
            let reason = format!("its format is {}, this build knows {FORMAT:?}", value["format"]);
            return Err(ExportError::content(&path, reason));
        }
        serde_json::from_value(value).map(Some).map_err(|error| ExportError::content(&path, error))
    }

    /// Fails unless a dataset was begun with the same recipe.
    pub fn same_recipe(&self, dir: &Path, recipe: &Recipe) -> Result<(), ExportError> {
        let size = |recipe: &Recipe| format!("{}x{}", recipe.size[0], recipe.size[1]);
        let all = [
            ("a rate of", self.recipe.fps.to_string(), recipe.fps.to_string()),
            ("pictures of", size(&self.recipe), size(recipe)),
            ("cameras", self.recipe.cameras.join(","), recipe.cameras.join(",")),
        ];
        same(dir, all)
    }

    /// Fails unless an episode's robot is that of the dataset.
    pub fn same_layout(&self, dir: &Path, layout: &Layout) -> Result<(), ExportError> {
        let names =
            |layout: &Layout| format!("{:?} {:?} {:?}", layout.action, layout.state, layout.joints);
        let (ours, theirs) = (&self.layout, layout);
        let all = [
            ("the robot", ours.robot.clone(), theirs.robot.clone()),
            ("a control rate of", ours.control_hz.to_string(), theirs.control_hz.to_string()),
            ("actions of kind", ours.action_kind.clone(), theirs.action_kind.clone()),
            ("the numbers", names(ours), names(theirs)),
        ];
        same(dir, all)
    }

    /// Where the next episode goes, and its task into the list. It has no statistics yet.
    pub fn place(&mut self, episode: &Episode, columns: &Columns) -> Entry {
        let instruction = &episode.card.instruction;
        let task = self.tasks.iter().position(|task| task == instruction).unwrap_or_else(|| {
            self.tasks.push(instruction.clone());
            self.tasks.len() - 1
        });
        let last = self.episodes.last();
        Entry {
            source: episode.source.clone(),
            index: self.episodes.len() as u64,
            task,
            from: last.map_or(0, |entry| entry.from + entry.rows),
            rows: columns.rows() as u64,
            data: last.map_or(0, |entry| entry.data + 1),
            video: last.map_or(0, |entry| entry.video + 1),
            video_from: 0,
            stats: BTreeMap::new(),
        }
    }

    /// All files with rows and pictures.
    pub fn files(&self) -> Vec<String> {
        let mut files = BTreeSet::new();
        for entry in &self.episodes {
            files.insert(Entry::data_path(entry.data));
            let cameras = self.recipe.cameras.iter();
            files.extend(cameras.map(|camera| Entry::video_path(camera, entry.video)));
        }
        files.into_iter().collect()
    }

    /// Writes all of `meta/`.
    pub fn write(&self, stage: &mut Stage) -> Result<(), ExportError> {
        stage.write("meta/info.json", &format!("{:#}\n", self.info()))?;
        stage.write("meta/stats.json", &format!("{:#}\n", self.stats()))?;
        tables::write_tasks(&stage.create("meta/tasks.parquet")?, &self.tasks)?;
        tables::write_episodes(stage, self)?;
        let text = serde_json::to_string(self)
            .map_err(|error| ExportError::write(Path::new(LEDGER), error))?;
        stage.write(LEDGER, &text)
    }

    fn info(&self) -> Value {
        let episodes = self.episodes.len();
        let rows: u64 = self.episodes.iter().map(|entry| entry.rows).sum();
        json!({
            "codebase_version": "v3.0",
            "robot_type": self.layout.robot,
            "total_episodes": episodes,
            "total_frames": rows,
            "total_tasks": self.tasks.len(),
            "chunks_size": CHUNK,
            "data_files_size_in_mb": super::pack::DATA_MB,
            "video_files_size_in_mb": super::pack::VIDEO_MB,
            "fps": self.recipe.fps,
            "splits": {"train": format!("0:{episodes}")},
            "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
            "video_path": "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
            "features": self.features(),
        })
    }

    fn features(&self) -> Value {
        let mut features = Map::new();
        let [width, height] = self.recipe.size;
        for camera in &self.recipe.cameras {
            let feature = json!({
                "dtype": "video",
                "shape": [height, width, 3],
                "names": ["height", "width", "channels"],
                "info": {
                    "video.height": height,
                    "video.width": width,
                    "video.codec": "h264",
                    "video.pix_fmt": "yuv420p",
                    "video.is_depth_map": false,
                    "video.fps": self.recipe.fps,
                    "video.channels": 3,
                    "has_audio": false,
                },
            });
            features.insert(image(camera), feature);
        }
        let Layout { state, joints, action, .. } = &self.layout;
        let vectors = [(STATE, state), (JOINTS, joints), (ACTION, action)];
        for (name, parts) in vectors.into_iter().filter(|(_, parts)| !parts.is_empty()) {
            let feature = json!({"dtype": "float32", "shape": [parts.len()], "names": parts});
            features.insert(name.to_owned(), feature);
        }
        let single = [
            (DONE, "bool"),
            (SUCCESS, "bool"),
            ("timestamp", "float32"),
            ("frame_index", "int64"),
            ("episode_index", "int64"),
            ("index", "int64"),
            ("task_index", "int64"),
        ];
        for (name, kind) in single {
            let feature = json!({"dtype": kind, "shape": [1], "names": null});
            features.insert(name.to_owned(), feature);
        }
        Value::Object(features)
    }

    /// Statistics of all episodes together.
    fn stats(&self) -> Value {
        let mut features = Map::new();
        let Some(first) = self.episodes.first() else { return Value::Object(features) };
        for feature in first.stats.keys() {
            let parts: Vec<&Stats> =
                self.episodes.iter().filter_map(|entry| entry.stats.get(feature)).collect();
            let merged = Stats::merged(&parts);
            let is_image = tables::is_image(feature);
            let shaped = |values: Vec<f64>| match is_image {
                true => values.into_iter().map(|value| json!([[value]])).collect(),
                false => values.into_iter().map(Value::from).collect::<Vec<Value>>(),
            };
            let mut numbers = Map::new();
            for (name, values) in merged.named() {
                numbers.insert(name.to_owned(), shaped(values).into());
            }
            numbers.insert("count".to_owned(), json!([merged.count]));
            features.insert(feature.clone(), numbers.into());
        }
        Value::Object(features)
    }
}

fn same<const N: usize>(
    dir: &Path,
    all: [(&'static str, String, String); N],
) -> Result<(), ExportError> {
    match all.into_iter().find(|(_, found, wanted)| found != wanted) {
        None => Ok(()),
        Some((what, found, wanted)) => {
            Err(ExportError::Differs { dir: dir.to_owned(), what, found, wanted })
        }
    }
}
