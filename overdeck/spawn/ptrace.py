"""The five ptrace requests that counting needs, by ctypes (Linux; ptrace(2), ptrace.h).

Events only: a traced process stops when it forks, starts a thread, executes a program or gets a signal, and at no
system call. That is why the price is a few stops a process, not two a system call.
"""

import ctypes
import os
import signal

EVENT_FORK, EVENT_VFORK, EVENT_CLONE, EVENT_EXEC = 1, 2, 3, 4
EVENT_STOP = 128
"""A group-stop, or the first stop of a task that was attached by its parent's event."""

STOPPING = frozenset({signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU})
WALL = 0x40000000
"""For waitpid: children of every kind, threads and clones without SIGCHLD included."""

_CONT, _GETEVENTMSG, _SEIZE, _LISTEN = 7, 0x4201, 0x4206, 0x4208
_OPTIONS = sum(1 << event for event in (EVENT_FORK, EVENT_VFORK, EVENT_CLONE, EVENT_EXEC))
_EXITKILL = 0x100000
"""Nothing that is traced outlives its tracer, however that ends."""


class Ptrace:
    """The calls. All must come from the thread that seized; a task that is dying answers nothing, which is no error."""

    def __init__(self) -> None:
        self._call = ctypes.CDLL(None, use_errno=True).ptrace
        self._call.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        self._call.restype = ctypes.c_long

    def seize(self, pid: int) -> None:
        """Trace ``pid`` and all that it will start. OSError where the kernel refuses."""
        if self._call(_SEIZE, pid, None, _OPTIONS | _EXITKILL) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    def resume(self, tid: int, deliver: int = 0) -> None:
        """Let a stopped task go on, with the signal that it was stopped for."""
        self._call(_CONT, tid, None, deliver)

    def listen(self, tid: int) -> None:
        """Leave a task in its group-stop, as it would be without a tracer, until SIGCONT."""
        self._call(_LISTEN, tid, None, None)

    def message(self, tid: int) -> int:
        """What an event is about: the new task's id, or at an exec the id that the executing thread had before.

        0 where the task has died meanwhile.
        """
        value = ctypes.c_ulong()
        return value.value if self._call(_GETEVENTMSG, tid, None, ctypes.addressof(value)) == 0 else 0
