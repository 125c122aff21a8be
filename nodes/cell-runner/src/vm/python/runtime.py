"""What every cell finds: exceptions, results, and the names that are no part of `robo`."""

import builtins

# Not used here: it needs modules that are taken away once this one is loaded,
# and `traceback` and `inspect` need it later.
import importlib.machinery  # noqa: F401
import sys
import time

import _cell
import _display
import _modules
import _workspace

display = _display.display

# Frames of an error that are looked at; a recursion repeats them.
MAX_FRAMES = 1_100

# Frames of these files are none of the agent's business.
HIDDEN = "<ruaflow "


class ToolError(RuntimeError):
    """The robot or a service failed or did not answer: `.tool`, `.message`, `.payload`."""

    def __init__(self, tool, message, payload=None):
        super().__init__(f"{tool}: {message}")
        self.tool = tool
        self.message = message
        self.payload = payload


class EpisodeFinished(BaseException):
    """The episode is over: `.reason`. Outside Exception, so that a retry loop does not swallow it."""

    def __init__(self, reason):
        super().__init__(reason)
        self.reason = reason


class Finished(BaseException):
    """Ends the cell that called finish()."""


class Record:
    """Plain measured values under fixed names; they cannot be changed."""

    # Plain ones; arrays are no part of what is printed and compared.
    _fields = ()
    # Kinds of the records that lie in a field.
    _inner = {}

    def __init__(self, values):
        for name, kind in self._inner.items():
            values[name] = tuple([kind(inner) for inner in values[name]])
        self.__dict__.update(values)

    def __repr__(self):
        values = self.__dict__
        inside = ", ".join([f"{name}={values[name]!r}" for name in self._fields])
        return f"{type(self).__name__}({inside})"

    def _plain(self):
        values = self.__dict__
        return tuple([values[name] for name in self._fields])

    def __eq__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        return self._plain() == other._plain()

    def __hash__(self):
        return hash(self._plain())

    def __setattr__(self, name, value):
        raise AttributeError(f"{type(self).__name__} is a measured result and cannot be changed")

    def __delattr__(self, name):
        self.__setattr__(name, None)


def call(method, arguments):
    return answer(method, _cell.call(method, arguments))


def attribute(name):
    return answer(name, _cell.attribute(name))


def answer(tool, outcome):
    refusal, value, message = outcome
    if refusal is None:
        return value
    if refusal == "value":
        raise ValueError(message)
    if refusal == "episode_finished":
        raise EpisodeFinished(message)
    if refusal == "hidden":
        raise RuntimeError(message)
    raise ToolError(tool, message, value)


def finish(status, summary=""):
    """Says that the work is over, and ends the cell. The benchmark alone judges success.

    status: "success", "failure" or "stuck"
    summary: what was done, in words
    """
    if status not in ("success", "failure", "stuck"):
        raise ValueError(
            f'finish(): status must be "success", "failure" or "stuck", got {status!r}'
        )
    summary = str(summary)
    end_cell()
    _cell.finish(status, summary)
    raise Finished


def end_cell():
    """Brings what a cell wrote to its files."""
    try:
        _workspace.save(end_of_cell=True)
    except OSError as error:
        print(f"(a file could not be written: {error})", file=sys.stderr)


def help(what=None):
    """Prints how something is called and what it does."""
    import inspect

    what = sys.modules["robo"] if what is None else what
    lines = []
    if inspect.isroutine(what) or inspect.isclass(what):
        try:
            lines.append(f"{what.__name__}{inspect.signature(what)}")
        except (TypeError, ValueError):
            lines.append(what.__name__)
    lines.append(inspect.getdoc(what) or "")
    if what is sys.modules["robo"]:
        for name, member in vars(type(what)).items():
            if not name.startswith("_") and inspect.isfunction(member):
                lines.append(f"robo.{name}{inspect.signature(getattr(what, name))}")
    print("\n".join(lines))


def refuse(name, why):
    def refused(*args, **kwargs):
        raise PermissionError(f"{name}() is not allowed: {why}")

    refused.__name__ = refused.__qualname__ = name
    return refused


def install():
    """Puts everything in place; the last thing before the first cell."""
    for error in (ToolError, EpisodeFinished):
        error.__module__ = "builtins"
        setattr(builtins, error.__name__, error)
    builtins.help = help
    builtins.open = _workspace.open
    builtins.input = refuse("input", "nobody is there to type")
    builtins.breakpoint = refuse("breakpoint", "a cell has no debugger")
    builtins.__import__ = _modules.guarded(builtins.__import__)
    _workspace.install()
    sys.setrecursionlimit = _cell.setrecursionlimit
    sys.stdout = sys.__stdout__ = _cell.Stream("stdout")
    sys.stderr = sys.__stderr__ = _cell.Stream("stderr")
    time.sleep = _cell.sleep


def warm_up():
    """Loads what the first error needs, while nobody waits."""
    import traceback  # noqa: F401


def make_robo(names):
    """The `robo` of this episode, from the names that its generated source defined."""
    robo_class = names["Robo"]
    if all(name.startswith("_") for name in vars(robo_class)):
        robo_class.__getattr__ = no_robot
    for error in (ToolError, EpisodeFinished):
        setattr(robo_class, error.__name__, error)
    robo = robo_class()
    sys.modules["robo"] = robo
    return robo


def no_robot(robo, name):
    raise AttributeError(f"there is no robot in this run, so no robo.{name}", name=name, obj=None)


def format_error(error):
    """The traceback as Python prints it, without the frames of RuaFlow itself."""
    import traceback

    report = traceback.TracebackException.from_exception(error, limit=MAX_FRAMES)
    hide(report, set())
    return "".join(report.format())


def hide(report, seen):
    if report is None or id(report) in seen:
        return
    seen.add(id(report))
    report.stack[:] = [frame for frame in report.stack if not frame.filename.startswith(HIDDEN)]
    hide(report.__cause__, seen)
    hide(report.__context__, seen)
    for inner in report.exceptions or ():
        hide(inner, seen)
