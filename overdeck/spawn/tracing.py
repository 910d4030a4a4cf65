"""The tracer's side: a run whose every process, program and thread is seen by ptrace events, and counted once.

A task is counted when it is first heard of, from its parent's event or from its own first stop, whichever the kernel
tells first; what is killed between the two is counted too. Whether it is a process or a thread is asked of
``/proc/TID/status`` (Tgid), not of the event: PTRACE_EVENT_CLONE only says that the exit signal is not SIGCHLD.
"""

import contextlib
import os
import signal
import stat
from collections.abc import Callable
from typing import Any

from overdeck.spawn.ptrace import (
    EVENT_CLONE,
    EVENT_EXEC,
    EVENT_FORK,
    EVENT_STOP,
    EVENT_VFORK,
    STOPPING,
    WALL,
    Ptrace,
)
from overdeck.spawn.spawner import IGNORED_HERE, Launch, serve

_ENDS = (os.CLD_EXITED, os.CLD_KILLED, os.CLD_DUMPED)
_NEW = (EVENT_FORK, EVENT_VFORK, EVENT_CLONE)


class Refused(Exception):
    """The kernel does not let us trace our own child; the text says why."""


class Task:
    """A living process or thread: the number of its process, and whether its parent's event has been read."""

    __slots__ = ("announced", "process", "thread")

    def __init__(self, process: int, *, thread: bool, announced: bool) -> None:
        self.process = process
        self.thread = thread
        self.announced = announced


class Census:
    """Every process of a run in the order of their starts, with their parents, programs and threads.

    It is told what the kernel tells, in any order that wait4 may give: a child's first stop, and its end, can come
    before its parent's event, and the end of an orphan comes twice. ``group`` says which process a task belongs to.
    """

    def __init__(self, group: Callable[[int], int]) -> None:
        self.processes: list[dict[str, Any]] = []
        self._group = group
        self._tasks: dict[int, Task] = {}
        self._early: dict[int, Task] = {}  # ended before their parent's event was read
        self._ended: set[int] = set()  # may be told a second time, when we adopt what their parent left unreaped

    def root(self, pid: int) -> None:
        """A command that we have started ourselves."""
        self._add(pid, pid, None, announced=True)

    def born(self, parent: int, child: int) -> None:
        """``parent`` says that it has started ``child``."""
        origin = self._tasks.get(parent)
        task = self._early.pop(child, None) or self._tasks.get(child)
        if task is None:
            self._add(child, self._group(child), origin.process if origin else None, announced=True)
        elif not task.announced:
            task.announced = True
            if not task.thread and origin:
                self.processes[task.process]["parent"] = origin.process

    def stopped(self, tid: int) -> None:
        """``tid`` has stopped: the first word of it, maybe."""
        if tid not in self._tasks:
            self._add(tid, self._group(tid), None, announced=False)

    def executed(self, pid: int, former: int, program: dict[str, Any]) -> None:
        """Process ``pid`` has become ``program``; the thread that did it was ``former`` before."""
        if former not in (0, pid):
            self._tasks.pop(former, None)  # it has taken the leader's id, and will not be told to end
        process = self.processes[self._tasks[pid].process]
        process["programs"].append({**program, "before": len(self.processes)})

    def ended(self, tid: int) -> None:
        """``tid`` is over: the first word of it where it was killed before it could stop once."""
        if tid not in self._tasks:
            if tid in self._ended:
                return
            self._add(tid, self._group(tid), None, announced=False)
        task = self._tasks.pop(tid)
        if not task.announced:
            self._early[tid] = task
        self._ended.add(tid)

    def _add(self, tid: int, group: int, parent: int | None, *, announced: bool) -> None:
        leader = self._tasks.get(group) if group != tid else None
        if leader:
            process = leader.process
            self.processes[process]["threads"] += 1
        else:
            process = len(self.processes)
            self.processes.append({"parent": parent, "programs": [], "threads": 0})
        self._tasks[tid] = Task(process, thread=leader is not None, announced=announced)


class TracedLaunch(Launch):
    """A run under ptrace: ends and times as any other, and answers with its census."""

    def __init__(self, request: dict[str, Any], payload: int, wake: int) -> None:
        super().__init__(request, payload, wake)
        self._ptrace = Ptrace()
        self._census = Census(_group)
        self._unprivileged: set[str] = set()  # would have got more rights, had no unprivileged tracer looked on

    def run(self) -> dict[str, Any]:
        try:
            answer = super().run()
        except Refused as refused:
            return {"refused": str(refused)}
        return {
            **answer,
            "processes": self._census.processes,
            "unprivileged": sorted(self._unprivileged),
        }

    def _start(self, argv: list[str], fds: tuple[int, int, int]) -> int:
        held, release = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(release)
            _become(argv, self.environ, fds, held)
        os.close(held)
        try:
            self._ptrace.seize(pid)
            os.write(release, b"x")
        except OSError as error:
            raise Refused(str(error.strerror)) from None
        finally:
            os.close(release)  # unwritten, it is the end of a child that we may not trace
        self._census.root(pid)
        while True:
            _, status = os.waitpid(pid, WALL)
            if os.WIFSTOPPED(status):
                self._handle(pid, status)
                if status >> 16 == EVENT_EXEC:
                    return pid
            elif os.WIFEXITED(status):
                raise OSError(os.WEXITSTATUS(status), os.strerror(os.WEXITSTATUS(status)))
            else:
                raise OSError(0, f"killed by signal {os.WTERMSIG(status)} before it could start")

    def _next_end(self) -> tuple[int, int, Any]:
        # First a look, then the wait: once a task is reaped, /proc does not say any more what it was.
        while seen := os.waitid(os.P_ALL, 0, os.WEXITED | os.WSTOPPED | os.WNOHANG | os.WNOWAIT | WALL):
            if seen.si_code in _ENDS:
                self._census.ended(seen.si_pid)
            else:
                self._census.stopped(seen.si_pid)
            tid, status, usage = os.wait4(seen.si_pid, os.WNOHANG | WALL)
            if tid == 0:
                continue  # it was killed out of its stop just now, and is not over yet
            if os.WIFSTOPPED(status):
                self._handle(tid, status)
                continue
            self._census.ended(tid)
            if tid in self.running:
                return tid, status, usage
        return 0, 0, None

    def _handle(self, tid: int, status: int) -> None:
        """Count what a stop tells, and let the task go on as if nobody had looked."""
        event, sent = status >> 16, os.WSTOPSIG(status)
        self._census.stopped(tid)
        if event in _NEW:
            child = self._ptrace.message(tid)
            if child:
                self._census.born(tid, child)
        elif event == EVENT_EXEC:
            program = _program(tid)
            self._census.executed(tid, self._ptrace.message(tid), program)
            if os.geteuid() != 0 and _gains_rights(tid):
                self._unprivileged.add(program["name"])
        elif event == EVENT_STOP and sent in STOPPING:
            self._ptrace.listen(tid)
            return
        self._ptrace.resume(tid, sent if event == 0 else 0)


def _become(argv: list[str], environ: dict[str, str], fds: tuple[int, int, int], held: int) -> None:
    """In the child: wait to be seized, then be the command. Never returns; the exit code is the errno of a failure."""
    code = 255
    try:
        if os.read(held, 1):
            os.setsid()
            for to, fd in enumerate(fds):
                os.dup2(fd, to)
            for number in IGNORED_HERE:
                signal.signal(number, signal.SIG_DFL)
            os.execve(argv[0], argv[1:], environ)
    except OSError as error:
        code = error.errno or code
    finally:
        os._exit(code)


def _group(tid: int) -> int:
    """The process that a task belongs to; itself where /proc does not say."""
    with contextlib.suppress(OSError), open(f"/proc/{tid}/status", "rb") as status:
        for line in status:
            if line.startswith(b"Tgid:"):
                return int(line.split()[1])
    return tid


def _program(pid: int) -> dict[str, Any]:
    """What ``pid`` has just become: the name it was started by, the file that runs, the script that this file reads."""
    executable, name, words = "", "", []
    with contextlib.suppress(OSError), open(f"/proc/{pid}/comm", "rb") as comm:
        name = _text(comm.read().removesuffix(b"\n"))
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as line:
        words = [_text(word) for word in line.read(1 << 16).split(b"\0", 3)[:3]]
    with contextlib.suppress(OSError):
        executable = _text(os.readlink(f"/proc/{pid}/exe".encode()))
    script = ""
    # comm is the first 15 bytes of the file that was executed: for a script its own, not its interpreter's.
    for place, word in enumerate((*words, executable)):
        base = word.rpartition("/")[2]
        if name and base.startswith(name):
            name = base
            script = word if place in (1, 2) and place < len(words) else ""
            break
    return {"name": name, "executable": executable, "script": script}


def _text(name: bytes) -> str:
    """A name that anyone could have chosen, fit for a terminal and for JSON."""
    return "".join(letter if letter.isprintable() else "?" for letter in name.decode("utf-8", "replace"))


def _gains_rights(pid: int) -> bool:
    """Whether the program that ``pid`` has become is setuid, setgid or has capabilities of its own."""
    file = f"/proc/{pid}/exe"
    try:
        mode = os.stat(file).st_mode
        return bool(mode & (stat.S_ISUID | stat.S_ISGID)) or bool(os.getxattr(file, "security.capability"))
    except OSError:
        return False  # no such attribute, or a file that we may not even read


def serve_traced() -> None:
    """Answer requests by traced runs until stdin closes."""
    serve(TracedLaunch)
