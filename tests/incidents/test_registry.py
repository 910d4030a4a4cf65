"""Finding a registry, and reading registry.toml."""

from pathlib import Path

import pytest

from overdeck.errors import ExitCode, OverdeckError
from overdeck.incidents.registry import Policy, Registry, load, locate

GOOD = 'name = "x"\nprefix = "OD"\nbranch = "origin/main"\n'


def _make(root: Path, text: str = GOOD) -> Path:
    root.mkdir(parents=True)
    (root / "registry.toml").write_text(text)
    return root


def test_it_is_found_upwards_from_the_cwd(tmp_path: Path) -> None:
    root = _make(tmp_path / "repo" / "incidents")
    deep = tmp_path / "repo" / "a" / "b"
    deep.mkdir(parents=True)
    assert locate(None, deep, {"HOME": str(tmp_path)}) == root


def test_the_nearest_one_wins(tmp_path: Path) -> None:
    _make(tmp_path / "incidents")
    near = _make(tmp_path / "repo" / "incidents")
    assert locate(None, tmp_path / "repo", {"HOME": str(tmp_path)}) == near


def test_a_folder_of_that_name_without_the_marker_is_passed_over(tmp_path: Path) -> None:
    root = _make(tmp_path / "incidents")
    (tmp_path / "repo" / "incidents").mkdir(parents=True)
    assert locate(None, tmp_path / "repo", {"HOME": str(tmp_path)}) == root


def test_without_one_the_users_own_is_taken(tmp_path: Path) -> None:
    root = _make(tmp_path / "state" / "overdeck" / "incidents")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    environ = {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    assert locate(None, elsewhere, environ) == root


def test_the_environment_goes_before_the_cwd_and_the_option_before_both(tmp_path: Path) -> None:
    _make(tmp_path / "incidents")
    by_environment, by_option = _make(tmp_path / "e"), _make(tmp_path / "o")
    environ = {"HOME": str(tmp_path), "OVERDECK_REGISTRY": str(by_environment)}
    assert locate(None, tmp_path, environ) == by_environment
    assert locate(Path("o"), tmp_path, environ) == by_option


def test_a_chosen_folder_without_registry_is_no_reason_to_take_another(tmp_path: Path) -> None:
    _make(tmp_path / "incidents")
    with pytest.raises(OverdeckError) as raised:
        locate(tmp_path / "nothing", tmp_path, {"HOME": str(tmp_path)})
    assert raised.value.exit_code is ExitCode.NOT_FOUND
    assert raised.value.hint == f"od-incidents init --registry {tmp_path / 'nothing'}"


def test_naming_the_repository_in_place_of_its_registry_is_helped(tmp_path: Path) -> None:
    _make(tmp_path / "incidents")
    with pytest.raises(OverdeckError) as raised:
        locate(tmp_path, tmp_path, {"HOME": str(tmp_path)})
    assert raised.value.hint == f"--registry {tmp_path / 'incidents'}"


def test_settings_are_read(tmp_path: Path) -> None:
    root = _make(tmp_path / "r", 'name = "fleet"\nprefix = "FL7"\nbranch = "up/stream/release-1.2"\n')
    assert load(root) == Registry(root, "fleet", "FL7", "up/stream/release-1.2")


def test_an_empty_file_has_the_defaults(tmp_path: Path) -> None:
    assert load(_make(tmp_path / "r", "")).branch == "origin/main"


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ('name = "x"\nprefix = \n', 2, "Invalid value"),
        ('name = "x"\n\nprefix = 5\n', 3, "prefix is 5"),
        ('prefix = "od"\n', 1, "prefix is 'od'"),
        ('name = "x"\nbranch = "main"\n', 2, "REMOTE/BRANCH"),
        ('branch = "--upload-pack=touch x/main"\n', 1, "REMOTE/BRANCH"),
        ('branch = "origin/--exec=x"\n', 1, "REMOTE/BRANCH"),
        ('branch = "origin/a..b"\n', 1, "REMOTE/BRANCH"),
        ("a = 1\na = 2\n", 2, "Cannot overwrite"),
        ('evidence = "yes"\n', 1, "an \\[evidence\\] table"),
        ('[evidence]\ntest_command = "pytest"\n', 2, "a list of words"),
        ('[evidence]\ntest_command = ["pytest"]\n', 2, "with {path} in it"),
        ("[evidence]\npython = 3\n", 2, "the path of an interpreter"),
        ("[evidence]\ntime_limit_s = 0\n", 2, "at most a day"),
        ("[evidence]\ntime_limit_s = true\n", 2, "at most a day"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_line(tmp_path: Path, text: str, line: int, why: str) -> None:
    root = _make(tmp_path / "r", text)
    with pytest.raises(OverdeckError, match=why) as raised:
        load(root)
    assert raised.value.exit_code is ExitCode.USAGE
    assert raised.value.message.startswith(f"{root / 'registry.toml'}, line {line}: ")


def test_bytes_that_are_not_utf8_are_named_with_their_line(tmp_path: Path) -> None:
    root = _make(tmp_path / "r")
    (root / "registry.toml").write_bytes(b'name = "x"\n# caf\xe9\n')
    with pytest.raises(OverdeckError, match=r"registry\.toml, line 2: is not UTF-8"):
        load(root)


def test_a_misspelt_key_is_told(tmp_path: Path) -> None:
    root = _make(tmp_path / "r", GOOD + 'brnach = "origin/dev"\n')
    assert load(root).warnings == (f"{root / 'registry.toml'}, line 4: unknown key 'brnach' is ignored",)


def test_the_policy_of_evidence_is_read_and_what_it_does_not_know_is_told(tmp_path: Path) -> None:
    text = '[evidence]\ntest_command = ["make", "{path}"]\npython = "py"\ntime_limit_s = 5\nforce = true\n'
    found = load(_make(tmp_path / "r", text))
    assert found.policy == Policy(("make", "{path}"), "py", 5.0)
    assert found.warnings == (f"{tmp_path / 'r' / 'registry.toml'}, line 5: unknown key 'force' is ignored",)
