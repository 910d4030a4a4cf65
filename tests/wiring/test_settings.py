"""Reading one settings file as the client does."""

import json
from pathlib import Path

import pytest

from overdeck.errors import ExitCode, OverdeckError
from overdeck.wiring.settings import handlers_for, read_settings

HOOK = '{"type": "command", "command": "true"}'


def group(hooks: str = HOOK, rest: str = "") -> str:
    return f'{{"hooks": {{"PreToolUse": [{{"hooks": [{hooks}]{rest}}}]}}}}'


DROPS = {
    "a comment": (f'{{ // mine\n "hooks": {{"Stop": [{{"hooks": [{HOOK}]}}]}}}}', ""),
    "a block comment": (group("/* mine */" + HOOK), "/hooks/PreToolUse/0/hooks"),
    "a trailing comma": (group(HOOK + ","), "/hooks/PreToolUse/0/hooks"),
    "a timeout string": (group(HOOK[:-1] + ', "timeout": "5"}'), "/hooks/PreToolUse/0/hooks/0/timeout"),
    "a timeout of 0": (group(HOOK[:-1] + ', "timeout": 0}'), "/hooks/PreToolUse/0/hooks/0/timeout"),
    "a negative timeout": (group(HOOK[:-1] + ', "timeout": -1}'), "/hooks/PreToolUse/0/hooks/0/timeout"),
    "a timeout of null": (group(HOOK[:-1] + ', "timeout": null}'), "/hooks/PreToolUse/0/hooks/0/timeout"),
    "a timeout beyond every number": (
        group(HOOK[:-1] + ', "timeout": 1e400}'),
        "/hooks/PreToolUse/0/hooks/0/timeout",
    ),
    "an unknown type": (group('{"type": "comand", "command": "true"}'), "/hooks/PreToolUse/0/hooks/0/type"),
    "a missing type": (group('{"command": "true"}'), "/hooks/PreToolUse/0/hooks/0"),
    "a missing command": (group('{"type": "command"}'), "/hooks/PreToolUse/0/hooks/0"),
    "a matcher that is a number": (group(rest=', "matcher": 5'), "/hooks/PreToolUse/0/matcher"),
    "a flat hook": ('{"hooks": {"PreToolUse": [' + HOOK + "]}}", "/hooks/PreToolUse/0"),
    "a hook with a wrong async": (group(HOOK[:-1] + ', "async": "yes"}'), "/hooks/PreToolUse/0/hooks/0/async"),
    "a hook with a wrong if": (group(HOOK[:-1] + ', "if": 5}'), "/hooks/PreToolUse/0/hooks/0/if"),
    "a shell nobody has": (group(HOOK[:-1] + ', "shell": "fish"}'), "/hooks/PreToolUse/0/hooks/0/shell"),
    "args of null": (group(HOOK[:-1] + ', "args": null}'), "/hooks/PreToolUse/0/hooks/0/args"),
    "an http hook without a url": (group('{"type": "http"}'), "/hooks/PreToolUse/0/hooks/0"),
    "a header that is no string": (
        group('{"type": "http", "url": "http://localhost/", "headers": {"A": 1}}'),
        "/hooks/PreToolUse/0/hooks/0/headers",
    ),
    "a directory that is no string": (
        group()[:-1] + ', "permissions": {"additionalDirectories": [{}]}}',
        "/permissions/additionalDirectories",
    ),
    "an attribution that is no string": (group()[:-1] + ', "attribution": {"commit": {}}}', "/attribution/commit"),
    "an http hook whose url is none": (
        group('{"type": "http", "url": "x"}'),
        "/hooks/PreToolUse/0/hooks/0/url",
    ),
    "an mcp_tool hook without a server": (
        group('{"type": "mcp_tool", "tool": "x"}'),
        "/hooks/PreToolUse/0/hooks/0",
    ),
    "a hook of null": (group("null"), "/hooks/PreToolUse/0/hooks/0"),
    "a group of null": ('{"hooks": {"Stop": [null]}}', "/hooks/Stop/0"),
    "a group without hooks": ('{"hooks": {"Stop": [{}]}}', "/hooks/Stop/0"),
    "a model of null": (group()[:-1] + ', "model": null}', "/model"),
    "a switch that is a string": (group()[:-1] + ', "disableAllHooks": "true"}', "/disableAllHooks"),
    "an env that is a string": (group()[:-1] + ', "env": "A=1"}', "/env"),
    "a status line without a command": (group()[:-1] + ', "statusLine": {"type": "command"}}', "/statusLine"),
    "a plugin that is neither on nor off": (
        group()[:-1] + ', "enabledPlugins": {"a@b": "yes"}}',
        "/enabledPlugins/a@b",
    ),
    "a model that is a number": (group()[:-1] + ', "model": 5}', "/model"),
    "permissions.allow a string": (group()[:-1] + ', "permissions": {"allow": "Bash"}}', "/permissions/allow"),
    "a top level of null": ("null", ""),
    "NaN": (group()[:-1] + ', "x": NaN}', ""),
}


@pytest.mark.parametrize(("text", "pointer"), DROPS.values(), ids=DROPS)
def test_what_makes_the_client_drop_the_file_is_a_problem_with_its_place(settings, text, pointer):
    read = settings(text)

    assert read.dropped
    assert read.problems[0].pointer == pointer


ONLY_ITSELF = {
    "an event that is no list": (
        '{"hooks": {"PreToolUse": {"hooks": []}, "Stop": [{"hooks": [' + HOOK + "]}]}}",
        1,
    ),
    "hooks of null": ('{"hooks": null}', 0),
    "hooks that are a list": ('{"hooks": []}', 0),
}


@pytest.mark.parametrize(("text", "handlers"), ONLY_ITSELF.values(), ids=ONLY_ITSELF)
def test_what_costs_only_itself_is_a_problem_that_drops_nothing(settings, text, handlers):
    read = settings(text)

    assert (read.dropped, len(read.problems), len(read.all_handlers)) == (False, 1, handlers)


def test_a_repeated_key_counts_with_its_last_value(settings):
    text = group(HOOK)[:-1] + ', "hooks": {"Stop": []}}'

    assert settings(text).all_handlers == ()


def test_handlers_of_a_dropped_file_are_counted_and_marked(settings):
    read = settings(group(HOOK + "," + HOOK[:-1] + ', "timeout": "5"}'))

    assert [handler.dropped for handler in read.all_handlers] == [True, True]


def test_handlers_below_a_comment_are_still_counted(settings):
    assert len(settings(DROPS["a comment"][0]).all_handlers) == 1


def test_a_problem_in_the_text_says_its_line(settings):
    assert settings('{\n "a": 1,\n}').problems[0].line == 2


TOLERATED = {
    "numbers in env": group()[:-1] + ', "env": {"A": 5, "B": null}}',
    "a theme that is a number": group()[:-1] + ', "theme": 5, "effortLevel": "x"}',
    "a deny rule that is no string": group()[:-1] + ', "permissions": {"deny": [5], "nope": 1}}',
    "a plugin held to versions": group()[:-1] + ', "enabledPlugins": {"a@b": ["1.0"]}}',
    "nonsense under an unknown event": group()[:-2] + ', "Nonsense": [5, {"hooks": [null]}], "Other": null}}',
    "a group with no hook in it": group()[:-2] + ', "Stop": [{"hooks": [], "note": 1}]}}',
    "UTF-16 behind its byte order mark": b"\xff\xfe" + group().encode("utf-16-le"),
    "bytes that are no UTF-8": group().encode()[:-1] + b', "x": "\xff\xfe"}',
    "a lone surrogate": group()[:-1] + ', "x": "\\ud800"}',
    "a byte order mark": b"\xef\xbb\xbf" + group().encode(),
    "an unknown event": '{"hooks": {"Nonsense": [{"hooks": [' + HOOK + "]}]}}",
    "unknown keys": group(HOOK[:-1] + ', "note": [1]}')[:-1] + ', "custom": {"a": 1}}',
    "an empty command": group('{"type": "command", "command": ""}'),
    "an http hook": group('{"type": "http", "url": "http://localhost/"}'),
    "a fractional timeout": group(HOOK[:-1] + ', "timeout": 0.5}'),
}


@pytest.mark.parametrize("text", TOLERATED.values(), ids=TOLERATED)
def test_what_the_client_tolerates_is_no_problem(settings, text):
    read = settings(text)

    assert not read.problems
    assert len(read.all_handlers) == 1


def test_an_empty_file_holds_nothing_and_is_not_json(settings):
    read = settings(" \n")

    assert (read.all_handlers, [problem.line for problem in read.problems]) == ((), [1])


def test_a_number_too_long_for_an_int_does_not_stop_the_reader(settings):
    assert settings(group(HOOK[:-1] + ', "timeout": ' + "9" * 5000 + "}")).all_handlers[0].longest_s == 0


def test_nesting_too_deep_is_a_problem_not_a_crash(settings):
    assert settings('{"a":' + "[" * 100_000 + "]" * 100_000 + "}").dropped


def test_a_missing_file_is_not_found(tmp_path):
    with pytest.raises(OverdeckError) as caught:
        read_settings(tmp_path / "none.json")

    assert caught.value.exit_code is ExitCode.NOT_FOUND


def test_a_folder_in_place_of_the_file_is_an_error_in_words(tmp_path):
    with pytest.raises(OverdeckError):
        read_settings(tmp_path)


def two(command: str, *matchers: str) -> dict[str, object]:
    hook = {"type": "command", "command": command}
    return {"hooks": {"PreToolUse": [{"matcher": matcher, "hooks": [hook]} for matcher in matchers]}}


def test_only_matching_handlers_are_listed(settings):
    data = two("a", "Bash")
    data["hooks"]["PreToolUse"] += two("b", "Write|Edit")["hooks"]["PreToolUse"]

    assert [handler.command for handler in settings(data).handlers("PreToolUse", "Edit")] == ["b"]


def test_identical_handlers_in_several_groups_run_once(settings):
    assert len(settings(two("a", "Bash", "*", "Ba.h")).handlers("PreToolUse", "Bash")) == 1


def test_identical_handlers_in_two_files_run_once(settings):
    one = settings(two("a", "Bash"))
    other = settings(two("a", "*"), "project/.claude/settings.local.json")

    assert len(handlers_for([one, other], "PreToolUse", "Bash")) == 1


def test_a_plugins_copy_runs_beside_the_settings_one(settings):
    one = settings(two("a", "Bash"))
    plugin = settings(two("a", "Bash"), "plug/hooks/hooks.json")

    assert len(handlers_for([one, plugin], "PreToolUse", "Bash")) == 2


def test_a_handler_that_runs_is_preferred_to_its_dropped_copy(settings):
    dropped = settings({**two("a", "Bash"), "model": 5})
    good = settings(two("a", "Bash"), "project/.claude/settings.local.json")

    assert [handler.dropped for handler in handlers_for([dropped, good], "PreToolUse", "Bash")] == [False]


def test_the_same_command_with_another_condition_is_another_handler(settings):
    hooks = [{"type": "command", "command": "a"}, {"type": "command", "command": "a", "if": "Bash(git *)"}]

    assert len(settings({"hooks": {"PreToolUse": [{"hooks": hooks}]}}).handlers("PreToolUse", "Bash")) == 2


def test_an_event_that_ignores_matchers_starts_every_handler(settings):
    data = {"hooks": {"Stop": [{"matcher": "Nope", "hooks": [json.loads(HOOK)]}]}}

    assert len(settings(data).handlers("Stop")) == 1


def test_a_session_start_matcher_is_held_against_the_source(settings):
    data = {"hooks": {"SessionStart": [{"matcher": "resume", "hooks": [json.loads(HOOK)]}]}}
    read = settings(data)

    assert not read.handlers("SessionStart", "startup")
    assert len(read.handlers("SessionStart", "resume")) == 1


def test_the_shell_form_is_run_by_sh(settings):
    handler = settings(two("a | b", "*")).all_handlers[0]

    assert handler.argv({"CLAUDE_PROJECT_DIR": "/p"}) == ["/bin/sh", "-c", "a | b"]


def test_the_exec_form_gets_its_placeholders_filled_in(settings):
    hook = {"type": "command", "command": "${CLAUDE_PROJECT_DIR}/a", "args": ["${CLAUDE_PLUGIN_ROOT}/b", "$HOME"]}
    handler = settings({"hooks": {"Stop": [{"hooks": [hook]}]}}).all_handlers[0]

    assert handler.argv({"CLAUDE_PROJECT_DIR": "/p", "CLAUDE_PLUGIN_ROOT": "/q"}) == ["/p/a", "/q/b", "$HOME"]


def test_a_handler_knows_its_place_in_the_file(settings):
    handler = settings(two("a", "*", "*")).all_handlers[1]

    assert (handler.pointer, handler.file.name) == ("/hooks/PreToolUse/1/hooks/0", "settings.json")


def test_a_handler_without_a_timeout_has_the_clients_own(settings):
    hooks = {event: [{"hooks": [json.loads(HOOK)]}] for event in ("Stop", "UserPromptSubmit", "SessionEnd")}

    assert [handler.longest_s for handler in settings({"hooks": hooks}).all_handlers] == [600, 30, 1.5]


def test_a_plugin_file_without_its_wrapper_is_dropped(settings):
    assert settings(two("a", "*")["hooks"], "plug/hooks/hooks.json").dropped


def test_a_plugin_file_with_an_unknown_event_is_dropped(settings):
    assert settings({"hooks": {"Nonsense": [{"hooks": [json.loads(HOOK)]}]}}, "plug/hooks/hooks.json").dropped


def test_a_plugins_root_is_the_folder_above_its_hooks_folder(settings, tmp_path: Path):
    assert settings(two("a", "*"), "plug/hooks/hooks.json").plugin_root == tmp_path / "plug"


def test_a_projects_folder_is_the_one_above_dot_claude(settings, tmp_path: Path):
    assert settings({}).variables == {"CLAUDE_PROJECT_DIR": str(tmp_path / "project")}


def test_a_file_that_disables_all_hooks_starts_none(settings):
    hooks = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}

    assert settings(hooks).handlers("Stop")
    assert settings({**hooks, "disableAllHooks": True}).handlers("Stop") == []
