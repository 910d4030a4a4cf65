"""The clients besides Claude Code: do they start the front, as this installation would have them, and trust it?"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

from overdeck.authoring.fleet import recipe_for
from overdeck.dispatch import dialects
from overdeck.dispatch.dialects.routing import own_event
from overdeck.dispatch.plan import PlanError, parse, read_plan
from overdeck.dispatch.planning import Fleet, Recipe
from overdeck.errors import OverdeckError
from overdeck.process import Completed, run
from overdeck.wiring import clients, entries, opencodeplugin
from overdeck.wiring.clientpayloads import payload_of
from overdeck.wiring.doctor.check import Check, Finding, Result, Situation
from overdeck.wiring.doctor.launcher import SESSION
from overdeck.wiring.install import timeout_s, union_of, wanted_groups
from overdeck.wiring.receipt import receipts
from overdeck.wiring.rewrite import read
from overdeck.wiring.scope import install_command, neighbours
from overdeck.wiring.settings import Settings
from overdeck.wiring.target import TARGETS, argv_of


def _others(situation: Situation) -> Result:
    """Every other client that has entries of ours, or had: files, plans, trust, and one harmless call."""
    if situation.fleet is None or situation.unread:
        return Result("skip", "what their entries should be is not known; why: see modules")
    seen, found, nexts = [], [], []
    for client in dialects.CLIENTS:
        recipe = recipe_for(situation.places, client)
        files = _files(situation, client)
        if not files:
            continue
        fleet, config = situation.fleet, situation.places.folders.codex / "config.toml"
        troubles = [f"{file}: {one}" for file in files for one in _troubles(recipe, fleet, file, config)]
        troubles += _plan_troubles(recipe, fleet)
        if client == "opencode" and situation.environ.get("OPENCODE_PURE", "0").lower() not in _NO:
            troubles.append(_PURE)
        own = any(module.user and not module.literals for module in fleet.enabled)
        if not troubles and client != "opencode" and (situation.yes or not own):
            # no trouble: what the file starts is this installation's own front, and nothing that a repository says
            troubles += _start_troubles(recipe, files[0])
        title = TARGETS[client].title
        seen.append(f"{title}: {'; '.join(troubles) if troubles else ', '.join(map(str, files))}")
        if troubles:
            found.append(Finding(client, f"{title}: {troubles[0]}"))
            nexts.append(_next(troubles, client))
    if not seen:
        return Result(
            "skip", f"not installed for {', '.join(TARGETS[client].title for client in dialects.CLIENTS)}"
        )
    if found:
        return Result("fail", "; ".join(seen), nexts[0], tuple(found))
    return Result("ok", f"as this installation would write them: {'; '.join(seen)}")


def _next(troubles: list[str], client: str) -> str:
    if all(_TRUST in trouble for trouble in troubles):
        return "start codex, type /hooks, and trust ours"
    return "unset OPENCODE_PURE" if troubles == [_PURE] else install_command(client)


_NO = ("", "0", "false", "no", "off")
"""What OpenCode reads as no (measured)."""
_PURE = "OPENCODE_PURE is set here: with it OpenCode loads no plugin, ours neither"


def _files(situation: Situation, client: str) -> list[Path]:
    """The files of a client that hold entries of ours, and those that a receipt says had some."""
    remembered = [known.file for known in receipts(situation.places, client) if not known.pending]
    held = [
        file for file in neighbours(situation.places, situation.folder, client).values() if _ours(client, file)
    ]
    there = [file for file in remembered if file.parent.parent.is_dir()]
    return list(dict.fromkeys([*held, *there]))


def _ours(client: str, file: Path) -> bool:
    if client == "opencode":
        return opencodeplugin.is_ours(_text(file))
    return bool(entries.in_file(file))


def _text(file: Path) -> str:
    try:
        return (read(file) or b"").decode("utf-8", "replace")
    except (OSError, OverdeckError):
        return ""


def _troubles(recipe: Recipe, fleet: Fleet, file: Path, config: Path) -> Iterator[str]:
    """How a file differs from what install would write there; ``config`` is Codex's, which says whom it trusts."""
    if not _ours(recipe.client, file):
        yield "what install wrote is gone"
        return
    if recipe.client == "opencode":
        if _text(file) != opencodeplugin.plugin_text(recipe, fleet):
            yield "the plugin is not the one that this installation writes"
        return
    client = clients.named(recipe.client)
    settings = client.parse(_text(file).encode(), file)
    yield from (
        f"{problem.reason}, so the client drops the file" for problem in settings.problems if problem.drops
    )
    if settings.disabled:
        yield "hooks are switched off"
    wanted = wanted_groups(recipe, union_of(recipe, fleet))
    found = {entry.event: entry for entry in entries.in_file(file)}
    for event, group in wanted.items():
        entry = found.get(event)
        if entry is None:
            yield f"no entry for {event}"
        elif argv_of(entry.hook) != argv_of(group["hooks"][0]):
            yield f"{event}: it starts something else than this installation's front"
        elif (entry.matcher or "") != group.get("matcher", ""):
            yield f"{event}: its matcher {entry.matcher!r} is not {group.get('matcher')!r}"
        elif entry.hook.get("timeout") != group["hooks"][0]["timeout"]:
            yield f"{event}: its timeout is {entry.hook.get('timeout')!r}, not {group['hooks'][0]['timeout']}"
    yield from (f"{event} starts the front for no module" for event in found if event not in wanted)
    if recipe.client == "codex":
        yield from _untrusted(settings, config)


_TRUST = "Codex has not been told to trust"


def _untrusted(settings: Settings, config: Path) -> Iterator[str]:
    """Our entries that the user's config.toml does not say are trusted: those are skipped without a word.

    Its keys, ``FILE:pre_tool_use:GROUP:HOOK``, are from Codex's published source. Whether the hash in them is of the
    entry as it stands now only Codex knows.
    """
    state: object = {}
    try:
        import tomllib

        state = tomllib.loads(_text(config)).get("hooks", {}).get("state", {})
    except (ValueError, AttributeError, RecursionError):
        yield f"{config} cannot be read, which says what Codex trusts"
        return
    known = {key: one for key, one in state.items() if isinstance(one, dict)} if isinstance(state, dict) else {}
    data = settings.data.get("hooks", {})
    untrusted = []
    for event, groups in data.items() if isinstance(data, dict) else ():
        for at, group in enumerate(groups if isinstance(groups, list) else ()):
            for hook_at, hook in enumerate(group.get("hooks", ()) if isinstance(group, dict) else ()):
                if not entries.is_ours(hook):
                    continue
                said = known.get(f"{settings.path}:{_snake(event)}:{at}:{hook_at}", {})
                if said.get("enabled") is False:
                    yield f"{event} is switched off in {config}"
                elif "trusted_hash" not in said:
                    untrusted.append(event)
    if untrusted:
        yield f"{_TRUST} {', '.join(untrusted)}: `codex exec` skips such hooks without a word"


def _snake(event: str) -> str:
    """
    >>> _snake("PreToolUse")
    'pre_tool_use'
    """
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in event).lstrip("_")


def _plan_troubles(recipe: Recipe, fleet: Fleet) -> Iterator[str]:
    for event in union_of(recipe, fleet):
        path = f"{recipe.plans}/{event}.plan"
        try:
            parse(read_plan(path))
        except PlanError as error:
            yield f"the plan {path} cannot be used: {error}"


def _start_troubles(recipe: Recipe, file: Path) -> Iterator[str]:
    """One entry started on a harmless call, before a tool where there is one."""
    found = sorted(entries.in_file(file), key=lambda entry: entry.event != own_event(recipe.client, "PreToolUse"))
    tool = {"codex": "Bash", "gemini": "run_shell_command"}[recipe.client]
    call = payload_of(recipe.client, found[0].event, tool, cwd="/", transcript=os.devnull) | {
        "session_id": SESSION
    }
    ran = run(
        list(argv_of(found[0].hook)),
        env={},
        cwd="/",
        stdin=json.dumps(call).encode(),
        deadline_s=timeout_s(recipe),
    )
    if not isinstance(ran, Completed):
        yield f"the front {ran.why}"
    elif ran.code or ran.stdout.strip():
        said = ran.stdout.decode("utf-8", "replace").strip()[:200]
        yield f"the front does not pass a harmless {found[0].event}: exit {ran.code}, {said!r}"


ABROAD = (
    Check(
        "other clients",
        _others,
        "wiring",
        "the entries, plans and front of Codex, Gemini CLI and OpenCode",
        "install-drift",
    ),
)
