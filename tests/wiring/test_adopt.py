"""``overdeck adopt``: hooks of a settings file become modules, with proof."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from adopthome import BASH, DENY, AdoptHome, group

from overdeck.authoring.fleet import interpreter
from overdeck.process import argv_of

sys.path.insert(0, str(Path(__file__).parent / "adopted"))
from settings import settings as public_patterns


@pytest.fixture
def home(tmp_path: Path) -> AdoptHome:
    return AdoptHome(tmp_path / "home")


HOOKS = Path(__file__).parent / "adopted" / "hooks"


@pytest.mark.timeout(900)
def test_hooks_after_public_patterns_say_the_same_and_come_back_byte_for_byte(home: AdoptHome) -> None:
    shutil.copytree(HOOKS, home.hooks)
    subprocess.run([interpreter(), "-m", "venv", "--without-pip", home.root / "venv"], check=True)
    wired = public_patterns(str(home.root))
    before = home.wire(wired["hooks"], permissions=wired["permissions"])
    done = subprocess.run(
        [*argv_of("overdeck"), "adopt", "--yes", "--json"],
        capture_output=True, env=home.environment(), cwd=home.root, timeout=880, check=False,
    )  # fmt: skip
    data = json.loads(done.stdout)["data"]
    others = [(hook["id"], hook["kind"]) for hook in data["hooks"] if hook["kind"] != "equal"]
    assert others == [("no-such-program", "never-ran")]
    assert len(data["adopted"]) >= 30
    assert sum(hook["acted"] > 0 for hook in data["hooks"]) >= 25
    assert sum(hook["how"] == "in a fork of the dispatcher" for hook in data["hooks"]) >= 28
    kept = json.loads(home.settings.read_bytes())
    hooks = [hook for groups in kept["hooks"].values() for one in groups for hook in one["hooks"]]
    theirs = [hook["command"] for hook in hooks if "--by-overdeck" not in hook.get("args", [])]
    assert theirs == ["python3 ~/.claude/hooks/missing.py", "no-such-program --check"]
    assert home.front("PreToolUse", {**BASH, "tool_input": {"command": "rm -rf /"}})
    assert home.adopt("--undo").code == 0
    assert home.settings.read_bytes() == before


def test_nothing_runs_without_yes_and_the_hooks_are_listed(home: AdoptHome) -> None:
    mark = home.root / "ran"
    before = home.wire({"PreToolUse": [group("Bash", f"touch {mark}")]})
    refused = home.adopt("--json").check_refused(2, "needs-yes", f"touch {mark}")
    assert refused["error"]["hint"] == "overdeck adopt --yes"
    assert home.adopt("--dry-run", "--json").data["hooks"][0]["command"] == f"touch {mark}"
    assert (mark.exists(), home.settings.read_bytes()) == (False, before)


def test_an_adopted_hook_still_answers_through_the_front(home: AdoptHome) -> None:
    home.wire({"PreToolUse": [group("Bash", home.script("refuse.py", DENY))]}, model="opus")
    done = home.adopt("--yes", "--json")
    assert done.data["adopted"] == ["refuse"]
    answer = home.front("PreToolUse", BASH)
    assert answer["hookSpecificOutput"]["permissionDecisionReason"] == "the rule says no"
    assert json.loads(home.settings.read_bytes())["model"] == "opus"


def test_an_adopted_hook_is_shown_by_what_it_starts_and_where_its_proof_is(home: AdoptHome) -> None:
    home.wire(
        {
            "PreToolUse": [
                group(
                    "Bash", home.script("refuse.py", DENY), {"type": "command", "command": "true", "args": ["a b"]}
                )
            ]
        }
    )
    assert home.adopt("--yes").code == 0
    shown = home.run("overdeck", "hooks", "show", "refuse").out
    assert "python3 ~/.claude/hooks/refuse.py\n" in shown and "in a fork of the dispatcher\n" in shown
    proof = next(line for line in shown.splitlines() if "proof" in line).split()[1].rstrip(";")
    assert json.loads(Path(proof).read_bytes())["id"] == "refuse"
    other = home.run("overdeck", "hooks", "show", "true").out
    assert "true 'a b'\n" in other and "as a program, as before\n" in other


def test_only_what_the_user_had_runs_where_nothing_of_ours_was_on(home: AdoptHome) -> None:
    home.wire({"PreToolUse": [group("Bash", home.script("refuse.py", DENY))]})
    assert home.adopt("--yes", "--json").data["beside"] == []
    assert home.front("PreToolUse", {**BASH, "tool_input": {"command": "git push --force"}}) == {}
    home.adopt("--undo")
    assert not (home.root / ".config" / "overdeck" / "config.toml").exists()


def test_the_certificate_says_what_was_compared(home: AdoptHome) -> None:
    command = home.script("refuse.py", DENY)
    home.wire({"PreToolUse": [group("Bash", command)]})
    home.adopt("--yes")
    certificate = home.certificate("refuse")
    assert (certificate["result"], certificate["command"]) == ("equal", command)
    assert (certificate["answered"] > 0, certificate["cases"] > 5) == (True, True)
    assert str(home.hooks / "refuse.py") in certificate["sha256"]


def test_a_hook_that_differs_stays_and_the_difference_is_shown(home: AdoptHome) -> None:
    # who started it is the one thing that cannot be the same
    text = "import os, sys\nname = open(f'/proc/{os.getppid()}/comm').read().strip()\n"
    text += (
        "import json; print(json.dumps({'systemMessage': 'I was started by ' + name.replace('overdeck', '')}))\n"
    )
    before = home.wire(
        {"PreToolUse": [group("Bash", home.script("parent.py", text), home.script("refuse.py", DENY))]}
    )
    done = home.adopt("--yes", "--json")
    kinds = {hook["id"]: (hook["kind"], hook["why"]) for hook in done.data["hooks"]}
    assert kinds["parent"][0] == "different"
    assert "tell was" in kinds["parent"][1]
    assert done.data["adopted"] == ["refuse"]
    assert json.loads(home.settings.read_bytes())["hooks"]["PreToolUse"][0] == group(
        "Bash", "python3 ~/.claude/hooks/parent.py"
    )
    assert home.certificate("parent")["result"] == "different"
    home.adopt("--undo")
    assert home.settings.read_bytes() == before


def test_a_hook_that_does_not_answer_itself_alike_is_named_so(home: AdoptHome) -> None:
    text = "import json, time; print(json.dumps({'systemMessage': str(time.time_ns())}))\n"
    before = home.wire({"PreToolUse": [group("Bash", home.script("clock.py", text))]})
    done = home.adopt("--yes", "--json")
    assert [hook["kind"] for hook in done.data["hooks"]] == ["not-deterministic"]
    assert (done.data["adopted"], home.settings.read_bytes()) == ([], before)


def test_a_hook_that_leaves_other_files_differs(home: AdoptHome) -> None:
    text = "import os, pathlib\nname = open(f'/proc/{os.getppid()}/comm').read().strip()\n"
    text += "pathlib.Path.home().joinpath('seen-' + name).touch()\n"
    home.wire({"PreToolUse": [group("Bash", home.script("files.py", text))]})
    hook = home.adopt("--yes", "--json").data["hooks"][0]
    assert (hook["kind"], "it leaves another file" in hook["why"]) == ("different", True)


def test_a_hook_of_which_nothing_starts_stays_where_an_audit_sees_it(home: AdoptHome) -> None:
    (home.root / "locked.sh").write_text("#!/bin/sh\n")
    gone = (f"{home.root}/gone.sh", f"{home.root}/locked.sh", "python3 ~/gone.py", "node ~/gone.js")
    home.wire({"PreToolUse": [group("Bash", *gone, home.script("refuse.py", DENY))]})
    done = home.adopt("--yes", "--json")
    assert [hook["id"] for hook in done.data["hooks"]] == done.data["adopted"] == ["refuse"]
    assert [one["command"] for one in done.data["left"]] == list(gone)
    findings = home.run("overdeck", "audit", "--json").data["findings"]
    assert {"never-started", "not-executable"} <= {found["rule"] for found in findings}


def test_a_hook_of_which_nothing_starts_by_its_exit_code_stays(home: AdoptHome) -> None:
    home.wire({"PreToolUse": [group("Bash", "definitely-no-such-program --fast")]})
    done = home.adopt("--yes", "--json")
    assert [hook["kind"] for hook in done.data["hooks"]] == ["never-ran"]


def test_a_home_that_cannot_be_written_is_told_before_the_replay(home: AdoptHome) -> None:
    home.wire({"PreToolUse": [group("Bash", "true")]})
    modules = home.root / ".config" / "overdeck" / "modules"
    modules.parent.mkdir(parents=True, exist_ok=True)
    modules.write_text("")
    said = home.adopt("--yes")
    assert (said.code, "replaying" in said.err) == (2, False)
    assert str(modules) in said.err and "next: ls -ld" in said.err


def test_the_end_says_how_many_need_no_process_any_more(home: AdoptHome) -> None:
    home.wire({"PreToolUse": [group("Bash", home.script("refuse.py", DENY), "true")]})
    assert "2 of 2 hooks adopted" in (said := home.adopt("--yes")).out
    assert "1 in the dispatcher's fork, 1 started as before" in said.out
    assert "costs more than before" not in said.err


def test_an_adoption_that_wins_nothing_says_so(home: AdoptHome) -> None:
    home.wire({"PreToolUse": [group("Bash", "true")]})
    said = home.adopt("--yes")
    assert "1 of 1 hook adopted" in said.out and "costs more than before" in said.err


def test_a_list_of_what_could_be_adopted_ends_with_the_next_command(home: AdoptHome) -> None:
    home.wire({"PreToolUse": [group("Bash", "true")]})
    said = home.adopt("--dry-run")
    assert "1 hook of" in said.out and "next: overdeck adopt --yes" in said.err


def test_a_hook_that_does_not_end_stays(home: AdoptHome) -> None:
    home.wire({"PreToolUse": [group("Bash", {"type": "command", "command": "sleep 60", "timeout": 1})]})
    assert home.adopt("--yes", "--json").data["hooks"][0]["kind"] == "timeout"


def test_identical_handlers_are_one_module_with_both_matchers(home: AdoptHome) -> None:
    home.wire({"PreToolUse": [group("Bash", "true"), group("Edit", "true")], "Stop": [group("", "true")]})
    hooks = home.adopt("--yes", "--json").data["hooks"]
    assert [hook["matchers"] for hook in hooks] == [{"PreToolUse": "Bash|Edit", "Stop": "*"}]


def test_check_finds_a_script_that_says_something_else_now_than_it_did_in_the_fork(home: AdoptHome) -> None:
    home.wire({"PreToolUse": [group("Bash", home.script("refuse.py", DENY))]})
    home.adopt("--yes")
    assert home.adopt("--check", "--json").check_refused(2, "needs-yes", "refuse.py")
    assert home.adopt("--check", "--yes").code == 0
    (home.hooks / "refuse.py").write_text(
        "import os, sys\nprint(open(f'/proc/{os.getppid()}/comm').read().replace('overdeck', ''), file=sys.stderr)\n"
        "sys.exit(2)\n"
    )
    again = home.adopt("--check", "--yes", "--json")
    assert (again.code, again.data["hooks"][0]["kind"]) == (1, "different")


def test_recorded_payloads_are_replayed_too(home: AdoptHome, tmp_path: Path) -> None:
    home.wire({"PreToolUse": [group("Bash", home.script("refuse.py", DENY))]})
    folder = tmp_path / "payloads"
    folder.mkdir()
    plain = home.adopt("--yes", "--dry-run", "--json").data["hooks"][0]["cases"]
    (folder / "one.json").write_text(json.dumps(BASH))
    more = home.adopt("--yes", "--dry-run", "--payloads", str(folder), "--json").data["hooks"][0]["cases"]
    assert more == plain + 2


def test_a_hook_never_touches_the_real_home_in_a_replay(home: AdoptHome) -> None:
    home.wire({"PreToolUse": [group("Bash", f"touch ~/here $HOME/there {home.root}/spelled-out")]})
    home.adopt("--yes", "--dry-run")
    assert not [name for name in ("here", "there", "spelled-out") if (home.root / name).exists()]


def test_a_projects_hooks_stay_that_projects(home: AdoptHome, tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / ".claude").mkdir(parents=True)
    file = project / ".claude" / "settings.json"
    file.write_text(json.dumps({"hooks": {"PreToolUse": [group("Bash", "echo no >&2; exit 2")]}}))
    assert home.adopt("--settings", str(file), "--yes", "--json").data["adopted"] == ["hook"]
    assert f'project = "{project}"' in (home.modules / "hook" / "module.toml").read_text()


@pytest.mark.parametrize("scope", ["project", "local"])
def test_hooks_of_the_project_around_us_are_adopted_by_scope(home: AdoptHome, tmp_path: Path, scope: str) -> None:
    project = tmp_path / "project"
    for folder in (project / ".git", project / ".claude" / "hooks", project / "sub"):
        folder.mkdir(parents=True)
    (project / ".claude" / "hooks" / "refuse.py").write_text(DENY)
    file = project / ".claude" / ("settings.json" if scope == "project" else "settings.local.json")
    command = 'python3 "$CLAUDE_PROJECT_DIR"/.claude/hooks/refuse.py'
    raw = json.dumps({"hooks": {"PreToolUse": [group("Bash", command)]}}).encode()
    file.write_bytes(raw)
    done = home.run("overdeck", "adopt", "--scope", scope, "--yes", "--json", cwd=project / "sub")
    assert (done.data["adopted"], done.data["file"]) == (["refuse"], str(file))
    warned = [str(file) in line and "by git" in line for line in done.document["warnings"]]
    assert warned == ([True] if scope == "project" else [])
    ours = json.loads(file.read_bytes())["hooks"]["PreToolUse"][0]["hooks"][0]

    def denied(where: Path) -> bool:
        env = home.environment(CLAUDE_PROJECT_DIR=str(where))
        argv = [ours["command"], *ours["args"]]
        done = subprocess.run(
            argv, input=json.dumps(BASH), capture_output=True, text=True, env=env, cwd=where, check=True
        )
        return "the rule says no" in done.stdout

    assert (denied(project), denied(tmp_path)) == (True, False)
    assert home.adopt("--undo", "--json").data["exact"] is True
    assert file.read_bytes() == raw


def test_a_plugins_hooks_stay_the_plugins(home: AdoptHome, tmp_path: Path) -> None:
    file = tmp_path / "plugin" / "hooks" / "hooks.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"hooks": {"PreToolUse": [group("Bash", "true")]}}))
    left = home.adopt("--settings", str(file), "--dry-run", "--json").data["left"]
    assert ["plugin" in one["why"] for one in left] == [True]


def test_a_script_with_a_neighbour_named_like_the_standard_library_is_started_as_before(home: AdoptHome) -> None:
    home.script("queue.py", "WORD = 'mine'\n")
    text = "import json, queue\nprint(json.dumps({'systemMessage': queue.WORD}))\n"
    home.wire({"PreToolUse": [group("Bash", home.script("uses.py", text))]})
    hook = home.adopt("--yes", "--json").data["hooks"][0]
    assert (hook["kind"], "queue.py beside it" in hook["how"]) == ("equal", True)
    assert home.front("PreToolUse", BASH)["systemMessage"] == "mine"
