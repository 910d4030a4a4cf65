"""``overdeck doctor`` on the clients besides Claude Code."""

import json
from pathlib import Path

import pytest
from homes import Home

from overdeck.authoring.fleet import recipe_for
from overdeck.wiring import opencodeplugin
from overdeck.wiring.doctor import CHECKS, Report, Situation, run
from overdeck.wiring.install import install

TRUST = """\
model = "x"
[hooks.state."{file}:pre_tool_use:0:0"]
trusted_hash = "sha256:1"
[hooks.state."{file}:stop:0:0"]
trusted_hash = "sha256:2"
"""


@pytest.fixture
def visit(places, recipe):
    def call(**environ: str) -> Report:
        situation = Situation(places, recipe, {"PATH": "/usr/bin:/bin", **environ}, folder=places.home)
        return run([check for check in CHECKS if check.name == "other clients"], situation)[0]

    return call


def put_in(places, client: str) -> Path:
    recipe = recipe_for(places, client)
    if client == "opencode":
        return opencodeplugin.install(places, recipe, folder=places.home).file
    return install(places, recipe, folder=places.home).file


def trust(home: Home, text: str = TRUST) -> None:
    config = home.root / ".codex" / "config.toml"
    config.write_text(text.format(file=config.with_name("hooks.json")))


def test_nothing_installed_is_nothing_to_look_at(home, visit) -> None:
    assert visit().state == "skip"


def test_all_of_them_installed_and_trusted_are_well(home, places, visit) -> None:
    files = [put_in(places, client) for client in ("codex", "gemini", "opencode")]
    trust(home)
    report = visit()
    assert (report.state, report.findings) == ("ok", ())
    assert all(str(file) in report.seen for file in files)


def test_codex_that_was_not_told_to_trust_is_found(home, places, visit) -> None:
    put_in(places, "codex")
    report = visit()
    assert report.state == "fail" and "not been told to trust PreToolUse, Stop" in report.seen
    assert "/hooks" in report.next


def test_an_entry_that_codex_was_told_to_leave_out_is_found(home, places, visit) -> None:
    put_in(places, "codex")
    trust(home, TRUST.replace('"sha256:2"', '"sha256:2"\nenabled = false'))
    assert "Stop is switched off" in visit().seen


def test_entries_that_are_gone_or_changed_are_found(home, places, visit) -> None:
    file = put_in(places, "gemini")
    whole = file.read_text()
    data = json.loads(whole)
    for change, said in (
        (lambda hooks: hooks.pop("AfterAgent"), "no entry for AfterAgent"),
        (lambda hooks: hooks["BeforeTool"][0].update(matcher="x"), "its matcher 'x'"),
        (lambda hooks: hooks["BeforeTool"][0]["hooks"][0].update(timeout=5), "its timeout is 5, not 17000"),
        (lambda hooks: hooks["BeforeTool"][0]["hooks"][0].update(command="x --by-overdeck"), "something else"),
        (lambda hooks: hooks.clear(), "what install wrote is gone"),
    ):
        changed = json.loads(json.dumps(data))
        change(changed["hooks"])
        file.write_text(json.dumps(changed))
        report = visit()
        assert report.state == "fail" and said in report.seen
        assert report.next == "overdeck install --client gemini"


def test_switched_off_hooks_and_a_dropped_file_are_found(home, places, visit) -> None:
    gemini, codex = put_in(places, "gemini"), put_in(places, "codex")
    gemini.write_text(json.dumps({**json.loads(gemini.read_text()), "hooksConfig": {"enabled": False}}))
    codex.write_text(json.dumps({**json.loads(codex.read_text()), "$schema": "x"}))
    seen = visit().seen
    assert "hooks are switched off" in seen and "the client drops the file" in seen


def test_a_plugin_of_another_version_is_found(home, places, visit) -> None:
    file = put_in(places, "opencode")
    file.write_text(file.read_text().replace("17000", "1"))
    report = visit()
    assert "not the one that this installation writes" in report.seen
    assert report.next == "overdeck install --client opencode"


@pytest.mark.parametrize(("value", "state"), [("1", "fail"), ("yes", "fail"), ("0", "ok"), ("off", "ok")])
def test_an_opencode_that_is_told_to_load_no_plugin_is_found(places, visit, value: str, state: str) -> None:
    put_in(places, "opencode")
    report = visit(OPENCODE_PURE=value)
    assert report.state == state
    assert report.next == ("unset OPENCODE_PURE" if state == "fail" else "")


def test_a_config_that_cannot_be_read_is_the_finding_of_modules_and_breaks_nothing_here(places, visit) -> None:
    for client in ("codex", "gemini", "opencode"):
        put_in(places, client)
    places.config_file.parent.mkdir(parents=True, exist_ok=True)
    for wrong in ('packs = ["session"]\n[modules.preflight]\nstages = 3\n', "packs = ["):
        places.config_file.write_text(wrong)
        report = visit()
        assert (report.state, report.seen.partition("; ")[2]) == ("skip", "why: see modules")


def test_a_plan_that_is_gone_is_found(home, places, visit) -> None:
    put_in(places, "gemini")
    (places.plans("gemini") / "Stop.plan").unlink()
    assert "Stop.plan cannot be used" in visit().seen


def test_what_a_repository_says_is_never_started(home, places, tmp_path, recipe) -> None:
    project = tmp_path / "hostile"
    (project / ".codex").mkdir(parents=True)
    (project / ".git").mkdir()
    mark = tmp_path / "mark"
    hook = {"type": "command", "command": f"/usr/bin/touch {mark} --by-overdeck", "timeout": 17}
    groups = {event: [{"matcher": "Bash|apply_patch", "hooks": [hook]}] for event in ("PreToolUse", "Stop")}
    (project / ".codex" / "hooks.json").write_text(json.dumps({"hooks": groups}))
    situation = Situation(places, recipe, {"PATH": "/usr/bin:/bin"}, folder=project, yes=True)
    report = run([check for check in CHECKS if check.name == "other clients"], situation)[0]
    assert report.state == "fail" and "something else than this installation's front" in report.seen
    assert not mark.exists()
