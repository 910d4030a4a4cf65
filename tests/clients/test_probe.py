"""``overdeck probe`` in the pinned Claude Code: what it says of a wiring that holds, and of each that does not."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import psutil
import pytest
from clientrig import Rig
from homes import Home, Ran
from pinned import found
from waiting import until

from overdeck.paths import Places
from overdeck.probe.live import live
from overdeck.process import argv_of

pytestmark = pytest.mark.timeout(300)  # a loaded machine is five times slower


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture(scope="module")
def path() -> str:
    return os.pathsep.join([str(Path(found("claude")).parent), "/usr/local/bin", os.defpath])


def probe(home: Home, path: str, *args: str) -> Ran:
    return home.run("overdeck", "probe", *args, "--json", env={"PATH": path})


@pytest.fixture
def one_call(tmp_path: Path) -> tuple[str, str]:
    """Of a probe that plays one call and no canaries: a session less."""
    script = tmp_path / "one-call.json"
    call = {"tool": "Bash", "input": {"command": "echo from the script"}}
    script.write_text(json.dumps({"main": [{"calls": [call]}]}))
    return "--script", str(script)


def hook(home: Home, event: str, command: str, **more: Any) -> None:
    """A hook of the user's own beside ours."""
    settings = json.loads(home.settings.read_text()) if home.settings.exists() else {}
    entry = {"type": "command", "command": command, **more}
    settings.setdefault("hooks", {}).setdefault(event, []).append({"matcher": "*", "hooks": [entry]})
    home.settings.parent.mkdir(exist_ok=True)
    home.settings.write_text(json.dumps(settings))


def test_a_wiring_that_holds_is_said_to_and_nothing_of_the_users_changes(home: Home, path: str) -> None:
    assert home.run("overdeck", "install").code == 0
    before = {file: file.read_bytes() for file in home.root.rglob("*") if file.is_file()}
    ran = probe(home, path)
    data = ran.data
    assert (ran.code, data["holds"], data["trouble"]) == (0, True, [])
    assert "loopback" in data["isolation"]
    gates = {gate["gate"]: gate["denied"] for gate in data["gates"]}
    assert gates == dict.fromkeys(gates, True)
    assert len(gates) > 7
    (before_tool,) = [one for one in data["hooks"] if one["event"] == "PreToolUse"]
    assert (before_tool["ours"], before_tool["started"]) == (True, 3 + len(gates))
    assert 0 < before_tool["median_ms"] < 5000
    assert [fire["honoured"] for fire in before_tool["fires"] if fire["answer"] == "deny"] == [True] * 6
    assert {file: file.read_bytes() for file in home.root.rglob("*") if file.is_file()} == before


def test_without_an_install_what_an_install_would_write_is_played(
    home: Home, path: str, one_call: tuple[str, str]
) -> None:
    ran = probe(home, path, *one_call)
    started = {hook["event"]: hook["started"] for hook in ran.data["hooks"]}
    assert (ran.code, ran.data["installed"], started["PreToolUse"]) == (0, False, 1)
    assert not home.state.exists()


def test_other_hooks_are_listed_and_run_only_after_a_yes(
    home: Home, path: str, tmp_path: Path, one_call: tuple[str, str]
) -> None:
    mark = tmp_path / "mark"
    hook(home, "PreToolUse", f"cat >/dev/null; touch {mark}")
    first = probe(home, path, *one_call)
    assert [str(mark) in line for line in first.data["listed"]] == [True]
    assert not mark.exists()
    second = probe(home, path, "--yes", *one_call)
    assert mark.exists()
    (theirs,) = [one for one in second.data["hooks"] if not one["ours"]]
    assert (theirs["started"], theirs["expected"]) == (1, True)


def test_an_entry_that_never_starts_is_trouble(home: Home, path: str) -> None:
    """And every gate's canary passes, which is said of each."""
    config = home.root / ".config" / "overdeck" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('packs = ["guards", "gates"]\n[modules.ledger-gate]\nledger = "refs.bib"\n')
    home.run("overdeck", "install")
    settings = json.loads(home.settings.read_text())
    settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"] = "/nowhere/overdeck-hook"
    home.settings.write_text(json.dumps(settings))
    ran = probe(home, path)
    assert ran.code == 1
    assert any("/nowhere/overdeck-hook: No such file" in line for line in ran.data["trouble"])
    assert {gate["gate"] for gate in ran.data["gates"]} > {"agent-guard", "commit-gate", "ledger-gate"}
    assert {gate["denied"] for gate in ran.data["gates"]} == {False}


def test_a_file_that_the_client_drops_is_trouble(home: Home, path: str) -> None:
    home.run("overdeck", "install")
    settings = json.loads(home.settings.read_text())
    settings["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"] = "17"
    home.settings.write_text(json.dumps(settings))
    ran = probe(home, path)
    assert ran.code == 1
    assert any("the client drops the file" in line for line in ran.data["trouble"])


def test_a_hook_that_the_client_kills_is_trouble(home: Home, path: str, one_call: tuple[str, str]) -> None:
    hook(home, "PreToolUse", "sleep 30", timeout=1)
    ran = probe(home, path, "--yes", *one_call)
    assert any("the client killed it before it answered" in line for line in ran.data["trouble"])


def sleepy(home: Home, mark: Path) -> None:
    """A gate of the user's that should deny a command, and lets it pass."""
    folder = home.root / ".config" / "overdeck" / "modules" / "sleepy"
    folder.mkdir(parents=True)
    (folder / "module.toml").write_text(
        'id = "sleepy"\npack = "own"\nsummary = "s"\nclass = "gate"\n[events]\nPreToolUse = "Bash"\n'
    )
    (folder / "module.py").write_text("def evaluate(call):\n    return None\n")
    payload = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": f"touch {mark}"}}
    (folder / "matrix.jsonl").write_text(json.dumps({"name": "n", "payload": payload, "expect": "deny"}) + "\n")


def test_a_gate_that_lets_its_canary_pass_is_found_out_and_the_command_is_not_run(home: Home, path: str) -> None:
    mark = home.root / "ran"
    sleepy(home, mark)
    ran = probe(home, path, "--yes")
    assert {gate["gate"]: gate["denied"] for gate in ran.data["gates"]}["sleepy"] is False
    assert ran.code == 1
    assert not mark.exists()


def test_a_script_says_what_the_model_says(home: Home, path: str, one_call: tuple[str, str]) -> None:
    """And a module of the user's is left out: nobody said yes."""
    sleepy(home, home.root / "ran")
    data = probe(home, path, *one_call).data
    assert data["own_code"] == ["sleepy"]
    (session,) = data["sessions"]
    assert [one["model_was_told"] for one in session["calls"]] == ["from the script"]


def test_a_settings_file_by_name_is_played_and_no_other(home: Home, path: str, tmp_path: Path) -> None:
    home.run("overdeck", "install")
    file = tmp_path / "settings.json"
    entry = {"type": "command", "command": 'echo \'{"systemMessage": "look here"}\''}
    file.write_text(json.dumps({"hooks": {"UserPromptSubmit": [{"hooks": [entry]}]}}))
    data = probe(home, path, "--settings", str(file), "--yes").data
    (one,) = data["hooks"]
    assert (one["file"], one["started"], one["fires"][0]["user_sees"]) == (str(file), 1, "look here")
    assert data["gates"] == []


@pytest.mark.parametrize(
    ("client", "name", "scope", "event"),
    [
        ("claude", ".claude/settings.local.json", "local", "UserPromptSubmit"),
        ("codex", ".codex/hooks.json", "project", "UserPromptSubmit"),
    ],
)
def test_a_settings_file_by_name_is_played_in_the_scope_of_its_place(
    client: str, name: str, scope: str, event: str, home: Home, tmp_path: Path
) -> None:
    file = tmp_path / "theirs" / name
    file.parent.mkdir(parents=True)
    entry = {"type": "command", "command": "cat >&2", "timeout": 5}
    file.write_text(json.dumps({"hooks": {event: [{"hooks": [entry]}]}}))
    script = tmp_path / "script.json"
    script.write_text('{"main": [{"text": "hello"}]}')
    path = os.pathsep.join([str(Path(found(client)).parent), "/usr/local/bin", os.defpath])
    how = ("--client", client, "--settings", str(file), "--script", str(script), "--yes")
    (one,) = probe(home, path, *how).data["hooks"]
    assert (one["scope"], one["started"], one["trouble"]) == (scope, 1, [])


def test_a_client_that_is_not_there_is_not_found(home: Home) -> None:
    probe(home, "/usr/bin").check_refused(3, "no-client", "no claude on PATH")


def test_a_client_that_nobody_knows_is_refused(home: Home, path: str) -> None:
    probe(home, path, "--client", "vim").check_refused(2, "usage", "vim")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_probe_that_is_ended_leaves_no_process_and_no_folder(
    home: Home, path: str, tmp_path: Path, number: signal.Signals
) -> None:
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"main": [{"text": "late", "delay_s": 50}]}))
    with subprocess.Popen(
        [*argv_of("overdeck"), "probe", "--script", str(script)],
        env=home.environment(PATH=path, TMPDIR=str(scratch)),
        cwd=home.root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as running:
        until(lambda: _clients_below(scratch), within_s=30)
        running.send_signal(number)
        running.wait(30)
        until(lambda: not _clients_below(scratch))
        until(lambda: not list(scratch.iterdir()))


def _clients_below(scratch: Path) -> list[int]:
    """The processes that stand in a folder below ``scratch``."""
    alive = []
    for process in psutil.process_iter():
        try:
            if Path(process.cwd()).is_relative_to(scratch):
                alive.append(process.pid)
        except (psutil.Error, OSError):
            continue
    return alive


def test_the_rig_of_these_tests_sees_what_it_claims_to(claude: Rig) -> None:
    """A control: without an entry of ours nothing is denied, so the tests above can fail."""
    seen = claude.play(claude.client.shell("touch denied"))
    assert seen.failed == [False]
    assert claude.file("denied").exists()


def test_the_doctor_plays_what_is_wired_in_the_client(home: Home, path: str) -> None:
    home.run("overdeck", "install")
    settings = json.loads(home.settings.read_text())
    settings["disableAllHooks"] = True
    home.settings.write_text(json.dumps(settings))
    ran = home.run("overdeck", "doctor", "--live", "--json", env={"PATH": path})
    assert (ran.code, {one["name"]: one["state"] for one in ran.data["checks"]}["live: claude"]) == (1, "fail")


def test_live_says_what_is_not_wired_not_here_and_well(home: Home, path: str) -> None:
    environ = home.environment(PATH=path)
    places = Places.from_environment(environ)
    how: dict[str, Any] = {"folder": home.root, "yes": False, "allow_network": False}
    assert [(one.name, one.state) for one in live(places, environ, **how)] == [("live", "skip")]
    home.run("overdeck", "install")
    assert [(one.name, one.state) for one in live(places, environ, **how)] == [("live: claude", "ok")]
    (away,) = live(places, {**environ, "PATH": "/nowhere"}, **how)
    assert (away.state, "no claude on PATH" in away.seen) == ("skip", True)


def test_a_certificate_of_adoption_holds_the_clients_own_runs(home: Home, path: str) -> None:
    script = home.root / "guard.py"
    script.write_text(
        "import json, sys\n"
        "if 'overdeck probe' in json.load(sys.stdin)['tool_input'].get('command', ''):\n"
        "    print('no probing here', file=sys.stderr)\n    sys.exit(2)\n"
    )
    hook(home, "PreToolUse", f"python3 {script}")
    ran = home.run("overdeck", "adopt", "--yes", "--json", env={"PATH": path})
    assert ran.code == 0, ran.out
    (certificate,) = ran.data["certificates"]
    runs = json.loads(Path(certificate).read_text())["in_the_client"]
    assert "no probing here" in runs["before"]["calls"][0]["model_was_told"]
    assert "no probing here" in runs["after"]["calls"][0]["model_was_told"]
    assert runs["before"]["requests"] == runs["after"]["requests"]
    assert [run["hooks_started"] for run in (runs["before"], runs["after"])] == [3, 3]
