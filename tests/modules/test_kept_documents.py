"""frontmatter-sync and doc-integrity: what they read of documents, what they keep, and that nothing else is written."""

import json
import os
import shutil
import signal
import stat
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from fronts import Front, Reply, ambient, emptied, names_of, recorded, with_events

from overdeck.dispatch.kit import markdownlinks
from overdeck.dispatch.kit.ownfolder import Folder
from overdeck.dispatch.payload import Searched

IDS = ("frontmatter-sync", "doc-integrity")
DOCUMENT = (
    "---\ntitle: Login\nstatus: active\neffort: 'standard'\n---\n\n# Login\n\n- [x] one\n- [ ] two\n- [ ] three\n"
)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Front:
    return ambient(tmp_path_factory.mktemp("front"), IDS)


@pytest.fixture
def documents(installed: Front) -> Front:
    return emptied(installed)


def wrote(front: Front, path: Path | str, text: str = DOCUMENT, **extra: Any) -> Reply:
    """A Write of ``text``, which has run, as the client reports it."""
    if isinstance(path, Path):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    payload = recorded("claude-code/PostToolUse.Write")
    return front.call({**payload, "tool_input": {"file_path": str(path), "content": text}, **extra})


def listed(front: Front) -> dict[str, Any]:
    path = front.state / "modules" / "frontmatter-sync" / "work.json"
    return json.loads(path.read_text())["work"] if path.exists() else {}


def test_a_document_of_work_is_listed_with_what_its_front_matter_says(documents: Front, tmp_path: Path) -> None:
    path = tmp_path / "login" / "PRD.md"
    assert wrote(documents, path).stdout == ""
    entry = listed(documents)[str(path)]
    assert {key: entry[key] for key in ("title", "status", "effort", "done", "open")} == {
        "title": "Login", "status": "active", "effort": "standard", "done": 1, "open": 2,
    }  # fmt: skip
    assert entry["session"] == recorded("claude-code/PostToolUse.Write")["session_id"]
    kept = documents.state / "modules" / "frontmatter-sync"
    assert {stat.S_IMODE(path.stat().st_mode) for path in (kept, *kept.iterdir())} == {0o700, 0o600}


def test_a_change_replaces_the_entry_and_keeps_when_it_was_first_seen(documents: Front, tmp_path: Path) -> None:
    path = tmp_path / "login" / "PRD.md"
    wrote(documents, path)
    listing = documents.state / "modules" / "frontmatter-sync" / "work.json"
    listing.write_text(listing.read_text().replace('"created":', '"created":1,"was":'))
    wrote(documents, path, DOCUMENT.replace("active", "done").replace("[ ]", "[x]"))
    (entry,) = listed(documents).values()
    assert (entry["status"], entry["done"], entry["open"], entry["created"]) == ("done", 3, 0, 1)


VALUES = [
    ("title: 'a: b' # c", "a: b"),
    ("title: plain # comment", "plain"),
    ("title: a#b", "a#b"),
    ("title: >", ">"),
    ("title: x\x1b]0;evil\x07y", "x]0;evily"),
    ("title: " + "x" * 500, "x" * 199 + "…"),
    ("title:\n  - one\n  - 'two'", ["one", "two"]),
    ("title:\n- one", ["one"]),
    ("title: one\nnested:\n  title: two", "one"),
]


def test_values_are_plain_lines_or_lists_of_them(documents: Front, tmp_path: Path) -> None:
    for lines, found in VALUES:
        wrote(documents, tmp_path / "w" / "PRD.md", f"---\n{lines}\n---\n")
        assert [entry["title"] for entry in listed(documents).values()] == [found], lines


def test_the_model_hears_of_front_matter_that_cannot_be_read_and_the_entry_stays(
    documents: Front, tmp_path: Path
) -> None:
    path = tmp_path / "w" / "PRD.md"
    wrote(documents, path)
    before = listed(documents)
    assert "has no end" in wrote(documents, path, "---\ntitle: x\n").context
    assert listed(documents) == before


def test_a_document_is_known_by_where_it_really_is(documents: Front, tmp_path: Path) -> None:
    documents.configure(f'[modules.frontmatter-sync]\nfolders = ["{tmp_path}/w"]\n')
    (tmp_path / "w").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "PRD.md").write_text(DOCUMENT)
    (tmp_path / "w" / "PRD.md").symlink_to(tmp_path / "out" / "PRD.md")
    wrote(documents, f"{tmp_path}/w/PRD.md")
    wrote(documents, f"{tmp_path}/w/../out/PRD.md")
    assert listed(documents) == {}, "it only looks as if it were below the folder"
    (tmp_path / "w" / "a").mkdir()
    wrote(documents, tmp_path / "w" / "a" / "PRD.md")
    wrote(documents, "w/a/../a/PRD.md", cwd=str(tmp_path))
    assert list(listed(documents)) == [f"{tmp_path}/w/a/PRD.md"]


def test_a_pipe_or_a_device_holds_nobody_up(documents: Front, tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    os.mkfifo(tmp_path / "w" / "PRD.md")
    assert wrote(documents, f"{tmp_path}/w/PRD.md").stdout == ""
    assert listed(documents) == {} and not documents.errors("frontmatter-sync")


def test_sessions_that_write_at_once_lose_no_entry(documents: Front, tmp_path: Path) -> None:
    paths = [tmp_path / f"w{number}" / "PRD.md" for number in range(16)]
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda path: wrote(documents, path), paths))
    assert all(reply.stdout == "" for reply in replies)
    assert len(listed(documents)) == 16 - len(documents.errors("frontmatter-sync")) >= 14


def test_a_list_that_is_damaged_is_kept_aside_and_a_new_one_begun(documents: Front, tmp_path: Path) -> None:
    wrote(documents, tmp_path / "w" / "PRD.md")
    kept = documents.state / "modules" / "frontmatter-sync"
    (kept / "work.json").write_text('{"v":1,"work":')
    wrote(documents, tmp_path / "w2" / "PRD.md")
    assert len(listed(documents)) == 1
    assert (kept / "work.json.damaged").read_text() == '{"v":1,"work":'


def test_the_list_does_not_grow_for_ever(documents: Front, tmp_path: Path) -> None:
    wrote(documents, tmp_path / "w" / "PRD.md")
    listing = documents.state / "modules" / "frontmatter-sync" / "work.json"
    many = {f"/old/{number}/PRD.md": {"synced": number} for number in range(600)}
    listing.write_text(json.dumps({"v": 1, "work": many}))
    wrote(documents, tmp_path / "w" / "PRD.md")
    assert len(listed(documents)) == 500
    assert "/old/0/PRD.md" not in listed(documents) and str(tmp_path / "w" / "PRD.md") in listed(documents)


def test_no_write_is_felt_when_the_list_cannot_be_written(documents: Front, tmp_path: Path) -> None:
    kept = documents.state / "modules" / "frontmatter-sync"
    (kept / "work.json").mkdir(parents=True)
    assert wrote(documents, tmp_path / "w" / "PRD.md").stdout == ""
    assert len(documents.errors("frontmatter-sync")) == 1


def test_a_write_that_names_no_markdown_starts_no_python(documents: Front) -> None:
    wrote(documents, "/home/dev/a.txt", "alpha")
    assert documents.calls()[-1]["ran"] == {}
    assert not Searched(json.dumps({"file_path": "/home/dev/a.txt"})).may_contain([".md"])
    assert Searched(json.dumps({"file_path": "/home/dev/PRD.md"})).may_contain([".md"])


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    (folder / ".git").mkdir(parents=True)
    (folder / "docs" / "deep").mkdir(parents=True)
    (folder / "src").mkdir()
    (folder / "src" / "a.py").write_text("")
    (folder / "README.md").write_text("# Top\n[a](docs/a.md#part) [code](src/a.py)\n")
    (folder / "docs" / "a.md").write_text("# Part\n[up](../README.md#top) [b](deep/b.md)\n")
    (folder / "docs" / "deep" / "b.md").write_text("b\n")
    return folder


def stopped(front: Front, folder: Path, **extra: Any) -> str:
    reply = front.call({**recorded("claude-code/Stop"), "cwd": str(folder), **extra})
    assert reply.code == 0 and set(reply.answer) <= {"systemMessage", "hookSpecificOutput"}
    return str(reply.answer.get("systemMessage", "")) or reply.context


def test_what_comes_to_lead_nowhere_is_told_once(documents: Front, repository: Path) -> None:
    assert stopped(documents, repository) == ""
    (repository / "docs" / "deep" / "b.md").unlink()
    assert "docs/a.md:2 deep/b.md is not there" in stopped(documents, repository)
    assert stopped(documents, repository) == ""
    (repository / "docs" / "a.md").write_text("# Part\n\n\n[up](../README.md#top) [b](deep/b.md)\n")
    assert stopped(documents, repository) == "", "the same, on another line"


def test_what_was_mended_and_breaks_again_is_told_again(documents: Front, repository: Path) -> None:
    gone = repository / "docs" / "deep" / "b.md"
    stopped(documents, repository)
    gone.unlink()
    assert stopped(documents, repository)
    gone.write_text("")
    assert stopped(documents, repository) == ""
    gone.unlink()
    assert stopped(documents, repository)


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (lambda folder: (folder / "src" / "a.py").rename(folder / "src" / "b.py"), "README.md:2 src/a.py"),
        (
            lambda folder: (folder / "docs" / "a.md").write_text("# Other\n"),
            "no heading is called #part in docs/a.md",
        ),
        (lambda folder: (folder / "docs").rename(folder / "doc"), "docs/a.md#part"),
        (lambda folder: (folder / "docs" / "c.md").write_text("[x](x.md)"), "docs/c.md:1 x.md"),
    ],
)
def test_a_change_by_whatever_tool_is_seen(documents: Front, repository: Path, act: Any, said: str) -> None:
    assert stopped(documents, repository) == ""
    act(repository)
    assert said.partition("#")[0] in stopped(documents, repository)


def test_in_a_subfolder_and_in_a_work_tree_the_repository_is_the_same(documents: Front, repository: Path) -> None:
    shutil.rmtree(repository / ".git")
    (repository / ".git").write_text("gitdir: elsewhere\n")
    (repository / "src" / "a.py").unlink()
    assert "src/a.py" in stopped(documents, repository / "docs" / "deep")


def test_links_of_the_file_system_and_hidden_folders_are_not_followed(
    documents: Front, repository: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "o.md").write_text("[x](gone.md)")
    (repository / "docs" / "link").symlink_to(outside)
    (repository / "docs" / "o.md").symlink_to(outside / "o.md")
    for hidden in (".cache", "node_modules"):
        (repository / "docs" / hidden).mkdir()
        (repository / "docs" / hidden / "o.md").write_text("[x](gone.md)")
    os.mkfifo(repository / "docs" / "pipe.md")
    (repository / "docs" / "loop").symlink_to(repository / "docs")
    assert stopped(documents, repository) == ""
    assert not documents.errors("doc-integrity")


def test_what_cannot_be_remembered_is_not_told(documents: Front, repository: Path) -> None:
    (repository / "src" / "a.py").unlink()
    (documents.state / "modules").mkdir(exist_ok=True)
    (documents.state / "modules" / "doc-integrity").write_text("no folder")
    assert stopped(documents, repository) == ""
    assert len(documents.errors("doc-integrity")) == 1


def test_a_damaged_memory_is_made_anew(documents: Front, repository: Path) -> None:
    (repository / "src" / "a.py").unlink()
    assert stopped(documents, repository)
    for damage in ("", "{", '{"v":1,"documents":{"a":1},"broken":[]}', "\0\xff", "x\n\n\n"):
        for path in (documents.state / "modules" / "doc-integrity").iterdir():
            path.write_text(damage)
        assert stopped(documents, repository), "told once more rather than never"
        assert stopped(documents, repository) == ""
        assert not documents.errors("doc-integrity"), damage


def test_the_repository_is_only_read(documents: Front, repository: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (repository, *repository.rglob("*"))}
    stopped(documents, repository)
    (repository / "src" / "a.py").touch()
    stopped(documents, repository)
    after = {path: path.stat().st_mtime_ns for path in (repository, *repository.rglob("*"))}
    assert before.keys() == after.keys()
    assert {path for path in after if after[path] != before[path]} == {repository / "src" / "a.py"}


SLOW_CLOCK = """
class time:
    looks = 0

    def monotonic():
        time.looks += 1
        return time.looks / 10
"""
"""In the place of ``import time``: each look at it takes a tenth of a second, on whatever machine."""


def test_documents_that_cannot_be_read_in_one_turns_time_are_read_in_the_next(
    repository: Path, tmp_path: Path
) -> None:
    documents = ambient(tmp_path / "front", IDS)
    module = documents.modules / "doc-integrity" / "module.py"
    module.write_text(module.read_text().replace("\nimport time\n", SLOW_CLOCK))
    documents.configure()
    for number in range(30):
        (repository / "docs" / f"{number:02}.md").write_text(f"[y](gone{number}.md)\n")
    told = [stopped(documents, repository) for _ in range(8)]
    record = json.loads(next((documents.state / "modules" / "doc-integrity").glob("*.json")).read_text())
    assert len(record["documents"]) == 33 and len(record["broken"]) == 30
    assert sum(1 for line in told if line) > 1, "one turn was enough: the test proves nothing"
    assert told[-1] == "" and not documents.errors("doc-integrity")


def test_a_sync_and_a_look_are_events(repository: Path, tmp_path: Path) -> None:
    documents = ambient(tmp_path / "front", IDS)
    with_events(documents)
    documents.configure()
    wrote(documents, tmp_path / "w" / "PRD.md")
    (repository / "src" / "a.py").unlink()
    stopped(documents, repository)
    stopped(documents, repository)
    lines = map(json.loads, (documents.state / "events.jsonl").read_text().splitlines())
    ours = [{**line, "ts": "", "session": ""} for line in lines if line.get("source") in IDS]
    none = {"ts": "", "session": ""}
    assert ours == [
        {**none, "type": "document.synced", "source": "frontmatter-sync", "done": 1, "open": 2},
        {**none, "type": "document.checked", "source": "doc-integrity", "documents": 3, "broken": 1, "news": 1},
    ]


def test_killed_at_any_moment_the_list_of_work_is_whole(documents: Front, tmp_path: Path) -> None:
    paths = [tmp_path / f"w{number}" / "PRD.md" for number in range(30)]
    hit = 0
    for turn, path in enumerate(paths):
        path.parent.mkdir()
        path.write_text(DOCUMENT)
        payload = {
            **recorded("claude-code/PostToolUse.Write"),
            "tool_input": {"file_path": str(path), "content": "x"},
        }
        with subprocess.Popen(
            documents.argv("PostToolUse"),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env={"PATH": os.defpath},
        ) as running:
            assert running.stdin is not None
            running.stdin.write(json.dumps(payload).encode())
            running.stdin.close()
            try:
                running.wait(timeout=0.01 + turn * 0.002)
            except subprocess.TimeoutExpired:
                hit += 1
                for child in Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split():
                    with suppress(ProcessLookupError):  # it came to its end just now
                        os.kill(int(child), signal.SIGKILL)
                running.kill()
        assert isinstance(listed(documents), dict), "it can be read after every kill"
    assert hit, "no kill met a running call"
    began = time.monotonic()
    wrote(documents, tmp_path / "last" / "PRD.md")
    assert str(tmp_path / "last" / "PRD.md") in listed(documents), "no lock is left behind"
    assert time.monotonic() - began < 10


def test_what_is_told_of_a_document_cannot_speak_to_a_terminal(documents: Front, repository: Path) -> None:
    stopped(documents, repository)
    (repository / "README.md").write_text("[x](a\x1b]0;evil\x07b.md) [y](" + "z" * 900 + ".md)\n")
    said = stopped(documents, repository)
    assert "a\ufffd]0;evil\ufffdb.md" in said and len(said) < 400


def test_a_folder_of_many_files_is_looked_at_as_far_as_the_bound(repository: Path, tmp_path: Path) -> None:
    documents = ambient(tmp_path / "front", IDS)
    module = documents.modules / "doc-integrity" / "module.py"
    module.write_text(module.read_text().replace("\nMAX_ENTRIES = 20_000\n", "\nMAX_ENTRIES = 20\n"))
    documents.configure()
    for number in range(30):
        (repository / "docs" / f"{number}.md").write_text("")
    stopped(documents, repository)
    record = json.loads(next((documents.state / "modules" / "doc-integrity").glob("*.json")).read_text())
    assert 1 < len(record["documents"]) <= 21


def test_a_folder_that_is_none_is_silence(documents: Front) -> None:
    for cwd in ("", "relative", "/", "/nonexistent/deep", "a\x00b", "\ud800", 7, None, ["/"]):
        reply = documents.call(json.dumps({**recorded("claude-code/Stop"), "cwd": cwd}).encode())
        assert reply.stdout == "" and not documents.errors("doc-integrity"), cwd


def test_a_path_that_is_none_is_silence(documents: Front) -> None:
    payload = recorded("claude-code/PostToolUse.Write")
    for path in ("", "PRD.md", "/PRD.md", "/x/\x00/PRD.md", "/\ud800/PRD.md", "/dev/null/PRD.md", 7, None):
        raw = json.dumps({**payload, "tool_input": {"file_path": path, "content": ".md"}}).encode()
        assert documents.call(raw).stdout == "" and not documents.errors("frontmatter-sync"), path


@pytest.mark.parametrize(("more", "broken"), [(-9, ["a.md:1 no heading is called #nope in a.md"]), (9, [])])
def test_of_headings_that_are_too_many_to_be_known_none_is_called_missing(
    tmp_path: Path, more: int, broken: list[str]
) -> None:
    headings = "".join(f"# h{number}\n" for number in range(markdownlinks.MAX_ANCHORS + more))
    (tmp_path / "a.md").write_text(f"[here](#h7) [not](#nope)\n{headings}")
    with Folder(str(tmp_path)) as state:
        found = names_of("doc-integrity")["_followed"](
            state, "x.json", [("a.md", 1, 1, 1)], "", str(tmp_path), True
        )
    assert found == (broken, len(broken))
