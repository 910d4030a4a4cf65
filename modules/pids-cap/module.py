"""Keeps one command from starting processes without bound: ``make -j``, ``xargs -P 0``, ``parallel -j 0``, ``pytest
-n 500``.

Near the process limit of the cgroup that it runs in (Linux, version 2), commands that start many processes are
refused whatever their number says: what dies then is whoever starts the next process, not who started too many. Does
not see loops with ``&``, programs that fork by themselves, and fork bombs: they hold no word to look for, and
looking at every command would cost a Python a call.
"""

import posix

from overdeck.dispatch.kit.shell import Command, commands
from overdeck.dispatch.module import Call, Verdict, deny

_OPTIONS = {
    # program: (its options for a number of processes; what the option means without a number, 0 = no bound)
    "make": (("-j", "--jobs"), 0),
    "gmake": (("-j", "--jobs"), 0),
    "ninja": (("-j",), None),
    "xargs": (("-P", "--max-procs"), None),
    "parallel": (("-j", "--jobs", "-P", "--max-procs"), None),
    "pytest": (("-n", "--numprocesses"), None),
    "py.test": (("-n", "--numprocesses"), None),
    "cargo": (("-j", "--jobs"), None),
    "bazel": (("-j", "--jobs"), None),
    "ctest": (("-j", "--parallel"), None),
    "cmake": (("-j", "--parallel"), None),
    "stress": (("-c", "--cpu", "-m", "--vm", "-i", "--io", "-d", "--hdd"), None),
    "stress-ng": (("-c", "--cpu", "-m", "--vm", "--fork"), None),
}
_ZERO_IS_NO_BOUND = ("make", "gmake", "ninja", "xargs", "parallel")


def evaluate(call: Call) -> Verdict | None:
    """Deny a command that asks for too many processes, or for many when there is little room left."""
    cap, near = call.config["jobs"], call.config["near_percent"]
    text = call.input.get("command")
    if not isinstance(text, str):
        return None
    for command in commands(text):
        program = _tool(command)
        if program not in _OPTIONS:
            continue
        asked = _asked(program, command.arguments)
        if asked is None:
            continue
        processors = (
            len(posix.sched_getaffinity(0)) if hasattr(posix, "sched_getaffinity") else posix.cpu_count() or 4
        )
        most = cap or max(32, 8 * processors)
        if asked == 0 or asked > most:
            number = "a process for each thing to do, all at once" if asked == 0 else f"{asked} processes at once"
            option = _OPTIONS[program][0][0]
            return deny(f"{program} would start {number} (limit {most}): give a number, {option} {processors}")
        used, limit = _room()
        if limit and asked > 1 and used * 100 >= limit * near:
            return deny(
                f"{used} of {limit} processes are in use here: {program} with {asked} at once could end other people's "
                "commands. Wait, or run it with one"
            )
    return None


def _tool(command: Command) -> str:
    """The program, also where it is given as ``python -m pytest``."""
    words = command.arguments
    if command.program.startswith("python") and words[:1] == ["-m"]:
        return words[1] if len(words) > 1 else ""
    return command.program


def _asked(program: str, words: list[str]) -> int | None:
    """How many processes the options ask for: 0 for no bound, None for nothing said or nothing known."""
    names, bare = _OPTIONS[program]
    asked = None
    for index, word in enumerate(words):
        if word == "--":
            break
        for name in names:
            if word == name:
                value = words[index + 1] if index + 1 < len(words) else ""
                asked = int(value) if value.isdigit() else bare if "\0" not in value and value[:1] != "$" else None
            elif word.startswith(name + "=") or (name[:2] != "--" and word.startswith(name)):
                value = word[len(name) :].removeprefix("=")
                asked = int(value) if value.isdigit() else None
    if asked == 0 and program not in _ZERO_IS_NO_BOUND:
        return None
    return asked


def _room() -> tuple[int, int]:
    """(processes in use, the limit) of the nearest cgroup with a limit; (0, 0) where none has one or it is not v2."""
    group = next((line[3:] for line in _read("/proc/self/cgroup").split("\n") if line.startswith("0::")), "")
    while group.strip("/"):
        limit = _read(f"/sys/fs/cgroup{group}/pids.max").strip()
        if limit.isdigit():
            used = _read(f"/sys/fs/cgroup{group}/pids.current").strip()
            return (int(used), int(limit)) if used.isdigit() else (0, 0)
        group = group.rpartition("/")[0]
    return 0, 0


def _read(path: str) -> str:
    try:
        fd = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return posix.read(fd, 1 << 16).decode("utf-8", "replace")
    finally:
        posix.close(fd)
