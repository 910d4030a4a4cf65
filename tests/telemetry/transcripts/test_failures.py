"""Why a hook failed, in words of ours."""

import time

import pytest

from overdeck.telemetry.transcripts.failures import OTHER, blocked_by_accident, failure_of


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("Failed with non-blocking status code: /bin/sh: 1: x: not found", 127, "command not found"),
        ("", 126, "cannot be executed"),
        ("Failed to run: spawn /x/guard ENOENT", 1, "could not be started: ENOENT"),
        (
            "throw err;\n\nError: Cannot find module 'zod'\nRequire stack:\n- /x.js",
            1,
            "a Node module is not there",
        ),
        (
            "Error: Cannot find module '/x.js'\n  code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}",
            1,
            "its Node script is not there",
        ),
    ],
)
def test_a_known_text_gets_words_of_ours(text: str, code: int, words: str) -> None:
    assert failure_of(text, code)[0] == words


def test_a_linter_that_misses_a_module_started() -> None:
    assert failure_of("a.ts(1,2): error TS2307: Cannot find module 'x'", 1)[1]


def test_texts_that_differ_in_paths_numbers_and_quotes_are_one_failure() -> None:
    one = failure_of("lint failed for '/a/b.py' after 12 ms", 1)[0]

    assert one == failure_of("lint failed for '/other.py' after 9 ms", 1)[0]
    assert one != failure_of("lint is not installed", 1)[0]
    assert one.startswith(OTHER)


@pytest.mark.parametrize("part", ["a", "a'\"/", "[x]: ", "python", "MODULE_NOT_FOUND'", "A.", "Error "])
def test_a_long_text_takes_no_long_time(part: str) -> None:
    started = time.process_time()
    for text in (
        part * 1_000_000,
        "Failed to run: " + part * 1_000_000,
        f"python {part * 1_000_000}: can't open file ",
    ):
        failure_of(text, 1)
        blocked_by_accident(text)

    assert time.process_time() - started < 2
