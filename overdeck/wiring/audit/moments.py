"""What a user does, the events that it fires in each client, and the handlers which those start."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from overdeck.dispatch.clients import TOOL_EVENTS
from overdeck.dispatch.matchers import CLAUDE_TOOLS, exact_names, is_exact, matches
from overdeck.wiring.clientpayloads import RECORDED
from overdeck.wiring.clients import named
from overdeck.wiring.job import Job, runnable
from overdeck.wiring.settings import Settings, handlers_for
from overdeck.wiring.sources import silenced


class Moment(NamedTuple):
    """One thing that happens in a session. ``calls`` are (event, subject): ``*`` where a subject says nothing."""

    name: str
    calls: tuple[tuple[str, str], ...]


BASH, WRITE, PROMPT, SESSION = "one Bash call", "one Write call", "one prompt", "session start and end"

MOMENTS: Mapping[str, tuple[Moment, ...]] = {
    "claude": (
        Moment(BASH, (("PreToolUse", "Bash"), ("PostToolUse", "Bash"), ("PostToolBatch", "*"))),
        Moment(WRITE, (("PreToolUse", "Write"), ("PostToolUse", "Write"), ("PostToolBatch", "*"))),
        Moment(PROMPT, (("UserPromptSubmit", "*"), ("Stop", "*"))),
        Moment(SESSION, (("SessionStart", "startup"), ("SessionEnd", "*"))),
    ),
    "codex": (
        Moment(BASH, (("PreToolUse", "Bash"), ("PostToolUse", "Bash"))),
        Moment(WRITE, (("PreToolUse", "apply_patch"), ("PostToolUse", "apply_patch"))),
        Moment(PROMPT, (("UserPromptSubmit", "*"), ("Stop", "*"))),
        Moment(SESSION, (("SessionStart", "startup"),)),
    ),
    "gemini": (
        Moment(BASH, (("BeforeTool", "run_shell_command"), ("AfterTool", "run_shell_command"))),
        Moment(WRITE, (("BeforeTool", "write_file"), ("AfterTool", "write_file"))),
        Moment(PROMPT, (("BeforeAgent", "*"), ("AfterAgent", "*"))),
        Moment(SESSION, (("SessionStart", "startup"), ("SessionEnd", "*"))),
    ),
}
"""The four that every report shows. Clients that are not here are reported event by event."""


def subjects_of_moments(client: str) -> dict[str, tuple[str, ...]]:
    """Event → subjects that the moments of a client ask about, even where nothing is configured."""
    found: dict[str, dict[str, None]] = {}
    for moment in MOMENTS.get(client, ()):
        for event, subject in moment.calls:
            found.setdefault(event, {})[subject] = None
    return {event: tuple(subjects) for event, subjects in found.items()}


def client_of(files: Sequence[Settings]) -> str:
    """Whose files these are; Claude Code's where there is none."""
    return files[0].client if files else "claude"


def by_client(files: Iterable[Settings]) -> dict[str, list[Settings]]:
    """The files of each client, Claude Code first, then in the order they came."""
    found: dict[str, list[Settings]] = {}
    for file in files:
        found.setdefault(file.client, []).append(file)
    return dict(sorted(found.items(), key=lambda item: item[0] != "claude"))


def heard(files: Iterable[Settings]) -> list[Settings]:
    """The files, those that a switch silences with every handler marked as dropped: nothing of them is started."""
    files = list(files)
    silent = silenced(files)
    return [
        replace(file, all_handlers=tuple(replace(handler, dropped=True) for handler in file.all_handlers))
        if file.path in silent
        else file
        for file in files
    ]


def jobs(files: Sequence[Settings]) -> list[Job]:
    """Every event and subject of one client worth a line, with the handlers it starts, in the client's order."""
    client = client_of(files)
    always = subjects_of_moments(client)
    listened = heard(files)
    events = dict.fromkeys([*always, *(event for file in files for event in file.events)])
    return [
        Job(event, subject, tuple(handlers_for(listened, event, subject)), client)
        for event in events
        for subject in _subjects(event, files, always)
    ]


def runnable_jobs(files: Sequence[Settings]) -> list[Job]:
    """The jobs in which a client of known payloads starts a program: what --measure lists, and what it runs."""
    return [
        job for client, own in by_client(files).items() if client in RECORDED for job in jobs(own) if runnable(job)
    ]


def dearer_tools(events: Mapping[str, Mapping[str, int]], usual: Sequence[str]) -> list[str]:
    """The tools for which more starts than for each of the ``usual`` ones; ``events`` is event → tool → starts."""
    starts: dict[str, int] = {}
    for event in ("PreToolUse", "PostToolUse"):
        for tool, count in events.get(event, {}).items():
            starts[tool] = starts.get(tool, 0) + count
    least = max((starts.get(tool, 0) for tool in usual), default=0)
    dear = [tool for tool in starts if tool not in usual and starts[tool] > least]
    return sorted(dear, key=lambda tool: -starts[tool])


def _subjects(event: str, files: Sequence[Settings], always: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """The tools an event is reported for: the usual two, and every one that a matcher singles out."""
    if client_of(files) == "claude" and event in always and event not in TOOL_EVENTS:
        yield from always[event]
        return
    if client_of(files) != "claude" or event not in TOOL_EVENTS:
        yield from _plain_subjects(event, files, always)
        return
    usual = always["PreToolUse"]
    yield from usual
    matchers = {handler.matcher for file in files for handler in file.all_handlers if handler.event == event}
    narrow = [matcher for matcher in sorted(matchers) if matcher not in ("", "*", ".*")]
    written = [name for matcher in narrow if is_exact(matcher) for name in exact_names(matcher)]
    # "Task" is the Agent tool under its old name, not one more tool
    others = [name for name in written if not any(matches(name, tool) for tool in CLAUDE_TOOLS)]
    for tool in [*CLAUDE_TOOLS, *dict.fromkeys(others)]:
        if (
            tool not in usual
            and any(matches(matcher, tool) for matcher in narrow)
            and not _matches_all(narrow, tool)
        ):
            yield tool


def _plain_subjects(event: str, files: Sequence[Settings], always: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """The subjects of the moments, and every plain word of a matcher that one of the matchers singles out."""
    usual = always.get(event, ())
    yield from usual
    client = named(client_of(files))
    if not client.subject_key(event):
        yield from () if usual else ("*",)
        return
    matchers = {handler.matcher for file in files for handler in file.all_handlers if handler.event == event}
    narrow = [matcher for matcher in sorted(matchers) if matcher not in ("", "*")]
    words = dict.fromkeys(word for matcher in narrow for word in re.findall(r"[A-Za-z_][\w-]*", matcher))
    others = [
        word
        for word in words
        if word not in usual and any(client.matches(matcher, word, event) for matcher in narrow)
    ]
    yield from others or (() if usual else ("*",))


def _matches_all(narrow: Sequence[str], tool: str) -> bool:
    """Whether only catch-all regexes match the tool: then it costs what any other tool does."""
    return all(
        matches(matcher, "Bash") and matches(matcher, "Write") for matcher in narrow if matches(matcher, tool)
    )
