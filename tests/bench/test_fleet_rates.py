"""How often things happen: as a person says it, and as the logs do, through a real ingest into DuckDB."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from loglines import CALL

from overdeck.bench.fleet.rates import MOST_PER_SECOND, given_rates, parse_rate, read_rates
from overdeck.bench.fleet.recorded import recorded_rates
from overdeck.errors import ExitCode, OverdeckError
from overdeck.paths import Places
from overdeck.telemetry.ingest import ingest

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_a_rate_names_event_and_tool() -> None:
    assert parse_rate("PreToolUse:mcp__a__b=2.5") == ("PreToolUse", "mcp__a__b", 2.5)
    assert parse_rate("Stop=1e-3") == ("Stop", "", 0.001)


def test_a_session_start_without_a_source_is_a_start_up() -> None:
    assert parse_rate("SessionStart=0.001").word == "SessionStart:startup"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("PreToolUse:Bash", "no rate"),
        ("", "no rate"),
        ("PreToolUse:Bash=", "'' is no number"),
        ("PreToolUse:Bash=fast", "'fast' is no number"),
        ("PreToolUse:Bash=nan", "no rate of one session"),
        ("PreToolUse:Bash=inf", "no rate of one session"),
        ("PreToolUse:Bash=0", "no rate of one session"),
        ("PreToolUse:Bash=-1", "no rate of one session"),
        (f"PreToolUse:Bash={MOST_PER_SECOND * 1.01}", "no rate of one session"),
        ("PreToolUze:Bash=1", "PreToolUse is"),
        ("=1", "'' is no event"),
        ("PreToolUse=1", "no tool is named"),
        ("PreToolUse:=1", "no tool is named"),
        ("Stop:Bash=1", "Stop has no tool"),
        ("PreToolUse:Ba sh=1", "'Ba sh' is no tool's name"),
        ("PreToolUse:Ba|sh=1", "no tool's name"),
        (f"PreToolUse:{'a' * 201}=1", "no tool's name"),
        ("SessionStart:Bash=1", "not by 'Bash'"),
    ],
)
def test_a_malformed_rate_is_a_usage_error_that_names_the_word(text: str, why: str) -> None:
    with pytest.raises(OverdeckError) as refused:
        given_rates(["Stop=1", text])
    assert refused.value.exit_code == ExitCode.USAGE
    assert why in refused.value.message
    assert repr(text) in refused.value.message


def test_the_same_event_twice_is_refused() -> None:
    with pytest.raises(OverdeckError, match="given twice"):
        given_rates(["Stop=1", "Stop=2"])


def test_the_most_frequent_event_comes_first() -> None:
    assert [row.event for row in given_rates(["Stop=0.1", "PreToolUse:Bash=3"]).rows] == ["PreToolUse", "Stop"]


def test_a_file_says_rates_and_sessions(tmp_path: Path) -> None:
    file = tmp_path / "rates.toml"
    file.write_text('sessions = 7\n[rates]\n"PreToolUse:Bash" = 2\nStop = 0.5\n')
    rates = read_rates(file)
    assert rates.sessions == 7
    assert [tuple(row) for row in rates.rows] == [("PreToolUse", "Bash", 2.0), ("Stop", "", 0.5)]


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("rates = 1", 1, "no table"),
        ("", 1, "no table"),
        ("[rates]", 1, "no table"),
        ("[rates]\nStop = nan", 2, "no rate of one session"),
        ("[rates]\nStop = true", 2, "no number"),
        ('[rates]\nStop = "1"', 2, "no number"),
        ('[rates]\n\n"PreToolUze:Bash" = 1', 3, "no event"),
        ("sessions = 0\n[rates]\nStop = 1", 1, "0 sessions"),
        ("sessions = 1.5\n[rates]\nStop = 1", 1, "whole number"),
        ("seconds = 1\n[rates]\nStop = 1", 1, "none of rates, sessions"),
        ("[rates\nStop = 1", 1, "not TOML"),
    ],
)
def test_a_file_that_says_something_else_is_refused_with_its_line(
    tmp_path: Path, text: str, line: int, why: str
) -> None:
    file = tmp_path / "rates.toml"
    file.write_text(text)
    with pytest.raises(OverdeckError) as refused:
        read_rates(file)
    assert refused.value.exit_code == ExitCode.USAGE
    assert refused.value.message.startswith(f"{file}, line {line}: ")
    assert why in refused.value.message


@pytest.fixture
def places(tmp_path: Path) -> Places:
    places = Places.from_environment({"HOME": str(tmp_path)})
    places.state.mkdir(parents=True)
    return places


def _record(places: Places, *calls: dict[str, Any]) -> None:
    """Log ``calls``, each ``at`` seconds before NOW, and take them in."""
    with places.calls_log.open("a") as log:
        for call in calls:
            at = NOW - timedelta(seconds=call.pop("ago"))
            log.write(json.dumps({**CALL, "ts": at.isoformat().replace("+00:00", "Z"), **call}) + "\n")
    ingest(places, now=NOW)


def _rates(places: Places, since: timedelta = timedelta(days=7)) -> dict[str, float]:
    return {row.word: row.per_second for row in recorded_rates(places, since=since, now=NOW).rows}


def test_recorded_rates_are_calls_over_the_time_sessions_worked(places: Places) -> None:
    _record(
        places,
        *({"session": "a", "ago": 1000 - 10 * i} for i in range(11)),  # 100 s
        *({"session": "b", "ago": 500 - 20 * i, "tool": "Write"} for i in range(6)),  # 100 s, at the same time
        {"session": "b", "ago": 410, "event": "Stop", "tool": ""},
    )
    rates = recorded_rates(places, since=timedelta(days=7), now=NOW)
    assert {row.word: row.per_second for row in rates.rows} == pytest.approx(
        {"PreToolUse:Bash": 11 / 200, "PreToolUse:Write": 6 / 200, "Stop": 1 / 200}
    )
    assert rates.record is not None
    assert (len(rates.record.sessions), rates.record.calls) == (2, 18)
    assert rates.record.worked == timedelta(seconds=200)


def test_a_lunch_break_counts_as_five_minutes(places: Places) -> None:
    _record(places, {"ago": 9000}, {"ago": 8990}, {"ago": 3000}, {"ago": 2990})
    assert _rates(places) == pytest.approx({"PreToolUse:Bash": 4 / 320})


def test_our_own_probes_and_other_clients_and_the_future_do_not_count(places: Places) -> None:
    _record(
        places,
        {"ago": 100},
        {"ago": 50},
        {"ago": 60, "session": "overdeck-fleet"},
        {"ago": 60, "client": "codex"},
        {"ago": -3600},
        {"ago": 60, "session": ""},
    )
    assert _rates(places) == pytest.approx({"PreToolUse:Bash": 2 / 50})


def test_a_session_start_without_a_source_is_taken_for_a_start_up(places: Places) -> None:
    _record(places, {"ago": 100, "event": "SessionStart", "tool": ""}, {"ago": 50})
    assert "SessionStart:startup" in _rates(places)


def test_what_no_client_calls_a_tool_or_an_event_has_no_rate(places: Places) -> None:
    _record(places, {"ago": 100, "tool": "a\nb"}, {"ago": 90, "event": "Sneeze"}, {"ago": 50})
    assert list(_rates(places)) == ["PreToolUse:Bash"]


def test_without_telemetry_the_error_says_how_to_go_on(places: Places) -> None:
    with pytest.raises(OverdeckError) as refused:
        _rates(places)
    assert (refused.value.exit_code, refused.value.code) == (ExitCode.NOT_FOUND, "no-rates")
    assert "--rate PreToolUse:Bash=0.3" in refused.value.hint


def test_an_empty_window_says_when_the_last_call_was(places: Places) -> None:
    _record(places, {"ago": 20 * 86400}, {"ago": 20 * 86400 - 10})
    with pytest.raises(OverdeckError, match=r"the last 7 d, the last call was 19 d ago") as refused:
        _rates(places)
    assert refused.value.exit_code == ExitCode.NOT_FOUND
    assert "--since" in refused.value.hint


def test_one_call_makes_no_rate(places: Places) -> None:
    _record(places, {"ago": 10})
    with pytest.raises(OverdeckError, match="more than one call"):
        _rates(places)


def test_a_window_longer_than_the_calendar_is_all_there_is(places: Places) -> None:
    _record(places, {"ago": 100}, {"ago": 50})
    assert _rates(places, timedelta(weeks=99_999)) == pytest.approx({"PreToolUse:Bash": 2 / 50})
