"""Why a hook failed, in words of ours."""

import pytest

from overdeck.telemetry.transcripts.failures import OTHER, failure_of


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("Failed with non-blocking status code: /bin/sh: 1: x: not found", 127, "command not found"),
        ("", 126, "cannot be executed"),
        ("Failed to run: spawn /x/guard ENOENT", 1, "could not be started: ENOENT"),
        ("Error: Cannot find module '/x/hook.mjs'", 1, "a Node module is not there"),
        ("bash: /x/guard.sh: No such file or directory", 1, "its script is not there"),
        ("No stderr output", 1, "said nothing"),
        (
            "Traceback (most recent call last):\n  File x\njson.decoder.JSONDecodeError: Expecting",
            1,
            "JSONDecodeError",
        ),
        ("/x/y.js:3\nTypeError: cannot read", 1, "TypeError"),
        ("HTTP 500 from https://x/", 500, "HTTP: 500"),
        ("connect ECONNREFUSED 127.0.0.1:80", 1, "ECONNREFUSED"),
        ("x.sh: line 3: FOO: unbound variable", 1, "shell: a variable is not set"),
    ],
)
def test_a_known_text_gets_words_of_ours(text: str, code: int, words: str) -> None:
    assert failure_of(text, code)[0] == words


def test_texts_that_differ_in_paths_numbers_and_quotes_are_one_failure() -> None:
    one = failure_of("lint failed for '/a/b.py' after 12 ms", 1)[0]

    assert one == failure_of("lint failed for '/other.py' after 9 ms", 1)[0]
    assert one != failure_of("lint is not installed", 1)[0]
    assert one.startswith(OTHER)


def test_a_long_text_takes_no_long_time() -> None:
    assert failure_of("a'\"/" * 5_000_000, 1)[0].startswith(OTHER)
