//! [LeRobotDataset v3.0](https://huggingface.co/docs/lerobot/lerobot-dataset-v3), written
//! so that the folder is a whole dataset at every moment.
//!
//! Each episode is written into a new folder beside the dataset, which shares the
//! unchanged files with it, and the two folders change places in one step. So a kill, a
//! full disk or an error in the middle leaves the dataset of the episodes before.

mod columns;
mod ledger;
mod pack;
mod stats;
mod tables;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ruaflow_video::Mp4Video;
use serde::{Deserialize, Serialize};

use self::columns::{Columns, Layout};
use self::ledger::{Entry, Ledger};
use self::stats::Histogram;
use self::tree::{Stage, Work};
use crate::{Episode, ExportError, Source};

/// Every second picture can be jumped to, as in LeRobot's own videos: a training reads
/// them in any order.
const SEEK_EVERY: u32 = 2;
/// Episodes that may lie in files of their own before those are joined.
const LOOSE: usize = 50;

/// What a dataset's rows are made with; the same for all its episodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// Rows, and pictures of each camera, a second; divides the robot's control rate.
    pub fps: u32,
    /// Pixels of a picture, `[width, height]`, both even.
    pub size: [u32; 2],
    /// May be empty: a dataset without pictures.
    pub cameras: Vec<String>,
}

/// A dataset that grows by episodes. One process at a time has it.
pub struct Dataset {
    target: PathBuf,
    work: Work,
    recipe: Recipe,
    /// None as long as there is no episode, and no folder.
    ledger: Option<Ledger>,
}

impl Dataset {
    /// A new dataset, in a folder that does not exist or is empty; with `resume` also
    /// one that was begun with the same recipe.
    ///
    /// # Errors
    /// [`ExportError::Foreign`], [`ExportError::Exists`], [`ExportError::Differs`],
    /// [`ExportError::Busy`], [`ExportError::Write`].
    pub fn open(dir: &Path, recipe: Recipe, resume: bool) -> Result<Self, ExportError> {
        let work = Work::open(dir)?;
        let target = work.target().to_owned();
        let ledger = Ledger::find(&target)?;
        if let Some(ledger) = &ledger {
            if !resume {
                let episodes = ledger.episodes.len();
                return Err(ExportError::Exists { dir: target, episodes });
            }
            ledger.same_recipe(&target, &recipe)?;
        }
        Ok(Dataset { target, work, recipe, ledger })
    }

    /// Whether an episode is in it already.
    pub fn holds(&self, source: &Source) -> bool {
        self.entries().iter().any(|entry| entry.source == *source)
    }

    /// How many episodes it has.
    pub fn episodes(&self) -> usize {
        self.entries().len()
    }

    /// How many rows it has.
    pub fn rows(&self) -> u64 {
        self.entries().iter().map(|entry| entry.rows).sum()
    }

    /// Adds an episode, whole or not at all, and returns its number of rows. `picture`
    /// gives the RGB of a control step from a camera, in the recipe's size.
    ///
    /// # Errors
    /// [`ExportError::Rate`], [`ExportError::Differs`] when its robot is another one,
    /// [`ExportError::Video`], [`ExportError::Write`]; and those of `picture`.
    pub fn append<E: From<ExportError>>(
        &mut self,
        episode: &Episode,
        mut picture: impl FnMut(u64, &str) -> Result<Vec<u8>, E>,
    ) -> Result<u64, E> {
        let layout = Layout::of(episode)?;
        let mut ledger = match &self.ledger {
            Some(ledger) => ledger.clone(),
            None => Ledger::new(self.recipe.clone(), layout.clone()),
        };
        ledger.same_layout(&self.target, &layout)?;
        let columns = Columns::of(episode, self.recipe.fps)?;
        let mut stage = self.work.stage()?;
        let place = ledger.place(episode, &columns);

        let mut stats = columns.stats(&place);
        for camera in &self.recipe.cameras {
            let path = stage.create(&Entry::video_path(camera, place.video))?;
            let mut video = Mp4Video::with_seek_points(
                &path,
                self.recipe.size,
                f64::from(self.recipe.fps),
                SEEK_EVERY,
            )
            .map_err(ExportError::from)?;
            let mut histogram = Histogram::default();
            for &step in &columns.steps {
                let rgb = picture(step, camera)?;
                video.push(&rgb).map_err(ExportError::from)?;
                histogram.add(&rgb);
            }
            video.finish().map_err(ExportError::from)?;
            stats.insert(columns::image(camera), histogram.stats());
        }
        let table = tables::episode(&columns, &place)?;
        tables::write(&stage.create(&Entry::data_path(place.data))?, &[table], None)?;
        let rows = place.rows;
        let kept = ledger.files();
        ledger.episodes.push(Entry { stats, ..place });
        self.publish(stage, ledger, &kept)?;
        if self.loose() > LOOSE {
            self.pack()?;
        }
        Ok(rows)
    }

    /// Joins small files into larger ones, up to LeRobot's limits.
    ///
    /// # Errors
    /// [`ExportError::Write`], [`ExportError::Video`]; the dataset stays as it was.
    pub fn pack(&mut self) -> Result<(), ExportError> {
        let Some(ledger) = &self.ledger else { return Ok(()) };
        let mut ledger = ledger.clone();
        let mut stage = self.work.stage()?;
        if pack::pack(&self.target, &mut ledger, &mut stage)? {
            self.publish(stage, ledger, &[])?;
        }
        Ok(())
    }

    /// Makes what was written, with `kept` files of before, the dataset.
    fn publish(
        &mut self,
        mut stage: Stage,
        ledger: Ledger,
        kept: &[String],
    ) -> Result<(), ExportError> {
        for file in kept {
            stage.keep(file)?;
        }
        ledger.write(&mut stage)?;
        stage.publish()?;
        self.ledger = Some(ledger);
        Ok(())
    }

    fn entries(&self) -> &[Entry] {
        self.ledger.as_ref().map_or(&[], |ledger| &ledger.episodes)
    }

    /// Files that could be joined.
    fn loose(&self) -> usize {
        let mut episodes_in: BTreeMap<u64, usize> = BTreeMap::new();
        for entry in self.entries() {
            *episodes_in.entry(entry.data).or_default() += 1;
        }
        episodes_in.values().filter(|&&episodes| episodes == 1).count()
    }
}
