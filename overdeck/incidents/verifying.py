"""Running stored evidence again: what no longer holds moves its incident to ``evidence-lost``."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from overdeck import __version__
from overdeck.errors import ExitCode, OverdeckError
from overdeck.incidents import commit
from overdeck.incidents.artifact import PROGRAMS, parse
from overdeck.incidents.available import refusal_to_verify
from overdeck.incidents.current import Warn, read
from overdeck.incidents.evidence.trial import Machine
from overdeck.incidents.fold import RESOLVED, Incident
from overdeck.incidents.proving import Claim, Consent, Proof, carry_out, look_up, work_tree
from overdeck.incidents.recording import Draft, Turn, record
from overdeck.incidents.registry import Registry
from overdeck.incidents.resolving import never
from overdeck.incidents.watching import NOBODY, Watch
from overdeck.incidents.writer import PATIENCE_S
from overdeck.machine.cgroup import snapshot

HOLDS, LOST, UNKNOWN = ("holds", "lost", "inconclusive")


class Checked(NamedTuple):
    """One statement, checked again."""

    artifact: str
    verdict: str
    """``holds``, ``lost`` or ``inconclusive``: nobody can tell now, and nothing changes."""
    code: str = ""
    why: str = ""

    @property
    def facts(self) -> dict[str, str]:
        told = {"artifact": self.artifact, "verdict": self.verdict}
        return {**told, "code": self.code, "why": self.why} if self.why else told


@dataclass(frozen=True)
class Verified:
    """One resolved incident after the call."""

    incident: Incident
    checks: tuple[Checked, ...]

    @property
    def verdict(self) -> str:
        """That of its worst statement."""
        verdicts = {check.verdict for check in self.checks}
        return next((verdict for verdict in (LOST, UNKNOWN) if verdict in verdicts), HOLDS)

    @property
    def exit_code(self) -> ExitCode:
        return {HOLDS: ExitCode.OK, LOST: ExitCode.REJECTED, UNKNOWN: ExitCode.UNVERIFIABLE}[self.verdict]


def verify(
    registry: Registry,
    wanted: Sequence[str] | None,
    at: str,
    *,
    warn: Warn,
    repo: Path | None = None,
    consent: Consent = never,
    machine: Machine = snapshot,
    watch: Watch = NOBODY,
    patience_s: float = PATIENCE_S,
) -> tuple[Verified, ...]:
    """Check the evidence of the incidents ``wanted`` (None: of every resolved one) again, and move those of which a
    statement no longer holds to ``evidence-lost``.

    Only the artifacts of the log are used, by the rules of registry.toml: no argv of a log is ever run. Raises
    OverdeckError: an incident that is not resolved, no consent (2), an unknown id (3), no repository to ask (5), and
    Cancelled (130) where ``watch`` calls it off.
    """
    state = read(registry, warn).state
    if wanted is None:
        chosen = [incident for incident in state.incidents if incident.state == RESOLVED]
    else:
        chosen = list({incident.key: incident for incident in map(state.find, wanted)}.values())
    for incident in chosen:
        if refused := refusal_to_verify(incident):
            raise refused
    if not chosen:
        return ()
    claims = {incident.key: [_claim(statement) for statement in incident.standing] for incident in chosen}
    answers = _answers(registry, claims, repo, consent, machine, watch)
    checked = {
        key: tuple(_checked(claim, answers) for claim in mine) or (_NOTHING,) for key, mine in claims.items()
    }
    lost = {
        key: [check.facts for check in checks if check.verdict == LOST]
        for key, checks in checked.items()
        if any(check.verdict == LOST for check in checks)
    }
    if lost:

        def decide(turn: Turn) -> None:
            watch.check()
            for key, facts in lost.items():
                now = turn.state.get(key)
                before = state.get(key)
                if now.state == RESOLVED and now.standing == before.standing:
                    turn.say(
                        Draft("evidence-lost", now.key, {"lost": facts, "verifier": f"overdeck {__version__}"})
                    )

        state = record(registry, at, decide, warn=lambda _: None, patience_s=patience_s).state
    return tuple(Verified(state.get(key), checks) for key, checks in checked.items())


_NOTHING = Checked("", LOST, "no-evidence", "the log resolves it with nothing that could be checked")


def _claim(statement: Mapping[str, Any]) -> Claim | Checked:
    """What a statement claims; logs are merged from elsewhere, so it may be anything."""
    ref = str(statement.get("artifact", ""))
    try:
        artifact = parse(ref)
    except OverdeckError as error:
        return Checked(ref, LOST, error.code, error.message)
    sides = statement.get("sides")
    broken = str(sides.get("broken", "")) if isinstance(sides, dict) else ""
    if artifact.kind not in PROGRAMS:
        return Claim(artifact)
    if not re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", broken):
        return Checked(ref, LOST, "no-broken", "its statement does not say on which commit it had failed")
    return Claim(artifact, broken)


def _answers(
    registry: Registry,
    claims: Mapping[str, Sequence[Claim | Checked]],
    repo: Path | None,
    consent: Consent,
    machine: Machine,
    watch: Watch,
) -> Mapping[Claim, Proof | OverdeckError]:
    """Each claim of all incidents, checked once."""
    wanted = list(dict.fromkeys(claim for mine in claims.values() for claim in mine if isinstance(claim, Claim)))
    if not wanted:
        return {}
    where = work_tree((repo or registry.root).absolute())
    branch = commit.fetch(where, registry.branch, watch)
    ready = look_up(where, branch, wanted, registry.policy)
    return carry_out(where, ready, registry.policy, consent=consent, machine=machine, watch=watch)


def _checked(claim: Claim | Checked, answers: Mapping[Claim, Proof | OverdeckError]) -> Checked:
    if isinstance(claim, Checked):
        return claim
    answer = answers[claim]
    if isinstance(answer, Proof):
        return Checked(str(claim.artifact), HOLDS)
    verdict = LOST if answer.exit_code is ExitCode.REJECTED else UNKNOWN
    return Checked(str(claim.artifact), verdict, answer.code, answer.message)
