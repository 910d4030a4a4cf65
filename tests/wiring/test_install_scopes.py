"""``--scope``: the user's own settings, a project's, and the user's own in one project."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from homes import Home

from overdeck.process import argv_of
from overdeck.wiring.entries import in_file

SHARED = '{\n  "permissions": {"deny": ["Bash(rm *)"]}\n}\n'


@pytest.fixture
def project(home: Home) -> Path:
    """A git work tree with committed settings."""
    project = home.root / "work" / "project"
    (project / ".claude").mkdir(parents=True)
    (project / "src").mkdir()
    (project / ".claude" / "settings.json").write_text(SHARED)
    subprocess.run(["git", "init", "-q", str(project)], check=True, env=home.environment())
    return project


def checks(home: Home, cwd: Path) -> dict[str, dict[str, Any]]:
    return {
        report["name"]: report
        for report in home.run("overdeck", "doctor", "--json", "--yes", cwd=cwd).data["checks"]
    }


def test_the_projects_file_is_found_from_a_folder_inside_it(home, project):
    ran = home.run("overdeck", "install", "--scope", "project", "--json", cwd=project / "src")

    assert (ran.code, ran.data["file"]) == (0, str(project / ".claude" / "settings.json"))
    assert len(in_file(project / ".claude" / "settings.json")) == 2
    assert not home.settings.exists()


def test_a_folder_with_a_claude_folder_is_a_project_without_git(home):
    project = home.root / "plain"
    (project / ".claude").mkdir(parents=True)
    ran = home.run("overdeck", "install", "--scope", "local", "--json", cwd=project)

    assert ran.data["file"] == str(project / ".claude" / "settings.local.json")


def test_a_worktree_whose_git_is_a_file_is_a_project(home):
    tree = home.root / "tree"
    tree.mkdir()
    (tree / ".git").write_text("gitdir: /elsewhere\n")

    assert (
        home.run("overdeck", "install", "--scope", "local", "--json", cwd=tree).data["file"].startswith(str(tree))
    )


@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_outside_of_any_project_it_is_a_usage_error(home, verb):
    (home.root / "nowhere").mkdir()
    ran = home.run("overdeck", verb, "--scope", "project", "--json", cwd=home.root / "nowhere")

    ran.check_refused(2, "no-project", "in no project")


def test_the_home_folder_is_no_project_though_it_has_a_claude_folder(home):
    ran = home.run("overdeck", "install", "--scope", "project", "--json", cwd=home.root)

    ran.check_refused(2, "no-project", "in no project")


def test_a_home_that_is_a_git_work_tree_has_no_project_settings_beside_the_users(home):
    (home.root / ".git").mkdir()
    ran = home.run("overdeck", "install", "--scope", "project", "--json", cwd=home.root)

    ran.check_refused(2, "no-project", "the user's own")


@pytest.mark.parametrize("scope", ["user", "project", "local"])
def test_every_scope_is_taken_out_to_the_byte(home, project, scope):
    before = {path: path.read_bytes() for path in home.root.rglob("settings*.json")}
    assert home.run("overdeck", "install", "--scope", scope, cwd=project).code == 0
    assert {path: path.read_bytes() for path in home.root.rglob("settings*.json")} != before
    assert home.run("overdeck", "uninstall", "--scope", scope, cwd=project).code == 0

    assert {path: path.read_bytes() for path in home.root.rglob("settings*.json")} == before
    assert not (home.state / "installed").exists()


def test_a_projects_entries_are_warned_of_for_other_machines(home, project):
    warnings = home.run("overdeck", "install", "--scope", "project", "--json", cwd=project).document["warnings"]

    assert any("path of this machine" in text and "--scope local" in text for text in warnings)


def test_local_settings_that_git_does_not_ignore_are_warned_of(home, project):
    def warned() -> bool:
        ran = home.run("overdeck", "install", "--scope", "local", "--json", cwd=project)
        return any("does not ignore" in text for text in ran.document["warnings"])

    assert warned()
    (project / ".git" / "info" / "exclude").write_text(".claude/settings.local.json\n")
    assert not warned()


def test_entries_in_another_scope_are_told_of_and_stay(home, project):
    home.run("overdeck", "install", "--scope", "user", cwd=project)
    ran = home.run("overdeck", "install", "--scope", "local", "--json", cwd=project)
    assert ran.data["elsewhere"] == [str(home.settings)]
    assert not [text for text in ran.document["warnings"] if "another front" in text]
    gone = home.run("overdeck", "uninstall", "--scope", "user", cwd=project)

    assert "still there" in gone.out and "settings.local.json" in gone.out
    assert len(in_file(project / ".claude" / "settings.local.json")) == 2 and not home.settings.exists()


def test_another_front_in_another_scope_would_run_as_well_and_is_warned_of(home, project):
    home.run("overdeck", "install", "--scope", "user", cwd=project)
    home.settings.write_text(home.settings.read_text().replace(str(home.state), "/other/state"))
    warnings = home.run("overdeck", "install", "--scope", "local", "--json", cwd=project).document["warnings"]

    assert any("starts both" in text and str(home.settings) in text for text in warnings)


@pytest.mark.parametrize("scope", ["user", "project", "local"])
def test_doctor_proves_the_wiring_of_every_scope(home, project, scope):
    home.run("overdeck", "install", "--scope", scope, cwd=project)
    here = checks(home, project)

    assert {here[name]["state"] for name in ("entries", "front", "gates", "plans", "interpreter")} == {"ok"}
    assert ("project" in here["entries"]["seen"]) is (scope != "user")


def test_doctor_sees_a_projects_drift_from_elsewhere_and_names_the_command(home, project):
    home.run("overdeck", "install", "--scope", "local", cwd=project)
    file = project / ".claude" / "settings.local.json"
    file.write_text(file.read_text().replace('"timeout": 17', '"timeout": 1'))
    report = checks(home, home.root)["entries"]

    assert report["state"] == "fail" and str(file) in report["seen"]
    assert report["next"] == f"cd {project} && overdeck install --scope local"


def test_doctor_does_not_start_what_a_repository_says_is_ours(home, project):
    mark = home.root / "ran"
    hook = {
        "type": "command",
        "command": "/bin/sh",
        "args": ["-c", f"touch {mark}", "--by-overdeck"],
        "timeout": 9,
    }
    (project / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))
    reports = checks(home, project)

    assert reports["entries"]["state"] == "fail" and not mark.exists()


def test_the_dispatcher_is_not_called_a_duplicate_of_itself_in_two_scopes(home, project):
    home.run("overdeck", "install", "--scope", "user", cwd=project)
    home.run("overdeck", "install", "--scope", "local", cwd=project)

    assert checks(home, project)["settings"]["state"] == "ok"


@pytest.mark.parametrize("client", ["cursor", "copilot", "nonsense"])
@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_a_client_that_cannot_be_wired_leaves_nothing_half_written(home, verb, client):
    before = sorted(home.root.rglob("*"))
    ran = home.run("overdeck", verb, "--client", client, "--json")

    ran.check_refused(2, "client", "nothing was written")
    assert sorted(home.root.rglob("*")) == before


@pytest.mark.parametrize("argv", [("install",), ("uninstall",), ("doctor",), ("plugins", "list")], ids=" ".join)
def test_a_folder_that_was_deleted_under_us_is_no_project_and_no_crash(home, argv):
    gone = home.root / "gone"
    gone.mkdir()
    done = subprocess.run(
        ["/bin/sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh", *argv_of("overdeck"), *argv, "--json"],
        cwd=gone, env=home.environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode in (0, 1) and "Traceback" not in done.stderr
