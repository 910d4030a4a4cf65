"""Transcripts with the fields that the real client writes (see tests/transcripts/README.md), of any size."""

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

START = datetime(2026, 11, 1, 8, 0, tzinfo=UTC)


def stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def line(document: dict[str, Any]) -> bytes:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def envelope(number: int, *, session: str = "s-1", at: datetime | None = None, **more: Any) -> dict[str, Any]:
    """What every record has around its own part; ``number`` makes its uuid."""
    return {
        "uuid": str(UUID(int=number)),
        "timestamp": stamp(at or START + timedelta(seconds=number)),
        "userType": "external",
        "entrypoint": "cli",
        "cwd": "/home/dev/project",
        "sessionId": session,
        "version": "2.1.197",
        "gitBranch": "main",
        **more,
    }


def attachment(number: int, body: dict[str, Any], **around: Any) -> dict[str, Any]:
    return {
        "parentUuid": None,
        "isSidechain": False,
        "attachment": body,
        "type": "attachment",
        **envelope(number, **around),
    }


def success(
    number: int,
    *,
    command: str = "python3 guard.py",
    event: str = "PreToolUse",
    tool: str = "Bash",
    ms: int | None = 40,
    stdout: str = "",
    content: str = "",
    call: str = "",
    **around: Any,
) -> dict[str, Any]:
    """A hook that exited with 0."""
    body = {
        "type": "hook_success",
        "hookName": f"{event}:{tool}" if tool else event,
        "toolUseID": call or f"toolu_{number:020d}",
        "hookEvent": event,
        "content": content,
        "stdout": stdout,
        "stderr": "",
        "exitCode": 0,
        "command": command,
        "durationMs": ms,
    }
    return attachment(number, body, **around)


def failed(
    number: int, stderr: str, *, code: int = 1, command: str = "python3 guard.py", ms: int = 30, **around: Any
) -> dict[str, Any]:
    """A hook that exited with neither 0 nor 2."""
    body = {
        "type": "hook_non_blocking_error",
        "hookName": "PreToolUse:Bash",
        "toolUseID": f"toolu_{number:020d}",
        "hookEvent": "PreToolUse",
        "stderr": f"Failed with non-blocking status code: {stderr}",
        "stdout": "",
        "exitCode": code,
        "command": command,
        "durationMs": ms,
    }
    return attachment(number, body, **around)


def killed(number: int, *, command: str = "python3 guard.py", ms: int = 5012, **around: Any) -> dict[str, Any]:
    """A hook that ran into its timeout."""
    body = {
        "type": "hook_cancelled",
        "hookName": "PreToolUse:Bash",
        "toolUseID": f"toolu_{number:020d}",
        "hookEvent": "PreToolUse",
        "command": command,
        "durationMs": ms,
        "timedOut": True,
        "timeoutMs": 5000,
    }
    return attachment(number, body, **around)


def blocked(number: int, reason: str, *, command: str = "python3 guard.py", **around: Any) -> dict[str, Any]:
    body = {
        "type": "hook_blocking_error",
        "hookName": "PreToolUse:Bash",
        "toolUseID": f"toolu_{number:020d}",
        "hookEvent": "PreToolUse",
        "blockingError": {"blockingError": reason, "command": command},
    }
    return attachment(number, body, **around)


def denied(number: int, stderr: str, *, command: str = "python3 guard.py", **around: Any) -> dict[str, Any]:
    """A call that a hook blocked by exit 2."""
    document = tool_result(number, f"PreToolUse:Bash hook error: [{command}]: {stderr}\n", **around)
    document["message"]["content"][0]["is_error"] = True
    return document


def tool_result(number: int, text: str, **around: Any) -> dict[str, Any]:
    """What a tool printed: most bytes of a transcript."""
    content = [{"type": "tool_result", "tool_use_id": f"toolu_{number:020d}", "content": text}]
    return {
        "parentUuid": None,
        "isSidechain": False,
        "type": "user",
        "message": {"role": "user", "content": content},
        **envelope(number, **around),
        "toolUseResult": {"stdout": text, "stderr": "", "interrupted": False},
    }


def fleet(size: int, *, seed: int = 1, hooks: int = 3) -> Iterator[bytes]:
    """Lines of a session, about ``size`` bytes: ``hooks`` hook records for each tool call, as busy fleets have."""
    chance = random.Random(seed)
    session = str(UUID(int=chance.getrandbits(128)))
    pool = json.dumps(chance.choices('abcdefgh ijk\nlmnop=(){}"\\/.0123é', k=80_000))[1:]
    written = 0
    while written < size:
        base = chance.getrandbits(100)
        at = START + timedelta(milliseconds=chance.randrange(30 * 86_400_000))
        text = pool[: min(80_000, int(chance.expovariate(1 / 6000)) + 200)]
        documents = [
            success(
                base + n, session=session, at=at, command=f"python3 /home/dev/hooks/h{n % 28}.py",
                ms=int(chance.lognormvariate(3.7, 0.6)), call=f"toolu_{base}",
                stdout="{}\n" if n else "",
            )
            for n in range(hooks)
        ]  # fmt: skip
        if chance.random() < 0.01:
            documents.append(killed(base + 90, session=session, at=at, command="python3 /home/dev/hooks/h3.py"))
        if chance.random() < 0.02:
            documents.append(
                failed(base + 91, "Traceback (most recent call last):\nKeyError: 'x'", session=session, at=at)
            )
        documents += [tool_result(base + 92, text, session=session, at=at)]
        for document in documents:
            raw = line(document)
            written += len(raw)
            yield raw


def write_fleet(folder: Path, size: int, *, file_size: int = 8 << 20, hooks: int = 3) -> int:
    """Sessions of ``file_size`` bytes below ``folder`` until they are ``size`` bytes; the bytes written."""
    written = 0
    for number in range(max(1, size // file_size)):
        path = folder / f"-home-dev-p{number % 20}" / f"{UUID(int=number + 1)}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as out:
            out.writelines(fleet(min(size, file_size), seed=number, hooks=hooks))
        written += path.stat().st_size
    return written
