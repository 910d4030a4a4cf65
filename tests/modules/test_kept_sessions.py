"""session-name, last-response and work-capture: what they keep, of whom, and that no call feels it when they cannot."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from fronts import Front, Reply, ambient, emptied, names_of, recorded, with_events

from overdeck.dispatch.kit.lastresponse import last_response
from overdeck.dispatch.kit.sessionnames import keep as keep_name
from overdeck.dispatch.kit.sessionnames import name_of
from overdeck.dispatch.module import Call

IDS = ("session-name", "last-response", "work-capture")
SESSION = recorded("claude-code/Stop")["session_id"]
LONG = "The login page sent everybody away, for the cookie was never set. " * 4


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Front:
    return ambient(tmp_path_factory.mktemp("front"), IDS)


@pytest.fixture
def kept(installed: Front) -> Front:
    return emptied(installed)


def prompted(front: Front, text: str, **extra: Any) -> Reply:
    return front.call({**recorded("claude-code/UserPromptSubmit"), "session_id": SESSION, "prompt": text, **extra})


def answered(front: Front, text: str | None, **extra: Any) -> Reply:
    payload = {**recorded("claude-code/Stop"), **extra}
    del payload["last_assistant_message"]
    return front.call(payload if text is None else {**payload, "last_assistant_message": text})


def ended(front: Front, **extra: Any) -> Reply:
    return front.call({**recorded("claude-code/SessionEnd.other"), "session_id": SESSION, **extra})


def files(front: Front, folder: Path | None = None) -> list[Path]:
    return sorted((folder or front.state / "modules" / "work-capture" / "work").glob("*/*"))


def name(front: Front, session: str = SESSION) -> str:
    return name_of(str(front.state), session)


def no_errors(front: Front) -> bool:
    return not any(front.errors(id) for id in IDS)


def test_a_session_is_named_once_by_its_first_prompt_that_asks_for_something(kept: Front) -> None:
    for text in ("hi", "yes", "/clear"):
        assert prompted(kept, text).stdout == ""
        assert name(kept) == ""
    prompted(kept, "Fix the login page: it redirects forever")
    prompted(kept, "now write the release notes")
    assert name(kept) == "Fix login page redirects forever"
    assert no_errors(kept)


def test_a_session_that_goes_on_keeps_its_name_however_old_it_is(kept: Front) -> None:
    prompted(kept, "Fix the login page")
    (file,) = (kept.state / "modules" / "session-name").iterdir()
    os.utime(file, (0, 0))
    prompted(kept, "yes")
    assert file.stat().st_mtime > 1 and name(kept) == "Fix login page"


def test_a_subagents_prompt_names_nothing(kept: Front) -> None:
    prompted(kept, "Fix the login page", agent_id="a1", agent_type="general-purpose")
    assert name(kept) == ""


def test_of_two_prompts_at_once_one_names_the_session(kept: Front) -> None:
    texts = [f"fix {animal} behaviour" for animal in ("cat", "dog", "bird", "fish", "horse", "cow")]
    with ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(lambda text: prompted(kept, text), texts))
    assert all(reply.stdout == "" for reply in replies) and no_errors(kept)
    first = name(kept)
    assert first in {f"Fix {text.split()[1]} behaviour" for text in texts}
    prompted(kept, "something else entirely")
    assert name(kept) == first


def test_what_is_kept_is_its_owners_only(kept: Front) -> None:
    prompted(kept, "Fix the login page")
    answered(kept, LONG)
    for id in IDS:
        paths = [kept.state / "modules" / id, *(kept.state / "modules" / id).rglob("*")]
        assert len(paths) > 1
        assert {stat.S_IMODE(path.stat().st_mode) for path in paths} <= {0o600, 0o700}


def test_the_last_answer_is_kept_for_each_session(kept: Front) -> None:
    answered(kept, "one")
    answered(kept, "two")
    answered(kept, "other", session_id="s2")
    answered(kept, "of a subagent", agent_id="a1")
    answered(kept, "")
    assert last_response(str(kept.state), SESSION) == "two"
    assert last_response(str(kept.state), "s2") == "other"


def entry(type: str, content: object, **more: object) -> str:
    return json.dumps({"type": type, "message": {"role": type, "content": content}, **more}) + "\n"


def test_where_the_client_does_not_say_it_the_transcripts_last_text_is_taken(kept: Front, tmp_path: Path) -> None:
    transcript = tmp_path / "t.jsonl"
    transcript.write_text(
        entry("assistant", [{"type": "text", "text": "the answer"}, {"type": "tool_use", "name": "Bash"}])
        + entry("user", [{"type": "tool_result", "content": '"assistant" of a tool'}])
        + entry("assistant", [{"type": "text", "text": "of a subagent"}], isSidechain=True)
        + entry("assistant", [{"type": "tool_use", "name": "Read"}])
        + entry("user", "what a human typed", to="assistant")
        + entry("user", [{"type": "text", "text": "pasted"}], to="assistant")
        + '{"type":"assistant","message":{"content":[{"type":"te'
    )
    answered(kept, None, transcript_path=str(transcript))
    assert last_response(str(kept.state), SESSION) == "the answer"
    assert no_errors(kept)


def test_a_transcript_that_is_a_pipe_holds_nobody_up(kept: Front, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "t.jsonl")
    assert answered(kept, None, transcript_path=str(tmp_path / "t.jsonl")).stdout == ""
    assert no_errors(kept)


def test_a_session_that_did_something_gets_a_file_named_by_date_type_and_description(kept: Front) -> None:
    before = time.time()
    prompted(kept, "Fix the login page")
    answered(kept, LONG)
    (file,) = files(kept)
    date, type, description = file.stem.split("_")
    moment = time.mktime(time.strptime(date + " UTC", "%Y-%m-%d-%H%M%S %Z")) - time.timezone
    assert before - 2 <= moment <= time.time() + 2
    assert (type, description, file.suffix) == ("SESSION", "fix-login-page", ".md")
    assert file.parent.name == date[:7]
    text = file.read_text()
    assert text.startswith('---\ntitle: "Fix login page"\n') and 'status: "open"' in text and LONG.strip() in text


def test_a_session_that_said_little_gets_none(kept: Front) -> None:
    answered(kept, "All done.")
    ended(kept)
    assert files(kept) == [] and no_errors(kept)


def test_its_end_closes_the_file_and_a_resumed_session_opens_it_again(kept: Front) -> None:
    answered(kept, LONG)
    ended(kept, reason="prompt_input_exit")
    text = files(kept)[0].read_text()
    assert 'status: "completed"' in text and "completed_at: " in text and 'reason: "prompt_input_exit"' in text
    assert LONG.strip() in text
    answered(kept, "Also done.")
    assert 'status: "open"' in files(kept)[0].read_text() and len(files(kept)) == 1


def test_every_turn_is_a_line_and_the_last_long_answer_the_body(kept: Front) -> None:
    answered(kept, LONG)
    answered(kept, "SUMMARY: Tests were added.\nThree of them.\n**NEXT:** release\n🎯 COMPLETED: Added tests")
    answered(kept, "Yes.")
    text = files(kept)[0].read_text()
    assert "## Summary\n\nTests were added.\nThree of them." in text and "## Next\n\nrelease" in text
    turns = [line.partition("Z ")[2] for line in text.partition("## Turns\n\n")[2].splitlines()]
    assert turns[0].startswith("The login page sent") and turns[1:] == ["Added tests", "Yes."]


def test_two_different_words_of_learning_make_it_a_learning_and_there_is_one_file_still(kept: Front) -> None:
    answered(kept, LONG + "The root cause: the root cause.")
    assert "_SESSION_" in files(kept)[0].name
    answered(kept, LONG + "It turned out to be the cookie.")
    (file,) = files(kept)
    assert "_LEARNING_" in file.name


def test_a_name_that_comes_later_renames_the_file(kept: Front) -> None:
    answered(kept, LONG)
    assert files(kept)[0].stem.endswith("_login-page-sent-everybody-away-cookie")
    prompted(kept, "Fix the login page")
    answered(kept, LONG)
    (file,) = files(kept)
    assert file.stem.endswith("_fix-login-page")


def test_keys_in_an_answer_are_left_out(kept: Front) -> None:
    pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----"
    answered(kept, f"{LONG} AKIAIOSFODNN7EXAMPLE and TOKEN=ghp_0123456789abcdefghij.\n{pem}\nbehind it")
    text = files(kept)[0].read_text()
    assert "AKIAIOSFODNN7EXAMPLE" not in text and "ghp_0123" not in text and "MIIabc" not in text
    assert text.count("left out]") == 3 and "behind it" in text


def test_two_sessions_of_one_second_and_one_name_have_a_file_each(kept: Front) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: answered(kept, LONG, session_id=f"s{n}"), range(8)))
    sessions = {
        line for file in files(kept) for line in file.read_text().splitlines() if line.startswith("session: ")
    }
    assert len(files(kept)) == len(sessions) == 8 and no_errors(kept)


def test_the_owners_folder_is_used_and_nothing_beside_it(kept: Front, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    kept.configure(f'[modules.work-capture]\nfolder = "{notes}"\n')
    answered(kept, "SUMMARY: ../../etc/passwd\nfalls/over\n" + LONG, session_id="../../../x\ny")
    (file,) = files(kept, notes)
    assert file.parent.parent == notes and "\\ny" in file.read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


@pytest.mark.parametrize("what", ["link", "month is a link", "no parent", "relative", "dots", "file"])
def test_a_folder_that_leads_elsewhere_is_not_written_and_the_turn_ends_all_the_same(
    kept: Front, tmp_path: Path, what: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    notes = tmp_path / "notes"
    path = {"no parent": f"{notes}/a/b", "relative": "notes", "dots": f"{outside}/../notes"}.get(what, str(notes))
    if what == "link":
        notes.symlink_to(outside)
    elif what == "file":
        notes.write_text("mine")
    elif what == "month is a link":
        notes.mkdir()
        (notes / time.strftime("%Y-%m", time.gmtime())).symlink_to(outside)
    kept.configure(f'[modules.work-capture]\nfolder = "{path}"\n')
    assert answered(kept, LONG).stdout == ""
    assert list(outside.iterdir()) == [] and len(kept.errors("work-capture")) == 1
    assert what != "file" or notes.read_text() == "mine"
    assert last_response(str(kept.state), SESSION) == LONG, "the others are not hurt"


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB, where this user may mount one."""
    folder = tmp_path / "small"
    folder.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "none", folder], capture_output=True, check=False
    ).returncode:
        pytest.skip("this user may not mount a tmpfs")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.parametrize("what", ["full", "read-only"])
def test_on_a_disk_that_takes_nothing_the_call_goes_on_and_the_old_file_stays(
    kept: Front, small: Path, what: str
) -> None:
    kept.configure(f'[modules.work-capture]\nfolder = "{small}"\n')
    answered(kept, LONG)
    (file,) = files(kept, small)
    before = file.read_bytes()
    if what == "full":
        with pytest.raises(OSError, match="No space"):
            (small / "fill").write_bytes(b"x" * 100_000)
    else:
        subprocess.run(["mount", "-o", "remount,ro", small], check=True)
    assert answered(kept, LONG + "more" * 1000).stdout == ""
    assert file.read_bytes() == before and files(kept, small) == [file]
    assert len(kept.errors("work-capture")) == 1


@pytest.mark.parametrize("id", IDS)
def test_where_its_state_cannot_be_written_a_module_fails_in_silence(kept: Front, id: str) -> None:
    (kept.state / "modules").mkdir(exist_ok=True)
    (kept.state / "modules" / id).write_text("no folder")
    for reply in (prompted(kept, "Fix the login page"), answered(kept, LONG), ended(kept)):
        assert (reply.code, reply.stdout, reply.stderr) == (0, "", "")
    assert kept.errors(id)
    assert not any(kept.errors(other) for other in IDS if other != id)


def test_a_damaged_record_costs_its_session_a_new_file_and_nothing_else(kept: Front) -> None:
    answered(kept, LONG)
    record = next((kept.state / "modules" / "work-capture").glob("*.json"))
    for number, damage in enumerate((
        "",
        "[]",
        '{"file":"../x","turns":["a"],"body":"","began":99999999999999999999,"learned":[],"seen":1}',
        '{"file":"../x","turns":[1],"body":"","began":1,"learned":[{}],"seen":1}',
    ), 2):  # fmt: skip
        record.write_text(damage)
        assert answered(kept, LONG).stdout == ""
        assert len(files(kept)) == number and no_errors(kept), damage


def test_killed_at_any_moment_no_file_is_half_there(kept: Front) -> None:
    payload = json.dumps(
        {**recorded("claude-code/Stop"), "last_assistant_message": "SUMMARY: x\n" + LONG * 60}
    ).encode()
    hit = 0
    for turn in range(40):
        with subprocess.Popen(
            kept.argv("Stop"), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env={"PATH": os.defpath},
            start_new_session=True,
        ) as running:  # fmt: skip
            assert running.stdin is not None
            running.stdin.write(payload)
            running.stdin.close()
            try:
                running.wait(timeout=0.01 + turn * 0.0015)
            except subprocess.TimeoutExpired:
                hit += 1
                for child in children(running.pid):
                    with suppress(ProcessLookupError):  # it came to its end just now
                        os.kill(child, signal.SIGKILL)
                running.kill()
    assert hit, "no kill met a running call"
    assert answered(kept, "SUMMARY: y\n" + LONG).stdout == ""
    for file in files(kept):
        assert file.suffix == ".tmp" or file.read_text().rstrip().rpartition("## Turns")[1], file
    assert last_response(str(kept.state), SESSION).startswith("SUMMARY: y")


def test_what_was_kept_is_an_event_and_no_event_holds_a_text(tmp_path: Path) -> None:
    kept = ambient(tmp_path, IDS)
    with_events(kept)
    kept.configure()
    prompted(kept, "Fix the login page")
    prompted(kept, "Fix the logout page")
    answered(kept, LONG)
    answered(kept, LONG + "the root cause, as it turned out")
    ended(kept)
    raw = (kept.state / "events.jsonl").read_text()
    ours = [line for line in map(json.loads, raw.splitlines()) if line.get("source") in IDS]
    assert [line["type"] for line in ours] == [
        "session.named",
        "work.created",
        "learning.captured",
        "work.completed",
    ]
    assert {line["session"] for line in ours} == {SESSION}
    assert "login" not in raw and "root cause" not in raw


def children(pid: int) -> list[int]:
    """The processes below ``pid``, the deepest first: the module before the dispatcher."""
    try:
        below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [deep for child in below for deep in (*children(int(child)), int(child))]


def turn(state: Path, said: str, *, steps: int = 0) -> bool:
    """A turn's end in a process of its own, gone before step ``steps`` on the file system; whether it ended."""
    call = Call(
        client="claude", event="Stop", tool="", input={}, subagent=False, state=str(state / "modules" / "work-capture"),
        payload={"session_id": SESSION, "last_assistant_message": said, "cwd": "/p"},
        config={"folder": "", "least_letters": 1, "learning_words": []},
    )  # fmt: skip
    if pid := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    left = steps

    def gone(event: str, _: object) -> None:
        nonlocal left
        if event in ("os.rename", "os.link", "os.remove"):
            left -= 1
            if left == 0:
                os._exit(1)

    evaluate = names_of("work-capture")["evaluate"]
    sys.addaudithook(gone)
    try:
        evaluate(call)
        os._exit(0)
    finally:
        os._exit(2)


@pytest.mark.parametrize("earlier", [[], ["first"]])
@pytest.mark.parametrize("renamed", [False, True])
def test_killed_between_any_two_steps_a_session_has_one_file_and_no_turn_is_in_two(
    tmp_path: Path, earlier: list[str], renamed: bool
) -> None:
    for steps in range(1, 30):
        state = tmp_path / str(steps)
        (state / "modules" / "work-capture").mkdir(parents=True)
        (state / "modules" / "session-name").mkdir()
        for said in earlier:
            turn(state, f"{said} answer of it")
        if renamed:
            keep_name(str(state / "modules" / "session-name"), SESSION, "Another name")
        ended = turn(state, "killed answer of it", steps=steps)
        assert turn(state, "last answer of it")
        (file,) = (state / "modules" / "work-capture" / "work").glob("*/*.md")
        turns = file.read_text().rpartition("## Turns")[2].split()
        assert all(turns.count(said) == 1 for said in (*earlier, "last")) and turns.count("killed") <= 1
        if ended:
            break
    assert ended and steps > 2
