"""The doctor's steps behind the machine: output, the hooks' commands, and what the modules' runs ended with."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from overdeck.wiring.doctor import CHECKS, Report, Situation, run


@pytest.fixture
def check(places, recipe):
    """One check by its name."""

    def call(name: str, environ: dict[str, str] | None = None, **more: Any) -> Report:
        situation = Situation(
            places, recipe, environ if environ is not None else {"PATH": "/usr/bin:/bin"}, **more
        )
        (report,) = run([check for check in CHECKS if check.name == name], situation)
        return report

    return call


def test_output_that_arrives_whole_is_well(check) -> None:
    assert check("cut output").state == "ok"


@pytest.mark.parametrize(
    ("cat", "said"), [("head -c 100", "100 of 28890 bytes arrived"), ("exit 1", "0 of 28890 bytes arrived")]
)
def test_a_filter_that_swallows_output_is_found(check, script, cat: str, said: str) -> None:
    folder = script("bin/cat", f"#!/bin/sh\n{cat}\n").parent
    report = check("cut output", {"PATH": f"{folder}:/usr/bin:/bin"})

    assert (report.step, report.state, report.trouble) == ("output", "fail", "output-truncated")
    assert said in report.seen and "through a filter" in {finding.about for finding in report.findings}


def call_line(ago: timedelta = timedelta(0), session: str = "s", **ends: str) -> str:
    moment = (datetime.now(UTC) - ago).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    ran = {module: {"us": 5, "bytes": 0, "end": end} for module, end in ends.items()}
    line = {"ts": moment, "v": 1, "plan": "0", "client": "claude", "event": "PreToolUse", "tool": "Bash",
            "session": session, "sub": False, "in": 5, "out": 0, "us": 9, "ran": ran}  # fmt: skip
    return json.dumps(line) + "\n"


@pytest.fixture
def calls(places) -> Path:
    places.calls_log.parent.mkdir(parents=True)
    return places.calls_log


DAY = timedelta(days=1)


def test_a_line_that_was_cut_in_the_last_hour_is_named_by_its_place_and_not_quoted(check, calls: Path) -> None:
    first = call_line(gate="none")
    calls.write_text(first + '{"ts":"2026-secret\n' + call_line())
    report = check("journals")

    assert (report.step, report.state, report.trouble) == ("output", "warn", "journal-corruption")
    assert f"at byte {len(first)}" in report.seen and "secret" not in report.seen
    assert [finding.about for finding in report.findings] == [str(calls)]


def test_a_line_that_was_cut_long_ago_accuses_nobody(check, calls: Path) -> None:
    calls.write_text("{torn\n" + call_line(DAY) + call_line())

    assert check("journals").state == "ok"


def test_a_last_line_on_its_way_is_no_damage(check, calls: Path) -> None:
    calls.write_text(call_line() + '{"ts":"20')

    assert check("journals").state == "ok"


def test_a_log_longer_than_what_is_read_is_read_from_a_line_on(check, calls: Path) -> None:
    calls.write_text(call_line(gate="none") * 9000)

    assert calls.stat().st_size > 1 << 20 and check("journals").state == "ok"


def test_timeouts_and_crashes_of_the_last_hour_are_two_troubles_a_module_each(check, calls: Path) -> None:
    calls.write_text(call_line(slow="timeout", sick="error") + call_line(slow="timeout", well="fire"))
    timeouts, errors = check("hook timeouts"), check("module errors")

    assert (timeouts.state, timeouts.trouble, timeouts.findings[0].about) == ("warn", "hook-timeout", "slow")
    assert "slow was killed at its deadline 2 times" in timeouts.seen and "sick" not in timeouts.seen
    assert (errors.state, errors.trouble, [one.about for one in errors.findings]) == (
        "warn",
        "module-crashing",
        ["sick"],
    )


@pytest.mark.parametrize(
    "line",
    [call_line(DAY, slow="timeout"), call_line(session="overdeck-doctor", slow="timeout"), call_line(slow="fire")],
    ids=["yesterday", "the doctor's own call", "in time"],
)
def test_what_is_no_timeout_of_now_is_not_reported(check, calls: Path, line: str) -> None:
    calls.write_text(line)

    assert not check("hook timeouts").findings


def test_a_hook_timeout_and_a_cut_journal_and_a_starved_machine_are_never_one_trouble() -> None:
    owners = {check.name: check.trouble for check in CHECKS}
    four = [owners[name] for name in ("hook timeouts", "cpu throttling", "journals", "ui polling")]

    assert len(set(four)) == 4 and None not in four


def hooks(home, *commands: str) -> None:
    handlers = [{"type": "command", "command": command} for command in commands]
    home.settings.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": handlers}]}}))


def test_a_command_that_is_not_on_path_is_named(home, check) -> None:
    hooks(home, "no-such-program --x", "sh -c true")
    report = check("hook commands")

    assert (report.step, report.state, report.trouble) == ("launcher", "warn", "launcher-dead")
    assert [finding.about for finding in report.findings] == ["no-such-program"]


def test_a_command_behind_another_is_looked_for(home, check) -> None:
    hooks(home, "sh -c 'exec /no/such/guard'", "env A=1 /no/such/second")

    assert [finding.about for finding in check("hook commands").findings] == ["/no/such/guard", "/no/such/second"]


def test_hooks_that_do_not_say_what_they_start_are_not_said_to_resolve(home, check) -> None:
    hooks(home, "sh -c 'a | b'", "python3 -c 'import nothing'", "node -e 'f(1)'", "/bin/true")
    report = check("hook commands", {"PATH": "/usr/bin:/bin"})

    assert report.state == "ok" and "3 hooks do not say what they start" in report.seen


def test_commands_that_resolve_are_shown_with_where_they_lead(home, check, script, tmp_path: Path) -> None:
    real = script("real/tool", "#!/bin/sh\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "tool").symlink_to(real)
    hooks(home, "tool --x")
    report = check("hook commands", {"PATH": str(tmp_path / "bin")})

    assert report.state == "ok" and f"tool → {real}" in report.seen


def test_an_interpreter_through_a_shim_is_found(home, check, script) -> None:
    shim = script(".pyenv/shims/python3", "#!/bin/sh\n")
    hooks(home, "python3 /x/hook.py")
    report = check("hook interpreters", {"PATH": str(shim.parent)})

    assert (report.state, report.trouble) == ("warn", "shim-interpreter") and str(shim) in report.seen


def test_what_a_version_manager_installed_is_no_shim(home, check, script) -> None:
    real = script(".pyenv/versions/3.11.7/bin/python3", "#!/bin/sh\n")
    hooks(home, "python3 /x/hook.py")

    assert check("hook interpreters", {"PATH": str(real.parent)}).state == "ok"


def test_an_interpreter_is_started_only_after_a_yes(home, check, script, tmp_path: Path) -> None:
    broken = script("bin/python3", f"#!/bin/sh\ntouch {tmp_path}/started\nexit 127\n")
    hooks(home, "python3 /x/hook.py")
    shy = check("hook interpreters", {"PATH": f"{broken.parent}:/bin:/usr/bin"})

    assert shy.state == "ok" and "--yes" in shy.seen and not (tmp_path / "started").exists()

    asked = check("hook interpreters", {"PATH": f"{broken.parent}:/bin:/usr/bin"}, yes=True)
    assert asked.state == "fail" and "ends with 127" in asked.seen and (tmp_path / "started").exists()


def test_what_the_lint_finds_carries_its_rule_so_that_audit_and_doctor_are_one_incident(home, check) -> None:
    hook = {"type": "command", "command": "true"}
    home.settings.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "[", "hooks": [hook]}]}}))
    report = check("settings")

    assert "audit: invalid-regex" in {finding.detector for finding in report.findings}


def test_a_process_that_is_not_there_and_a_log_that_cannot_be_read_are_told(home) -> None:
    home.run("overdeck", "doctor", "--pid", "999999999", "--json").check_refused(3, "no-such-process", "999999999")
    home.run("overdeck", "doctor", "--guard-log", "gone.log", "--json").check_refused(2, "usage", "gone.log")
    home.run("overdeck", "doctor", "--watch", "soon", "--json").check_refused(2, "usage", "soon")
