"""Does the client start the front at all, for the right calls, and wait long enough?"""

import json
import os
import re
import shutil
from pathlib import Path

from overdeck.errors import OverdeckError
from overdeck.wiring.doctor.check import INSTALL, Check, Finding, Result, Situation
from overdeck.wiring.entries import Entry, Group
from overdeck.wiring.install import wanted_groups
from overdeck.wiring.rules import RULES, Context, apply
from overdeck.wiring.settings import read_settings

_VERSION = re.compile(r"\d+\.\d+\.\d+")


def _settings(situation: Situation) -> Result:
    own = situation.settings_file
    files = [file for file in dict.fromkeys([own, *situation.wired]) if file.exists()]
    if not files:
        return Result("skip", f"there is no {own}")
    try:
        settings = tuple(read_settings(file) for file in files)
    except OverdeckError as error:
        return Result("fail", error.message, error.hint)
    path = situation.environ.get("PATH")
    # each by itself: files of different projects are never read together, and our own entries may stand in two
    found = [
        one for file in settings for one in apply(RULES, Context((file,), situation.places.home, own.parent, path))
    ]
    listed = tuple(Finding(f"{one.file}#{one.pointer}", one.why, f"audit: {one.rule}") for one in found)
    for finding in found:
        if finding.severity == "error" or finding.rule == "disable-all-hooks":
            seen = f"{finding.file}#{finding.pointer}: {finding.why}"
            return Result("fail", seen, f"overdeck audit --settings {finding.file}", listed)
    named = ", ".join(map(str, files))
    if found:
        return Result(
            "warn", f"{named}: {len(found)} warnings", f"overdeck audit --settings {found[0].file}", listed
        )
    handlers = sum(len(file.all_handlers) for file in settings)
    return Result("ok", f"{named}: {handlers} handlers, no rule of the audit objects to one")


def _entries(situation: Situation) -> Result:
    if not situation.installed:
        return Result("warn", f"not installed: no entry of ours in {situation.settings_file}", INSTALL)
    troubles: list[str] = []
    again = ""
    for file in situation.wired:
        found = _unread_troubles(situation, file) if situation.unread else _troubles(situation, file)
        if found:
            troubles.append(f"{file}: {'; '.join(found)}")
            again = again or situation.install_again(file)
    if troubles:
        return Result("fail", "; ".join(troubles), again)
    places = (
        "" if list(situation.wired) == [situation.settings_file] else f" in {', '.join(map(str, situation.wired))}"
    )
    if situation.unread:
        return Result(
            "warn",
            f"{len(situation.entries)} entries{places} start the front; their matchers cannot be checked; "
            "why: see modules",
        )
    return Result("ok", f"{len(situation.entries)} entries{places}, as this installation would write them")


def _troubles(situation: Situation, file: Path) -> list[str]:
    """How the entries of one file differ from those that install would write there.

    What the user's own file has, a project's need not have as well.
    """
    found = situation.wired[file]
    wanted = wanted_groups(situation.recipe, situation.union)
    here = {entry.event: entry for entry in found}
    own = situation.wired.get(situation.settings_file, [])
    covered = set(here) if file == situation.settings_file else set(here) | {entry.event for entry in own}
    if not found:
        return ["the entries that install wrote are gone"]
    troubles = [f"no entry for {event}" for event in wanted if event not in covered]
    troubles += [
        f"{event}: {trouble}"
        for event, group in wanted.items()
        if event in here and (trouble := drift(here[event], group))
    ]
    troubles += [f"{event} starts the front for no module" for event in here if event not in wanted]
    twice = len(found) - len(here)
    return troubles + ([f"{twice} entries too many"] if twice else [])


def _unread_troubles(situation: Situation, file: Path) -> list[str]:
    """The entries where nobody knows for which events and matchers they ought to stand: judged by all the rest."""
    found = situation.wired[file]
    if not found:
        return ["no entry of ours is left"]
    as_matched = wanted_groups(situation.recipe, {entry.event: entry.matcher or "" for entry in found})
    return [f"{entry.event}: {trouble}" for entry in found if (trouble := drift(entry, as_matched[entry.event]))]


def drift(entry: Entry, group: Group) -> str:
    """How an installed entry differs from the one that install would write; empty where it does not."""
    want = group["hooks"][0]
    if entry.hook.get("type") != "command":
        return f"it is of type {entry.hook.get('type')!r}"
    if entry.argv != [want["command"], *want["args"]]:
        return "it starts something else than this installation's front"
    altered = [f"{key}: {json.dumps(entry.hook[key])}" for key in entry.hook if key not in want]
    if altered:
        return f"it says {', '.join(altered)}, which install does not write"
    if (entry.matcher or "") != group.get("matcher", ""):
        return f"its matcher {entry.matcher!r} is not the union of the modules', {group.get('matcher')!r}"
    timeout = entry.hook.get("timeout")
    if not isinstance(timeout, int | float) or timeout < want["timeout"]:
        return f"its timeout {timeout!r} is below the front's deadlines, {want['timeout']} s"
    return ""


def _client(situation: Situation) -> Result:
    found = shutil.which("claude", path=situation.environ.get("PATH", os.defpath))
    if found is None:
        return Result("skip", "claude is not on PATH")
    return Result("ok", f"{found}{client_version(Path(found))}")


def client_version(program: Path) -> str:
    """The version, from the names and files around the program (it is not started): `` (2.1.197)`` or nothing."""
    target = program.resolve()
    for folder in target.parents:
        manifest = folder / "package.json"
        if manifest.is_file():
            try:
                version = json.loads(manifest.read_bytes()).get("version")
            except (OSError, ValueError, AttributeError):
                version = None
            return f" ({version})" if isinstance(version, str) else ""
    named = _VERSION.search(str(target))
    return f" ({named.group()})" if named else ""


WIRED = (
    Check("client", _client, "wiring", "the client's program and version"),
    Check("settings", _settings, "wiring", "the user's settings, by every rule of the audit", "settings-dropped"),
    Check("entries", _entries, "wiring", "our entries in the settings", "install-drift"),
)
