//! The scenes that a plan may name.

use libero::data::Data;
use libero::suites;
use ruaflow_eval::Catalog;

/// The catalog of a robot.
pub fn of(robot: &str) -> Result<Box<dyn Catalog>, String> {
    if !["libero", "libero-python"].contains(&robot) {
        return Err(format!("there is no list of scenes for {robot:?}, only for \"libero\""));
    }
    let data = Data::locate().map_err(|error| error.to_string())?;
    Ok(Box::new(Libero(data)))
}

struct Libero(Data);

impl Catalog for Libero {
    fn suites(&self) -> Vec<String> {
        let all = suites::all(&self.0).unwrap_or_default();
        all.into_iter().map(|suite| suite.name).collect()
    }

    fn tasks(&self, suite: &str) -> Result<u32, String> {
        let suite = suites::find(&self.0, suite).map_err(|error| error.to_string())?;
        let entries = suite.entries(&self.0);
        match entries.iter().find(|entry| !entry.missing.is_empty()) {
            Some(entry) => {
                Err(format!("the benchmark's package lacks {}", entry.missing.join(", ")))
            }
            None => u32::try_from(entries.len()).map_err(|error| error.to_string()),
        }
    }
}
