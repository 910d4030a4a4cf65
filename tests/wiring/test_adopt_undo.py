"""``overdeck adopt --undo``: byte for byte where nobody wrote since, and what is left where something was killed."""

import json
from pathlib import Path

import pytest
from adopthome import DENY, AdoptHome, group


@pytest.fixture
def home(tmp_path: Path) -> AdoptHome:
    return AdoptHome(tmp_path / "home")


@pytest.mark.parametrize("shape", ["crlf", "tabs", "bom", "no-newline", "one-line"])
def test_undo_gives_back_the_very_bytes_of_any_shape(home: AdoptHome, shape: str) -> None:
    data = {
        "a": 1,
        "hooks": {
            "PreToolUse": [group("Bash", "true"), group("Edit", "true", "exit 0")],
            "Stop": [group("", "true")],
        },
        "z": [1, {}],
    }
    text = json.dumps(data, indent=None if shape == "one-line" else "\t" if shape == "tabs" else 4)
    raw = text.replace("\n", "\r\n" if shape == "crlf" else "\n").encode() + (
        b"" if shape == "no-newline" else b"\n"
    )
    raw = b"\xef\xbb\xbf" + raw if shape == "bom" else raw
    home.settings.parent.mkdir()
    home.settings.write_bytes(raw)
    assert home.adopt("--yes", "--only", "exit 0", "--json").data["adopted"] == ["hook"]
    assert home.adopt("--undo", "--json").data["exact"] is True
    assert home.settings.read_bytes() == raw


def test_undo_after_somebody_wrote_takes_ours_out_and_puts_theirs_back(home: AdoptHome) -> None:
    command = home.script("refuse.py", DENY)
    home.wire({"PreToolUse": [group("Bash", command)]})
    home.adopt("--yes")
    changed = json.loads(home.settings.read_bytes())
    changed["hooks"]["PreToolUse"].append(group("Edit", "echo later"))
    home.settings.write_text(json.dumps(changed))
    assert home.adopt("--undo", "--json").data["exact"] is False
    groups = json.loads(home.settings.read_bytes())["hooks"]["PreToolUse"]
    assert groups == [group("Edit", "echo later"), group("Bash", command)]
    assert not list(home.modules.iterdir())


def test_undo_without_an_adoption_says_so(home: AdoptHome) -> None:
    home.adopt("--undo", "--json").check_refused(3, "not-found", "nothing is adopted")


def test_two_adoptions_are_undone_together(home: AdoptHome) -> None:
    before = home.wire({"PreToolUse": [group("Bash", "true", "exit 0")]})
    home.adopt("--yes", "--only", "true")
    home.adopt("--yes", "--only", "exit 0")
    assert home.adopt("--undo", "--json").data["exact"] is True
    assert home.settings.read_bytes() == before


def test_uninstall_does_not_leave_adopted_hooks_without_an_entry(home: AdoptHome) -> None:
    before = home.wire({"PreToolUse": [group("Bash", "true")]})
    home.adopt("--yes")
    home.run("overdeck", "uninstall", "--json").check_refused(2, "adopted", "run through our entries only")
    home.adopt("--undo")
    assert home.run("overdeck", "uninstall").code == 0
    assert home.settings.read_bytes() == before


def test_a_failure_on_the_way_leaves_everything_as_it_was(home: AdoptHome) -> None:
    before = home.wire({"PreToolUse": [group("Bash", "true")]})
    broken = home.modules / "broken"
    broken.mkdir(parents=True)
    (broken / "module.toml").write_text('id = "broken"\n')
    home.adopt("--yes", "--json").check_refused(2, "bad-manifest", "broken")
    assert home.settings.read_bytes() == before
    assert [path.name for path in home.modules.iterdir()] == ["broken"]
    assert not (home.root / ".config" / "overdeck" / "config.toml").exists()


@pytest.fixture(params=["the switch is recorded", "no switch is recorded"])
def killed(home: AdoptHome, request: pytest.FixtureRequest) -> bytes:
    """A home as a kill leaves it that comes between an adoption's modules and its settings; the settings' bytes."""
    before = home.wire({"PreToolUse": [group("Bash", "true")]})
    home.adopt("--yes")
    home.settings.write_bytes(before)
    switches = home.state / "adopted" / "switches.json"
    [switch] = json.loads(switches.read_bytes())
    pending = {
        "file": switch["file"],
        "before": switch["before"],
        "ids": ["hook"],
        "config": switch["made_config"],
    }
    (switches.parent / "pending.json").write_text(json.dumps(pending))
    if request.param != "the switch is recorded":
        switches.unlink()
    return before


def test_the_modules_of_a_killed_adoption_go_with_the_next_one(home: AdoptHome, killed: bytes) -> None:
    ran = home.adopt("--yes", "--json")
    assert ran.data["adopted"] == ["hook"] and "killed" in ran.err
    assert [path.name for path in home.modules.iterdir()] == ["hook"]
    home.adopt("--undo")
    assert home.settings.read_bytes() == killed and not list(home.modules.iterdir())


def test_undo_takes_away_the_modules_of_a_killed_adoption(home: AdoptHome, killed: bytes) -> None:
    ran = home.adopt("--undo", "--json")
    assert (ran.code, ran.data["undone"]) == (0, ["hook"])
    assert home.settings.read_bytes() == killed and not list(home.modules.iterdir())
    assert not (home.root / ".config" / "overdeck" / "config.toml").exists()
    home.adopt("--undo", "--json").check_refused(3, "not-found", "nothing is adopted")


def test_an_adoption_that_was_made_is_not_taken_for_a_killed_one(home: AdoptHome) -> None:
    home.wire({"PreToolUse": [group("Bash", "true")]})
    home.adopt("--yes")
    [switch] = json.loads((home.state / "adopted" / "switches.json").read_bytes())
    pending = {"file": switch["file"], "before": switch["before"], "ids": ["hook"], "config": ""}
    (home.state / "adopted" / "pending.json").write_text(json.dumps(pending))
    home.adopt("--yes")
    assert [path.name for path in home.modules.iterdir()] == ["hook"]
    assert not (home.state / "adopted" / "pending.json").exists()


def test_a_pending_record_that_names_a_folder_elsewhere_is_not_followed(home: AdoptHome, killed: bytes) -> None:
    precious = home.root / ".config" / "precious"
    precious.mkdir()
    file = home.state / "adopted" / "pending.json"
    file.write_text(file.read_text().replace('"hook"', '"../../precious"'))
    home.adopt("--undo")
    assert precious.is_dir()
