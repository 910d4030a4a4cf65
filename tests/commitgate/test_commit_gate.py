"""The commit gate as a user meets it: through an installed front, through git's own hook, and from the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fronts import bash
from homes import Home
from repositories import IDENTITY, git

import overdeck
from overdeck.dispatch.kit import asking
from overdeck.dispatch.kit.passed import Pass, recall, remember


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    git(work, "init", "-q", "-b", "main", "--template=", home=tmp_path)
    (work / "a.txt").write_text("one\n")
    git(work, "add", "-A", home=tmp_path)
    git(work, "commit", "-q", "-m", "Start", home=tmp_path)
    return work


@pytest.fixture
def gated(tmp_path: Path, work: Path) -> Home:
    home = Home(tmp_path / "home")
    configure(home)
    return home


def configure(home: Home, toml: str = "") -> None:
    config = home.root / ".config" / "overdeck" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f'packs = ["guards", "gates"]\n{toml}')
    assert home.run("overdeck", "install", cwd=home.root).code == 0


def reason(home: Home, work: Path, command: str = "git commit -m x", **extra: Any) -> str:
    """Why the installed front holds a command in ``work``; empty where it does not."""
    answer = home.front("PreToolUse", {**bash(command), "cwd": str(work), **extra})
    return answer.get("hookSpecificOutput", {}).get("permissionDecisionReason", "")


def committed(home: Home, work: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """``git commit`` as somebody types it, hooks and all."""
    return subprocess.run(
        ["git", "commit", "-q", *(words or ("-am", "x"))],
        cwd=work, env={**home.environment(), **IDENTITY}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_a_commit_is_held_until_the_pass_and_again_after_the_next_edit(gated: Home, work: Path) -> None:
    assert "have not passed yet" in reason(gated, work)
    assert gated.run("overdeck", "commit-gate", "pass", cwd=work).code == 0
    assert reason(gated, work) == ""
    (work / "a.txt").write_text("two\n")
    assert "has changed since its checks passed" in reason(gated, work)


def test_one_pass_holds_for_several_commits_of_what_was_checked(gated: Home, work: Path, tmp_path: Path) -> None:
    (work / "a.txt").write_text("two\n")
    (work / "b.txt").write_text("b\n")
    gated.run("overdeck", "commit-gate", "pass", cwd=work)
    for name in ("a.txt", "b.txt"):
        assert reason(gated, work, f"git add {name} && git commit -m {name}") == ""
        git(work, "add", name, home=tmp_path)
        git(work, "commit", "-q", "-m", name, home=tmp_path)


def test_a_merge_is_held_when_it_is_continued(gated: Home, work: Path) -> None:
    assert reason(gated, work, "git merge side") == ""
    assert "have not passed yet" in reason(gated, work, "git merge --continue")


def test_a_silenced_session_is_held_all_the_same(gated: Home, work: Path) -> None:
    session = bash("ls")["session_id"]
    assert gated.run("overdeck", "hooks", "off", "--session", session).code == 0
    assert Path(asking.off_mark(str(gated.state), session)).exists()
    assert "lifts no gate" in reason(gated, work)
    gated.run("overdeck", "git-hook", "install", cwd=work)
    (work / "a.txt").write_text("two\n")
    assert committed(gated, work).returncode == 1


def test_no_environment_variable_lifts_it(gated: Home, work: Path) -> None:
    hooks = json.loads(gated.settings.read_bytes())["hooks"]["PreToolUse"]
    ours = next(group["hooks"][0] for group in hooks if "--by-overdeck" in group["hooks"][0].get("args", []))
    done = subprocess.run(
        [ours["command"], *ours["args"]], input=json.dumps({**bash("git commit"), "cwd": str(work)}).encode(),
        capture_output=True, check=True, timeout=60,
        env={"HOME": "/nonexistent", "PATH": os.defpath, "SKIP": "commit-gate", "GIT_DIR": "/nonexistent",
             "GIT_WORK_TREE": "/", "XDG_STATE_HOME": "/nonexistent"},
    )  # fmt: skip
    assert b'"permissionDecision":"deny"' in done.stdout


def test_checks_are_listed_and_run_only_with_yes(gated: Home, work: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    configure(gated, f'[modules.commit-gate]\nchecks = ["touch {ran}", "grep -q one a.txt"]\n')
    listed = gated.run("overdeck", "commit-gate", "pass", "--json", cwd=work)
    listed.check_refused(2, "needs-yes", f"touch {ran}; grep -q one a.txt")
    assert not ran.exists() and "grep -q one" in reason(gated, work)
    passed = gated.run("overdeck", "commit-gate", "pass", "--yes", "--json", cwd=work)
    assert passed.data["checks"] == [f"touch {ran}", "grep -q one a.txt"] and ran.exists()
    assert reason(gated, work) == ""


def test_a_check_that_fails_passes_nothing_and_shows_its_end(gated: Home, work: Path) -> None:
    configure(gated, """[modules.commit-gate]\nchecks = ["sh -c 'echo because; exit 3'"]\n""")
    failed = gated.run("overdeck", "commit-gate", "pass", "--yes", "--json", cwd=work)
    failed.check_refused(4, "check-failed", "because")
    assert "have not passed" in reason(gated, work)


def test_a_check_that_does_not_end_is_stopped(gated: Home, work: Path) -> None:
    configure(gated, '[modules.commit-gate]\nchecks = ["sleep 60"]\ncheck_seconds = 1\n')
    late = gated.run("overdeck", "commit-gate", "pass", "--yes", "--json", cwd=work)
    late.check_refused(4, "check-failed", "does not end within")


def test_what_changes_while_the_checks_run_was_not_checked(gated: Home, work: Path) -> None:
    configure(gated, """[modules.commit-gate]\nchecks = ["sh -c 'echo x > new.txt'"]\n""")
    changed = gated.run("overdeck", "commit-gate", "pass", "--yes", "--json", cwd=work)
    changed.check_refused(4, "tree-changed", "new.txt")
    assert "have not passed" in reason(gated, work)


def test_a_work_tree_is_passed_not_a_session(gated: Home, work: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(work, "worktree", "add", "-q", str(other), home=tmp_path)
    gated.run("overdeck", "commit-gate", "pass", cwd=work)
    assert reason(gated, work, session_id="another") == ""
    assert "have not passed" in reason(gated, other)


def test_status_says_where_it_stands_and_fails_only_when_asked_to(gated: Home, work: Path) -> None:
    held = gated.run("overdeck", "commit-gate", "status", cwd=work)
    assert held.code == 0 and "held:" in held.out and "overdeck commit-gate pass" in held.out
    assert gated.run("overdeck", "commit-gate", "status", "--require", cwd=work).code == 1
    gated.run("overdeck", "commit-gate", "pass", cwd=work)
    assert gated.run("overdeck", "commit-gate", "status", "--require", cwd=work).code == 0
    assert gated.run("overdeck", "commit-gate", "status", cwd=gated.root).code == 2


def test_gits_own_hook_holds_who_types_it(gated: Home, work: Path) -> None:
    assert gated.run("overdeck", "git-hook", "install", cwd=work).code == 0
    (work / "a.txt").write_text("two\n")
    held = committed(gated, work)
    assert (
        held.returncode == 1
        and "have not passed yet" in held.stderr
        and "overdeck commit-gate pass" in held.stderr
    )
    gated.run("overdeck", "commit-gate", "pass", cwd=work)
    done = committed(gated, work)
    assert done.returncode == 0, done.stderr


def test_gits_own_hook_sees_what_is_staged(gated: Home, work: Path, tmp_path: Path) -> None:
    gated.run("overdeck", "git-hook", "install", cwd=work)
    (work / "a.txt").write_text("unchecked\n")
    git(work, "add", "a.txt", home=tmp_path)
    (work / "a.txt").write_text("checked\n")
    gated.run("overdeck", "commit-gate", "pass", cwd=work)
    held = committed(gated, work, "-m", "x")
    assert held.returncode == 1 and "what is staged of a.txt" in held.stderr
    assert committed(gated, work, "-m", "x", "a.txt").returncode == 0, "committed by name, it is what was checked"


def test_the_hook_that_was_there_runs_first_and_is_back_byte_for_byte(gated: Home, work: Path) -> None:
    hook = work / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_bytes(b"#!/bin/sh\necho theirs >&2\nexit 1\n")
    hook.chmod(0o755)
    gated.run("overdeck", "commit-gate", "pass", cwd=work)
    assert "pre-commit.before-overdeck" in gated.run("overdeck", "git-hook", "install", cwd=work).out
    assert gated.run("overdeck", "git-hook", "install", "--json", cwd=work).data["changed"] is False
    (work / "a.txt").write_text("two\n")
    held = committed(gated, work)
    assert held.returncode == 1 and held.stderr.startswith("theirs")
    assert gated.run("overdeck", "git-hook", "uninstall", cwd=work).code == 0
    assert hook.read_bytes() == b"#!/bin/sh\necho theirs >&2\nexit 1\n" and hook.stat().st_mode & 0o777 == 0o755
    assert [path.name for path in hook.parent.iterdir()] == ["pre-commit"]


def test_it_goes_where_git_looks_and_never_where_every_repository_would(
    gated: Home, work: Path, tmp_path: Path
) -> None:
    git(work, "config", "core.hooksPath", "my-hooks", home=tmp_path)
    done = gated.run("overdeck", "git-hook", "install", "--json", cwd=work)
    assert done.data["path"] == str(work / "my-hooks" / "pre-commit")
    (work / "a.txt").write_text("two\n")
    assert committed(gated, work).returncode == 1
    git(work, "config", "--unset", "core.hooksPath", home=tmp_path)
    (gated.root / ".gitconfig").write_text("[core]\n\thooksPath = /srv/hooks\n")
    refused = gated.run("overdeck", "git-hook", "install", "--json", cwd=work)
    refused.check_refused(2, "shared-hooks", "/srv/hooks")


def test_a_launcher_that_is_gone_holds_the_commit_and_says_so(gated: Home, work: Path) -> None:
    gated.run("overdeck", "commit-gate", "pass", cwd=work)
    gated.run("overdeck", "git-hook", "install", cwd=work)
    hook = work / ".git" / "hooks" / "pre-commit"
    program = next(line for line in hook.read_text().splitlines() if line.startswith("if [ ! -x ")).split()[4]
    hook.write_text(hook.read_text().replace(program, "/nonexistent/overdeck"))
    (work / "a.txt").write_text("two\n")
    held = committed(gated, work)
    assert held.returncode == 1 and "/nonexistent/overdeck is gone" in held.stderr


WRITER = """
import sys
from overdeck.dispatch.kit.passed import Pass, remember
for number in range(2000):
    remember(sys.argv[1], "/w", Pass(format(number, "040x"), "now", ["./dev test"] * 50))
"""


def test_a_pass_is_read_whole_while_it_is_written_and_when_its_writers_are_killed(tmp_path: Path) -> None:
    remember(str(tmp_path), "/w", Pass("0" * 40, "now", ["./dev test"] * 50))
    root = str(Path(overdeck.__file__).parent.parent)
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], env={"PYTHONPATH": root}) for _ in range(3)
    ]
    seen = []
    while len({passed.tree for passed in seen if passed}) < 20:
        seen.append(recall(str(tmp_path), "/w"))
    for writer in writers:
        writer.kill()
        writer.wait(10)
    seen.append(recall(str(tmp_path), "/w"))
    assert all(passed is not None and len(passed.tree) == 40 and len(passed.checks) == 50 for passed in seen)
