"""Who is alive, and how big: the process table as psutil reads it, without what command lines may hold."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

CLIENTS = ("claude", "codex", "gemini", "opencode")
FRONT = "overdeck-hook"

GENERATIONS = 4
"""So many processes of one name from one parent, one after the other in one window, are a poll."""


class Process(NamedTuple):
    """One process. ``script`` is the file name of what an interpreter runs; no other argument is kept."""

    pid: int
    parent: int
    name: str
    script: str
    started: float
    """Seconds since the epoch."""
    threads: int
    rss: int
    """Bytes."""
    zombie: bool
    hook: str = ""
    """The hook that its command line is of, in the words of who asked ``table``; empty where it is of none."""

    @property
    def shown(self) -> str:
        return f"{self.name} {self.script}".rstrip()

    @property
    def client(self) -> bool:
        """Whether it is a coding agent's client, by its name or by its script's."""
        return self.name in CLIENTS or PurePath(self.script).stem in CLIENTS


class Poll(NamedTuple):
    """A parent that started the same program again and again."""

    parent: str
    program: str
    times: int


def table(hook_of: Callable[[Sequence[str]], str] = lambda _words: "") -> list[Process]:
    """Every process that may be looked at; one that ends meanwhile, or of which the kernel's files say what no kernel
    says, is left out; all are where there is no /proc.

    ``hook_of`` is shown each command line, which is not kept, and says which hook it is of.
    """
    import psutil

    names = ["pid", "ppid", "name", "cmdline", "create_time", "num_threads", "memory_info", "status"]
    found = []
    try:
        infos = [process.info for process in psutil.process_iter(names)]
    except Exception:  # psutil lets out whatever its reading of a file meets: IndexError, ValueError, RuntimeError
        infos = list(_one_by_one(names))
    for info in infos:
        memory, words = info["memory_info"], info["cmdline"] or ()
        found.append(
            Process(
                info["pid"],
                info["ppid"] or 0,
                info["name"] or "",
                _script(words),
                info["create_time"] or 0.0,
                info["num_threads"] or 0,
                memory.rss if memory is not None else 0,
                info["status"] == psutil.STATUS_ZOMBIE,
                hook_of(words) if words else "",
            )
        )
    return found


def _one_by_one(names: list[str]) -> Iterator[dict[str, Any]]:
    """What the kernel's files say, without the processes of which they say nothing that can be read."""
    import psutil

    try:
        pids = psutil.pids()
    except Exception:
        return
    for pid in pids:
        try:
            yield psutil.Process(pid).as_dict(names)
        except Exception:
            continue


def polls(samples: Sequence[Iterable[Process]]) -> list[Poll]:
    """Which parents started one program ``GENERATIONS`` times or more, never two at once, while they were watched.

    Workers that run side by side are no poll, however many they are.
    """
    pids: dict[tuple[int, str], set[int]] = defaultdict(set)
    crowded: set[tuple[int, str]] = set()
    names: dict[int, str] = {}
    for sample in samples:
        alive: dict[tuple[int, str], int] = defaultdict(int)
        for process in sample:
            names[process.pid] = process.shown
            if not process.zombie:
                key = (process.parent, process.shown)
                pids[key].add(process.pid)
                alive[key] += 1
        crowded |= {key for key, count in alive.items() if count > 1}
    return [
        Poll(names.get(parent, f"process {parent}"), program, len(found))
        for (parent, program), found in pids.items()
        if len(found) >= GENERATIONS and (parent, program) not in crowded
    ]


def _script(words: Sequence[str]) -> str:
    """The name of the file in ``python3 -I /a/b.py``; empty for a program that is no interpreter, and for options."""
    first = script_path(words)
    options = words[1 : words.index(first)] if first else ()
    if any(word in {"-e", "--eval", "-p"} or (word[:2] != "--" and word.endswith("c")) for word in options):
        return ""  # code, not a file: what stands behind its last slash may be anybody's secret
    return PurePath(first).name if "/" in first or PurePath(first).suffix in {".py", ".js", ".mjs", ".sh"} else ""


def script_path(words: Sequence[str]) -> str:
    """The first word that is no option behind an interpreter: its script, or what ``-c`` runs; else empty."""
    if not words or not PurePath(words[0]).name.startswith(
        ("python", "node", "bun", "bash", "sh", "ruby", "perl")
    ):
        return ""
    return next((word for word in words[1:] if not word.startswith("-")), "")
