//! Finding a command line on this machine.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::cli::{Cli, Facts};

const ANSWERS_WITHIN: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A program that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    path: PathBuf,
    /// Its version is new enough.
    checked: bool,
}

impl Program {
    /// The program that was named, or else the one on the path.
    pub fn find(cli: &dyn Cli, named: Option<&Path>) -> Result<Self, String> {
        let Facts { name, about, package, .. } = cli.facts();
        let path = match named {
            Some(path) if path.is_file() => Some(path.to_owned()),
            Some(path) => {
                return Err(format!("setting CLI is {path:?}: there is no such program"));
            }
            None => on_path(name),
        };
        match path {
            Some(path) => Ok(Program { path, checked: false }),
            None => Err(format!(
                "planner {name:?} needs {about}, and there is no program {name} on the PATH: \
                 install it with `npm install --global {package}`, or say where it is with --cli"
            )),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path on which it finds what it was installed with, such as node.
    pub fn search_path(&self) -> OsString {
        let own = self.path.parent().map(Path::to_owned);
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let all = own.into_iter().chain(std::env::split_paths(&inherited));
        std::env::join_paths(all).unwrap_or(inherited)
    }

    /// Finds out once whether its version is known to work.
    pub fn check(&mut self, cli: &dyn Cli) -> Result<(), String> {
        if self.checked {
            return Ok(());
        }
        let Facts { name, about, package, oldest, .. } = cli.facts();
        let (told, path) = (self.version()?, &self.path);
        let Some(version) = version_in(&told) else {
            return Err(format!(
                "{path:?} does not tell its version, it says {told:?}: is it {about}?"
            ));
        };
        let text = |version: [u32; 3]| version.map(|part| part.to_string()).join(".");
        let (found, needed) = (text(version), text(oldest));
        if version < oldest {
            return Err(format!(
                "{path:?} is version {found}; {needed} or newer is needed: npm install --global {package}"
            ));
        }
        tracing::info!(program = name, version = found, "agent found");
        self.checked = true;
        Ok(())
    }

    fn version(&self) -> Result<String, String> {
        let path = &self.path;
        let failed = |error: std::io::Error| format!("{path:?} can't be started: {error}");
        let mut child = Command::new(path)
            .arg("--version")
            .env_clear()
            .env("PATH", self.search_path())
            .env("HOME", std::env::temp_dir())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let until = Instant::now() + ANSWERS_WITHIN;
        while child.try_wait().map_err(failed)?.is_none() {
            if Instant::now() >= until {
                // It may end by itself just now.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("{path:?} --version does not answer"));
            }
            std::thread::sleep(LOOK_EVERY);
        }
        let output = child.wait_with_output().map_err(failed)?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// The first three numbers with dots between them.
fn version_in(text: &str) -> Option<[u32; 3]> {
    text.split_whitespace().find_map(|word| {
        let word = word.trim_start_matches('v');
        let word = word.split(['-', '+']).next().unwrap_or(word);
        let numbers: Vec<u32> = word.split('.').map(str::parse).collect::<Result<_, _>>().ok()?;
        numbers.try_into().ok()
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::super::codex::Codex;
    use super::*;

    fn program(script: &str) -> (tempfile::TempDir, Program) {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("codex");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let program = Program::find(&Codex, Some(&path)).unwrap();
        (tmp, program)
    }

    #[test]
    fn versions_are_read_as_each_writes_them() {
        assert_eq!(version_in("codex-cli 0.155.1"), Some([0, 155, 1]));
        assert_eq!(version_in("2.1.197 (Claude Code)"), Some([2, 1, 197]));
        assert_eq!(version_in("v1.2.3-beta.4"), Some([1, 2, 3]));
        assert_eq!(version_in("no version here 1.2"), None);
    }

    #[test]
    fn a_program_that_is_not_there_says_how_to_get_it() {
        let error = Program::find(&Codex, Some(Path::new("/none/codex"))).unwrap_err();
        assert!(error.contains("/none/codex"), "{error}");
    }

    #[test]
    fn an_old_or_strange_program_is_refused() {
        let (_tmp, mut new) = program("echo codex-cli 0.155.1");
        new.check(&Codex).unwrap();
        let (_tmp, mut old) = program("echo codex-cli 0.9.0");
        let error = old.check(&Codex).unwrap_err();
        assert!(error.contains("0.9.0") && error.contains("npm install"), "{error}");
        let (_tmp, mut strange) = program("echo hello");
        assert!(strange.check(&Codex).unwrap_err().contains("hello"));
    }
}
