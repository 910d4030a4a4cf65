"""``overdeck lint`` as the CI of a plugin's author runs it."""

import json
import os
import re
from pathlib import Path

import pytest
import yaml
from homes import Home

ROOT = Path(__file__).resolve().parent.parent.parent
BAD = {"hooks": {"PreToolUse": [{"matcher": "Bash[", "hooks": [{"type": "command", "command": "true"}]}]}}
SLOW = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true", "timeout": 5000}]}]}}
FINE = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true", "timeout": 5}]}]}}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def project(tmp_path: Path, data: object, name: str = ".claude/settings.json") -> Path:
    file = tmp_path / "project" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(data if isinstance(data, str) else json.dumps(data, indent=2))
    return tmp_path / "project"


def test_an_error_is_exit_1_and_stands_at_its_line(home: Home, tmp_path: Path) -> None:
    ran = home.run("overdeck", "lint", ".", cwd=project(tmp_path, BAD))

    assert ran.code == 1
    assert ran.out.startswith(".claude/settings.json:5: error invalid-regex\n")
    assert ran.out.endswith("1 error, 0 warnings, 0 info in 1 file with 1 handler\n")


def test_a_clean_project_is_exit_0(home: Home, tmp_path: Path) -> None:
    ran = home.run("overdeck", "lint", str(project(tmp_path, FINE)))

    assert (ran.code, ran.out) == (0, "0 errors, 0 warnings, 0 info in 1 file with 1 handler\n")


@pytest.mark.parametrize(("level", "code"), [("error", 0), ("warning", 1), ("info", 1)])
def test_a_warning_fails_only_where_it_was_asked_to(home: Home, tmp_path: Path, level: str, code: int) -> None:
    assert home.run("overdeck", "lint", str(project(tmp_path, SLOW)), "--fail-on", level).code == code


def test_without_a_path_it_is_the_current_folder(home: Home, tmp_path: Path) -> None:
    assert "timeout-looks-like-ms" in home.run("overdeck", "lint", cwd=project(tmp_path, SLOW)).out


def test_a_path_that_is_not_there_is_exit_3(home: Home, tmp_path: Path) -> None:
    ran = home.run("overdeck", "lint", str(tmp_path / "gone"), "--json")

    ran.check_refused(3, "not-found", "there is no")


def test_a_file_of_another_kind_is_a_usage_error(home: Home, tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text("pass\n")

    home.run("overdeck", "lint", str(tmp_path / "hook.py"), "--json").check_refused(2, "usage", "no settings file")


def test_a_pipe_is_not_waited_for(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "project" / ".claude"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "settings.json")
    os.mkfifo(tmp_path / "hooks.json")

    assert "it is a pipe" in home.run("overdeck", "lint", str(folder.parent)).out
    assert home.run("overdeck", "lint", str(tmp_path / "hooks.json")).code == 3


def test_a_script_that_is_a_pipe_or_huge_is_not_read(home: Home, tmp_path: Path) -> None:
    names = ("a.sh", "b.sh")
    hooks = [{"type": "command", "command": "bash", "args": ["${CLAUDE_PROJECT_DIR}/" + n]} for n in names]
    folder = project(tmp_path, {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": hooks}]}})
    os.mkfifo(folder / "a.sh")
    (folder / "b.sh").write_text("claude -p hello\n" + "#" * 1_000_001)

    assert home.run("overdeck", "lint", str(folder)).code == 0


def test_a_folder_without_hooks_says_so(home: Home, tmp_path: Path) -> None:
    ran = home.run("overdeck", "lint", str(tmp_path))

    assert ran.code == 0 and "no file with hooks" in ran.err


@pytest.mark.parametrize(
    "name",
    [
        ".claude/settings.json",
        ".claude/settings.local.json",
        "deep/er/.claude/settings.json",
        "plugin/hooks/hooks.json",
        "etc/managed-settings.json",
    ],
)
def test_a_file_is_found_where_the_client_looks_for_it(home: Home, tmp_path: Path, name: str) -> None:
    data = home.run("overdeck", "lint", str(project(tmp_path, BAD, name)), "--json").data

    assert [Path(one["file"]).name for one in data["findings"]] == [Path(name).name]


@pytest.mark.parametrize("name", ["node_modules/x/.claude/settings.json", ".git/hooks/hooks.json"])
def test_what_others_wrote_is_not_looked_into(home: Home, tmp_path: Path, name: str) -> None:
    assert home.run("overdeck", "lint", str(project(tmp_path, BAD, name))).code == 0


def test_a_file_named_twice_is_judged_once(home: Home, tmp_path: Path) -> None:
    folder = project(tmp_path, BAD)
    data = home.run("overdeck", "lint", str(folder), str(folder / ".claude" / "settings.json"), "--json").data

    assert len(data["files"]) == len(data["findings"]) == 1


def test_projects_beside_each_other_are_judged_each_by_itself(home: Home, tmp_path: Path) -> None:
    for name in ("one", "two"):
        project(tmp_path, FINE, f"{name}/.claude/settings.json")

    assert home.run("overdeck", "lint", str(tmp_path), "--fail-on", "info").code == 0


def test_a_copy_in_a_plugin_and_its_projects_settings_is_found(home: Home, tmp_path: Path) -> None:
    project(tmp_path, FINE)
    folder = project(tmp_path, FINE, "hooks/hooks.json")
    (folder / ".claude-plugin").mkdir()
    (folder / ".claude-plugin" / "plugin.json").write_text('{"name": "x"}')

    assert "duplicate-handler" in home.run("overdeck", "lint", str(folder)).out


def test_rules_can_be_chosen_and_left_out(home: Home, tmp_path: Path) -> None:
    folder = str(project(tmp_path, {"hooks": BAD["hooks"] | SLOW["hooks"]}))

    chosen = home.run("overdeck", "lint", folder, "--select", "timeout-looks-like-ms", "--json").data["findings"]
    left = home.run("overdeck", "lint", folder, "--ignore", "timeout-looks-like-ms,unknown-tool", "--json").data

    assert [one["rule"] for one in chosen] == ["timeout-looks-like-ms"]
    assert [one["rule"] for one in left["findings"]] == ["invalid-regex"]


def test_a_rule_that_there_is_not_is_exit_3_and_names_the_nearest(home: Home, tmp_path: Path) -> None:
    ran = home.run("overdeck", "lint", str(tmp_path), "--select", "dropped-files", "--json")

    assert "dropped-file" in ran.check_refused(3, "not-found", "dropped-files")["error"]["hint"]


def test_json_holds_files_findings_and_counts(home: Home, tmp_path: Path) -> None:
    data = home.run("overdeck", "lint", str(project(tmp_path, BAD)), "--json").data

    assert data["counts"] == {"error": 1, "warning": 0, "info": 0}
    assert set(data["findings"][0]) == {"rule", "severity", "file", "pointer", "why", "fix", "at"}
    assert data["findings"][0]["at"]["line"] == 5
    assert data["files"][0]["client"] == "claude" and data["files"][0]["scope"] == "project"


def test_githubs_annotations_stand_at_the_script(home: Home, tmp_path: Path) -> None:
    hook = {"type": "command", "command": "bash", "args": ["${CLAUDE_PROJECT_DIR}/a,b.sh"], "timeout": 5}
    folder = project(tmp_path, {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}})
    (folder / "a,b.sh").write_text('#!/bin/bash\nx=$(</dev/stdin)\n[ -n "$x" ]\n')
    ran = home.run("overdeck", "lint", ".", "--format", "github", cwd=folder)

    assert ran.code == 1
    assert re.match(r"::error file=a%2Cb\.sh,line=2,title=overdeck%3A dev-stdin::a,b\.sh line 2 opens", ran.out)
    assert len(ran.out.splitlines()) == 1


def test_sarif_is_one_document(home: Home, tmp_path: Path) -> None:
    ran = home.run("overdeck", "lint", ".", "--format", "sarif", cwd=project(tmp_path, BAD))
    run = json.loads(ran.out)["runs"][0]

    assert run["results"][0]["ruleId"] == run["tool"]["driver"]["rules"][0]["id"] == "invalid-regex"
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": ".claude/settings.json"}, "region": {"startLine": 5}}


def test_a_rule_is_explained_with_both_fixtures(home: Home) -> None:
    ran = home.run("overdeck", "lint", "--explain", "dropped-file")

    assert ran.code == 0
    assert all(part in ran.out for part in ("# dropped-file", "Source: measured (FACTS", "## Breaks", "## Passes"))


def test_all_rules_explained_are_the_handbook(home: Home) -> None:
    ran = home.run("overdeck", "lint", "--explain", "all")

    assert ran.out == (ROOT / "docs" / "lint-rules.md").read_text("utf-8")


def test_ones_own_settings_are_judged_on_this_machine(home: Home) -> None:
    home.settings.parent.mkdir()
    home.settings.write_text(json.dumps(FINE).replace('"true"', '"~/.claude/gone.sh"'))

    assert "never-started" in home.run("overdeck", "lint", str(home.settings.parent)).out


def test_a_project_is_not_judged_by_what_this_machine_lacks(home: Home, tmp_path: Path) -> None:
    folder = project(tmp_path, json.dumps(FINE).replace('"true"', '"/opt/gone/hook --x"'))

    assert home.run("overdeck", "lint", str(folder)).code == 0


def test_the_pre_commit_hook_runs_what_it_names(home: Home, tmp_path: Path) -> None:
    hook = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))[0]
    command = [*hook["entry"].split(), *hook["args"]]

    assert (hook["id"], hook["language"], hook["pass_filenames"]) == ("overdeck-lint", "python", False)
    assert home.run(*command, cwd=project(tmp_path, BAD)).code == 1
    for name in (".claude/settings.json", "x/hooks/hooks.json", ".claude/hooks/guard.sh", "skills/a/SKILL.md"):
        assert re.search(hook["files"], name)
    assert not re.search(hook["files"], "src/main.py")
