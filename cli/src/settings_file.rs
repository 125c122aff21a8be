//! Settings on their way to the nodes, in a file that only this user can read:
//! what a node reads there, dora neither sees nor shows.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use eyre::{Context as _, Result};

const PREFIX: &str = "settings-";

/// The file of one dataflow; it goes when this does.
pub struct SettingsFile {
    path: PathBuf,
}

impl SettingsFile {
    pub fn write(settings: &BTreeMap<String, String>) -> Result<Self> {
        let folder = ruaflow_kit::runtime_dir().wrap_err("no place for the settings")?;
        sweep(&folder);
        let path = folder.join(format!(
            "{PREFIX}{}-{}.json",
            std::process::id(),
            uuid::Uuid::new_v4().simple()
        ));
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .wrap_err_with(|| format!("can't write {path:?}"))?;
        let settings_file = SettingsFile { path };
        file.write_all(&serde_json::to_vec(settings)?)
            .wrap_err_with(|| format!("can't write {:?}", settings_file.path))?;
        Ok(settings_file)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SettingsFile {
    fn drop(&mut self) {
        // Another clean-up may have been faster.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Removes files whose `rua` was killed.
fn sweep(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let owner = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX)?.split_once('-'))
            .map(|(pid, _)| pid);
        if let Some(pid) = owner
            && !Path::new("/proc").join(pid).exists()
        {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn only_the_owner_can_read_it_and_it_goes() {
        let settings = BTreeMap::from([("KEY".to_owned(), "secret".to_owned())]);
        let file = SettingsFile::write(&settings).unwrap();
        let path = file.path().to_owned();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let read = ruaflow_kit::Settings::from_file(&path).unwrap();
        assert_eq!(read.text("KEY").as_deref(), Some("secret"));
        drop(file);
        assert!(!path.exists());
    }

    #[test]
    fn what_a_killed_rua_left_is_swept() {
        let folder = tempfile::tempdir().unwrap();
        // Above the largest process id there can be.
        let dead = folder.path().join(format!("{PREFIX}4194305-x.json"));
        let alive = folder.path().join(format!("{PREFIX}{}-x.json", std::process::id()));
        for path in [&dead, &alive] {
            std::fs::write(path, "{}").unwrap();
        }
        sweep(folder.path());
        assert!(!dead.exists() && alive.exists());
    }
}
