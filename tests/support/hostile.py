"""Modules that do what a module should not, and what is left of them."""

import os
import signal
import time
from pathlib import Path

HOSTILE = {
    "crash": "raise ValueError('x' * 10_000)",
    "sys.exit": "import sys; sys.exit(3)",
    "os._exit": "import os; os._exit(0)",
    "segfault": "import ctypes; ctypes.string_at(0)",
    "endless loop": "while True: pass",
    "deaf to SIGTERM": "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)",
    "stopped": "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    "much output": "import sys\nwhile True: sys.stdout.write('x' * 100_000)",
    "prints to stdout": "print('{\"continue\": false}', flush=True)\nreturn None",
    "writes to fd 1 and 2": "import os; os.write(1, b'junk'); os.write(2, b'junk'); return None",
    "closes every descriptor": "import os; os.closerange(0, 100)",
    "forges a verdict": 'import os; os.write(3, b\'{"kind":"allow"}\\n\'); os._exit(0)',
    "floods the verdict pipe": "import os\nwhile True: os.write(3, b'x' * 100_000)",
    "recursion": "return call.config and None or (lambda f: f(f))(lambda f: f(f))",
    "grandchild holds its pipes": "import subprocess; subprocess.Popen(['sleep', '30']); return None",
    "daemonised grandchild": (
        "import subprocess; subprocess.Popen(['sh', '-c', '(setsid sleep 31 &) ; exit 0']).wait(); return None"
    ),
    "forks children": "import os, time\nfor _ in range(20):\n    if os.fork() == 0: time.sleep(30)\nreturn None",
    "changes its copy of everything": "call.input.clear(); call.payload.clear(); __import__('os').chdir('/')",
}
SPARES = (
    "prints to stdout",
    "writes to fd 1 and 2",
    "grandchild holds its pipes",
    "daemonised grandchild",
    "forks children",
    "changes its copy of everything",
)

STARTED = {
    "past the deadline": "import subprocess; subprocess.run(['sleep', '305.25'], start_new_session=True)",
    "in a thread": (
        "import subprocess, threading, time\n"
        "start = lambda: subprocess.run(['sleep', '305.25'], start_new_session=True)\n"
        "threading.Thread(target=start, daemon=True).start()\ntime.sleep(0.2)\nreturn None"
    ),
}


def survivors(mark: str) -> list[int]:
    """Pids of ``sleep MARK`` processes that were still alive two seconds on, for a kill takes a moment to arrive.

    They are killed now: a test that fails leaves nothing behind.
    """
    deadline = time.monotonic() + 2
    while (alive := sleeping(mark)) and time.monotonic() < deadline:
        time.sleep(0.02)  # a poll: ended as soon as none is left
    for pid in alive:
        os.kill(pid, signal.SIGKILL)
    return alive


def sleeping(mark: str) -> list[int]:
    """Pids of live ``sleep MARK`` processes."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                argv = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if argv[:2] == [b"sleep", mark.encode()]:
                found.append(int(entry.name))
    return found
