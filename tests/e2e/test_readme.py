"""Every command of the README is run, as it stands there."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from homes import Home
from repositories import git, remote_and_clone

from overdeck.paths import shipped

ROOT = Path(__file__).resolve().parent.parent.parent
README = (ROOT / "README.md").read_text("utf-8")
COMMANDS = [
    command
    for row in README.splitlines()
    if row.startswith("| `")
    for command in re.findall(r"^\| `([^`]+)`", row)
]
ELSEWHERE = {
    "overdeck demo": "tests/e2e/test_demo.py",
    "overdeck events tail": "tests/cli/test_events.py",
    "overdeck tui": "tests/tui",
    "od-incidents tui": "tests/tui",
    "hookbench gate": "tests/bench",
    "hookbench report ab.jsonl": "tests/bench",
    "hookbench ladder": "tests/bench",
    "overdeck audit": "below, beside its settings",
    "overdeck probe": "tests/clients/test_probe.py",
    "overdeck audit --html audit.html": "tests/wiring/test_html.py",
}
"""Commands whose own tests are named here: they need a terminal, a client, a base, or longer than a moment."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> tuple[Home, Path]:
    """A home, and a clone with a pushed main, as a user would have them."""
    root = tmp_path_factory.mktemp("readme")
    home = Home(root / "home")
    home.keep_on("git-decision", "secret-file", "curl-timeout")
    work = remote_and_clone(root, home=home.root)
    git(work, "commit", "-q", "--allow-empty", "-m", "Start", home=home.root)
    git(work, "push", "-q", "origin", "main", home=home.root)
    for name in ("noop.bash.json", "deny.bash.json"):
        payload = work / "bench" / "scenarios" / "payloads" / name
        payload.parent.mkdir(parents=True, exist_ok=True)
        payload.write_bytes(shipped("bench", "scenarios", "payloads", name).read_bytes())
    shutil.copytree(shipped("bench", "scenarios", "swarm"), work / "bench" / "scenarios" / "swarm")
    return home, work


def test_the_table_names_commands_to_run() -> None:
    assert len(COMMANDS) > 15
    assert sorted(set(COMMANDS)) == sorted(COMMANDS)


@pytest.mark.parametrize("command", [command for command in COMMANDS if command not in ELSEWHERE])
def test_a_command_of_the_table_runs_as_it_stands(project: tuple[Home, Path], command: str) -> None:
    home, work = project
    words = shlex.split(command)
    if "OD-7K2M" in words:
        incident = home.run("od-incidents", "list", "--state", "all", "--json", cwd=work).data["incidents"][0][
            "id"
        ]
        message = f"Fix\n\nIncident: {incident}"
        git(work, "commit", "-q", "--allow-empty", "-m", message, home=home.root)
        git(work, "push", "-q", "origin", "main", home=home.root)
        head = git(work, "rev-parse", "HEAD", home=home.root)
        words = [word.replace("OD-7K2M", incident).replace("SHA", head) for word in words]
    ran = home.run(words[0], *words[1:], cwd=work)
    assert ran.code == 0, ran.err
    assert ran.out


def test_audit_needs_no_set_up(project: tuple[Home, Path]) -> None:
    home, work = project
    assert home.run("overdeck", "audit", cwd=work).code == 0


def test_every_elsewhere_names_a_command_of_the_table() -> None:
    assert set(ELSEWHERE) <= set(COMMANDS)


def test_no_machine_path_and_no_registry_host_is_in_the_tree() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, cwd=ROOT, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    hosts = re.compile(r"pypi\.o" r"rg|pythonhosted\.o" r"rg|npmjs\.(o" r"rg|com)|deb\.debian\.o" r"rg")
    machine = re.compile(r"(?<![\w.])/(wo" r"rk|ro" r"ot)/\w")
    found = []
    for name in listed.stdout.split("\0"):
        path = ROOT / name
        if name and path.is_file():
            text = path.read_text("utf-8", "replace")
            found += [f"{name}: {match.group()}" for rule in (hosts, machine) for match in rule.finditer(text)]
    assert found == []
