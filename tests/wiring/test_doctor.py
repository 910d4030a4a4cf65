"""``overdeck doctor``: what each check says when its subject is well, and when it is broken."""

import json
import re
from typing import Any

import pytest
from homes import Home

from overdeck.wiring.doctor import CHECKS, STEPS, Check, Result, Situation, run
from overdeck.wiring.doctor.wired import client_version


def checks(home: Home, *options: str, **env: str) -> dict[str, dict[str, Any]]:
    ran = home.run("overdeck", "doctor", "--json", *options, env=env)
    reports = {report["name"]: report for report in ran.data["checks"]}
    assert ran.code == (1 if any(report["state"] == "fail" for report in reports.values()) else 0)
    return reports


@pytest.fixture
def installed(home: Home) -> Home:
    home.run("overdeck", "install")
    return home


def edit(home: Home, pattern: str, new: str) -> None:
    old = home.settings.read_text()
    text = re.sub(pattern, new, old)
    assert text != old
    home.settings.write_text(text)


def test_after_an_install_nothing_fails(installed):
    reports = checks(installed, "--yes")

    assert not [report for report in reports.values() if report["state"] == "fail"]
    assert {
        reports[name]["state"] for name in ("plans", "interpreter", "front", "settings", "entries", "gates")
    } == {"ok"}


def test_the_machine_is_looked_at_first_then_output_launcher_wiring_and_modules():
    steps = [check.step for check in CHECKS]

    assert steps == sorted(steps, key=STEPS.index) and set(steps) == set(STEPS)
    assert STEPS == ("machine", "output", "launcher", "wiring", "module")


def test_every_check_says_what_it_looks_at():
    assert [check.name for check in CHECKS if not check.looks_at] == []


def test_without_a_yes_none_of_the_users_own_code_is_run(installed):
    """A gate of the user's own that leaves a mark whenever it runs, and no literal to keep it asleep."""
    mark = installed.root / "ran"
    folder = installed.root / ".config/overdeck/modules/demo"
    (folder / "module.py").write_text(f"def evaluate(call):\n    open({str(mark)!r}, 'w')\n")
    (folder / "module.toml").write_text(
        (folder / "module.toml").read_text().replace('literals = ["forbidden"]\n', "")
    )
    shy = checks(installed)

    assert not mark.exists()
    assert {shy[name]["state"] for name in ("front", "gates")} == {"skip"}
    assert all("demo" in shy[name]["seen"] and "--yes" in shy[name]["next"] for name in ("front", "gates"))
    assert checks(installed, "--yes")["gates"]["state"] == "fail" and mark.exists()


def test_without_an_install_doctor_points_to_it_and_does_not_fail(home):
    reports = checks(home)

    assert (reports["entries"]["state"], reports["entries"]["next"]) == ("warn", "overdeck install")
    assert reports["front"]["state"] == "skip"


def test_doctor_writes_nothing_where_nothing_is_installed(home):
    checks(home)

    assert not home.state.exists() and not home.settings.exists()


@pytest.mark.parametrize(
    ("pattern", "new", "said"),
    [
        (r'"matcher": "Bash\|Edit"', '"matcher": "Bash"', "union"),
        (r'"timeout": 17', '"timeout": 5', "deadlines"),
        (r'"--plan"', '"--plans"', "something else"),
        (r'"Stop": \[', '"SessionEnd": [', "no entry for Stop"),
    ],
    ids=["matcher", "timeout", "argv", "event"],
)
def test_drift_in_the_entries_fails(installed, pattern, new, said):
    edit(installed, pattern, new)
    report = checks(installed)["entries"]

    assert report["state"] == "fail" and said in report["seen"] and report["next"] == "overdeck install"


def test_entries_removed_by_hand_fail(installed):
    installed.settings.write_text("{}")

    assert checks(installed)["entries"]["state"] == "fail"


def test_after_an_uninstall_doctor_does_not_fail(installed):
    installed.run("overdeck", "uninstall")

    assert not [report for report in checks(installed).values() if report["state"] == "fail"]


def test_settings_that_the_client_drops_fail(installed):
    edit(installed, r"^\{", '{ "model": 5,')
    report = checks(installed)["settings"]

    assert report["state"] == "fail" and "/model" in report["seen"]


def test_a_flipped_byte_in_a_plan_fails(installed):
    plan = installed.state / "plans" / "claude" / "PreToolUse.plan"
    plan.write_bytes(plan.read_bytes().replace(b"forbidden", b"forbiddem"))
    report = checks(installed)["plans"]

    assert report["state"] == "fail" and "crc" in report["seen"]


def test_a_plan_older_than_its_sources_is_a_warning(home, places, recipe):
    home.run("overdeck", "install")
    manifest = home.root / ".config/overdeck/modules/demo/module.toml"
    manifest.write_text(manifest.read_text() + "\n")
    reports = run([check for check in CHECKS if check.name == "plans"], Situation(places, recipe, {}))

    assert reports[0].state == "warn" and "module.toml" in reports[0].seen


def test_a_missing_plan_fails(installed):
    (installed.state / "plans" / "claude" / "Stop.plan").unlink()

    assert checks(installed)["plans"]["state"] == "fail"


def test_a_gate_that_no_longer_denies_fails(installed):
    (installed.root / ".config/overdeck/modules/demo/module.py").write_text(
        "def evaluate(call):\n    return None\n"
    )
    report = checks(installed, "--yes")["gates"]

    assert report["state"] == "fail" and report["next"] == "overdeck hooks test demo"


def test_a_front_that_does_not_start_fails(home, places, recipe):
    home.run("overdeck", "install")
    edit(home, r'"command": "[^"]+"', '"command": "/nowhere/front"')
    reports = {report.name: report for report in run(CHECKS, Situation(places, recipe, {}))}

    assert reports["front"].state == "fail" and "does not start" in reports["front"].seen


def test_an_interpreter_that_is_gone_fails(home, places, recipe):
    recipe.python = str(home.root / "gone" / "python3")
    reports = run([check for check in CHECKS if check.name == "interpreter"], Situation(places, recipe, {}))

    assert reports[0].state == "fail"


def test_a_front_that_speaks_on_a_harmless_call_is_not_ok(installed):
    code = "from overdeck.dispatch.module import deny\n\n\ndef evaluate(call):\n    return deny('always')\n"
    folder = installed.root / ".config/overdeck/modules/demo"
    (folder / "module.py").write_text(code)
    manifest = (folder / "module.toml").read_text()
    (folder / "module.toml").write_text(manifest.replace('literals = ["forbidden"]\n', ""))

    assert checks(installed, "--yes")["front"]["state"] == "warn"


def test_a_state_folder_that_others_may_write_fails(installed):
    installed.state.chmod(0o777)
    report = checks(installed)["state folder"]

    assert report["state"] == "fail" and "chmod 700" in report["next"]


def test_a_config_that_is_not_toml_fails_and_the_other_checks_go_on(installed):
    (installed.root / ".config/overdeck/config.toml").write_text("packs = [")
    reports = checks(installed)

    assert reports["modules"]["state"] == "fail"
    assert len(reports) == len(CHECKS)


def test_a_manifest_that_cannot_be_read_fails(installed):
    (installed.root / ".config/overdeck/modules/demo/module.toml").write_text("id = 5")

    assert checks(installed)["modules"]["state"] == "fail"


def test_a_check_that_breaks_is_a_failed_check(places, recipe):
    def breaks(situation: Situation) -> Result:
        raise RuntimeError("oh")

    reports = run([Check("bad", breaks), Check("good", lambda _: Result("ok", ""))], Situation(places, recipe, {}))

    assert [report.state for report in reports] == ["fail", "ok"]


def test_the_client_is_found_but_never_started(home, script):
    claude = script("bin/claude", f"#!/bin/sh\ntouch {home.root}/started\n")
    report = checks(home, PATH=str(claude.parent))["client"]

    assert report["state"] == "ok" and str(claude) in report["seen"]
    assert not (home.root / "started").exists()


def test_the_clients_version_is_read_beside_it(tmp_path):
    program = tmp_path / "cli.js"
    program.touch()
    (tmp_path / "package.json").write_text(json.dumps({"version": "2.1.197"}))

    assert client_version(program) == " (2.1.197)"


def test_the_clients_version_is_read_from_its_name(tmp_path):
    target = tmp_path / "versions" / "2.1.197"
    target.parent.mkdir()
    target.touch()
    link = tmp_path / "claude"
    link.symlink_to(target)

    assert client_version(link) == " (2.1.197)"


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("config.toml", 'packs = []\nx = ["a" "b"]\n', "line 2"),
        ("modules/demo/module.toml", "id = 5\n", "modules/demo/module.toml"),
    ],
    ids=["config", "manifest"],
)
def test_what_cannot_be_read_is_named_and_the_last_good_plans_are_said_to_stay(installed, file, content, said):
    (installed.root / ".config/overdeck" / file).write_text(content)
    reports = checks(installed)
    modules = reports["modules"]

    assert modules["state"] == "fail" and said in modules["seen"]
    assert "the last good plans stay in force" in modules["seen"] and "overdeck install refuses" in modules["seen"]
    assert modules["next"] == f"mend {installed.root}/.config/overdeck/{file}"
    assert "2 plans, the last good ones, stay in force" in reports["plans"]["seen"]
    assert "not installed" not in reports["front"]["seen"] and "no module" not in reports["entries"]["seen"]
    assert "overdeck install" not in {report["next"] for report in reports.values()}


def test_drift_is_still_seen_while_a_config_cannot_be_read(installed):
    (installed.root / ".config/overdeck/config.toml").write_text("packs = [")
    edit(installed, r'"--plan"', '"--plans"')

    report = checks(installed)["entries"]
    assert report["state"] == "fail" and "something else" in report["seen"]


def test_doctor_does_not_advise_an_install_that_would_refuse(installed):
    edit(installed, r'"--plan"', '"--plans"')
    installed.settings.chmod(0o444)
    report = checks(installed)["entries"]

    assert report["state"] == "fail" and report["next"].startswith("chmod u+w")
    assert "until then overdeck install refuses" in report["next"]


@pytest.mark.parametrize("key", ["async", "asyncRewake", "once", "if", "shell", "statusMessage"])
def test_any_key_that_install_does_not_write_is_drift(installed, key):
    edit(installed, r'"type": "command"', f'"type": "command", "{key}": "x"')
    report = checks(installed)["entries"]

    assert report["state"] == "fail" and key in report["seen"]


def test_a_state_folder_that_cannot_be_made_fails(home):
    (home.root / ".local").write_text("")
    report = checks(home)["state folder"]

    assert report["state"] == "fail" and "Not a directory" in report["seen"]


def test_a_last_good_plan_that_is_broken_fails_while_a_config_cannot_be_read(installed):
    (installed.root / ".config/overdeck/config.toml").write_text("packs = [")
    plan = installed.state / "plans" / "claude" / "PreToolUse.plan"
    plan.write_bytes(plan.read_bytes().replace(b"forbidden", b"forbiddem"))
    report = checks(installed)["plans"]

    assert report["state"] == "fail" and "crc" in report["seen"] and report["next"] != "overdeck install"
