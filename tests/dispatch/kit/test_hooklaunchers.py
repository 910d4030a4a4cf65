"""What can be said of a hook's launcher from its words alone."""

import pytest

from overdeck.dispatch.kit.hooklaunchers import Hook, faults, hooks_in, is_python


@pytest.mark.parametrize(("name", "said"), [
    ("python", True), ("python3", True), ("python3.12", True), ("bash", False), ("uv", False), ("node", False),
    ("python-config", False), ("mypython", False), ("/usr/bin/python3", False), ("./python3", False), ("", False),
])  # fmt: skip
def test_only_a_bare_name_of_python_is_an_interpreter(name: str, said: bool) -> None:
    assert is_python(name) is said


@pytest.mark.parametrize(("line", "words"), [
    ("guard --x", ["guard", "--x"]),
    ("  A=1 B=2 guard  x ", ["guard", "x"]),
    ("'/opt/my guard' \"a b\"", ["/opt/my guard", "a b"]),
    ("guard && other", []),
    ("guard > log", []),
    ("guard 'a", []),
    ("guard a'b'", []),
    ("$(which guard)", []),
    ("guard *.py", []),
])  # fmt: skip
def test_a_shell_line_is_read_only_where_it_is_nothing_but_words(tmp_path, line: str, words: list[str]) -> None:
    file = tmp_path / "settings.json"
    text = line.replace("\\", "\\\\").replace('"', '\\"')
    file.write_text('{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "' + text + '"}]}]}}')
    assert [hook.words for hook in hooks_in(str(file))[0]] == ([words] if words else [])


@pytest.mark.parametrize(("words", "exact"), [
    (["$GUARD"], False),
    (["${GUARD}/x"], True),
    (["cd", "/nowhere"], False),
    (["relative/guard"], False),
    (["sh", "relative.sh"], True),
    (["sh", "-c", "/nowhere/x"], True),
    ([], False),
])  # fmt: skip
def test_what_is_not_certain_is_not_said(words: list[str], exact: bool) -> None:
    assert list(faults([Hook("Stop", words, exact)], {"PATH": "/usr/bin:/bin", "HOME": "/nowhere"}, "/p")) == []


def test_home_and_project_are_put_in_as_shell_and_client_do() -> None:
    environ = {"PATH": "/usr/bin:/bin", "HOME": "/nowhere/me"}
    said = [
        why
        for hook in (
            Hook("Stop", ["~/guard"], False),
            Hook("Stop", ["$HOME/guard"], False),
            Hook("Stop", ["$CLAUDE_PROJECT_DIR/guard"], False),
            Hook("Stop", ["${CLAUDE_PROJECT_DIR}/guard"], True),
        )
        for _, why in faults([hook], environ, "/nowhere/p")
    ]
    assert [why.partition(" is not")[0] for why in said] == [
        "/nowhere/me/guard", "/nowhere/me/guard", "/nowhere/p/guard", "/nowhere/p/guard",
    ]  # fmt: skip
