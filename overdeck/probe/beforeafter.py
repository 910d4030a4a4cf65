"""The client's own run of one settings file, kept in adoption certificates: once before the switch, once after."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from overdeck.errors import OverdeckError
from overdeck.files import write_atomically
from overdeck.paths import Places
from overdeck.probe import clients
from overdeck.probe.probing import probe
from overdeck.probe.session import find

CLIENT = "claude"


def run_of(
    places: Places, file: Path, environ: Mapping[str, str], folder: Path, *, allow_network: bool
) -> dict[str, Any] | None:
    """What the model was told while the hooks of ``file`` ran in the client; None where the client is not here.

    All hooks are run: whoever asks has the user's yes. Never raises for what happens in the client: that is said.
    """
    if find(clients.named(CLIENT), environ) is None:
        return None
    try:
        report = probe(
            places, CLIENT, environ=environ, folder=folder, settings=(file,), yes=True, allow_network=allow_network
        )
    except OverdeckError as error:
        return {"not_run": error.message}
    session = report.sessions[0]
    return {
        "version": report.version,
        "isolation": report.isolation,
        "requests": session["model_requests"],
        "calls": session["calls"],
        "hooks_started": sum(hook.started for hook in report.hooks),
        "trouble": list(report.trouble),
    }


def same(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether the model was told the same of every call, in as many requests."""
    return all(key in before and before[key] == after.get(key) for key in ("requests", "calls"))


def attach(certificates: Iterable[Path], before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Put both runs into the certificates. Raises OSError."""
    for path in certificates:
        content = json.loads(path.read_bytes())
        content["in_the_client"] = {
            "client": CLIENT,
            "before": before,
            "after": after,
            "same": same(before, after),
        }
        write_atomically(
            path, json.dumps(content, indent=1, ensure_ascii=False).encode("utf-8", "surrogateescape")
        )
