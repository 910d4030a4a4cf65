"""What is an artifact, before anything is looked at."""

import pytest

from overdeck.errors import ExitCode, OverdeckError
from overdeck.incidents.artifact import Artifact, parse, same


def test_a_commit_is_one() -> None:
    assert parse("commit:0fe056c2d") == Artifact("commit", sha="0fe056c2d")


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


@pytest.mark.parametrize(
    ("ref", "meant"),
    [
        ("test:tests/x.py::test_y@0fe056c2d", Artifact("test", "0fe056c2d", "tests/x.py", "test_y")),
        ("test:x.py::T::test_y[a@b::c]@0fe056c2d", Artifact("test", "0fe056c2d", "x.py", "T::test_y[a@b::c]")),
        ("repro:repros/a b.sh", Artifact("repro", path="repros/a b.sh")),
        ("resume:r.sh", Artifact("resume", path="r.sh")),
    ],
)
def test_tests_and_programs_are_some(ref: str, meant: Artifact) -> None:
    assert parse(ref) == meant
    assert str(meant) == ref


@pytest.mark.parametrize(
    ("ref", "code"),
    [
        ("test:tests/x.py", "bad-test"),
        ("test:tests/x.py::test_y", "bad-test"),
        ("test:tests/x.py::@0fe056c2d", "bad-test"),
        ("test:tests/x.py::--collect-only@0fe056c2d", "bad-test"),
        ("test:tests/x.py::a\nb@0fe056c2d", "bad-test"),
        ("test:tests/x.py::test_y@HEAD", "bad-sha"),
        ("test:::test_y@0fe056c2d", "bad-path"),
        ("test:../x.py::test_y@0fe056c2d", "bad-path"),
        ("test:a/../../x.py::test_y@0fe056c2d", "bad-path"),
        ("test:--pyargs::test_y@0fe056c2d", "bad-path"),
        ("repro:", "bad-path"),
        ("repro:/bin/false", "bad-path"),
        ("repro:a/..", "bad-path"),
        ("repro:-x", "bad-path"),
        ("resume:a\x1b[31m", "bad-path"),
        ("repro:a/", "bad-path"),
    ],
)
def test_what_leaves_the_repository_or_could_be_an_option_is_refused(ref: str, code: str) -> None:
    with pytest.raises(OverdeckError) as raised:
        parse(ref)
    assert (raised.value.exit_code, raised.value.code) == (ExitCode.USAGE, code)


@pytest.mark.parametrize(
    ("claimed", "held", "is_same"),
    [
        ("commit:0fe056c2d", "commit:0fe056c2d1", True),
        ("commit:0fe056c2d1", "commit:0fe056c2d", False),
        ("test:x.py::t@0fe056c2d", "test:x.py::t@0fe056c2d1", True),
        ("test:x.py::t@0fe056c2d", "test:x.py::u@0fe056c2d1", False),
        ("repro:a", "repro:ab", False),
        ("repro:a", "nonsense", False),
    ],
)
def test_a_shortened_sha_means_the_artifact_in_the_statement(claimed: str, held: str, is_same: bool) -> None:
    assert same(parse(claimed), held) is is_same
