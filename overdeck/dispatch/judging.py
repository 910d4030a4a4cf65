"""Judging by one module, in its own fork (runner.py) or as the only one of a call (alone.py): code and verdict.

What an exception, a nonsense verdict or a signal makes of it is said here once, for both.
"""

from __future__ import annotations

import gc
import posix
import sys

from overdeck.dispatch import descendants, jsontext, kept, module
from overdeck.dispatch.plan import distrusted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    from overdeck.dispatch.module import Call
    from overdeck.dispatch.plan import Module

    Ask = Callable[[Module, Callable[[Call], object]], object]
    """Asks one module: it and its ``evaluate``; what that says, nonsense included, is returned."""

MAX_VERDICT = 4 << 20
TOO_LONG = f"its verdict is over {MAX_VERDICT >> 20} MiB"
OWN_TIMER_MARGIN_S = 0.5
"""A child's own timer fires this long after its deadline, should the parent be dead by then."""


class Terminated(BaseException):
    """The dispatcher itself got SIGTERM: the client's timeout, or a module that killed its parent."""


def on_term(signum: int, frame: FrameType | None) -> None:
    raise Terminated


class Outcome:
    """What became of one module: ``end`` is none, fire, error or timeout; ``us`` is wall time in microseconds."""

    __slots__ = ("cause", "cls", "data", "end", "id", "kind", "over", "text", "trace", "us")

    def __init__(self, id: str, cls: str) -> None:
        self.id = id
        self.cls = cls
        self.end = "none"
        self.kind = self.text = self.cause = self.trace = ""
        self.data: dict[str, Any] | None = None
        self.us = 0
        self.over = False

    def take(self, verdict: dict[str, Any] | None) -> None:
        self.over = True
        if verdict is not None:
            self.end = "fire"
            self.kind, self.text, self.data = verdict["kind"], verdict["text"], verdict["data"]

    def fail(self, cause: str, *, end: str = "error", trace: str = "") -> None:
        self.over = True
        self.end, self.cause, self.trace = end, cause, trace


def preload(modules: list[Module]) -> None:
    """Import once, before the forks, what two or more modules import: their children share the pages.

    What a lone survivor imports too: there is nobody whom that could delay, and in the child every page an import
    touches would be copied first (``re``: 2.12 bare starts there, 2.01 here, measured).
    """
    counts: dict[str, int] = {}
    for m in modules:
        for name in m.imports:
            counts[name] = counts.get(name, 0) + 1
    for name, count in counts.items():
        if count > 1 or len(modules) == 1:
            try:
                if name not in sys.modules:
                    __import__(name)
                hasattr(sys.modules[name], "")  # what the bundle carries as bytes is made a module by this look
            except Terminated:
                raise
            except BaseException:  # then it is the modules' own error, in their own processes
                continue


def evaluated(m: Module, ask: Ask) -> bytes:
    """The verdict line of one module: a JSON verdict, ``null``, or ``{"error", "trace"}``."""
    path = f"{m.folder}/module.py"
    try:
        st = posix.stat(path)
        distrust = distrusted(path, st)
        if distrust:
            raise PermissionError(distrust)
        names: dict[str, Any] = {"__name__": "overdeck_module_" + m.id.replace("-", "_"), "__file__": path}
        code = kept.load_code(path, (st.st_mtime_ns, st.st_size, st.st_ino), m.code, m.code_stamp)
        exec(code, names)
        gc.enable()  # not before: collections during imports find nothing, and cost 0.04 of a bare start (measured)
        return (jsontext.dumps(module.encode(ask(m, names["evaluate"]), m.cls)) + "\n").encode()
    except BaseException as error:  # sys.exit and KeyboardInterrupt of a module are its crash, not ours
        for stream in (sys.stdout, sys.stderr):  # what it printed belongs to the trace; else nobody reads it
            if stream is not None:
                stream.flush()
        cause = f"{type(error).__name__}: {error}"[:500]
        return (jsontext.dumps({"error": cause, "trace": _trace(error)}) + "\n").encode("utf-8", "replace")


def _trace(error: BaseException) -> str:
    """File, line and function of each frame; no source lines, which ``traceback`` would have to load."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}"
    lines: list[str] = []
    frame = error.__traceback__
    while frame is not None and len(lines) < 30:
        code = frame.tb_frame.f_code
        lines.append(f"{code.co_filename}:{frame.tb_lineno} in {code.co_name}")
        frame = frame.tb_next
    return "\n".join(lines[2:] or lines)


def read_verdict(outcome: Outcome, line: bytes, trace: str) -> bool:
    """Take a module's verdict line, or why there is none; True for a verdict."""
    if not line.endswith(b"\n"):
        outcome.fail("its process ended without a verdict", trace=trace)
        return False
    try:
        said = jsontext.loads(line.decode("utf-8", "surrogatepass"))
        if isinstance(said, dict) and said.keys() == {"error", "trace"}:
            outcome.fail(str(said["error"]), trace=f"{said['trace']}\n{trace}".strip())
            return False
        outcome.take(None if said is None else module.check(said, outcome.cls))
    except ValueError as error:
        outcome.fail(str(error), trace=trace)
        return False
    return True


def tail(output: bytes | bytearray) -> str:
    return output[-4096:].decode("utf-8", "replace")


_subreaper = False
_STARTS = frozenset(("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "os.exec"))


def watch_starts() -> None:
    """From now on, what this process starts is made its own: see ``end_what_was_started``."""
    sys.addaudithook(_become_subreaper)


def end_what_was_started() -> None:
    """Kill what a module has started in this process since ``watch_starts``."""
    if _subreaper:
        descendants.kill(posix.getpid())


def _become_subreaper(event: str, arguments: tuple[object, ...]) -> None:
    """Just before a module starts its first process: make its orphans ours, so that a daemon cannot get away.

    Paid (an import of ctypes) only by modules that start programs. Linux; elsewhere the process group is killed.
    """
    global _subreaper  # noqa: PLW0603  one process, one flag: the audit hook has no other memory
    if _subreaper or event not in _STARTS:
        return
    _subreaper = True
    if sys.platform == "linux":
        import ctypes

        set_child_subreaper = 36
        ctypes.CDLL(None).prctl(set_child_subreaper, 1, 0, 0, 0)
