"""A hook of a client's settings, started by the dispatcher instead of the client, as the client would start it.

Its own process, session and sockets, the environment of the client, the payload's very bytes. A Python script for the
plan's interpreter runs in the fork itself; everything else, and a script whose fork would not be what it was, is
started as before. What it said is read in ``rawanswer.py``.
"""

from __future__ import annotations

import _signal
import posix
import sys

from overdeck.dispatch import kept
from overdeck.dispatch.plan import DESCRIPTORS, distrusted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType, TracebackType
    from typing import Any, NoReturn

    from overdeck.dispatch.plan import Module

_HARMLESS = (b"PYTHONUNBUFFERED", b"PYTHONDONTWRITEBYTECODE", b"PYTHONHASHSEED")
"""Of all that moves a Python (``PYTHON*``, ``LD_*``) the only names that a fork can do without.

The last only orders sets, which no answer should hang on; a benchmark sets it anew for every run.
"""

NOT_FOUND = 127


class Stage:
    """What every adopted hook of one call gets: the payload's bytes, and the environment the client gave the front."""

    __slots__ = ("environ", "event", "raw")

    def __init__(self, event: str, raw: bytes, environ: dict[bytes, bytes]) -> None:
        self.event = event
        self.raw = raw
        self.environ = environ


def stage(event: str, text: str, plans: str, *, native: bool) -> Stage:
    """The stage of this call; called before the environment is narrowed.

    The native front leaves out what moves an interpreter; the whole of what the client gave it is in /proc.
    """
    environ = dict(posix.environ)
    if native:
        environ = _of_process(posix.getppid(), plans.encode("utf-8", "surrogateescape")) or environ
    # Claude Code ends its line of JSON with a line feed, which the front does not wait for (contract/FACTS.md, 1).
    return Stage(event, (text if text.endswith("\n") else text + "\n").encode("utf-8", "surrogatepass"), environ)


def _of_process(pid: int, plans: bytes) -> dict[bytes, bytes]:
    """The environment ``pid`` was started with, if it is the front of these plans; empty where that cannot be seen."""
    try:
        if plans not in kept.read(f"/proc/{pid}/cmdline").split(b"\0"):
            return {}
        words = kept.read(f"/proc/{pid}/environ").split(b"\0")
    except OSError:
        return {}
    return dict(word.split(b"=", 1) for word in words if b"=" in word)


def socket_pair() -> tuple[int, int]:
    """Two descriptors joined: the client gives its hooks sockets, on which ``/dev/stdin`` cannot be opened."""
    from _socket import socketpair

    ours, theirs = socketpair()
    return ours.detach(), theirs.detach()


def become(m: Module, stage: Stage, out: int, err: int) -> NoReturn:
    """In the child: turn into the hook of ``m``. ``out`` and ``err`` are its stdout and stderr."""
    config: dict[str, Any] = m.config
    project = config.get("project", "")
    if project and stage.environ.get(b"CLAUDE_PROJECT_DIR", b"").decode("utf-8", "surrogateescape") != project:
        posix._exit(0)  # a project's own hook, in another project
    if m.background:
        # The client does not wait for it, so neither do we; it ends at its own timeout, which an exec does not lift.
        if posix.fork():
            posix._exit(0)
        posix.setsid()
        _signal.setitimer(_signal.ITIMER_REAL, m.timeout_ms / 1000)
    _give_payload(stage.raw)
    posix.dup2(out, 1)
    posix.dup2(err, 2)
    posix.closerange(3, DESCRIPTORS)
    script = config.get("script", "")
    code = _code(m, script) if script and _same_python(config, stage) else None
    if code is not None:
        by_shell = isinstance(config.get("shell"), str)
        _adopt_environment(_past_a_shell(stage.environ) if by_shell else stage.environ)
        try:
            main = _main(config)
        except Exception:  # nothing of the hook has run yet: start it as before
            _execute(config, stage.environ)
        posix._exit(_run(code, main, config))
    _execute(config, stage.environ)


def _give_payload(raw: bytes) -> None:
    """Put the payload on descriptor 0: into the socket's buffer, and what does not fit through a process of its own."""
    ours, theirs = socket_pair()
    posix.dup2(theirs, 0)
    posix.close(theirs)
    posix.set_blocking(ours, False)
    view = memoryview(raw)
    try:
        while view:
            view = view[posix.write(ours, view) :]
    except BlockingIOError:
        pass
    if view and posix.fork() == 0:
        if posix.fork() == 0:
            null = posix.open("/dev/null", posix.O_RDWR)
            for fd in (0, 1, 2):
                posix.dup2(null, fd)
            posix.set_blocking(ours, True)
            posix.dup2(ours, 3)
            posix.closerange(4, DESCRIPTORS)
            _signal.setitimer(_signal.ITIMER_REAL, 600)
            try:
                while view:
                    view = view[posix.write(3, view) :]
            except OSError:  # a hook that does not read all of it
                pass
        posix._exit(0)
    if view:
        posix.waitpid(-1, 0)
    posix.close(ours)


def _same_python(config: dict[str, Any], stage: Stage) -> bool:
    """Whether a fork of this interpreter is what the client would have started for this script."""
    moved = any(name.startswith((b"PYTHON", b"LD_")) and name not in _HARMLESS for name in stage.environ)
    return config.get("python") == sys.executable and not moved


def _code(m: Module, script: str) -> Any:
    """The script's code; None where it has to be started, to say itself what is wrong with it."""
    try:
        st = posix.stat(script)
        if distrusted(script, st):
            return None
        return kept.load_code(script, (st.st_mtime_ns, st.st_size, st.st_ino), m.code, m.code_stamp)
    except (OSError, SyntaxError, ValueError):
        return None


def _past_a_shell(environ: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """What the ``/bin/sh`` of the shell form hands on: ``PWD`` names our folder, by the name that was given or its own.

    Measured with dash. A bash in its place adds ``SHLVL`` and ``_``, which are not made up here.
    """
    given = environ.get(b"PWD", b"")
    try:
        here = posix.stat(".")
        there = posix.stat(given) if given.startswith(b"/") else None
    except OSError:
        there = None
    if there is not None and (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino):
        return environ
    try:
        return {**environ, b"PWD": posix.getcwdb()}
    except OSError:  # the folder was deleted under us
        return environ


def _adopt_environment(environ: dict[bytes, bytes]) -> None:
    """The client's environment, for Python (``os.environ`` reads this very table) and for what it starts."""
    for name in list(posix.environ):
        if name not in environ:
            posix.unsetenv(name)
    posix.environ.clear()
    for name, value in environ.items():
        posix.putenv(name, value)
        posix.environ[name] = value


def _execute(config: dict[str, Any], environ: dict[bytes, bytes]) -> NoReturn:
    """Start it as the client does: ``/bin/sh -c`` for the shell form, else the program itself."""
    _signal.pthread_sigmask(_signal.SIG_SETMASK, ())
    shell = config.get("shell")
    if isinstance(shell, str):
        words = [b"/bin/sh", b"-c", shell.encode("utf-8", "surrogateescape")]
    else:
        project = environ.get(b"CLAUDE_PROJECT_DIR", b"")
        words = [
            str(word).encode("utf-8", "surrogateescape").replace(b"${CLAUDE_PROJECT_DIR}", project)
            for word in config["command"]
        ]
    program = words[0]
    folders = [b""] if b"/" in program else environ.get(b"PATH", b"/usr/bin:/bin").split(b":")
    for folder in folders:
        try:
            posix.execve(folder + b"/" + program if folder else program, words, environ)
        except OSError:
            continue
    posix._exit(NOT_FOUND)


def _main(config: dict[str, Any]) -> ModuleType:
    """The interpreter as ``python script args`` finds it; what ``runpy`` would do, without its imports."""
    import builtins
    from _frozen_importlib_external import SourceFileLoader

    script: str = config["script"]
    _streams(unbuffered=bool(config.get("unbuffered")))
    for name in [name for name in sys.modules if name == "overdeck" or name.startswith("overdeck.")]:
        del sys.modules[name]
    sys.argv = [config["argv0"], *config["args"]]
    sys.executable = config["executable"]
    sys.path[:] = [_folder(config["real"]), *config["path"]]
    _site_builtins(builtins)
    main = type(sys)("__main__")
    main.__dict__.update(
        __builtins__=builtins, __file__=script, __cached__=None, __package__=None, __annotations__={},
        __loader__=SourceFileLoader("__main__", script),
    )  # fmt: skip
    sys.modules["__main__"] = main
    return main


def _run(code: Any, main: ModuleType, config: dict[str, Any]) -> int:
    """Run a script to its end; returns the exit code."""
    script: str = config["script"]
    try:
        if config.get("sitecustomize"):
            __import__("sitecustomize")
        exec(code, main.__dict__)
        status = 0
    except SystemExit as ended:
        status = _status(ended)
    except BaseException as error:
        _complain(error, script)
        status = 1
    return _end(status)


def _folder(path: str) -> str:
    """The folder of an absolute path."""
    return path.rpartition("/")[0] or "/"


def _streams(*, unbuffered: bool) -> None:
    """Standard streams made anew: ours were made for another stdin, which could be sought in."""
    import io

    for number, name in enumerate(("stdin", "stdout", "stderr")):
        was: Any = getattr(sys, name) or sys.__stderr__
        raw = io.FileIO(number, "wb" if number else "rb", closefd=False)
        raw.name = f"<{name}>"
        inner: Any = raw  # a buffer that is made and dropped would close it
        if not (number and unbuffered):
            inner = io.BufferedWriter(raw) if number else io.BufferedReader(raw)
        stream: Any = io.TextIOWrapper(
            inner,
            encoding=was.encoding,
            errors="backslashreplace" if number == 2 else was.errors,
            newline="\n" if number else None,
            line_buffering=number == 2,
            write_through=bool(number and unbuffered),
        )
        stream.mode = "w" if number else "r"
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _site_builtins(builtins: ModuleType) -> None:
    """``exit`` and its kin, which ``-S`` leaves out and scripts use."""
    import _sitebuiltins

    for name in ("quit", "exit"):
        setattr(builtins, name, _sitebuiltins.Quitter(name, "Ctrl-D (i.e. EOF)"))
    builtins.help = _sitebuiltins._Helper()  # type: ignore[attr-defined]  # typeshed knows no name that site adds


def _status(ended: SystemExit) -> int:
    """What ``sys.exit`` means: nothing is 0, a number is itself, anything else is printed and 1."""
    code = ended.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    print(code, file=sys.stderr)
    return 1


def _complain(error: BaseException, script: str) -> None:
    """The traceback from the script's own first frame on, through whatever hook the script has put there."""
    tb: TracebackType | None = error.__traceback__
    while tb is not None and tb.tb_frame.f_code.co_filename != script:
        tb = tb.tb_next
    try:
        sys.excepthook(type(error), error.with_traceback(tb), tb)
    except BaseException:  # a broken hook of the script's own: the exit code says it
        return


def _end(status: int) -> int:
    """What an interpreter does at its end: wait for threads, run what ``atexit`` holds, flush."""
    import atexit

    try:
        threading = sys.modules.get("threading")
        if threading is not None:
            threading._shutdown()
        atexit._run_exitfuncs()
    except BaseException as error:
        _complain(error, "")
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except Exception:
            status = 120  # as CPython: what was printed could not be handed over
    return status
