"""Counts of one module to its verdict and the reason: the table of docs/plans/telemetry.md, in its order."""

from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

from overdeck.plural import counted
from overdeck.telemetry.words import days, percent, span, upper_bound_percent

VERDICTS = (
    "exempt",
    "unknown",
    "immature",
    "broken",
    "unreachable",
    "dead",
    "removal-candidate",
    "quiet",
    "noisy",
    "active",
)
"""In the order in which they are tried."""

SUSPECTS = ("broken", "unreachable", "dead", "removal-candidate", "quiet")

BROKEN_PERCENT = 1.0
NOISY_PERCENT = 20.0
REMOVAL_DAYS = 30
NOISY_BYTES = 9_000
"""Below this much text in the window nobody is drowned: one call's cap for all contexts together."""


@dataclass(frozen=True)
class Counts:
    """What is known of one module. Ages are in days; None means never.

    ``asked``, ``fired``, ``errors``, ``timeouts``, ``context_bytes`` are of the window that was asked for;
    ``asked_reach`` and ``happened`` (calls of its events) of that window or the lifetime, whichever is longer;
    ``asked_lifetime`` of the last ``lifetime_days``; ``asked_removal`` of the last max(30, lifetime) days.
    ``canary``: whether its matrix passed when it was last run (``canary_age``: "3 d ago"); None is "not run".
    """

    cls: str
    lifetime_days: int | None
    enabled_days: float
    calls_known: bool
    asked: int = 0
    fired: int = 0
    errors: int = 0
    timeouts: int = 0
    context_bytes: int = 0
    context_bytes_of_all: int = 0
    asked_reach: int = 0
    happened: int = 0
    asked_lifetime: int = 0
    asked_removal: int = 0
    silent_days: float | None = None
    fired_ever: int = 0
    in_a_plan: bool = True
    keep: str | None = None
    canary: bool | None = None
    canary_age: str = ""
    id: str = "ID"
    matchers: str = ""
    calls_log: str = "hook-calls.jsonl"
    window: str = ""
    """The window that was asked for, in words ("7 d"): a verdict on its counts may be another one in another."""


class Judgement(NamedTuple):
    """A verdict of VERDICTS, and why in one line."""

    verdict: str
    why: str


def judge(c: Counts) -> Judgement:
    """The first verdict that fits."""
    exempt = _exempt(c)
    if exempt:
        return Judgement("exempt", exempt)
    lifetime = c.lifetime_days or 0
    if not c.calls_known:
        fired = (
            f"fired {counted(c.fired_ever, 'time')}, of how many asked is not known"
            if c.fired_ever
            else "never fired"
        )
        return Judgement("unknown", f"{fired}: {c.calls_log} is missing or empty")
    failed = c.errors + c.timeouts
    of = f" of the last {c.window}" if c.window else ""
    failing = f"{counted(c.errors, 'error')} and {counted(c.timeouts, 'timeout')} in {c.asked:,} asked{of}"
    if c.enabled_days < lifetime:
        why = f"enabled for {span(timedelta(days=c.enabled_days))} of its {days(lifetime)}"
        return Judgement("immature", f"{why}; {failing}" if failed else why)
    if failed * 100 > BROKEN_PERCENT * c.asked:
        return Judgement("broken", f"{failing} ({percent(100 * failed / max(1, c.asked))})")
    if not c.asked_reach and c.happened:
        return Judgement("unreachable", _unreachable(c))
    silent_days = c.enabled_days if c.silent_days is None else c.silent_days
    if silent_days >= lifetime and c.asked_lifetime:
        return _silent(c, lifetime, silent_days)
    if silent_days >= lifetime:
        return Judgement("unknown", f"silent for {days(silent_days)}, and not asked in the last {days(lifetime)}")
    if c.fired * 100 > NOISY_PERCENT * c.asked and c.asked:
        share = percent(100 * c.fired / c.asked)
        return Judgement("noisy", f"fired {c.fired:,} of {c.asked:,} asked{of} ({share}): narrow it")
    if c.context_bytes > NOISY_BYTES and c.context_bytes * 2 > c.context_bytes_of_all:
        share = percent(100 * c.context_bytes / c.context_bytes_of_all)
        return Judgement("noisy", f"{c.context_bytes:,} bytes of context{of}, {share} of all: narrow it")
    return Judgement("active", f"fired {c.fired:,} of {c.asked:,} asked{of}")


def _exempt(c: Counts) -> str:
    if c.cls == "observer":
        return "an observer leaves no fire line"
    if c.lifetime_days is None:
        return 'its manifest says lifetime_days = "never"'
    return f"kept by its owner: {c.keep}" if c.keep is not None else ""


def _unreachable(c: Counts) -> str:
    happened = f"0 asked while its events happened {counted(c.happened, 'time')}"
    if not c.in_a_plan:
        return f"{happened}: no logged plan holds it; run overdeck install"
    return f"{happened}: no call matched {c.matchers}" if c.matchers else happened


def _silent(c: Counts, lifetime: int, silent_days: float) -> Judgement:
    """Dead, removal candidate or quiet: asked, and silent for its lifetime."""
    removal = max(REMOVAL_DAYS, lifetime)
    long = silent_days >= removal and c.enabled_days >= removal
    window, asked = (removal, c.asked_removal) if long else (lifetime, c.asked_lifetime)
    why = f"0 of {asked:,} asked in {days(window)}; 95 % upper bound {percent(upper_bound_percent(asked))}"
    run = f" ({c.canary_age})" if c.canary_age else ""
    if c.canary is False:
        return Judgement("dead", f"{why}; its canary fails{run}: it would not act if it had to")
    if not long:
        return Judgement("quiet", why)
    if c.canary:
        return Judgement("removal-candidate", f"{why}; its canary passes{run}")
    return Judgement("removal-candidate", f"{why}; its canary has not been run: overdeck hooks test {c.id}")
