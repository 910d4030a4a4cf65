"""Adopted hooks through the real front: Python in the fork, everything else started, both as the client would."""

import ast
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fronts import Front, bash, compiled, recorded
from waiting import until

from overdeck.authoring.fleet import interpreter

HOOK = """import json, os, sys
call = json.load(sys.stdin)
command = call["tool_input"]["command"]
{body}
"""


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Path | None:
    return compiled(tmp_path_factory.mktemp("native"), "-O1") if shutil.which("cc") else None


@pytest.fixture(params=["twin", "native"])
def front(request: pytest.FixtureRequest, tmp_path: Path, native: Path | None) -> Front:
    if request.param == "native" and native is None:
        pytest.skip("no C compiler here, so there is no native front to test")
    front = Front(tmp_path / "fleet", native=native if request.param == "native" else None)
    front.config.write_text("packs = []\n")
    return front


def hook(front: Front, id: str, lines: list[str], *, events: str = 'PreToolUse = "Bash"', toml: str = "") -> None:
    folder = front.user / id
    folder.mkdir(mode=0o700)
    (folder / "module.toml").write_text(
        f'id = "{id}"\nclass = "adopted"\n{toml}\n[events]\n{events}\n[adopted]\n' + "\n".join(lines) + "\n"
    )


def python(front: Front, id: str, body: str, *args: str, text: str = "", line: str = "", **more: Any) -> Path:
    """A Python hook as ``overdeck adopt`` writes it: run in the fork. ``line``: how the shell form calls it."""
    script = front.root / f"{id}.py"
    script.write_text(text or HOOK.format(body=body))
    words = {
        **({"shell": line} if line else {"command": [str(interpreter()), str(script), *args]}),
        "script": str(script),
        "real": str(script),
        "argv0": str(script),
        "args": list(args),
        "python": str(interpreter()),
        "executable": sys.executable,
        "path": [path for path in sys.path if path.endswith(("lib-dynload", f"python3.{sys.version_info[1]}"))],
    }
    hook(front, id, [f"{key} = {json.dumps(value)}" for key, value in words.items()], **more)
    return script


def shell(front: Front, id: str, line: str, **more: Any) -> None:
    hook(front, id, [f"shell = {json.dumps(line)}"], **more)


def tell(expression: str) -> str:
    return f'print(json.dumps({{"systemMessage": str({expression})}}))'


def told(front: Front, payload: dict[str, Any] | None = None, **call: Any) -> str:
    return front.call(payload or bash("ls"), **call).answer.get("systemMessage", "")


def test_a_script_runs_in_the_fork_and_no_program_is_started(front: Front) -> None:
    python(front, "h", tell("os.getppid() and __import__('pathlib').Path('/proc/self/cmdline').read_bytes()"))
    front.install()
    assert "PreToolUse" in told(front)


def test_it_sees_its_arguments_its_name_and_itself(front: Front) -> None:
    script = python(front, "h", tell("[sys.argv, __file__, __name__, sys.path[0], sys.executable]"), "a", "b c")
    front.install()
    expected = [[str(script), "a", "b c"], str(script), "__main__", str(script.parent), sys.executable]
    assert told(front) == str(expected)


def test_nothing_of_overdeck_is_to_be_seen(front: Front) -> None:
    seen = "[n for n in sys.modules if 'overdeck' in n] + [p for p in sys.path if os.path.exists(p + '/overdeck')]"
    python(front, "h", tell(seen))
    front.install()
    assert told(front) == "[]"


def test_it_keeps_the_environment_that_other_modules_do_not_see(front: Front) -> None:
    python(front, "h", tell("os.environ.get('API_TOKEN')"))
    shell(front, "s", 'printf \'{"systemMessage": "%s"}\' "$API_TOKEN"')
    front.module("m", "import os\nreturn advise(str(os.environ.get('API_TOKEN')))")
    front.config.write_text('packs = ["guards"]\n')
    front.install()
    reply = front.call(bash("ls"), env={"API_TOKEN": "t"})
    assert (reply.answer["systemMessage"], reply.context) == ("t\nt", "[m] None")


def test_its_pwd_is_what_the_shell_before_it_would_have_made_of_it(front: Front, tmp_path: Path) -> None:
    python(front, "h", tell("[os.environ.get('PWD'), os.getcwd()]"), line="python3 h.py")
    shell(front, "s", 'printf \'{"systemMessage": "%s"}\' "$PWD"')
    front.install()
    here = str(Path(ast.literal_eval(told(front).splitlines()[0])[1]))
    link = tmp_path / "link"
    link.symlink_to(here)
    for given, seen in (("/none", here), ("/", here), (".", here), (str(link), str(link)), (here, here)):
        in_the_fork, in_a_shell = told(front, env={"PWD": given}).splitlines()
        assert (ast.literal_eval(in_the_fork), in_a_shell) == ([seen, here], seen)


def test_without_a_shell_its_pwd_is_the_clients(front: Front) -> None:
    python(front, "h", tell("os.environ.get('PWD')"))
    front.install()
    assert told(front, env={"PWD": "/none"}) == "/none"


def test_a_variable_that_moves_python_makes_it_start_as_before(front: Front) -> None:
    python(front, "h", tell("[os.environ.get('PYTHONPATH'), '/none' in sys.path]"))
    front.install()
    assert told(front, env={"PYTHONPATH": "/none"}) == "['/none', True]"


def test_its_stdin_is_the_very_bytes_and_a_socket(front: Front) -> None:
    text = (
        "import hashlib, os, stat, sys\nraw = sys.stdin.buffer.read()\n"
        "sys.stderr.write(f'{hashlib.sha256(raw).hexdigest()} {stat.S_ISSOCK(os.fstat(0).st_mode)}')\nsys.exit(2)\n"
    )
    python(front, "h", "", text=text)
    shell(front, "s", "sha256sum | cut -c1-64 >&2; [ -S /dev/stdin ] && echo True >&2; exit 2")
    front.install()
    for command in ("ls é", "x" * 3_000_000):
        raw = json.dumps(bash(command), ensure_ascii=False).encode() + b"\n"

        seen = hashlib.sha256(raw).hexdigest()
        assert front.call(raw).reason == f"{seen} True\n{seen}\nTrue"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("print('r', file=sys.stderr); sys.exit(2)", "r"),
        ("print('r', file=sys.stderr); os._exit(2)", "r"),
        ("print('r', file=sys.stderr); raise SystemExit(2)", "r"),
        ("import atexit; atexit.register(lambda: print('r', file=sys.stderr)); sys.exit(2)", "r"),
        ("import threading; threading.Timer(0.05, lambda: print('r', file=sys.stderr)).start(); sys.exit(2)", "r"),
        ("exit(2)", "No stderr output"),
        ("sys.exit(0)", ""),
        ("sys.exit('a text')", ""),
        ("1 / 0", ""),
        ("os.kill(os.getpid(), 9)", ""),
    ],
)
def test_every_way_to_end_is_read_as_the_client_reads_it(front: Front, body: str, reason: str) -> None:
    python(front, "h", body)
    front.install()
    reply = front.call(bash("ls"))
    assert (reply.decision, reply.reason) == (("deny", reason) if reason else ("", ""))


def test_a_crash_is_silent_and_kept_with_its_traceback(front: Front) -> None:
    python(front, "h", "1 / 0")
    front.install()
    assert front.call(bash("ls")).stdout == ""
    assert front.errors("h")[0]["trace"].startswith('Traceback (most recent call last):\n  File "')
    assert "adopted.py" not in front.errors("h")[0]["trace"]


def test_a_script_that_is_gone_blocks_as_it_did_before(front: Front) -> None:
    script = python(front, "h", "pass")
    front.install()
    script.unlink()
    assert front.call(bash("ls")).decision == "deny"


def test_a_changed_script_is_run_as_it_is_now(front: Front) -> None:
    script = python(front, "h", tell("'old'"))
    front.install()
    plan = (front.plans / "PreToolUse.plan").read_bytes()
    script.write_text(script.read_text().replace("old", "new"))
    assert told(front) == "new"
    assert (front.plans / "PreToolUse.plan").read_bytes() != plan


def test_relative_imports_of_a_sibling_work(front: Front) -> None:
    (front.root / "sibling.py").write_text("WORD = 'from beside'\n")
    python(front, "h", "import sibling\n" + tell("sibling.WORD"))
    front.install()
    assert told(front) == "from beside"


def test_deny_of_one_context_of_another_and_a_gate_are_one_answer(front: Front) -> None:
    python(front, "a", "print('no', file=sys.stderr); sys.exit(2)")
    shell(front, "b", 'echo \'{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"c"}}\'')
    front.module("g", "return deny('gate')")
    front.config.write_text('packs = ["guards"]\n')
    front.install()
    reply = front.call(bash("ls"))
    assert (reply.decision, reply.reason, reply.context) == ("deny", "[g] gate\nno", "c")


def test_what_an_adopted_hook_makes_of_the_input_must_pass_the_gates(front: Front) -> None:
    rewrite = '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"forbidden"}}}'
    shell(front, "r", f"echo '{rewrite}'")
    front.module(
        "g",
        "return deny('gate') if 'forbidden' in call.input['command'] else None",
        toml='literals = ["forbidden"]',
    )
    front.config.write_text('packs = ["guards"]\n')
    front.install()
    reply = front.call(bash("ls"))
    assert (reply.decision, "updatedInput" in reply.specific) == ("deny", False)


def test_fields_no_verdict_stands_for_are_passed_on(front: Front) -> None:
    answer = '{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":{"stdout":"x"}}}'
    shell(front, "h", f"echo '{answer}'", events='PostToolUse = "Bash"')
    front.install()
    assert front.call(recorded("claude-code/PostToolUse.Bash")).answer == json.loads(answer)


def test_an_answer_lost_to_the_client_is_lost_here_and_the_reason_kept(front: Front) -> None:
    shell(front, "h", """echo '{"continue": "false", "decision": "block"}'""")
    front.install()
    assert front.call(bash("ls")).stdout == ""
    assert "continue is not a bool" in front.errors("h")[0]["cause"]


def test_past_its_timeout_what_it_said_does_not_count(front: Front) -> None:
    shell(front, "h", "echo no >&2; sleep 30; exit 2", toml="timeout_ms = 300")
    front.install()
    assert front.call(bash("ls")).stdout == ""
    assert front.calls()[0]["ran"]["h"]["end"] == "timeout"


def test_a_timeout_beyond_the_usual_total_is_carried_over(front: Front) -> None:
    shell(front, "h", "exit 0", toml="timeout_ms = 45000")
    front.install()
    assert b"total-deadline-ms 45000" in (front.plans / "PreToolUse.plan").read_bytes()


def test_what_it_leaves_running_lives_on(front: Front) -> None:
    late = front.root / "late"
    shell(
        front,
        "h",
        f"(while [ ! -e {front.root}/go ]; do sleep 0.02; done; touch {late}) >/dev/null 2>&1 </dev/null &",
    )
    front.install()
    front.call(bash("ls"))
    (front.root / "go").touch()
    until(late.exists)


def test_an_async_one_is_not_waited_for(front: Front) -> None:
    done = front.root / "done"
    line = f"cat > /dev/null; while [ ! -e {front.root}/go ]; do sleep 0.02; done; touch {done}; echo '{{}}'"
    shell(front, "h", line, toml="background = true\ntimeout_ms = 20000")
    front.install()
    assert front.call(bash("ls")).stdout == ""
    assert not done.exists()
    (front.root / "go").touch()
    until(done.exists)


def test_a_projects_hook_is_silent_in_another_project(front: Front) -> None:
    hook(front, "h", ['shell = "echo no >&2; exit 2"', 'project = "/p/one"'])
    front.install()
    assert front.call(bash("ls"), env={"CLAUDE_PROJECT_DIR": "/p/two"}).decision == ""
    assert front.call(bash("ls"), env={"CLAUDE_PROJECT_DIR": "/p/one"}).decision == "deny"


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([], "needs shell"),
        (["shell = 5"], "must be a str"),
        (['shell = "x"', "surprise = 1"], "unknown key 'surprise'"),
        (['shell = "x"', 'script = "x.py"'], "must be absolute"),
    ],
)
def test_a_manifest_that_says_it_wrong_is_refused(tmp_path: Path, lines: list[str], why: str) -> None:
    from overdeck.dispatch.manifest import ManifestError, read_manifest

    front = Front(tmp_path / "fleet")
    hook(front, "h", lines)
    with pytest.raises(ManifestError, match=why):
        read_manifest(str(front.user / "h"), user=True)


@pytest.fixture(autouse=True)
def _not_for_all() -> Iterator[None]:
    """The umask of a user: scripts that others may write are started, not loaded."""
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_a_permission_that_one_hook_refuses_is_refused_in_any_order(front: Front, order: tuple[str, str]) -> None:
    refusal = {"behavior": "deny", "message": "no", "interrupt": True}
    for id, decision in zip(order, (refusal, {"behavior": "allow"}), strict=True):
        answer = json.dumps({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}})
        shell(front, id, f"echo '{answer}'", events='PermissionRequest = "Bash"')
    front.install()
    assert front.call({**bash("ls"), "hook_event_name": "PermissionRequest"}).specific["decision"] == refusal


def test_what_it_said_is_a_fire_of_the_kind_act(front: Front) -> None:
    shell(front, "h", "exit 2")
    shell(front, "quiet", "exit 0")
    front.install()
    front.call(bash("ls"))
    assert [(line["module"], line["action"]) for line in front.fires()] == [("h", "act")]


def test_its_code_is_compiled_by_its_own_future_lines(front: Front) -> None:
    python(front, "h", "def f(a: 1 + 1): pass\n" + tell("f.__annotations__"))
    front.install()
    assert told(front) == "{'a': 2}"
