"""What a cell can import: a list of modules, ours, and the .py files of the workspace."""

import importlib.machinery
import linecache
import sys

import _host
import _workspace

# Workspace modules, by the first part of their name, that a cell has asked for.
admitted = set()


class Loader:
    """Runs a module's source."""

    def __init__(self, source, filename, version):
        self.source = source
        self.filename = filename
        # When the file was changed; None for a module of RuaFlow.
        self.version = version

    def create_module(self, spec):
        return None

    def exec_module(self, module, exec=exec, compile=compile):
        lines = self.source.splitlines(keepends=True)
        # Tracebacks show the module's lines.
        linecache.cache[self.filename] = (len(self.source), None, lines, self.filename)
        exec(compile(self.source, self.filename, "exec"), module.__dict__)


class Finder:
    """Finds modules that are neither native nor part of the standard library."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        source = _host.source(name)
        if source is not None:
            return spec(name, Loader(source, f"<ruaflow {name}>", None), name == "PIL")
        if name.partition(".")[0] not in admitted:
            return None
        file = _workspace.find_module(name)
        if file is None:
            return None
        with _workspace.open(file, encoding="utf-8") as opened:
            loader = Loader(opened.read(), file, _workspace.version(file))
        return spec(name, loader, file.endswith("/__init__.py"))


def spec(name, loader, is_package):
    return importlib.machinery.ModuleSpec(
        name, loader, origin=loader.filename, is_package=is_package
    )


def of_workspace(module):
    loader = getattr(getattr(module, "__spec__", None), "loader", None)
    return loader if isinstance(loader, Loader) and loader.version is not None else None


def admit(name):
    """Lets a cell import a module, or says what to use in its place."""
    refusal = _host.refusal(name)
    if refusal is None:
        return
    root = name.partition(".")[0]
    file = _workspace.find_module(root)
    if file is None:
        raise ModuleNotFoundError(refusal, name=name)
    known = sys.modules.get(root)
    loader = of_workspace(known)
    if known is not None and loader is None:
        raise ImportError(
            f"{file} has the name of a module of the interpreter: rename it", name=name
        )
    # A module that was written anew is loaded anew.
    if loader is not None and loader.version != _workspace.version(file):
        for loaded in list(sys.modules):
            if loaded.partition(".")[0] == root:
                del sys.modules[loaded]
    admitted.add(root)


def from_cell(scope):
    """Whether code with these globals is an agent's; other modules import what they need."""
    if scope is None:
        return False
    if scope.get("__name__") == "__main__":
        return True
    loader = scope.get("__loader__")
    return isinstance(loader, Loader) and loader.version is not None


def guarded(original):
    def __import__(name, globals=None, locals=None, fromlist=(), level=0):
        if level == 0 and from_cell(globals):
            admit(name)
        return original(name, globals, locals, fromlist, level)

    return __import__


sys.meta_path.insert(0, Finder)
