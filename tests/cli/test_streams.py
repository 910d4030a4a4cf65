"""Streams, folders and words of any kind around a command: its exit code and its errors stay what they are."""

import errno
import fcntl
import json
import os
import pty
import struct
import subprocess
import termios
from pathlib import Path

import pytest
from homes import Home

from overdeck.cli.output import envelope
from overdeck.cli.streams import printable
from overdeck.process import argv_of

DIFFERS = ("ab", "true", "false", "--pairs", "8", "--no-starts")
"""Invalid, exit 4, and it narrates."""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def through_shell(
    home: Home, redirection: str, *words: str, **variables: str
) -> subprocess.CompletedProcess[bytes]:
    """The command with ``redirection``, as a shell makes it."""
    return subprocess.run(
        ["/bin/bash", "-c", f'"$@" {redirection}', "sh", *argv_of(words[0]), *words[1:]],
        cwd=home.root,
        env=home.environment(**variables),
        capture_output=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full", "2> >(exec true)", "<&- 2>&-"])
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("hookbench", *DIFFERS), 4),
        (("hookbench", "ab", "true", "true", "--pairs", "8", "--no-starts"), 0),
        (("overdeck", "hooks", "show", "nothing"), 3),
        (("overdeck", "nothing"), 2),
    ],
    ids=["rejected", "ok", "not found", "usage"],
)
def test_the_exit_code_does_not_hang_on_a_stderr_that_takes_nothing(home, redirection, words, code):
    ended = through_shell(home, redirection, *words)
    assert ended.returncode == code
    assert b"Traceback" not in ended.stdout


def test_a_stdout_that_was_closed_is_told_like_one_that_is_full(home):
    ended = through_shell(home, ">&-", "overdeck", "hooks", "list")
    assert ended.returncode == 2
    assert b"error: standard output cannot be written" in ended.stderr
    assert b"Traceback" not in ended.stderr


def test_no_file_of_ours_becomes_a_stream_that_was_closed(home):
    ended = through_shell(home, "<&- >&- 2>&-", "hookbench", *DIFFERS, "--raw", "raw.jsonl")
    assert ended.returncode in (2, 4)
    lines = (home.root / "raw.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["kind"] == "plan"


@pytest.mark.parametrize(
    "words",
    [
        ("hookbench", "ab", "true", "true"),
        ("overdeck", "audit"),
        ("overdeck", "hooks", "list"),
        ("hookbench", "starts", "true"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_a_working_directory_that_is_gone_is_no_bug_of_ours(home, words):
    gone = home.root / "gone"
    gone.mkdir()
    ended = subprocess.run(
        ["/bin/sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh", *argv_of(words[0]), *words[1:]],
        cwd=gone,
        env=home.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode in (0, 2), ended.stderr
    assert "Traceback" not in ended.stderr and "bug" not in ended.stderr
    if ended.returncode == 2:
        assert "the working directory is gone" in ended.stderr and "next: cd " in ended.stderr


@pytest.mark.parametrize("columns", [1, 2, 5])
@pytest.mark.parametrize("words", [("ab", "true", "true", "--pairs", "8", "--no-starts"), ("starts", "true")])
def test_a_terminal_of_hardly_any_columns_gets_the_report_all_the_same(home, words, columns):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen(
        [*argv_of("hookbench"), *words],
        cwd=home.root,
        env=home.environment(TERM="xterm", COLUMNS=str(columns)),
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
    ) as running:
        os.close(theirs)
        said = _all_of(ours)
    assert running.returncode == 0
    assert "true" in said


def _all_of(terminal: int) -> str:
    said = b""
    while True:
        try:
            piece = os.read(terminal, 1 << 16)
        except OSError as over:
            assert over.errno == errno.EIO  # how a terminal ends on Linux
            piece = b""
        if not piece:
            os.close(terminal)
            return said.decode()
        said += piece


@pytest.mark.parametrize("as_json", [(), ("--json",)], ids=["people", "json"])
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("hookbench", "ab", "echo \udcff", "echo \udcff", "--pairs", "8", "--no-starts"), 0),
        (("hookbench", "ab", "\udcff", "true", "--pairs", "8", "--no-starts"), 4),
        (("hookbench", "starts", "echo \udcff"), 0),
        (("overdeck", "hooks", "show", "\udcff"), 3),
        (("hookbench", "report", "\udcff"), 2),
    ],
    ids=["an arm", "no such arm", "starts", "a name", "a file"],
)
def test_words_that_are_no_utf8_cost_no_command_its_answer(home, words, code, as_json):
    """Whatever the locale makes of them: a strict one refuses to print what is no UTF-8."""
    ended = through_shell(home, "", *words, *as_json, PYTHONIOENCODING="utf-8:strict")
    assert ended.returncode == code, ended.stderr
    assert b"Traceback" not in ended.stderr
    told = ended.stdout.decode()
    if as_json:
        assert json.loads(told)["ok"] is (code == 0)


def test_a_json_document_drives_no_terminal_and_says_the_same() -> None:
    text = "\x1b]0;a\x07\x7f\x80\x9b31m\x9f\u2028\u2029\u202a\u202e\u2066\u2069\ud800 für 模型 🦊\xa0"
    document = envelope("x", {text: [text]})
    assert json.loads(document)["data"] == {text: [text]}
    assert "für 模型 🦊\xa0" in document
    assert printable(document) == document
