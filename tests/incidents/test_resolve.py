"""``od-incidents resolve``: what is believed, what is rejected, and that nothing is written on a refusal."""

import concurrent.futures
import json
import subprocess
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from overdeck.errors import OverdeckError
from overdeck.incidents import commit
from overdeck.incidents.fold import State
from overdeck.incidents.opening import Sighting, open_incident
from overdeck.incidents.registry import Registry
from overdeck.incidents.resolving import Closing, _to_say, resolve

if TYPE_CHECKING:
    from conftest import Clone
    from homes import Ran

AT = "2026-11-30T06:00:00.000Z"


def _fixed(clone: "Clone", name: str) -> str:
    return clone.land("fix the guard", f"Incident: {name}")


def _refused(clone: "Clone", *args: str) -> "Ran":
    """Run resolve, and see that the log did not change by a byte."""
    before = clone.log_bytes()
    said = clone.od("resolve", *args)
    assert said.code != 0
    assert clone.log_bytes() == before
    return said


class TestWithoutArtifact:
    def test_it_exits_2_and_says_what_an_artifact_is_and_what_to_type(self, clone: "Clone") -> None:
        name = clone.open()
        said = _refused(clone, name)
        assert said.code == 2
        assert "an artifact is something the registry can check by itself: commit:SHA" in said.err
        assert f"od-incidents resolve {name} --artifact commit:SHA" in said.err

    def test_json_has_the_same_refusal_alone_on_stdout(self, clone: "Clone") -> None:
        said = _refused(clone, clone.open(), "--json")
        assert (said.code, said.document["error"]["code"]) == (2, "no-artifact")
        assert said.document["schema"] == "overdeck.incidents.resolve/1"

    @pytest.mark.parametrize("verb", ["close", "done"])
    def test_what_agents_guess_leads_here(self, clone: "Clone", verb: str) -> None:
        said = clone.od(verb, clone.open())
        assert said.code == 2
        assert "od-incidents resolve" in said.err

    def test_a_summary_is_no_artifact(self, clone: "Clone") -> None:
        assert _refused(clone, clone.open(), "--message", "fixed it").code == 2

    def test_an_address_is_no_artifact(self, clone: "Clone") -> None:
        said = _refused(clone, clone.open(), "--artifact", "https://example.org/pull/7")
        assert said.code == 2
        assert "is no artifact" in said.err

    def test_there_is_no_force(self, clone: "Clone") -> None:
        assert _refused(clone, clone.open(), "--force").code == 2


class TestVerified:
    def test_a_landed_commit_that_names_the_incident_resolves_it(self, clone: "Clone") -> None:
        name = clone.open()
        sha = _fixed(clone, name)
        said = clone.od("resolve", name, "--artifact", f"commit:{sha}", "--summary", "shorter check", "--json")
        assert said.code == 0
        assert (said.data["id"], said.data["class"], said.data["state"]) == (name, "hook-timeout", "resolved")
        assert clone.od("list", "--state", "resolved", "--json").data["incidents"][0]["id"] == name

    def test_the_evidence_is_a_statement_that_can_be_checked_again(self, clone: "Clone") -> None:
        name = clone.open()
        sha = _fixed(clone, name)
        clone.od("resolve", name, "--artifact", f"commit:{sha}")
        head = clone.land("later work")
        (evidence,) = clone.od("show", name, "--json").data["evidence"]
        assert evidence["artifact"] == f"commit:{sha}"
        assert (evidence["verdict"], evidence["linked_by"]) == ("verified", "trailer")
        assert evidence["head"] == sha != head
        assert evidence["verifier"].startswith("overdeck ")
        ancestry = next(check for check in evidence["checks"] if "merge-base" in check["argv"])
        assert ancestry["exit"] == 0
        assert subprocess.run(ancestry["argv"], cwd=clone.top, check=False).returncode == 0

    def test_a_short_sha_is_stored_in_full(self, clone: "Clone") -> None:
        name = clone.open()
        sha = _fixed(clone, name)
        said = clone.od("resolve", name, "--artifact", f"commit:{sha[:8]}", "--json")
        assert said.data["evidence"][0]["artifact"] == f"commit:{sha}"

    def test_what_others_pushed_since_the_last_fetch_counts(self, clone: "Clone", second_clone: "Clone") -> None:
        name = clone.open()
        sha = second_clone.land("fix", f"Incident: {name}")
        assert clone.od("resolve", name, "--artifact", f"commit:{sha}").code == 0

    def test_the_beginning_of_an_id_is_enough_in_a_trailer(self, clone: "Clone") -> None:
        name = clone.open()
        sha = _fixed(clone, name[:-1].lower())
        assert clone.od("resolve", name[:5], "--artifact", f"commit:{sha}").code == 0

    def test_a_second_time_writes_nothing_even_without_network(self, clone: "Clone") -> None:
        name = clone.open()
        sha = _fixed(clone, name)
        clone.od("resolve", name, "--artifact", f"commit:{sha}")
        before = clone.log_bytes()
        clone.git("remote", "set-url", "origin", "file:///nonexistent/remote.git")
        said = clone.od("resolve", name, "--artifact", f"commit:{sha[:10]}")
        assert (said.code, said.out.split(":")[0]) == (0, f"{name} already resolved")
        assert clone.log_bytes() == before

    def test_another_commit_is_added_to_the_evidence(self, clone: "Clone") -> None:
        name = clone.open()
        for _ in range(2):
            assert clone.od("resolve", name, "--artifact", f"commit:{_fixed(clone, name)}").code == 0
        data = clone.od("show", name, "--json").data
        assert [event["kind"] for event in data["timeline"]] == ["opened", "resolved", "evidence-added"]
        assert len(data["evidence"]) == 2

    def test_one_commit_may_end_several_incidents(self, clone: "Clone") -> None:
        names = [clone.open("one"), clone.open("two")]
        sha = clone.land("fix both", *(f"Incident: {name}" for name in names))
        said = clone.od("resolve", *names, "--artifact", f"commit:{sha}", "--json")
        assert [(row["id"], row["state"]) for row in said.data["incidents"]] == [
            (name, "resolved") for name in names
        ]

    def test_each_of_several_commits_counts_for_the_incident_it_names(self, clone: "Clone") -> None:
        names = [clone.open("one"), clone.open("two")]
        shas = [_fixed(clone, name) for name in names]
        said = clone.od("resolve", *names, *(f"--artifact=commit:{sha}" for sha in shas), "--json")
        found = [[one["artifact"] for one in row["evidence"]] for row in said.data["incidents"]]
        assert found == [[f"commit:{shas[0]}"], [f"commit:{shas[1]}"]]

    def test_a_retry_after_one_of_them_was_resolved_alone_resolves_the_other(self, clone: "Clone") -> None:
        names = [clone.open("one"), clone.open("two")]
        refs = [f"--artifact=commit:{_fixed(clone, name)}" for name in names]
        assert clone.od("resolve", names[0], refs[0]).code == 0
        said = clone.od("resolve", *names, *refs, "--json")
        assert [row["recorded"] for row in said.data["incidents"]] == [False, True]

    def test_the_configured_branch_is_the_one_that_counts(self, clone: "Clone") -> None:
        name = clone.open()
        sha = clone.commit("fix", f"Incident: {name}")
        clone.git("push", "--quiet", "origin", "HEAD:release/1.2")
        assert _refused(clone, name, "--artifact", f"commit:{sha}").code == 4
        (clone.root / "registry.toml").write_text('prefix = "OD"\nbranch = "origin/release/1.2"\n')
        assert clone.od("resolve", name, "--artifact", f"commit:{sha}").code == 0

    def test_the_fix_may_be_in_another_repository(self, clone: "Clone", second_clone: "Clone") -> None:
        root = clone.home / "incidents"
        assert clone.od("init", "--registry", str(root)).code == 0
        name = replace(clone, top=root.parent).open()
        sha = second_clone.land("fix", f"Incident: {name}")
        resolve_here = ("resolve", name, "--registry", str(root), "--artifact", f"commit:{sha}")
        assert clone.od(*resolve_here).code == 5
        assert clone.od(*resolve_here, "--repo", str(second_clone.top)).code == 0


class TestRejected:
    def test_a_commit_that_was_not_pushed(self, clone: "Clone") -> None:
        name = clone.open()
        sha = clone.commit("fix", f"Incident: {name}")
        said = _refused(clone, name, "--artifact", f"commit:{sha}", "--json")
        assert (said.code, said.document["error"]["code"]) == (4, "not-landed")
        assert said.data["verdict"] == "rejected"

    def test_a_commit_on_another_branch(self, clone: "Clone") -> None:
        name = clone.open()
        sha = clone.commit("fix", f"Incident: {name}")
        clone.git("push", "--quiet", "origin", "HEAD:topic")
        assert _refused(clone, name, "--artifact", f"commit:{sha}").code == 4

    def test_a_local_branch_moved_by_hand_does_not_help(self, clone: "Clone") -> None:
        name = clone.open()
        sha = clone.commit("fix", f"Incident: {name}")
        clone.git("update-ref", "refs/remotes/origin/main", sha)
        assert _refused(clone, name, "--artifact", f"commit:{sha}").code == 4

    def test_a_replaced_history_does_not_help(self, clone: "Clone") -> None:
        name = clone.open()
        head = clone.git("rev-parse", "origin/main")
        sha = clone.commit("fix", f"Incident: {name}")
        clone.git("replace", "--graft", head, sha)
        assert _refused(clone, name, "--artifact", f"commit:{sha}").code == 4

    def test_a_commit_that_was_pushed_and_taken_back(self, clone: "Clone") -> None:
        name = clone.open()
        sha = _fixed(clone, name)
        clone.git("push", "--quiet", "--force", "origin", f"{sha}~1:main")
        assert _refused(clone, name, "--artifact", f"commit:{sha}").code == 4

    def test_a_commit_without_trailer(self, clone: "Clone") -> None:
        name = clone.open()
        sha = clone.land(f"fix {name}, mentioned in the subject only")
        said = _refused(clone, name, "--artifact", f"commit:{sha}")
        assert said.code == 4
        assert "it has no Incident: trailer" in said.err
        assert f"Incident: {name}" in said.err

    def test_a_commit_that_names_another_incident(self, clone: "Clone") -> None:
        name, other = clone.open("one"), clone.open("two")
        said = _refused(clone, name, "--artifact", f"commit:{_fixed(clone, other)}")
        assert said.code == 4
        assert f"its trailer names {other}" in said.err

    def test_one_bad_artifact_refuses_all(self, clone: "Clone") -> None:
        name = clone.open()
        good, bad = _fixed(clone, name), clone.commit("not pushed", f"Incident: {name}")
        assert _refused(clone, name, "--artifact", f"commit:{good}", "--artifact", f"commit:{bad}").code == 4

    def test_an_artifact_that_names_nobody_is_not_passed_over_in_silence(self, clone: "Clone") -> None:
        name = clone.open()
        good, unnamed = _fixed(clone, name), clone.land("something else")
        said = _refused(clone, name, "--artifact", f"commit:{good}", "--artifact", f"commit:{unnamed}")
        assert (said.code, unnamed[:12] in said.err) == (4, True)

    def test_one_bad_incident_refuses_all(self, clone: "Clone") -> None:
        one, two = clone.open("one"), clone.open("two")
        assert _refused(clone, one, two, "--artifact", f"commit:{_fixed(clone, one)}").code == 4

    def test_a_trailer_that_fits_two_incidents_names_neither(self, clone: "Clone") -> None:
        name = clone.open("one")
        clone.open("two")
        assert _refused(clone, name, "--artifact", f"commit:{_fixed(clone, 'OD')}").code == 4


class TestAsserted:
    def test_because_takes_the_place_of_the_trailer_and_is_shown_for_ever(self, clone: "Clone") -> None:
        name = clone.open()
        sha = clone.land("fix")
        said = clone.od("resolve", name, "--artifact", f"commit:{sha}", "--because", "landed before the incident")
        assert (said.code, "(asserted)" in said.out) == (0, True)
        shown = clone.od("show", name).out
        assert "asserted: commit:" in shown
        assert "because: landed before the incident" in shown

    def test_because_does_not_replace_the_landing(self, clone: "Clone") -> None:
        sha = clone.commit("fix")
        assert _refused(clone, clone.open(), "--artifact", f"commit:{sha}", "--because", "trust me").code == 4

    def test_an_empty_because_is_refused(self, clone: "Clone") -> None:
        sha = clone.land("fix")
        assert _refused(clone, clone.open(), "--artifact", f"commit:{sha}", "--because", " ").code == 2


class TestUnverifiable:
    def test_an_unknown_object(self, clone: "Clone") -> None:
        said = _refused(clone, clone.open(), "--artifact", "commit:" + "0123456789" * 4, "--json")
        message = said.check_refused(5, "unknown-commit", "nobody can tell whether it is the fix")["error"][
            "message"
        ]
        assert f" in {clone.top}, " in message, "the repository is called by its top, not by the registry in it"

    def test_a_branch_called_like_a_sha_is_not_taken_for_one(self, clone: "Clone") -> None:
        name = clone.open()
        _fixed(clone, name)
        clone.git("branch", "deadbee")
        assert _refused(clone, name, "--artifact", "commit:deadbee").code == 5

    def test_no_remote(self, clone: "Clone") -> None:
        name = clone.open()
        sha = _fixed(clone, name)
        clone.git("remote", "remove", "origin")
        said = _refused(clone, name, "--artifact", f"commit:{sha}", "--json")
        assert (said.code, said.document["error"]["code"]) == (5, "no-remote")

    def test_a_fetch_that_fails_although_the_ref_is_known(self, clone: "Clone") -> None:
        name = clone.open()
        sha = _fixed(clone, name)
        clone.git("remote", "set-url", "origin", "file:///nonexistent/remote.git")
        said = _refused(clone, name, "--artifact", f"commit:{sha}", "--json")
        assert (said.code, said.document["error"]["code"]) == (5, "fetch-failed")

    def test_a_shallow_clone_cannot_tell_what_is_no_ancestor(self, clone: "Clone") -> None:
        name = clone.open()
        sha = _fixed(clone, name)
        clone.land("later")
        shallow = clone.home / "shallow"
        clone.git("clone", "--quiet", "--depth=1", clone.git("remote", "get-url", "origin"), str(shallow))
        subprocess.run(["git", "fetch", "-q", "--depth=1", "origin", sha], cwd=shallow, env=clone.env, check=True)
        said = _refused(clone, name, "--artifact", f"commit:{sha}", "--repo", str(shallow), "--json")
        assert (said.code, said.document["error"]["code"]) == (5, "shallow-clone")

    def test_a_registry_outside_git(self, clone: "Clone") -> None:
        root = clone.home / "incidents"
        clone.od("init", "--registry", str(root))
        name = replace(clone, top=root.parent).open()
        said = clone.od("resolve", name, "--registry", str(root), "--artifact", "commit:0fe056c2d")
        assert said.code == 5
        assert "--repo DIR" in said.err


class TestOfSeveral:
    """Everything that is wrong is told at once, with the highest code; nothing is written."""

    def test_each_failure_is_in_the_data_and_the_worst_is_the_exit_code(self, clone: "Clone") -> None:
        names = [clone.open("one"), clone.open("two")]
        unmerged, unknown = clone.commit("fix"), "0123456789" * 4
        refs = [f"--artifact=commit:{sha}" for sha in (unmerged, unknown, _fixed(clone, names[0]))]
        clone.git("push", "--quiet", "--force", "origin", f"{unmerged}~1:main")
        said = _refused(clone, *names, *refs, "--json")
        said.check_refused(5, "unknown-commit", "has not landed")
        assert [(row["code"], row["exit"]) for row in said.data["failures"]] == [
            ("not-landed", 4),
            ("unknown-commit", 5),
            ("not-landed", 4),
        ]

    def test_a_missing_link_and_an_unknown_id_are_told_beside_what_git_says(self, clone: "Clone") -> None:
        name = clone.open()
        silent, unknown = clone.land("fix"), "0123456789" * 4
        refs = [f"--artifact=commit:{sha}" for sha in (unknown, silent)]
        said = _refused(clone, name, "OD-ZZZZ", *refs, "--json")
        said.check_refused(5, "unknown-commit", "there is no incident 'OD-ZZZZ'")
        assert sorted((row["exit"], row["code"]) for row in said.data["failures"]) == [
            (3, "no-such-incident"), (4, "not-named"), (5, "unknown-commit"),
        ]  # fmt: skip

    @pytest.mark.parametrize("landed", [True, False])
    def test_an_unknown_id_does_not_hide_what_is_worse(self, clone: "Clone", landed: bool) -> None:
        name = clone.open()
        sha = _fixed(clone, name) if landed else clone.commit("fix", f"Incident: {name}")
        said = _refused(clone, "OD-ZZZZ", "OD-YYYY", name, f"--artifact=commit:{sha}", "--json")
        said.check_refused(3 if landed else 4, "no-such-incident" if landed else "not-landed", "'OD-YYYY'")

    def test_of_an_artifact_that_cannot_be_looked_up_no_link_is_missed(self, clone: "Clone") -> None:
        names = [clone.open("one"), clone.open("two")]
        refs = [f"--artifact=commit:{sha}" for sha in (_fixed(clone, names[0]), "0123456789" * 4)]
        said = _refused(clone, *names, *refs, "--json")
        said.check_refused(5, "unknown-commit", "0123456789")
        assert said.document["data"] is None

    def test_one_that_holds_does_not_help_the_others(self, clone: "Clone") -> None:
        names = [clone.open("one"), clone.open("two")]
        good = _fixed(clone, names[0])
        said = _refused(clone, *names, "--artifact", f"commit:{good}", "--json")
        said.check_refused(4, "not-named", f"does not name {names[1]}")


class TestHostile:
    def test_options_smuggled_as_a_sha_never_reach_git(self, clone: "Clone") -> None:
        said = _refused(clone, clone.open(), "--artifact", f"commit:--upload-pack=touch {clone.home}/pwned")
        assert said.code == 2
        assert not (clone.home / "pwned").exists()

    def test_options_smuggled_as_the_branch_never_reach_git(self, clone: "Clone") -> None:
        name = clone.open()
        sha = _fixed(clone, name)
        (clone.root / "registry.toml").write_text(f'branch = "origin/--upload-pack=touch {clone.home}/pwned"\n')
        assert _refused(clone, name, "--artifact", f"commit:{sha}").code == 2
        assert not (clone.home / "pwned").exists()

    def test_hooks_of_the_repository_do_not_run(self, clone: "Clone") -> None:
        name = clone.open()
        sha = _fixed(clone, name)
        hook = clone.top / ".git" / "hooks" / "reference-transaction"
        hook.parent.mkdir()
        hook.write_text(f"#!/bin/sh\ntouch {clone.home}/pwned\n")
        hook.chmod(0o755)
        clone.git("update-ref", "-d", "refs/remotes/origin/main")
        (clone.home / "pwned").unlink(missing_ok=True)
        assert clone.od("resolve", name, "--artifact", f"commit:{sha}").code == 0
        assert not (clone.home / "pwned").exists()


class TestWontFix:
    def test_it_is_a_state_of_its_own_with_its_reason(self, clone: "Clone") -> None:
        name = clone.open()
        said = clone.od("resolve", name, "--wont-fix", "--because", "the host is going away", "--json")
        assert (said.code, said.data["state"]) == (0, "wont-fix")
        assert "because: the host is going away" in clone.od("show", name).out

    def test_it_needs_a_reason(self, clone: "Clone") -> None:
        assert _refused(clone, clone.open(), "--wont-fix").code == 2

    def test_it_excludes_an_artifact(self, clone: "Clone") -> None:
        args = (clone.open(), "--wont-fix", "--because", "x", "--artifact", "commit:0fe056c2d")
        assert _refused(clone, *args).code == 2

    def test_a_second_time_writes_nothing(self, local: Registry) -> None:
        name = open_incident(local, Sighting("hook-timeout", "t"), AT, warn=pytest.fail).incident.id
        claim = Closing([name], wont_fix=True, because="x")
        written = [resolve(local, claim, AT, warn=pytest.fail)[0].recorded for _ in range(2)]
        assert written == [True, False]

    def test_a_resolved_incident_cannot_become_one(self, clone: "Clone") -> None:
        name = clone.open()
        clone.od("resolve", name, "--artifact", f"commit:{_fixed(clone, name)}")
        said = _refused(clone, name, "--wont-fix", "--because", "x")
        assert (said.code, "is resolved, with evidence" in said.err) == (2, True)


def test_an_unknown_id_exits_3(local: Registry) -> None:
    with pytest.raises(OverdeckError, match="there is no incident 'OD-ZZZZ'"):
        resolve(local, Closing(["OD-ZZZZ"], wont_fix=True, because="x"), AT, warn=pytest.fail)


def test_a_fetch_waits_for_another_process_that_updates_the_same_ref(
    clone: "Clone", second_clone: "Clone"
) -> None:
    """git itself gives up after 100 ms, so the lock is held for longer than one attempt and less than three."""
    head = second_clone.land("news")
    lock = clone.top / ".git" / "refs" / "remotes" / "origin" / "main.lock"
    lock.touch()
    release = threading.Timer(0.15, lock.unlink)
    release.start()
    assert commit.fetch(clone.top, "origin/main").head == head
    release.join()


def test_an_incident_reopened_meanwhile_is_not_resolved_without_evidence(local: Registry) -> None:
    incident = open_incident(local, Sighting("hook-timeout", "t"), AT, warn=pytest.fail).incident
    with pytest.raises(OverdeckError, match="was reopened by another process"):
        _to_say(State((incident,), ()), [incident.key], wont_fix=False, evidence={incident.key: []})


def test_processes_that_resolve_at_once_write_one_resolution(clone: "Clone") -> None:
    name = clone.open()
    sha = _fixed(clone, name)
    clone.git("update-ref", "-d", "refs/remotes/origin/main")
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(clone.od, "resolve", name, "--artifact", f"commit:{sha}", "--json") for _ in range(4)]
    assert [run.result().code for run in runs] == [0, 0, 0, 0]
    kinds = [event["kind"] for event in clone.od("show", name, "--json").data["timeline"]]
    assert kinds == ["opened", "resolved"]
    assert sum(json.loads(run.result().out)["data"]["recorded"] for run in runs) == 1
