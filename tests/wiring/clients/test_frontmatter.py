"""Hooks in the front matter of skills, commands and agents, as Claude Code 2.1.197 was measured to read them."""

from pathlib import Path

import pytest

from overdeck.wiring.clients.claude import component_files, parse, plugin_files
from overdeck.wiring.settings import handlers_for

HOOKS = """\
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - type: command
          command: "check"
          once: true
"""


def skill(front: str = HOOKS, body: str = "Do it.\n") -> bytes:
    return f"---\nname: demo\ndescription: does a thing\n{front}---\n{body}".encode()


def read(front: str):
    return parse(skill(front), Path("/p/.claude/skills/demo/SKILL.md"))


def test_a_skills_hooks_are_read_with_their_place():
    handler = read(HOOKS).all_handlers[0]

    assert (handler.command, handler.once, handler.pointer) == ("check", True, "/hooks/PreToolUse/0/hooks/0")


def test_windows_line_ends_are_fine():
    raw = skill().replace(b"\n", b"\r\n")

    assert len(parse(raw, Path("/p/.claude/skills/demo/SKILL.md")).all_handlers) == 1


def test_an_alias_is_written_out():
    front = HOOKS.replace("PreToolUse:", "PreToolUse: &a") + "  PostToolUse: *a\n"

    assert [handler.event for handler in read(front).all_handlers] == ["PreToolUse", "PostToolUse"]


LOST = {
    "a timeout string": HOOKS + '          timeout: "5"\n',
    "an unknown event": HOOKS + "  Nope: []\n",
    "no YAML": HOOKS + "  : [\n",
}


@pytest.mark.parametrize("front", LOST.values(), ids=LOST)
def test_one_flaw_takes_all_hooks(front):
    file = read(front)

    assert file.dropped
    assert all(handler.dropped for handler in file.all_handlers)


def test_broken_yaml_says_its_line():
    assert read(LOST["no YAML"]).problems[0].line


HARMLESS = {
    "no front matter": b"# Title\nhooks:\n  Stop: []\n",
    "no hooks": skill("model: opus\n"),
    "hooks in the text": skill("", "hooks:\n  Stop: 5\n"),
    "hooks of nothing": skill("hooks:\n"),
    "a rule with no end": b"---\nhooks:\n  Stop: []\n",
}


@pytest.mark.parametrize("raw", HARMLESS.values(), ids=HARMLESS)
def test_what_has_no_hooks_has_no_problems(raw):
    file = parse(raw, Path("/p/.claude/skills/demo/SKILL.md"))

    assert (file.all_handlers, file.problems) == ((), ())


HOSTILE = {
    "aliases of aliases": "hooks:\n  a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
    + "".join(f"  a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12)),
    "a list in itself": "hooks: &a\n  Stop: [*a]\n",
    "brackets": "hooks: " + "[" * 20_000 + "\n",
    "a date": "hooks:\n  Stop: 2020-01-01\n",
    "a month too many": "hooks:\n  Stop: 2020-13-01\n",
    "a key that is a list": "hooks:\n  ? [1, 2]\n  : 3\n",
    "a tag": "hooks: !!python/object/apply:os.system ['true']\n",
    "a number": "hooks: 5\n",
    "a NUL": "hooks: \0\n",
    "a merge": "hooks:\n  <<: 5\n",
    "too much": "hooks:\n" + "".join(f"  k{i}: v\n" for i in range(20_000)),
}


@pytest.mark.parametrize("front", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.timeout(20)
def test_a_hostile_front_matter_is_a_problem_and_no_more(front):
    file = read(front)

    assert file.problems
    assert file.all_handlers == ()


def place(folder: Path, name: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(skill())
    return path


def test_skills_commands_and_agents_are_found_where_the_client_looks(tmp_path):
    names = ("skills/demo/SKILL.md", "commands/a.md", "commands/sub/b.md", "agents/c.md", "agents/sub/d.md")
    for name in (*names, "skills/group/demo/SKILL.md", "skills/demo/notes.md"):
        place(tmp_path, name)

    found = component_files(tmp_path)
    assert sorted(str(file.path.relative_to(tmp_path)) for file in found) == sorted(names)
    assert {file.scope for file in found if "agents" in str(file.path)} == {"agent"}


def test_a_plugins_skills_may_have_hooks_and_its_agents_not(tmp_path):
    place(tmp_path, "skills/demo/SKILL.md")
    place(tmp_path, "agents/c.md")

    assert [file.scope for file in plugin_files(tmp_path)] == ["skill"]


def test_a_usual_call_starts_none_of_them():
    assert handlers_for([read(HOOKS)], "PreToolUse", "Bash") == []


def test_a_loop_of_folders_is_walked_once(tmp_path):
    place(tmp_path, "commands/a.md")
    (tmp_path / "commands" / "again").symlink_to(tmp_path / "commands")
    (tmp_path / "commands" / "self.md").symlink_to(tmp_path / "commands" / "self.md")

    assert [len(file.all_handlers) for file in component_files(tmp_path)] == [1, 0]
