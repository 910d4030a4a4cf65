"""The report of an audit: per client what its hooks cost, and over all clients what was found."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

from overdeck.wiring.audit.cost import Cost, Dispatched
from overdeck.wiring.audit.hooks import HookCost, dearest, finite
from overdeck.wiring.rules import Finding
from overdeck.wiring.settings import Settings


class Recorded(NamedTuple):
    """What the transcripts say of all hooks together; counts are of records, which are fewer than runs."""

    records: int
    killed: int
    never_started: tuple[str, ...]
    idle: tuple[str, ...]
    """Commands that blocked, decided, rewrote and said nothing in any record."""
    unrecorded: tuple[str, ...]
    """Configured commands without a record: silent, or never asked."""
    injected_bytes: int
    waited_ms: int


class ClientAudit(NamedTuple):
    """One client. ``events``: event → subject → Cost. ``commands`` counts different command lines over all events."""

    client: str
    files: tuple[Settings, ...]
    handlers: int
    commands: int
    disabled: bool
    events: Mapping[str, Mapping[str, Cost]]
    moments: Mapping[str, Cost]
    dispatcher: Mapping[str, Dispatched]
    hooks: tuple[HookCost, ...]
    adopted: int = 0
    """Hooks that run behind our own entries as modules, and how many of them are still started as programs."""
    adopted_started: int = 0

    @property
    def idle_hooks(self) -> list[HookCost]:
        """The hooks that never run."""
        return [hook for hook in self.hooks if hook.state not in ("runs", "conditional")]

    @property
    def idle(self) -> dict[str, int]:
        """How many hooks never run, by the reason."""
        return dict(Counter(hook.state for hook in self.idle_hooks))

    @property
    def conditional_hooks(self) -> list[HookCost]:
        """The hooks of skills and agents: most calls start none of them."""
        return [hook for hook in self.hooks if hook.state == "conditional"]

    @property
    def switched_off(self) -> list[str]:
        """What switches hooks off, each reason once."""
        return list(dict.fromkeys(hook.why for hook in self.hooks if hook.state == "disabled"))

    @property
    def longest(self) -> HookCost | None:
        """The hook with the longest timeout of those that are waited for."""
        waited = [hook for hook in self.hooks if hook.state == "runs" and not hook.background]
        return max(waited, key=lambda hook: hook.timeout_s, default=None)

    @property
    def dearest(self) -> list[HookCost]:
        return dearest(self.hooks)

    @property
    def asking_models(self) -> list[HookCost]:
        """The hooks that call a model, and run."""
        return [hook for hook in self.hooks if hook.calls_model and hook.state == "runs"]

    def as_data(self) -> dict[str, Any]:
        """What ``audit.data`` holds of one client, hooks apart."""
        return {
            "client": self.client,
            "handlers": self.handlers,
            "commands": self.commands,
            "disabled": self.disabled,
            "adopted": self.adopted,
            "adopted_started": self.adopted_started,
            "events": {
                event: {subject: finite(asdict(cost)) for subject, cost in by_subject.items()}
                for event, by_subject in self.events.items()
            },
            "moments": {name: finite(asdict(cost)) for name, cost in self.moments.items()},
            "dispatcher": {name: cost._asdict() for name, cost in self.dispatcher.items()},
        }


class AuditReport(NamedTuple):
    """Every client that was found, Claude Code first; never empty: without files it is a Claude Code without hooks.

    ``not_measured`` says which programs were missing when the rest was measured, one line a program. ``notes`` is what
    else the measuring had to say.
    """

    clients: tuple[ClientAudit, ...]
    findings: tuple[Finding, ...]
    not_measured: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    recorded: Recorded | None = None

    @property
    def first(self) -> ClientAudit:
        """The client whose figures stand at the top of ``audit.data``: Claude Code where there are files of it."""
        return self.clients[0]

    @property
    def files(self) -> tuple[Settings, ...]:
        return tuple(file for client in self.clients for file in client.files)

    @property
    def handlers(self) -> int:
        return sum(client.handlers for client in self.clients)

    @property
    def hooks(self) -> list[HookCost]:
        return [hook for client in self.clients for hook in client.hooks]

    @property
    def disabled(self) -> bool:
        return self.first.disabled

    @property
    def events(self) -> Mapping[str, Mapping[str, Cost]]:
        return self.first.events

    @property
    def moments(self) -> Mapping[str, Cost]:
        return self.first.moments

    @property
    def dispatcher(self) -> Mapping[str, Dispatched]:
        return self.first.dispatcher

    @property
    def duplicates(self) -> int:
        """Findings that say that the same work stands twice."""
        return sum(finding.rule.startswith("duplicate") for finding in self.findings)

    @property
    def errors(self) -> int:
        return sum(finding.severity == "error" for finding in self.findings)

    def worst(self) -> str:
        """The weight of the worst finding: ``error``, ``warning`` or empty."""
        return self.findings[0].severity if self.findings else ""

    def as_data(self) -> dict[str, Any]:
        """The report as ``audit.data`` of INTERFACES.md."""
        first = self.first.as_data()
        return {
            "files": [
                {
                    "path": str(file.path),
                    "handlers": len(file.all_handlers),
                    "dropped": file.dropped,
                    "client": file.client,
                    "scope": file.scope,
                }
                for file in self.files
            ],
            **{name: value for name, value in first.items() if name != "client"},
            "handlers": self.handlers,
            "clients": [client.as_data() for client in self.clients],
            "hooks": [hook.as_data() for hook in self.hooks],
            "duplicates": self.duplicates,
            "recorded": self.recorded._asdict() if self.recorded else None,
            "not_measured": list(self.not_measured),
            "findings": [{**vars(finding), "file": str(finding.file)} for finding in self.findings],
        }
