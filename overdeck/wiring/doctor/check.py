"""What a check of ``overdeck doctor`` is given and what it answers."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

from overdeck.authoring.fleet import load_fleet, matchers
from overdeck.dispatch.planning import Fleet, Recipe
from overdeck.errors import OverdeckError
from overdeck.machine import guardlog
from overdeck.machine.processes import Process, table
from overdeck.machine.reading import Roots
from overdeck.machine.window import Window, watch
from overdeck.paths import Places
from overdeck.wiring import entries
from overdeck.wiring.install import install
from overdeck.wiring.receipt import receipts
from overdeck.wiring.scope import here, neighbours
from overdeck.wiring.sources import user_settings

INSTALL = "overdeck install"
"""The advice that ``run`` replaces where it would not help."""

AGREE = "overdeck doctor --yes"
"""The advice where the user's own code would be run."""

State = Literal["ok", "warn", "fail", "skip"]
Step = Literal["machine", "output", "launcher", "wiring", "module"]
STEPS: tuple[Step, ...] = ("machine", "output", "launcher", "wiring", "module")
"""The order of a visit: each step is a suspect only where all before it are innocent."""


class Finding(NamedTuple):
    """One trouble that an incident may be made of."""

    about: str
    """What it is on, without any number: two visits that find the same trouble say the same."""
    said: str
    """One line for people."""
    detector: str = ""
    """Who else finds the same trouble, as a taxonomy names it (``audit: RULE``): the two are then one incident."""


class Result(NamedTuple):
    """What one check saw, and the next command where there is one to type."""

    state: State
    seen: str
    next: str = ""
    findings: tuple[Finding, ...] = ()
    """What is wrong, thing by thing. A failed check that names none is a finding as a whole; a warning is not."""


class Check(NamedTuple):
    name: str
    run: Callable[["Situation"], Result]
    step: Step = "module"
    looks_at: str = ""
    """What it reads or starts, in a few words."""
    trouble: str | None = None
    """The class of incident that its findings are of; None where a registry's taxonomy alone may know one."""


class Report(NamedTuple):
    """One line of the doctor's answer."""

    name: str
    state: State
    seen: str
    next: str
    step: Step
    looked_at: str
    trouble: str | None
    findings: tuple[Finding, ...]

    @property
    def facts(self) -> dict[str, object]:
        """What ``--json`` says of it."""
        facts = self._asdict()
        facts["class"] = facts.pop("trouble")
        return {**facts, "findings": [finding._asdict() for finding in self.findings]}


@dataclass(frozen=True)
class Situation:
    """What every check may look at; what is costly is looked up once."""

    places: Places
    recipe: Recipe
    environ: Mapping[str, str]
    yes: bool = False
    """Whether the user's own code may be run: their modules, the interpreters of their hooks."""
    roots: Roots = field(default_factory=Roots)
    window_s: float = 0.2
    """How long the machine is watched."""
    pids: tuple[int, ...] = ()
    """Processes whose control groups are looked at besides ours and those of the clients that run."""
    guard_logs: tuple[Path, ...] = guardlog.USUAL
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    folder: Path = field(default_factory=here)
    """Where the doctor is: the settings of its project are looked at beside the user's own."""
    read_table: Callable[[], Sequence[Process]] = table

    @cached_property
    def window(self) -> Window:
        """The machine, watched once for all checks."""
        return watch(
            self.window_s,
            roots=self.roots,
            pids=self.pids,
            guard_logs=self.guard_logs,
            sleep=self.sleep,
            clock=self.clock,
            read_table=self.read_table,
        )

    @property
    def window_text(self) -> str:
        """``in 200 ms``, as it stands behind what was counted."""
        return f"in {self.window_s * 1000:.0f} ms" if self.window_s < 1 else f"in {self.window_s:g} s"

    @cached_property
    def fleet(self) -> Fleet | None:
        """The modules; None where the config cannot be read, which is a check's own finding."""
        return self._read[0]

    @property
    def unread(self) -> str:
        """Which config or manifest cannot be read, and why; empty where all can. ``union`` is then not the whole."""
        return self._read[1]

    @cached_property
    def _read(self) -> tuple[Fleet | None, str]:
        try:
            fleet = load_fleet(self.recipe)
        except OverdeckError as error:
            return None, error.message
        return fleet, "; ".join(f"a manifest cannot be read: {problem}" for problem in fleet.problems)

    @cached_property
    def refusal(self) -> OverdeckError | None:
        """Why ``overdeck install`` would refuse now; None where it would not."""
        try:
            install(self.places, self.recipe, dry_run=True)
        except OverdeckError as error:
            return error
        return None

    @property
    def union(self) -> dict[str, str]:
        """Event → matcher, as the settings should say it; empty where the fleet is not known."""
        return matchers(self.fleet) if self.fleet is not None else {}

    @cached_property
    def settings_file(self) -> Path:
        return user_settings(self.places).absolute()

    @cached_property
    def wired(self) -> dict[Path, list[entries.Entry]]:
        """The settings files with entries of ours, and those that a receipt says had some: the user's first, then the
        project's here, then those of other projects that are still there.
        """
        here = neighbours(self.places, self.folder).values()
        remembered = [
            known.file
            for known in receipts(self.places, self.recipe.client)
            if not known.pending and (known.file.parent.parent.is_dir() or known.file == self.settings_file)
        ]
        files = dict.fromkeys([self.settings_file, *here, *remembered])
        found = {file: entries.in_file(file) for file in files}
        return {file: held for file, held in found.items() if held or file in remembered}

    @cached_property
    def entries(self) -> list[entries.Entry]:
        """Ours in all settings files that are looked at."""
        return [entry for found in self.wired.values() for entry in found]

    @property
    def installed(self) -> bool:
        """Whether this user has installed Overdeck: there is an entry, or a receipt says there was one."""
        return bool(self.wired)

    def install_again(self, file: Path) -> str:
        """The command that writes the entries of ``file`` anew."""
        if file == self.settings_file:
            return INSTALL
        scope = "local" if file.name == "settings.local.json" else "project"
        return f"cd {file.parent.parent} && {INSTALL} --scope {scope}"


def run(checks: Iterable[Check], situation: Situation) -> list[Report]:
    """Every check in turn; one that breaks is a failed check, not the end of the visit."""
    reports = []
    for check in checks:
        try:
            result = check.run(situation)
        except Exception as error:  # the doctor must reach the last patient
            result = Result(
                "fail", f"the check itself broke: {type(error).__name__}: {error}", "report this as a bug"
            )
        if result.next == INSTALL and situation.refusal is not None:
            refusal = situation.refusal
            result = result._replace(next=f"{refusal.hint} (until then {INSTALL} refuses: {refusal.message})")
        findings = result.findings
        if result.state == "fail" and not findings:
            findings = (Finding("", result.seen),)
        reports.append(
            Report(
                check.name,
                result.state,
                result.seen,
                result.next,
                check.step,
                check.looks_at,
                check.trouble,
                findings,
            )
        )
    return reports
