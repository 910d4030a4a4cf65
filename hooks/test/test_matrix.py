"""Every shipped module's matrix through the real front, and the prefilter law on mutations of its cases."""

import json
import re
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overdeck.authoring.matrix import placed, read_cases, run_matrix
from overdeck.dispatch.clients import subject_key
from overdeck.dispatch.manifest import Manifest, read_manifest
from overdeck.dispatch.matchers import matches
from overdeck.dispatch.module import Call
from overdeck.dispatch.payload import Searched
from overdeck.dispatch.planning import overlay
from overdeck.paths import shipped

FOLDERS = sorted(path.parent for path in shipped("modules").glob("*/module.toml"))
IDS = [folder.name for folder in FOLDERS]


def test_there_are_modules_to_test() -> None:
    assert set(IDS) >= {"deny", "git-decision", "secret-file", "curl-timeout", "code-size"}


@pytest.mark.parametrize("folder", FOLDERS, ids=IDS)
def test_every_case_gives_its_verdict_through_the_prefilter_and_around_it(folder: Path) -> None:
    result = run_matrix(read_manifest(str(folder)))
    assert result.failures == []
    assert result.ok


def test_a_prefilter_that_hides_a_verdict_fails_the_matrix(tmp_path: Path) -> None:
    folder = tmp_path / "git-decision"
    folder.mkdir()
    for name in ("module.py", "module.toml", "matrix.jsonl"):
        (folder / name).write_bytes(shipped("modules", "git-decision", name).read_bytes())
    toml = re.sub(
        r"literals = \[.*?\]", 'literals = ["force"]', (folder / "module.toml").read_text(), flags=re.DOTALL
    )
    (folder / "module.toml").write_text(toml)
    result = run_matrix(read_manifest(str(folder)))
    assert any("the prefilter changes the answer" in failure for failure in result.failures)


def test_a_wrong_verdict_fails_the_matrix(tmp_path: Path) -> None:
    folder = tmp_path / "secret-file"
    folder.mkdir()
    for name in ("module.py", "module.toml", "matrix.jsonl"):
        (folder / name).write_bytes(shipped("modules", "secret-file", name).read_bytes())
    code = (folder / "module.py").read_text().replace("return deny(", "return ask(").replace(", deny", ", ask")
    (folder / "module.py").write_text(code)
    assert not run_matrix(read_manifest(str(folder))).ok


def test_a_gate_that_always_crashes_is_not_taken_for_one_that_denies(tmp_path: Path) -> None:
    folder = tmp_path / "secret-file"
    folder.mkdir()
    for name in ("module.toml", "matrix.jsonl"):
        (folder / name).write_bytes(shipped("modules", "secret-file", name).read_bytes())
    (folder / "module.py").write_text("def evaluate(call):\n    raise RuntimeError('secrets')\n")
    assert not run_matrix(read_manifest(str(folder))).ok


@cache
def loaded(folder: Path) -> tuple[Any, list[tuple[Manifest, dict[str, Any]]]]:
    """The module's function, and each must-act case's payload with the manifest as that case configures it."""
    manifest = read_manifest(str(folder))
    names: dict[str, Any] = {"__name__": folder.name}
    exec(compile((folder / "module.py").read_text(), str(folder / "module.py"), "exec"), names)
    acting = []
    for case in read_cases(manifest):
        configured = copy(manifest)
        overlay(configured, placed(case.config, "/nonexistent"), "")
        if case.expect != "none":
            acting.append((configured, placed(case.payload, "/nonexistent")))
    return names["evaluate"], acting


PIECES = ["'", '"', "\\", "''", "\\\n", "$'", "\\/", "é", "\u0000", " ", "/", "{", "`", "$(", "\n", "#", "-"]
WITH_LITERALS = [
    folder
    for folder in FOLDERS
    if (manifest := read_manifest(str(folder))).literals or manifest.rule_keys is not None
]


@pytest.mark.parametrize("folder", WITH_LITERALS, ids=[folder.name for folder in WITH_LITERALS])
@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_what_the_prefilter_skips_the_module_would_have_allowed(folder: Path, data: st.DataObject) -> None:
    evaluate, acting = loaded(folder)
    manifest, payload = data.draw(st.sampled_from(acting))
    payload = json.loads(json.dumps(payload))
    tool_input = payload["tool_input"]
    for key, value in list(tool_input.items()):
        if isinstance(value, str) and value:
            for _ in range(data.draw(st.integers(0, 3))):
                at = data.draw(st.integers(0, len(value)))
                cut = data.draw(st.integers(0, 2))
                value = value[:at] + data.draw(st.sampled_from(PIECES)) + value[at + cut :]
            tool_input[key] = value
    raw = json.dumps(tool_input, ensure_ascii=data.draw(st.booleans()))
    event = payload["hook_event_name"]
    literals = manifest.literals_at(event)
    if literals is not None and Searched(raw).may_contain(literals[0]):
        return
    assert matches(manifest.events[event], payload[subject_key(event)])
    call = Call(
        client="claude",
        event=event,
        tool=payload["tool_name"],
        input=tool_input,
        payload=payload,
        subagent=False,
        config=manifest.config,
        state="/nonexistent",
    )
    assert evaluate(call) is None
