"""Findings for machines that read them: GitHub's annotations, and SARIF for code scanning."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from overdeck import __version__
from overdeck.wiring.lint.judge import Linted, Spotted
from overdeck.wiring.rules import Rule

_GITHUB = {"error": "error", "warning": "warning", "info": "notice"}
_SARIF = {"error": "error", "warning": "warning", "info": "note"}


def github(linted: Linted) -> list[str]:
    """One workflow command a finding: GitHub shows it at its line of the change."""
    return [
        f"::{_GITHUB[one.rule.severity]} file={_property(_relative(one.file))},line={one.line},"
        f"title={_property(f'overdeck: {one.rule.id}')}::{_message(f'{one.hit.why}. Fix: {one.hit.fix}')}"
        for one in linted.spotted
    ]


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def sarif(linted: Linted, rules: Sequence[Rule]) -> str:
    """A SARIF 2.1.0 document of one run."""
    named = {one.rule.id for one in linted.spotted}
    used = [rule for rule in rules if rule.id in named]
    driver = {
        "name": "overdeck lint",
        "version": __version__,
        "rules": [
            {"id": rule.id, "shortDescription": {"text": rule.id}, "help": {"text": rule.source}} for rule in used
        ],
    }
    run = {"tool": {"driver": driver}, "results": [_result(one) for one in linted.spotted]}
    return json.dumps(
        {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    )


def _result(one: Spotted) -> dict[str, Any]:
    return {
        "ruleId": one.rule.id,
        "level": _SARIF[one.rule.severity],
        "message": {"text": f"{one.hit.why}. Fix: {one.hit.fix}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _uri(one.file)},
                    "region": {"startLine": one.line},
                }
            }
        ],
    }


def _uri(path: Path) -> str:
    """A reference as RFC 3986 has it: a blank, a %, a # or bytes that are no UTF-8 stand in names of files."""
    relative = Path(_relative(path)).as_posix()
    quoted = quote(os.fsencode(relative))
    return f"file://{quoted}" if relative.startswith("/") else quoted


def _relative(path: Path) -> str:
    """The path as seen from here, where it lies below: what a checkout's annotations want."""
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except (ValueError, FileNotFoundError):  # elsewhere, or we are nowhere
        return os.fspath(path)
