"""``overdeck hooks list | show | test | run | errors`` as a user runs them."""

import json
from pathlib import Path

import pytest
from fronts import bash, recorded
from homes import Home

from overdeck.paths import shipped


def own_module(home: Home, body: str, *, toml: str = "") -> Path:
    folder = home.root / ".config" / "overdeck" / "modules" / "mine"
    folder.mkdir(parents=True)
    (folder / "module.toml").write_text(f'id = "mine"\nclass = "gate"\n{toml}\n[events]\nPreToolUse = "Bash"\n')
    (folder / "module.py").write_text(body)
    case = {"name": "n", "payload": bash("ls"), "expect": "deny"}
    pass_by = {"name": "p", "payload": bash("pwd"), "expect": "none"}
    (folder / "matrix.jsonl").write_text(json.dumps(case) + "\n" + json.dumps(pass_by) + "\n")
    return folder


DENIES_LS = (
    "from overdeck.dispatch.module import deny\n"
    "def evaluate(call):\n    return deny('no ls') if call.input['command'] == 'ls' else None\n"
)


def test_list_shows_what_is_on_in_manifest_order(tmp_path: Path) -> None:
    home = Home(tmp_path)
    own_module(home, DENIES_LS)
    shown = home.run("overdeck", "hooks", "list", "--json").data["modules"]
    *guards, own = [module["id"] for module in shown]
    assert own == "mine"
    assert guards == sorted(guards)
    assert {"deny", "git-decision", "secret-file"} <= set(guards)
    (home.root / ".config/overdeck/config.toml").write_text("packs = []\n[modules.mine]\nenabled = false\n")
    assert home.run("overdeck", "hooks", "list", "--json").data["modules"] == []
    assert "hooks list --all" in home.run("overdeck", "hooks", "list").out
    every = [path.parent.name for path in shipped("modules").glob("*/module.toml")]
    listed = home.run("overdeck", "hooks", "list", "--all", "--json").data["modules"]
    assert sorted(module["id"] for module in listed) == sorted([*every, "mine"])


def test_a_module_that_ships_is_not_broken_by_the_users_own_rules(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (home.root / ".config" / "overdeck").mkdir(parents=True)
    (home.root / ".config" / "overdeck" / "config.toml").write_text(
        '[modules.deny-rewrite.rules.uv]\npattern = "pip install"\nreason = "uv"\nrewrite = "uv pip install"\n'
    )
    ran = home.run("overdeck", "hooks", "test", "deny-rewrite", "--json")
    assert (ran.code, ran.data["modules"][0]["failures"]) == (0, [])


def test_a_module_that_is_nothing_like_any_is_not_answered_with_all(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert "nearest" not in home.run("overdeck", "hooks", "show", "xyzzy").err
    assert "the nearest: git-decision" in home.run("overdeck", "hooks", "show", "git-decison").err


def test_a_manifest_that_cannot_be_read_is_warned_of(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (own_module(home, DENIES_LS) / "module.toml").write_text("id = 3")
    listed = home.run("overdeck", "hooks", "list", "--json")
    assert listed.code == 0 and "mine/module.toml" in listed.document["warnings"][0]


@pytest.mark.parametrize(
    ("text", "said"),
    [('packs = ["gaurds"]', "gaurds"), ("pakcs = []", "pakcs"), ("packs = [", "config.toml")],
)
def test_a_typo_in_the_config_is_an_error_everywhere(tmp_path: Path, text: str, said: str) -> None:
    home = Home(tmp_path)
    config = home.root / ".config" / "overdeck" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(text)
    for verb in (["hooks", "list"], ["install"], ["fires"]):
        ran = home.run("overdeck", *verb)
        assert ran.code == 2 and said in ran.err, verb


def test_show_names_the_nearest_for_an_unknown_id(tmp_path: Path) -> None:
    home = Home(tmp_path)
    shown = home.run("overdeck", "hooks", "show", "git-decison", "--json")
    assert shown.code == 3
    assert shown.document["data"]["candidates"] == ["git-decision"]
    assert home.run("overdeck", "hooks", "show", "git-decision").out.startswith("git-decision: Force-push")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("def evaluate(call):\n    while True: pass\n", "timed out after"),
        ("def evaluate(call:\n", "SyntaxError"),
        ("def evaluate(call):\n    return 'deny'\n", "not a verdict"),
        (DENIES_LS.replace("'ls'", "'pwd'"), "expected deny, got nothing"),
    ],
)
def test_test_says_in_words_why_a_module_fails(tmp_path: Path, body: str, said: str) -> None:
    home = Home(tmp_path)
    own_module(home, body, toml="timeout_ms = 200")
    ran = home.run("overdeck", "hooks", "test", "mine")
    assert ran.code == 1
    assert said in ran.out and "',)" not in ran.out


def test_a_gate_without_a_case_is_not_tested_and_fails(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (own_module(home, DENIES_LS) / "matrix.jsonl").write_text("")
    ran = home.run("overdeck", "hooks", "test", "mine")
    assert ran.code == 1 and "holds no case" in ran.out


def test_a_gate_needs_a_case_on_both_sides(tmp_path: Path) -> None:
    home = Home(tmp_path)
    folder = own_module(
        home, "from overdeck.dispatch.module import deny\ndef evaluate(call):\n    return deny('all')\n"
    )
    lines = (folder / "matrix.jsonl").read_text().splitlines()
    (folder / "matrix.jsonl").write_text(lines[0] + "\n")
    assert "one it must not" in home.run("overdeck", "hooks", "test", "mine").out


def test_run_says_what_a_module_answers_and_where_it_was_passed_by(tmp_path: Path) -> None:
    home = Home(tmp_path)
    own_module(home, DENIES_LS)
    payload = tmp_path / "p.json"
    payload.write_text(json.dumps(bash("ls")))
    ran = home.run("overdeck", "hooks", "run", "mine", "--payload", str(payload), "--json").data
    assert (ran["verdicts"], ran["end"], ran["event"]) == (["deny"], "fire", "PreToolUse")
    ran = home.run("overdeck", "hooks", "run", "secret-file", "--payload", str(payload))
    assert "nothing to say" in ran.out and "passed the call by" in ran.out


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"hook_event_name": "Nope"}', "\xff"])
def test_run_refuses_a_payload_that_names_no_event(tmp_path: Path, content: str) -> None:
    payload = tmp_path / "p.json"
    payload.write_text(content)
    ran = Home(tmp_path).run("overdeck", "hooks", "run", "git-decision", "--payload", str(payload))
    assert ran.code == 2 and "next:" in ran.err


def test_errors_shows_where_a_module_broke(tmp_path: Path) -> None:
    home = Home(tmp_path)
    own_module(home, DENIES_LS)
    assert home.run("overdeck", "install").code == 0
    assert "No module has failed" in home.run("overdeck", "hooks", "errors").out
    code = home.root / ".config/overdeck/modules/mine/module.py"
    code.write_text("def evaluate(call):\n    raise RuntimeError('boom')\n")
    for _ in range(3):
        home.front("PreToolUse", bash("ls"))
    shown = home.run("overdeck", "hooks", "errors", "mine", "--last", "2", "--json").data
    assert shown["total"] == 3 and len(shown["errors"]) == 2
    assert shown["errors"][0]["cause"] == "RuntimeError: boom"
    assert "mine/module.py:2 in evaluate" in shown["errors"][0]["trace"]
    assert "(1 older ones not shown" in home.run("overdeck", "hooks", "errors", "--last", "2").out


def test_install_refuses_code_that_does_not_compile_and_leaves_the_settings_alone(tmp_path: Path) -> None:
    home = Home(tmp_path)
    own_module(home, "def evaluate(call:\n")
    for how in (["--dry-run"], []):
        ran = home.run("overdeck", "install", *how)
        assert ran.code == 2 and "mine" in ran.err and "hooks test mine" in ran.err
        assert not home.settings.exists()


def test_run_takes_a_payload_of_another_client(tmp_path):
    home = Home(tmp_path / "home")
    for client, file in (
        ("codex", "codex/PreToolUse.Bash"),
        ("gemini", "gemini-cli/BeforeTool.run_shell_command"),
    ):
        payload = tmp_path / "payload.json"
        call = recorded(file)
        call["tool_input"]["command"] = "git push --force"
        payload.write_text(json.dumps(call))
        ran = home.run(
            "overdeck", "hooks", "run", "git-decision", "--payload", str(payload), "--client", client, "--json"
        )
        assert (ran.code, ran.data["event"], ran.data["verdicts"]) == (0, "PreToolUse", ["deny"])
        assert "cannot ask from a hook" in ran.data["text"]


def test_run_refuses_an_event_that_the_client_has_not(tmp_path):
    home = Home(tmp_path / "home")
    payload = tmp_path / "payload.json"
    payload.write_text('{"hook_event_name": "StopFailure"}')
    ran = home.run("overdeck", "hooks", "run", "git-decision", "--payload", str(payload), "--client", "gemini")
    assert ran.code == 2 and "names no known event of gemini" in ran.err
