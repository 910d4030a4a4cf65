"""``test:``, ``repro:`` and ``resume:``: run on both sides of the fix, and each way that can fail."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from projects import AT, FAILS_BEFORE, PLAIN, PYTEST, Project, reference, snapshot_of
from waiting import ended

from overdeck.errors import OverdeckError
from overdeck.incidents import registry
from overdeck.incidents.resolving import Closing, resolve


class TestATest:
    def test_one_that_fails_before_and_passes_with_the_fix_is_evidence(self, project: Project) -> None:
        sha = project.fix()
        parent = project.clone.git("rev-parse", f"{sha}~1")
        (statement,) = project.resolve(reference(sha[:9]), machine=snapshot_of(project.clone.home))
        assert (statement["artifact"], statement["verdict"]) == (reference(sha), "verified")
        assert statement["sides"] == {"parent": parent, "commit": sha}
        assert [run["exit"] for run in statement["runs"].values()] == [1, 0]
        assert statement["runs"]["commit"]["argv"] == [sys.executable, "test_guard.py", "main"]
        assert set(statement["runs"]["parent"]["output"]) == {"sha256", "bytes"}
        assert statement["machine"]["before"][0]["throttled"] == 4
        assert {"verifier", "host", "at", "branch", "head", "linked_by"} <= statement.keys()
        assert list(project.clone.home.glob("overdeck-evidence-*")) == []

    def test_by_default_it_is_pytest_of_the_projects_own_environment(self, project: Project) -> None:
        project.policy(PYTEST)
        sha = project.fix("import guard\ndef test_it(): assert guard.seconds() < 2\n")
        (statement,) = project.resolve(reference(sha, "test_it"))
        assert statement["runs"]["commit"]["argv"] == [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "test_guard.py::test_it",
        ]

    def test_passing_on_both_sides_proves_nothing(self, project: Project) -> None:
        error = project.refused(reference(project.fix("print('fine')\n")))
        assert (error.exit_code, error.code) == (4, "passes-on-both")
        assert error.data["runs"]["commit"]["tail"] == "fine\n"

    def test_failing_on_both_sides_is_no_fix(self, project: Project) -> None:
        error = project.refused(reference(project.fix("raise SystemExit('still slow')\n")))
        assert (error.exit_code, error.code) == (4, "fails-on-both")
        assert "still slow" in error.message

    def test_the_wrong_way_round_is_told(self, project: Project) -> None:
        error = project.refused(reference(project.fix("import guard, sys\nsys.exit(guard.seconds() < 2)\n")))
        assert (error.exit_code, error.code) == (4, "fails-now")

    def test_one_that_hangs_is_ended_with_all_it_started(self, project: Project, tmp_path: Path) -> None:
        project.policy(PLAIN, limit_s=3)
        pids = tmp_path / "pids"
        sha = project.fix(
            f"""\
            import os, subprocess, time
            away = subprocess.Popen(["setsid", "sh", "-c", "setsid sleep 600 & echo $! $$ > {pids}; sleep 600"])
            time.sleep(600)
            """
        )
        error = project.refused(reference(sha))
        assert (error.exit_code, error.code) == (5, "timed-out")
        for pid in pids.read_text().split():
            assert ended(int(pid))

    def test_one_that_leaves_a_process_behind_has_it_killed(self, project: Project, tmp_path: Path) -> None:
        project.fix()
        pids = tmp_path / "pid"
        sha = project.land(
            "fix again",
            test_guard_py=f"""\
            import os, subprocess, sys
            open({str(pids)!r}, "a").write(f"{{subprocess.Popen(['setsid', 'sleep', '600']).pid}} ")
            sys.exit(not os.path.exists("new.py"))
            """,
            new_py="",
        )
        project.resolve(reference(sha))
        started = [int(pid) for pid in pids.read_text().split()]
        assert len(started) == 2
        assert all(ended(pid) for pid in started)

    def test_one_that_kills_its_keeper_ends_with_it_and_is_no_failure(
        self, project: Project, tmp_path: Path
    ) -> None:
        project.policy(PLAIN, limit_s=5)
        mark = tmp_path / "pid"
        sha = project.fix(
            f"""\
            import os, signal, time
            open({str(mark)!r}, "w").write(str(os.getpid()))
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(600)
            """
        )
        error = project.refused(reference(sha))
        assert (error.exit_code, error.code) == (5, "not-started")
        assert "its keeper was killed" in error.message
        assert ended(int(mark.read_text()))

    def test_one_that_needs_the_network_cannot_be_checked(self, project: Project) -> None:
        if subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode:
            pytest.skip("this user may not have a network of its own")
        sha = project.fix("import socket\nsocket.create_connection(('192.0.2.1', 80), 20)\n")
        error = project.refused(reference(sha))
        assert (error.exit_code, error.code) == (5, "needs-network")
        assert "Network is unreachable" in error.message

    def test_the_loopback_is_there(self, project: Project) -> None:
        sha = project.fix(
            """\
            import guard, socket, sys
            server = socket.create_server(("127.0.0.1", 0))
            socket.create_connection(server.getsockname(), 20)
            sys.exit(guard.seconds() > 2)
            """
        )
        assert project.resolve(reference(sha))[0]["verdict"] == "verified"

    def test_a_runner_that_does_not_start_is_no_failure_of_the_test(self, project: Project) -> None:
        project.policy(["no-such-runner", "{path}"])
        error = project.refused(reference(project.fix()))
        assert (error.exit_code, error.code) == (5, "not-started")
        assert "no-such-runner: No such file or directory" in error.message

    def test_a_runner_that_is_not_installed_is_no_failure_of_the_test(self, project: Project) -> None:
        project.policy(["{python}", "-m", "nosuchrunner", "{path}"])
        error = project.refused(reference(project.fix()))
        assert (error.exit_code, error.code) == (5, "not-started")
        assert "No module named nosuchrunner" in error.message

    def test_a_file_that_the_commit_does_not_have(self, project: Project) -> None:
        sha = project.fix()
        error = project.refused(f"test:tests/none.py::main@{sha}")
        assert (error.exit_code, error.code) == (4, "no-such-file")

    def test_a_link_is_no_test_file(self, project: Project) -> None:
        (project.clone.top / "link.py").symlink_to("/etc/hostname")
        sha = project.fix(FAILS_BEFORE)
        project.clone.git("add", "link.py")
        sha = project.land("link")
        error = project.refused(f"test:link.py::main@{sha}")
        assert (error.exit_code, error.code) == (4, "no-such-file")

    def test_a_commit_that_has_not_landed_is_not_run(self, project: Project, tmp_path: Path) -> None:
        sha = project.fix(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
        project.clone.git("push", "--quiet", "--force", "origin", f"{sha}~1:main")
        error = project.refused(reference(sha))
        assert (error.exit_code, error.code) == (4, "not-landed")
        assert not (tmp_path / "ran").exists()

    def test_a_root_commit_has_nothing_before_it(self, project: Project) -> None:
        root = project.clone.git("rev-list", "--max-parents=0", "HEAD")
        error = project.refused(f"test:incidents/taxonomy.toml::x@{root}")
        assert (error.exit_code, error.code) == (4, "no-parent")

    def test_a_shallow_clone_does_not_have_the_parent(self, project: Project) -> None:
        sha = project.fix()
        shallow = project.clone.home / "shallow"
        url = project.clone.git("remote", "get-url", "origin")
        project.clone.git("clone", "--quiet", "--depth=1", url, str(shallow))
        here = registry.load(project.clone.root)
        with pytest.raises(OverdeckError) as raised:
            resolve(here, Closing([project.clone.open()], [reference(sha)], repo=shallow), AT, warn=pytest.fail)
        assert (raised.value.exit_code, raised.value.code) == (5, "shallow-clone")

    def test_of_a_merge_the_first_parent_counts(self, project: Project) -> None:
        project.clone.git("checkout", "--quiet", "-b", "topic")
        (project.clone.top / "guard.py").write_text("def seconds(): return 1\n")
        (project.clone.top / "test_guard.py").write_text(FAILS_BEFORE)
        project.clone.git("add", "guard.py", "test_guard.py")
        project.clone.commit("fix on a branch")
        project.clone.git("checkout", "--quiet", "main")
        project.clone.git("merge", "--quiet", "--no-ff", "--no-edit", "topic")
        project.clone.git("push", "--quiet", "origin", "HEAD:main")
        merge = project.clone.git("rev-parse", "HEAD")
        assert project.resolve(reference(merge))[0]["verdict"] == "verified"


class TestPytestSays:
    """What the exit code alone does not tell."""

    @pytest.fixture(autouse=True)
    def _pytest(self, project: Project) -> None:
        project.policy(PYTEST)

    @pytest.mark.parametrize(
        ("body", "code"),
        [
            ("import pytest\n@pytest.mark.skip\ndef test_it(): pass\n", "skipped"),
            ("import pytest\n@pytest.mark.xfail\ndef test_it(): assert 0\n", "skipped"),
            ("def test_other(): pass\n", "no-such-test"),
        ],
    )
    def test_a_test_that_was_not_run_is_no_pass(self, project: Project, body: str, code: str) -> None:
        error = project.refused(reference(project.fix(body), "test_it"))
        assert (error.exit_code, error.code) == (4, code)

    def test_skipped_on_the_parent_is_no_failure_there(self, project: Project) -> None:
        body = """\
            import guard, pytest
            def test_it():
                if guard.seconds() > 2: pytest.skip("not on this machine")
            """
        error = project.refused(reference(project.fix(body), "test_it"))
        assert (error.exit_code, error.code) == (4, "skipped")
        assert "on parent" in error.message

    def test_a_test_that_the_parent_cannot_even_import_is_evidence_and_shown_as_such(
        self, project: Project
    ) -> None:
        sha = project.fix("import new\ndef test_it(): pass\n", new_py="")
        (statement,) = project.resolve(reference(sha, "test_it"))
        assert [run["outcome"] for run in statement["runs"].values()] == ["error", "passed"]

    def test_a_configuration_above_the_worktree_is_not_read(self, project: Project) -> None:
        for name in ("pytest.ini", "conftest.py"):
            (project.clone.home / name).write_text(
                "[pytest]\naddopts = --no-such-option\n" if "ini" in name else "1/0"
            )
        sha = project.fix("import guard\ndef test_it(): assert guard.seconds() < 2\n")
        assert project.resolve(reference(sha, "test_it"))[0]["verdict"] == "verified"

    def test_plugins_and_options_of_the_callers_environment_are_not_taken(
        self, project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'pwned')!r}, 'w')\n")
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
        monkeypatch.setenv("PYTEST_PLUGINS", "evil")
        monkeypatch.setenv("PYTEST_ADDOPTS", "-p evil")
        sha = project.fix("import guard\ndef test_it(): assert guard.seconds() < 2\n")
        assert project.resolve(reference(sha, "test_it"))[0]["verdict"] == "verified"
        assert not (tmp_path / "pwned").exists()


class TestAProgram:
    def test_one_that_fails_on_the_broken_revision_and_not_now_is_evidence(self, project: Project) -> None:
        broken = project.clone.git("rev-parse", "HEAD")
        project.fix()
        head = project.land("a repro", repro_sh="#!/bin/sh\ngrep -q 'return 1' guard.py\n")
        (statement,) = project.resolve("repro:repro.sh", broken=broken)
        assert statement["sides"] == {"broken": broken, "head": head}
        assert statement["runs"]["broken"]["exit"] == 1
        assert statement["runs"]["head"]["argv"] == ["./repro.sh"]

    def test_a_resume_test_is_judged_alike_and_rev_may_be_a_name(self, project: Project) -> None:
        project.clone.git("tag", "v1")
        project.fix()
        project.land("resume", resume_sh="#!/bin/sh\ngrep -q 'return 1' guard.py\n")
        (statement,) = project.resolve("resume:resume.sh", broken="v1")
        assert statement["sides"]["broken"] == project.clone.git("rev-parse", "v1")

    def test_without_a_broken_revision_it_says_what_is_missing(self, project: Project) -> None:
        error = project.refused("repro:repro.sh")
        assert (error.exit_code, error.code) == (2, "no-broken")

    @pytest.mark.parametrize(
        ("text", "code", "exit_code"),
        [
            ("#!/bin/sh\nexit 0\n", "passes-on-both", 4),
            ("#!/bin/sh\nexit 1\n", "fails-on-both", 4),
            ("#!/bin/sh\nexit 77\n", "skipped", 4),
            ("#!/no/such/interpreter\n", "not-started", 5),
            ("#!/bin/sh\nkill -9 $$\n", "killed", 5),
        ],
    )
    def test_what_proves_nothing(self, project: Project, text: str, code: str, exit_code: int) -> None:
        broken = project.clone.git("rev-parse", "HEAD")
        project.land("repro", repro_sh=text)
        error = project.refused("repro:repro.sh", broken=broken)
        assert (error.exit_code, error.code) == (exit_code, code)

    def test_a_file_that_is_not_executable(self, project: Project) -> None:
        broken = project.clone.git("rev-parse", "HEAD")
        project.fix()
        error = project.refused("repro:guard.py", broken=broken)
        assert (error.exit_code, error.code) == (4, "not-executable")

    def test_a_broken_revision_that_has_not_landed(self, project: Project) -> None:
        project.land("repro", repro_sh="#!/bin/sh\nexit 1\n")
        broken = project.clone.commit("only here")
        error = project.refused("repro:repro.sh", broken=broken)
        assert (error.exit_code, error.code) == (4, "not-landed")
        assert "the broken revision has not landed" in error.message

    def test_a_broken_revision_that_is_the_head(self, project: Project) -> None:
        broken = project.land("repro", repro_sh="#!/bin/sh\nexit 1\n")
        error = project.refused("repro:repro.sh", broken=broken)
        assert (error.exit_code, error.code) == (4, "broken-is-head")

    @pytest.mark.parametrize("rev", ["--all", "no-such-branch", "v1 v2", "HEAD; touch pwned"])
    def test_a_revision_that_is_none_reaches_git_as_nothing_else(self, project: Project, rev: str) -> None:
        project.land("repro", repro_sh="#!/bin/sh\nexit 1\n")
        error = project.refused("repro:repro.sh", broken=rev)
        assert (error.exit_code, error.code) == (5, "unknown-commit")


class TestConsent:
    def test_without_yes_it_is_listed_and_nothing_is_run(self, project: Project, tmp_path: Path) -> None:
        sha = project.fix(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
        name = project.clone.open()
        before = project.clone.log_bytes()
        said = project.clone.od("resolve", name, "--artifact", reference(sha), "--json")
        assert (said.code, said.document["error"]["code"]) == (2, "needs-yes")
        assert f"in a clean worktree of commit {sha[:12]}: {sys.executable} test_guard.py main" in said.err
        assert "test_guard.py of commit" in said.err
        assert project.clone.log_bytes() == before
        assert not (tmp_path / "ran").exists()

    def test_with_yes_the_command_resolves(self, project: Project) -> None:
        sha = project.fix()
        name = project.clone.open()
        said = project.clone.od("resolve", name, "--artifact", reference(sha), "--yes")
        if said.code == 5:
            assert "the machine held the run" in said.err
            pytest.skip("this machine held the run back")
        assert (said.code, said.out) == (0, f"{name} resolved: {reference(sha)} (verified)\n")
        shown = project.clone.od("show", name).out
        assert "linked by the call that ran it" in shown
        assert f"parent: failed, exit 1: {sys.executable} test_guard.py main" in shown

    def test_what_is_rejected_anyway_is_not_asked_about(self, project: Project) -> None:
        asked: list[object] = []
        sha = project.fix()
        error = project.refused(reference(sha), "commit:" + "0123456789" * 4, consent=asked.append)
        assert (error.exit_code, asked) == (5, [])


class TestMachine:
    @pytest.mark.parametrize(
        ("file", "text"),
        [
            ("cpu.stat", "nr_periods 9\nnr_throttled 5\nthrottled_usec 1\n"),
            ("pids.events", "max 3\n"),
            ("memory.events", "oom_kill 1\n"),
        ],
    )
    def test_a_run_that_the_machine_held_back_means_nothing(self, project: Project, file: str, text: str) -> None:
        machine = snapshot_of(project.clone.home)
        path = project.clone.home / "cgroup" / file
        sha = project.fix(f"open({str(path)!r}, 'w').write({text!r})\n{FAILS_BEFORE}")
        error = project.refused(reference(sha), machine=machine)
        assert (error.exit_code, error.code) == (5, "machine-held-back")
        assert str(path.parent) in error.message

    def test_the_run_on_the_parent_is_watched_as_well(self, project: Project) -> None:
        machine = snapshot_of(project.clone.home)
        path = project.clone.home / "cgroup" / "pids.events"
        sha = project.fix(
            f"import guard\nif guard.seconds() > 2: open({str(path)!r}, 'w').write('max 3')\n{FAILS_BEFORE}"
        )
        assert project.refused(reference(sha), machine=machine).code == "machine-held-back"
