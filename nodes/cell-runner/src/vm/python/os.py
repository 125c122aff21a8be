"""The `os` of a cell: path arithmetic works, everything else is refused."""

import abc
import sys

import _cell

name = "posix"
sep = "/"
altsep = None
extsep = "."
curdir = "."
pardir = ".."
pathsep = ":"
defpath = "/bin:/usr/bin"
devnull = "/dev/null"
linesep = "\n"
error = OSError
environ = {}
SEEK_SET = 0
SEEK_CUR = 1
SEEK_END = 2
O_RDONLY = 0
O_WRONLY = 1
O_RDWR = 2
supports_dir_fd = set()
supports_effective_ids = set()
supports_fd = set()
supports_follow_symlinks = set()


def _refused(function):
    def refuse(*args, **kwargs):
        raise PermissionError(
            f"os.{function} is not allowed: a cell has no files, processes or network"
        )

    refuse.__name__ = refuse.__qualname__ = function
    return refuse


for _name in (
    "abort access chdir chmod chown close cpu_count dup dup2 execv execve execvp fdopen fork "
    "fstat ftruncate getcwd getlogin getpid getppid getuid isatty kill link listdir lseek lstat "
    "makedirs mkdir mkfifo open pipe popen posix_spawn putenv read readlink remove removedirs "
    "rename renames replace rmdir scandir sendfile setuid spawnl spawnv stat statvfs symlink "
    "system truncate umask uname unlink unsetenv utime wait waitpid walk write"
).split():
    globals()[_name] = _refused(_name)
del _name


def register_at_fork(**hooks):
    """Nothing to do: a cell never forks."""


def urandom(size):
    """Random bytes from the system."""
    return _cell.urandom(size)


def getenv(key, default=None):
    """A cell has no environment: always the default."""
    return default


def fsencode(filename):
    filename = fspath(filename)
    return filename.encode("utf-8", "surrogateescape") if isinstance(filename, str) else filename


def fsdecode(filename):
    filename = fspath(filename)
    return filename.decode("utf-8", "surrogateescape") if isinstance(filename, bytes) else filename


def fspath(path):
    """The path's text; objects give it by `__fspath__`."""
    if isinstance(path, (str, bytes)):
        return path
    method = getattr(type(path), "__fspath__", None)
    if method is None:
        raise TypeError(f"expected str, bytes or os.PathLike object, not {type(path).__name__}")
    result = method(path)
    if not isinstance(result, (str, bytes)):
        raise TypeError(f"__fspath__() must return str or bytes, not {type(result).__name__}")
    return result


class PathLike(abc.ABC):
    """Something with a `__fspath__` method."""

    @abc.abstractmethod
    def __fspath__(self):
        raise NotImplementedError

    @classmethod
    def __subclasshook__(cls, subclass):
        return hasattr(subclass, "__fspath__") if cls is PathLike else NotImplemented


sys.modules["os"] = sys.modules["posix"] = sys.modules[__name__]
import posixpath as path  # noqa: E402  (looks for the os above)

sys.modules["os.path"] = path
