"""``test:``, ``repro:`` and ``resume:``: run in clean worktrees on both sides of the fix, and each way it can fail."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from waiting import ended, until

from overdeck.errors import OverdeckError
from overdeck.incidents import registry
from overdeck.incidents.resolving import Closing, resolve
from overdeck.machine.cgroup import Group, snapshot

if TYPE_CHECKING:
    from conftest import Clone

AT = "2026-11-30T06:00:00.000Z"
PLAIN = ["{python}", "{path}", "{id}"]
PYTEST = ["{python}", "-m", "pytest", "-q", "{path}::{id}"]

FAILS_BEFORE = "import guard, sys\nsys.exit(guard.seconds() > 2)\n"


@dataclass(frozen=True)
class Project:
    """A clone with a guard that is too slow, and the registry's rule of how its tests are run."""

    clone: "Clone"

    def policy(self, command: list[str], *, limit_s: float = 60, python: str = sys.executable) -> None:
        (self.clone.root / "registry.toml").write_text(
            'prefix = "OD"\nbranch = "origin/main"\n[evidence]\n'
            f"test_command = {json.dumps(command)}\npython = {json.dumps(python)}\ntime_limit_s = {limit_s}\n"
        )

    def land(self, message: str, **files: str) -> str:
        """Commit files (``__`` in a name is ``/``, ``_sh`` at the end makes it executable) and push; the SHA."""
        for name, text in files.items():
            path = self.clone.top / name.replace("__", "/").replace("_py", ".py").replace("_sh", ".sh")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))
            if path.suffix == ".sh":
                path.chmod(0o755)
            self.clone.git("add", str(path))
        self.clone.git("commit", "--quiet", "-m", message)
        self.clone.git("push", "--quiet", "origin", "HEAD:main")
        return self.clone.git("rev-parse", "HEAD")

    def fix(self, test: str = FAILS_BEFORE, **more: str) -> str:
        """The guard made fast, with a test; the SHA."""
        return self.land("fix", guard_py="def seconds(): return 1\n", test_guard_py=test, **more)

    def resolve(
        self, *artifacts: str, machine: Callable[[], list[Group]] = list, **more: Any
    ) -> list[dict[str, Any]]:
        """Resolve a new incident with consent; its statements."""
        name = self.clone.open()
        here = registry.load(self.clone.root)
        claim = Closing([name], artifacts, **more)
        (closed,) = resolve(here, claim, AT, warn=pytest.fail, consent=lambda _: True, machine=machine)
        return closed.incident.standing

    def refused(self, *artifacts: str, **more: Any) -> OverdeckError:
        """The same, where it is refused: nothing is written, and no worktree is left."""
        name = self.clone.open()
        before = self.clone.log_bytes()
        with pytest.raises(OverdeckError) as raised:
            claim = {key: more.pop(key) for key in ("broken", "because") if key in more}
            resolve(
                registry.load(self.clone.root),
                Closing([name], artifacts, **claim),
                AT,
                warn=pytest.fail,
                **{"consent": lambda _: True, "machine": list, **more},
            )
        assert self.clone.log_bytes() == before
        return raised.value


@pytest.fixture
def project(clone: "Clone", monkeypatch: pytest.MonkeyPatch) -> Project:
    for name, value in clone.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("TMPDIR", str(clone.home))
    monkeypatch.setattr("tempfile.tempdir", str(clone.home))
    made = Project(clone)
    made.policy(PLAIN)
    made.land("a guard", guard_py="def seconds(): return 9\n")
    return made


def _test(sha: str, name: str = "main") -> str:
    return f"test:test_guard.py::{name}@{sha}"


class TestATest:
    def test_one_that_fails_before_and_passes_with_the_fix_is_evidence(self, project: Project) -> None:
        sha = project.fix()
        parent = project.clone.git("rev-parse", f"{sha}~1")
        (statement,) = project.resolve(_test(sha[:9]), machine=snapshot_of(project.clone.home))
        assert (statement["artifact"], statement["verdict"]) == (_test(sha), "verified")
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
        (statement,) = project.resolve(_test(sha, "test_it"))
        assert statement["runs"]["commit"]["argv"] == [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "test_guard.py::test_it",
        ]

    def test_passing_on_both_sides_proves_nothing(self, project: Project) -> None:
        error = project.refused(_test(project.fix("print('fine')\n")))
        assert (error.exit_code, error.code) == (4, "passes-on-both")
        assert error.data["runs"]["commit"]["tail"] == "fine\n"

    def test_failing_on_both_sides_is_no_fix(self, project: Project) -> None:
        error = project.refused(_test(project.fix("raise SystemExit('still slow')\n")))
        assert (error.exit_code, error.code) == (4, "fails-on-both")
        assert "still slow" in error.message

    def test_the_wrong_way_round_is_told(self, project: Project) -> None:
        error = project.refused(_test(project.fix("import guard, sys\nsys.exit(guard.seconds() < 2)\n")))
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
        error = project.refused(_test(sha))
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
        project.resolve(_test(sha))
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
        error = project.refused(_test(sha))
        assert (error.exit_code, error.code) == (5, "not-started")
        assert "its keeper was killed" in error.message
        assert ended(int(mark.read_text()))

    def test_one_that_needs_the_network_cannot_be_checked(self, project: Project) -> None:
        if subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode:
            pytest.skip("this user may not have a network of its own")
        sha = project.fix("import socket\nsocket.create_connection(('192.0.2.1', 80), 20)\n")
        error = project.refused(_test(sha))
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
        assert project.resolve(_test(sha))[0]["verdict"] == "verified"

    def test_a_runner_that_does_not_start_is_no_failure_of_the_test(self, project: Project) -> None:
        project.policy(["no-such-runner", "{path}"])
        error = project.refused(_test(project.fix()))
        assert (error.exit_code, error.code) == (5, "not-started")
        assert "no-such-runner: No such file or directory" in error.message

    def test_a_runner_that_is_not_installed_is_no_failure_of_the_test(self, project: Project) -> None:
        project.policy(["{python}", "-m", "nosuchrunner", "{path}"])
        error = project.refused(_test(project.fix()))
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
        error = project.refused(_test(sha))
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
            resolve(here, Closing([project.clone.open()], [_test(sha)], repo=shallow), AT, warn=pytest.fail)
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
        assert project.resolve(_test(merge))[0]["verdict"] == "verified"


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
        error = project.refused(_test(project.fix(body), "test_it"))
        assert (error.exit_code, error.code) == (4, code)

    def test_skipped_on_the_parent_is_no_failure_there(self, project: Project) -> None:
        body = """\
            import guard, pytest
            def test_it():
                if guard.seconds() > 2: pytest.skip("not on this machine")
            """
        error = project.refused(_test(project.fix(body), "test_it"))
        assert (error.exit_code, error.code) == (4, "skipped")
        assert "on parent" in error.message

    def test_a_test_that_the_parent_cannot_even_import_is_evidence_and_shown_as_such(
        self, project: Project
    ) -> None:
        sha = project.fix("import new\ndef test_it(): pass\n", new_py="")
        (statement,) = project.resolve(_test(sha, "test_it"))
        assert [run["outcome"] for run in statement["runs"].values()] == ["error", "passed"]

    def test_a_configuration_above_the_worktree_is_not_read(self, project: Project) -> None:
        for name in ("pytest.ini", "conftest.py"):
            (project.clone.home / name).write_text(
                "[pytest]\naddopts = --no-such-option\n" if "ini" in name else "1/0"
            )
        sha = project.fix("import guard\ndef test_it(): assert guard.seconds() < 2\n")
        assert project.resolve(_test(sha, "test_it"))[0]["verdict"] == "verified"

    def test_plugins_and_options_of_the_callers_environment_are_not_taken(
        self, project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'pwned')!r}, 'w')\n")
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
        monkeypatch.setenv("PYTEST_PLUGINS", "evil")
        monkeypatch.setenv("PYTEST_ADDOPTS", "-p evil")
        sha = project.fix("import guard\ndef test_it(): assert guard.seconds() < 2\n")
        assert project.resolve(_test(sha, "test_it"))[0]["verdict"] == "verified"
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
        said = project.clone.od("resolve", name, "--artifact", _test(sha), "--json")
        assert (said.code, said.document["error"]["code"]) == (2, "needs-yes")
        assert f"in a clean worktree of commit {sha[:12]}: {sys.executable} test_guard.py main" in said.err
        assert "test_guard.py of commit" in said.err
        assert project.clone.log_bytes() == before
        assert not (tmp_path / "ran").exists()

    def test_with_yes_the_command_resolves(self, project: Project) -> None:
        sha = project.fix()
        name = project.clone.open()
        said = project.clone.od("resolve", name, "--artifact", _test(sha), "--yes")
        if said.code == 5:
            assert "the machine held the run" in said.err
            pytest.skip("this machine held the run back")
        assert (said.code, said.out) == (0, f"{name} resolved: {_test(sha)} (verified)\n")
        shown = project.clone.od("show", name).out
        assert "linked by the call that ran it" in shown
        assert f"parent: failed, exit 1: {sys.executable} test_guard.py main" in shown

    def test_what_is_rejected_anyway_is_not_asked_about(self, project: Project) -> None:
        asked: list[object] = []
        sha = project.fix()
        error = project.refused(_test(sha), "commit:" + "0123456789" * 4, consent=asked.append)
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
        error = project.refused(_test(sha), machine=machine)
        assert (error.exit_code, error.code) == (5, "machine-held-back")
        assert str(path.parent) in error.message

    def test_the_run_on_the_parent_is_watched_as_well(self, project: Project) -> None:
        machine = snapshot_of(project.clone.home)
        path = project.clone.home / "cgroup" / "pids.events"
        sha = project.fix(
            f"import guard\nif guard.seconds() > 2: open({str(path)!r}, 'w').write('max 3')\n{FAILS_BEFORE}"
        )
        assert project.refused(_test(sha), machine=machine).code == "machine-held-back"


class TestHostile:
    def test_nothing_that_the_clone_is_configured_to_run_is_run(self, project: Project, tmp_path: Path) -> None:
        clone, pwned = project.clone, tmp_path / "pwned"
        (clone.top / ".gitattributes").write_text("* filter=evil diff=evil\n")
        clone.git("add", ".gitattributes")
        sha = project.fix()
        script = tmp_path / "evil"
        script.write_text(f"#!/bin/sh\ntouch {pwned}\ncat\n")
        script.chmod(0o755)
        for name in ("filter.evil.smudge", "filter.evil.clean", "filter.evil.process", "core.fsmonitor"):
            clone.git("config", name, str(script))
        clone.git("config", "core.hooksPath", str(tmp_path / "hooks"))
        clone.git("config", "remote.origin.uploadpack", f"{script}; git-upload-pack")
        for hook in ("post-checkout", "reference-transaction", "post-index-change"):
            path = tmp_path / "hooks" / hook
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(script.read_bytes())
            path.chmod(0o755)
        pwned.unlink(missing_ok=True)
        head = (clone.top / ".git" / "HEAD").read_bytes()
        name = clone.open()
        closing = Closing([name], [_test(sha)])
        resolve(registry.load(clone.root), closing, AT, warn=pytest.fail, consent=lambda _: True, machine=list)
        assert not pwned.exists()
        assert (clone.top / ".git" / "HEAD").read_bytes() == head
        assert not (clone.top / ".git" / "worktrees").exists()

    def test_git_in_a_test_sees_the_worktree_and_not_the_clone(self, project: Project) -> None:
        sha = project.fix(
            """\
            import guard, os, subprocess, sys
            say = lambda *words: subprocess.run(["git", *words], capture_output=True, text=True).stdout.strip()
            print(say("rev-parse", "--show-toplevel"), say("status", "--porcelain"))
            assert not say("status", "--porcelain") or guard.seconds() > 2
            assert say("config", "--get", "core.fsmonitor") == ""
            assert say("-C", os.environ["TMPDIR"], "rev-parse", "--git-dir") == ""
            say("commit", "--allow-empty", "-m", "x")
            sys.exit(guard.seconds() > 2)
            """
        )
        project.clone.git("config", "core.fsmonitor", "/nonexistent")
        project.clone.git("init", "--quiet", str(project.clone.home))
        before = project.clone.git("for-each-ref")
        project.resolve(_test(sha))
        assert project.clone.git("for-each-ref") == before

    def test_a_test_gets_an_empty_home_and_nothing_of_the_callers_environment(
        self, project: Project, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SECRET_TOKEN", "x")
        sha = project.fix(
            """\
            import guard, os, sys
            assert os.listdir(os.environ["HOME"]) == [] and "SECRET_TOKEN" not in os.environ
            assert os.environ["PYTHONPATH"] == os.getcwd(), os.environ["PYTHONPATH"]
            sys.exit(guard.seconds() > 2)
            """
        )
        assert project.resolve(_test(sha))[0]["verdict"] == "verified"

    def test_laying_a_test_over_the_parent_does_not_follow_a_link(self, project: Project, tmp_path: Path) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / "test_x.py").write_text("raise SystemExit(1)\n")
        (project.clone.top / "tests").symlink_to(outside)
        project.clone.git("add", "tests")
        project.land("a folder that is a link")
        (project.clone.top / "tests").unlink()
        project.clone.git("rm", "--quiet", "--cached", "tests")
        sha = project.land("fix", tests__test_x_py=FAILS_BEFORE, guard_py="def seconds(): return 1\n")
        project.resolve(f"test:tests/test_x.py::main@{sha}")
        assert (outside / "test_x.py").read_text() == "raise SystemExit(1)\n"

    def test_an_interpreter_that_git_tracks_is_not_run(self, project: Project, tmp_path: Path) -> None:
        project.policy(PLAIN, python="bin/python")
        fake = project.clone.top / "bin" / "python"
        fake.parent.mkdir()
        fake.write_text(f"#!/bin/sh\ntouch {tmp_path}/pwned\n")
        fake.chmod(0o755)
        project.clone.git("add", "bin")
        error = project.refused(_test(project.fix()))
        assert (error.exit_code, error.code) == (5, "untrusted-interpreter")
        assert not (tmp_path / "pwned").exists()

    def test_an_interpreter_that_is_not_there_is_named(self, project: Project) -> None:
        project.policy(PLAIN, python=".venv/bin/python")
        error = project.refused(_test(project.fix()))
        assert (error.exit_code, error.code) == (5, "no-interpreter")


class TestShadow:
    @pytest.fixture
    def site(self, project: Project, tmp_path: Path) -> Path:
        """The site-packages of an environment that the project's tests run in."""
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
        project.policy(PLAIN, python=str(tmp_path / "env" / "bin" / "python"))
        (site,) = (tmp_path / "env").glob("lib/python*/site-packages")
        return site

    def test_the_worktree_goes_before_what_is_installed(self, project: Project, site: Path) -> None:
        (site / "guard.py").write_text("def seconds(): return 1\n")
        assert project.resolve(_test(project.fix()))[0]["verdict"] == "verified"

    def test_a_source_folder_goes_before_what_is_installed(self, project: Project, site: Path) -> None:
        (site / "pack.py").write_text("def seconds(): return 1\n")
        project.land("layout", src__pack_py="def seconds(): return 9\n")
        test = FAILS_BEFORE.replace("guard", "pack")
        sha = project.land("fix", src__pack_py="def seconds(): return 1\n", test_guard_py=test)
        assert project.resolve(_test(sha))[0]["verdict"] == "verified"

    def test_an_editable_install_that_goes_before_the_worktree_is_found_out(
        self, project: Project, site: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere" / "guard.py").write_text("def seconds(): return 1\n")
        (site / "editable.pth").write_text(f"import sys; sys.path.insert(0, {str(tmp_path / 'elsewhere')!r})\n")
        error = project.refused(_test(project.fix()))
        assert (error.exit_code, error.code) == (5, "shadowed")
        assert f"takes 'guard' from {tmp_path / 'elsewhere' / 'guard.py'}" in error.message

    def test_a_package_without_init_loses_to_an_installed_one_and_that_is_found_out(
        self, project: Project, site: Path
    ) -> None:
        (site / "pack").mkdir()
        (site / "pack" / "__init__.py").touch()
        (site / "pack" / "core.py").write_text("def seconds(): return 1\n")
        project.land("layout", pack__core_py="def seconds(): return 9\n")
        test = "import sys\nfrom pack.core import seconds\nsys.exit(seconds() > 2)\n"
        sha = project.land("fix", pack__core_py="def seconds(): return 1\n", test_guard_py=test)
        assert project.refused(_test(sha)).code == "shadowed"


@contextmanager
def _verifier_at_work(project: Project, tmp_path: Path) -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    """A verifier whose test is running, and the process of that test."""
    mark = tmp_path / "pid"
    sha = project.fix(f"import os, time\nopen({str(mark)!r}, 'w').write(f'{{os.getpid()}} ')\ntime.sleep(600)\n")
    source = "from overdeck.cli.doors import od_incidents as door; door()"
    argv = [sys.executable, "-c", source, "resolve", project.clone.open(), "--artifact", _test(sha), "--yes"]
    env = {**project.clone.env, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(argv, cwd=project.clone.top, env=env, stderr=subprocess.PIPE) as verifier:
        until(lambda: mark.exists() and mark.read_text().endswith(" "), within_s=60)
        yield verifier, int(mark.read_text())


def test_a_verifier_that_is_killed_takes_the_run_with_it(project: Project, tmp_path: Path) -> None:
    with _verifier_at_work(project, tmp_path) as (verifier, test):
        verifier.kill()
        until(lambda: ended(test), within_s=30)


def test_an_interrupted_verifier_leaves_neither_process_nor_worktree(project: Project, tmp_path: Path) -> None:
    with _verifier_at_work(project, tmp_path) as (verifier, test):
        verifier.send_signal(signal.SIGINT)
        verifier.communicate(timeout=60)
    assert verifier.returncode == 130
    assert ended(test)
    assert not list(tmp_path.glob("overdeck-evidence-*"))


def snapshot_of(folder: Path) -> Callable[[], list[Group]]:
    """Snapshots of a control group of our own making."""
    sysfs = folder / "cgroup"
    sysfs.mkdir(exist_ok=True)
    (folder / "proc" / "self").mkdir(parents=True, exist_ok=True)
    (folder / "proc" / "self" / "cgroup").write_text("0::/\n")
    (sysfs / "cpu.stat").write_text("nr_periods 8\nnr_throttled 4\nthrottled_usec 1\n")
    (sysfs / "pids.events").write_text("max 2\n")
    (sysfs / "memory.events").write_text("oom_kill 0\n")
    return lambda: snapshot(proc=folder / "proc", sysfs=sysfs)
