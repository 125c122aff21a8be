//! The files of an episode: the only ones that its cells reach, and only through
//! the node, which looks at every path.
//!
//! A path leads from the workspace's own descriptor one folder at a time, without
//! `..` and without following links, so none leads out; what is opened must be a
//! regular file.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, fstat, mkdirat, openat, statat, unlinkat,
};
use rustix::io::Errno;
use serde_json::{Value, json};

use crate::child::Child;
use crate::memory::{self, Part};
use crate::protocol::{Answer, BYTES, FileRequest, Refusal};

/// Longest file a cell may read or write, bytes.
pub const MAX_FILE_BYTES: u64 = 8 << 20;
/// What all files together may hold after a write, bytes.
pub const MAX_TOTAL_BYTES: u64 = 64 << 20;
/// Files and folders at most.
pub const MAX_ENTRIES: usize = 256;
/// Folders above a file at most.
const MAX_DEPTH: usize = 8;
const MAX_PATH_BYTES: usize = 4096;

/// Where the guides are; cells may not write there.
const GUIDES: &str = "guides";

/// An open workspace.
#[derive(Debug)]
pub struct Workspace {
    root: OwnedFd,
}

/// Why a file can't be had; becomes the `OSError` of its number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct FileError {
    pub errno: i32,
    pub text: String,
}

/// What a request gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// A file's contents.
    Bytes(Vec<u8>),
    /// Something to be said in JSON; `null` for what is only done.
    Value(Value),
}

impl Workspace {
    /// Opens the folder, makes it when it is not there, and puts the guides, pairs
    /// of a name and a text, into its `guides/`.
    ///
    /// # Errors
    /// When the folder can't be made or written.
    pub fn open(folder: &Path, guides: &[(&str, &str)]) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        if !guides.is_empty() {
            std::fs::create_dir_all(folder.join(GUIDES))?;
        }
        for (name, text) in guides {
            std::fs::write(folder.join(GUIDES).join(name), text)?;
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { root: openat(CWD, folder, flags, Mode::empty())? })
    }

    /// Does what a cell asks for; `bytes` are those to write.
    ///
    /// # Errors
    /// As Python's own functions fail, and when a limit is reached or a path leads out.
    pub fn serve(&self, request: &FileRequest, bytes: &[u8]) -> Result<Given, FileError> {
        match request {
            FileRequest::Read { path } => self.read(path).map(Given::Bytes),
            FileRequest::Write { path, append } => {
                self.write(path, bytes, *append)?;
                Ok(Given::Value(Value::Null))
            }
            FileRequest::List { path } => self.list(path).map(Given::Value),
            FileRequest::Stat { path } => self.stat(path).map(Given::Value),
            FileRequest::MakeFolder { path } => {
                self.make_folder(path)?;
                Ok(Given::Value(Value::Null))
            }
            FileRequest::Remove { path } => {
                self.remove(path)?;
                Ok(Given::Value(Value::Null))
            }
        }
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        let (parent, name) = self.parent(path)?;
        let mut file = regular(&parent, name, OFlags::RDONLY)?;
        let size = file.metadata().map_err(failed)?.len();
        if size > MAX_FILE_BYTES {
            return Err(too_large(size));
        }
        let mut bytes = Vec::new();
        // A person may write to it meanwhile.
        (&mut file).take(MAX_FILE_BYTES).read_to_end(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    fn write(&self, path: &str, bytes: &[u8], append: bool) -> Result<(), FileError> {
        let (parent, name) = self.parent_to_change(path)?;
        let old = match size_of(&parent, name)? {
            Some(size) => size,
            None => {
                self.check_entries()?;
                0
            }
        };
        let before = if append { old } else { 0 };
        let size = before + bytes.len() as u64;
        if size > MAX_FILE_BYTES {
            return Err(too_large(size));
        }
        let total = self.usage()?.bytes.saturating_sub(old) + size;
        if total > MAX_TOTAL_BYTES {
            let limit = MAX_TOTAL_BYTES >> 20;
            return Err(error(Errno::DQUOT, format!("the workspace holds {limit} MiB at most")));
        }
        let how = if append { OFlags::APPEND } else { OFlags::TRUNC };
        let mut file = regular(&parent, name, OFlags::WRONLY | OFlags::CREATE | how)?;
        file.write_all(bytes).map_err(failed)
    }

    fn list(&self, path: &str) -> Result<Value, FileError> {
        let names = parts(path)?;
        let folder = self.walk(&names)?;
        let mut entries = Vec::new();
        for (name, kind) in entries_of(&folder)? {
            let size = if kind == FileType::RegularFile {
                size_of(&folder, &name)?.unwrap_or(0)
            } else {
                0
            };
            let is_folder = kind == FileType::Directory;
            if is_folder || kind == FileType::RegularFile {
                entries.push((name, is_folder, size));
            }
        }
        entries.sort();
        let entries = entries
            .into_iter()
            .map(|(name, folder, size)| json!({ "name": name, "folder": folder, "size": size }));
        Ok(entries.collect())
    }

    /// `null` for what is not there.
    fn stat(&self, path: &str) -> Result<Value, FileError> {
        let names = parts(path)?;
        let stat = match self.look(&names) {
            Ok(stat) => stat,
            Err(missing) if [Errno::NOENT, Errno::NOTDIR].contains(&errno(&missing)) => {
                return Ok(Value::Null);
            }
            Err(error) => return Err(error),
        };
        let kind = FileType::from_raw_mode(stat.st_mode);
        if kind != FileType::Directory && kind != FileType::RegularFile {
            return Ok(Value::Null);
        }
        let folder = kind == FileType::Directory;
        #[allow(clippy::unnecessary_cast, reason = "its type differs between targets")]
        let modified_ns = stat.st_mtime as i64 * 1_000_000_000 + stat.st_mtime_nsec as i64;
        Ok(json!({ "folder": folder, "size": stat.st_size, "modified_ns": modified_ns }))
    }

    fn make_folder(&self, path: &str) -> Result<(), FileError> {
        let (parent, name) = self.parent_to_change(path)?;
        self.check_entries()?;
        mkdirat(&parent, name, Mode::from_raw_mode(0o755)).map_err(refused)
    }

    fn remove(&self, path: &str) -> Result<(), FileError> {
        let (parent, name) = self.parent_to_change(path)?;
        let removed = match unlinkat(&parent, name, AtFlags::empty()) {
            Err(Errno::ISDIR) => unlinkat(&parent, name, AtFlags::REMOVEDIR),
            other => other,
        };
        removed.map_err(refused)
    }

    /// The folder that a path's last part is in.
    fn parent<'a>(&self, path: &'a str) -> Result<(OwnedFd, &'a str), FileError> {
        let names = parts(path)?;
        match names.split_last() {
            Some((name, above)) => Ok((self.walk(above)?, name)),
            None => Err(error(Errno::ISDIR, "this is the workspace's folder".to_owned())),
        }
    }

    fn parent_to_change<'a>(&self, path: &'a str) -> Result<(OwnedFd, &'a str), FileError> {
        if parts(path)?.first() == Some(&GUIDES) {
            return Err(error(Errno::ACCESS, "the guides are only for reading".to_owned()));
        }
        self.parent(path)
    }

    fn walk(&self, names: &[&str]) -> Result<OwnedFd, FileError> {
        let mut folder = self.root.try_clone().map_err(failed)?;
        for name in names {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            folder = openat(&folder, *name, flags, Mode::empty()).map_err(refused)?;
        }
        Ok(folder)
    }

    fn look(&self, names: &[&str]) -> Result<Stat, FileError> {
        let Some((name, above)) = names.split_last() else {
            return fstat(&self.root).map_err(refused);
        };
        let folder = self.walk(above)?;
        statat(&folder, *name, AtFlags::SYMLINK_NOFOLLOW).map_err(refused)
    }

    fn check_entries(&self) -> Result<(), FileError> {
        if self.usage()?.entries < MAX_ENTRIES {
            return Ok(());
        }
        let text = format!("the workspace holds {MAX_ENTRIES} files and folders at most");
        Err(error(Errno::DQUOT, text))
    }

    /// Counted anew each time: people write into the folder, too.
    fn usage(&self) -> Result<Usage, FileError> {
        let mut usage = Usage::default();
        let root = self.root.try_clone().map_err(failed)?;
        count(&root, 0, &mut usage)?;
        Ok(usage)
    }
}

/// Answers a cell's question about a file.
pub(crate) fn reply(
    workspace: Option<&Workspace>,
    child: &Child,
    id: u64,
    request: &FileRequest,
    bytes: &[u8],
) {
    let Some(workspace) = workspace else {
        let text = "this run has no workspace, so a cell has no files";
        child.reply(id, Answer::refused(Refusal::Tool, text));
        return;
    };
    match workspace.serve(request, bytes) {
        Ok(Given::Value(value)) => child.reply(id, Answer::Value(json!({ "value": value }))),
        Ok(Given::Bytes(bytes)) if bytes.is_empty() => {
            child.reply(id, Answer::Value(json!({ "value": null })));
        }
        Ok(Given::Bytes(bytes)) => {
            let part = Part { name: "value", dtype: BYTES, shape: &[bytes.len()], bytes: &bytes };
            match memory::pack(&[part]) {
                Ok((memory, arrays)) => child.reply_arrays(id, json!({}), arrays, &memory),
                Err(error) => {
                    child.reply(id, Answer::refused(Refusal::Tool, error.to_string()));
                }
            }
        }
        Err(FileError { errno, text }) => {
            child.reply(id, Answer::Value(json!({ "errno": errno, "error": text })));
        }
    }
}

#[derive(Default)]
struct Usage {
    bytes: u64,
    entries: usize,
}

fn count(folder: &OwnedFd, depth: usize, usage: &mut Usage) -> Result<(), FileError> {
    for (name, kind) in entries_of(folder)? {
        usage.entries += 1;
        // Enough to refuse anything more.
        if usage.entries > MAX_ENTRIES || depth > MAX_DEPTH {
            return Ok(());
        }
        match kind {
            FileType::RegularFile => usage.bytes += size_of(folder, &name)?.unwrap_or(0),
            FileType::Directory => {
                let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                if let Ok(inner) = openat(folder, name.as_str(), flags, Mode::empty()) {
                    count(&inner, depth + 1, usage)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Names that are text, with what they are.
fn entries_of(folder: &OwnedFd) -> Result<Vec<(String, FileType)>, FileError> {
    let mut entries = Vec::new();
    for entry in Dir::read_from(readable(folder)?).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        if name == "." || name == ".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
                .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
            kind => kind,
        };
        entries.push((name.to_owned(), kind));
    }
    Ok(entries)
}

/// A descriptor that lists, of a folder that was only located.
fn readable(folder: impl AsFd) -> Result<OwnedFd, FileError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat(folder, ".", flags, Mode::empty()).map_err(refused)
}

fn regular(folder: &OwnedFd, name: &str, flags: OFlags) -> Result<File, FileError> {
    // Without blocking, because a pipe would wait for its other end.
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(folder, name, flags, Mode::from_raw_mode(0o644)).map_err(refused)?;
    match FileType::from_raw_mode(fstat(&file).map_err(refused)?.st_mode) {
        FileType::RegularFile => Ok(File::from(file)),
        FileType::Directory => Err(refused(Errno::ISDIR)),
        _ => Err(error(Errno::ACCESS, "this is no regular file".to_owned())),
    }
}

/// The size of a regular file, if it is there.
fn size_of(folder: &OwnedFd, name: &str) -> Result<Option<u64>, FileError> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(Some(u64::try_from(stat.st_size).unwrap_or(0))),
            FileType::Directory => Err(refused(Errno::ISDIR)),
            FileType::Symlink => Err(refused(Errno::LOOP)),
            _ => Err(error(Errno::ACCESS, "this is no regular file".to_owned())),
        },
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(refused(errno)),
    }
}

/// The parts of a path below the workspace; none for its own folder.
fn parts(path: &str) -> Result<Vec<&str>, FileError> {
    let outside = |text: &str| Err(error(Errno::ACCESS, text.to_owned()));
    if path.len() > MAX_PATH_BYTES {
        return Err(refused(Errno::NAMETOOLONG));
    }
    if path.contains('\0') {
        return Err(error(Errno::INVAL, "a path has no null character".to_owned()));
    }
    if path.starts_with('/') || path.starts_with('~') {
        return outside("a cell reaches only the workspace: name its files by relative paths");
    }
    let names: Vec<&str> =
        path.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
    if names.contains(&"..") {
        return outside("a cell reaches only the workspace: \"..\" is not allowed");
    }
    if path.is_empty() {
        return Err(refused(Errno::NOENT));
    }
    if names.len() > MAX_DEPTH {
        return Err(error(Errno::NAMETOOLONG, format!("more than {MAX_DEPTH} folders deep")));
    }
    Ok(names)
}

fn too_large(size: u64) -> FileError {
    let limit = MAX_FILE_BYTES >> 20;
    error(Errno::FBIG, format!("a file of {size} bytes; {limit} MiB are allowed"))
}

fn refused(errno: Errno) -> FileError {
    if errno == Errno::LOOP {
        return error(Errno::ACCESS, "links are not followed in the workspace".to_owned());
    }
    // "No such file or directory (os error 2)": Python shows the number itself.
    let text = io::Error::from(errno).to_string();
    let text = text.split(" (os error").next().unwrap_or_default().to_owned();
    error(errno, text)
}

fn failed(error: io::Error) -> FileError {
    refused(Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

fn error(errno: Errno, text: String) -> FileError {
    FileError { errno: errno.raw_os_error(), text }
}

fn errno(error: &FileError) -> Errno {
    Errno::from_raw_os_error(error.errno)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::*;

    struct Place {
        folder: tempfile::TempDir,
        workspace: Workspace,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("secret"), "not for cells").unwrap();
            let guides = [("env.md", "a guide")];
            let workspace = Workspace::open(&folder.path().join("a/workspace"), &guides).unwrap();
            Self { folder, workspace }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join("a/workspace").join(name)
        }

        fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
            match self.workspace.serve(&FileRequest::Read { path: path.to_owned() }, b"")? {
                Given::Bytes(bytes) => Ok(bytes),
                Given::Value(value) => panic!("{value}"),
            }
        }

        fn write(&self, path: &str, bytes: &[u8], append: bool) -> Result<(), FileError> {
            let request = FileRequest::Write { path: path.to_owned(), append };
            self.workspace.serve(&request, bytes).map(|_| ())
        }

        fn ask(&self, request: &FileRequest) -> Result<Value, FileError> {
            match self.workspace.serve(request, b"")? {
                Given::Value(value) => Ok(value),
                Given::Bytes(bytes) => panic!("{bytes:?}"),
            }
        }
    }

    #[test]
    fn files_are_written_read_and_listed() {
        let place = Place::new();
        place.write("notes.txt", b"one\n", false).unwrap();
        place.write("./notes.txt", b"two\n", true).unwrap();
        assert_eq!(place.read("notes.txt").unwrap(), b"one\ntwo\n");
        place.write("notes.txt", b"", false).unwrap();
        assert_eq!(place.read("notes.txt").unwrap(), b"");
        place.ask(&FileRequest::MakeFolder { path: "maps".into() }).unwrap();
        place.write("maps/0.bin", &[0, 255], false).unwrap();
        assert_eq!(place.read("maps//0.bin").unwrap(), [0, 255]);
        let listed = place.ask(&FileRequest::List { path: ".".into() }).unwrap();
        let names: Vec<&str> =
            listed.as_array().unwrap().iter().map(|e| e["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["guides", "maps", "notes.txt"]);
        let stat = place.ask(&FileRequest::Stat { path: "maps/0.bin".into() }).unwrap();
        assert_eq!((&stat["size"], &stat["folder"]), (&json!(2), &json!(false)));
        place.ask(&FileRequest::Remove { path: "maps/0.bin".into() }).unwrap();
        place.ask(&FileRequest::Remove { path: "maps".into() }).unwrap();
        let stat = place.ask(&FileRequest::Stat { path: "maps/0.bin".into() }).unwrap();
        assert_eq!(stat, Value::Null);
    }

    #[test]
    fn a_missing_file_is_an_error_with_pythons_number() {
        let place = Place::new();
        let error = place.read("none.txt").unwrap_err();
        assert_eq!(
            error,
            FileError { errno: libc::ENOENT, text: "No such file or directory".into() }
        );
        assert_eq!(place.write("none/x", b"", false).unwrap_err().errno, libc::ENOENT);
        assert_eq!(place.read("guides").unwrap_err().errno, libc::EISDIR);
        assert_eq!(place.read("").unwrap_err().errno, libc::ENOENT);
        assert_eq!(place.write(".", b"", false).unwrap_err().errno, libc::EISDIR);
        assert_eq!(place.read("guides/env.md/x").unwrap_err().errno, libc::ENOTDIR);
    }

    #[test]
    fn no_path_leads_out() {
        let place = Place::new();
        let secret = place.folder.path().join("secret");
        symlink(&secret, place.path("link")).unwrap();
        symlink(place.folder.path(), place.path("folder")).unwrap();
        std::fs::create_dir(place.path("in")).unwrap();
        symlink("..", place.path("in/up")).unwrap();
        for path in [
            "../../secret",
            "..",
            "in/../../../secret",
            secret.to_str().unwrap(),
            "~/x",
            "/etc/passwd",
            "link",
            "folder/secret",
            "in/up/link",
            "a\0b",
        ] {
            let errno = place.read(path).unwrap_err().errno;
            assert!(
                [libc::EACCES, libc::ENOTDIR, libc::EINVAL].contains(&errno),
                "{path:?} gave {errno}"
            );
            assert!(place.write(path, b"changed", false).is_err(), "{path:?}");
            assert!(place.write(path, b"changed", true).is_err(), "{path:?}");
            let folder = FileRequest::List { path: path.to_owned() };
            assert!(place.ask(&folder).is_err(), "{path:?}");
        }
        assert_eq!(std::fs::read_to_string(&secret).unwrap(), "not for cells");
        // A link is there, but what it leads to is nobody's business.
        let stat = FileRequest::Stat { path: "link".into() };
        assert_eq!(place.ask(&stat).unwrap(), Value::Null);
        place.ask(&FileRequest::Remove { path: "folder".into() }).unwrap();
        assert!(secret.exists());
    }

    #[test]
    fn only_regular_files_are_opened() {
        let place = Place::new();
        rustix::fs::mknodat(CWD, place.path("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0)
            .unwrap();
        assert_eq!(place.read("pipe").unwrap_err().errno, libc::EACCES);
        assert!(place.write("pipe", b"x", false).is_err());
    }

    #[test]
    fn guides_can_be_read_and_not_changed() {
        let place = Place::new();
        assert_eq!(place.read("guides/env.md").unwrap(), b"a guide");
        for path in ["guides/env.md", "guides/new.md", "./guides/x"] {
            assert_eq!(place.write(path, b"x", false).unwrap_err().errno, libc::EACCES);
        }
        let remove = FileRequest::Remove { path: "guides/env.md".into() };
        assert_eq!(place.ask(&remove).unwrap_err().errno, libc::EACCES);
    }

    #[test]
    fn sizes_and_numbers_are_limited() {
        let place = Place::new();
        let largest = vec![b'x'; MAX_FILE_BYTES as usize];
        place.write("large", &largest, false).unwrap();
        assert_eq!(place.write("large", b"x", true).unwrap_err().errno, libc::EFBIG);
        place.write("large", &largest, false).unwrap();
        let mut files = 1;
        let error = loop {
            match place.write(&format!("large{files}"), &largest, false) {
                Ok(()) => files += 1,
                Err(error) => break error,
            }
        };
        assert_eq!(error.errno, libc::EDQUOT);
        // The guide takes a little of the last one's room.
        assert_eq!(files, MAX_TOTAL_BYTES / MAX_FILE_BYTES - 1);
        let error = (0..).find_map(|n| place.write(&format!("n{n}"), b"", false).err()).unwrap();
        assert!(error.text.contains("256 files"), "{error}");
    }
}
