"""Keeps an agent from killing what a person works in: by a broad name, by user, all at once, or its own parents.

``pkill -f "vite --port 3000"`` names one program and passes; ``pkill node`` takes the client along. Looks at
``pkill``, ``killall``, ``kill``, ``fuser -k``, ``tmux`` and ``screen`` kills, ``loginctl``, and at pipes from
``pgrep``, ``pidof`` or ``ps | grep`` into ``kill``. Does not see whose process a number is, but for its own parents
(Linux; ``kill $(ps -o ppid= $$)``), numbers that ``xargs`` reads from plain text, and not kills made by other programs
(``python -c "os.kill(…)"``, ``gnome-session-quit``; ``docker kill`` and ``systemctl stop`` name what they stop).
"""

import posix

from overdeck.dispatch.kit.shell import Command, commands, pairs
from overdeck.dispatch.module import Call, Verdict, deny

_PKILL_WITH_ARGUMENT = "dgGPtuUsFr"
_SIGNALS = ("-s", "--signal", "-n")


def evaluate(call: Call) -> Verdict | None:
    """Deny the first kill that would take something of a person's along."""
    protected, allow = call.config["protected"], call.config["allow"]
    if not all(isinstance(names, list) and all(isinstance(n, str) for n in names) for names in (protected, allow)):
        raise ValueError("[modules.human-kill] protected and allow must be lists of strings")
    found = commands(str(call.input.get("command", "")))
    looked_up = [command for command in found if command.program in ("pgrep", "pidof", "grep", "ps")]
    for command in found:
        said = _takes_along(command, protected, allow)
        if not said and command.program == "kill" and not _harmless(command):
            said = _numbers(command) or _by_lookup(_sources(command, looked_up), protected, allow)
        if said:
            line = " ".join([command.program, *command.arguments])[:200].replace("\0", "$(…)")
            return deny(
                f"{line}: {said}. Kill the process you started, by its own number or its whole command line."
            )
    return None


def _takes_along(command: Command, protected: list[str], allow: list[str]) -> str:
    """What a kill by name would end, in words; empty when nothing of a person's."""
    words = command.arguments
    if command.program in ("pkill", "killall", "killall5", "skill"):
        if _harmless(command):
            return ""
        names, options, selects = _pattern(command)
        searches = command.program == "pkill" or "-r" in options or "--regexp" in options
        whole = "-x" in options or "--exact" in options or not searches
        if command.program == "killall5" or (not names and selects):
            return "this kills everything of a user, a group, a session or a terminal"
        caseless = {"-i", "-I", "--ignore-case"} & {*options}
        for name in names:
            if not name and command.program == "pkill":
                return "an empty pattern is in every name"
            taken = _taken(name.lower() if caseless else name, protected, whole)
            if taken and name not in allow:
                return f"the name also means {taken}, which a person may be working in"
    elif command.program == "fuser" and any(
        word[:1] == "-" and word[:2] != "--" and "k" in word for word in words
    ):
        if any(word in ("/", "/home", "/tmp", "/usr", "/var") for word in words) or "-m" in words:
            return "this kills everything that uses a file system"
        if any(word.rstrip("/") in (".", "..", "~", "$PWD", "$HOME", "${PWD}", "${HOME}") for word in words):
            return "this kills everything that stands in this folder, the session's own shell too"
    elif command.program == "tmux" and any(
        "kill-server".startswith(word)
        or (
            "kill-session".startswith(word)
            and any(w[:1] == "-" and "a" in w.partition("t")[0] for w in words[index + 1 :])
        )
        for index, word in enumerate(words)
        if word.startswith("kill-s")
    ):
        return "this ends terminals that a person may be working in"
    elif command.program == "screen" and words[-1:] == ["quit"] and "-S" not in words:
        return "this ends a terminal that a person may be working in"
    elif command.program == "loginctl" and words and words[0].startswith(("terminate-", "kill-")):
        return "this ends a person's login"
    return ""


def _pattern(command: Command) -> tuple[list[str], list[str], bool]:
    """The names a pkill or killall is given, its options, and whether it selects by user, group or terminal."""
    names: list[str] = []
    options: list[str] = []
    skip = selects = False
    for word in command.arguments:
        if skip:
            skip = False
        elif word[:2] == "--":
            options.append(word)
            selects |= word.startswith(
                ("--user", "--euid", "--uid", "--group", "--terminal", "--pgroup", "--session")
            )
        elif word[:1] == "-" and len(word) > 1:
            options += ["-" + letter for letter in word[1:]] if word[1:].islower() else [word]
            skip = len(word) == 2 and word[1] in (
                "osuyn" if command.program == "killall" else _PKILL_WITH_ARGUMENT
            )
            selects |= word[1] in "uUgGts" or (word[1] == "P" and _is_parents(command.arguments))
        else:
            names.append(word)
    return names, options, selects


def _is_parents(words: list[str]) -> bool:
    """Whether ``-P`` names the client or the system's first process: then all of a person's programs are children."""
    return any(
        word in ("-P1", "-P$PPID") or (word == "-P" and value in ("1", "$PPID", "${PPID}"))
        for word, value in pairs([*words, ""])
    )


def _taken(pattern: str, protected: list[str], whole: bool) -> str:
    """The first protected program that a name, or a pattern that pkill would search with, means; else empty."""
    if pattern in ("", "\0"):
        return ""
    for name in protected:
        if pattern.rpartition("/")[2] == name:
            return name
    if whole:
        return ""
    import re

    try:
        searched = re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return ""
    return next((name for name in protected if searched.search(name)), "")


def _harmless(command: Command) -> bool:
    """Whether it only asks: signal 0, a list, a version."""
    words = command.arguments
    asks = ("-0", "-l", "-L", "--list", "--help", "--version", "-V")
    return any(word in asks for word in words) or any(
        option in _SIGNALS and value == "0" and command.program != "pkill" for option, value in pairs(words)
    )


def _numbers(command: Command) -> str:
    """What the numbers of a kill mean beyond one process of the session's own; empty when nothing is known."""
    words = list(command.arguments)
    if words[:1] and words[0] in _SIGNALS:
        words = words[2:]
    elif words[:1] and words[0][:1] == "-" and words[0] != "--":
        words = words[1:]
    for word in words:
        if word in ("-1", "0"):
            return "this kills every process of the user, or the whole group"
        if word.removeprefix("-") in ("1", "$PPID", "${PPID}"):
            return "this kills the parent of the session: the client itself, or the system's first process"
        if word.removeprefix("-").isdigit() and int(word.removeprefix("-")) in _parents():
            return "this is the client that you run in, or a parent of it"
    return ""


def _parents() -> set[int]:
    """The processes above this one, without the first; empty where there is no /proc."""
    found: set[int] = set()
    pid = posix.getppid()
    while pid > 1 and pid not in found:
        found.add(pid)
        try:
            fd = posix.open(f"/proc/{pid}/stat", posix.O_RDONLY | posix.O_CLOEXEC)
        except OSError:
            break
        try:
            pid = int(posix.read(fd, 4096).rpartition(b") ")[2].split()[1])
        finally:
            posix.close(fd)
    return found


def _sources(command: Command, lookups: list[Command]) -> list[Command]:
    """The searches by name that a kill's numbers may come from: none where it names its numbers itself."""
    operands = [word for word in command.arguments if word[:1] != "-"]
    if not operands or any("\0" in word for word in operands):
        return lookups
    if any("$" in word for word in operands):
        return [lookup for lookup in lookups if lookup.program in ("pgrep", "pidof")]
    return []


def _by_lookup(lookups: list[Command], protected: list[str], allow: list[str]) -> str:
    """What a kill takes along whose numbers come from a search by name."""
    lists = any(command.program == "ps" for command in lookups)
    for command in lookups:
        if command.program == "ps" or (command.program == "grep" and not lists):
            continue
        for name in command.arguments:
            if name[:1] == "-" or name in allow:
                continue
            taken = _taken(name.replace("[", "").replace("]", ""), protected, command.program == "pidof")
            if taken:
                return f"it kills what {command.program} finds by {name}, which also means {taken}"
    return ""
