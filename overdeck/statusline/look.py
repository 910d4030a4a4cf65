"""What a line depends on, and what is read where one of those things has changed: the end of the calls log, the
registry's log, what the update check found. Nothing depends on the clock: a line stays true until an input moves.
"""

from __future__ import annotations

import posix

from overdeck import OWN_SESSIONS, __version__
from overdeck.dispatch import jsontext
from overdeck.dispatch.kit import updatecheck
from overdeck.dispatch.plan import digest, stamp
from overdeck.statusline.line import MAX_COLUMNS, Facts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from overdeck.statusline.cache import Cache

TAIL = 1 << 16
"""Bytes of the calls log that are looked at: some two hundred calls."""
CALLS = 20
"""Of the session, for the cost of one."""
NARROWEST, WIDEST = 20, 1000
MAX_US = 1 << 53
"""No call takes so long: what says so is damaged."""
MAX_TEXT = 4096
"""Letters of what the client says: a path may have so many."""


class Look:
    """One redraw: whose session it is, where its inputs are, how wide the line may be."""

    __slots__ = ("cache", "colour", "folder", "model", "name", "registry", "room", "session", "state")

    def __init__(self, payload: dict[str, Any], environ: Mapping[str, str]) -> None:
        """From what the client says and what our environment says; a wrong type counts as not said."""
        workspace = payload.get("workspace")
        folder = _text(workspace, "current_dir") or _text(payload, "cwd")
        self.session = _text(payload, "session_id")
        self.name = _text(payload, "session_name")
        self.model = _text(payload.get("model"), "display_name") or _text(payload.get("model"), "id")
        self.folder = folder if folder.startswith("/") else _here()
        self.state = _xdg(environ, "XDG_STATE_HOME", ".local/state")
        self.cache = _xdg(environ, "XDG_CACHE_HOME", ".cache") + "/statusline"
        self.room = _columns(environ.get("COLUMNS", ""))
        self.colour = "NO_COLOR" not in environ and environ.get("TERM") != "dumb"
        self.registry = _registry(self.folder, environ, self.state)

    def start_update_check(self) -> None:
        """Have somebody compare versions where that is due; this redraw shows what the last one found."""
        if updatecheck.due(self.state):
            updatecheck.start(self.state)

    def key(self) -> str:
        """Everything the line is made of, and who we are."""
        paths = (self.calls_log, f"{self.state}/{updatecheck.FOUND}", *([] if self.name else [self.name_file]))
        inputs = [(path, stamp(path)) for path in paths]
        who = (__version__, posix.geteuid(), self.session, self.name, self.model)
        return repr((who, self.room, self.colour, inputs, self.registry_key()))

    @property
    def calls_log(self) -> str:
        return f"{self.state}/hook-calls.jsonl"

    @property
    def name_file(self) -> str:
        """Where the module ``session-name`` keeps what it called the session: ``sessionnames.py``, dearer to import."""
        return f"{self.state}/modules/session-name/{digest(self.session.encode('utf-8', 'replace'))}.json"

    def shown_name(self) -> str:
        """What the client calls the session, else what the module did, else the beginning of its id."""
        if not self.name and self.session and _there(self.name_file):
            from overdeck.dispatch.kit.sessionnames import name_of

            return name_of(self.state, self.session) or self.session[:8]
        return self.name or self.session[:8]

    def registry_key(self) -> str:
        """The registry's own files: it is read again only when one of them moved."""
        if not self.registry:
            return ""
        log = f"{self.registry}/log"
        try:
            names = sorted(posix.listdir(log))
        except OSError:
            names = []
        paths = [f"{self.registry}/registry.toml", log, *(f"{log}/{name}" for name in names)]
        return repr((__version__, [(path, stamp(path)) for path in paths]))

    def facts(self, cache: Cache) -> Facts:
        """Read what there is to read; a log that is not there says nothing."""
        calls = _calls(self.calls_log)
        own = [call for call in calls if self.session and call.get("session") == self.session][-CALLS:]
        spent = [us for call in own if type(us := call.get("us")) is int and 0 <= us < MAX_US]
        root, ours = self.registry, self.cache.removesuffix("/statusline")
        found = ""
        if root:
            found = cache.kept(f"incidents {root}", self.registry_key(), lambda: _open_incidents(root, ours))
        return Facts(
            session=self.shown_name(),
            model=self.model,
            calls=len(spent),
            mean_us=sum(spent) // len(spent) if spent else 0,
            failing=_failing(calls),
            incidents=int(found) if found.isdecimal() else None,
            update=_text(updatecheck.found(self.state), "short"),
        )


def _calls(path: str) -> list[dict[str, Any]]:
    """The last calls of a log, without our own; a line that is cut or damaged is passed over."""
    try:
        fd = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK)
    except OSError:
        return []
    try:
        start = max(0, posix.fstat(fd).st_size - TAIL)
        raw = posix.pread(fd, TAIL, start)
    except OSError:
        return []
    finally:
        posix.close(fd)
    read = []
    for line in raw.split(b"\n"):
        try:
            call = jsontext.loads(line.decode("utf-8", "replace"))
        except ValueError:
            continue
        if isinstance(call, dict) and not str(call.get("session", "")).startswith(OWN_SESSIONS):
            read.append(call)
    return read


def _failing(calls: list[dict[str, Any]]) -> list[str]:
    """The modules whose last run failed or was killed at its deadline; ``front`` where the last call says so itself."""
    ends: dict[str, object] = {}
    for call in calls:
        ran = call.get("ran")
        for module, run in ran.items() if isinstance(ran, dict) else ():
            ends[module] = run.get("end") if isinstance(run, dict) else None
    failing = [module for module, end in ends.items() if end in ("error", "timeout")]
    return (["front"] if calls and calls[-1].get("err") else []) + sorted(failing)


def _open_incidents(root: str, cache: str) -> str:
    """How many incidents of a registry are open, or lost their evidence; empty where it cannot be read.

    The one import that costs something: paid when the registry has changed.
    """
    from pathlib import Path

    from overdeck.errors import OverdeckError
    from overdeck.incidents.current import overview
    from overdeck.incidents.fold import EVIDENCE_LOST, OPEN
    from overdeck.incidents.registry import load

    try:
        state = overview(load(Path(root)), lambda _: None, Path(cache))
    except (OverdeckError, OSError):
        return ""
    return str(sum(incident.state in (OPEN, EVIDENCE_LOST) for incident in state.incidents))


def _registry(folder: str, environ: Mapping[str, str], state: str) -> str:
    """The registry that ``od-incidents`` would use in ``folder``; empty where there is none."""
    asked = environ.get("OVERDECK_REGISTRY", "")
    if asked:
        asked = asked if asked.startswith("/") else f"{folder}/{asked}"
        return asked if _there(f"{asked}/registry.toml") else ""
    while folder.startswith("/"):
        if _there(f"{folder}/incidents/registry.toml"):
            return f"{folder}/incidents"
        folder = folder.rpartition("/")[0]
    return f"{state}/incidents" if _there(f"{state}/incidents/registry.toml") else ""


def _there(path: str) -> bool:
    try:
        return posix.stat(path).st_mode & 0o170000 == 0o100000
    except (OSError, ValueError):
        return False


def _xdg(environ: Mapping[str, str], name: str, default: str) -> str:
    """Ours below an XDG directory, as ``overdeck.paths`` says it (whose imports are dearer than all of this)."""
    value = environ.get(name, "")
    if not value.startswith("/"):
        home = environ.get("HOME", "") or _home()
        value = f"{home}/{default}"
    return f"{value}/overdeck"


def _home() -> str:
    import pwd

    return pwd.getpwuid(posix.getuid()).pw_dir


def _here() -> str:
    try:
        return posix.getcwd()
    except OSError:
        return ""


def _columns(said: str) -> int:
    """The columns a line may have: what the client says of the terminal, or 80."""
    if said.isascii() and said.isdecimal() and len(said) < 6:
        return min(max(int(said), NARROWEST), WIDEST)
    return MAX_COLUMNS


def _text(table: object, key: str) -> str:
    value = table.get(key) if isinstance(table, dict) else None
    return value[:MAX_TEXT] if isinstance(value, str) else ""
