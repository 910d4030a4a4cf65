"""What the starts of a run say about how it could start less."""

from collections import Counter
from collections.abc import Iterator, Sequence

from overdeck.spawn.tracer import Process, Program, Trace

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish"})
MANAGERS = frozenset(
    {"pyenv", "rbenv", "nodenv", "goenv", "jenv", "plenv", "phpenv", "asdf", "mise", "rtx", "volta-shim", "fnm"}
)
_SHIMS = "/shims/"


def hints(trace: Trace) -> Iterator[str]:
    """Sentences to act on: version managers' shims, the dearest first, shells that only wrap, subshells."""
    total = len(trace.processes)
    behind_shims: set[int] = set()
    shims: Counter[tuple[str, str, str]] = Counter()
    for number, process in enumerate(trace.processes):
        manager = _manager(process.programs)
        if number in behind_shims or not manager:
            continue
        final = process.programs[-1]
        if final.name not in MANAGERS | SHELLS:
            inside = _descendants(trace.processes, number)
            behind_shims |= inside
            shims[final.name, manager, final.executable] += sum(child < final.before for child in inside)
    for (name, manager, executable), before in shims.most_common():
        yield (
            f"{before} of {total} starts are before {name}: a version manager's shim ({manager}); "
            f"name the interpreter absolutely: {executable or name}"
        )
    wrappers = [
        number
        for number, process in enumerate(trace.processes)
        if number not in behind_shims and _only_wraps(trace.processes, number, process)
    ]
    if wrappers:
        yield (
            f"{len(wrappers)} of {total} starts {'is a shell' if len(wrappers) == 1 else 'are shells'} around a single "
            "program: let the shell exec it, or name the program without a shell"
        )
    subshells = [
        number
        for number, process in enumerate(trace.processes)
        if number not in behind_shims
        and not process.programs
        and process.parent is not None
        and _shell(trace.processes, process.parent)
    ]
    if subshells:
        yield (
            f"{len(subshells)} of {total} starts {'is a subshell' if len(subshells) == 1 else 'are subshells'} that "
            "ran no program: $(…), (…) and parts of pipes; builtins and here-documents start nothing"
        )


def _manager(programs: Sequence[Program]) -> str:
    """The version manager that one of a process's programs belongs to."""
    for program in programs:
        if program.name in MANAGERS:
            return program.name
    for program in programs:
        if _SHIMS in program.script or _SHIMS in program.executable:
            return "shims"
    return ""


def _descendants(processes: Sequence[Process], ancestor: int) -> set[int]:
    found = {ancestor}
    for number, process in enumerate(processes):
        if process.parent in found:
            found.add(number)
    return found - {ancestor}


def _shell(processes: Sequence[Process], number: int | None) -> bool:
    """Whether a process runs a shell: its own last program, or that of the process it is a fork of."""
    while number is not None and not processes[number].programs:
        number = processes[number].parent
    return number is not None and _runs_shell(processes[number].programs[-1])


def _runs_shell(program: Program) -> bool:
    return program.executable.rpartition("/")[2] in SHELLS or program.name in SHELLS


def _only_wraps(processes: Sequence[Process], number: int, process: Process) -> bool:
    """A command of the run that is ``sh -c PROGRAM``: no script, one child, which became a program."""
    if process.parent is not None or not process.programs or process.programs[-1].script:
        return False
    children = [other for other in processes if other.parent == number]
    return _runs_shell(process.programs[-1]) and len(children) == 1 and bool(children[0].programs)
