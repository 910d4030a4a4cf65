"""One run under its keeper: how it ended, and digests of what it printed."""

import hashlib
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from overdeck.incidents.watching import NOBODY, NOTICE_S, Watch

TAIL_LIMIT = 65_536
"""Bytes of the end of the output that are kept for the reader; all of it is in the digest."""

KEEPER = Path(__file__).parent / "keeper.py"
_GRACE_S = 30.0
"""For a keeper to start and to bury what it killed; it may be killed itself, and is not waited for for ever."""


class Run(NamedTuple):
    """One program that was run, or that did not start."""

    argv: tuple[str, ...]
    exit: int | None
    """Negative for a signal; None where it did not start or was not done in time."""
    timed_out: bool
    failure: str
    """Why it did not start; empty where it did."""
    network: bool
    """Whether it could reach one: this system may not let us take it away."""
    wall_s: float
    sha256: str
    """Of standard output and standard error together."""
    size: int
    tail: str

    @property
    def facts(self) -> dict[str, Any]:
        """What a statement keeps of it."""
        return {
            "argv": list(self.argv),
            "exit": self.exit,
            "wall_ms": round(self.wall_s * 1000),
            "network": self.network,
            "output": {"sha256": self.sha256, "bytes": self.size},
        }


def run(
    argv: Sequence[str], *, env: Mapping[str, str], cwd: Path, deadline_s: float, watch: Watch = NOBODY
) -> Run:
    """Run ``argv`` in ``cwd`` with just ``env``, without network where this system allows that, for ``deadline_s``
    seconds at most; when it returns, nothing that the run started is left. Raises Cancelled where ``watch`` calls it
    off."""
    report, write = os.pipe()
    spec = {"argv": list(argv), "env": dict(env), "cwd": str(cwd), "deadline_s": deadline_s, "report": write}
    start = time.monotonic()
    try:
        with _keeper(spec, write) as keeper:
            digest, size, tail = _drain(keeper, start + deadline_s + _GRACE_S, watch)
            said = os.read(report, 65_536) if select.select([report], [], [], _GRACE_S)[0] else b""
    finally:
        os.close(report)
    watch.check()
    told: dict[str, Any] = (
        json.loads(said) if said else {"exit": None, "why": "its keeper was killed", "network": True}
    )
    timed_out = told["why"] == "time"
    return Run(
        argv=tuple(argv),
        exit=told["exit"],
        timed_out=timed_out,
        failure="" if timed_out else told["why"],
        network=told["network"],
        wall_s=time.monotonic() - start,
        sha256=digest,
        size=size,
        tail=tail.decode("utf-8", "replace"),
    )


def _keeper(spec: Mapping[str, Any], report: int) -> subprocess.Popen[bytes]:
    """Start the keeper; ``report`` is its own from then on. When its standard input closes it ends the run."""
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(KEEPER), json.dumps(spec)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(report,),
            cwd="/",
            env={},
            start_new_session=True,
        )
    finally:
        os.close(report)


def _drain(keeper: subprocess.Popen[bytes], give_up: float, watch: Watch) -> tuple[str, int, bytes]:
    """Digest, length and end of what the run prints until it ends; a keeper whose input is closed ends it."""
    assert keeper.stdin is not None
    assert keeper.stdout is not None
    stream = keeper.stdout.fileno()
    digest, size, tail = hashlib.sha256(), 0, b""
    while (left := give_up - time.monotonic()) > 0:
        if watch.stopped() and not keeper.stdin.closed:
            keeper.stdin.close()
        if not select.select([stream], [], [], min(left, NOTICE_S))[0]:
            continue
        piece = os.read(stream, 65_536)
        if not piece:
            break
        watch.hear(piece)
        digest.update(piece)
        size += len(piece)
        tail = (tail + piece)[-TAIL_LIMIT:]
    return digest.hexdigest(), size, tail
