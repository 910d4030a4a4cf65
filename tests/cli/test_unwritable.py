"""A home that cannot be written, and an output that takes nothing: said in words, with exit code 2."""

import json
import subprocess
from pathlib import Path

import pytest
from homes import Home

from overdeck.process import argv_of


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def blocked(home: Home) -> Home:
    """The state directory cannot be made, not even by root: a file is in its way."""
    (home.root / ".local").write_text("")
    return home


@pytest.mark.parametrize(
    "argv",
    [("install",), ("fires",), ("ingest",), ("fires", "keep", "git-decision", "--because", "it is needed")],
    ids=lambda argv: " ".join(argv[:2]),
)
def test_a_state_directory_that_cannot_be_made_is_named_with_the_reason(
    blocked: Home, argv: tuple[str, ...]
) -> None:
    ran = blocked.run("overdeck", *argv)

    assert ran.code == 2, ran.err
    assert str(blocked.root / ".local") in ran.err and "Not a directory" in ran.err
    assert "next:" in ran.err and "Traceback" not in ran.err and "bug" not in ran.err


def test_the_same_error_is_the_envelope_under_json(blocked: Home) -> None:
    ran = blocked.run("overdeck", "fires", "keep", "git-decision", "--because", "x", "--json")

    ran.check_refused(2, "unusable-path", "Not a directory")
    assert ran.document["schema"] == "overdeck.fires.keep/1"


@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize(
    "argv",
    [
        ("overdeck", "hooks", "list"),
        ("overdeck", "hooks", "list", "--json"),
        ("overdeck", "hooks", "show", "x", "--json"),
        ("overdeck", "audit", "--settings", "long.json", "--json"),  # 4 to 8 kB: stdout has two buffers
    ],
    ids=" ".join,
)
def test_a_full_output_is_said_in_words(home: Home, argv: tuple[str, ...], unbuffered: str) -> None:
    missing = [{"type": "command", "command": f"/nowhere/hook-{number}"} for number in range(20)]
    (home.root / "long.json").write_text(json.dumps({"hooks": {"Stop": [{"hooks": missing}]}}))
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*argv_of(argv[0]), *argv[1:]],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=home.environment(PYTHONUNBUFFERED=unbuffered),
            cwd=home.root,
            check=False,
        )

    assert done.returncode == 2
    assert "error: standard output cannot be written: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr


def test_an_error_that_the_output_does_not_take_goes_to_stderr(home: Home) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*argv_of("overdeck"), "frobnicate", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=home.environment(),
            cwd=home.root,
            check=False,
        )

    assert done.returncode == 2 and "frobnicate" in done.stderr
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr


def test_narration_stands_where_it_was_said_when_both_streams_go_into_one_pipe(home: Home) -> None:
    done = subprocess.run(
        [*argv_of("overdeck"), "install"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=home.environment(),
        cwd=home.root,
        check=True,
    )
    lines = done.stdout.splitlines()

    assert lines[-1] == "next: overdeck doctor" and lines[-2].startswith("installed ")


def full(home: Home, *argv: str) -> str:
    """What a command says where no file takes another byte."""
    limited = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *argv_of("overdeck"), *argv]
    done = subprocess.run(limited, capture_output=True, text=True, env=home.environment(), check=False)
    assert done.returncode == 2, done.stderr
    return done.stderr


def test_a_full_disk_is_told_with_what_shows_it_and_nothing_is_half_done(home: Home) -> None:
    assert f"next: df -h {home.state}/plans/opencode" in full(home, "install", "--client", "opencode")
    file = Path(home.run("overdeck", "install", "--client", "opencode", "--json").data["file"])
    installed = file.read_bytes()
    said = full(home, "uninstall", "--client", "opencode")

    assert "the plugin is as it was" in said and f"next: df -h {home.state}/backups" in said
    assert file.read_bytes() == installed
