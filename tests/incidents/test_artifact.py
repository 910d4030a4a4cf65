"""What is an artifact, before anything is looked at."""

import pytest

from overdeck.errors import ExitCode, OverdeckError
from overdeck.incidents.artifact import Artifact, parse


def test_a_commit_is_one() -> None:
    assert parse("commit:0fe056c2d") == Artifact("commit", "0fe056c2d")


@pytest.mark.parametrize(
    "ref",
    [
        "commit:",
        "commit:abc",
        "commit:HEAD",
        "commit:main",
        "commit:0FE056C2D",
        "commit:--upload-pack=touch /x",
        "commit:-0fe056c2d",
        "commit:0fe056c2d\n--exec",
        "commit:0fe056c2d^{tree}",
        "commit:" + "a" * 65,
    ],
)
def test_what_is_no_sha_is_refused_before_git_sees_it(ref: str) -> None:
    with pytest.raises(OverdeckError) as raised:
        parse(ref)
    assert (raised.value.exit_code, raised.value.code) == (ExitCode.USAGE, "bad-sha")


@pytest.mark.parametrize(
    "ref", ["", "https://example.org/pull/7", "fixed it, trust me", "Commit:0fe056c2d", "pr:7"]
)
def test_addresses_and_sentences_are_no_artifacts(ref: str) -> None:
    with pytest.raises(OverdeckError, match="is no artifact: an artifact is") as raised:
        parse(ref)
    assert raised.value.exit_code is ExitCode.USAGE


def test_a_bare_sha_is_told_its_form() -> None:
    with pytest.raises(OverdeckError) as raised:
        parse("0fe056c2d")
    assert raised.value.hint == "--artifact commit:0fe056c2d"


@pytest.mark.parametrize("ref", ["test:tests/x.py::test_y@0fe056c2d", "repro:r.sh", "resume:r.sh"])
def test_kinds_without_a_verifier_are_unverifiable_and_not_believed(ref: str) -> None:
    with pytest.raises(OverdeckError, match="this version can verify commit: only") as raised:
        parse(ref)
    assert raised.value.exit_code is ExitCode.UNVERIFIABLE
