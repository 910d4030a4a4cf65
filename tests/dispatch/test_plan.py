"""A plan is used whole or not at all."""

import os
from pathlib import Path

import pytest
from fronts import Front
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overdeck.dispatch.manifest import ManifestError, read_manifest
from overdeck.dispatch.plan import Module, Plan, PlanError, parse, read_plan, trusted


def plan() -> Plan:
    made = Plan()
    made.client, made.event, made.python, made.entry = "claude", "PreToolUse", "/usr/bin/python3", "/x y/entry.py"
    made.state, made.fires, made.calls = "/s", "/s/fires", "/s/calls"
    made.sources = [(1, 2, 3, "/a b/module.toml"), (0, 0, 0, "/absent")]
    made.modules = [
        Module("a", "gate", ["Bash", "?"], main_only=True, literals=["git", ".env"], matcher="Ba.*", folder="/m/a",
               config={"k": ["é", 1]}, timeout_ms=7),
        Module("b", "adviser", ["*"], background=True, literals_in_payload=True, folder="/m/b"),
    ]  # fmt: skip
    return made


def test_a_plan_reads_back_as_it_was_written() -> None:
    raw = plan().encode()
    read = parse(raw)
    assert read.encode() == raw
    assert read.modules[0].config == {"k": ["é", 1]}
    assert read.modules[0].literals == ["git", ".env"]
    assert (read.modules[0].main_only, read.modules[1].background) == (True, True)
    assert read.sources == plan().sources


def test_of_a_plan_the_native_front_has_checked_only_what_survives_is_read() -> None:
    raw = plan().encode()
    read = parse(raw, parse(raw).crc)
    assert (read.sources, read.modules[0].folder) == ([], "")
    assert read.modules[0].literals == ["git", ".env"]
    read.modules[0].complete()
    assert (read.modules[0].folder, read.modules[0].config, read.modules[0].timeout_ms) == (
        "/m/a",
        {"k": ["é", 1]},
        7,
    )


def test_a_plan_other_than_the_one_that_was_checked_is_checked_again() -> None:
    raw = plan().encode()
    read = parse(raw, "00000000")
    assert (read.sources, read.modules[0].folder) == (plan().sources, "/m/a")
    with pytest.raises(PlanError):
        parse(raw.replace(b"/s/fires", b"/t/fires"), "00000000")


@given(st.data())
def test_no_flipped_bit_in_the_details_goes_unseen_in_a_checked_plan(data: st.DataObject) -> None:
    raw = bytearray(plan().encode())
    crc = parse(bytes(raw)).crc
    behind = raw.index(f"crc {crc}\n".encode()) + 13
    at = data.draw(st.integers(behind, len(raw) - 1))
    raw[at] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(PlanError):
        parse(bytes(raw), crc)


@given(st.data())
def test_no_flipped_bit_goes_unseen(data: st.DataObject) -> None:
    raw = bytearray(plan().encode())
    at = data.draw(st.integers(0, len(raw) - 1))
    raw[at] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(PlanError):
        parse(bytes(raw))


@given(st.integers(0, 400))
def test_no_truncation_goes_unseen(length: int) -> None:
    raw = plan().encode()
    if length < len(raw):
        with pytest.raises(PlanError):
            parse(raw[:length])


def test_a_path_with_a_line_break_cannot_forge_a_line() -> None:
    made = plan()
    made.modules[0].folder = "/m\nmodule evil gate - tools=*"
    with pytest.raises(PlanError):
        made.encode()


@pytest.mark.parametrize(("tool", "asked"), [("Bash", True), ("Read", None), (None, True), ("mcp__x__y", None)])
def test_a_regex_matcher_leaves_unknown_tools_to_python(tool: str | None, asked: bool | None) -> None:
    assert plan().modules[0].asked(tool) is asked
    assert plan().modules[1].asked(tool) is True


def test_every_kind_of_change_to_a_source_makes_the_plan_stale(front: Front) -> None:
    folder = front.module("gate", "return None")
    front.install()

    def fresh() -> Plan:
        front.install()
        made = parse(read_plan(f"{front.recipe.plans}/PreToolUse.plan"))
        assert made.stale() == ""
        return made

    made = fresh()
    (folder / "module.toml").write_text((folder / "module.toml").read_text() + "\n")
    assert made.stale().endswith("gate/module.toml")
    made = fresh()
    front.module("other", "return None")
    assert made.stale() == str(front.modules)
    made = fresh()
    front.config.write_text("")
    assert made.stale() == str(front.config)


def test_trust_needs_an_owner_and_a_mode(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch(mode=0o600)
    assert trusted(str(path)) == ""
    path.chmod(0o602)
    assert "writable by everyone" in trusted(str(path))
    path.chmod(0o600)
    assert "No such file" in trusted(str(tmp_path / "none"))
    if os.geteuid() == 0:
        os.chown(path, 12345, 12345)
        assert "owned by uid 12345" in trusted(str(path))


def test_plans_are_kept_by_crc_and_owner_only(front: Front) -> None:
    front.module("gate", "return None")
    front.install()
    made = parse(read_plan(f"{front.recipe.plans}/PreToolUse.plan"))
    kept = front.plans / "history" / f"{made.crc}.plan"
    assert kept.read_bytes() == (front.plans / "PreToolUse.plan").read_bytes()
    assert kept.stat().st_mode & 0o777 == 0o600


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(text=st.text(alphabet='abc=[]"\n.#1 ', max_size=60))
def test_no_manifest_text_does_anything_but_load_or_name_its_fault(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "fuzz"
    folder.mkdir(exist_ok=True)
    (folder / "module.py").touch()
    (folder / "module.toml").write_text(text)
    with pytest.raises(ManifestError, match=r"module\.toml"):
        read_manifest(str(folder))
