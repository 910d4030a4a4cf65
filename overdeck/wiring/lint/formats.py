"""Findings for machines that read them: GitHub's annotations, and SARIF for code scanning."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from overdeck import __version__
from overdeck.wiring.lint.judge import Linted, Spotted
from overdeck.wiring.rules import Rule

_GITHUB = {"error": "error", "warning": "warning", "info": "notice"}
_SARIF = {"error": "error", "warning": "warning", "info": "note"}


def github(linted: Linted) -> list[str]:
    """One workflow command a finding: GitHub shows it at its line of the change."""
    return [
        f"::{_GITHUB[one.finding.severity]} file={_property(_relative(one.file))},line={one.line},"
        f"title={_property(f'overdeck: {one.finding.rule}')}::{_message(f'{one.finding.why}. Fix: {one.finding.fix}')}"
        for one in linted.spotted
    ]


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def sarif(linted: Linted, rules: Sequence[Rule]) -> str:
    """A SARIF 2.1.0 document of one run."""
    named = {one.finding.rule for one in linted.spotted}
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
        "ruleId": one.finding.rule,
        "level": _SARIF[one.finding.severity],
        "message": {"text": f"{one.finding.why}. Fix: {one.finding.fix}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": Path(_relative(one.file)).as_posix()},
                    "region": {"startLine": one.line},
                }
            }
        ],
    }


def _relative(path: Path) -> str:
    """The path as seen from here, where it lies below: what a checkout's annotations want."""
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except ValueError:
        return os.fspath(path)
