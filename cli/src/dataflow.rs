//! What `rua` must know of a dataflow before dora reads it: its default
//! settings and its programs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use eyre::{Context as _, Result, bail};

pub struct Dataflow {
    path: PathBuf,
    settings: BTreeMap<String, String>,
    /// Paths of the nodes' programs as written.
    programs: Vec<String>,
}

impl Dataflow {
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .wrap_err_with(|| format!("can't read the dataflow {path:?}"))?;
        Ok(Self::parse(path, &text))
    }

    /// dora checks the whole; here a line that is not understood is passed over.
    fn parse(path: &Path, text: &str) -> Self {
        let mut settings = BTreeMap::new();
        let mut programs = Vec::new();
        let mut section = "";
        for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
            let Some((key, value)) = line.split_once(':') else { continue };
            if !key.starts_with([' ', '-']) {
                section = key;
            }
            let (key, value) = (key.trim_start_matches([' ', '-']), scalar(value));
            match (section, key) {
                ("env", _) if line.starts_with(' ') => {
                    settings.insert(key.to_owned(), default_value(value).to_owned());
                }
                ("nodes", "path") => programs.push(value.to_owned()),
                _ => {}
            }
        }
        Dataflow { path: path.to_owned(), settings, programs }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder its relative paths start from.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// The default of a setting; none when it is empty.
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.settings.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    pub fn settings(&self) -> &BTreeMap<String, String> {
        &self.settings
    }

    /// Refuses a dataflow whose programs are not built; dora's own words for it are hard to read.
    pub fn check_programs(&self) -> Result<()> {
        for program in &self.programs {
            let path = self.folder().join(program);
            if program.contains('/') && !path.exists() {
                bail!("the program {path:?} is missing: run `./rua setup`");
            }
        }
        Ok(())
    }
}

fn scalar(value: &str) -> &str {
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some((inner, _)) = value.strip_prefix(quote).and_then(|rest| rest.split_once(quote))
        {
            return inner;
        }
    }
    value.split_once(" #").map_or(value, |(value, _)| value.trim_end())
}

/// `${NAME:-default}` stands for a shell variable with a default.
fn default_value(value: &str) -> &str {
    value
        .strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'))
        .map_or(value, |inner| inner.split_once(":-").map_or("", |(_, default)| default))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOW: &str = r#"# A flow.
env:
  ROBOT: libero
  SUITE: "${SUITE:-libero_spatial}"  # which
  OUT: "${OUT:-}"
  KEY: $KEY
  N: 3 # three

nodes:
  - id: planner
    path: ../bin/planner
    inputs:
      card: libero/card
  - path: 'a b.py'
    env:
      SUITE: inner
"#;

    #[test]
    fn defaults_and_programs_are_read() {
        let flow = Dataflow::parse(Path::new("/x/dataflows/f.yml"), FLOW);
        assert_eq!(flow.setting("ROBOT"), Some("libero"));
        assert_eq!(flow.setting("SUITE"), Some("libero_spatial"));
        assert_eq!(flow.setting("OUT"), None);
        assert_eq!(flow.setting("N"), Some("3"));
        assert_eq!(flow.setting("card"), None);
        assert_eq!(flow.programs, ["../bin/planner", "a b.py"]);
        assert_eq!(flow.folder(), Path::new("/x/dataflows"));
    }

    #[test]
    fn a_program_that_is_not_built_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let flow = Dataflow::parse(&folder.path().join("f.yml"), FLOW);
        let error = flow.check_programs().unwrap_err().to_string();
        assert!(error.contains("bin/planner") && error.contains("./rua setup"), "{error}");
    }
}
