"""module.toml and config: what is on, in which order, and a clear fault for everything else."""

from pathlib import Path

import pytest
from fronts import Front

from overdeck.dispatch import planning
from overdeck.dispatch.manifest import ManifestError, read_manifest
from overdeck.paths import shipped

GOOD = 'id = "m"\npack = "guards"\nclass = "gate"\n[events]\nPreToolUse = "Bash"\n'


def written(tmp_path: Path, text: str) -> str:
    folder = tmp_path / "m"
    folder.mkdir(exist_ok=True)
    (folder / "module.py").write_text("")
    (folder / "module.toml").write_text(text)
    return str(folder)


def test_defaults(tmp_path: Path) -> None:
    manifest = read_manifest(written(tmp_path, GOOD))
    assert (manifest.timeout_ms, manifest.lifetime_days, manifest.literals) == (1000, 7, [])


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (('class = "gate"', 'class = "guard"'), "class must be one of"),
        (('id = "m"', 'id = "M"'), "lower-case"),
        (('id = "m"', 'id = "n"'), "name of its folder"),
        (('id = "m"', 'id = "m"\ntimeout_ms = 0'), "timeout_ms"),
        (('id = "m"', 'id = "m"\ntimeout_ms = true'), "timeout_ms"),
        (('id = "m"', 'id = "m"\ntimeout_ms = 1.5'), "timeout_ms"),
        (('id = "m"', 'id = "m"\nliterals = []'), "leave it out"),
        (('id = "m"', 'id = "m"\nliterals = ["two words"]'), "not one word"),
        (('id = "m"', 'id = "m"\nliterals = ["a/b"]'), "not one word"),
        (('id = "m"', 'id = "m"\nliterals = [""]'), "not one word"),
        (('id = "m"', 'id = "m"\nliterals = "git"'), "list of words"),
        (('id = "m"', 'id = "m"\nliterals_in = "body"'), "literals_in"),
        (('id = "m"', 'id = "m"\ntimeout = 3'), "unknown key 'timeout'"),
        (('id = "m"', 'id = "m"\nmain_only = "yes"'), "main_only"),
        (('PreToolUse = "Bash"', 'PreTool = "Bash"'), "unknown event"),
        (('PreToolUse = "Bash"', 'PreToolUse = "Bash("'), "not a regex"),
        (('PreToolUse = "Bash"', 'PreToolUse = "|"'), "names nothing"),
        (('PreToolUse = "Bash"', 'PreToolUse = "(?i)bash"'), "not a regex"),
        (('PreToolUse = "Bash"', "PreToolUse = 3"), "must be a string"),
        (('PreToolUse = "Bash"', 'Stop = "Bash"'), "has no matcher at Stop"),
        (('PreToolUse = "Bash"', ""), "[events]"),
        (("[events]", "[zero_fire]\nlifetime_days = 0\n[events]"), "lifetime_days"),
        (("[events]", "config = 3\n[events]"), "[config]"),
        (('id = "m"', "id = "), "not TOML"),
    ],
)
def test_a_fault_is_named_with_its_file(tmp_path: Path, change: tuple[str, str], fault: str) -> None:
    with pytest.raises(ManifestError) as raised:
        read_manifest(written(tmp_path, GOOD.replace(*change)))
    assert fault in raised.value.reason
    assert raised.value.path.endswith("m/module.toml")


def test_a_manifest_that_is_not_utf8_is_a_fault(tmp_path: Path) -> None:
    folder = written(tmp_path, GOOD)
    Path(folder, "module.toml").write_bytes(b'id = "\xff"')
    with pytest.raises(ManifestError, match="UTF-8"):
        read_manifest(folder)


def test_modules_stand_in_pack_order_then_by_id_and_user_modules_last(front: Front) -> None:
    for id, pack in (("b", "guards"), ("a", "guards"), ("z", "early"), ("off", "drafts")):
        folder = front.module(id, "return None")
        toml = (folder / "module.toml").read_text().replace('"guards"', f'"{pack}"')
        (folder / "module.toml").write_text(toml)
    own = front.user / "mine"
    own.mkdir()
    (own / "module.py").touch()
    (own / "module.toml").write_text(GOOD.replace('"m"', '"mine"').replace('pack = "guards"\n', ""))
    front.config.write_text('packs = ["early", "guards"]\n')
    fleet = planning.load(front.recipe)
    assert [m.id for m in fleet.enabled] == ["z", "a", "b", "mine"]
    assert [m.id for m in fleet.found] == ["a", "b", "off", "z", "mine"]


def test_the_users_table_overlays_the_defaults_and_a_wrong_key_or_type_is_a_fault(front: Front) -> None:
    front.module("m", "return None", toml="[config]\nlimit = 5\nname = 'x'\n")
    front.config.write_text("[modules.m]\nlimit = 9\n")
    assert planning.load(front.recipe).enabled[0].config == {"limit": 9, "name": "x"}
    for table in ("limt = 9", 'limit = "9"', "limit = true"):
        front.config.write_text(f"[modules.m]\n{table}\n")
        assert planning.load(front.recipe).problems, table


def test_two_modules_of_one_id_are_a_fault_of_the_second(front: Front) -> None:
    front.module("m", "return None")
    own = front.user / "m"
    own.mkdir()
    (own / "module.py").touch()
    (own / "module.toml").write_text(GOOD)
    fleet = planning.load(front.recipe)
    assert [m.user for m in fleet.enabled] == [False]
    assert "taken by" in fleet.problems[0].reason


def test_a_table_for_no_module_is_named(front: Front) -> None:
    front.module("m", "return None")
    front.config.write_text("[modules.git-decison]\nenabled = false\n")
    assert "git-decison" in str(planning.load(front.recipe).problems[0])


@pytest.mark.parametrize(
    "text",
    [
        'packs = ["gaurds"]',
        'pakcs = ["guards"]',
        'packs = "guards"',
        "packs = [",
        "modules = 3",
        "[modules]\nm = 3",
    ],
)
def test_a_config_that_cannot_be_read_is_raised_not_guessed(front: Front, text: str) -> None:
    front.module("m", "return None")
    front.config.write_text(text)
    with pytest.raises(ManifestError, match=r"config\.toml"):
        planning.load(front.recipe)


RULES = (
    'id = "m"\npack = "guards"\nclass = "gate"\nrules = ["pattern", "reason?", "words?"]\n[events]\n'
    'PreToolUse = "Bash"\nUserPromptSubmit = "*"\n[config.rules.a]\npattern = "tool drop"\n'
)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (('"pattern", ', '"pattern", "colour", '), "rules must list some of"),
        (("rules = [", 'literals = ["x"]\nrules = ['), "taken from its rules"),
        (('"tool drop"', '"* drop <moon>"'), "<moon> is not one of"),
        (('"tool drop"', f'"{"x" * 65}"'), "longer than 64"),
        (("[config.rules.a]\npattern", "[config]\nrules"), "must be a table"),
    ],
)
def test_rules_that_cannot_be_read_are_a_fault(tmp_path: Path, change: tuple[str, str], fault: str) -> None:
    with pytest.raises(ManifestError, match=r"module\.toml") as raised:
        read_manifest(written(tmp_path, RULES.replace(*change)))
    assert fault in raised.value.reason


def test_the_literals_of_rules_are_those_of_the_event(tmp_path: Path) -> None:
    manifest = read_manifest(written(tmp_path, RULES + 'words = ["yes"]\n'))
    assert manifest.literals_at("PreToolUse") == (["drop"], False)
    assert manifest.literals_at("UserPromptSubmit") == (["YES", "Yes", "yes"], True)


def test_a_rule_of_the_user_brings_its_literal_into_the_plan(front: Front) -> None:
    folder = front.module("m", "return None")
    (folder / "module.toml").write_text(RULES)
    front.config.write_text('[modules.m.rules.b]\npattern = "other wipe"\n')
    fleet = planning.load(front.recipe)
    assert fleet.problems == []
    (module,) = planning.compile_plan(front.recipe, fleet, "PreToolUse").modules
    assert module.literals == ["drop", "wipe"]
    assert planning.compile_plan(front.recipe, fleet, "UserPromptSubmit").modules == []


def test_a_module_without_a_rule_that_is_on_is_in_no_plan(front: Front) -> None:
    folder = front.module("m", "return None")
    (folder / "module.toml").write_text(RULES)
    front.config.write_text("[modules.m.rules.a]\noff = true\n")
    assert planning.compile_plan(front.recipe, planning.load(front.recipe), "PreToolUse").modules == []


def test_rules_of_another_module_are_shared_where_they_have_what_is_needed(front: Front) -> None:
    for name, head in (("m", RULES), ("n", RULES.replace('"m"', '"n"').replace("reason?", "reason"))):
        folder = front.module(name, "return None")
        text = head if name == "m" else head.split("[config")[0].replace("[events]", 'rules_of = "m"\n[events]')
        (folder / "module.toml").write_text(text)
    front.config.write_text('[modules.m.rules.b]\npattern = "other wipe"\nreason = "r"\n')
    fleet = planning.load(front.recipe)
    assert [m.literals for m in planning.compile_plan(front.recipe, fleet, "PreToolUse").modules] == [
        ["drop", "wipe"],
        ["wipe"],
    ]


def test_a_broken_rule_of_the_user_is_named(front: Front) -> None:
    folder = front.module("m", "return None")
    (folder / "module.toml").write_text(RULES)
    front.config.write_text('[modules.m.rules.b]\npatern = "x"\n')
    assert "[modules.m] rules.b has an unknown key 'patern'" in str(planning.load(front.recipe).problems[0])


def test_a_value_of_the_wrong_kind_is_refused_in_words_for_every_key_of_every_module() -> None:
    said = set()
    for folder in sorted(shipped("modules").iterdir()):
        if not (folder / "module.toml").is_file():
            continue
        manifest = read_manifest(str(folder))
        for key, value in manifest.config.items():
            if key == "rules":
                continue
            with pytest.raises(ManifestError, match=f"{key} must be ") as refused:
                planning.overlay(
                    manifest, {key: 7 if not isinstance(value, int) or isinstance(value, bool) else "7"}, "c.toml"
                )
            said.add(str(refused.value).rpartition(" must be ")[2])
    assert said <= {"true or false", "a whole number", "a number", "a text", "a list", "a table"} and len(said) > 3
