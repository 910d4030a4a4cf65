"""The known burst that a counting backend must get right before it is believed: run as a file.

It starts what each wrong way of counting has missed: static programs, a double fork whose grandchild outlives its
parent, bare forks that live for microseconds, and threads, which are no processes. At its end it prints what it
started, itself included: ``PROCESSES PROGRAMS THREADS``.
"""

import _thread
import os
import struct
import sys
import time

FORKS, STATIC, THREADS = 3, 3, 4
_EXIT = {
    # exit_group(0), and nothing else
    "x86_64": (62, b"\xb8\xe7\x00\x00\x00\x31\xff\x0f\x05"),
    "aarch64": (183, b"\xc8\x0b\x80\xd2\x00\x00\x80\xd2\x01\x00\x00\xd4"),
}


def static_program(machine: str) -> str | None:
    """The path of a static ELF program of 132 bytes that only exits, in memory; None for other processors."""
    if machine not in _EXIT:
        return None
    number, code = _EXIT[machine]
    base, size = 0x400000, 64 + 56 + len(_EXIT[machine][1])
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 2, number, 1, base + 120, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, base, base, size, size, 0x1000)
    file = os.memfd_create("static")
    os.write(file, head + segment + code)
    return f"/proc/self/fd/{file}"


def main() -> None:
    """Start them all, wait for those that are waited for, and say how many."""
    processes = programs = 1
    for _ in range(FORKS):
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
        processes += 1

    program = static_program(os.uname().machine)
    if program:
        for _ in range(STATIC):
            try:
                os.waitpid(os.posix_spawn(program, ["static"], {}), 0)
            except OSError:  # a system that executes nothing from memory
                program = None
                processes += 1
                break
            processes += 1
            programs += 1

    parent = os.fork()
    if parent == 0:
        mine = os.getpid()
        if os.fork() == 0:
            while os.getppid() == mine:
                time.sleep(0.0005)  # nothing tells a child that its parent is gone; the burst is over in moments
            if program:
                os.execv(program, ["static"])
        os._exit(0)
    os.waitpid(parent, 0)
    processes += 2
    programs += bool(program)

    ended = [_thread.allocate_lock() for _ in range(THREADS)]
    for lock in ended:
        lock.acquire()
        _thread.start_new_thread(lock.release, ())
    for lock in ended:
        lock.acquire()
    sys.stdout.write(f"{processes} {programs} {THREADS}\n")


if __name__ == "__main__":
    main()
