"""What a shell script does, read and not run."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overdeck.wiring.shellscript import Unclear, parse

PIECES = ["a", "b c", '"', "'", "$(", ")", "`", "|", "&", ";", "\n", "if ", "then ", "fi", "case x in ", "esac",
          "${", "}", "{ ", "<<E\n", "E\n", "[[ ", "]]", "((", "))", "#", "\\", "for i in ", "do ", "done", "f() ",
          ]  # fmt: skip


def names(text: str) -> list[str]:
    return [command.name for command in parse(text) if command.name]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a | b && c || d; e &", ["a", "b", "c", "d", "e"]),
        ('x=$(a "$(b)")\nc', ["b", "a", "c"]),
        ("case $t in\n  A|B) a ;;\n  *) b ;;\nesac\nc", ["case", "a", "b", "c"]),
        ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
        ("for f in 1 2; do a $f; done; while b; do c; done", ["a", "b", "c"]),
        ("f() {\n a\n}\nfunction g { b; }\nf", ["a", "b", "f"]),
        ("cat <<'EOF' | a\n$(not) `run`\nEOF\nb", ["cat", "a", "b"]),
        ("# a\nb # c\n'#' d", ["b", "#"]),
        ("a=(1 2) b=3 c", ["c"]),
        ("while read -r l; do a; done < <(b)", ["read", "a", "b"]),
        ("[[ $x == (a|b) && -n $y ]] && a", ["[[", "a"]),
        ("exec nohup timeout 5 /usr/bin/a x", ["a"]),
        ("a \\\n  b", ["a"]),
    ],
)
def test_commands_are_found_in_the_order_they_run(text: str, expected: list[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize("text", ["'", '"a', "$(a", "if a; then b", "case x in", "cat <<E\nx", "a )", "fi", "${a"])
def test_what_is_not_whole_is_unclear(text: str) -> None:
    with pytest.raises(Unclear):
        parse(text)


@pytest.mark.parametrize(
    ("text", "out", "err"),
    [
        ("a >f 2>&1", True, True),
        ("a &>f", True, True),
        ("a >&f", True, True),
        ("a 2>/dev/null", False, True),
        ("a >&2", True, False),
        ("a <f", False, False),
    ],
)
def test_redirects_are_told_apart(text: str, out: bool, err: bool) -> None:
    command = parse(text)[0]

    assert (command.redirects_fd("1"), command.redirects_fd("2")) == (out, err)


def test_a_background_group_carries_its_redirects() -> None:
    group = parse("( a; b ) >/dev/null 2>&1 &")[-1]

    assert (group.group, group.after) == ("subshell", "&")
    assert group.redirects_fd("1") and group.redirects_fd("2")


def test_a_command_knows_its_line_and_the_variable_it_fills() -> None:
    command = next(one for one in parse("a\n\nx=$(b)\n") if one.name == "b")

    assert (command.line, command.fills) == (3, "x")


def test_the_scripts_of_this_machine_are_understood(tmp_path: Path) -> None:
    """Every shell script on the machine that bash itself takes, but for one in fifty."""
    scripts = []
    for path in sorted(Path("/usr/bin").iterdir()):
        if path.is_file() and not path.is_symlink() and path.stat().st_size < 200_000:
            raw = path.read_bytes()
            if raw.startswith((b"#!/bin/sh", b"#!/bin/bash", b"#!/usr/bin/env bash")):
                scripts.append((path, raw.decode("utf-8", "replace")))
    unclear = []
    for path, text in scripts:
        try:
            parse(text)
        except Unclear as reason:
            if subprocess.run(["bash", "-n", str(path)], capture_output=True, check=False).returncode == 0:
                unclear.append(f"{path}: {reason}")
    assert len(unclear) <= max(1, len(scripts) // 50), unclear


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        parse(text)
    except Unclear:
        return
