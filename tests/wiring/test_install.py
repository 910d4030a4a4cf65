"""``overdeck install`` and ``uninstall`` on real files, as a user runs them."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from homes import Home

from overdeck.errors import ExitCode, OverdeckError
from overdeck.wiring import caveats
from overdeck.wiring import rewrite as rewriting
from overdeck.wiring.entries import find
from overdeck.wiring.install import MARGIN_S, install, timeout_s, uninstall

THEIRS = """\
{
    "model": "opus",
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}
        ]
    },
    "custom": {"kept": [1,  2]}
}"""


@pytest.fixture
def theirs(home: Home) -> bytes:
    home.settings.write_text(THEIRS)
    return home.settings.read_bytes()


def entries_of(home: Home) -> list[str]:
    return [entry.event for entry in find(home.settings.read_text())]


def test_install_writes_one_exec_form_entry_an_event(home, theirs):
    ran = home.run("overdeck", "install", "--json")
    groups = json.loads(home.settings.read_text())["hooks"]

    assert (ran.code, ran.data["events"]) == (0, {"PreToolUse": "added", "Stop": "added"})
    ours = groups["PreToolUse"][1]
    hook = ours["hooks"][0]
    assert (ours["matcher"], hook["type"], hook["timeout"]) == ("Bash|Edit", "command", 17)
    assert hook["args"][-1] == "--by-overdeck" and Path(hook["command"]).is_absolute()
    assert "matcher" not in groups["Stop"][0]


def test_the_plans_that_the_entries_name_are_there(home, theirs):
    ran = home.run("overdeck", "install", "--json")

    assert sorted(Path(plan).name for plan in ran.data["plans"]) == ["PreToolUse.plan", "Stop.plan"]
    assert all(Path(plan).is_file() for plan in ran.data["plans"])


def test_the_installed_entry_denies_when_started_as_the_client_would(home, theirs):
    home.run("overdeck", "install")
    hook = json.loads(home.settings.read_text())["hooks"]["PreToolUse"][1]["hooks"][0]
    payload = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "forbidden"}}
    ran = subprocess.run(
        [hook["command"], *hook["args"]],
        input=json.dumps(payload).encode(),
        env={},
        capture_output=True,
        check=True,
    )

    assert json.loads(ran.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_uninstall_gives_every_byte_back(home, theirs):
    home.run("overdeck", "install")
    assert home.settings.read_bytes() != theirs
    ran = home.run("overdeck", "uninstall")

    assert (ran.code, home.settings.read_bytes()) == (0, theirs)


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + THEIRS.encode(),
        THEIRS.replace("\n", "\r\n").encode(),
        THEIRS.replace("    ", "\t").encode() + b"\n\n",
        b"{}",
        b'{"hooks":{"Stop":[]}}',
        '{\n  "name": "\\u00e9 \u00e9"\n}\n'.encode(),
    ],
    ids=["BOM", "CRLF", "tabs", "empty object", "minified with an empty list", "escapes"],
)
def test_install_and_uninstall_restore_any_layout(home, places, recipe, content):
    home.settings.write_bytes(content)
    install(places, recipe)
    uninstall(places)

    assert home.settings.read_bytes() == content


def test_installing_twice_changes_nothing(home, theirs):
    home.run("overdeck", "install")
    once = home.settings.read_bytes()
    again = home.run("overdeck", "install")

    assert (again.code, home.settings.read_bytes()) == (0, once)
    assert "already installed" in again.out


def test_uninstalling_twice_says_there_is_nothing_to_remove(home, theirs):
    home.run("overdeck", "install")
    home.run("overdeck", "uninstall")
    again = home.run("overdeck", "uninstall")

    assert (again.code, home.settings.read_bytes()) == (0, theirs)
    assert "nothing to remove" in again.out


def test_a_dry_run_shows_the_diff_and_writes_nothing(home, theirs):
    ran = home.run("overdeck", "install", "--dry-run")

    assert ran.code == 0
    assert any(line.startswith("+") and "--by-overdeck" in line for line in ran.out.splitlines())
    assert home.settings.read_bytes() == theirs
    assert not home.state.exists()


def test_a_missing_file_is_made_and_taken_away_again(home):
    home.run("overdeck", "install")
    assert entries_of(home) == ["PreToolUse", "Stop"]
    home.run("overdeck", "uninstall")

    assert not home.settings.exists()


def test_a_file_that_install_made_stays_when_somebody_else_wrote_into_it(home):
    home.run("overdeck", "install")
    data = json.loads(home.settings.read_text())
    home.settings.write_text(json.dumps({"model": "opus", **data}, indent=2))
    home.run("overdeck", "uninstall")

    assert json.loads(home.settings.read_text()) == {"model": "opus"}


def test_an_edit_in_between_survives_uninstall(home, theirs):
    home.run("overdeck", "install")
    edited = home.settings.read_text().replace('"opus"', '"haiku"')
    home.settings.write_text(edited)
    home.run("overdeck", "uninstall")

    assert home.settings.read_text() == THEIRS.replace('"opus"', '"haiku"')


def test_a_reformatting_client_in_between_costs_only_the_layout(home, theirs):
    home.run("overdeck", "install")
    home.settings.write_text(json.dumps(json.loads(home.settings.read_text()), indent=2))
    home.run("overdeck", "uninstall")

    assert json.loads(home.settings.read_text()) == json.loads(THEIRS)


def test_an_entry_from_another_place_is_replaced(home, theirs):
    home.run("overdeck", "install")
    moved = home.settings.read_text().replace(str(home.state), "/old/state")
    home.settings.write_text(moved)
    ran = home.run("overdeck", "install", "--json")

    assert ran.data["events"] == {"PreToolUse": "replaced", "Stop": "replaced"}
    assert "/old/state" not in home.settings.read_text() and len(entries_of(home)) == 2


def test_only_the_events_asked_for_are_installed(home, theirs):
    home.run("overdeck", "install", "--events", "Stop")

    assert entries_of(home) == ["Stop"]


def test_an_event_that_no_module_is_on_for_is_a_usage_error(home, theirs):
    ran = home.run("overdeck", "install", "--events", "SessionEnd")

    assert ran.code == 2 and "PreToolUse" in ran.err
    assert home.settings.read_bytes() == theirs


@pytest.mark.parametrize("client", ["cursor", "nonsense"])
def test_a_client_that_cannot_be_wired_is_a_usage_error(home, client):
    assert home.run("overdeck", "install", "--client", client).code == 2


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{\n  // mine\n  "a": 1\n}', "a comment"),
        ('{"a": 1,}', "a trailing comma"),
        ('{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x", "timeout": "5"}]}]}}', "timeout"),
        ('{"hooks": {}, "hooks": {}}', "2 times"),
        ("", "not JSON"),
    ],
    ids=["comment", "trailing comma", "timeout string", "repeated key", "empty file"],
)
def test_a_file_the_client_would_not_read_is_refused_with_the_reason(home, content, reason):
    home.settings.write_text(content)
    ran = home.run("overdeck", "install", "--json")

    assert ran.code == 2
    assert reason in ran.document["error"]["message"]
    assert home.settings.read_text() == content


def test_a_file_that_is_not_utf8_is_refused(home):
    home.settings.write_bytes(b'{"a": "\xff"}')

    assert home.run("overdeck", "install").code == 2
    assert home.settings.read_bytes() == b'{"a": "\xff"}'


def test_uninstall_works_on_a_file_the_client_drops(home, theirs):
    home.run("overdeck", "install")
    home.settings.write_text(home.settings.read_text().replace('"opus"', "5"))
    ran = home.run("overdeck", "uninstall")

    assert (ran.code, home.settings.read_text()) == (0, THEIRS.replace('"opus"', "5"))


def test_a_read_only_file_is_an_error_in_words_and_stays(home, theirs):
    home.settings.chmod(0o444)
    ran = home.run("overdeck", "install")

    assert ran.code == 2 and "read-only" in ran.err and "chmod" in ran.err
    assert home.settings.read_bytes() == theirs


def test_a_folder_that_cannot_be_made_is_an_error_in_words(home):
    home.settings.parent.rmdir()
    home.settings.parent.write_text("a file where the folder should be")
    ran = home.run("overdeck", "install")

    assert ran.code == 2 and "Traceback" not in ran.err


def test_the_mode_of_the_file_survives(home, theirs):
    home.settings.chmod(0o640)
    home.run("overdeck", "install")

    assert home.settings.stat().st_mode & 0o777 == 0o640


def test_a_symlink_survives_and_its_target_changes(home):
    target = home.root / "dotfiles.json"
    target.write_text(THEIRS)
    home.settings.symlink_to(target)
    home.run("overdeck", "install")

    assert home.settings.is_symlink()
    assert len(find(target.read_text())) == 2


def test_a_backup_holds_the_file_as_it_was(home, theirs):
    ran = home.run("overdeck", "install", "--json")

    assert Path(ran.data["backup"]).read_bytes() == theirs


def test_an_environment_that_names_python_is_mentioned(home):
    home.settings.write_text('{"env": {"PYTHONPATH": "/x", "OVERDECK_STATE": "/y", "OTHER": "z"}}')
    warnings = home.run("overdeck", "install", "--json").document["warnings"]

    assert len([warning for warning in warnings if warning.startswith("env sets")]) == 2


def test_a_broken_manifest_installs_nothing(home, theirs):
    (home.root / ".config/overdeck/modules/demo/module.toml").write_text("id = 5")
    ran = home.run("overdeck", "install")

    assert ran.code == 2 and "module.toml" in ran.err
    assert home.settings.read_bytes() == theirs


def test_two_installs_at_once_leave_one_entry_an_event(home, theirs):
    with ThreadPoolExecutor(4) as pool:
        codes = list(pool.map(lambda _: home.run("overdeck", "install").code, range(4)))

    assert codes == [0, 0, 0, 0]
    assert entries_of(home) == ["PreToolUse", "Stop"]


def test_a_client_that_writes_in_between_is_noticed_and_kept(home, places, recipe, theirs, monkeypatch):
    real_backup = rewriting.back_up

    def client_writes_during_backup(path: Path, backups: Path) -> Path:
        monkeypatch.setattr(rewriting, "back_up", real_backup)
        path.write_text(THEIRS.replace('"opus"', '"haiku"'))
        return real_backup(path, backups)

    monkeypatch.setattr(rewriting, "back_up", client_writes_during_backup)
    install(places, recipe)

    assert json.loads(home.settings.read_text())["model"] == "haiku"
    assert entries_of(home) == ["PreToolUse", "Stop"]


def test_a_client_that_never_stops_writing_is_left_alone(home, places, recipe, theirs, monkeypatch):
    real_backup = rewriting.back_up

    def client_writes_during_backup(path: Path, backups: Path) -> Path:
        path.write_text(path.read_text() + " ")
        return real_backup(path, backups)

    monkeypatch.setattr(rewriting, "back_up", client_writes_during_backup)
    with pytest.raises(OverdeckError) as caught:
        install(places, recipe)

    assert caught.value.exit_code is ExitCode.BUSY
    assert entries_of(home) == []


def test_a_lock_that_is_held_is_said_to_be_busy(home, places, recipe, monkeypatch):
    places.state.mkdir(parents=True)
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import fcntl, sys; f = open(sys.argv[1], 'a'); fcntl.flock(f, 2); print(flush=True); input()",
            str(places.state / "install.lock"),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with holder:
        assert holder.stdout is not None and holder.stdout.readline() == b"\n"
        monkeypatch.setattr(rewriting, "LOCK_WAIT_S", 0.1)
        with pytest.raises(OverdeckError) as caught:
            install(places, recipe)
        assert holder.stdin is not None
        holder.stdin.write(b"\n")
        holder.stdin.close()

    assert caught.value.exit_code is ExitCode.BUSY


def test_the_timeout_is_above_everything_the_front_may_take(recipe):
    recipe.total_deadline_ms = 8500

    assert timeout_s(recipe) == 5 + 9 + MARGIN_S


def test_the_settings_of_another_config_folder_are_used(home, tmp_path):
    other = tmp_path / "other"
    ran = home.run("overdeck", "install", "--json", env={"CLAUDE_CONFIG_DIR": str(other)})

    assert ran.data["file"] == str(other / "settings.json")
    assert not home.settings.exists()


def test_nothing_but_the_settings_and_the_state_is_written(home, theirs):
    before = {path for path in home.root.rglob("*") if home.state not in (path, *path.parents)}
    home.run("overdeck", "install")
    after = {path for path in home.root.rglob("*") if home.state not in (path, *path.parents)}
    new = {path for path in after - before if path not in home.state.parents and "__pycache__" not in path.parts}

    assert new == set()
    assert [path.name for path in home.settings.parent.iterdir()] == ["settings.json"]


def left_behind(home: Home) -> set[Path]:
    return {
        path for path in home.root.rglob("*") if ".config" not in path.parts and "__pycache__" not in path.parts
    }


@pytest.mark.parametrize("options", [(), ("--dry-run",)], ids=["for real", "dry run"])
def test_an_install_that_is_refused_leaves_nothing_new_behind(home, theirs, options):
    home.settings.chmod(0o444)
    before = left_behind(home)
    ran = home.run("overdeck", "install", *options)

    assert ran.code == 2 and "read-only" in ran.err
    assert left_behind(home) == before


def test_after_a_refused_install_doctor_speaks_of_no_entries_that_vanished(home, theirs):
    home.settings.chmod(0o444)
    home.run("overdeck", "install")
    reports = {report["name"]: report for report in home.run("overdeck", "doctor", "--json").data["checks"]}

    assert reports["entries"]["state"] == "warn" and "not installed" in reports["entries"]["seen"]


def test_an_install_that_fails_on_its_way_takes_its_plans_back_and_leaves_no_receipt(home, theirs):
    home.state.mkdir(parents=True)
    (home.state / "backups").write_text("a file where the folder must be")
    ran = home.run("overdeck", "install")

    assert ran.code == 2 and str(home.state / "backups") in ran.err
    assert home.settings.read_bytes() == theirs
    assert not (home.state / "plans" / "claude").exists() and not (home.state / "installed").exists()


@pytest.mark.parametrize("blocked", [".local", ".local/state/overdeck"])
def test_a_state_folder_that_cannot_be_written_refuses_the_dry_run_too(home, theirs, blocked):
    (home.root / blocked).parent.mkdir(parents=True, exist_ok=True)
    (home.root / blocked).write_text("")
    ran = home.run("overdeck", "install", "--dry-run", "--json")

    ran.check_refused(2, "not-written", str(home.root / blocked))


def test_install_says_which_modules_it_puts_in_force_and_what_changed(home, theirs):
    first = home.run("overdeck", "install")
    assert "1 module in force: demo" in first.out and "new:" not in first.out
    modules = home.root / ".config/overdeck/modules"
    (modules / "other").mkdir()
    for name in ("module.py", "module.toml"):
        (modules / "other" / name).write_text((modules / "demo" / name).read_text().replace('"demo"', '"other"'))
    (home.root / ".config/overdeck/config.toml").write_text("packs = []\n[modules.demo]\nenabled = false\n")
    data = home.run("overdeck", "install", "--dry-run", "--json").data
    again = home.run("overdeck", "install")

    assert data["modules"] == {"on": ["other"], "added": ["other"], "dropped": ["demo"]}
    assert "not any more: demo" in again.out


def test_a_module_without_a_rule_is_not_new_at_every_install(tmp_path):
    home = Home(tmp_path)
    home.run("overdeck", "install")
    assert "new:" not in home.run("overdeck", "install").out


def test_an_install_that_puts_no_guard_in_force_says_how_it_would(home, theirs):
    said = home.run("overdeck", "install").err
    assert 'next: packs = ["guards"] in' in said and "no guard either" in said


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ((".git", "pyproject.toml"), "in the source checkout"),
        ((".git", "pyproject.toml", ".venv/pyvenv.cfg"), "in a virtual environment inside the source checkout"),
        ((".git", ".venv/pyvenv.cfg"), None),
    ],
    ids=["checkout", "venv in a checkout", "a package manager's clone"],
)
def test_an_entry_that_starts_what_people_delete_is_warned_of(places, recipe, tmp_path, monkeypatch, made, said):
    monkeypatch.setattr(caveats, "_TEMPORARY", ("/nowhere",))
    for name in made:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    recipe.entry = str(tmp_path / ".venv/lib/overdeck/dispatch/entry.py")
    warnings = install(places, recipe, dry_run=True).warnings

    assert [said in warning and "every gate is gone in silence" in warning for warning in warnings] == [
        True
    ] * bool(said)


def test_an_entry_in_a_temporary_folder_is_warned_of(places, recipe):
    recipe.entry = "/tmp/venv/lib/overdeck/dispatch/entry.py"

    assert "in a temporary folder" in install(places, recipe, dry_run=True).warnings[0]


def test_audit_and_install_call_an_empty_file_the_same(home):
    home.settings.write_text("")
    refused = home.run("overdeck", "install", "--json").document["error"]["message"]
    finding = home.run("overdeck", "audit", "--json").data["findings"][0]

    for said in (refused, finding["why"]):
        assert "it is not JSON: the file is empty" in said
    assert finding["fix"] in refused
