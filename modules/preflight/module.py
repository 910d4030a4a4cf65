"""Looks at the start of a session whether what guards it would start, and says nothing where it would.

Three looks. Launcher: the programs and scripts that the hooks of the settings name (dispatch/kit/hooklaunchers.py).
Liveness: the front, started as the client starts it, with a call that a gate must refuse; the alarm is that it passes.
Stage: what a project still lacks on its way (its ledger, files that the config names) with the next command: whoever
is not there yet has done nothing wrong, so a stage is never called broken.

It cannot say that the very launcher it was started by is gone: `overdeck doctor`, and a warning of every command, can.
In other clients it has the stages only. It does not see hooks of plugins and of the administrator, settings that
CLAUDE_CONFIG_DIR moved, shell lines that are more than words; a gate whose rules the owner has changed is not tried.
"""

import os

from overdeck.dispatch import jsontext
from overdeck.dispatch.kit import hooklaunchers
from overdeck.dispatch.kit.upwards import work_trees
from overdeck.dispatch.module import Call, Verdict, advise
from overdeck.dispatch.plan import PlanError, parse, read_plan, trusted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from overdeck.dispatch.plan import Module

SESSION = "overdeck-preflight"  # sessions that begin so are ours, and count for nothing
PATIENCE_S = 3.5
MARK = "--by-overdeck"
TRIED = 3
SHOWN = 5
LAST = "Seen once, when the session began: it may have been mended since. All of it: overdeck doctor"


def evaluate(call: Call) -> Verdict | None:
    """Advise where something is broken, or a stage is not reached."""
    top = next(work_trees(call.cwd), "")
    home = os.environ.get("HOME", "")
    settings = f"{home}/.claude/settings.json" if home and call.client == "claude" else ""
    broken = list(_launchers(settings, top, call.cwd)) if settings else []
    modules = _planned(call)
    if call.config["probe"] is True and call.client == "claude":  # a matrix speaks Claude's language
        broken += _liveness(call, settings, modules)
    said = [f"BROKEN: {fault}" for fault in broken[:SHOWN]]
    if len(broken) > SHOWN:
        said.append(f"BROKEN: and {len(broken) - SHOWN} more: overdeck doctor")
    said += [f"config: {wrong}" for wrong in _misnamed(call.config["stages"])]
    said += [f"stage: {stage}" for stage in _stages(call, top, modules)]
    return advise("\n".join([*said, LAST])) if said else None


def _launchers(settings: str, top: str, cwd: str) -> "Iterator[str]":
    """What would not start, by the settings of the user and of the project."""
    files = [settings]
    project = top or cwd
    if project.startswith("/"):
        files += [f"{project}/.claude/{name}" for name in ("settings.json", "settings.local.json")]
    pythons = {}
    for file in files:
        hooks, dropped = hooklaunchers.hooks_in(file)
        if dropped:
            yield f"{file}: {dropped}"
        grouped = {}
        for hook, why in hooklaunchers.faults(hooks, os.environ, project):
            grouped.setdefault(why, []).append(hook.event)
        for why, events in grouped.items():
            yield f"{file}: {', '.join(dict.fromkeys(events))}: {why}"
        pythons |= hooklaunchers.interpreters(hooks, os.environ.get("PATH") or hooklaunchers.NO_PATH)
    for name, program in list(pythons.items())[: hooklaunchers.MAX_PROBES]:
        why = hooklaunchers.starts(program)
        if why:
            yield f"{name} is {program}, which does not start: {why}"


def _planned(call: Call) -> "list[Module]":
    """The modules of the plan for tool calls; none where there is no such plan."""
    plans = f"{call.overdeck_state}/plans/{call.client}"
    try:
        return parse(read_plan(f"{plans}/PreToolUse.plan")).modules
    except PlanError:
        return []


def _liveness(call: Call, settings: str, modules: "list[Module]") -> list[str]:
    """A line where every gate that was tried let its own bad case pass, or the front did not answer."""
    front = _front(call, settings)
    passed = []
    for gate in modules if front else ():
        payload = _bad_case(gate, call) if gate.cls == "gate" and len(passed) < TRIED else None
        if payload is None:
            continue
        try:
            said = _asked(front, payload)
        except OSError as error:
            return [f"{front[0]}, which the client starts before a tool, does not start: {error.strerror}"]
        if said is None:
            return []  # it did not end in time, which says something of the machine only
        if f"[{gate.id}]" in said and '"deny"' in said:
            return []
        if _as_shipped(gate):
            passed.append(f"{gate.id} ({said[:80] or 'silence'})")
    return [f"no gate refused a call that it must refuse: {', '.join(passed)}"] if passed else []


def _front(call: Call, settings: str) -> list[str] | None:
    """What the client starts before a tool: our entry in the user's settings, else the dispatcher of the recipe.

    A program that stands in a project's settings is not started: a repository may say anything.
    """
    plans = f"{call.overdeck_state}/plans/{call.client}"
    for hook in hooklaunchers.hooks_in(settings)[0] if settings else ():
        if hook.exact and hook.event == "PreToolUse" and MARK in hook.words and plans in hook.words:
            return hook.words if hook.words[0].startswith("/") and not trusted(hook.words[0]) else None
    from overdeck.dispatch.planning import Recipe

    try:
        recipe = Recipe.load(plans)
    except PlanError:
        return None
    return [recipe.python, "-I", "-S", recipe.entry, "PreToolUse", "--plan", plans]


def _bad_case(gate: "Module", call: Call) -> dict[str, object] | None:
    """The first case of a gate's matrix that needs nothing but itself to be denied."""
    try:
        with open(f"{gate.folder}/matrix.jsonl", "rb") as file:
            for line in file:
                case = jsontext.loads(line.decode())
                alone = case["expect"] == "deny" and not {"config", "files", "repository"} & case.keys()
                if alone and case["payload"]["hook_event_name"] == "PreToolUse":
                    return {**case["payload"], "session_id": SESSION, "cwd": call.cwd}
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return None


def _asked(front: list[str], payload: dict[str, object]) -> str | None:
    """What the front says to ``payload``; None where it did not end in time. Raises OSError."""
    import subprocess

    try:
        done = subprocess.run(
            front, input=jsontext.dumps(payload).encode(), capture_output=True, timeout=PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired:
        return None
    return done.stdout.decode("utf-8", "replace").strip()


def _as_shipped(gate: "Module") -> bool:
    """Whether its plan has the configuration that its manifest has: only then its matrix must hold."""
    from overdeck.dispatch.manifest import ManifestError, read_manifest

    try:
        return read_manifest(gate.folder).config == gate.config
    except ManifestError:
        return False


def _stages(call: Call, top: str, modules: "list[Module]") -> "Iterator[str]":
    """The next thing a project still needs, and what to type for it."""
    for gate in modules:
        if gate.id == "ledger-gate" and top:
            ledger, drafts = gate.config.get("ledger"), gate.config.get("drafts")
            path = os.path.join(top, ledger) if isinstance(ledger, str) and ledger else ""
            kept = [folder for folder in drafts if isinstance(folder, str)] if isinstance(drafts, list) else []
            if path and not _size(path) and any(os.path.isdir(os.path.join(top, folder)) for folder in kept):
                yield f"the ledger {path} is not there yet, or empty: until it is, no draft may refer to anything"
    stages = call.config["stages"]
    mine = stages.get(top) if isinstance(stages, dict) and top else None
    for line in mine if isinstance(mine, list) else ():
        file, _, command = str(line).partition(":")
        if not _size(os.path.join(top, file.strip())):
            yield f"{file.strip()} is not there yet; next: {command.strip()}"
            return


def _misnamed(stages: dict[str, object]) -> "Iterator[str]":
    """What nobody would ever hear of: stages of no work tree, or in no list."""
    for folder, lines in stages.items():
        if not folder.startswith("/"):
            yield f"[modules.preflight] stages: {folder[:80]!r} is no absolute path of a work tree"
        elif not isinstance(lines, list) or any(":" not in str(line) for line in lines):
            yield f'[modules.preflight] stages of {folder[:80]!r} must be a list of "file: what to type"'


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return 0
