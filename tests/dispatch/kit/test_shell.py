"""A command line read as a shell reads it; ``bash`` itself is the referee for quoting."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overdeck.dispatch.kit.shell import MAX_LETTERS, commands, written


def programs(text: str) -> list[list[str]]:
    return [[word.text for word in command.words] for command in commands(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b; c", [["a", "b"], ["c"]]),
        ("a && b || c | d & e\nf", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]),
        ("(a; b)", [["a"], ["b"]]),
        ("a $(b c) d", [["b", "c"], ["a", "\0", "d"]]),
        ('a "$(b "c d")"', [["b", "c d"], ["a", "\0"]]),
        ("a `b \\`c\\``", [["c"], ["b", "\0"], ["a", "\0"]]),
        ("a <(b) >(c)", [["b"], ["c"], ["a"]]),
        ("X=1 Y+=2 a", [["a"]]),
        ("env -i X=1 a b", [["env", "-i"], ["a", "b"]]),
        ("sudo -u x a", [["sudo", "-u", "x"], ["a"]]),
        ("timeout -k 1 5 a b", [["timeout", "-k", "1", "5"], ["a", "b"]]),
        ("nice -n 5 nohup a", [["nice", "-n", "5"], ["nohup"], ["a"]]),
        ("if a; then b; else c; fi", [["a"], ["b"], ["c"], ["fi"]]),
        ("! a", [["a"]]),
        ("bash -c 'a; b' x", [["bash", "-c", "a; b", "x"], ["a"], ["b"]]),
        ("sh -ec 'a'", [["sh", "-ec", "a"], ["a"]]),
        ("bash script.sh -c x", [["bash", "script.sh", "-c", "x"]]),
        ("eval 'a b'", [["eval", "a b"], ["a", "b"]]),
        ("find . -exec a {} \\;", [["find", ".", "-exec", "a", "{}", ";"], ["a", "{}", ";"]]),
        ("a # b", [["a"]]),
        ("a#b", [["a#b"]]),
        ("cat <<X\nb\nX\nc", [["cat"], ["c"]]),
        ("cat <<-'X' | d\n\tb\n\tX\nc", [["cat"], ["d"], ["c"]]),
        ("a <<< b", [["a"]]),
        ("a 2>&1", [["a"]]),
        ("a ${x:-$(b)}", [["b"], ["a", "${x:-$(b)}"]]),
        ("x=$((1<<3))\na b", [["a", "b"]]),
        ("((x=1<<3))\na", [["a"]]),
        ("echo $((1 + $(b)))", [["b"], ["echo", "\0"]]),
        ("echo $((b) | c)", [["b"], ["c"], ["echo", "\0"]]),
        ("[[ -z $x || a == $(b) ]] && c", [["b"], ["[["], ["c"]]),
        ("x=(a $(b) 'c'); d", [["b"], ["d"]]),
        ("a[0]=1 b", [["b"]]),
        ("cat <<E\n$(a) `b` ${x:-$(c)}\nE", [["cat"], ["a"], ["b"], ["c"]]),
        ("cat <<'E'\n$(a)\nE\nb", [["cat"], ["b"]]),
        ('echo "${x%%{*}"; a', [["echo", "${x%%{*}"], ["a"]]),
        ("echo ${x#\\}}; a", [["echo", "${x#\\}}"], ["a"]]),
        ('echo ${x:-"}"}; a', [["echo", '${x:-"}"}'], ["a"]]),
        ("function f { a; }; coproc b", [["a"], ["b"]]),
        ("f() { a; }", [["f"], ["a"]]),
        ("time -p a", [["time", "-p"], ["a"]]),
        ("$(case x in x) a;; y|z) b;; esac)", [["a"], ["y"], ["b"], ["esac"], ["\0"]]),
        ("bash -euo pipefail -c 'a'", [["bash", "-euo", "pipefail", "-c", "a"], ["a"]]),
        ("bash --rcfile F -c +e -- 'a'", [["bash", "--rcfile", "F", "-c", "+e", "--", "a"], ["a"]]),
        ("bash -O extglob -c 'a'", [["bash", "-O", "extglob", "-c", "a"], ["a"]]),
        ("eval -- 'a'", [["eval", "--", "a"], ["a"]]),
        ("env -S 'a b' c", [["env", "-S", "a b"], ["a", "b", "c"], ["c"]]),
        ("env - a", [["env", "-"], ["a"]]),
        ("sudo -nu root a", [["sudo", "-nu"], ["a"], ["root", "a"]]),
        ("xargs --replace a b", [["xargs", "--replace"], ["b"], ["a", "b"]]),
        ("{fd}>/dev/null a", [["a"]]),
        ("$'\\u0067\\x69t' $'push\\0x' $'-\\146'", [["git", "push", "-f"]]),
        ("a 'unclosed", [["a", "unclosed"]]),
        ("bash <<'E'\na b\nE\nc", [["bash"], ["a", "b"], ["c"]]),
        ("sudo -n bash -s x <<E\na $(b)\nE", [["sudo", "-n"], ["bash", "-s", "x"], ["b"], ["a", "\0"], ["b"]]),
        ("bash script.sh <<E\na\nE", [["bash", "script.sh"]]),
        ("bash <<< 'a b'", [["bash"], ["a", "b"]]),
        ("cat <<< 'a b'", [["cat"]]),
        ("echo 'a; b' | sh", [["echo", "a; b"], ["sh"], ["a"], ["b"]]),
        ("printf 'a\\nb' | sudo bash", [["printf", "a\\nb"], ["sudo"], ["bash"], ["a"], ["b"]]),
        ("cat <<E | bash\na\nE", [["cat"], ["bash"], ["a"]]),
        ("echo a | cat", [["echo", "a"], ["cat"]]),
        ("if x; then Y=1 echo a | sh; fi", [["x"], ["echo", "a"], ["sh"], ["a"], ["fi"]]),
        ("echo a || sh", [["echo", "a"], ["sh"]]),
        ("su - x -c 'a b'", [["su", "-", "x", "-c", "a b"], ["a", "b"]]),
        ("trap 'a b' EXIT", [["trap", "a b", "EXIT"], ["a", "b"]]),
        ("watch -n 1 'a b'", [["watch", "-n", "1"], ["a", "b"], ["a b"]]),
        ("flock /tmp/l a b", [["flock", "/tmp/l"], ["a", "b"]]),
        ("nice ionice -c 3 a", [["nice"], ["ionice", "-c", "3"], ["a"]]),
        ("", []),
        (";;", []),
    ],
)  # fmt: skip
def test_a_line_is_its_commands(text: str, expected: list[list[str]]) -> None:
    assert programs(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "env -iS 'rm x'", "env -vS'rm x'", "sudo -r role rm x", "coproc X { rm x; }", "trap -- 'rm x' EXIT",
        "su -c'rm x'", "su -lc 'rm x'", "su --command='rm x'", "sg g 'rm x'", "sg g -c 'rm x'", "script -qc 'rm x' f",
        "flock -n f -c 'rm x'", "mksh -c 'rm x'", "busybox ash -c 'rm x'", "toybox rm x", "at now <<< 'rm x'",
        ". /dev/stdin <<< 'rm x'", "echo 'rm x' | batch", "echo rm x | sh", "echo -n 'rm x' | bash -",
        "echo 'rm x' | bash /dev/stdin", "echo 'rm x' | tee f | sh", "cat <<E | cat | sh\nrm x\nE",
        "printf %s 'rm x' | sh", "printf '%s %s' rm x | sh", "printf 'r\\x6d\\x20x' | sh", "echo -e 'r\\155 x' | sh",
        "cat <<E\r\na\r\nE\r\nrm x", "uv run rm x", "uv run --with a rm x", "npx -c 'rm x'", "runuser -u a -- rm x",
        "tmux new -d 'rm x'", "tmux new -d -s n 'rm x'", "screen -dmS n bash -c 'rm x'", "hyperfine 'a b' 'rm x'",
        "perf stat -e c rm x", "gosu root rm x", "nix-shell -p a --run 'rm x'", "git bisect run rm x",
        "git submodule foreach --recursive 'rm x'", "git rebase -x 'rm x' main", "git rebase --exec='rm x'",
        "git -c alias.y='!rm x' y", "git -c alias.y='!rm' y x", "npx -a npx -a npx rm x",
    ],
)  # fmt: skip
def test_what_starts_another_command_or_runs_text_is_looked_through(text: str) -> None:
    assert any(words[:2] == ["rm", "x"] for words in programs(text))


@pytest.mark.parametrize(
    "text",
    ["echo 'rm x' | cat", "bash -s script < f", "git log --grep 'rm x'", "uv run a rm x", "uv run python -c 'rm x'",
     "su -c a 'rm x'", "printf '%s' 'rm x' | wc", "npx a 'rm x'", "git rebase main",
     "npm install rm x", "uv add rm x", "conda install -y rm x", "bundle add rm"],
)  # fmt: skip
def test_arguments_are_no_commands(text: str) -> None:
    assert not any(words[:1] == ["rm"] for words in programs(text))


def test_what_only_may_be_a_command_has_no_place_where_it_could_be_rewritten() -> None:
    assert [c.words[0].end for c in commands("nix-shell -p curl --run 'a b'") if c.program == "curl"] == [-1]


def test_programs_that_start_others_stacked_end_in_time() -> None:
    assert len(commands("sudo --aa sudo sudo " * 300 + "rm x")) < 10_000
    with pytest.raises(ValueError, match="nested"):
        commands("npx -a " * 900 + "rm x")


def test_redirection_targets_are_kept_apart() -> None:
    command = commands("a <in >>out 2>err x &>all 3<> both")[0]
    assert command.targets == ["in", "out", "err", "all", "both"]
    assert command.arguments == ["x"]


def test_a_word_knows_where_it_ends_in_the_text() -> None:
    text = "x && 'cu'rl a; $(curl b)"
    ends = [c.words[0].end for c in commands(text) if c.program == "curl"]
    assert sorted(text[:end] for end in ends) == ["x && 'cu'rl", "x && 'cu'rl a; $(curl"]


def test_nested_text_has_no_place_in_the_line() -> None:
    assert [c.words[0].end for c in commands("bash -c 'curl a'") if c.program == "curl"] == [-1]


@pytest.mark.parametrize("text", ["$(" * 40 + "a" + ")" * 40, "eval " * 1 + "'eval " * 40, "(" * 5000])
def test_nesting_beyond_sense_is_refused_or_read_never_a_hang(text: str) -> None:
    try:
        commands(text)
    except ValueError as error:
        assert "deep" in str(error)


def test_a_text_no_shell_would_take_is_refused_instead_of_read_until_the_deadline() -> None:
    commands("a;" * (MAX_LETTERS // 2))
    with pytest.raises(ValueError, match="too long to be judged"):
        commands("a" * (MAX_LETTERS + 1))


def test_a_word_knows_where_it_begins_and_a_feeder_what_it_feeds() -> None:
    text = "  X=1 'a' b | c; d || e"
    found = written(text)
    assert [text[word.start : word.end] for word in found[0].words] == ["X=1", "'a'", "b"]
    assert [simple.feeder is found[0] for simple in found] == [False, True, False, False]


@settings(max_examples=150)
@given(st.lists(st.text(alphabet="ab \\'\"$#;\n{}*?~=-", min_size=1, max_size=6), min_size=1, max_size=4))
def test_quoting_agrees_with_bash(words: list[str]) -> None:
    quoted = " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
    assert programs(f"x {quoted}") == [["x", *words]]


@settings(max_examples=150)
@given(st.text(alphabet="ab\\'\" ", max_size=12))
def test_raw_quotes_and_backslashes_agree_with_bash(text: str) -> None:
    line = f"printf '%s\\0' {text}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=False)
    if done.returncode or done.stderr or text.endswith("\\"):
        return
    expected = done.stdout.decode().split("\0")[:-1]
    assert programs(line)[0][2:] == (expected if expected != [""] or "'" in text or '"' in text else [])


@given(st.text(alphabet="ab$(){}`'\"\\<>|&;\n #=", max_size=60))
def test_no_text_makes_it_fail_in_any_other_way_than_by_depth(text: str) -> None:
    try:
        commands(text)
    except ValueError as error:
        assert "deep" in str(error)
