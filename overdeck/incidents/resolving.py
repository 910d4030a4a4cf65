"""Closing incidents: with an artifact that was checked, or as ``wont-fix`` with a reason. No third way."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overdeck import __version__
from overdeck.errors import ExitCode, OverdeckError, usage
from overdeck.incidents import commit
from overdeck.incidents.artifact import KINDS, PROGRAMS, WHAT_AN_ARTIFACT_IS, Artifact, parse, same
from overdeck.incidents.commit import Branch
from overdeck.incidents.current import Warn, read
from overdeck.incidents.evidence.trial import Machine
from overdeck.incidents.fold import RESOLVED, WONT_FIX, Incident, State
from overdeck.incidents.noting import recorded_under
from overdeck.incidents.proving import Claim, Consent, Proof, carry_out, look_up, work_tree, worst
from overdeck.incidents.recording import Draft, Turn, record
from overdeck.incidents.registry import Registry
from overdeck.incidents.text import TITLE_LIMIT, accept
from overdeck.incidents.watching import NOBODY, Watch
from overdeck.incidents.writer import PATIENCE_S
from overdeck.machine.cgroup import snapshot

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
    broken: str | None = None
    """For repro: and resume: a commit that still has the trouble."""
    key: str | None = None
    """The caller's own name for this call: a second call with it writes nothing."""


@dataclass(frozen=True)
class Closed:
    """One incident after the call."""

    incident: Incident
    recorded: bool
    """False when it had been closed in just this way before."""
    disproved: tuple[str, ...] = ()
    """Artifacts that ended an earlier episode, too: it was opened again after them."""


def never(plan: Sequence[str]) -> bool:
    """The consent of a caller that wants nothing run."""
    return not plan


def resolve(
    registry: Registry,
    claim: Closing,
    at: str,
    *,
    warn: Warn,
    consent: Consent = never,
    machine: Machine = snapshot,
    watch: Watch = NOBODY,
    patience_s: float = PATIENCE_S,
) -> tuple[Closed, ...]:
    """Close every incident of ``claim``, or none of them; they come back in the order of the call.

    Tests and programs are run only where ``consent`` says so to the plan. Raises OverdeckError: usage (2) without
    artifact and without ``wont_fix``, or without consent; unknown or ambiguous id (3), an artifact that does not hold
    (4) or that nobody can check now (5); of several, the one with the highest code, with all of them in ``data``;
    Cancelled (130) where ``watch`` calls it off. Nothing is written on any of these, and nothing is run while something
    that needs no run does not hold.
    """
    because = None if claim.because is None else accept("--because", claim.because)
    summary = None if claim.summary is None else accept("--summary", claim.summary)
    name = None if claim.key is None else accept("--key", claim.key, TITLE_LIMIT)
    artifacts = _claimed(claim, because)
    state = read(registry, warn).state
    keys, unknown = _found(state, claim.wanted)
    if unknown and (claim.wont_fix or not keys):
        raise worst(unknown)
    if not unknown and all(
        recorded_under(state.get(key), ("resolved", "evidence-added", "wont-fixed"), name) for key in keys
    ):
        return tuple(Closed(state.get(key), False) for key in keys)
    evidence = (
        {}
        if claim.wont_fix
        else _verify(
            registry, state, keys, artifacts, claim, unknown, consent=consent, machine=machine, watch=watch, at=at
        )
    )
    if not _to_say(state, keys, claim.wont_fix, evidence):
        return tuple(Closed(state.get(key), False) for key in keys)
    texts = {"because": because, "summary": summary, "key": name}
    said = {what: text for what, text in texts.items() if text is not None}

    def decide(turn: Turn) -> None:
        watch.check()
        # Another process may have closed one of them while git was asked.
        for key, kind, found in _to_say(turn.state, keys, claim.wont_fix, evidence):
            turn.say(Draft(kind, key, {**({"evidence": found} if found else {}), **said}))

    recorded = record(registry, at, decide, warn=lambda _: None, patience_s=patience_s)
    changed = {event.incident for event in recorded.events}
    return tuple(_closed(state.get(key), recorded.state.get(key), key in changed) for key in keys)


def _closed(before: Incident, after: Incident, recorded: bool) -> Closed:
    """``after``, and what of its new evidence had ended an episode of ``before`` that is over."""
    past = before.evidence[: len(before.evidence) - len(before.standing)]
    spent = {str(one.get("artifact")) for one in past}
    fresh = dict.fromkeys(str(one.get("artifact")) for one in after.standing) if recorded else {}
    return Closed(after, recorded, tuple(ref for ref in fresh if ref in spent))


def _claimed(claim: Closing, because: str | None) -> list[Artifact]:
    """The artifacts of a claim that is complete; raises OverdeckError (usage) for one that is not."""
    first = claim.wanted[0] if claim.wanted else "ID"
    taken = [word for word in claim.wanted if word.partition(":")[0] in KINDS and ":" in word]
    if taken:
        ids = " ".join(word for word in claim.wanted if word not in taken) or "ID"
        raise usage(
            f"{taken[0]} is an artifact and no incident, so it goes behind --artifact",
            code="artifact-as-incident",
            hint=f"od-incidents resolve {ids} --artifact {taken[0]}",
        )
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
            held = {one.get("artifact") for one in incident.standing}
            fresh = [one for one in evidence[key] if one["artifact"] not in held]
            if fresh:
                events.append((key, "evidence-added", fresh))
    return events


def _verify(
    registry: Registry,
    state: State,
    keys: Sequence[str],
    artifacts: Sequence[Artifact],
    closing: Closing,
    unknown: Mapping[str, OverdeckError],
    *,
    consent: Consent,
    machine: Machine,
    watch: Watch,
    at: str,
) -> dict[str, list[Statement]]:
    """Statements per incident key, each artifact checked once; those that an incident has already are left out.

    An artifact counts for the incidents that the trailers of its fix name. One that names none of the incidents of
    this call, and all of them for an incident that none names, are taken on the caller's word for the link: where the
    caller vouched for it (``--because``), and for a test or program that names nobody, since it was run.

    Raises OverdeckError for everything that does not hold at once: the ``unknown`` ids, what git says of the artifacts,
    and missing links; where there is nothing of the kind, for the runs that do not hold.
    """
    sought = {key: _not_held(state.get(key), artifacts) for key in keys}
    evidence: dict[str, list[Statement]] = {key: [] for key in keys}
    claims = {
        artifact: Claim(artifact, closing.broken if artifact.kind in PROGRAMS else None)
        for artifact in dict.fromkeys(artifact for refs in sought.values() for artifact in refs)
    }
    if not claims:
        if unknown:
            raise worst(unknown)
        return evidence
    where = work_tree((closing.repo or registry.root).absolute())
    branch = commit.fetch(where, registry.branch, watch)
    ready = look_up(where, branch, list(claims.values()), registry.policy)
    names = {
        artifact: _named(found.named, state)
        for artifact, claim in claims.items()
        if not isinstance(found := ready[claim], OverdeckError)
    }
    linked: dict[str, list[tuple[Artifact, str]]] = {}
    unnamed: dict[str, OverdeckError] = {}
    for key, refs in sought.items():
        known = [ref for ref in refs if ref in names]
        by_trailer = [ref for ref in known if key in names[ref]]
        on_word = [ref for ref in known if names[ref].isdisjoint(keys)]
        if not by_trailer and not on_word and known == refs and len(refs) == len(artifacts):
            on_word = refs  # where one is not known, it may be the one that names this incident
        for ref in on_word:
            found = ready[claims[ref]]
            if (
                closing.because is None
                and (ref.kind == "commit" or names[ref])
                and not isinstance(found, OverdeckError)
            ):
                unnamed[f"{ref} {key}"] = _not_named(found.artifact, found.named, branch, state.get(key))
        word = "call" if closing.because is None else "because"
        linked[key] = [*((ref, "trailer") for ref in by_trailer), *((ref, word) for ref in on_word)]
    failures = {**unknown, **_failures(ready), **unnamed}
    if failures:
        raise worst(failures)
    done = carry_out(where, ready, registry.policy, consent=consent, machine=machine, watch=watch)
    if failures := _failures(done):
        raise worst(failures)
    for key, links in linked.items():
        for ref, link in links:
            proof = done[claims[ref]]
            if isinstance(proof, Proof):
                evidence[key].append(statement(proof, branch, link, at))
    return evidence


def statement(proof: Proof, branch: Branch, linked_by: str, at: str) -> Statement:
    """What is written down of a proof: everything that is needed to check it again, and to doubt it."""
    asserted = proof.artifact.kind == "commit" and linked_by != "trailer"
    return {
        "artifact": str(proof.artifact),
        "verdict": "asserted" if asserted else "verified",
        "linked_by": linked_by,
        "branch": branch.name,
        "head": branch.head,
        **proof.facts,
        "checks": [{"argv": check.argv, "exit": check.exit} for check in proof.checks],
        "verifier": f"overdeck {__version__} {proof.verifier}",
        "host": os.uname().nodename,
        "at": at,
    }


def _found(state: State, wanted: Sequence[str]) -> tuple[list[str], dict[str, OverdeckError]]:
    """The keys of the incidents that are wanted, each once, and the error for each name that names none."""
    keys: dict[str, None] = {}
    unknown: dict[str, OverdeckError] = {}
    for name in wanted:
        try:
            keys[state.find(name).key] = None
        except OverdeckError as error:
            unknown[name] = error
    return list(keys), unknown


def _failures(found: Mapping[Claim, object]) -> dict[str, OverdeckError]:
    return {str(claim.artifact): error for claim, error in found.items() if isinstance(error, OverdeckError)}


def _not_held(incident: Incident, artifacts: Sequence[Artifact]) -> list[Artifact]:
    """The artifacts that are not evidence of a resolved incident already (a short SHA is the full one)."""
    if incident.state != RESOLVED:
        return list(artifacts)
    held = [str(one.get("artifact", "")) for one in incident.standing]
    return [artifact for artifact in artifacts if not any(same(artifact, ref) for ref in held)]


def _named(trailers: Sequence[str], state: State) -> set[str]:
    """Keys of the incidents that the trailers name; what is ambiguous or unknown names nobody."""
    keys = set()
    for name in trailers:
        try:
            keys.add(state.find(name).key)
        except OverdeckError:
            continue
    return keys


def _not_named(artifact: Artifact, named: Sequence[str], branch: Branch, incident: Incident) -> OverdeckError:
    says = f"its trailer names {', '.join(named)}" if named else "it has no Incident: trailer"
    return OverdeckError(
        f"commit {artifact.sha[:12]} is in {branch.name}, but does not name {incident.id}: {says}",
        code="not-named",
        exit_code=ExitCode.REJECTED,
        hint=f"land a commit with the trailer 'Incident: {incident.id}', or vouch for the link with "
        '--because "…" (shown as "asserted" for ever)',
        data={"id": incident.id, "artifact": str(artifact), "names": list(named), "verdict": "rejected"},
    )
