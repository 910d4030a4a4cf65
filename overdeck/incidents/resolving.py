"""Closing incidents: with an artifact that was checked, or as ``wont-fix`` with a reason. No third way."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overdeck import __version__
from overdeck.errors import ExitCode, OverdeckError, usage
from overdeck.git import NoWorkTree, top
from overdeck.incidents import commit, ids, log
from overdeck.incidents.artifact import WHAT_AN_ARTIFACT_IS, Artifact, parse
from overdeck.incidents.current import Warn, read
from overdeck.incidents.event import Event, seal
from overdeck.incidents.fold import RESOLVED, WONT_FIX, Incident, State, fold
from overdeck.incidents.registry import Registry
from overdeck.incidents.text import accept
from overdeck.incidents.writer import PATIENCE_S, writing

Statement = dict[str, Any]


@dataclass(frozen=True)
class Closing:
    """What the caller claims."""

    wanted: Sequence[str]
    """Ids, or the beginnings of ids."""
    artifacts: Sequence[str] = ()
    wont_fix: bool = False
    because: str | None = None
    summary: str | None = None
    repo: Path | None = None
    """Where the commits are; None is the repository that holds the registry."""


@dataclass(frozen=True)
class Closed:
    """One incident after the call."""

    incident: Incident
    recorded: bool
    """False when it had been closed in just this way before."""


def resolve(
    registry: Registry, claim: Closing, at: str, *, warn: Warn, patience_s: float = PATIENCE_S
) -> tuple[Closed, ...]:
    """Close every incident of ``claim``, or none of them; they come back in the order of the call.

    Raises OverdeckError: usage (2) without artifact and without ``wont_fix``, unknown or ambiguous id (3), an
    artifact that does not hold (4) or that nobody can check now (5). Nothing is written on any of these.
    """
    because = None if claim.because is None else accept("--because", claim.because)
    summary = None if claim.summary is None else accept("--summary", claim.summary)
    artifacts = _claimed(claim, because)
    history, state = read(registry, warn)
    keys = list(dict.fromkeys(ids.resolve(wanted, state.ids) for wanted in claim.wanted))
    evidence = (
        {}
        if claim.wont_fix
        else _verify(registry, state, keys, artifacts, repo=claim.repo, vouched=because is not None, at=at)
    )
    recorded: list[Event] = []
    if _to_say(state, keys, claim.wont_fix, evidence):
        texts = {"because": because, "summary": summary}
        said = {name: text for name, text in texts.items() if text is not None}
        with writing(registry.log, patience_s) as writer:
            # Another process may have closed one of them while git was asked.
            history = log.read(registry.log)
            state = fold(history.events)
            lines: list[bytes] = []
            for key, kind, found in _to_say(state, keys, claim.wont_fix, evidence):
                event, line = seal(
                    kind,
                    lamport=history.lamport + len(lines) + 1,
                    at=at,
                    writer=writer.id,
                    incident=key,
                    **({"evidence": found} if found else {}),
                    **said,
                )
                recorded.append(event)
                lines.append(line)
            if lines:
                writer.append(lines)
    after = fold((*history.events, *recorded))
    changed = {event.incident for event in recorded}
    return tuple(Closed(after.get(key), key in changed) for key in keys)


def _claimed(claim: Closing, because: str | None) -> list[Artifact]:
    """The artifacts of a claim that is complete; raises OverdeckError (usage) for one that is not."""
    first = claim.wanted[0] if claim.wanted else "ID"
    if claim.wont_fix and claim.artifacts:
        raise usage(
            "--artifact and --wont-fix exclude each other: an incident is fixed, or it is left as it is",
            code="artifact-and-wont-fix",
            hint=f"od-incidents resolve {first} --artifact commit:SHA",
        )
    if claim.wont_fix and because is None:
        raise usage(
            "--wont-fix needs --because: whoever meets this again will ask why it was left",
            code="no-reason",
            hint=f'od-incidents resolve {first} --wont-fix --because "…"',
        )
    if not claim.wont_fix and not claim.artifacts:
        raise usage(
            f"{' '.join(claim.wanted)} was not resolved: resolve needs --artifact; {WHAT_AN_ARTIFACT_IS}",
            code="no-artifact",
            hint=f"od-incidents resolve {first} --artifact commit:SHA   "
            f'(or, to leave it unfixed: --wont-fix --because "…")',
        )
    return list(dict.fromkeys(parse(ref) for ref in claim.artifacts))


def _to_say(
    state: State, keys: Sequence[str], wont_fix: bool, evidence: Mapping[str, list[Statement]]
) -> list[tuple[str, str, list[Statement]]]:
    """Key, kind and evidence of each event that is still needed to close the incidents."""
    events: list[tuple[str, str, list[Statement]]] = []
    for key in keys:
        incident = state.get(key)
        if wont_fix:
            if incident.state == RESOLVED:
                raise usage(
                    f"{incident.id} is resolved, with evidence: it cannot become wont-fix",
                    code="already-resolved",
                    hint=f"od-incidents show {incident.id}",
                )
            if incident.state != WONT_FIX:
                events.append((key, "wont-fixed", []))
        elif incident.state != RESOLVED and not evidence[key]:
            raise OverdeckError(
                f"{incident.id} was reopened by another process during this call; nothing was written",
                code="reopened-meanwhile",
                exit_code=ExitCode.BUSY,
                hint=f"od-incidents show {incident.id}, then the same command again",
            )
        elif incident.state != RESOLVED:
            events.append((key, "resolved", evidence[key]))
        else:
            held = {statement.get("artifact") for statement in incident.evidence}
            fresh = [statement for statement in evidence[key] if statement["artifact"] not in held]
            if fresh:
                events.append((key, "evidence-added", fresh))
    return events


def _verify(
    registry: Registry,
    state: State,
    keys: Sequence[str],
    artifacts: Sequence[Artifact],
    *,
    repo: Path | None,
    vouched: bool,
    at: str,
) -> dict[str, list[Statement]]:
    """Statements per incident key, each artifact checked once; those that an incident has already are left out.

    An artifact counts for the incidents that its trailers name. One that names none of the incidents of this
    call, and all of them for an incident that none names, are "asserted": taken where the caller ``vouched``
    for the link (``--because``), rejected elsewhere.
    """
    sought = {key: _not_held(state.get(key), artifacts) for key in keys}
    evidence: dict[str, list[Statement]] = {key: [] for key in keys}
    if not any(sought.values()):
        return evidence
    where = _work_tree((repo or registry.root).absolute())
    branch = commit.fetch(where, registry.branch)
    looked_at = dict.fromkeys(artifact for refs in sought.values() for artifact in refs)
    landed = {artifact: commit.find(where, branch, artifact.value) for artifact in looked_at}
    names = {artifact: _named(found, state) for artifact, found in landed.items()}
    for key, refs in sought.items():
        by_trailer = [ref for ref in refs if key in names[ref]]
        on_word = [ref for ref in refs if names[ref].isdisjoint(keys)]
        if not by_trailer and not on_word and len(refs) == len(artifacts):
            on_word = refs
        if on_word and not vouched:
            raise _not_named(landed[on_word[0]], state.get(key))
        evidence[key] = [
            *(_statement(landed[ref], "verified", at) for ref in by_trailer),
            *(_statement(landed[ref], "asserted", at) for ref in on_word),
        ]
    return evidence


def _work_tree(folder: Path) -> Path:
    """The repository around ``folder`` by the name people have for it, its top; ``folder`` where there is none."""
    try:
        return top(folder, hint="od-incidents resolve --help")
    except NoWorkTree:
        return folder


def _not_held(incident: Incident, artifacts: Sequence[Artifact]) -> list[Artifact]:
    """The artifacts that are not evidence of a resolved incident already (a short SHA is the full one)."""
    if incident.state != RESOLVED:
        return list(artifacts)
    held = [str(statement.get("artifact", "")) for statement in incident.evidence]
    return [artifact for artifact in artifacts if not any(ref.startswith(str(artifact)) for ref in held)]


def _named(found: commit.Landed, state: State) -> set[str]:
    """Keys of the incidents that the trailers name; what is ambiguous or unknown names nobody."""
    keys = set()
    for name in found.named:
        try:
            keys.add(ids.resolve(name, state.ids))
        except OverdeckError:
            continue
    return keys


def _not_named(found: commit.Landed, incident: Incident) -> OverdeckError:
    says = f"its trailer names {', '.join(found.named)}" if found.named else "it has no Incident: trailer"
    return OverdeckError(
        f"commit {found.sha[:12]} is in {found.branch.name}, but does not name {incident.id}: {says}",
        code="not-named",
        exit_code=ExitCode.REJECTED,
        hint=f"land a commit with the trailer 'Incident: {incident.id}', or vouch for the link with "
        '--because "…" (shown as "asserted" for ever)',
        data={
            "id": incident.id,
            "artifact": f"commit:{found.sha}",
            "names": list(found.named),
            "verdict": "rejected",
        },
    )


def _statement(found: commit.Landed, verdict: str, at: str) -> Statement:
    return {
        "artifact": f"commit:{found.sha}",
        "verdict": verdict,
        "linked_by": "trailer" if verdict == "verified" else "because",
        "branch": found.branch.name,
        "head": found.branch.head,
        "checks": [{"argv": check.argv, "exit": check.exit} for check in (*found.branch.checks, *found.checks)],
        "verifier": f"overdeck {__version__} {commit.VERIFIER}",
        "host": os.uname().nodename,
        "at": at,
    }
