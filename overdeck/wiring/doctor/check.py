"""What a check of ``overdeck doctor`` is given and what it answers."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

from overdeck.authoring.fleet import load_fleet, matchers
from overdeck.dispatch.planning import Fleet, Recipe
from overdeck.errors import OverdeckError
from overdeck.machine import cgroup
from overdeck.paths import Places
from overdeck.wiring import entries
from overdeck.wiring.install import install
from overdeck.wiring.receipt import read_receipt
from overdeck.wiring.sources import user_settings

INSTALL = "overdeck install"
"""The advice that ``run`` replaces where it would not help."""

State = Literal["ok", "warn", "fail", "skip"]


class Result(NamedTuple):
    """What one check saw, and the next command where there is one to type."""

    state: State
    seen: str
    next: str = ""


class Check(NamedTuple):
    name: str
    run: Callable[["Situation"], Result]


class Report(NamedTuple):
    """One line of the doctor's answer."""

    name: str
    state: State
    seen: str
    next: str


@dataclass(frozen=True)
class Situation:
    """What every check may look at; what is costly is looked up once."""

    places: Places
    recipe: Recipe
    environ: Mapping[str, str]
    proc: Path = cgroup.PROC
    sysfs: Path = cgroup.SYSFS
    window_s: float = 0.2
    """How long the counters of the machine are watched."""
    sleep: Callable[[float], None] = time.sleep

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
    def entries(self) -> list[entries.Entry]:
        """Ours in the user's settings; none where there is no file or it is not JSON."""
        try:
            return entries.find(self.settings_file.read_bytes().decode("utf-8-sig"))
        except (OSError, ValueError):
            return []

    @cached_property
    def installed(self) -> bool:
        """Whether this user has installed Overdeck: there is an entry, or a receipt says there was one."""
        known = read_receipt(self.places, self.recipe.client, self.settings_file)
        return bool(self.entries) or known is not None


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
        reports.append(Report(check.name, *result))
    return reports
