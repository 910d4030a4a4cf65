"""The module ``recall`` alone, in the process of the test."""

from pathlib import Path
from typing import Any

from overdeck.dispatch.manifest import read_manifest
from overdeck.dispatch.module import Call, Verdict
from overdeck.paths import shipped

RECALL = read_manifest(str(shipped("modules", "recall")))
CODE: dict[str, Any] = {"__name__": "recall"}
exec(compile(Path(RECALL.code).read_text(), RECALL.code, "exec"), CODE)


def evaluate(cwd: Path, **config: str) -> Verdict | None:
    """What a session in ``cwd`` is told."""
    return CODE["evaluate"](
        Call(
            client="claude",
            event="SessionStart",
            tool="",
            input={},
            payload={"cwd": str(cwd)},
            subagent=False,
            config={"registry": "", **config},
            state="/nonexistent",
        )
    )
