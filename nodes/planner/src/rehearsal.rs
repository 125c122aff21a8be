//! An episode without a dataflow, for tests: a function plays the robot.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use ruaflow_prompt::Rules;
use ruaflow_record::{Bill, Happening};
use ruaflow_schemas::{Card, CellResult};
use tempfile::TempDir;

use crate::backend::Over;
use crate::control::Control;
use crate::episode::{Episode, Interrupter, Setting, World};

/// What happened in a rehearsed episode.
#[derive(Clone, Default)]
pub(crate) struct Ran(Arc<Mutex<Log>>);

#[derive(Default)]
struct Log {
    cells: Vec<String>,
    told: Vec<Happening>,
    bill: Bill,
    folder: Option<TempDir>,
}

impl Ran {
    /// Sources of the cells.
    pub fn cells(&self) -> Vec<String> {
        self.0.lock().unwrap().cells.clone()
    }

    pub fn told(&self) -> Vec<Happening> {
        self.0.lock().unwrap().told.clone()
    }

    pub fn bill(&self) -> Bill {
        self.0.lock().unwrap().bill
    }

    /// The run's folder; it goes with the last of these.
    pub fn folder(&self) -> PathBuf {
        self.0.lock().unwrap().folder.as_ref().unwrap().path().to_owned()
    }
}

/// An episode of `libero` with default rules.
pub(crate) fn episode(
    mut robot: impl FnMut(&str, u32) -> CellResult + Send + 'static,
) -> (Episode, Ran) {
    with(Rules::default(), Card::default(), move |code, index| Ok(robot(code, index)))
}

/// An episode in which `robot` answers each cell, given its source and number.
pub(crate) fn with(
    rules: Rules,
    card: Card,
    robot: impl FnMut(&str, u32) -> Result<CellResult, Over> + Send + 'static,
) -> (Episode, Ran) {
    let ran = Ran::default();
    let folder = tempfile::tempdir().unwrap();
    let setting = Setting {
        number: 0,
        dir: folder.path().join("episodes/000"),
        card: Card { robot: "libero".into(), ..card },
        rules: Arc::new(rules),
        control: Control::default(),
    };
    ran.0.lock().unwrap().folder = Some(folder);
    let world = Rehearsal { robot, ran: ran.clone() };
    (Episode::new(setting, Box::new(world)).unwrap(), ran)
}

struct Rehearsal<R> {
    robot: R,
    ran: Ran,
}

impl<R: FnMut(&str, u32) -> Result<CellResult, Over> + Send> World for Rehearsal<R> {
    fn run(&mut self, code: &str, _title: &str, _fresh: bool) -> Result<CellResult, Over> {
        let index = {
            let mut log = self.ran.0.lock().unwrap();
            log.cells.push(code.to_owned());
            log.cells.len() as u32
        };
        (self.robot)(code, index)
    }

    fn tell(&mut self, bill: &Bill, what: Option<Happening>) {
        let mut log = self.ran.0.lock().unwrap();
        log.bill = *bill;
        log.told.extend(what);
    }

    fn interrupter(&self) -> Interrupter {
        Arc::new(|| {})
    }
}
