from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overdeck.telemetry.verdict import SUSPECTS, VERDICTS, Counts, judge

HEALTHY = Counts(
    id="m",
    cls="gate",
    lifetime_days=7,
    enabled_days=100,
    calls_known=True,
    asked=1000,
    fired=10,
    asked_reach=1000,
    happened=2000,
    asked_lifetime=1000,
    asked_removal=4000,
    silent_days=1,
    fired_ever=50,
)
SILENT = replace(HEALTHY, fired=0, asked_lifetime=12_431, silent_days=8)


@pytest.mark.parametrize(
    ("counts", "change", "verdict", "why"),
    [
        (HEALTHY, {}, "active", "fired 10 of 1,000 asked"),
        (HEALTHY, {"cls": "observer"}, "exempt", "an observer leaves no fire line"),
        (HEALTHY, {"lifetime_days": None}, "exempt", 'its manifest says lifetime_days = "never"'),
        (SILENT, {"keep": "legal asked (2026-01-02)"}, "exempt", "kept by its owner: legal asked (2026-01-02)"),
        (
            HEALTHY,
            {"calls_known": False},
            "unknown",
            "fired 50 times, of how many asked is not known: hook-calls.jsonl is missing or empty",
        ),
        (
            HEALTHY,
            {"calls_known": False, "fired_ever": 0},
            "unknown",
            "never fired: hook-calls.jsonl is missing or empty",
        ),
        (HEALTHY, {"enabled_days": 2.5}, "immature", "enabled for 2 d of its 7 days"),
        (HEALTHY, {"enabled_days": 0.1}, "immature", "enabled for 2 h of its 7 days"),
        (
            HEALTHY,
            {"enabled_days": 2, "errors": 3},
            "immature",
            "enabled for 2 d of its 7 days; 3 errors and 0 timeouts in 1,000 asked",
        ),
        (HEALTHY, {"errors": 10}, "active", "fired 10 of 1,000 asked"),
        (HEALTHY, {"errors": 6, "timeouts": 5}, "broken", "6 errors and 5 timeouts in 1,000 asked (1.1 %)"),
        (
            HEALTHY,
            {"asked": 0, "fired": 0, "asked_reach": 0, "asked_lifetime": 0, "matchers": "PreToolUse: Bsh"},
            "unreachable",
            "0 asked while its events happened 2,000 times: no call matched PreToolUse: Bsh",
        ),
        (
            HEALTHY,
            {"asked": 0, "asked_reach": 0, "asked_lifetime": 0, "in_a_plan": False},
            "unreachable",
            "0 asked while its events happened 2,000 times: no logged plan holds it; run overdeck install",
        ),
        (
            SILENT,
            {"canary": False},
            "dead",
            "0 of 12,431 asked in 7 days; 95 % upper bound 0.024 %; "
            "its canary fails: it would not act if it had to",
        ),
        (
            SILENT,
            {"silent_days": 35},
            "removal-candidate",
            "0 of 4,000 asked in 30 days; 95 % upper bound 0.075 %; "
            "its canary has not been run: overdeck hooks test m",
        ),
        (
            SILENT,
            {"silent_days": 35, "canary": True},
            "removal-candidate",
            "0 of 4,000 asked in 30 days; 95 % upper bound 0.075 %; its canary passes",
        ),
        (
            SILENT,
            {"silent_days": 35, "canary": False},
            "dead",
            "0 of 4,000 asked in 30 days; 95 % upper bound 0.075 %; "
            "its canary fails: it would not act if it had to",
        ),
        (SILENT, {}, "quiet", "0 of 12,431 asked in 7 days; 95 % upper bound 0.024 %"),
        (SILENT, {"canary": True}, "quiet", "0 of 12,431 asked in 7 days; 95 % upper bound 0.024 %"),
        (SILENT, {"silent_days": None, "enabled_days": 8}, "quiet", None),
        (SILENT, {"silent_days": None, "enabled_days": 31}, "removal-candidate", None),
        (SILENT, {"lifetime_days": 30}, "active", None),
        (SILENT, {"lifetime_days": 60, "silent_days": 59}, "active", None),
        (SILENT, {"lifetime_days": 60, "silent_days": 61}, "removal-candidate", None),
        (SILENT, {"asked_lifetime": 2}, "quiet", "0 of 2 asked in 7 days; 95 % upper bound 100 %"),
        (HEALTHY, {"fired": 201}, "noisy", "fired 201 of 1,000 asked (20 %): narrow it"),
        (HEALTHY, {"fired": 200}, "active", None),
        (
            HEALTHY,
            {"context_bytes": 60_000, "context_bytes_of_all": 100_000},
            "noisy",
            "60,000 bytes of context, 60 % of all: narrow it",
        ),
        (HEALTHY, {"context_bytes": 8_000, "context_bytes_of_all": 8_000}, "active", None),
        (
            HEALTHY,
            {"asked": 0, "fired": 0, "asked_reach": 0, "asked_lifetime": 0, "happened": 0, "silent_days": 9},
            "unknown",
            "silent for 9 days, and not asked in the last 7 days",
        ),
        (HEALTHY, {"silent_days": -1}, "active", None),
    ],
)
def test_each_row_of_the_verdict_table(
    counts: Counts, change: dict[str, Any], verdict: str, why: str | None
) -> None:
    judged = judge(replace(counts, **change))
    assert judged.verdict == verdict
    if why is not None:
        assert judged.why == why


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        ({"cls": "observer"}, {"calls_known": False}),
        ({"calls_known": False}, {"enabled_days": 1}),
        ({"enabled_days": 1}, {"errors": 900}),
        ({"errors": 900}, {"asked_reach": 0}),
        ({"asked_reach": 0}, {"silent_days": 40, "canary": False}),
        ({"silent_days": 40, "canary": False}, {"fired": 900}),
        ({"silent_days": 40}, {"fired": 900}),
        ({"silent_days": 8}, {"fired": 900}),
    ],
)
def test_the_first_verdict_that_fits_wins(stronger: dict[str, Any], weaker: dict[str, Any]) -> None:
    alone = judge(replace(HEALTHY, **stronger)).verdict
    assert judge(replace(HEALTHY, **{**weaker, **stronger})).verdict == alone
    assert judge(replace(HEALTHY, **weaker)).verdict != alone


_number = st.integers(0, 10**6)


@given(
    st.builds(
        Counts,
        cls=st.sampled_from(["gate", "adviser", "observer", "rewriter"]),
        lifetime_days=st.none() | st.integers(1, 400),
        enabled_days=st.floats(0, 1000),
        calls_known=st.booleans(),
        asked=_number,
        fired=_number,
        errors=_number,
        timeouts=_number,
        context_bytes=_number,
        context_bytes_of_all=st.integers(10**6, 10**7),
        asked_reach=_number,
        happened=_number,
        asked_lifetime=_number,
        asked_removal=_number,
        silent_days=st.none() | st.floats(-10, 1000),
        canary=st.none() | st.booleans(),
    )
)
def test_whatever_is_counted_there_is_one_verdict_and_a_reason(counts: Counts) -> None:
    judged = judge(counts)
    assert judged.verdict in VERDICTS
    assert judged.why


def test_suspects_are_verdicts() -> None:
    assert set(SUSPECTS) < set(VERDICTS)
