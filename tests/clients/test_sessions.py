"""Every pinned client with our entries: one long session, and what came of it.

A client takes seconds to start, so the calls of all tests below are made in one session a client; each call is told
from the others by a word in it.
"""

import json
import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from clientrig import HOMES, MakeRig, Rig, Seen, together
from pinned import found
from waiting import until

from overdeck.probe.clients import NAMES, named
from overdeck.probe.mock.script import DONE, Call, Reply
from overdeck.probe.session import PROMPT

pytestmark = pytest.mark.timeout(300)  # a loaded machine is five times slower

DEADLINE_S = 1.0
LONG_S = 6.0
"""How far a loaded machine may be off."""


def when(word: str, verdict: str) -> str:
    return f"return {verdict} if {word!r} in call.input.get('command', '') else None"


@dataclass(frozen=True)
class Played:
    """A client's long session, in a home that its user moved, and its rig."""

    rig: Rig
    seen: Seen
    calls: dict[str, int]
    """A word → which of the calls it is in, counted in the order they were made."""

    def told(self, word: str) -> str:
        """What the model was told of the call with this word."""
        return self.seen.results[self.calls[word]]

    def made(self, word: str) -> bool:
        """Whether the file of this name is there: every call makes one, where it runs."""
        return self.rig.file(word).exists()


def fill(rig: Rig) -> None:
    """The modules of the long session."""
    rig.module("no-mark", when("denied", "deny('not here')"))
    rig.module("owner", when("asked", "ask('the owner decides')"))
    rig.module("hint", when("advised", "advise('mind the gap')"), cls="adviser")
    rig.module("line", when("told", "tell('for your eyes')"), cls="adviser")
    rig.module("other", when("original", "rewrite({**call.input, 'command': 'touch rewritten'})"), cls="rewriter")
    rig.module("broken", "assert 'crashed' not in call.input.get('command', '')")
    stuck = "while 'slow' in call.input.get('command', ''): pass"
    rig.module("stuck", stuck, cls="adviser", toml=f"timeout_ms = {DEADLINE_S * 1000:.0f}")
    rig.module("odd", "return deny('odd') if call.input.get('command', '')[-5:] in ('file1', 'file3') else None")
    rig.module(
        "files", "return deny('no such file') if 'forbidden' in call.input['file_path'] else None",
        events={"PreToolUse": "Write|Edit"},
    )  # fmt: skip
    size = "return advise(f'saw {len(call.input[\"content\"])}')"
    rig.module("size", size, cls="adviser", events={"PostToolUse": "Write"})
    printed = (
        "if 'tr ' in call.input['command']:\n"
        '    return advise(f\'read {len(call.payload["tool_response"]["stdout"])}\')'
    )
    rig.module("printed", printed, cls="adviser", events={"PostToolUse": "Bash"})
    rig.module("main", "return deny('main only')", toml="main_only = true\nliterals = ['first']")
    rig.module("all", "return deny('everywhere')", toml="literals = ['second']")
    last = (
        "import os\nos.makedirs(call.state, exist_ok=True)\n"
        "open(call.state + '/said', 'w').write(call.payload['last_assistant_message'])"
    )
    rig.module("last", last, cls="observer", events={"Stop": "*"})
    both = "return advise(call.event + ' says hello')"
    rig.module("both", both, cls="adviser", events={"SessionStart": "*", "UserPromptSubmit": "*"})


def subagent(name: str) -> list[Reply | Call]:
    """A call that starts a subagent; none in Gemini CLI, which tells hooks of no subagent."""
    task = {"description": "d", "prompt": "MARKED-TASK go"}
    if name == "codex":  # which ends with its main thread
        spawned = Call("spawn_agent", {"message": "MARKED-TASK go", "task_name": "x"}, "multi_agent_v1")
        return [spawned, Reply("Waited.", delay_s=4)]
    if name == "claude":
        return [Call("Agent", {**task, "subagent_type": "general-purpose"})]
    return [Call("task", {**task, "subagent_type": "general"})] if name == "opencode" else []


@pytest.fixture(scope="module", params=NAMES)
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Played:
    name = request.param
    rig = Rig(named(name), found(name), tmp_path_factory.mktemp(name), moved=True)
    fill(rig)
    rig.install()
    shell, write = rig.client.shell, rig.client.write
    words = ["denied", "asked", "advised", "told", "original", "crashed", "slow", "after"]
    replies: list[Reply | Call] = [shell(f"touch {word}") for word in words]
    lines = ("x" * 99 + "\n") * 10_000
    replies += [write(rig.file("big"), lines), shell(f"head -c {len(lines)} /dev/zero | tr '\\0' x")]
    replies += [write(rig.file("forbidden"), "x\n")]
    replies += [together(*(shell(f"touch file{number}") for number in range(4)))]
    words += ["big", "printed", "forbidden", "file0", "file1", "file2", "file3"]
    if name == "codex":
        patch = "*** Begin Patch\n*** Add File: fine\n+x\n*** Add File: forbidden-too\n+x\n*** End Patch\n"
        in_shell = patch.replace("fine", "in-shell")
        replies += [Call("apply_patch", patch), shell(f"apply_patch <<'EOF'\n{in_shell}EOF")]
        words += ["fine", "in-shell"]
    replies += subagent(name)
    marked = {"MARKED-TASK": [shell("touch first"), shell("touch second"), Reply("Done inside.")]}
    seen = rig.play(*replies, marked=marked, deadline_s=100)
    assert (seen.code, seen.ended) == (0, ""), seen.stderr[-2000:]
    return Played(rig, seen, {word: number for number, word in enumerate(words)})


def test_a_denied_call_does_not_run_and_the_model_reads_the_reason(played: Played) -> None:
    assert "not here" in played.told("denied")
    assert not played.made("denied")
    assert played.made("after")


def test_all_this_is_so_in_a_home_that_the_user_moved(played: Played) -> None:
    assert list(played.rig.variables) == [HOMES[played.rig.client.name]]
    usual = played.rig.settings
    assert not usual.exists() or "overdeck" not in usual.read_text()


def test_an_ask_is_a_refusal_with_its_reason_where_nobody_can_answer(played: Played) -> None:
    assert "the owner decides" in played.told("asked")
    assert not played.made("asked")


def test_advice_before_a_tool_reaches_the_model_where_the_client_can_carry_it(played: Played) -> None:
    assert played.seen.heard("mind the gap") == (played.rig.client.name != "gemini")
    assert played.made("advised")


def test_what_the_user_is_told_never_reaches_the_model(played: Played) -> None:
    assert played.made("told")
    assert not played.seen.heard("for your eyes")


def test_a_rewritten_call_runs_as_it_was_rewritten(played: Played) -> None:
    assert played.made("rewritten")
    assert not played.made("original")


def test_a_gate_that_crashes_denies(played: Played) -> None:
    assert "could not decide" in played.told("crashed")
    assert not played.made("crashed")


def test_an_adviser_that_hangs_costs_its_deadline_and_no_more(played: Played) -> None:
    times = [later - earlier for earlier, later in pairwise(played.seen.at)]
    assert DEADLINE_S <= times[played.calls["slow"]] < DEADLINE_S + LONG_S, times
    assert played.made("slow")


def test_a_megabyte_that_is_written_is_judged_whole_and_the_advice_on_it_arrives(played: Played) -> None:
    assert played.seen.heard("saw 1000000")
    assert played.rig.file("big").stat().st_size == 1_000_000


def test_a_megabyte_of_output_is_judged_as_far_as_the_client_hands_it_over(played: Played) -> None:
    """Each of them cuts what a command printed before it asks a hook, to 30 to 60 KB."""
    assert "xxx" in played.told("printed")
    lengths = [int(text) for turn in played.seen.turns for text in re.findall(r"read (\d+)", json.dumps(turn))]
    assert lengths
    assert min(lengths) > 20_000


def test_a_gate_for_files_knows_the_clients_own_tools(played: Played) -> None:
    assert "no such file" in played.told("forbidden")
    assert not played.made("forbidden")


def test_each_of_several_calls_at_once_gets_its_own_verdict(played: Played) -> None:
    assert [played.made(f"file{number}") for number in range(4)] == [True, False, True, False]
    assert ["odd" in played.told(f"file{number}") for number in range(4)] == [False, True, False, True]


def test_context_of_a_new_session_and_of_a_prompt_reach_the_model(played: Played) -> None:
    assert played.seen.heard("SessionStart says hello")
    assert played.seen.heard("UserPromptSubmit says hello")


def test_a_subagents_call_is_asked_of_every_module_but_those_of_the_main_thread(played: Played) -> None:
    if played.rig.client.name == "gemini":
        assert subagent("gemini") == []
        return
    assert "MARKED-TASK" in played.seen.conversations
    assert played.made("first")
    assert not played.made("second")


def test_the_end_of_a_turn_hands_on_what_the_model_said_last(played: Played) -> None:
    said = played.rig.home.state / "modules" / "last" / "said"
    until(lambda: said.exists() and said.read_text() == DONE.text)  # OpenCode ends while its hook still runs


@pytest.mark.parametrize("word", ["fine", "in-shell"])
def test_a_patch_of_several_files_is_judged_file_by_file_wherever_it_stands(played: Played, word: str) -> None:
    if word not in played.calls:
        assert played.rig.client.name != "codex"  # the one client that has apply_patch
        return
    assert "no such file" in played.told(word)
    assert not played.made(word)
    assert not played.made("forbidden-too")


@pytest.fixture(params=NAMES)
def rig_of(request: pytest.FixtureRequest, tmp_path: Path) -> Rig:
    return Rig(named(request.param), found(request.param), tmp_path)


@pytest.mark.parametrize(
    "rig_of", ["claude", "codex", "gemini"], indirect=True
)  # OpenCode's plugin cannot keep a turn going
def test_a_turn_that_is_kept_going_goes_on_with_the_reason_and_ends_by_our_cap(rig_of: Rig) -> None:
    rig_of.module("never", "return keep_going('the tests are red')", events={"Stop": "*"})
    heard = rig_of.room.root / "heard"
    ear = f"open({str(heard)!r}, 'a').write(call.payload['prompt'] + '\\n')"
    rig_of.module("ear", ear, cls="observer", events={"UserPromptSubmit": "*"})
    rig_of.install()
    seen = rig_of.play(deadline_s=100)
    assert (seen.ended, len(seen.turns)) == ("", 6)
    assert seen.heard("the tests are red")
    assert heard.read_text() == f"{PROMPT}\n"  # Gemini CLI hands the reason back as a prompt: it is nobody's


def test_codex_is_asked_about_a_patch_in_a_shell_command_where_only_a_gate_for_files_is_on(rig: MakeRig) -> None:
    codex = rig("codex")
    codex.module("files", "return deny('no such file')", events={"PreToolUse": "Write|Edit"})
    codex.install()
    patch = "*** Begin Patch\n*** Add File: in-shell\n+x\n*** End Patch\n"
    seen = codex.play(codex.client.shell(f"cd . && apply_patch <<'EOF'\n{patch}EOF"))
    assert "no such file" in seen.results[0]
    assert not codex.file("in-shell").exists()
