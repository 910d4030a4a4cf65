"""What a command's text says about the programs it starts, and what they cost by the model."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from overdeck.bench import command_arm
from overdeck.bench.starts.counter import StartCounter
from overdeck.wiring import costmodel
from overdeck.wiring.commandline import simple_words, started
from overdeck.wiring.settings import Handler
from overdeck.wiring.shells import becomes_its_command


def handler(command: str, args: list[str] | None = None) -> Handler:
    return Handler("Stop", "", "command", command, None if args is None else tuple(args), None, "", Path("x"))


@pytest.mark.parametrize(
    ("command", "programs"),
    [
        ("python3 hook.py", ["python3"]),
        ("A=1 exec node x.js", ["node"]),
        ("[ -f x ] && jq . | grep y; echo done", ["jq", "grep"]),
        ("if true; then foo; fi", ["foo"]),
        ("echo 'a; b' > /tmp/x", []),
        ("foo 2>/dev/null || true", ["foo"]),
        ("'unpaired", ["'unpaired"]),
        ('git commit -m "$(date +%F)"', ["date", "git"]),
        ("case $1 in a) foo ;; esac", ["foo"]),
        ("env -i A=1 foo", ["foo"]),
        ("command -v foo || exit 0", []),
        ("foo # and bar; baz", ["foo"]),
    ],
)
def test_the_programs_of_a_shell_line(command, programs):
    assert [argv[0] for argv in started(handler(command)).programs] == programs


@pytest.mark.parametrize(
    ("command", "args", "starts"),
    [
        ("python3", ["x.py"], 1),
        ("exec python3 x.py", None, 1),
        ("A=1 exec python3 x.py", None, 1),
        ("jq . | grep x", None, 3),
        ("exec uv run x.py", None, 2),
        ("echo $(date)", None, 2),
        ('echo "$(date)" `date`', None, 3),
        ('echo "$(cat x | jq .)"', None, 3),
        ("true", None, 1),
    ],
)
def test_the_processes_a_handler_starts(command, args, starts):
    assert costmodel.chain(handler(command, args))[1] == starts


LINES = [
    "/bin/cat",
    "/bin/cat; exit 0",
    "A=1 /bin/cat",
    "exec /bin/cat",
    "A=1 exec /bin/cat",
    "/bin/true | /bin/cat",
    "/bin/true && /bin/cat",
    "echo $(/bin/cat)",
    'echo "$(/bin/cat)"',
    "command -v cat >/dev/null",
    "[ -f /nonexistent ] || exit 0",
    "/bin/sh -c /bin/cat",
    "exec /bin/sh -c /bin/cat",
    "bash -c /bin/cat",
    "sh -ec 'exec /bin/cat'",
    "bash -c '/bin/true; /bin/true | /bin/cat'",
]


@pytest.fixture(scope="module")
def counter() -> Iterator[StartCounter]:
    if sys.platform != "linux":
        pytest.skip("only Linux counts exactly")
    with StartCounter() as running:
        yield running


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("args", [["-c"], None], ids=["exec form", "shell form"])
def test_the_model_counts_the_processes_that_are_counted(counter, line, args):
    """Whatever /bin/sh is: whether a shell becomes a lone command differs from shell to shell."""
    hook = handler(line) if args is None else handler("/bin/sh", [*args, line])
    counted = counter.count(command_arm("A", ["/bin/sh", "-c", line]), payload=b"", runs=1)
    assert costmodel.chain(hook)[1] == counted.process_starts.high


def test_a_shell_that_a_settings_file_names_by_a_path_of_its_own_is_not_started(tmp_path):
    shell = tmp_path / "bash"
    shell.write_text(f"#!/bin/sh\necho started >{tmp_path}/trace\n")
    shell.chmod(0o755)

    assert not becomes_its_command(str(shell)) and not (tmp_path / "trace").exists()


def test_a_shell_that_is_not_there_becomes_nothing():
    assert not becomes_its_command("/nonexistent/sh")


@pytest.mark.parametrize(
    ("argv", "kinds"),
    [
        (["python3", "x.py"], ("python",)),
        (["/usr/bin/python3.12", "-I", "-S", "x.py"], ("python-isolated",)),
        (["python3", "-IS", "x.py"], ("python-isolated",)),
        (["node", "x"], ("node",)),
        (["./x.py"], ("python",)),
        (["jq", "."], ("native",)),
    ],
)
def test_the_kind_of_a_program_by_its_name(argv, kinds):
    assert costmodel.kinds_of(argv) == kinds


def test_the_kind_of_a_script_by_its_first_line(script):
    assert costmodel.kinds_of([str(script("hook", "#!/usr/bin/env -S python3 -I\n"))]) == ("python",)


def test_a_script_that_names_itself_as_interpreter_ends(script, tmp_path):
    assert costmodel.kinds_of([str(script("loop", f"#!{tmp_path}/loop\n"))]) == ("native",)


def test_many_handlers_take_their_cpu_shared_by_the_cores():
    cost = costmodel.model([handler("python3", ["x"])] * 28, cores=2)

    assert (cost.cpu_ms, cost.wall_ms) == (28 * 38, 14 * 38)


def test_one_handler_takes_its_own_time():
    assert costmodel.model([handler("python3", ["x"])], cores=8).wall_ms == 38


def test_words_are_known_only_where_every_placeholder_is():
    known = {"HOME": "/h", "CLAUDE_PROJECT_DIR": "/p"}

    assert simple_words(handler('"$CLAUDE_PROJECT_DIR"/a ~/b'), known) == ["/p/a", "/h/b"]
    assert simple_words(handler("$OTHER/a"), known) == []
    assert simple_words(handler("a > b"), known) == []
