"""The module ``recall``, through the real front and beside the registry's own fold."""

import json
import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

import pytest
from homes import Home
from hypothesis import given, settings
from hypothesis import strategies as st
from recalling import CODE, RECALL, evaluate

from overdeck.authoring.matrix import Answer, ask_front
from overdeck.incidents.event import Event, seal
from overdeck.incidents.fold import fold


def opening(clock: int, digits: int, title: str, **more: int) -> tuple[Event, bytes]:
    """An ``opened`` event and its line."""
    place = {"class": "c", "class_id": "C001", "title": title, "fingerprint": title}
    return seal("opened", lamport=clock, at="t", writer="w", prefix="OD", digits=digits, **place, **more)


def start(cwd: Path, source: str = "startup", **config: str) -> Answer:
    """A session's start in ``cwd``, through the front."""
    payload = {"hook_event_name": "SessionStart", "source": source, "session_id": "s", "cwd": str(cwd)}
    return ask_front(RECALL, payload, config=config)


def test_a_session_is_told_what_is_open_in_its_repository(clone) -> None:
    name, other = clone.open("the guard dies"), clone.open("left as it is")
    clone.leave(other)
    (clone.top / "deep" / "down").mkdir(parents=True)
    answer = start(clone.top / "deep" / "down")

    assert answer.kinds == ("advise",)
    assert f"{name} hook-timeout: the guard dies" in answer.text and other not in answer.text
    assert "in this repository: 1" in answer.text


@pytest.mark.parametrize(("source", "speaks"), [("clear", True), ("compact", True), ("resume", False)])
def test_only_a_session_that_has_not_read_it_is_told(clone, source: str, speaks: bool) -> None:
    clone.open()

    assert bool(start(clone.top, source).kinds) is speaks


def test_nothing_open_nothing_said(clone) -> None:
    clone.leave(clone.open())

    assert start(clone.top).kinds == ()


def test_what_is_told_fits_into_600_bytes_and_says_what_it_left_out(clone) -> None:
    for number in range(30):
        clone.open(f"{number} " + "ü" * 250)
    text = start(clone.top).text
    told = text.count("OD-")

    assert len(text.encode()) <= 600
    assert 1 <= told < 30 and f"and {30 - told} more: od-incidents list" in text


@given(sizes=st.lists(st.integers(1, 140), min_size=1, max_size=40))
def test_no_lengths_of_lines_make_it_longer(sizes: list[int]) -> None:
    text = CODE["_told"](["é" * (size // 2) + "x" * (size % 2) for size in sizes])

    assert len(f"[recall] {text}".encode()) <= 600


def test_the_lengths_are_used() -> None:
    assert max(len(CODE["_told"](["x" * size] * 40).encode()) for size in range(20, 140)) > 580


def test_the_one_that_moved_last_comes_first_with_its_count(clone) -> None:
    first, second = clone.open("one"), clone.open("two")
    clone.open("one")
    text = evaluate(clone.top).text

    assert text.index(first) < text.index(second) and "one, seen 2 times" in text


def test_the_ids_are_those_of_the_registry(clone) -> None:
    names = {clone.open(f"trouble {number}") for number in range(4)}
    text = evaluate(clone.top).text

    assert {word for word in text.split() if word.startswith("OD-")} == names


def test_nothing_is_written(clone, tmp_path: Path) -> None:
    clone.open()
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    start(clone.top)

    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_a_folder_without_a_repository_is_none_of_its_business(local) -> None:
    (local.root / "log").mkdir(exist_ok=True)

    assert evaluate(local.root.parent) is None


def test_a_broken_registry_is_silence_and_an_error(clone) -> None:
    clone.open()
    for path in clone.log.glob("*.jsonl"):
        path.write_bytes(path.read_bytes().replace(b"guard", b"gourd"))
    answer = start(clone.top)

    assert answer.kinds == () and answer.ends == {"recall": "error"}


def test_a_log_that_is_a_file_is_silence_and_an_error(clone) -> None:
    for path in sorted(clone.log.iterdir()):
        path.unlink()
    clone.log.rmdir()
    clone.log.write_text("")
    answer = start(clone.top)

    assert answer.kinds == () and answer.ends == {"recall": "error"}


def test_a_torn_last_line_does_not_hide_the_rest(clone) -> None:
    name = clone.open()
    path = next(clone.log.glob("*.jsonl"))
    path.write_bytes(path.read_bytes() + b'{"id":"0123')

    assert name in evaluate(clone.top).text


def test_a_changed_line_is_not_believed(clone) -> None:
    kept, changed = clone.open("kept"), clone.open("changed")
    path = next(clone.log.glob("*.jsonl"))
    path.write_bytes(path.read_bytes().replace(b'"changed"', b'"chanted"'))
    text = evaluate(clone.top).text

    assert kept in text and changed not in text


def test_an_escape_sequence_in_a_title_reaches_nobody(clone) -> None:
    _, line = opening(1, 4, "a\x1b[31m\nb")
    (clone.log / "w.jsonl").write_bytes(line + b"\n")

    assert "c: a\ufffd[31m\ufffdb" in evaluate(clone.top).text


def test_of_a_registry_above_the_repository_only_what_names_it_is_told(clone) -> None:
    inner = clone.top / "tool-box"
    inner.mkdir()
    clone.git("init", "--quiet", str(inner))
    named, _other = clone.open("the guard of tool-box dies"), clone.open("something in toolbox")
    text = evaluate(inner).text

    assert named in text and "in this repository: 1" in text


def test_the_owners_registry_elsewhere_is_asked_for_what_names_the_repository(
    clone, local, tmp_path: Path
) -> None:
    repository = tmp_path / "plain"
    repository.mkdir()
    clone.git("init", "--quiet", str(repository))
    named = clone.open("x", fingerprint=f"doctor:settings:{repository}/.claude/settings.json")
    clone.open("y")
    text = evaluate(repository, registry=str(clone.root)).text

    assert named in text and "in this repository: 1" in text
    assert evaluate(repository, registry="/nonexistent") is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_a_registry_of_somebody_else_is_not_believed(clone) -> None:
    clone.open()
    os.chown(clone.root / "registry.toml", 777, -1)

    assert evaluate(clone.top) is None


KINDS = (
    "opened", "occurrence", "noted", "resolved", "wont-fixed", "reopened", "evidence-added", "evidence-lost", "merged",
    "something-new",
)  # fmt: skip
STEPS = st.tuples(st.sampled_from(KINDS), st.integers(0, 9), st.integers(1, 4))


@settings(max_examples=150)
@given(steps=st.lists(STEPS, max_size=25))
def test_it_and_the_fold_agree_on_what_is_open(steps: list[tuple[str, int, int]], tmp_path_factory) -> None:
    root = tmp_path_factory.mktemp("registry")
    (root / "log").mkdir()
    events, lines, keys = [], [], []
    for number, (kind, which, clock) in enumerate(steps):
        if kind == "opened" or not keys:
            event, line = opening(clock, 6, f"{number % 3}", n=number)
            keys.append(event.id)
        else:
            said = {"incident": keys[which % len(keys)], "into": keys[number % len(keys)], "n": number}
            event, line = seal(kind, lamport=clock, at="t", writer="w", **said)
        events.append(event)
        lines.append(line + b"\n")
    (root / "log" / "w.jsonl").write_bytes(b"".join(lines))
    incidents = fold(events).incidents
    still_open = {one.id: one.occurrences for one in incidents if one.state in ("open", "evidence-lost")}
    found = CODE["_open"](str(root), "")
    told = {line.split()[0]: _count(line) for line in found if line}

    assert len(found) == len(still_open) and told.items() <= still_open.items()
    assert len(told) == min(len(still_open), CODE["MAX_LINES"])


def _count(line: str) -> int:
    return int(line.rpartition(", seen ")[2].split()[0]) if ", seen " in line else 1


def test_it_imports_nothing_of_overdeck_but_the_module_api() -> None:
    lines = [line.split() for line in Path(RECALL.code).read_text().splitlines()]
    imported = {words[1] for words in lines if words and words[0] in ("from", "import")}

    assert {name for name in imported if name.startswith("overdeck")} == {"overdeck.dispatch.module"}
    assert imported - {"overdeck.dispatch.module"} <= {"posix", "_json", "_sha2", "_sha256", "hashlib"}


def test_only_the_pack_session_switches_it_on_and_then_the_installed_entry_speaks(clone) -> None:
    home = Home(clone.home)
    name = clone.open()
    (home.root / ".claude").mkdir()
    payload = {"hook_event_name": "SessionStart", "source": "startup", "session_id": "s", "cwd": str(clone.top)}
    before = home.run("overdeck", "install", "--json").data
    config = home.root / ".config" / "overdeck" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('packs = ["guards", "session"]\n')
    after = home.run("overdeck", "install", "--json").data

    assert not {"recall", "stop-failure"} & set(before["modules"]["on"]) and "SessionStart" not in before["events"]
    assert {"recall", "stop-failure"} <= set(after["modules"]["on"])
    assert name in home.front("SessionStart", payload)["hookSpecificOutput"]["additionalContext"]


@pytest.mark.measure
def test_a_call_costs_little_more_than_a_bare_interpreter(clone, tmp_path: Path) -> None:
    """Twenty incidents of ten events each, the module alone; CPU of the whole call over a bare Python, interleaved."""
    home = Home(clone.home)
    names = [clone.open(f"trouble {number}") for number in range(20)]
    path = next(clone.log.glob("*.jsonl"))
    keys = [json.loads(line)["id"] for line in path.read_bytes().splitlines()]
    more = [
        seal("occurrence", lamport=100 + n, at="t", writer="w", incident=keys[n % 20], n=n)[1] for n in range(180)
    ]
    (clone.log / "w.jsonl").write_bytes(b"".join(line + b"\n" for line in more))
    (home.root / ".config" / "overdeck").mkdir(parents=True)
    (home.root / ".config" / "overdeck" / "config.toml").write_text(
        'packs = ["session"]\n[modules.preflight]\nenabled = false\n[modules.update-check]\nenabled = false\n'
    )
    (home.root / ".claude").mkdir()
    home.run("overdeck", "install")
    hook = json.loads(home.settings.read_bytes())["hooks"]["SessionStart"][0]["hooks"][0]
    if hook["args"][:2] == ["-I", "-S"]:
        pytest.skip("there is no native front here: the bar is for one")
    payload = {"hook_event_name": "SessionStart", "source": "startup", "session_id": "s", "cwd": str(clone.top)}
    bare = [sys.executable, "-I", "-S", "-c", "pass"]
    ratios = []
    for _ in range(21):
        said, acting = _cpu([hook["command"], *hook["args"]], json.dumps(payload).encode())
        assert names[0] in said or "more: od-incidents list" in said
        ratios.append(acting / max(_cpu(bare, b"")[1], 1e-4))

    assert statistics.median(ratios) <= 2.2


def _cpu(argv: list[str], stdin: bytes) -> tuple[str, float]:
    """What a program printed, and its CPU seconds with those of its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(argv, input=stdin, capture_output=True, env={}, timeout=60, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout.decode(), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
