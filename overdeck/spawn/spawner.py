"""The small process that starts what is measured: one JSON request a line in, one JSON answer a line out.

It is run as a file by ``python -I -S``, never imported by the parent, for two reasons. ``ru_maxrss`` of a
child starts at its spawner's own size (a tiny program started by a 400 MB parent reports 420 MB: measured),
so the spawner must be small and say how small. And it becomes subreaper on Linux, so that orphans of a hook
land here, are counted, and are gone before the next run; on macOS only the hook's process group is.

A run ends as it ends for a coding-agent client: when every command has exited *and* closed stdout and stderr,
those apart that the client does not wait for. A command past its own timeout is ended as the client ends it.

One file, however long: nothing but the standard library can be imported here without making the floor higher.
"""

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import sys
import time
from _blake2 import blake2b  # hashlib would load OpenSSL: 3.7 MB more on the floor of every ru_maxrss
from typing import Any

CHUNK = 1 << 16
LINGER_NS = 250_000_000
"""How long orphans may finish, off the clock, before they are killed."""
BACKGROUND_NS = 5_000_000_000
"""How long commands that nobody waits for may run on, off the clock: their CPU time is counted as well."""
TERM_TO_KILL_NS = 1_500_000_000
"""Between the client's SIGTERM to a command past its timeout and its SIGKILL (contract/FACTS.md, 1)."""
REAP_LIMIT_NS = 5_000_000_000
"""After SIGKILL: a process that is still there now is stuck in the kernel, and we say so."""
HEAD_BYTES = 400
"""How much of stdout and stderr travels back, to name a difference or an error."""

IGNORED_HERE = (signal.SIGPIPE, signal.SIGXFSZ)
"""What Python ignores, and a hook should not."""

_PR_SET_CHILD_SUBREAPER = 36
_RSS_UNIT = 1 if sys.platform != "darwin" else 1024  # kB on Linux, bytes on macOS


class Tally:
    """What the kernel says about the processes of one run, summed as they are reaped."""

    def __init__(self) -> None:
        self.user_us = self.system_us = self.rss_kb = 0
        self.voluntary = self.involuntary = self.minor_faults = self.major_faults = 0

    def add(self, usage: Any) -> None:
        self.user_us += round(usage.ru_utime * 1e6)
        self.system_us += round(usage.ru_stime * 1e6)
        self.rss_kb = max(self.rss_kb, usage.ru_maxrss // _RSS_UNIT)
        self.voluntary += usage.ru_nvcsw
        self.involuntary += usage.ru_nivcsw
        self.minor_faults += usage.ru_minflt
        self.major_faults += usage.ru_majflt


class Output:
    """One output stream being drained: its hash, its length, and its first bytes."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.hash = blake2b(digest_size=16)
        self.length = 0
        self.head = b""
        self.open = True

    def drain(self) -> None:
        """Take what is there; closes at end of file."""
        piece = os.read(self.fd, CHUNK)
        if not piece:
            self.close()
            return
        self.hash.update(piece)
        self.length += len(piece)
        if len(self.head) < HEAD_BYTES:
            self.head += piece[: HEAD_BYTES - len(self.head)]

    def asks_for_background(self) -> bool:
        """Whether the first line is ``{"async":true}``, with which a hook tells the client not to wait for it."""
        if b'"async"' not in self.head:
            return False
        try:
            said = json.loads(self.head.split(b"\n", 1)[0])
        except ValueError:
            return False
        return isinstance(said, dict) and said.get("async") is True

    def close(self) -> None:
        if self.open:
            self.open = False
            os.close(self.fd)


class Input:
    """The payload on its way into one command's stdin; a reader that leaves early is no error.

    It is read from its file a piece at a time: held whole, 20 MB would be 20 MB on the floor of every ru_maxrss.
    """

    def __init__(self, fd: int, payload: int) -> None:
        self.fd = fd
        self.payload = payload
        self.offset = 0
        self.piece = b""
        self.open = True
        os.set_blocking(fd, False)
        self.feed()

    def feed(self) -> None:
        """Write what fits; closes when all is written or nobody reads."""
        try:
            while self.piece or self._more():
                self.piece = self.piece[os.write(self.fd, self.piece) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            pass
        self.close()

    def _more(self) -> bool:
        self.piece = os.pread(self.payload, CHUNK, self.offset)
        self.offset += len(self.piece)
        return bool(self.piece)

    def close(self) -> None:
        if self.open:
            self.open = False
            os.close(self.fd)


class Abandoned(Exception):
    """The parent is gone: kill what runs, and leave."""


class Launch:
    """The commands of one run, from before their spawn until nothing of them is left."""

    def __init__(self, request: dict[str, Any], payload: int, wake: int) -> None:
        self.commands: list[list[str]] = request["commands"]
        self.environ: dict[str, str] = request["environ"]
        self.timeout_ns: int = request["timeout_ns"]
        self.limits_ns: list[int | None] = request["limits_ns"]
        self.background: list[bool] = request["background"]
        self.payload = payload
        self.wake = wake
        self.running: dict[int, int] = {}  # pid → index of its command
        self.exits: list[int | None] = [None] * len(self.commands)
        self.outputs: list[Output] = []
        self.errors: list[Output] = []
        self.inputs: list[Input] = []
        self.tally = Tally()
        self.orphans = self.killed = 0
        self.failed: str = request.get("failed", "")
        self.begin = self.due = 0  # ``due``: when a command's own timeout has to be looked at next
        self.kill_at: dict[int, int] = {}  # pid → when SIGKILL follows the SIGTERM it got at its timeout
        self.expired: set[int] = set()
        self.cut: list[int] = []
        self.asked: set[int] = set()

    def run(self) -> dict[str, Any]:
        ends: list[tuple[int, int, int]] = []
        for _ in self.commands:
            stdin, fed = os.pipe()
            # The payload is in the pipe before the clock starts, as far as the pipe holds it.
            self.inputs.append(Input(fed, self.payload))
            out, stdout = os.pipe()
            self.outputs.append(Output(out))
            err, stderr = os.pipe()
            self.errors.append(Output(err))
            ends.append((stdin, stdout, stderr))
        self.begin = begin = time.perf_counter_ns()
        try:
            self._spawn(ends)
            timed_out = not self.failed and not self._wait(begin + self.timeout_ns)
            end = time.perf_counter_ns()
            if self.running and not timed_out and not self.failed:
                self._wait(end + BACKGROUND_NS, background=True)
                self.cut = sorted(self.running.values())
        finally:
            for feed in self.inputs:
                feed.close()
            for drain in (*self.outputs, *self.errors):
                drain.close()
            self._sweep(at_once=bool(self.running) or bool(self.failed))
        heard = [
            stream
            for index, stream in enumerate(self.outputs)
            if not self.background[index] and index not in self.expired  # the client throws theirs away
        ]
        return {
            "failed": self.failed,
            "timed_out": timed_out,
            "wall_ns": end - begin,
            "exits": [None if index in self.cut else code for index, code in enumerate(self.exits)],
            "expired": sorted(self.expired),
            "cut": self.cut,
            "asked": sorted(self.asked),
            "stdout_hash": "".join(stream.hash.hexdigest() for stream in heard if stream.length),
            "stdout_bytes": sum(stream.length for stream in heard),
            "stdout_head": b"".join(stream.head for stream in heard)[:HEAD_BYTES].decode("utf-8", "replace"),
            "stderr_head": b"".join(stream.head for stream in self.errors)[:HEAD_BYTES].decode("utf-8", "replace"),
            "orphans": self.orphans,
            "killed": self.killed,
            "floor_kb": _floor_kb(),
            **self.tally.__dict__,
        }

    def _spawn(self, ends: list[tuple[int, int, int]]) -> None:
        for index, (argv, (stdin, stdout, stderr)) in enumerate(zip(self.commands, ends, strict=True)):
            if not self.failed:
                try:
                    pid = self._start(argv, (stdin, stdout, stderr))
                except OSError as error:
                    self.failed = f"{argv[0]}: {error.strerror}"
                else:
                    self.running[pid] = index
            for fd in (stdin, stdout, stderr):
                os.close(fd)

    def _start(self, argv: list[str], fds: tuple[int, int, int]) -> int:
        """Start one command with ``fds`` as its stdin, stdout and stderr; OSError where its program does not start."""
        return os.posix_spawn(
            argv[0],
            argv[1:],
            self.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, fd, to) for to, fd in enumerate(fds)],
            setsid=True,  # as a client starts a hook: its own session and group
            setsigdef=IGNORED_HERE,
        )

    def _next_end(self) -> tuple[int, int, Any]:
        """A child that has ended, its wait status and rusage; pid 0 while none has. ChildProcessError: none is left."""
        return os.wait4(-1, os.WNOHANG)

    def _wait(self, deadline: int, *, background: bool = False) -> bool:
        """Feed, drain and reap until all that is waited for is over; False at the deadline.

        With ``background`` until the others have exited as well.
        """
        poll = select.poll()
        streams: dict[int, Input | Output] = {}
        for feed in self.inputs:
            if feed.open:
                streams[feed.fd] = feed
                poll.register(feed.fd, select.POLLOUT)
        for drain in (*self.outputs, *self.errors):
            if drain.open:
                streams[drain.fd] = drain
                poll.register(drain.fd, select.POLLIN)
        poll.register(self.wake, select.POLLIN)
        poll.register(0, 0)  # POLLHUP alone: the parent is gone
        while self.running if background else self._waited_for():
            now = time.perf_counter_ns()
            if now >= self.due:
                self._enforce(now)
            left_ms = (min(deadline, self.due) - now) // 1_000_000
            if now > deadline:
                return False
            for fd, what in poll.poll(max(left_ms, 0) + 1):
                if fd == self.wake:
                    os.read(self.wake, CHUNK)
                    self._reap()
                elif fd == 0:
                    if what & (select.POLLHUP | select.POLLERR | select.POLLNVAL):
                        raise Abandoned
                else:
                    stream = streams[fd]
                    if isinstance(stream, Input):
                        stream.feed()
                    else:
                        stream.drain()
                        if stream in self.outputs and stream.asks_for_background():
                            self._put_in_background(self.outputs.index(stream))
                    if not stream.open:
                        poll.unregister(fd)
        return True

    def _put_in_background(self, index: int) -> None:
        if not self.background[index]:
            self.asked.add(index)
        self.background[index] = True

    def _waited_for(self) -> bool:
        """Whether a command that the client waits for still runs, or still holds stdout or stderr open."""
        running = self.running.values()
        return any(
            out.open or err.open or index in running
            for index, (out, err) in enumerate(zip(self.outputs, self.errors, strict=True))
            if not self.background[index]
        )

    def _enforce(self, now: int) -> None:
        """End what is past its own timeout as the client does: SIGTERM to its tree, later SIGKILL.

        Only while the command itself runs: a child that outlives it and holds stdout is waited for without end.
        """
        self._reap()
        self.due = now + self.timeout_ns
        for pid, index in self.running.items():
            limit = self.limits_ns[index]
            if limit is None:
                continue
            at = self.kill_at.get(pid, self.begin + limit)
            if now >= at:
                known = pid in self.kill_at
                for member in _tree(pid):
                    _kill(os.kill, member, signal.SIGKILL if known else signal.SIGTERM)
                self.expired.add(index)
                self.kill_at[pid] = at = now + TERM_TO_KILL_NS
            self.due = min(self.due, at)

    def _reap(self) -> bool:
        """Reap every child that has ended; False when no child is left at all."""
        while True:
            try:
                pid, status, usage = self._next_end()
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            self.tally.add(usage)
            index = self.running.pop(pid, None)
            if index is None:
                self.orphans += 1
            else:
                self.exits[index] = os.waitstatus_to_exitcode(status)

    def _sweep(self, *, at_once: bool) -> None:
        """Leave nothing behind: orphans may linger a moment (unless ``at_once``), then everything is killed."""
        kill_at = time.perf_counter_ns() + (0 if at_once else LINGER_NS)
        give_up = kill_at + REAP_LIMIT_NS
        poll = select.poll()
        poll.register(self.wake, select.POLLIN)
        hit: set[int] = set()
        while self._reap():
            now = time.perf_counter_ns()
            if now >= give_up:
                return
            if now >= kill_at:
                for pid in self.running:
                    # Not reaped, so the group id is still theirs.
                    _kill(os.killpg, pid, signal.SIGKILL)
                for pid in _children(os.getpid()):
                    _kill(os.kill, pid, signal.SIGKILL)
                    if pid not in self.running and pid not in hit:
                        self.killed += 1
                    hit.add(pid)
            if poll.poll(2 if now >= kill_at else (kill_at - now) // 1_000_000 + 1):
                os.read(self.wake, CHUNK)


def _kill(how: Any, pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        how(pid, number)


def _floor_kb() -> int:
    """The size this process has reached: what every child's ru_maxrss starts from.

    Not our own ru_maxrss, which in turn starts from the size of the parent that started us.
    """
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
    except (FileNotFoundError, StopIteration):
        return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) // _RSS_UNIT


def _tree(root: int) -> list[int]:
    """A process and its descendants that still have their parents, the deepest first.

    Where the kernel lists no children (macOS), the process alone.
    """
    return [*(member for child in _children(root) for member in _tree(child)), root]


def _children(pid: int) -> list[int]:
    """A process's children (of this process, on Linux, adopted orphans as well)."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children") as listing:
                found += map(int, listing.read().split())
    except (FileNotFoundError, ProcessLookupError):
        pass
    return found


def serve(launch: type[Launch]) -> None:
    """Answer requests until stdin closes, each by one ``launch``."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            os.chdir(request["cwd"])
            payload = os.open(request["payload"], os.O_RDONLY)
        except OSError as error:
            request["failed"] = f"{error.filename}: {error.strerror}"
            payload = os.open("/dev/null", os.O_RDONLY)
        try:
            answer = launch(request, payload, wake).run()
        except Abandoned:
            return
        finally:
            os.close(payload)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve(Launch)
