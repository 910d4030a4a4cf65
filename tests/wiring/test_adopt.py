"""``overdeck adopt``: hooks of a settings file become modules, with proof, and come back byte for byte."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from adopthome import BASH, DENY, AdoptHome, group

from overdeck.authoring.fleet import interpreter
from overdeck.process import argv_of

sys.path.insert(0, str(Path(__file__).parent / "adopted"))
from settings import settings as public_patterns

HOOKS = Path(__file__).parent / "adopted" / "hooks"


@pytest.fixture
def home(tmp_path: Path) -> AdoptHome:
    return AdoptHome(tmp_path / "home")


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


@pytest.mark.parametrize(
    ("file", "title", "then"),
    [
        (".codex/hooks.json", "Codex", "overdeck install --client codex"),
        ("moved/hooks.json", "Codex", "overdeck install --client codex"),
        (".gemini/settings.json", "Gemini CLI", "overdeck install --client gemini"),
        (".cursor/hooks.json", "cursor", "overdeck hooks new"),
    ],
)
def test_hooks_of_another_client_are_refused_with_what_to_do_instead(
    file: str, title: str, then: str, home: AdoptHome
) -> None:
    theirs = home.root / file
    theirs.parent.mkdir()
    theirs.write_text(json.dumps({"hooks": {"PreToolUse": [group("Bash", "touch ran")]}}))
    ran = home.run("overdeck", "adopt", "--settings", str(theirs), "--yes", "--json", env={"CODEX_HOME": "moved"})
    refused = ran.check_refused(2, "not-claudes", f"{theirs} is {title}'s")
    assert then in refused["error"]["hint"]
    assert not home.state.exists()


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


@pytest.mark.parametrize(
    ("event", "matcher", "hook", "why"),
    [
        ("PreToolUse", "", {"type": "http", "url": "http://localhost/"}, "http hook"),
        ("Stop", "", {"type": "prompt", "prompt": "done?"}, "prompt hook"),
        (
            "PreToolUse",
            "",
            {"type": "command", "command": "true", "if": "Bash(rm *)"},
            '"if" is judged by the client',
        ),
        ("PostToolUse", "", {"type": "command", "command": "true", "asyncRewake": True}, "asyncRewake"),
        (
            "PreToolUse",
            "",
            {"type": "command", "command": "true", "timeout": 3600},
            "timeout is not within 10 minutes",
        ),
        ("WorktreeCreate", "", {"type": "command", "command": "true"}, "was not measured"),
        ("PreCompact", "manual", {"type": "command", "command": "true"}, "no matcher at PreCompact"),
        ("PreToolUse", "Bash(", {"type": "command", "command": "true"}, "matches nothing"),
        ("PreToolUse", "|", {"type": "command", "command": "true"}, "matches nothing"),
    ],
)
def test_what_no_module_can_stand_for_is_left_with_the_reason(
    home: AdoptHome, event: str, matcher: str, hook: dict[str, Any], why: str
) -> None:
    before = home.wire({event: [group(matcher, hook)]})
    left = home.adopt("--yes", "--json").data["left"]
    assert [why in one["why"] for one in left] == [True]
    assert home.settings.read_bytes() == before


@pytest.mark.parametrize(
    "raw",
    [b'{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true", "timeout": "5"}]}]}}', b"{,}"],
)
def test_a_file_that_the_client_drops_is_refused(home: AdoptHome, raw: bytes) -> None:
    home.settings.parent.mkdir()
    home.settings.write_bytes(raw)
    home.adopt("--yes", "--json").check_refused(2, "refused", "drops the whole file")
    assert home.settings.read_bytes() == raw


@pytest.mark.parametrize("shape", ["crlf", "tabs", "bom", "no-newline", "one-line"])
def test_undo_gives_back_the_very_bytes_of_any_shape(home: AdoptHome, shape: str) -> None:
    data = {
        "a": 1,
        "hooks": {
            "PreToolUse": [group("Bash", "true"), group("Edit", "true", "exit 0")],
            "Stop": [group("", "true")],
        },
        "z": [1, {}],
    }
    text = json.dumps(data, indent=None if shape == "one-line" else "\t" if shape == "tabs" else 4)
    raw = text.replace("\n", "\r\n" if shape == "crlf" else "\n").encode() + (
        b"" if shape == "no-newline" else b"\n"
    )
    raw = b"\xef\xbb\xbf" + raw if shape == "bom" else raw
    home.settings.parent.mkdir()
    home.settings.write_bytes(raw)
    assert home.adopt("--yes", "--only", "exit 0", "--json").data["adopted"] == ["hook"]
    assert home.adopt("--undo", "--json").data["exact"] is True
    assert home.settings.read_bytes() == raw


def test_identical_handlers_are_one_module_with_both_matchers(home: AdoptHome) -> None:
    home.wire({"PreToolUse": [group("Bash", "true"), group("Edit", "true")], "Stop": [group("", "true")]})
    hooks = home.adopt("--yes", "--json").data["hooks"]
    assert [hook["matchers"] for hook in hooks] == [{"PreToolUse": "Bash|Edit", "Stop": "*"}]


def test_undo_after_somebody_wrote_takes_ours_out_and_puts_theirs_back(home: AdoptHome) -> None:
    command = home.script("refuse.py", DENY)
    home.wire({"PreToolUse": [group("Bash", command)]})
    home.adopt("--yes")
    changed = json.loads(home.settings.read_bytes())
    changed["hooks"]["PreToolUse"].append(group("Edit", "echo later"))
    home.settings.write_text(json.dumps(changed))
    assert home.adopt("--undo", "--json").data["exact"] is False
    groups = json.loads(home.settings.read_bytes())["hooks"]["PreToolUse"]
    assert groups == [group("Edit", "echo later"), group("Bash", command)]
    assert not list(home.modules.iterdir())


def test_undo_without_an_adoption_says_so(home: AdoptHome) -> None:
    home.adopt("--undo", "--json").check_refused(3, "not-found", "nothing is adopted")


def test_two_adoptions_are_undone_together(home: AdoptHome) -> None:
    before = home.wire({"PreToolUse": [group("Bash", "true", "exit 0")]})
    home.adopt("--yes", "--only", "true")
    home.adopt("--yes", "--only", "exit 0")
    assert home.adopt("--undo", "--json").data["exact"] is True
    assert home.settings.read_bytes() == before


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


def test_uninstall_does_not_leave_adopted_hooks_without_an_entry(home: AdoptHome) -> None:
    before = home.wire({"PreToolUse": [group("Bash", "true")]})
    home.adopt("--yes")
    home.run("overdeck", "uninstall", "--json").check_refused(2, "adopted", "run through our entries only")
    home.adopt("--undo")
    assert home.run("overdeck", "uninstall").code == 0
    assert home.settings.read_bytes() == before


def test_a_failure_on_the_way_leaves_everything_as_it_was(home: AdoptHome) -> None:
    before = home.wire({"PreToolUse": [group("Bash", "true")]})
    broken = home.modules / "broken"
    broken.mkdir(parents=True)
    (broken / "module.toml").write_text('id = "broken"\n')
    home.adopt("--yes", "--json").check_refused(2, "bad-manifest", "broken")
    assert home.settings.read_bytes() == before
    assert [path.name for path in home.modules.iterdir()] == ["broken"]
    assert not (home.root / ".config" / "overdeck" / "config.toml").exists()


def test_a_file_that_changes_during_the_replay_is_not_overwritten(home: AdoptHome) -> None:
    # the replay keeps a hook from what it calls its home; this one knows the file by another way
    outside = home.root.parent / "writer"
    outside.write_text(f"#!/bin/sh\necho ' ' >> {home.settings}\n")
    outside.chmod(0o755)
    home.wire({"PreToolUse": [group("Bash", str(outside))]})
    refused = home.adopt("--yes", "--json").check_refused(2, "refused", "it changed while its hooks were replayed")
    assert refused["error"]["hint"]
    assert b"--by-overdeck" not in home.settings.read_bytes()
    assert not home.modules.exists() or not list(home.modules.iterdir())


def test_a_script_with_a_neighbour_named_like_the_standard_library_is_started_as_before(home: AdoptHome) -> None:
    home.script("queue.py", "WORD = 'mine'\n")
    text = "import json, queue\nprint(json.dumps({'systemMessage': queue.WORD}))\n"
    home.wire({"PreToolUse": [group("Bash", home.script("uses.py", text))]})
    hook = home.adopt("--yes", "--json").data["hooks"][0]
    assert (hook["kind"], "queue.py beside it" in hook["how"]) == ("equal", True)
    assert home.front("PreToolUse", BASH)["systemMessage"] == "mine"


@pytest.fixture(params=["the switch is recorded", "no switch is recorded"])
def killed(home: AdoptHome, request: pytest.FixtureRequest) -> bytes:
    """A home as a kill leaves it that comes between an adoption's modules and its settings; the settings' bytes."""
    before = home.wire({"PreToolUse": [group("Bash", "true")]})
    home.adopt("--yes")
    home.settings.write_bytes(before)
    switches = home.state / "adopted" / "switches.json"
    [switch] = json.loads(switches.read_bytes())
    pending = {
        "file": switch["file"],
        "before": switch["before"],
        "ids": ["hook"],
        "config": switch["made_config"],
    }
    (switches.parent / "pending.json").write_text(json.dumps(pending))
    if request.param != "the switch is recorded":
        switches.unlink()
    return before


def test_the_modules_of_a_killed_adoption_go_with_the_next_one(home: AdoptHome, killed: bytes) -> None:
    ran = home.adopt("--yes", "--json")
    assert ran.data["adopted"] == ["hook"] and "killed" in ran.err
    assert [path.name for path in home.modules.iterdir()] == ["hook"]
    home.adopt("--undo")
    assert home.settings.read_bytes() == killed and not list(home.modules.iterdir())


def test_undo_takes_away_the_modules_of_a_killed_adoption(home: AdoptHome, killed: bytes) -> None:
    ran = home.adopt("--undo", "--json")
    assert (ran.code, ran.data["undone"]) == (0, ["hook"])
    assert home.settings.read_bytes() == killed and not list(home.modules.iterdir())
    assert not (home.root / ".config" / "overdeck" / "config.toml").exists()
    home.adopt("--undo", "--json").check_refused(3, "not-found", "nothing is adopted")


def test_an_adoption_that_was_made_is_not_taken_for_a_killed_one(home: AdoptHome) -> None:
    home.wire({"PreToolUse": [group("Bash", "true")]})
    home.adopt("--yes")
    [switch] = json.loads((home.state / "adopted" / "switches.json").read_bytes())
    pending = {"file": switch["file"], "before": switch["before"], "ids": ["hook"], "config": ""}
    (home.state / "adopted" / "pending.json").write_text(json.dumps(pending))
    home.adopt("--yes")
    assert [path.name for path in home.modules.iterdir()] == ["hook"]
    assert not (home.state / "adopted" / "pending.json").exists()


def test_a_pending_record_that_names_a_folder_elsewhere_is_not_followed(home: AdoptHome, killed: bytes) -> None:
    precious = home.root / ".config" / "precious"
    precious.mkdir()
    file = home.state / "adopted" / "pending.json"
    file.write_text(file.read_text().replace('"hook"', '"../../precious"'))
    home.adopt("--undo")
    assert precious.is_dir()


def test_a_hook_that_prints_for_ever_is_stopped_and_stays(home: AdoptHome) -> None:
    home.wire({"PreToolUse": [group("Bash", "yes")]})
    hook = home.adopt("--yes", "--json").data["hooks"][0]
    assert (hook["kind"], "more than" in hook["why"]) == ("timeout", True)


@pytest.mark.parametrize(
    "command",
    [
        "cat ~nobody-of-this-name/x.py; true",
        f"true /{'x' * 300}/y.py",
        f"true ~/{'x' * 5000}.sh",
        "true ~/loop.py",
    ],
    ids=["no home", "a long name", "a long path", "a loop"],
)
def test_a_command_may_name_any_path(home: AdoptHome, command: str) -> None:
    (home.root / "loop.py").symlink_to("loop.py")
    home.wire({"PreToolUse": [group("Bash", command)]})
    ran = home.adopt("--yes", "--json")
    assert (ran.code, len(ran.data["adopted"])) == (0, 1)
    assert home.run("overdeck", "audit").code == 0


def test_what_a_command_names_by_way_of_dots_is_not_copied_out_of_the_room(
    home: AdoptHome, tmp_path: Path
) -> None:
    """``~/../../x`` from the room's home, which lies deeper than the real one, is another place."""
    outside = tmp_path / "outside" / "x.py"
    outside.parent.mkdir()
    outside.write_text("print(1)\n")
    temporary = tmp_path / "a" / "b"
    temporary.mkdir(parents=True)
    # six folders up from the room's home is the parent of TMPDIR, from the real one (whose path is short) the root
    assert len(home.root.parents) <= 6
    home.wire({"PreToolUse": [group("Bash", f"python3 ~/{'../' * 6}{str(outside)[1:]}")]})
    home.run("overdeck", "adopt", "--yes", env={"TMPDIR": str(temporary)})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "home", "outside"]
    assert not list(temporary.iterdir()) and [path.name for path in temporary.parent.iterdir()] == ["b"]


@pytest.mark.parametrize(("command", "why"), [("true\0x", "NUL"), ("echo \ud800", "half a letter")])
def test_a_hook_that_no_program_can_be_started_with_stays_and_keeps_no_other(
    home: AdoptHome, command: str, why: str
) -> None:
    home.wire({"PreToolUse": [group("Bash", command, "true")]})
    data = home.adopt("--yes", "--json").data
    assert data["adopted"] == ["hook"]
    assert [why in one["why"] for one in data["left"]] == [True]


def test_settings_that_are_no_utf8_are_refused_in_words(home: AdoptHome) -> None:
    home.wire({"PreToolUse": [group("Bash", "true")]})
    raw = home.settings.read_bytes().replace(b"{", b'{"x": "\xe9",', 1)
    home.settings.write_bytes(raw)
    home.adopt("--yes", "--json").check_refused(2, "refused", "not UTF-8")
    assert home.settings.read_bytes() == raw


def test_a_command_of_several_lines_begins_no_line_of_ours(home: AdoptHome) -> None:
    """To GitHub a line that begins with ``::`` is a command of its own."""
    home.wire({"PreToolUse": [group("Bash", "true\n::error::done")]})
    for ran in (home.adopt(), home.adopt("--dry-run"), home.run("overdeck", "audit", "--measure")):
        assert "::error::done" in ran.out + ran.err
        assert not [line for line in (ran.out + ran.err).splitlines() if line.strip().startswith("::")]


def test_payloads_that_are_pipes_or_devices_are_passed_over(home: AdoptHome, tmp_path: Path) -> None:
    folder = tmp_path / "payloads"
    folder.mkdir()
    os.mkfifo(folder / "a.json")
    (folder / "b.json").symlink_to("/dev/zero")
    (folder / "c.json").write_text(json.dumps(BASH))
    home.wire({"PreToolUse": [group("Bash", "true")]})
    assert home.adopt("--yes", "--payloads", str(folder), "--json").data["adopted"] == ["hook"]
