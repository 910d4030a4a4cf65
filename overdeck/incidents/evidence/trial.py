"""Putting a comparison to the test: two worktrees, two runs, the machine watched, one verdict."""

import os
import shlex
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from overdeck.errors import OverdeckError
from overdeck.incidents.artifact import Artifact
from overdeck.incidents.commit import unverifiable
from overdeck.incidents.evidence.checkout import check_out, lay_over
from overdeck.incidents.evidence.comparison import Comparison, Side, rejected
from overdeck.incidents.evidence.outcome import FAILURES, Outcome, judge
from overdeck.incidents.evidence.run import Run, run
from overdeck.incidents.evidence.shadow import roots, shadowed
from overdeck.incidents.watching import NOBODY, Watch
from overdeck.machine.cgroup import Group, delta, snapshot

VERIFIER = "run/1"
"""Goes up when the rule changes, so that evidence says by which rule it was accepted."""

_PROBE_DEADLINE_S = 60.0

Machine = Callable[[], list[Group]]


class Trial(NamedTuple):
    """A comparison that held."""

    runs: dict[str, tuple[Run, Outcome]]
    """By the name of the side."""
    before: list[Group]
    after: list[Group]

    @property
    def facts(self) -> dict[str, Any]:
        """What a statement keeps of it."""
        return {
            "runs": {name: {"outcome": str(how), **ran.facts} for name, (ran, how) in self.runs.items()},
            "machine": {
                moment: [{**asdict(group), "path": str(group.path)} for group in groups]
                for moment, groups in (("before", self.before), ("after", self.after))
            },
        }


def hold(
    repo: Path, claim: Comparison, *, time_limit_s: float, machine: Machine = snapshot, watch: Watch = NOBODY
) -> Trial:
    """Run ``claim`` and return the runs that bear it out.

    Raises OverdeckError: rejected (4) where they do not, unverifiable (5) where nobody can tell: no start, no end, no
    network, a package from elsewhere, or a machine that held the run back; Cancelled where ``watch`` calls it off.
    """
    before = machine()
    with tempfile.TemporaryDirectory(prefix="overdeck-evidence-", ignore_cleanup_errors=True) as place:
        root = Path(place)
        with _worktree(repo, root / "new", claim.new, claim.artifact, watch) as (tree, env):
            _check_imports(claim, tree, env, watch)
            new, new_outcome = _one(claim, claim.new, tree, env, time_limit_s, watch)
        after = machine()
        _check_machine(claim, before, after)
        _check_answered(claim, claim.new, new, new_outcome, time_limit_s)
        with _worktree(repo, root / "old", claim.old, claim.artifact, watch) as (tree, env):
            lay_over(tree, claim.new.sha, claim.artifact.path)
            old, old_outcome = _one(claim, claim.old, tree, env, time_limit_s, watch)
    after = machine()
    _check_machine(claim, before, after)
    _check_answered(claim, claim.old, old, old_outcome, time_limit_s)
    _check_difference(claim, old, old_outcome, new, new_outcome)
    return Trial({claim.old.name: (old, old_outcome), claim.new.name: (new, new_outcome)}, before, after)


@contextmanager
def _worktree(
    repo: Path, place: Path, side: Side, artifact: Artifact, watch: Watch
) -> Iterator[tuple[Path, dict[str, str]]]:
    """A clean worktree of ``side`` and the environment of a run in it, built up from nothing."""
    watch.check()
    watch.tell(f"making a clean worktree of {side}")
    tree, home, scratch = place / "tree", place / "home", place / "tmp"
    check_out(repo, side.sha, tree)
    for folder in (home, scratch):
        folder.mkdir()
    # pytest looks for its configuration upwards, and anybody may put a pytest.ini or a conftest.py into /tmp.
    (place / "pytest.ini").write_text("[pytest]\n")
    env = {
        "HOME": str(home),
        "TMPDIR": str(scratch),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join(str(folder) for folder in roots(tree)),
        "PYTHONNOUSERSITE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(place),
        "PYTEST_ADDOPTS": f"{shlex.quote(f'--rootdir={tree}')} {shlex.quote(f'--junitxml={_report(place)}')}",
    }
    if artifact.kind == "test":
        # Neither the current folder nor that of a script goes before PYTHONPATH.
        env["PYTHONSAFEPATH"] = "1"
    yield tree, env


def _report(place: Path) -> Path:
    return place / "junit.xml"


def _one(
    claim: Comparison, side: Side, tree: Path, env: dict[str, str], time_limit_s: float, watch: Watch
) -> tuple[Run, Outcome]:
    watch.check()
    watch.tell(f"running on {side}, {time_limit_s:g} s at most: {' '.join(claim.argv)}")
    environ = {**env, "PATH": _path(claim.python)}
    ran = run(claim.argv, env=environ, cwd=tree, deadline_s=time_limit_s, watch=watch)
    outcome = judge(ran, _report(tree.parent))
    watch.tell(f"{outcome} on {side}, exit {'none' if ran.exit is None else ran.exit}, {ran.wall_s:.1f} s")
    return ran, outcome


def _path(python: str) -> str:
    """Where programs are looked for: beside the project's interpreter, then where the system has them."""
    folders = [str(Path(python).parent)] if python else []
    return os.pathsep.join([*folders, "/usr/local/bin", "/usr/bin", "/bin"])


def _check_imports(claim: Comparison, tree: Path, env: dict[str, str], watch: Watch) -> None:
    if not claim.python:
        return

    def probe(argv: Sequence[str]) -> Run:
        unheard = replace(watch, hear=NOBODY.hear)
        environ = {**env, "PATH": _path(claim.python)}
        return run(argv, env=environ, cwd=tree, deadline_s=_PROBE_DEADLINE_S, watch=unheard)

    elsewhere = shadowed(claim.python, tree, tree / claim.artifact.path, probe)
    for name, place in elsewhere.items():
        raise unverifiable(
            f"{claim.python} takes {name!r} from {place} and not from the worktree: {claim.artifact} would test "
            "what is installed, whatever the commit says",
            "shadowed",
            f"{claim.python} -m pip uninstall {name}, or set python in [evidence] of registry.toml",
        )


def _check_machine(claim: Comparison, before: list[Group], after: list[Group]) -> None:
    for group in delta(before, after):
        held_back = [
            text
            for count, text in (
                (group.throttled, f"was throttled in {group.throttled} of {group.periods} periods"),
                (group.pids_refused, f"was refused {group.pids_refused} processes"),
                (group.oom_kills, f"had {group.oom_kills} processes killed for memory"),
            )
            if count
        ]
        if held_back:
            raise unverifiable(
                f"the machine held the run of {claim.artifact} back: {group.path} {' and '.join(held_back)}; neither a "
                "pass nor a failure means anything",
                "machine-held-back",
                "overdeck doctor says what the machine lacks; then the same command again",
            )


def _check_answered(claim: Comparison, side: Side, ran: Run, outcome: Outcome, time_limit_s: float) -> None:
    """Raise where a run neither passed nor failed."""
    by_hand = f"git switch --detach {side.sha[:12]}, then run {' '.join(claim.argv)}"
    why = {
        Outcome.timed_out: (
            f"did not end within {time_limit_s:g} s on {side}; everything it had started was killed",
            "timed-out",
            "give the test a time limit of its own, so that hanging fails; or raise time_limit_s in registry.toml",
        ),
        Outcome.not_started: (
            f"could not be run on {side}: {ran.failure or _last_line(ran)}",
            "not-started",
            "check test_command and python in [evidence] of registry.toml, or the first line of the program",
        ),
        Outcome.killed: (f"was killed on {side} by something else", "killed", by_hand),
        Outcome.no_network: (
            f"needs the network on {side}, and evidence is run without: {_last_line(ran)}",
            "needs-network",
            "let the test start what it talks to; 127.0.0.1 is there",
        ),
    }.get(outcome)
    if why is not None:
        raise unverifiable(f"{claim.artifact} {why[0]}", why[1], why[2])
    refusal = {
        Outcome.skipped: (f"is skipped on {side}, so it proves nothing", "skipped"),
        Outcome.missing: (
            f"does not exist on {side}: {claim.artifact.path} has no {claim.artifact.id}",
            "no-such-test",
        ),
    }.get(outcome)
    if refusal is not None:
        raise rejected(claim.artifact, f"{claim.artifact} {refusal[0]}", refusal[1], by_hand)


def _check_difference(claim: Comparison, old: Run, was: Outcome, new: Run, now: Outcome) -> None:
    if was in FAILURES and now is Outcome.passed:
        return
    by_hand = f"git switch --detach {claim.new.sha[:12]}, then run {' '.join(claim.argv)}"
    if was is now is Outcome.passed:
        error = rejected(
            claim.artifact,
            f"{claim.artifact} passes on {claim.old} as well as on {claim.new}: it proves nothing about what changed",
            "passes-on-both",
            "name a test that fails without the fix",
        )
    elif was in FAILURES:
        error = rejected(
            claim.artifact,
            f"{claim.artifact} fails on {claim.new} as well as on {claim.old}: {_last_line(new)}",
            "fails-on-both",
            by_hand,
        )
    else:
        error = rejected(
            claim.artifact,
            f"{claim.artifact} passes on {claim.old} and fails on {claim.new}: the wrong way round",
            "fails-now",
            by_hand,
        )
    raise _with_output(error, {claim.old.name: old, claim.new.name: new})


def _with_output(error: OverdeckError, runs: dict[str, Run]) -> OverdeckError:
    """``error`` with the end of what was printed, for readers of ``--json``."""
    shown = {name: {**ran.facts, "tail": ran.tail[-2000:]} for name, ran in runs.items()}
    assert isinstance(error.data, dict)
    error.data["runs"] = shown
    return error


def _last_line(ran: Run) -> str:
    lines = [line.strip() for line in ran.tail.splitlines() if line.strip()]
    return lines[-1][:200] if lines else f"exit code {ran.exit}"
