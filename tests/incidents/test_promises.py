"""What no command does: make a registry unasked, rewrite a line of the log, or change anything by reading."""

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commandlines import doors

if TYPE_CHECKING:
    from conftest import Clone

READING = {
    "list": ["list", "--state", "all"],
    "show": ["show", "{open}"],
    "view": ["view", "{open}"],
    "search": ["search", "a guard was killed"],
    "coverage": ["coverage"],
    "playbook": ["playbook", "hook-timeout"],
    "triage": ["triage"],
    "verify": ["verify", "--all"],
}
"""A call of every verb that reads; verify, where all evidence holds."""

WRITING = {
    "open": ["open", "--class", "hook-timeout", "--title", "t"],
    "new": ["new", "--class", "hook-timeout", "--title", "t"],
    "create": ["create", "--class", "hook-timeout", "--title", "t"],
    "note": ["note", "{open}", "x"],
    "comment": ["comment", "{open}", "x"],
    "reopen": ["reopen", "{left}", "--because", "x"],
    "resolve": ["resolve", "{open}", "--wont-fix", "--because", "x"],
    "close": ["close", "{open}", "--wont-fix", "--because", "x"],
    "done": ["done", "{open}", "--wont-fix", "--because", "x"],
    "fix": ["fix", "{open}", "--wont-fix", "--because", "x"],
}
ELSEWHERE = {"init": "tests/incidents/test_init.py", "tui": "tests/tui"}


def _verbs() -> set[str]:
    return set(doors()["od-incidents"].commands)


def _call(clone: "Clone", words: list[str]) -> list[str]:
    rows = clone.od("list", "--state", "all", "--json").data["incidents"]
    named = {f"{{{row['title']}}}": row["id"] for row in rows}
    return [named.get(word, word) for word in words]


def _tree(*roots: Path) -> dict[str, tuple[object, ...]]:
    """Every file and folder below ``roots`` with its type, content and time of change; the cache is left out."""
    found: dict[str, tuple[object, ...]] = {}
    for root in roots:
        for folder, names, files in os.walk(root):
            if ".cache" in names:
                names.remove(".cache")
            for path in (Path(folder), *(Path(folder, name) for name in files)):
                stat = path.lstat()
                content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
                found[str(path)] = (stat.st_mode, stat.st_mtime_ns, content)
    return found


@pytest.fixture
def used(clone: "Clone") -> "Clone":
    """A registry with an open incident, a resolved one and one left as it is, and a torn line."""
    (clone.home / ".cache").mkdir()
    clone.open("open")
    clone.leave(clone.open("left"))
    name = clone.open("resolved")
    sha = clone.land("fix", f"Incident: {name}")
    assert clone.od("resolve", name, "--artifact", f"commit:{sha}").code == 0
    (log,) = clone.log.glob("*.jsonl")
    log.write_bytes(log.read_bytes() + b'{"id":"torn')
    return clone


def test_every_verb_is_known_here_as_one_that_reads_or_writes() -> None:
    assert _verbs() <= READING.keys() | WRITING.keys() | ELSEWHERE.keys()


@pytest.mark.parametrize("verb", sorted(READING.keys() & _verbs()))
def test_reading_changes_nothing_but_the_cache(used: "Clone", verb: str) -> None:
    words = _call(used, READING[verb])
    roots = (
        used.root,
        used.home,
        used.top / ".git" / "refs",
        used.top / ".git" / "index",
        used.top / ".git" / "config",
    )
    before = _tree(*roots)
    for form in ([], ["--json"]):
        assert used.od(*words, *form).code != 70
    assert _tree(*roots) == before


@pytest.mark.parametrize("verb", sorted(WRITING.keys() & _verbs()))
def test_writing_only_adds_whole_lines_at_the_end_of_its_own_file(used: "Clone", verb: str) -> None:
    words = _call(used, WRITING[verb])
    before = used.log_bytes()
    assert used.od(*words).code == 0
    after = used.log_bytes()
    assert after.keys() == before.keys()
    grown = [name for name in before if after[name] != before[name]]
    assert len(grown) == 1
    assert after[grown[0]].startswith(before[grown[0]])
    added = after[grown[0]].removeprefix(before[grown[0]])
    assert added.startswith(b"\n"), "the torn line stays alone"
    assert all(json.loads(line)["id"] for line in added.split(b"\n") if line)


@pytest.mark.parametrize("verb", sorted((READING.keys() | WRITING.keys()) & _verbs()))
def test_no_verb_makes_a_registry_by_being_used(clone: "Clone", tmp_path: Path, verb: str) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    before = _tree(plain, clone.home)
    words = {**READING, **WRITING}[verb]
    said = clone.od(*words, cwd=plain)
    assert said.code == 3 or verb == "triage"
    assert _tree(plain, clone.home) == before
