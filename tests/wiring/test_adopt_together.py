"""Hooks of one event together: what the client makes of all their answers, and what one call of the front does."""

import json
from pathlib import Path
from typing import Any

import pytest
from adopthome import BASH, AdoptHome, group

from overdeck.wiring.adopt.cases import Case
from overdeck.wiring.adopt.effect import difference
from overdeck.wiring.adopt.merging import merged_difference
from overdeck.wiring.adopt.together import MOST_CASES, chosen


@pytest.fixture
def home(tmp_path: Path) -> AdoptHome:
    return AdoptHome(tmp_path / "home")


def saying(event: str = "PreToolUse", **fields: Any) -> str:
    """A script that gives this answer to everything."""
    answer = {"hookSpecificOutput": {"hookEventName": event, **fields}}
    return f"import sys\nsys.stdin.read()\nprint({json.dumps(answer)!r})\n"


DENY_ONE = {"decision": "deny", "reason": "one"}


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ([], {}, ""),
        ([{"context": "a"}, {"context": "b"}], {"context": "b\na"}, ""),
        ([{"context": "a"}, {"context": "b"}], {"context": "a"}, "context was"),
        ([{"context": "a"}], {"context": "a\na"}, "context was"),
        ([DENY_ONE, {"context": "a"}], {**DENY_ONE, "context": "a"}, ""),
        ([DENY_ONE, {"context": "a"}], DENY_ONE, "context was"),
        ([DENY_ONE, {"decision": "allow", "reason": "fine"}], DENY_ONE, ""),
        ([DENY_ONE, {"decision": "ask", "reason": "hm"}], {"decision": "ask", "reason": "hm"}, "decision was"),
        ([{"decision": "ask"}, {"decision": "allow"}], {"decision": "ask"}, ""),
        ([DENY_ONE, {"decision": "deny", "reason": "two"}], {"decision": "deny", "reason": "two\none"}, ""),
        ([DENY_ONE, {"decision": "deny", "reason": "two"}], DENY_ONE, "reason was"),
        ([{"input": {"a": 1}}, {"input": {"a": 2}}], {"input": {"a": 1}}, ""),
        ([{"input": {"a": 1}}, {"input": {"a": 2}}], {"input": {"a": 2}}, ""),
        ([{"input": {"a": 1}}, {"input": {"a": 2}}], {"input": {"a": 3}}, "input (one of) was"),
        ([{"input": {"a": 1}}], {}, "input (one of) was"),
        ([], {"input": {"a": 1}}, "input (one of) was"),
        (
            [{"input": {"a": 1}}, {"input": {"a": 2}, "decision": "allow"}],
            {"input": {"a": 1}, "decision": "allow"},
            "input (one of) was",
        ),
        ([{"input": {"a": 1}}, DENY_ONE], DENY_ONE, ""),
        ([{"input": {"a": 1}}, DENY_ONE], {**DENY_ONE, "input": {"a": 1}}, "input (one of) was"),
        ([{"stop": "a"}, {"tell": "b"}], {"stop": "a", "tell": "b"}, ""),
        ([{"stop": "a"}], {"tell": "a"}, "tell was"),
        ([{"stop": "a"}], {}, "stop was"),
        (
            [{"other": {"top": {"x": 1}, "specific": {}}}, {"other": {"top": {"x": 2}, "specific": {"y": 3}}}],
            {"other": {"top": {"x": 1}, "specific": {"y": 3}}},
            "",
        ),
        ([{"other": {"top": {"x": 1}, "specific": {}}}], {}, "x (one of) was"),
        ([], {"other": {"top": {"x": 1}, "specific": {}}}, "x (one of) was"),
    ],
)
def test_the_clients_rules_for_several_answers(old: list[Any], new: dict[str, Any], why: str) -> None:
    found = merged_difference(old, new)
    assert found.startswith(why)
    assert bool(found) == bool(why)


def test_of_a_long_text_the_place_where_old_and_new_part_is_shown() -> None:
    same = "the same words " * 100
    shown = difference({"tell": f"{same}OLD{same}"}, {"tell": f"{same}NEW{same}"})
    assert ("OLD" in shown, "NEW" in shown, len(shown) < 500) == (True, True, True)
    assert "NEW" in difference({"tell": "short"}, {"tell": f"NEW{same}"})
    assert difference({}, {"tell": "a"}) == 'tell was nothing, would be "a"'


def test_each_hook_is_heard_at_least_once_and_those_with_most_speakers_come_first() -> None:
    all_three = Case("Stop", "all", b"all")
    own = [[all_three, *(Case("Stop", f"{n}-{i}", b"%d-%d" % (n, i)) for i in range(9))] for n in range(3)]
    found = chosen([*own, [Case("Stop", "rare", b"rare")]])
    assert (found[0], len(found)) == (all_three, MOST_CASES)
    assert b"rare" in [case.raw for case in found]


def test_more_hooks_than_cases_are_all_heard() -> None:
    lonely = [[Case("Stop", str(n), b"%d" % n)] for n in range(MOST_CASES + 5)]
    assert len(chosen(lonely)) == MOST_CASES + 5


def test_deny_context_two_rewrites_and_exit_2_of_one_event_are_replayed_together(home: AdoptHome) -> None:
    deny = (
        "import json, sys\nif 'rm -rf' in sys.stdin.read():\n    print('no', file=sys.stderr)\n    sys.exit(2)\n"
    )
    commands = [
        home.script("refuse.py", deny),
        home.script("context.py", saying(additionalContext="mind the gap")),
        home.script("first.py", saying(permissionDecision="allow", updatedInput={"command": "one"})),
        home.script("second.py", saying(updatedInput={"command": "two"})),
        "echo started >> ~/log.txt",
        "echo STARTED >> ~/log.txt",
    ]
    before = home.wire({"PreToolUse": [group("Bash", *commands)], "Stop": [group("", "exit 0")]})
    hooks = home.adopt("--yes", "--json").data["hooks"]
    assert [hook["kind"] for hook in hooks] == ["equal"] * 7
    by_id = {hook["id"]: hook["together"] for hook in hooks}
    assert by_id["refuse"]["PreToolUse"] >= 3
    assert home.certificate("refuse")["cases_with_the_other_hooks"] == by_id["refuse"]
    assert [hook["together"] for hook in hooks if "Stop" in hook["matchers"]] == [{}]
    answer = home.front("PreToolUse", BASH)["hookSpecificOutput"]
    assert (answer["updatedInput"], answer["additionalContext"]) == ({"command": "one"}, "mind the gap")
    answer = home.front("PreToolUse", {**BASH, "tool_input": {"command": "rm -rf /"}})["hookSpecificOutput"]
    assert (answer["permissionDecision"], answer["additionalContext"]) == ("deny", "mind the gap")
    home.adopt("--undo")
    assert home.settings.read_bytes() == before


MEET = """import json, os, sys, time
if '"echo hi"' in sys.stdin.read():
    mine, other = (os.path.expanduser(f"~/.claude/{name}") for name in ("OWN", "OTHER"))
    open(mine, "w").close()
    end = time.monotonic() + 2
    while not os.path.exists(other) and time.monotonic() < end:
        time.sleep(0.01)
    if os.path.exists(other):
        print(json.dumps({"systemMessage": "started by " + open(f"/proc/{os.getppid()}/comm").read()}))
"""


def test_hooks_that_differ_only_together_stay_and_name_each_other(home: AdoptHome) -> None:
    # alone each finds nobody and is silent; who their parent is, is the one thing that cannot be the same
    one = home.script("one.py", MEET.replace("OWN", "one").replace("OTHER", "two"))
    two = home.script("two.py", MEET.replace("OWN", "two").replace("OTHER", "one"))
    home.wire({"PreToolUse": [group("Bash", one, two, "exit 0")]})
    done = home.adopt("--yes", "--json")
    why = {hook["id"]: hook["why"] for hook in done.data["hooks"]}
    assert [hook["kind"] for hook in done.data["hooks"]] == ["different", "different", "equal"]
    assert why["one"].startswith("beside two at PreToolUse, tell was")
    assert why["two"].startswith("beside one at PreToolUse, tell was")
    assert done.data["adopted"] == ["hook"]
    assert home.certificate("one")["result"] == "different"


def test_a_race_that_the_hooks_have_among_themselves_is_not_held_against_the_switch(home: AdoptHome) -> None:
    racing = "import os, pathlib, sys\nsys.stdin.read()\n"
    racing += "pathlib.Path.home().joinpath('last').write_text(f'NAME {os.urandom(4).hex()}')\n"
    commands = [home.script(f"{name}.py", racing.replace("NAME", name)) for name in ("one", "two")]
    home.wire({"PreToolUse": [group("Bash", *commands)]})
    assert home.adopt("--yes", "--json").data["adopted"] == ["one", "two"]
