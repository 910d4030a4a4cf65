"""The native front and its Python twin decide alike, and neither accepts what ``json.loads`` does not.

The native front is built with the address and undefined-behaviour sanitizers and prints what it decided.
"""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from fronts import compiled
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overdeck.dispatch.matchers import routes
from overdeck.dispatch.payload import Payload
from overdeck.dispatch.plan import Module, Plan

SANITIZED = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


@pytest.fixture(scope="session")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("probe"), *SANITIZED, door=Path(__file__).resolve().parent / "probe.c")


def decided(probe: Path, folder: Path, plan: Plan, raw: bytes) -> tuple[str, set[str]]:
    """("whole" or "broken", the ids of the modules that may act), as the native front sees it."""
    path = folder / "PreToolUse.plan"
    path.write_bytes(plan.encode())
    path.chmod(0o600)
    done = subprocess.run(
        [str(probe), "PreToolUse", "--plan", str(folder)], input=raw, capture_output=True, check=False, env={}
    )
    assert done.returncode == 0 and not done.stderr, done.stderr.decode("utf-8", "replace")[-3000:]
    word, *ids = done.stdout.decode().split()
    return word, set(ids)


def twin(plan: Plan, payload: Payload) -> set[str]:
    """The same from the Python side."""
    top = payload.top
    tool = top.get("tool_name")
    found = set()
    for m in plan.modules:
        if m.main_only and "agent_id" in top:
            continue
        if m.asked(tool if isinstance(tool, str) else None) is False:
            continue
        if not m.literals or payload.searched(m.literals_in_payload).may_contain(m.literals):
            found.add(m.id)
    return found


WORDS = st.text(alphabet="gitab-._9", min_size=1, max_size=6)
MATCHERS = st.sampled_from(["", "*", "Bash", "Bash|Edit", "Read", "^Ba", "mcp__x__y", "Task"])


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    plan = Plan()
    plan.client, plan.event, plan.python, plan.entry = "claude", "PreToolUse", "/python", "/entry.py"
    plan.state, plan.fires, plan.calls = "/nowhere", "/nowhere/fires", "/nowhere/calls"
    for number in range(draw(st.integers(0, 6))):
        matcher = draw(MATCHERS)
        module = Module(f"m{number}", draw(st.sampled_from(["gate", "adviser"])), routes("PreToolUse", matcher))
        module.main_only = draw(st.booleans())
        module.literals = draw(st.lists(WORDS, max_size=4))
        module.literals_in_payload = draw(st.integers(0, 4)) == 0
        plan.modules.append(module)
    return plan


TEXTS = st.text(alphabet="gitab-._9 \n\t'\"\\/$`éu0", max_size=40)
FILLERS = st.sampled_from(
    ["", "x" * 17_000, "def f():\n    return 'a b'\n" * 900, "\\\"'" * 6000, "é" * 9000, "gi t-" * 4000]
)


@st.composite
def payloads(draw: st.DrawFn) -> dict[str, Any]:
    made: dict[str, Any] = {}
    tools = st.sampled_from(["Bash", "Edit", "Read", "mcp__x__y", "Agent", "Unknown", "", 5, None])
    for key in draw(st.permutations(["tool_name", "tool_input", "agent_id", "session_id", "other"])):
        if draw(st.integers(0, 4)) == 0:
            continue
        if key == "tool_name":
            made[key] = draw(tools)
        elif key == "tool_input":
            filler = draw(FILLERS)
            made[key] = draw(
                st.one_of(
                    st.builds(lambda a, b, filler=filler: {"command": a + filler + b}, TEXTS, TEXTS),
                    st.builds(lambda a: {"tool_name": a, "x": [{"tool_input": a}]}, TEXTS),
                    TEXTS,
                    st.none(),
                )
            )
        elif key == "other":
            made[draw(TEXTS)] = draw(st.recursive(TEXTS | st.floats(allow_nan=False), st.lists, max_leaves=5))
        else:
            made[key] = draw(TEXTS)
    return made


@settings(
    max_examples=250,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(plan=plans(), payload=payloads(), ascii_only=st.booleans(), indent=st.sampled_from([None, 1]))
def test_both_fronts_let_the_same_modules_act(
    probe: Path, tmp_path: Path, plan: Plan, payload: dict[str, Any], ascii_only: bool, indent: int | None
) -> None:
    raw = json.dumps(payload, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "surrogatepass")
    word, ids = decided(probe, tmp_path, plan, raw)
    parsed = Payload(raw)
    assert parsed.problem == ""
    if any("\\" in json.dumps(key, ensure_ascii=ascii_only)[1:-1] for key in payload):
        assert word == "broken", "an escaped key may be any key: left to Python"
    else:
        assert (word, ids) == ("whole", twin(plan, parsed))


@pytest.mark.parametrize("word", ["q", "rm", "-j", "aq", "qa", "rmq"])
@pytest.mark.parametrize("where", ["start", "middle", "end", "nowhere"])
def test_a_short_word_is_found_wherever_it_stands_in_a_long_text(
    probe: Path, tmp_path: Path, word: str, where: str
) -> None:
    filler = "re mi na - j r m " * 6_000
    text = {"start": word + filler, "middle": filler + word + filler, "end": filler + word, "nowhere": filler}[
        where
    ]
    plan = plan_with_gate()
    plan.modules[0].literals = [word]
    raw = json.dumps({"tool_name": "Bash", "tool_input": text}).encode()
    found, ids = decided(probe, tmp_path, plan, raw)
    assert (found, ids) == ("whole", twin(plan, Payload(raw)))
    assert bool(ids) is (where != "nowhere")


def test_a_second_search_has_as_much_room_as_the_first(probe: Path, tmp_path: Path) -> None:
    plan = plan_with_gate()
    plan.modules.append(Module("whole", "gate", ["*"], literals_in_payload=True))
    for number, module in enumerate(plan.modules):
        module.literals = [f"x{number}{word:05}y".ljust(51, "z") for word in range(400)]  # 20,000 pairs of 32,768
    raw = json.dumps({"tool_name": "Bash", "tool_input": "re mi na " * 6_000}).encode()
    assert decided(probe, tmp_path, plan, raw) == ("whole", set())


DAMAGE = [
    b"", b"\\", b'"', b"\\u", b"\\ud800", b"{", b"}", b"[", b"]", b",", b":", b"\x00", b"\xff", b"\xc3", b"\xc0\xaf",
    b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"-", b"01", b"1e5", b"1.", b"NaN", b"tru", b"\x1f", b" ", b"\n",
]  # fmt: skip


@settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(payload=payloads(), data=st.data())
def test_the_native_front_accepts_nothing_that_json_refuses(
    probe: Path, tmp_path: Path, payload: dict[str, Any], data: st.DataObject
) -> None:
    raw = bytearray(json.dumps(payload, ensure_ascii=data.draw(st.booleans())).encode("utf-8", "surrogatepass"))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(raw)))
        cut = data.draw(st.integers(0, 3))
        raw[at : at + cut] = data.draw(st.sampled_from(DAMAGE))
    word, ids = decided(probe, tmp_path, plan_with_gate(), bytes(raw))
    try:
        expected = json.loads(bytes(raw).decode("utf-8"))
    except ValueError:
        expected = None
    if word == "whole":
        assert isinstance(expected, dict)
    if not isinstance(expected, dict):
        assert (word, ids) == ("broken", {"gate"})


def plan_with_gate() -> Plan:
    plan = Plan()
    plan.client, plan.event, plan.python, plan.entry = "claude", "PreToolUse", "/python", "/entry.py"
    plan.state, plan.fires, plan.calls = "/nowhere", "/nowhere/fires", "/nowhere/calls"
    plan.modules = [Module("gate", "gate", ["*"], literals=["never-in-there"])]
    return plan


@pytest.mark.parametrize("depth", [499, 500, 5000])
def test_depth_beyond_the_native_fronts_is_left_to_python(probe: Path, tmp_path: Path, depth: int) -> None:
    raw = b'{"a":' + b"[" * depth + b"]" * depth + b"}"
    word, _ = decided(probe, tmp_path, plan_with_gate(), raw)
    assert word == ("whole" if depth < 500 else "broken")


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_plan_is_never_used_and_never_hurts(probe: Path, tmp_path: Path, data: st.DataObject) -> None:
    raw = bytearray(plan_with_gate().encode())
    kind = data.draw(st.sampled_from(["flip", "cut", "insert"]))
    at = data.draw(st.integers(0, len(raw) - 1))
    if kind == "flip":
        raw[at] ^= 1 << data.draw(st.integers(0, 7))
    elif kind == "cut":
        del raw[at:]
    else:
        raw[at:at] = data.draw(st.binary(min_size=1, max_size=20))
    sealed = plan_with_gate().encode()
    path = tmp_path / "PreToolUse.plan"
    path.write_bytes(bytes(raw))
    path.chmod(0o600)
    done = subprocess.run(
        [str(probe), "PreToolUse", "--plan", str(tmp_path)], input=b"{}", capture_output=True, check=False, env={}
    )
    behind = sealed.index(b"\ncrc ") + 14
    untouched = kind == "insert" and bytes(raw)[:behind] == sealed[:behind]
    assert done.returncode == (0 if untouched or at >= behind else 1), done.stderr
    assert not done.stderr
