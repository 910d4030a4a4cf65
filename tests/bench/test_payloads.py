"""Payloads made to measure: valid JSON of exactly the size asked for, the text where the client puts it."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overdeck.bench.payloads import LARGEST, SMALLEST, generate, parse_size
from overdeck.errors import ExitCode, OverdeckError

RECORDED = Path(__file__).resolve().parent.parent / "payloads" / "claude-code"

GROWING = {
    ("PreToolUse", "Bash"): lambda said: said["tool_input"]["command"],
    ("PreToolUse", "Write"): lambda said: said["tool_input"]["content"],
    ("PreToolUse", "Edit"): lambda said: said["tool_input"]["new_string"],
    ("PreToolUse", "mcp__demo__echo"): lambda said: said["tool_input"]["text"],
    ("PermissionRequest", "Bash"): lambda said: said["tool_input"]["command"],
    ("PostToolUse", "Bash"): lambda said: said["tool_response"]["stdout"],
    ("PostToolUse", "Read"): lambda said: said["tool_response"]["file"]["content"],
    ("PostToolUse", "Edit"): lambda said: said["tool_response"]["originalFile"],
    ("PostToolUse", "Write"): lambda said: said["tool_input"]["content"] + said["tool_response"]["content"],
    ("PostToolUse", "mcp__demo__echo"): lambda said: said["tool_response"][0]["text"],
    ("PostToolUseFailure", "Bash"): lambda said: said["error"],
    ("PostToolBatch", "Bash"): lambda said: said["tool_calls"][0]["tool_response"],
    ("UserPromptSubmit", ""): lambda said: said["prompt"],
    ("Stop", ""): lambda said: said["last_assistant_message"],
}
KINDS = st.sampled_from(sorted(GROWING))


@given(KINDS, st.one_of(st.integers(SMALLEST, 3000), st.integers(3000, 300_000)))
def test_a_payload_is_valid_json_of_exactly_the_size_or_refused_as_too_small(kind, size):
    try:
        made = generate(*kind, size)
    except OverdeckError as error:
        assert error.exit_code == ExitCode.USAGE
        least = int(error.hint.rpartition(" ")[2])
        assert size < least < 500
        assert len(generate(*kind, least)) == least, "the hint works"
        return
    assert len(made) == size
    assert made.endswith(b"\n") and made.count(b"\n") == 1
    said = json.loads(made)
    assert said["hook_event_name"] == kind[0]
    assert said.get("tool_name", kind[1]) == kind[1]
    assert len(GROWING[kind](said).encode()) > 0.8 * size - 600, "the size is in the text"


@pytest.mark.parametrize("kind", [("PreToolUse", "Bash"), ("PostToolUse", "Write")])
def test_the_largest_payload_is_made_exactly(kind):
    made = generate(*kind, LARGEST)
    assert len(made) == LARGEST
    json.loads(made)


def test_the_text_has_what_files_have():
    said = generate("PreToolUse", "Write", 2000)
    for piece in (b'\\"', b"\\\\", b"\\n", b"\\t", "größer".encode(), "表".encode()):
        assert piece in said


def test_a_write_holds_its_content_twice_once_it_is_done():
    said = json.loads(generate("PostToolUse", "Write", 50_001))
    assert said["tool_input"]["content"] == said["tool_response"]["content"]


@pytest.mark.parametrize("file", sorted(RECORDED.glob("P*.json")), ids=lambda file: file.stem)
def test_a_payload_has_the_keys_that_were_recorded(file):
    recorded = json.loads(file.read_bytes())
    made = json.loads(generate(recorded["hook_event_name"], recorded.get("tool_name", "")))
    assert set(made) == set(recorded) - {"agent_id", "agent_type"}


@pytest.mark.parametrize(
    ("event", "tool", "size", "why"),
    [
        ("NoEvent", "Bash", None, "no event"),
        ("PreToolUse", "", None, "none is named"),
        ("PreToolUse", "Bash", SMALLEST - 1, "200 bytes to 64 MiB"),
        ("PreToolUse", "Bash", LARGEST + 1, "200 bytes to 64 MiB"),
        ("PreToolUse", "Read", 5000, "ever grows"),
        ("SessionStart", "startup", 5000, "ever grows"),
    ],
)
def test_what_no_client_would_send_is_a_usage_error(event, tool, size, why):
    with pytest.raises(OverdeckError, match=why) as error:
        generate(event, tool, size)
    assert error.value.exit_code == ExitCode.USAGE


@pytest.mark.parametrize(
    ("text", "size"),
    [("200", 200), ("200B", 200), ("200k", 200_000), ("1.5MB", 1_500_000), ("64MiB", 64 << 20), ("4 kib", 4096)],
)
def test_a_size_is_what_a_person_types(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "big", "-5", "3 apples", "1e6", "1,5MB"])
def test_a_size_that_is_none_is_a_usage_error(text):
    with pytest.raises(OverdeckError) as error:
        parse_size(text)
    assert error.value.exit_code == ExitCode.USAGE


def test_ab_makes_the_payload_that_event_tool_and_size_name(hookbench):
    said = hookbench(
        "ab", "wc -c", "wc -c", "--event", "PostToolUse", "--tool", "Bash", "--payload-size", "300k", "--pairs", 8,
    )  # fmt: skip
    assert said.code == 0, said.err
    assert "payload: 300000 bytes made for PostToolUse Bash" in said.err


def test_a_made_payload_needs_an_event_and_no_file(hookbench, payload):
    beside = hookbench("ab", "cat", "cat", "--payload", payload, "--payload-size", "1k")
    alone = hookbench("ab", "cat", "cat", "--payload-size", "1k")
    assert (beside.code, alone.code) == (2, 2)
    assert "leave out one" in beside.err and "--event" in alone.err
