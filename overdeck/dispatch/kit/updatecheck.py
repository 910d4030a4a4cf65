"""Is what is wired of the version that is on disk? Asked by a hook, the status line and the doctor; answered by one
worker at a time, at most hourly, that nobody waits for.

A package manager replaces the code, a client its plugins; plans and their bundle move only when somebody makes them
again. The worker compares, makes plans again that older code has made, and leaves what it found in a file.
It opens no connection, starts no program, never lets older code replace what newer code made, and does not touch the
client's settings. Where a call must not be held up, everything that is in doubt is silence.

Beside the hot path: what imports it runs at the start of a session, or is no hook at all.
"""

from __future__ import annotations

import posix
import time

from overdeck.dispatch import jsontext
from overdeck.dispatch.plan import DESCRIPTORS, PlanError, parse, read_plan, trusted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from overdeck.dispatch.planning import Recipe

HOUR_S = 3600
PATIENCE_S = 30
"""After so long a worker is ended by its own clock: it held the lock for nothing."""
LOCK = "update-check.lock"
"""In the state folder: held by the worker, its pid inside, its time of change the last start of one."""
FOUND = "update-check.json"
"""Beside it: what the last worker found."""
MAX_SIBLINGS = 64


class Versions:
    """Of one client's plans: the version that wrote them, the code they start, and the newest copy beside that code.

    An empty ``wired`` is an Overdeck that did not say yet; an empty ``newest`` is code that is no plugin.
    """

    __slots__ = ("client", "newest", "on_disk", "wired")

    def __init__(self, client: str, wired: str, on_disk: str, newest: str = "") -> None:
        self.client = client
        self.wired = wired
        self.on_disk = on_disk
        self.newest = newest

    @property
    def behind(self) -> bool:
        """Whether older code wrote what is wired."""
        return bool(self.on_disk) and order(self.wired) < order(self.on_disk)

    @property
    def ahead(self) -> bool:
        """Whether newer code wrote what is wired: somebody went back to an older version."""
        return bool(self.on_disk and self.wired) and order(self.wired) > order(self.on_disk)

    @property
    def outdated(self) -> bool:
        """Whether a newer copy of the plugin lies beside the one that runs."""
        return order(self.newest) > order(self.on_disk)

    @property
    def skew(self) -> str:
        """What does not fit, on one line; empty where all is of one version."""
        if self.outdated:
            return (
                f"Overdeck {self.newest} is on disk and {self.on_disk or 'another version'} runs in this session: "
                "start a new session"
            )
        wired = self.wired or "a version that did not name itself"
        if self.ahead:
            return f"{wired} wrote the plans of {self.client} and {self.on_disk} is on disk: overdeck install"
        if self.behind:
            return f"Overdeck {self.on_disk} is on disk and {wired} wrote the plans of {self.client}: overdeck install"
        return ""


def order(version: str) -> tuple[list[int], int]:
    """By what versions compare: 0.9 < 0.10.0rc1 < 0.10 < 0.10.post1; what is no version is below every one."""
    numbers: list[int] = []
    rest = version.partition("+")[0].strip()
    while rest[:1].isdigit():
        digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
        numbers.append(int(digits))
        rest = rest[len(digits) :]
        if not (rest[:1] == "." and rest[1:2].isdigit()):
            break
        rest = rest[1:]
    if not numbers:
        return [], 0
    while numbers and not numbers[-1]:
        numbers.pop()
    return numbers, 1 if not rest else 2 if "post" in rest else 0


def versions(state: str) -> list[Versions]:
    """Of every client that has a recipe below ``state``; nothing is said of one that cannot be read."""
    return [_of(recipe) for recipe in _recipes(state)]


def version_at(root: str) -> str:
    """What ``root/overdeck/__init__.py`` calls its version; empty where it cannot be read."""
    text = _start_of(f"{root}/overdeck/__init__.py")
    return text.partition('__version__ = "')[2].partition('"')[0]


def found(state: str) -> dict[str, Any]:
    """What the last worker found: ``at``, ``said`` (a line, or empty), ``short`` (the same in two words)."""
    try:
        known = jsontext.loads(read_plan(f"{state}/{FOUND}").decode())
    except (PlanError, ValueError, OSError):
        return {}
    return known if isinstance(known, dict) else {}


def due(state: str) -> bool:
    """Whether a worker may be started: something is wired, and none was within the hour. Two looks at the disk.

    A lock from the future (the clock went back) counts for nothing: it would hold for as long as the clock was ahead.
    """
    try:
        age = time.time() - posix.stat(f"{state}/{LOCK}").st_mtime
    except OSError:
        age = HOUR_S
    return not 0 <= age < HOUR_S and bool(_recipe_files(state))


def start(state: str) -> int:
    """Start a worker where one is due and none is at work; returns its pid, 0 where none was started. Never waits."""
    if not due(state):
        return 0
    lock = claim(state)
    if lock < 0:
        return 0
    try:
        pid = posix.fork()
    except OSError:
        pid = -1
    if pid == 0:
        _work(state, lock)
    try:
        if pid > 0:
            sign(lock, pid)  # by both: who looks when we are gone must not find our number
    except OSError:
        pass
    posix.close(lock)
    return max(pid, 0)


def claim(state: str) -> int:
    """The open lock, taken, with our own pid in it; -1 where somebody holds it, was quicker, or it cannot be made.

    It is the kernel's lock, which ends with the last process that has it open: no kill leaves it behind.
    """
    import fcntl

    flags = posix.O_RDWR | posix.O_CREAT | posix.O_CLOEXEC | posix.O_NOFOLLOW | posix.O_NONBLOCK
    try:
        lock = posix.open(f"{state}/{LOCK}", flags, 0o600)
    except OSError:
        return -1
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        st = posix.fstat(lock)
        if st.st_uid == posix.geteuid() and (not st.st_size or not 0 <= time.time() - st.st_mtime < HOUR_S):
            sign(lock, posix.getpid())
            return lock
    except OSError:
        pass
    posix.close(lock)
    return -1


def holder(state: str) -> int:
    """The process that holds the lock; 0 where none does."""
    import fcntl

    try:
        lock = posix.open(f"{state}/{LOCK}", posix.O_RDWR | posix.O_CLOEXEC | posix.O_NOFOLLOW | posix.O_NONBLOCK)
    except OSError:
        return 0
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return 0
    except BlockingIOError:
        said = posix.pread(lock, 20, 0).decode("ascii", "replace").strip()
        return int(said) if said.isdecimal() else 0
    except OSError:
        return 0
    finally:
        posix.close(lock)


def sign(lock: int, pid: int) -> None:
    """Name the process that is at work. Raises OSError."""
    text = f"{pid}\n".encode()
    posix.pwrite(lock, text, 0)
    posix.ftruncate(lock, len(text))
    posix.utime(lock)


def _work(state: str, lock: int) -> None:
    """The worker: a process of its own, of nobody's session, holding nothing but the lock. Never returns."""
    try:
        import _signal

        posix.setsid()
        null = posix.open("/dev/null", posix.O_RDWR)
        for fd in (0, 1, 2):
            posix.dup2(null, fd)
        if lock != 3:
            posix.dup2(lock, 3, False)
        posix.closerange(4, DESCRIPTORS)
        _signal.signal(_signal.SIGALRM, _signal.SIG_DFL)
        _signal.setitimer(_signal.ITIMER_REAL, PATIENCE_S)
        sign(3, posix.getpid())
        check(state)
    except BaseException:  # nobody is there to hear of it: the next one is in an hour
        pass
    finally:
        posix._exit(0)


def check(state: str) -> dict[str, Any]:
    """Compare, make again what older code has made, and keep what was found. Raises OSError."""
    from overdeck.dispatch import record
    from overdeck.dispatch.writing import replace

    said: list[str] = []
    short = ""
    for recipe in _recipes(state):
        of = _of(recipe)
        if of.on_disk and not of.ahead:
            done = _remake(recipe, of)
            said += [done] if done else []
        if of.skew and (of.ahead or of.outdated):
            said.append(of.skew)
            short = f"{of.newest} on disk" if of.outdated else f"{of.on_disk} on disk"
    known = {"at": record.now(), "said": "; ".join(said), "short": short}
    replace(f"{state}/{FOUND}", jsontext.dumps(known).encode())
    return known


def _remake(recipe: Recipe, of: Versions) -> str:
    """Make the plans again where older code made them: what was done, or why not; empty where there was nothing to do.

    As a call does that finds its plan stale: one process writes, and a manifest that cannot be read leaves the last
    good plans in force.
    """
    import fcntl

    from overdeck.dispatch import bundle, planning
    from overdeck.dispatch.manifest import ManifestError
    from overdeck.dispatch.writing import replace

    fits = bundle.build(recipe.entry, recipe.plans, recipe.client, reuse=True)
    plans = [
        parse(read_plan(f"{recipe.plans}/{name}"))
        for name in sorted(posix.listdir(recipe.plans))
        if name[-5:] == ".plan"
    ]
    if not of.behind and all(plan.bundle == fits for plan in plans):
        return ""
    was = of.wired or "an earlier version"
    try:
        fleet = planning.load(recipe)
        if fleet.problems:
            return f"the plans of {recipe.client} are still those of {was}: {fleet.problems[0]}"
        fresh = [planning.compile_plan(recipe, fleet, plan.event) for plan in plans]
    except (PlanError, ManifestError) as error:
        return f"the plans of {recipe.client} are still those of {was}: {error}"
    lock = posix.open(f"{recipe.plans}/{planning.LOCK}", posix.O_RDWR | posix.O_CREAT | posix.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if planning.Recipe.load(recipe.plans).encode() != recipe.encode():
            return ""  # somebody has installed since
        for plan in fresh:
            planning.write_plan(recipe, plan, reuse=True)
        recipe.version = of.on_disk
        replace(f"{recipe.plans}/{planning.RECIPE}", recipe.encode())
    except BlockingIOError:
        return ""
    finally:
        posix.close(lock)
    if not of.behind:
        return ""
    return f"Overdeck {of.on_disk} made the plans of {recipe.client} again, which {was} had made; next: overdeck doctor"


def _of(recipe: Recipe) -> Versions:
    root = recipe.entry.rpartition("/overdeck/dispatch/")[0]
    return Versions(recipe.client, recipe.version, version_at(root), _newest_beside(root))


def _newest_beside(root: str) -> str:
    """The newest version among the copies of the plugin that a client keeps side by side; empty for no plugin."""
    if "/plugins/cache/" not in root or not _plugin_version(root):
        return ""  # a checkout may stand among other work trees of itself
    beside = root.rpartition("/")[0]
    try:
        names = posix.listdir(beside)[:MAX_SIBLINGS]
    except OSError:
        return ""
    return max((_plugin_version(f"{beside}/{name}") for name in names), key=order, default="")


def _plugin_version(root: str) -> str:
    try:
        said = jsontext.loads(_start_of(f"{root}/.claude-plugin/plugin.json"))
    except ValueError:
        return ""
    version = said.get("version") if isinstance(said, dict) and said.get("name") == "overdeck" else ""
    return version if isinstance(version, str) else ""


def _recipe_files(state: str) -> list[str]:
    """The plan folders below ``state`` that have a recipe."""
    try:
        names = sorted(posix.listdir(f"{state}/plans"))
    except OSError:
        return []
    folders = [f"{state}/plans/{name}" for name in names]
    return [folder for folder in folders if not trusted(f"{folder}/recipe")]


def _recipes(state: str) -> list[Recipe]:
    from overdeck.dispatch.planning import Recipe

    read = []
    for folder in _recipe_files(state):
        try:
            recipe = Recipe.load(folder)
        except (PlanError, UnicodeDecodeError):
            continue
        if recipe.plans == folder:
            read.append(recipe)
    return read


def _start_of(path: str) -> str:
    try:
        fd = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK)
    except (OSError, ValueError):
        return ""
    try:
        return posix.read(fd, 1 << 13).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        posix.close(fd)
