//! One side of a comparison: `PATH`, or `PATH@SYSTEM` where several are in it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use eyre::Result;
use ruaflow_eval::Trial;

use super::episodes;
use crate::failure::usage;

pub struct Side {
    /// The system, for tables.
    pub name: String,
    pub trials: Vec<Trial>,
}

impl Side {
    pub fn read(text: &str) -> Result<Self> {
        let (path, wanted) = split(text);
        let mut trials = episodes(&[path]);
        let systems: BTreeSet<String> = trials.iter().map(|trial| trial.system.clone()).collect();
        let list = || systems.iter().cloned().collect::<Vec<_>>().join(", ");
        let name = match wanted {
            Some(name) if systems.contains(name) => name.to_owned(),
            Some(name) => {
                return Err(usage(format!(
                    "{text:?}: there is no system {name:?}, but {}",
                    list()
                )));
            }
            None => match systems.iter().collect::<Vec<_>>()[..] {
                [one] => one.clone(),
                [] => return Err(usage(format!("{text:?} holds no episodes"))),
                _ => {
                    let list = list();
                    return Err(usage(format!(
                        "{text:?} holds several systems ({list}): name one, as in {text}@NAME"
                    )));
                }
            },
        };
        trials.retain(|trial| trial.system == name);
        Ok(Side { name, trials })
    }
}

/// A path may hold an `@` itself.
fn split(text: &str) -> (PathBuf, Option<&str>) {
    match text.rsplit_once('@') {
        Some((path, system)) if !PathBuf::from(text).exists() => (path.into(), Some(system)),
        _ => (text.into(), None),
    }
}
