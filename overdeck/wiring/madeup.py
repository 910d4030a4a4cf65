"""A draft with a made-up reference, which ledger-gate has to refuse: for the doctor, and for a probe in a client."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from overdeck.dispatch.manifest import Manifest

GATE = "ledger-gate"
_SHIPPED = "probe.json"
"""In the module's folder: the write of a draft with a made-up reference, its places left open."""


class Draft(NamedTuple):
    """The write of a draft, as the gate is asked about it; ``key`` is the reference that nobody has."""

    payload: dict[str, Any]
    key: str

    @property
    def file(self) -> Path:
        return Path(self.payload["tool_input"]["file_path"])

    @property
    def content(self) -> str:
        return str(self.payload["tool_input"]["content"])


def why_not(gate: Manifest) -> str:
    """Why no made-up reference can be put to the gate under its config; empty where one can."""
    if not gate.config["ledger"]:
        return f"{GATE} is on, but no ledger is named: it holds nothing"
    if not drafts_of(gate) or gate.config["pattern"]:
        return f"{GATE} has no folder of drafts, or references of the owner's own kind"
    return ""


def drafts_of(gate: Manifest) -> list[str]:
    """The folders of drafts that the config names."""
    drafts = gate.config["drafts"]
    return [str(folder) for folder in drafts] if isinstance(drafts, list) else []


def draft_in(gate: Manifest, folder: Path, cwd: Path) -> Draft:
    """The write of a draft in ``folder``, by a session in ``cwd``. Raises OSError."""
    payload = json.loads(Path(gate.folder, _SHIPPED).read_text("utf-8"))
    asked = payload["tool_input"]
    payload["cwd"] = str(cwd)
    asked["file_path"] = asked["file_path"].replace("{draft}", str(folder))
    return Draft(payload, asked["content"].partition("[@")[2].partition("]")[0])
