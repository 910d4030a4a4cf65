"""A new module, after the design ladder: does it need to exist, which event, which matcher, which literal."""

import difflib
import json
import tempfile
from pathlib import Path
from typing import NamedTuple

from overdeck.authoring.matrix import run_matrix
from overdeck.dispatch import clients, matchers
from overdeck.dispatch.manifest import ManifestError, read_manifest
from overdeck.dispatch.plan import MADE_BY_HAND
from overdeck.errors import OverdeckError, usage
from overdeck.files import write_atomically
from overdeck.paths import Places, shipped

LADDER = (
    "1. Does it need to exist? A settings permissions.deny rule or a git hook costs nothing per call.",
    "2. Only records, never answers? That is an observer; it needs no verdict.",
    "3. Which event is the last one early enough to act? --event",
    "4. Which is the narrowest matcher that still sees every trigger? --matcher",
    "5. Which word does every trigger contain? --literal WORD; the call then costs nothing without it. If there "
    "is none, say so: --always",
    "6. Gate (may deny), adviser (only advises), rewriter (changes the input), observer? --class",
)
"""The questions ``hooks new`` asks, cheapest answer first."""


class Design(NamedTuple):
    """The author's answers to the ladder; empty where not given."""

    id: str
    event: str
    matcher: str
    cls: str
    literals: tuple[str, ...]
    always: bool
    summary: str


class Made(NamedTuple):
    """What was written, and the ladder as it was answered."""

    files: list[Path]
    ladder: tuple[str, ...]


def scaffold(places: Places, design: Design) -> Made:
    """Write the three files of a module that passes its own matrix; raises OverdeckError (2), writing nothing.

    A user module is live at the next call, so it is built and tested beside the folder of modules first, and moved
    there only when its matrix passes.
    """
    _check(design)
    folder = places.user_modules / design.id
    if folder.exists() or shipped("modules", design.id).exists():
        raise usage(f"a module {design.id} exists already", hint=f"overdeck hooks show {design.id}")
    files = {
        "module.toml": _manifest(design),
        "module.py": _CODE[design.cls].format(summary=_in_docstring(design.summary), word=_word(design)),
        "matrix.jsonl": "".join(json.dumps(case) + "\n" for case in _cases(design)),
    }
    places.user_modules.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=places.config_dir) as scratch:
        draft = Path(scratch, design.id)
        for name, text in files.items():
            write_atomically(draft / name, text.encode())
        try:
            result = run_matrix(read_manifest(str(draft), user=True))
        except ManifestError as error:
            raise _not_written(design, error.reason) from None
        if not result.ok:
            raise _not_written(design, "; ".join(result.failures))
        draft.rename(folder)
    answers = (
        "it does: nothing cheaper was named",
        "it records only" if design.cls == "observer" else "it answers",
        design.event,
        design.matcher or "(the event has none)",
        " or ".join(design.literals) or "none: it runs on every matching call",
        design.cls,
    )
    ladder = tuple(f"{step}\n     → {answer}" for step, answer in zip(LADDER, answers, strict=True))
    return Made([folder / name for name in files], ladder)


def _not_written(design: Design, reason: str) -> OverdeckError:
    return usage(f"the module {design.id} was not written: {reason}", hint="overdeck hooks new --help")


def _in_docstring(summary: str) -> str:
    return " ".join(summary.split()).replace("\\", "\\\\").replace('"', '\\"')


def _check(design: Design) -> None:
    """What was given has to make sense before what is missing is asked for."""
    if not design.id or not set(design.id) <= set("abcdefghijklmnopqrstuvwxyz0123456789-"):
        raise usage(
            f"{design.id!r} cannot be an id: lower-case letters, digits and '-'",
            hint="overdeck hooks new no-deploys",
        )
    if design.literals and design.always:
        raise usage(
            "--literal and --always exclude each other: a literal is what lets a call be skipped",
            hint="leave one of them out",
        )
    if design.cls and design.cls not in MADE_BY_HAND:
        raise usage(
            f"--class {design.cls!r} is none of {', '.join(MADE_BY_HAND)}", hint="overdeck hooks new --help"
        )
    if design.event and design.event not in matchers.CLAUDE_EVENTS:
        near = difflib.get_close_matches(design.event, matchers.CLAUDE_EVENTS, n=1) or ["PreToolUse"]
        raise usage(f"--event {design.event!r} is not an event of Claude Code", hint=f"--event {near[0]}")
    if design.cls == "rewriter" and design.event not in ("", "PreToolUse"):
        raise usage("a rewriter changes a tool's input, so its event is PreToolUse", hint="--event PreToolUse")
    missing = [
        name
        for name, given in (
            ("--event", design.event),
            ("--class", design.cls),
            ("--summary", design.summary.strip()),
            ("--literal WORD or --always", design.literals or design.always),
            ("--matcher", design.matcher or not clients.subject_key(design.event)),
        )
        if not given
    ]
    if missing:
        ladder = "\n".join(f"  {step}" for step in LADDER)
        raise usage(
            f"the design of {design.id} is not finished: {', '.join(missing)} missing. The ladder:\n{ladder}",
            code="ladder-not-walked",
            hint=f"overdeck hooks new {design.id} --event PreToolUse --matcher Bash --literal deploy "
            '--class gate --summary "…"',
        )


def _word(design: Design) -> str:
    return design.literals[0] if design.literals else "deploy"


def _manifest(design: Design) -> str:
    lines = [
        f"id = {json.dumps(design.id)}",
        f"summary = {json.dumps(design.summary, ensure_ascii=False)}",
        f"class = {json.dumps(design.cls)}",
        "timeout_ms = 1000",
    ]
    if design.literals:
        lines.append(f"literals = {json.dumps(list(design.literals))}")
    matcher = design.matcher or "*"
    lines += ["", "[events]", f"{design.event} = {json.dumps(matcher)}", ""]
    return "\n".join(lines)


def _cases(design: Design) -> list[dict[str, object]]:
    word = _word(design)
    expect = {"gate": "deny", "adviser": "advise", "rewriter": "rewrite", "observer": "none"}[design.cls]
    if design.cls == "gate" and design.event in ("Stop", "SubagentStop"):
        expect = "keep_going"
    elif design.cls in ("gate", "adviser") and not _carries(design):
        expect = "tell"

    def payload(text: str) -> dict[str, object]:
        key = clients.subject_key(design.event)
        known = matchers.CLAUDE_TOOLS if key == "tool_name" else matchers.SOURCES
        subject = next((name for name in known if matchers.matches(design.matcher, name)), design.matcher)
        made: dict[str, object] = {"session_id": "matrix", "cwd": "/tmp", "hook_event_name": design.event}
        if key:
            made[key] = subject
        made["tool_input"] = {"command": text}
        return made

    return [
        {"name": "acts on its word", "payload": payload(f"please {word} it"), "expect": expect},
        {"name": "lets everything else pass", "payload": payload("ls"), "expect": "none"},
    ]


def _carries(design: Design) -> bool:
    """Whether the event can carry what this class says to the model."""
    if design.cls == "adviser":
        return design.event in clients.CONTEXT_EVENTS
    return design.event in ("PreToolUse", "PermissionRequest", *clients.DECISION_EVENTS)


_CODE = {
    "gate": '''"""{summary}"""

from overdeck.dispatch.module import Call, Verdict, deny


def evaluate(call: Call) -> Verdict | None:
    """Deny what must not happen; None lets it pass."""
    if "{word}" in str(call.input.get("command", "")):
        return deny("say why, and what to do instead")
    return None
''',
    "adviser": '''"""{summary}"""

from overdeck.dispatch.module import Call, Verdict, advise


def evaluate(call: Call) -> Verdict | None:
    """Advise where it helps; None says nothing."""
    if "{word}" in str(call.input.get("command", "")):
        return advise("say what the model should know")
    return None
''',
    "rewriter": '''"""{summary}"""

from overdeck.dispatch.module import Call, Verdict, rewrite


def evaluate(call: Call) -> Verdict | None:
    """Return the whole new input; None leaves it alone."""
    text = str(call.input.get("command", ""))
    if "{word}" in text:
        return rewrite({{**call.input, "command": text + " --dry-run"}})
    return None
''',
    "observer": '''"""{summary}"""

from overdeck.dispatch.module import Call


def evaluate(call: Call) -> None:
    """Record what is worth recording in call.state; an observer answers nothing."""
    with open(call.state + "/seen.log", "a") as log:
        log.write(call.event + "\\n")
''',
}
