//! The backend `recording`: plays the cells of a recorded run again.

use std::path::Path;
use std::sync::Arc;

use ruaflow_record::{RecordError, RecordingAddress, read_rows};
use ruaflow_schemas::{Cell, Frame as _};

use crate::backend::{Backend, Ending};
use crate::episode::Episode;
use crate::script::title;

/// The cells of recorded episodes, in their order.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The run's folder, with the episode when it is one.
    pub address: RecordingAddress,
    episodes: Arc<[Vec<Cell>]>,
}

impl Recorded {
    /// Reads the cells; a relative folder counts from `cwd`.
    ///
    /// # Errors
    /// [`RecordError`], also when no cell was run.
    pub fn read(address: RecordingAddress, cwd: &Path) -> Result<Self, RecordError> {
        let (dir, numbers) = address.open(cwd)?;
        let cells = |episode: &u32| {
            let path = dir.topic_path(Some(*episode), Cell::TOPIC);
            // An episode may have ended before its first cell.
            if path.exists() { read_rows::<Cell>(&path) } else { Ok(Vec::new()) }
        };
        let episodes: Vec<Vec<Cell>> = numbers.iter().map(cells).collect::<Result<_, _>>()?;
        if episodes.iter().all(Vec::is_empty) {
            let reason = "no cell was run in it".to_owned();
            return Err(RecordError::Content { path: dir.root().to_owned(), reason });
        }
        let address = RecordingAddress { run: dir.root().to_owned(), ..address };
        Ok(Recorded { address, episodes: episodes.into() })
    }

    /// Plays each episode's cells from their beginning.
    pub fn player(&self) -> Box<dyn Backend> {
        Box::new(Player { episodes: Arc::clone(&self.episodes) })
    }
}

struct Player {
    episodes: Arc<[Vec<Cell>]>,
}

impl Backend for Player {
    /// One cell a turn. Whoever wrote them had read what each did, so a cell that fails
    /// again does not end the episode.
    fn play(&mut self, episode: &mut Episode) -> Result<Ending, String> {
        let number = episode.number() as usize;
        for cell in self.episodes.get(number).into_iter().flatten() {
            let title = title(&cell.code);
            let ran = match cell.fresh {
                true => episode.run_fresh(&cell.code, title),
                false => episode.run(&cell.code, title),
            };
            if let Err(over) = ran {
                return Ok(over.into());
            }
        }
        Ok(Ending::Played)
    }
}

#[cfg(test)]
mod tests {
    use ruaflow_record::{EpisodeResult, RunDir, RunResult, TopicWriter, stamped_batch};
    use ruaflow_schemas::CellResult;

    use super::*;

    fn run(episodes: &[&[(&str, bool)]]) -> (tempfile::TempDir, RunDir) {
        let tmp = tempfile::tempdir().unwrap();
        let (dir, _lock) = RunDir::create(&tmp.path().join("r"), "r").unwrap();
        let mut result = RunResult { schema: RunResult::SCHEMA.into(), ..RunResult::default() };
        for (episode, codes) in (0..).zip(episodes) {
            std::fs::create_dir_all(dir.episode_dir(episode)).unwrap();
            result.episodes.push(EpisodeResult { episode, ..EpisodeResult::default() });
            let cell = |(code, fresh): &(&str, bool)| Cell {
                code: (*code).to_owned(),
                fresh: *fresh,
                ..Cell::default()
            };
            let cells: Vec<Cell> = codes.iter().map(cell).collect();
            if !cells.is_empty() {
                let batch = stamped_batch(episode.into(), 0, 0, &cells);
                let path = dir.topic_path(Some(episode), Cell::TOPIC);
                TopicWriter::create(&path, batch.schema()).unwrap().append(&batch).unwrap();
            }
        }
        dir.write_result(&result).unwrap();
        (tmp, dir)
    }

    fn read(dir: &RunDir, episode: Option<u32>) -> Result<Recorded, RecordError> {
        let address = RecordingAddress { run: dir.root().to_owned(), episode };
        Recorded::read(address, Path::new(""))
    }

    #[test]
    fn cells_are_played_to_the_last_whatever_they_do() {
        let (_tmp, dir) = run(&[&[("# %% look\n1", false), ("2", true)]]);
        let (mut episode, ran) = crate::rehearsal::episode(|_, _| CellResult {
            status: "error".into(),
            ..CellResult::default()
        });
        let ending = read(&dir, None).unwrap().player().play(&mut episode).unwrap();
        assert_eq!(ending, Ending::Played);
        assert_eq!(ran.cells(), ["# %% look\n1", "2"]);
    }

    #[test]
    fn each_episode_has_its_own_cells_unless_one_is_named() {
        let (_tmp, dir) = run(&[&[("a", false)], &[], &[("c", false)]]);
        let sources = |recorded: Recorded| -> Vec<Vec<String>> {
            let sources = |cells: &Vec<Cell>| cells.iter().map(|cell| cell.code.clone()).collect();
            recorded.episodes.iter().map(sources).collect()
        };
        let all = sources(read(&dir, None).unwrap());
        assert_eq!(all, [vec!["a".to_owned()], vec![], vec!["c".to_owned()]]);
        assert_eq!(sources(read(&dir, Some(2)).unwrap()), [["c".to_owned()]]);
        let empty = read(&dir, Some(1)).unwrap_err().to_string();
        assert!(empty.contains("no cell was run"), "{empty}");
        assert!(read(&dir, Some(3)).unwrap_err().to_string().contains("they are 0 to 2"));
    }
}
