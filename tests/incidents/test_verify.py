"""``od-incidents verify``: stored evidence is run again, and what no longer holds is told loudly and for good."""

import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from overdeck.errors import OverdeckError
from overdeck.incidents import log, registry
from overdeck.incidents.recording import Draft, record
from overdeck.incidents.resolving import Closing, resolve
from overdeck.incidents.verifying import verify
from overdeck.machine.cgroup import Group

if TYPE_CHECKING:
    from conftest import Clone

AT = "2026-11-30T06:00:00.000Z"


def _by_commit(clone: "Clone", title: str = "a guard was killed") -> tuple[str, str]:
    """An incident resolved with a commit; its id and the commit."""
    name = clone.open(title)
    sha = clone.land("fix", f"Incident: {name}")
    resolve(registry.load(clone.root), Closing([name], [f"commit:{sha}"]), AT, warn=pytest.fail)
    return name, sha


def _by_test(
    clone: "Clone", test: str = "import os, sys\nsys.exit(not os.path.exists('fixed'))\n"
) -> tuple[str, str]:
    """An incident resolved with a test that looks for a file; its id and the commit."""
    policy = f'test_command = ["{{python}}", "{{path}}", "{{id}}"]\npython = {json.dumps(sys.executable)}\n'
    (clone.root / "registry.toml").write_text(f'prefix = "OD"\nbranch = "origin/main"\n[evidence]\n{policy}')
    name = clone.open("no file")
    (clone.top / "t.py").write_text(test)
    (clone.top / "fixed").touch()
    clone.git("add", "t.py", "fixed")
    sha = clone.land("fix")
    _resolve(clone, name, f"test:t.py::main@{sha}")
    return name, sha


def _resolve(clone: "Clone", name: str, *artifacts: str) -> None:
    here, claim = registry.load(clone.root), Closing([name], artifacts)
    resolve(here, claim, AT, warn=pytest.fail, consent=lambda _: True, machine=list)


def _verify(
    clone: "Clone", *names: str, machine: Callable[[], list[Group]] = list, **more: Any
) -> list[tuple[str, str]]:
    """Verify with consent; the verdict and the state of each incident."""
    done = verify(
        registry.load(clone.root),
        names or None,
        AT,
        warn=pytest.fail,
        **{"consent": lambda _: True, "machine": machine, **more},
    )
    return [(one.verdict, one.incident.state) for one in done]


def test_what_holds_is_told_and_nothing_is_written(clone: "Clone") -> None:
    name, _ = _by_commit(clone)
    before = clone.log_bytes()
    said = clone.od("verify", "--all")
    assert (said.code, said.out) == (0, f"{name} holds: resolved\n")
    assert clone.log_bytes() == before


def test_a_commit_that_was_taken_back_moves_its_incident_to_evidence_lost(clone: "Clone") -> None:
    name, sha = _by_commit(clone)
    clone.git("push", "--quiet", "--force", "origin", f"{sha}~1:main")
    said = clone.od("verify", name)
    assert (said.code, said.out) == (4, f"{name} lost: evidence-lost\n")
    assert f"EVIDENCE LOST: {name}: commit:{sha}" in said.err
    assert [row["id"] for row in clone.od("list", "--state", "evidence-lost", "--json").data["incidents"]] == [
        name
    ]


def test_a_lost_one_can_be_resolved_with_evidence_that_holds(clone: "Clone") -> None:
    name, sha = _by_commit(clone)
    clone.git("push", "--quiet", "--force", "origin", f"{sha}~1:main")
    assert _verify(clone) == [("lost", "evidence-lost")]
    clone.git("push", "--quiet", "--force", "origin", f"{sha}:main")
    _resolve(clone, name, f"commit:{sha}")
    assert _verify(clone) == [("holds", "resolved")]


def test_tests_are_run_again(clone: "Clone") -> None:
    name, _ = _by_test(clone)
    assert _verify(clone, name) == [("holds", "resolved")]


def test_a_test_that_depends_on_what_is_elsewhere_is_found_out_later(clone: "Clone") -> None:
    flag = clone.home / "flag"
    flag.touch()
    name, _ = _by_test(
        clone, f"import os, sys\nsys.exit(not (os.path.exists('fixed') and os.path.exists({str(flag)!r})))\n"
    )
    flag.unlink()
    assert _verify(clone, name) == [("lost", "evidence-lost")]


def test_a_program_is_run_again_at_the_head_of_today(clone: "Clone") -> None:
    broken, name = clone.git("rev-parse", "HEAD"), clone.open()
    (clone.top / "r.sh").write_text("#!/bin/sh\ntest -e fixed\n")
    (clone.top / "r.sh").chmod(0o755)
    (clone.top / "fixed").touch()
    clone.git("add", "r.sh", "fixed")
    clone.land("fix")
    claim = Closing([name], ["repro:r.sh"], broken=broken)
    resolve(registry.load(clone.root), claim, AT, warn=pytest.fail, consent=lambda _: True, machine=list)
    clone.land("later")
    assert _verify(clone) == [("holds", "resolved")]
    clone.git("rm", "--quiet", "fixed")
    clone.land("a bad merge")
    assert _verify(clone) == [("lost", "evidence-lost")]


def test_without_yes_nothing_is_run_and_nothing_changes(clone: "Clone") -> None:
    name, sha = _by_test(clone)
    before = clone.log_bytes()
    said = clone.od("verify", "--all", "--json")
    assert (said.code, said.document["error"]["code"]) == (2, "needs-yes")
    assert f"in a clean worktree of commit {sha[:12]}" in said.err
    assert clone.log_bytes() == before
    assert clone.od("show", name, "--json").data["state"] == "resolved"


def test_what_nobody_can_tell_now_changes_nothing(clone: "Clone") -> None:
    _by_test(clone)
    before = clone.log_bytes()
    counts = iter([0, 5])

    def throttled() -> list[Group]:
        return [Group(clone.home, throttled=next(counts), periods=9)]

    assert _verify(clone, machine=throttled) == [("inconclusive", "resolved")]
    assert clone.log_bytes() == before


def test_an_object_that_this_clone_does_not_have_changes_nothing(clone: "Clone", second_clone: "Clone") -> None:
    _by_commit(clone)
    clone.git("add", "incidents")
    clone.git("commit", "--quiet", "-m", "log")
    clone.git("push", "--quiet", "--force", "origin", "HEAD:main")
    second_clone.git("pull", "--quiet")
    second_clone.git("remote", "set-url", "origin", "file:///nonexistent/remote.git")
    said = second_clone.od("verify", "--all", "--json")
    assert (said.code, said.document["error"]["code"]) == (5, "fetch-failed")


def test_of_several_each_is_told_and_a_loss_is_the_worst(clone: "Clone") -> None:
    kept, _ = _by_commit(clone, "one")
    lost, sha = _by_commit(clone, "two")
    clone.git("push", "--quiet", "--force", "origin", f"{sha}~1:main")
    said = clone.od("verify", "--all", "--json")
    assert said.code == 4
    assert {row["id"]: (row["verdict"], row["state"]) for row in said.data["incidents"]} == {
        kept: ("holds", "resolved"),
        lost: ("lost", "evidence-lost"),
    }
    assert said.data["incidents"][1]["evidence"][0]["code"] == "not-landed"


def test_an_argv_in_a_log_is_never_run(clone: "Clone") -> None:
    name, sha = _by_test(clone)
    statement = {
        "artifact": f"test:t.py::main@{sha}",
        "sides": {"parent": sha, "commit": sha},
        "runs": {"commit": {"argv": ["touch", str(clone.home / "pwned")]}},
        "argv": ["touch", str(clone.home / "pwned")],
    }
    _forge(clone, name, "evidence-added", [statement])
    assert _verify(clone) == [("holds", "resolved")]
    assert not (clone.home / "pwned").exists()


@pytest.mark.parametrize(
    "evidence",
    [
        [],
        [{}],
        [{"artifact": "https://example.org/pull/7"}],
        [{"artifact": "commit:--upload-pack=touch x"}],
        [{"artifact": "repro:r.sh"}],
        [{"artifact": "repro:r.sh", "sides": {"broken": "--all"}}],
    ],
)
def test_a_resolution_that_somebody_wrote_into_a_log_does_not_stand(clone: "Clone", evidence: list[Any]) -> None:
    name = clone.open()
    _forge(clone, name, "resolved", evidence)
    assert _verify(clone) == [("lost", "evidence-lost")]


def test_one_that_is_not_resolved_has_nothing_to_verify(clone: "Clone") -> None:
    said = clone.od("verify", clone.open(), "--json")
    said.check_refused(2, "not-resolved", "is open")


@pytest.mark.parametrize("args", [(), ("OD-ZZZZ", "--all")])
def test_it_takes_incidents_or_all(clone: "Clone", args: tuple[str, ...]) -> None:
    assert clone.od("verify", *args).code == 2


def test_evidence_found_lost_twice_at_once_is_told_once(clone: "Clone") -> None:
    name, sha = _by_commit(clone)
    clone.git("push", "--quiet", "--force", "origin", f"{sha}~1:main")
    assert _verify(clone, name) == [("lost", "evidence-lost")]
    with pytest.raises(OverdeckError, match="is evidence-lost"):
        _verify(clone, name)
    assert [event.kind for event in log.read(clone.log).events] == ["opened", "resolved", "evidence-lost"]


def _forge(clone: "Clone", name: str, kind: str, evidence: list[Any]) -> None:
    record(
        registry.load(clone.root),
        AT,
        lambda turn: turn.say(Draft(kind, turn.state.find(name).key, {"evidence": evidence})) and None,
        warn=pytest.fail,
    )
