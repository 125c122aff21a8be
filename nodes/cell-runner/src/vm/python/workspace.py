"""The files of the workspace: `open`, and what `os` and `pathlib` ask for.

The node holds the files and looks at every path; a file is here as a whole while
it is open.
"""

import errno
import io
import os
import stat as stat_bits
import weakref

import _host

MAX_OPEN = 64

# Files that were opened for writing: in this cell, and in earlier ones.
opened = []
earlier = []


def ask(request, path, data=b"", append=False):
    refusal, answer, message = _host.file(request, path, data, append)
    if refusal is not None:
        raise PermissionError(errno.EACCES, message, path)
    if "errno" in answer:
        raise OSError(answer["errno"], answer["error"], path)
    return answer["value"]


def text_of(path):
    path = os.fspath(path)
    return os.fsdecode(path) if isinstance(path, bytes) else path


class Stat:
    """The part of `os.stat_result` that a workspace can fill."""

    def __init__(self, mode, size, modified_ns):
        self.st_mode = mode
        self.st_size = size
        self.st_mtime_ns = modified_ns
        self.st_mtime = modified_ns / 1e9


class File(io.BytesIO):
    """A file of the workspace; what was written reaches it at flush() and close()."""

    def __init__(self, path, mode, data):
        super().__init__(data)
        self.name = path
        self.mode = mode
        self._reads = "r" in mode or "+" in mode
        self._writes = mode.strip("bt") != "r"
        # Bytes that the workspace has, and whether those were changed here.
        self._saved = len(data)
        self._changed = False
        if "a" in mode:
            self.seek(0, io.SEEK_END)

    def readable(self):
        return self._reads

    def writable(self):
        return self._writes

    def read(self, size=-1, /):
        self._check(self._reads, "readable")
        return super().read(size)

    def write(self, data, /):
        self._check(self._writes, "writable")
        if "a" in self.mode:
            self.seek(0, io.SEEK_END)
        elif self.tell() < self._saved:
            self._changed = True
        return super().write(data)

    def truncate(self, size=None, /):
        self._check(self._writes, "writable")
        size = super().truncate(size)
        self._changed = True
        return size

    def flush(self):
        if self.closed or not self._writes:
            return
        data = self.getvalue()
        if self._changed:
            ask("write", self.name, data)
        elif len(data) > self._saved:
            ask("write", self.name, data[self._saved :], True)
        self._saved = len(data)
        self._changed = False

    def close(self):
        if not self.closed:
            try:
                self.flush()
            finally:
                super().close()

    def _check(self, allowed, what):
        if not allowed:
            raise io.UnsupportedOperation(f"not {what}")


def open(
    file,
    mode="r",
    buffering=-1,
    encoding=None,
    errors=None,
    newline=None,
    closefd=True,
    opener=None,
):
    """Opens a file of the episode's workspace; as Python's open(), with relative paths."""
    if isinstance(file, int):
        raise PermissionError("a cell opens files of the workspace by their names")
    if opener is not None:
        raise ValueError("open() has no opener in a cell")
    if (
        not isinstance(mode, str)
        or len(set(mode)) != len(mode)
        or set(mode) - set("rwaxbt+")
        or sum(letter in mode for letter in "rwax") != 1
        or ("b" in mode and "t" in mode)
    ):
        raise ValueError(f"invalid mode: {mode!r}")
    if "b" in mode and (encoding, errors, newline) != (None, None, None):
        raise ValueError("binary mode takes no encoding, errors or newline argument")
    path = text_of(file)
    save()
    data = b""
    if "r" in mode or "a" in mode:
        try:
            data = contents(path)
        except FileNotFoundError:
            if "r" in mode:
                raise
    if "x" in mode and ask("stat", path) is not None:
        raise FileExistsError(errno.EEXIST, "File exists", path)
    if "r" not in mode:
        ask("write", path, b"", "a" in mode)
    result = File(path, mode, data)
    if "b" not in mode:
        result = io.TextIOWrapper(result, encoding or "utf-8", errors, newline)
        result.mode = mode
    if result.writable():
        if len(opened) + len(earlier) >= MAX_OPEN:
            save(end_of_cell=True)
            if len(earlier) >= MAX_OPEN:
                raise OSError(errno.EMFILE, "too many open files", path)
        opened.append(result)
    return result


def contents(path):
    return ask("read", path) or b""


def save(end_of_cell=False):
    """Brings what was written and not closed to the workspace."""
    files = opened + [file for file in (reference() for reference in earlier) if file is not None]
    for file in files:
        if not file.closed:
            file.flush()
    if end_of_cell:
        # A later cell may go on writing, unless nobody has the file any more.
        earlier[:] = [weakref.ref(file) for file in files if not file.closed]
        opened.clear()
    else:
        opened[:] = [file for file in opened if not file.closed]


def find_module(name):
    """The file of a module in the workspace, if there is one."""
    base = name.replace(".", "/")
    for file in (f"{base}.py", f"{base}/__init__.py"):
        try:
            found = ask("stat", file)
        except OSError:
            continue
        if found is not None and not found["folder"]:
            return file
    return None


def version(path):
    found = ask("stat", path)
    return None if found is None else (found["modified_ns"], found["size"])


def stat(path, *, dir_fd=None, follow_symlinks=True):
    path = text_of(path)
    save()
    found = ask("stat", path)
    if found is None:
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", path)
    kind = stat_bits.S_IFDIR | 0o755 if found["folder"] else stat_bits.S_IFREG | 0o644
    return Stat(kind, found["size"], found["modified_ns"])


def listdir(path="."):
    """The names in a folder of the workspace, sorted."""
    save()
    return [entry["name"] for entry in ask("list", text_of(path))]


class Entry:
    """An entry of a folder, as `os.scandir` gives it."""

    def __init__(self, folder, entry):
        self.name = entry["name"]
        self.path = os.path.join(folder, self.name)
        self._folder = entry["folder"]

    def __fspath__(self):
        return self.path

    def is_dir(self, *, follow_symlinks=True):
        return self._folder

    def is_file(self, *, follow_symlinks=True):
        return not self._folder

    def is_symlink(self):
        return False

    def is_junction(self):
        return False

    def stat(self, *, follow_symlinks=True):
        return stat(self.path)


class scandir:
    """The entries of a folder of the workspace, sorted by name."""

    def __init__(self, path="."):
        folder = text_of(path)
        save()
        self._entries = iter([Entry(folder, entry) for entry in ask("list", folder)])

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._entries)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        self._entries = iter(())


def mkdir(path, mode=0o777, *, dir_fd=None):
    ask("make_folder", text_of(path))


def makedirs(name, mode=0o777, exist_ok=False):
    path = text_of(name)
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/"):
        parts[:1] = ["/" + part for part in parts[:1]]
    for count in range(1, len(parts) + 1):
        try:
            mkdir("/".join(parts[:count]))
        except FileExistsError:
            if count == len(parts) and not exist_ok:
                raise


def remove(path, *, dir_fd=None):
    save()
    ask("remove", text_of(path))


def getcwd():
    """A cell is in its workspace; paths are relative to it."""
    return "."


def walk(top, topdown=True, onerror=None, followlinks=False):
    entries = ask("list", text_of(top))
    folders = [entry["name"] for entry in entries if entry["folder"]]
    files = [entry["name"] for entry in entries if not entry["folder"]]
    if topdown:
        yield top, folders, files
    for name in folders:
        yield from walk(os.path.join(top, name), topdown)
    if not topdown:
        yield top, folders, files


def install():
    """Lets `os` answer from the workspace."""
    # What glob and pathlib look at when they are loaded.
    os.O_RDONLY, os.O_DIRECTORY = 0, 0
    here = (stat, listdir, scandir, mkdir, makedirs, remove, getcwd, walk)
    for function in here:
        setattr(os, function.__name__, function)
    os.lstat = stat
    os.stat_result = Stat
    os.unlink = os.rmdir = remove
    # `io.open` is what pathlib calls.
    io.open = open
