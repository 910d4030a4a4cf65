"""``open --from-doctor | --from-audit | --from-stdin``: what others saw becomes incidents, each once."""

import json
from pathlib import Path
from typing import Any

import pytest

from overdeck.authoring.matrix import ask_front
from overdeck.dispatch.manifest import read_manifest
from overdeck.errors import OverdeckError
from overdeck.incidents import intake
from overdeck.incidents.reporting import report
from overdeck.paths import shipped
from overdeck.wiring.doctor import CHECKS

NOW = "2026-11-30T12:00:00.000Z"


def envelope(schema: str, data: Any, **more: Any) -> bytes:
    return json.dumps({"schema": schema, "ok": True, "data": data, "error": None, "warnings": [], **more}).encode()


def finding(about: str, said: str, detector: str = "") -> dict[str, str]:
    return {"about": about, "said": said, "detector": detector}


def visit(
    *findings: dict[str, str],
    name: str = "process limit",
    state: str = "warn",
    at: str = "2026-11-30T10:00:00.000Z",
) -> bytes:
    """A doctor's report with one check."""
    check = {"name": name, "state": state, "seen": "", "next": "", "step": "machine", "class": "pids-cap",
             "findings": list(findings)}  # fmt: skip
    return envelope("overdeck.doctor/1", {"at": at, "window_s": 1, "checks": [check], "failed": 0})


def audit(*rules: str, at: str = "2026-11-30T10:00:00.000Z") -> bytes:
    rows = [{"rule": rule, "severity": "error", "file": "/f.json", "pointer": "/hooks", "why": "w", "fix": "f"}
            for rule in rules]  # fmt: skip
    return envelope("overdeck.audit/1", {"at": at, "findings": rows})


def fires(as_of: str = "2026-11-30T10:00:00Z", **modules: tuple[str, int, int]) -> bytes:
    rows = [{"id": name.replace("_", "-"), "verdict": verdict, "timeouts": timeouts, "errors": errors, "why": "w"}
            for name, (verdict, timeouts, errors) in modules.items()]  # fmt: skip
    return envelope("overdeck.fires/1", {"as_of": as_of, "modules": rows})


@pytest.fixture
def tell(local):
    """Hand a document in; what became of it, as slug → occurrences of what was recorded just now."""

    def call(raw: bytes, **more: Any) -> dict[str, int]:
        done = report(local, intake.read(raw).seen, NOW, warn=pytest.fail, **more)
        return {one.incident.slug: one.incident.occurrences for one in done.opened if one.recorded}

    return call


def test_a_finding_of_the_doctor_opens_an_incident_of_its_class(tell) -> None:
    assert tell(visit(finding("/g", "/g: 9 forks refused"))) == {"pids-cap": 1}


def test_the_same_report_twice_counts_once_and_a_later_one_counts_again(tell) -> None:
    first = visit(finding("/g", "/g: 9 forks refused"))
    later = visit(finding("/g", "/g: 2 forks refused"), at="2026-11-30T11:00:00.000Z")

    assert [tell(first), tell(first), tell(later), tell(later), tell(first)] == [
        {"pids-cap": 1}, {}, {"pids-cap": 2}, {}, {},
    ]  # fmt: skip


@pytest.mark.parametrize("state", ["ok", "skip"])
def test_what_is_well_is_idle(state: str) -> None:
    assert intake.read(visit(finding("/g", "x"), state=state)) == intake.Intake((), 1)


def test_a_warning_that_names_nothing_is_idle() -> None:
    assert intake.read(visit()) == intake.Intake((), 1)


def test_doctor_and_audit_speak_of_one_incident_where_they_found_the_same(tell) -> None:
    assert tell(audit("never-started")) == {"launcher-dead": 1}
    assert tell(visit(finding("/f.json#/hooks", "w", "audit: never-started"), name="settings", at=NOW)) == {
        "launcher-dead": 2
    }


def test_a_rule_that_no_class_is_for_is_not_taken_for_the_doctors_own_class(local) -> None:
    raw = visit(finding("/f.json#/hooks", "w", "audit: a-rule-of-tomorrow"), name="settings")
    done = report(local, intake.read(raw).seen, NOW, warn=pytest.fail)

    assert done.opened == () and len(done.unclassed) == 1


def test_each_rule_of_the_audit_goes_to_the_class_that_names_it(tell) -> None:
    assert tell(audit("dropped-file", "invalid-regex", "duplicate-handler")) == {
        "settings-dropped": 1, "matcher-dead": 1, "double-firing": 1,
    }  # fmt: skip


def test_timeouts_crashes_and_dead_gates_of_the_telemetry_are_incidents_and_silence_is_not(tell) -> None:
    raw = fires(slow=("active", 3, 0), sick=("broken", 0, 2), quiet_one=("quiet", 0, 0), gone=("dead", 0, 0))

    assert tell(raw) == {"hook-timeout": 1, "module-crashing": 1, "gate-silent": 1}
    assert intake.read(raw).idle == 1


def test_one_days_count_is_one_sighting_until_it_grows(tell) -> None:
    assert tell(fires(slow=("active", 3, 0))) == {"hook-timeout": 1}
    assert tell(fires("2026-11-30T15:00:00Z", slow=("active", 3, 0))) == {}
    assert tell(fires("2026-11-30T16:00:00Z", slow=("active", 4, 0))) == {"hook-timeout": 2}


def test_hooks_that_transcripts_show_killed_or_never_started_are_incidents_without_their_command_line(
    tell, local
) -> None:
    command = "env TOKEN=secret python3 /home/dev/.claude/hooks/guard.py --key secret"
    rows = [
        {"command": command, "killed": 3, "not_started": 1},
        {"command": None, "killed": 9, "not_started": 9},
        {"command": "/bin/well", "killed": 0, "not_started": 0},
    ]
    raw = envelope("overdeck.audit/1", {"at": NOW, "findings": [], "transcripts": {"commands": rows}})

    assert tell(raw) == {"hook-timeout": 1, "launcher-dead": 1} and tell(raw) == {}
    said = b"".join(path.read_bytes() for path in local.log.glob("*.jsonl"))
    assert b"guard.py was killed at its timeout 3 times" in said and b"secret" not in said


def stop_failure(error: str = "rate_limit", session: str = "s1") -> bytes:
    payload = {"session_id": session, "hook_event_name": "StopFailure", "error": error,
               "last_assistant_message": "secret words"}  # fmt: skip
    return json.dumps(payload).encode() + b"\n"


def test_a_turn_that_failed_is_counted_per_kind_of_error_and_its_words_are_not_kept(tell, local) -> None:
    assert tell(stop_failure() + stop_failure(session="s2") + stop_failure("server_error")) == {"turn-failed": 1}
    assert tell(stop_failure(session="s3")) == {"turn-failed": 3}
    assert b"secret" not in b"".join(path.read_bytes() for path in local.log.glob("*.jsonl"))


def test_a_module_killed_at_its_deadline_in_a_calls_line_is_the_telemetrys_incident(tell) -> None:
    tell(fires(slow=("active", 3, 0)))
    ran = {"slow": {"us": 1, "bytes": 0, "end": "timeout"}, "well": {"us": 1, "bytes": 0, "end": "none"}}
    line = json.dumps(
        {"ts": "2026-11-30T10:00:00.000Z", "event": "PreToolUse", "session": "s", "ran": ran}
    ).encode()

    assert tell(line) == {"hook-timeout": 2}


def test_what_the_observer_logs_becomes_an_occurrence(tmp_path: Path, local, tell) -> None:
    """Through the real front: the plan is the matrix's own, the journal the front's."""
    from fronts import Front

    front = Front(tmp_path / "fleet")
    manifest = shipped("modules", "stop-failure", "module.toml").read_text().replace('"session"\n', '"guards"\n')
    (front.modules / "stop-failure").mkdir()
    (front.modules / "stop-failure" / "module.toml").write_text(manifest)
    front.install()
    assert front.call(json.loads(stop_failure())).stdout == ""
    journal = (front.state / "modules" / "stop-failure" / "journal.jsonl").read_bytes()

    assert (
        set(json.loads(journal)) == {"ts", "event", "session", "sub", "in", "error"} and b"secret" not in journal
    )
    assert json.loads(journal)["error"] == json.loads(stop_failure())["error"]
    assert tell(journal) == {"turn-failed": 1} and tell(journal) == {}
    assert tell(stop_failure()) == {"turn-failed": 2}, "the payload and the journal's line are the same trouble"


def test_a_line_of_an_error_without_a_class_is_taken(tell) -> None:
    assert tell(b'{"ts":"2026-11-30T10:00:00.000Z","event":"StopFailure","session":"s","error":""}') == {
        "turn-failed": 1
    }


def test_the_observer_says_nothing_to_the_client() -> None:
    answer = ask_front(read_manifest(str(shipped("modules", "stop-failure"))), json.loads(stop_failure()))

    assert answer.stdout == ""


@pytest.mark.parametrize(
    ("raw", "key"),
    [
        (b"", "document"),
        (b"[1]", "document"),
        (b"{", "document"),
        (b"[" * 99_999, "nested"),
        (b'{"ok": true}\n', "line 1.event"),
        (envelope("overdeck.fires/2", {}), "schema"),
        (envelope("overdeck.doctor/1", {}), "data.checks"),
        (envelope("overdeck.doctor/1", None), "data is missing"),
        (envelope("overdeck.doctor/1", {"checks": [{"name": "x"}]}), "data.checks[0].state"),
        (envelope("overdeck.doctor/1", {"checks": [{"name": 5, "state": "ok"}]}), "data.checks[0].name"),
        (envelope("overdeck.doctor/1", {"at": "noon", "checks": []}), "data.at"),
        (visit(finding("/g", "")), "data.checks[0].findings[0].said"),
        (visit({"about": "/g", "said": "x"}), "data.checks[0].findings[0].detector"),
        (envelope("overdeck.audit/1", {"findings": [{"rule": "r"}]}), "data.findings[0].file"),
        (envelope("overdeck.fires/1", {"as_of": NOW, "modules": [{"id": "x", "verdict": "v", "timeouts": True}]}),
         "data.modules[0].timeouts"),
        (b'{"event": "PreToolUse", "ran": {"m": 5}}', "line 1.ran.m"),
        (b'{"event": "Stop"}\n{"event": 5}', "line 2.event"),
        (b'{"event" "Stop"}\n{"event": "St', "line 1 is not JSON"),
        (b'{"event": "Stop"', "not JSON"),
    ],
)  # fmt: skip
def test_malformed_input_is_a_usage_error_that_names_the_key(raw: bytes, key: str) -> None:
    with pytest.raises(OverdeckError) as refused:
        intake.read(raw)

    assert refused.value.exit_code == 2 and key in refused.value.message


WHOLE = b'{"event": "StopFailure", "error": "rate_limit"}'


@pytest.mark.parametrize(
    ("raw", "torn"),
    [
        (WHOLE + b'\n{"event": "StopFail', [2]),
        (b'lure", "error": "rate_limit"}\n' + WHOLE + b"\n", [1]),
        (b'{"event": "St' + WHOLE + b"\n" + WHOLE, [1]),
        (WHOLE + b"\n\nnonsense\n" + b"\0" * 9 + b'\n{"event": "\xff"}\n' + b"[" * 99_999, [3, 4, 5, 6]),
    ],
)  # fmt: skip
def test_of_lines_that_are_torn_each_is_named_and_the_whole_ones_are_taken(raw: bytes, torn: list[int]) -> None:
    found = intake.read(raw)

    assert [one.title for one in found.seen] == ["a turn ended in an error of the client: rate_limit"]
    assert [line for line, _ in found.torn] == torn
    assert all(f"line {line} is" in why for line, why in found.torn)


def test_a_torn_line_is_told_beside_what_was_recorded(clone) -> None:
    from homes import Home

    raw = (WHOLE + b'\n{"event": "StopFail' + b'\n{"event' * 9).decode()
    said = Home(clone.home).run(
        "od-incidents", "open", "--from-stdin", "--json", cwd=clone.top, env=clone.env, stdin=raw
    )

    assert (said.code, said.data["opened"], said.data["torn"]) == (0, 1, [*range(2, 12)])
    warnings = said.document["warnings"]
    assert "the input's line 2 is not JSON" in warnings[0] and "torn" in warnings[0]
    assert "5 more lines" in warnings[5]


def test_a_report_that_failed_itself_is_refused_in_its_own_words() -> None:
    error = {"code": "x", "message": "no home", "hint": "set HOME"}
    with pytest.raises(OverdeckError, match="failed itself: no home"):
        intake.read(envelope("overdeck.doctor/1", None, ok=False, error=error))


def test_a_report_of_another_command_is_refused() -> None:
    with pytest.raises(OverdeckError, match=r"schema is 'overdeck.audit/1'; it must be overdeck.doctor/1"):
        intake.read(audit(), intake.DOCTOR)


def test_a_finding_that_no_class_is_for_is_left_out_and_told_or_takes_the_class_that_is_given(local, tell) -> None:
    raw = audit("a-rule-of-tomorrow")
    done = report(local, intake.read(raw).seen, NOW, warn=pytest.fail)

    assert done.opened == () and [one.detector for one in done.unclassed] == ["audit: a-rule-of-tomorrow"]
    assert tell(raw, other="swarm-cost") == {"swarm-cost": 1}


def test_a_fingerprint_as_long_as_a_path_may_be_still_tells_two_apart(tell, local) -> None:
    for end in "ab":
        tell(visit(finding("/g" * 400 + end, "x" * 400)))

    done = report(local, intake.read(visit(finding("/g" * 400 + "a", "x"), at=NOW)).seen, NOW, warn=pytest.fail)
    assert done.opened[0].incident.occurrences == 2


def test_every_checks_class_is_the_one_whose_detector_names_it() -> None:
    from overdeck.incidents.taxonomy import load

    owner = {name: known.slug for known in load(shipped("incidents", "taxonomy.toml")).classes
             for name in known.detectors}  # fmt: skip

    assert {check.name: check.trouble for check in CHECKS if check.trouble} == {
        check.name: owner.get(f"doctor: {check.name}") for check in CHECKS if check.trouble
    }


def test_the_commands_hand_their_reports_over(clone, tmp_path: Path) -> None:
    """The real doctor and the real audit of a home whose settings the client would drop; from a file and a pipe."""
    settings = clone.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"model": 5, "hooks": {}}')
    from homes import Home

    home = Home(clone.home)
    seen = home.run("overdeck", "doctor", "--json", cwd=clone.top, env=clone.env)
    (tmp_path / "doctor.json").write_text(seen.out)
    told = clone.od("open", "--from-doctor", str(tmp_path / "doctor.json"), "--json").data
    again = clone.od("open", "--from-doctor", str(tmp_path / "doctor.json"), "--json").data
    linted = home.run("overdeck", "audit", "--json", cwd=clone.top, env=clone.env)
    piped = home.run(
        "od-incidents", "open", "--from-audit", "--json", cwd=clone.top, env=clone.env, stdin=linted.out
    )
    dropped = next(one for one in told["incidents"] if one["class"] == "settings-dropped")

    assert told["opened"] >= 1 and told["idle"] > 5 and again["repeated"] == len(told["incidents"])
    assert (again["opened"], again["counted"]) == (0, 0)
    assert [(one["id"], one["occurrences"]) for one in piped.data["incidents"]] == [(dropped["id"], 2)]


def test_triage_shows_what_is_known_of_it_and_leads_to_the_next_command(clone) -> None:
    settings = clone.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"model": 5, "hooks": {}}')
    name = clone.open("one mistake", "settings-dropped")
    ran = clone.od("triage")
    lines = [line for line in ran.out.splitlines() if line[:1].isdigit()]

    assert ran.code == 1 and [line.split()[1] for line in lines] == [
        "machine:", "output:", "launcher:", "wiring:", "module:",
    ]  # fmt: skip
    assert f"known: {name}" in ran.out and "next: overdeck audit" in ran.out and "looked at: " in ran.out
    assert "open --from-doctor" in ran.err


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["--from-doctor", "--from-audit"], "do not go together"),
        (["--from-doctor", "--title", "x"], "do not go together"),
        (["report.json"], "with --from-doctor, --from-audit or --from-stdin only"),
        (["--from-doctor", "gone.json"], "there is no gone.json"),
        (["--class", "hook-timeout"], "needs --title"),
        ([], "needs --class and --title"),
    ],
)
def test_options_that_make_no_sense_are_usage_errors(clone, args: list[str], why: str) -> None:
    before = clone.log_bytes()
    clone.od("open", *args, "--json").check_refused(2, "usage", why)

    assert clone.log_bytes() == before


@pytest.mark.parametrize(("text", "seconds"), [("30s", 30), ("500ms", 0.5), ("2m", 120), ("1.5", 1.5)])
def test_a_window_is_read_with_its_unit(text: str, seconds: float) -> None:
    from overdeck.wiring.doctor.visit import window

    assert window(text) == seconds


@pytest.mark.parametrize("text", ["", "0s", "-1s", "soon", "2h", "1e9s"])
def test_a_window_that_is_none_is_a_usage_error(text: str) -> None:
    from overdeck.wiring.doctor.visit import window

    with pytest.raises(OverdeckError, match="--watch"):
        window(text)


def test_an_input_without_end_is_refused(clone) -> None:
    said = clone.od("open", "--from-stdin", "/dev/zero", "--json")
    said.check_refused(2, "too-long", "/dev/zero holds more than 64 MiB")
