import io
import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from overdeck.errors import ExitCode, OverdeckError
from overdeck.payloadfile import read_payload

RAW = b'{"hook_event_name": "PreToolUse", "tool_name": "Bash"}'


def test_a_payload_is_what_was_given_what_it_says_and_its_event(tmp_path: Path):
    (tmp_path / "payload.json").write_bytes(RAW)

    assert read_payload(tmp_path / "payload.json") == (RAW, json.loads(RAW), "PreToolUse")


def test_a_dash_is_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(RAW)))

    assert read_payload(Path("-")).event == "PreToolUse"


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"[]", b'"PreToolUse"', b"{}", b'{"hook_event_name": ["PreToolUse"]}', b"[" * 100_000]
)
def test_a_file_that_names_no_event_is_a_usage_error(tmp_path: Path, raw: bytes):
    (tmp_path / "payload.json").write_bytes(raw)
    with pytest.raises(OverdeckError, match="names no known event") as raised:
        read_payload(tmp_path / "payload.json")

    assert raised.value.exit_code is ExitCode.USAGE and raised.value.hint


def test_a_payload_without_an_end_is_a_usage_error_and_not_all_the_memory():
    with pytest.raises(OverdeckError, match="does not end within 64 MiB") as raised:
        read_payload(Path("/dev/zero"))

    assert raised.value.exit_code is ExitCode.USAGE


def test_a_payload_may_come_through_a_pipe(tmp_path: Path):
    ours, theirs = os.pipe()
    os.write(theirs, RAW)
    os.close(theirs)

    assert read_payload(Path(f"/dev/fd/{ours}")).event == "PreToolUse"
    os.close(ours)


def test_a_payload_from_a_pipe_that_nobody_writes_to_is_refused_in_words(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OverdeckError, match=f"nobody writes to the pipe {tmp_path}/pipe") as raised:
        read_payload(tmp_path / "pipe")

    assert (raised.value.exit_code, raised.value.code) == (ExitCode.USAGE, "silent-pipe") and raised.value.hint


def test_a_file_that_is_not_there_is_not_found(tmp_path: Path):
    with pytest.raises(OverdeckError) as raised:
        read_payload(tmp_path / "gone.json")

    assert (raised.value.exit_code, raised.value.code) == (ExitCode.NOT_FOUND, "no-payload")
