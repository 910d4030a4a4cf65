"""What a run of evidence can reach and what can reach it: configuration, interpreter, packages, and its own end."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from projects import AT, FAILS_BEFORE, PLAIN, Project, reference
from waiting import ended, until

from overdeck.incidents import registry
from overdeck.incidents.resolving import Closing, resolve


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
        closing = Closing([name], [reference(sha)])
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
        project.resolve(reference(sha))
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
        assert project.resolve(reference(sha))[0]["verdict"] == "verified"

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
        error = project.refused(reference(project.fix()))
        assert (error.exit_code, error.code) == (5, "untrusted-interpreter")
        assert not (tmp_path / "pwned").exists()

    @pytest.mark.parametrize("link", [".venv", ".venv/bin/python"])
    def test_one_behind_a_link_that_leads_into_the_commit_is_not_run(
        self, project: Project, tmp_path: Path, link: str
    ) -> None:
        project.policy(PLAIN, python=".venv/bin/python")
        top = project.clone.top
        fake = top / "tools" / "bin" / "python"
        fake.parent.mkdir(parents=True)
        fake.write_text(f"#!/bin/sh\ntouch {tmp_path}/pwned\n")
        fake.chmod(0o755)
        (top / link).parent.mkdir(parents=True, exist_ok=True)
        (top / link).symlink_to(fake if link.endswith("python") else top / "tools")
        project.clone.git("add", "tools", *([".venv"] if link == ".venv" else []))
        error = project.refused(reference(project.fix()))
        assert (error.exit_code, error.code) == (5, "untrusted-interpreter")
        assert not (tmp_path / "pwned").exists()

    def test_an_interpreter_that_is_not_there_is_named(self, project: Project) -> None:
        project.policy(PLAIN, python=".venv/bin/python")
        error = project.refused(reference(project.fix()))
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
        assert project.resolve(reference(project.fix()))[0]["verdict"] == "verified"

    def test_a_source_folder_goes_before_what_is_installed(self, project: Project, site: Path) -> None:
        (site / "pack.py").write_text("def seconds(): return 1\n")
        project.land("layout", src__pack_py="def seconds(): return 9\n")
        test = FAILS_BEFORE.replace("guard", "pack")
        sha = project.land("fix", src__pack_py="def seconds(): return 1\n", test_guard_py=test)
        assert project.resolve(reference(sha))[0]["verdict"] == "verified"

    def test_an_editable_install_that_goes_before_the_worktree_is_found_out(
        self, project: Project, site: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere" / "guard.py").write_text("def seconds(): return 1\n")
        (site / "editable.pth").write_text(f"import sys; sys.path.insert(0, {str(tmp_path / 'elsewhere')!r})\n")
        error = project.refused(reference(project.fix()))
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
        assert project.refused(reference(sha)).code == "shadowed"


@contextmanager
def _verifier_at_work(project: Project, tmp_path: Path) -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    """A verifier whose test is running, and the process of that test."""
    mark = tmp_path / "pid"
    sha = project.fix(f"import os, time\nopen({str(mark)!r}, 'w').write(f'{{os.getpid()}} ')\ntime.sleep(600)\n")
    source = (  # a suite that runs in the background of a shell has SIGINT ignored, and its children inherit that
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from overdeck.cli.doors import od_incidents as door; door()"
    )
    argv = [sys.executable, "-c", source, "resolve", project.clone.open(), "--artifact", reference(sha), "--yes"]
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
