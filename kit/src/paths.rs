use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::PathBuf;

/// Where set-up keeps what clones share: `RUAFLOW_HOME`, else `~/.cache/ruaflow`.
pub fn home() -> PathBuf {
    match std::env::var_os("RUAFLOW_HOME") {
        Some(home) if !home.is_empty() => home.into(),
        _ => std::env::home_dir().unwrap_or_default().join(".cache/ruaflow"),
    }
}

/// The packaged LIBERO data, as set-up installs it.
pub fn data_dir() -> PathBuf {
    home().join("data/libero")
}

/// A folder only this user can enter, for sockets: `$XDG_RUNTIME_DIR/ruaflow`,
/// else `/tmp/ruaflow-<uid>`.
///
/// Refuses a folder that belongs to somebody else, since `/tmp` is open to all.
pub fn runtime_dir() -> std::io::Result<PathBuf> {
    let uid = user_id();
    let dir = match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(dir) if !dir.is_empty() => PathBuf::from(dir).join("ruaflow"),
        _ => std::env::temp_dir().join(format!("ruaflow-{uid}")),
    };
    match std::fs::DirBuilder::new().mode(0o700).recursive(false).create(&dir) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let found = std::fs::symlink_metadata(&dir)?;
    if !found.is_dir() || found.uid() != uid || found.mode() & 0o077 != 0 {
        return Err(std::io::Error::other(format!(
            "{} is not a private folder of this user; remove it or set XDG_RUNTIME_DIR",
            dir.display()
        )));
    }
    Ok(dir)
}

fn user_id() -> u32 {
    // SAFETY: getuid has no preconditions and cannot fail.
    unsafe { libc::getuid() }
}
