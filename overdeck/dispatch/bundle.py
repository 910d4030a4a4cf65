"""The dispatcher in one file that Python starts without a search: what the native front runs when a plan is fresh.

Ten modules found and checked one by one cost a third of a bare interpreter's start (measured: 1.35 times against
1.10). The bundle holds their code and the stamps of their sources; where one differs it imports them the long way, so
that it is never older than the code it stands for. Annotations are left out: nothing reads them, and they are a
hundredth of a call. What few calls need is kept beside it, as the code of hook modules is: compiled once, under a name
made of everything that could change it, and held against its source when it is read (carried in the bundle it was two
hundredths of every call that never used it).

Compiling all of it takes 0.12 s of CPU, so it is done once: a process remembers what it has compiled, under the stamp
of its source, for the plans of all its events; and the call that only makes its own plan again takes what is on disk,
if nobody else may write it and its digest fits. An install compiles, compares, and mends.
"""

from __future__ import annotations

import marshal
from _frozen_importlib_external import MAGIC_NUMBER

from overdeck.dispatch import kept
from overdeck.dispatch.plan import digest, stamp, trusted
from overdeck.dispatch.writing import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from types import CodeType

_LOADER = """
import gc, sys, posix
gc.disable()
ROOT, SOURCES, EXTENSIONS, NOW, later, PACKAGES = "constants"
LATER = dict(later)
def fresh():
    try:
        for path, stamped in SOURCES:
            st = posix.stat(path)
            if (st.st_mtime_ns, st.st_size, st.st_ino) != stamped:
                return False
    except OSError:
        return False
    return True
def add(name, module):
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    module.__package__ = parent
    if parent:
        setattr(sys.modules[parent], last, module)
class Later(type(sys)):
    def __getattr__(self, name):
        kept = LATER.pop(self.__name__, None)
        if kept is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        path, name_of_code, stamped = kept
        now = sys.modules["overdeck.dispatch.plan"].stamp(path)
        exec(sys.modules["overdeck.dispatch.kept"].load_code(path, now, name_of_code, stamped), self.__dict__)
        return getattr(self, name)
if fresh():
    try:
        from _frozen_importlib import ModuleSpec, _load
        from _frozen_importlib_external import ExtensionFileLoader
        for name, path in EXTENSIONS:
            _load(ModuleSpec(name, ExtensionFileLoader(name, path), origin=path))
    except (ImportError, OSError):
        pass  # it is looked for the usual way then
    for name in ("overdeck", "overdeck.dispatch", "overdeck.dispatch.kit"):
        add(name, type(sys)(name))
        sys.modules[name].__path__ = [ROOT + "/" + name.replace(".", "/")]
        sys.modules[name].__package__ = name
    for name in LATER:
        add(name, Later(name))
    for name, code in NOW:
        module = type(sys)(name)
        add(name, module)
        exec(code, module.__dict__)
    for name in PACKAGES:
        sys.modules[name].__path__ = [ROOT + "/" + name.replace(".", "/")]
sys.path.append(ROOT)
from overdeck.dispatch import front
front.main(sys.argv)
"""

NOW = ("jsontext", "clients", "plan", "kept", "module", "record", "judging", "alone", "merge", "payload", "front")
"""What every call needs, each before those that import it; what is in neither list is found the usual way."""

LATER = (
    "adopted", "descendants", "eventlog", "failside", "keepgoing", "matchers", "observing", "rawanswer", "rewriting",
    "runner", "stdin", "writing", "kit.commandrules", "kit.lastresponse", "kit.ownfolder", "kit.places", "kit.said",
    "kit.sessionfiles", "kit.sessionnames", "kit.shell", "kit.shellscripts", "kit.shelltext", "kit.upwards",
)  # fmt: skip
"""What few calls need: read and made a module at the first look into it."""

ABROAD = {
    "codex": ("dialects", "dialects.heard", "dialects.refusal", "dialects.applypatch", "dialects.codex"),
    "gemini": ("dialects", "dialects.heard", "dialects.refusal", "dialects.gemini"),
    "opencode": ("dialects", "dialects.heard", "dialects.refusal", "dialects.applypatch", "dialects.opencode"),
}
"""What every call of another client needs besides: that client's code, and no other's."""

EXTENSIONS = ("_json", "select")
"""Extension modules that every call needs: loaded from where they are, not looked for in each folder of sys.path."""


_remembered: dict[tuple[str, tuple[int, int, int]], bytes] = {}
"""What this process has compiled of the dispatcher, marshalled, by file and stamp."""


def build(entry: str, folder: str, client: str = "claude", *, reuse: bool = False) -> str:
    """Write the bundle of the dispatcher for ``client`` into ``folder``; returns its path. Raises OSError.

    ``entry`` is the dispatcher's entry.py. With ``reuse`` nothing is compiled where all of it is there and whole.
    """
    root = entry.rpartition("/overdeck/dispatch/")[0]
    package = f"{root}/overdeck/dispatch"
    now: tuple[str, ...] = NOW
    if client in ABROAD:
        now = (*NOW[:-1], *ABROAD[client], "dialects.abroad", NOW[-1])
    places = {name: f"{package}/{name.replace('.', '/')}.py" for name in ("__init__", *now, *LATER)}
    if "dialects" in places:
        places["dialects"] = f"{package}/dialects/__init__.py"
    files = [f"{root}/overdeck/__init__.py", *places.values()]
    stamps = {path: stamp(path) for path in files}
    sources = tuple(stamps.items())
    # by the spec: what a bundle has loaded itself has no __file__, and a bundle made there must be this very one
    origins = ((name, getattr(__import__(name).__spec__, "origin", None)) for name in EXTENSIONS)
    extensions = tuple((name, path) for name, path in origins if path and path.startswith("/"))
    maker = digest(kept.read(__file__))  # an edit of this file may make other code of the same sources
    key = _key((sources, extensions, maker))
    path = f"{folder}/bundle-{key}.pyc"
    waiting = []
    for name in LATER:
        source = places[name]
        file = f"{folder}/code/{_key((source, stamps[source], maker))}"
        waiting.append((f"overdeck.dispatch.{name}", (source, file, list(stamps[source]))))
    if reuse and _whole(path, key) and all(_whole(file) for _, (_, file, _) in waiting):
        return path
    for _, (source, file, _) in waiting:
        _write(file, kept.seal(_compiled(source, stamps[source])), lasting=False)
    first = tuple(
        (f"overdeck.dispatch.{name}", marshal.loads(_compiled(places[name], stamps[places[name]]))) for name in now
    )
    packages = ("overdeck.dispatch.dialects",) if client in ABROAD else ()
    looked_at = sources[: len(sources) - len(LATER)]
    constants = (root, looked_at, extensions, first, tuple(waiting), packages)
    loader = compile(_LOADER, path, "exec")
    loader = loader.replace(co_consts=tuple(constants if c == "constants" else c for c in loader.co_consts))
    raw = marshal.dumps(loader)
    _write(path, MAGIC_NUMBER + bytes(4) + _seal_of_bundle(key, raw) + raw)
    return path


def _seal_of_bundle(key: str, raw: bytes) -> bytes:
    """Eight bytes where a .pyc has its source's time and size, which Python does not look at when it runs one."""
    return bytes.fromhex(digest(key.encode() + raw))


def _compiled(path: str, stamped: tuple[int, int, int]) -> bytes:
    """The code of one of the dispatcher's files, marshalled: no docstrings, no annotations, no ``__future__``."""
    known = _remembered.get((path, stamped))
    if known is None:
        text = kept.read(path).replace(b"from __future__ import annotations\n", b"\n", 1)
        code: CodeType = compile(_unannotated(text, path), path, "exec", dont_inherit=True, optimize=2)
        known = _remembered[path, stamped] = marshal.dumps(code)
    return known


def _unannotated(text: bytes, path: str) -> ast.Module:
    """The tree of a file without its annotations; every node in it has its place."""
    import ast  # dear, and the call that only makes its plan again needs none

    def bare(node: ast.AnnAssign) -> ast.stmt:
        plain = ast.Pass() if node.value is None else ast.Assign([node.target], node.value)
        return ast.copy_location(plain, node)

    tree = ast.parse(text, path)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                block[:] = [bare(one) if isinstance(one, ast.AnnAssign) else one for one in block]
    return tree


def _key(what: object) -> str:
    return digest(repr((what, MAGIC_NUMBER)).encode("utf-8", "replace"))


def keep_code(source: str, folder: str, *, reuse: bool = False) -> tuple[str, list[int]]:
    """Compile a hook module's file: (where its code is kept, the stamp of the file it was compiled from).

    The stamp is nanoseconds, size and inode: an edit of the same length within the same second, which Python's own
    .pyc files miss, makes another. With ``reuse`` what is there and whole is not compiled again. Raises OSError,
    SyntaxError or ValueError.
    """
    stamped = stamp(source)
    name = f"{folder}/code/{_key((source, stamped))}"
    if not (reuse and _whole(name)):
        _write(name, kept.seal(marshal.dumps(kept.compiled(source))), lasting=False)
    return name, list(stamped)


def _whole(path: str, key: str = "") -> bool:
    """Whether a file may be believed to be what was written there: ours alone, and as its digest says.

    ``key`` is the bundle's own; kept code has its digest in front (kept.py).
    """
    try:
        if trusted(path) or trusted(path.rpartition("/")[0]):
            return False
        content = kept.read(path)
    except OSError:
        return False
    if key:
        return content[:8] == MAGIC_NUMBER + bytes(4) and content[8:16] == _seal_of_bundle(key, content[16:])
    return len(content) > len(kept.seal(b"")) and content == kept.seal(content[len(kept.seal(b"")) :])


def _write(path: str, content: bytes, *, lasting: bool = True) -> None:
    """Write a file unless these very bytes are there: one that was damaged is mended by the next install."""
    try:
        if kept.read(path) == content and not trusted(path):
            return
    except OSError:
        pass
    replace(path, content, lasting=lasting)
