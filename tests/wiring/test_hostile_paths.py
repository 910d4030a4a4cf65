"""What a repository that is not ours may bring: pipes and devices where a program is named, paths of any length."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from homes import Home

pytestmark = pytest.mark.timeout(60)


def wire(file: Path, *commands: str, **keys: Any) -> None:
    hooks = [{"type": "command", "command": command, **keys} for command in commands]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": hooks}]}}))


@pytest.mark.parametrize(
    "verb", [("audit",), ("lint", "."), ("adopt",), ("doctor",), ("plugins", "list")], ids=" ".join
)
def test_a_pipe_or_a_device_where_a_program_is_named_is_never_read(home: Home, verb: tuple[str, ...]) -> None:
    os.mkfifo(home.root / "pipe.py")
    (home.root / "zero.py").symlink_to("/dev/zero")
    wire(home.settings, str(home.root / "pipe.py"), f"python3 {home.root / 'zero.py'}", str(home.root / "zero.py"))

    assert home.run("overdeck", *verb).code in (0, 1, 2)


@pytest.mark.parametrize("verb", [("audit",), ("lint", "."), ("doctor",), ("plugins", "list")], ids=" ".join)
@pytest.mark.parametrize("make", ["pipe", "zero", "loop"])
def test_settings_that_are_no_file_keep_no_command_waiting(home: Home, make: str, verb: tuple[str, ...]) -> None:
    home.settings.parent.mkdir(exist_ok=True)
    if make == "pipe":
        os.mkfifo(home.settings)
    else:
        home.settings.symlink_to("/dev/zero" if make == "zero" else home.settings.name)

    assert home.run("overdeck", *verb).code in (0, 1, 2)


@pytest.mark.parametrize(
    "word", ["x" * 300, "y/" * 3000, "\0", "\ud800"], ids=["name", "path", "nul", "surrogate"]
)
def test_an_entry_with_our_marker_may_name_any_path(home: Home, word: str) -> None:
    hook = {
        "type": "command",
        "command": f"/{word}",
        "args": ["PreToolUse", "--plan", f"/{word}", "--by-overdeck"],
    }
    home.settings.parent.mkdir(exist_ok=True)
    home.settings.write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [hook]}]}}))

    for verb in (("audit",), ("hooks", "list"), ("install", "--dry-run"), ("uninstall", "--dry-run")):
        assert home.run("overdeck", *verb).code in (0, 2), verb


def test_a_plugin_may_name_a_script_of_any_length(home: Home, tmp_path: Path) -> None:
    plugin = tmp_path / "plugin"
    (plugin / ".claude-plugin").mkdir(parents=True)
    (plugin / ".claude-plugin" / "plugin.json").write_text('{"name": "p"}')
    wire(plugin / "hooks" / "hooks.json", "${CLAUDE_PLUGIN_ROOT}/" + "x" * 300)

    assert home.run("overdeck", "plugins", "audit", str(plugin)).code == 0


def test_a_page_is_not_written_into_a_pipe(home: Home) -> None:
    pipe = home.root / "page.html"
    os.mkfifo(pipe)
    ran = home.run("overdeck", "audit", "--html", str(pipe))

    assert ran.code == 2 and "pipe" in ran.err


def test_sarif_names_files_as_references(home: Home) -> None:
    folder = home.root / "a b#c%d" / ".claude"
    wire(folder / "settings.json", "true", timeout="5")
    document = json.loads(home.run("overdeck", "lint", "--format", "sarif", ".").out)
    [result] = document["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]

    assert place == "a%20b%23c%25d/.claude/settings.json"


def test_a_device_is_not_replaced_by_a_page(home: Home) -> None:
    link = home.root / "page.html"
    link.symlink_to("/dev/null")
    ran = home.run("overdeck", "audit", "--html", str(link))

    assert ran.code == 2 and "device" in ran.err


@pytest.mark.parametrize("form", ["github", "sarif"])
def test_lint_says_where_when_the_folder_it_is_in_is_gone(home: Home, tmp_path: Path, form: str) -> None:
    wire(home.settings, "true", timeout="5")
    gone = tmp_path / "gone"
    gone.mkdir()
    line = f'cd "{gone}" && rmdir "{gone}" && exec overdeck lint --format {form} "{home.settings}"'
    from overdeck.process import script

    if not script("overdeck").exists():
        pytest.skip("overdeck is not installed here")
    env = home.environment(PATH=f"{script('overdeck').parent}:/usr/bin:/bin")
    ran = subprocess.run(["sh", "-c", line], env=env, capture_output=True, text=True, check=False)

    assert ran.returncode == 1 and str(home.settings) in ran.stdout


TRAP = "#!/bin/sh\ntouch {trap}\n"


def test_nothing_of_a_repository_is_run_by_looking_at_it(home: Home, tmp_path: Path) -> None:
    """Its hooks, its plugin, its ``git`` and ``sh`` by way of a relative PATH, its git configuration, its modules."""
    repo, trap = tmp_path / "repo", tmp_path / "trap"
    (repo / "bin").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(repo)], check=True)
    with (repo / ".git" / "config").open("a") as config:
        config.write(
            f"[core]\n\tfsmonitor = touch {trap}; false\n\thooksPath = {repo}/bin\n\tpager = touch {trap}\n"
        )
    for name in ("sh", "git", "python3", "claude", "env", "node", "ps", "post-index-change"):
        for place in (repo / name, repo / "bin" / name):
            place.write_text(TRAP.format(trap=trap))
            place.chmod(0o755)
    for name in ("json", "sitecustomize", "usercustomize", "typer"):
        (repo / f"{name}.py").write_text(f"open({str(trap)!r}, 'w')\n")
    front = {"command": f"{repo}/bin/sh", "args": ["PreToolUse", "--plan", f"{repo}/plans", "--by-overdeck"]}
    hooks = [{"type": "command", "command": f"touch {trap}"}, {"type": "command", **front}]
    (repo / ".claude").mkdir()
    settings = {
        "env": {"PATH": f"{repo}/bin", "BASH_ENV": f"{repo}/bin/sh", "PYTHONPATH": str(repo)},
        "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": hooks}], "SessionStart": [{"hooks": hooks[:1]}]},
    }
    (repo / ".claude" / "settings.json").write_text(json.dumps(settings))
    (repo / ".claude-plugin").mkdir()
    (repo / ".claude-plugin" / "plugin.json").write_text(json.dumps({"name": "p", "hooks": settings["hooks"]}))
    for verb in (
        "audit", "audit --measure", "lint .", "plugins audit .", "plugins list", "adopt --scope project",
        "adopt --scope project --dry-run", "install --scope local --dry-run", "doctor", "hooks list",
    ):  # fmt: skip
        env = {"PATH": ".:bin::/usr/local/bin:/usr/bin:/bin"}
        ran = home.run("overdeck", *verb.split(), cwd=repo, env=env)
        assert ran.code in (0, 1, 2), (verb, ran.err)
        assert not trap.exists(), verb
