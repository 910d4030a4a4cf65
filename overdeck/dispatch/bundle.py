"""The dispatcher in one file that Python starts without a search: what the native front runs when a plan is fresh.

Ten modules found and checked one by one cost a third of a bare interpreter's start (measured: 1.35 times against
1.10). The bundle holds their code and the stamps of their sources; where one differs it imports them the long way, so
that it is never older than the code it stands for. The same for the code of hook modules: compiled once, kept under
a name made of everything that could change it.
"""

from __future__ import annotations
import __future__

import binascii
import marshal
import posix
from _frozen_importlib_external import MAGIC_NUMBER

from overdeck.dispatch.plan import replace, slurp, stamp, trusted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

_LOADER = """
import gc, sys, posix
gc.disable()
ROOT, SOURCES, NOW = "constants"
def fresh():
    try:
        for path, stamped in SOURCES:
            st = posix.stat(path)
            if (st.st_mtime_ns, st.st_size, st.st_ino) != stamped:
                return False
    except OSError:
        return False
    return True
if fresh():
    for name, code in NOW:
        module = sys.modules[name] = type(sys)(name)
        if name in ("overdeck", "overdeck.dispatch"):
            module.__path__ = [ROOT + "/" + name.replace(".", "/")]
        parent, _, last = name.rpartition(".")
        module.__package__ = name if hasattr(module, "__path__") else parent
        if parent:
            setattr(sys.modules[parent], last, module)
        exec(code, module.__dict__)
sys.path.append(ROOT)
from overdeck.dispatch import front
front.main(sys.argv)
"""

NOW = ("jsontext", "clients", "plan", "module", "record", "bundle", "runner", "merge", "payload", "front")
"""What every call needs, each before those that import it; the rest (shell, planning) is found the usual way."""


def build(entry: str, folder: str) -> str:
    """Write the bundle of the dispatcher around ``entry`` into ``folder``; returns its path. Raises OSError."""
    root = entry.rpartition("/overdeck/dispatch/")[0]
    package = f"{root}/overdeck/dispatch"
    files = {"overdeck": f"{root}/overdeck/__init__.py", "overdeck.dispatch": f"{package}/__init__.py"}
    files |= {f"overdeck.dispatch.{name}": f"{package}/{name}.py" for name in NOW}
    sources = tuple((path, stamp(path)) for path in files.values())
    key = binascii.crc32(repr((sources, MAGIC_NUMBER, _LOADER)).encode("utf-8", "replace"))
    path = f"{folder}/bundle-{key:08x}.pyc"
    # Docstrings are left out: a quarter of what would have to be read at every start.
    codes = {name: compile(_read(file), file, "exec", optimize=2) for name, file in files.items()}
    # Every one of them imports from it: kept too, or it would be looked for on disk.
    future = compile(_read(__future__.__file__), __future__.__file__, "exec", optimize=2)
    constants = (root, sources, (("__future__", future), *codes.items()))
    loader = compile(_LOADER, path, "exec")
    loader = loader.replace(co_consts=tuple(constants if c == "constants" else c for c in loader.co_consts))
    _write(path, MAGIC_NUMBER + bytes(12) + marshal.dumps(loader))
    return path


def keep_code(source: str, folder: str) -> tuple[str, list[int]]:
    """Compile a hook module's file: (where its code is kept, the stamp of the file it was compiled from).

    The stamp is nanoseconds, size and inode: an edit of the same length within the same second, which Python's own
    .pyc files miss, makes another. Raises OSError, SyntaxError or ValueError.
    """
    stamped = stamp(source)
    path = binascii.crc32(repr((source, stamped, MAGIC_NUMBER)).encode("utf-8", "replace"))
    name = f"{folder}/code/{path:08x}"
    _write(name, marshal.dumps(compile(_read(source), source, "exec")))
    return name, list(stamped)


def load_code(source: str, stamped: tuple[int, int, int], kept: str, kept_stamp: list[int]) -> CodeType:
    """The code of a hook module's file: what was kept of it, if the file is still the same, else compiled now."""
    if kept and kept_stamp == list(stamped) and not (trusted(kept) or trusted(kept.rpartition("/")[0])):
        try:
            code: CodeType = marshal.loads(_read(kept))
            if type(code) is type(build.__code__) and code.co_filename == source:
                return code
        except (OSError, ValueError, EOFError, TypeError):
            return compile(_read(source), source, "exec")
    return compile(_read(source), source, "exec")


def _write(path: str, content: bytes) -> None:
    """Write a file unless these very bytes are there: one that was damaged is mended by the next install."""
    try:
        if _read(path) == content and not trusted(path):
            return
    except OSError:
        pass
    replace(path, content)


def _read(path: str) -> bytes:
    fd = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    try:
        return slurp(fd)
    finally:
        posix.close(fd)
