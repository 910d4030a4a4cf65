"""The telemetry contract, as the hot path writes it."""

import json
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

from fronts import Front, bash


def test_a_fire_line_is_the_frozen_contract(front: Front) -> None:
    front.module("gate", "return deny('x')")
    front.module("adviser", "return advise('x')", cls="adviser")
    front.module("quiet", "return None")
    front.install()
    front.call(bash("ls"))
    raw = (front.state / "hook-fires.jsonl").read_text().splitlines()
    pattern = (
        r'\{"ts":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","event":"PreToolUse","module":"(\w+)","action":"(\w+)"\}'
    )
    found = [re.fullmatch(pattern, line) for line in raw]
    assert [match.groups() for match in found if match] == [("adviser", "advise"), ("gate", "deny")]


def test_a_call_line_has_the_keys_of_the_contract(front: Front) -> None:
    front.module("gate", "return None")
    front.module("skipped", "return None", toml='literals = ["never"]')
    front.install()
    before = datetime.now(UTC)
    front.call(bash("ls"))
    line = front.calls()[0]
    assert set(line) == {"ts", "v", "plan", "client", "event", "tool", "session", "sub", "in", "out", "us", "ran"}
    assert (line["client"], line["event"], line["tool"], line["sub"], line["v"]) == (
        "claude", "PreToolUse", "Bash", False, 1,
    )  # fmt: skip
    assert list(line["ran"]) == ["gate"]
    assert set(line["ran"]["gate"]) == {"us", "bytes", "end"}
    assert (front.plans / "history" / f"{line['plan']}.plan").exists()
    assert abs((datetime.fromisoformat(line["ts"]) - before).total_seconds()) < 5


def test_no_prompt_and_no_tool_input_is_logged(front: Front) -> None:
    front.module("gate", "return None")
    front.install()
    front.call(bash("echo SECRET-WORD"))
    front.call({"hook_event_name": "UserPromptSubmit", "prompt": "SECRET-WORD"}, "UserPromptSubmit")
    logs = subprocess.run(["grep", "-r", "SECRET-WORD", str(front.state)], capture_output=True, check=False)
    assert logs.stdout == b""


def test_logs_are_the_owners_alone(front: Front) -> None:
    front.module("gate", "raise RuntimeError('x')")
    front.install()
    front.call(bash("ls"))
    made = [path for path in front.state.rglob("*") if path.is_file()]
    assert made and all(path.stat().st_mode & 0o077 == 0 for path in made)


def test_a_line_cut_short_by_a_full_disk_takes_no_other_with_it(front: Front) -> None:
    front.module("gate", "return deny('x')")
    front.install()
    for name in ("hook-calls.jsonl", "hook-fires.jsonl"):
        (front.state / name).write_text('{"ts":"2026-01-01T00:00')
    front.call(bash("ls"))
    for name in ("hook-calls.jsonl", "hook-fires.jsonl"):
        lines = (front.state / name).read_text().splitlines()
        assert lines[0] == '{"ts":"2026-01-01T00:00' and json.loads(lines[1])["ts"]


def test_concurrent_calls_lose_no_line_and_tear_none(front: Front) -> None:
    front.module("gate", "return deny('x')")
    front.install()
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: front.call(bash("ls")), range(80)))
    assert all(reply.decision == "deny" for reply in replies)
    assert len(front.calls()) == len(front.fires()) == 80
