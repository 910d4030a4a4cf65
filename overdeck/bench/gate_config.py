"""``bench/gate.toml``: what the gate measures, against which commit, and how much dearer is tolerated.

    base = "<commit>"                       # pinned; moved only in a commit that says why
    build = ["sh", "-c", "make install PREFIX={prefix}"]   # optional; default: a venv and pip install .

    [tolerance]                             # of every scenario; these are the defaults
    cpu = 0.03                              # 0.03 = 3 % more CPU time
    wall = 0.10
    starts = 0                              # program starts more than base

    [hook.deploy-guard]                     # of every scenario that says hook = "deploy-guard"
    tolerance = { cpu = 0.05 }

    [[scenario]]
    name = "no-op call"
    argv = ["{bin}/overdeck-hook", "PreToolUse"]
    payload = "scenarios/payloads/noop.bash.json"          # beside this file
    prepare = [["{bin}/overdeck", "install"]]              # optional, in each new HOME, off the clock
    env = { KEY = "value" }                                # optional
    hook = "deploy-guard"                                  # optional: whose tolerance counts
    tolerance = { wall = 0.2 }                             # optional: this scenario's own
    timeout_s = 20                                         # optional
    exit = 2                                               # optional, default 0; or a list: how each command may end
    allow_diff = true                                      # optional: the sides may print different things

    [[scenario]]
    name = "the deploy guard on a Write of 1.5 MB"
    settings = "{source}/.claude/settings.json"            # in place of argv: what the client would start
    event = "PreToolUse"
    tool = "Write"
    handler = "deploy_guard.py"                            # optional: only one of them, as in settings.json#…
    payload_size = 1_500_000                               # in place of payload: one made for event and tool

``{bin}``, ``{prefix}``, ``{source}`` and ``{home}`` stand for the side's own folders in ``argv``, ``settings``,
``prepare``, ``env`` and ``build``; ``{gate}`` for the folder of this file, the same for both. ``build`` runs in a
checkout of that side and must fill ``{prefix}``. ``argv`` or ``settings`` must name one of the side's folders as
what is run: what is the same program on both sides would pass whatever head does. A tolerance is the scenario's
own, else its hook's, else that of ``[tolerance]``, metric by metric. Anything the file says wrongly makes the gate
INVALID: a gate that measured less than was meant has passed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from overdeck.bench.builds import runs_its_own
from overdeck.bench.limits import LONGEST_TIMEOUT_S
from overdeck.bench.outcome import Metric
from overdeck.bench.payloads import generate
from overdeck.errors import InvalidMeasurement, OverdeckError, usage
from overdeck.payloadfile import payload_bytes
from overdeck.tomlfile import read_toml

_TOP = {"base", "build", "tolerance", "hook", "scenario"}
_SCENARIO = {
    "name", "argv", "settings", "handler", "event", "tool", "payload", "payload_size", "prepare", "env", "hook",
    "tolerance", "timeout_s", "exit", "allow_diff",
}  # fmt: skip


class Tolerance(NamedTuple):
    """How much dearer than base is no failure: shares of CPU and wall time, and a number of program starts."""

    cpu: float = 0.03
    wall: float = 0.10
    starts: int = 0

    def share(self, metric: Metric) -> float:
        return self.cpu if metric == "cpu" else self.wall


class Settings(NamedTuple):
    """A scenario that is what a client would start for ``event`` on ``tool``, or one ``handler`` of that.

    ``file`` has placeholders.
    """

    file: str
    event: str
    tool: str
    handler: str | None


@dataclass(frozen=True)
class Scenario:
    """One thing a fleet does all day, measured on both sides: an ``argv``, or the hooks of a settings file."""

    name: str
    argv: tuple[str, ...]
    payload: bytes
    tolerance: Tolerance
    settings: Settings | None = None
    prepare: tuple[tuple[str, ...], ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 60.0
    exits: frozenset[int] = frozenset({0})
    """How a command of either side may end; any other exit code is a failure, and measures nothing."""
    allow_diff: bool = False


@dataclass(frozen=True)
class GateConfig:
    """The whole file; ``base`` empty = none pinned yet."""

    file: Path
    base: str
    build: tuple[str, ...]
    scenarios: tuple[Scenario, ...]


def read_gate_config(file: Path) -> GateConfig:
    """Read and check ``file``; raises OverdeckError (usage) where it is not there, InvalidMeasurement, naming the
    key, where anything is wrong with it.
    """
    try:
        document = read_toml(file)
    except FileNotFoundError:
        raise usage(
            f"there is no {file} here, so nothing says what to measure: hookbench gate runs in a checkout",
            code="no-gate-config",
            hint="cd to the checkout, or: hookbench gate --config FILE",
        ) from None
    except OverdeckError as error:
        raise InvalidMeasurement(error.message, code="gate-config", hint=error.hint) from None
    return _Reader(file).whole(document)


def scenario_names(file: Path) -> set[str]:
    """The names of the scenarios in the base's gate ``file``; none where there is no such file.

    Raises InvalidMeasurement where it cannot be read, or its scenarios are no tables with a name: nobody could tell
    then whether the gate was emptied.
    """
    try:
        tables = read_toml(file).get("scenario", [])
    except FileNotFoundError:
        return set()
    except OverdeckError as error:
        raise _base_config(error.message) from None
    names = set()
    for table in tables if isinstance(tables, list) else [tables]:
        name = table.get("name") if isinstance(table, dict) else None
        if not isinstance(name, str):
            raise _base_config(f"{file} has a scenario that is no table with a name")
        names.add(name)
    return names


def _base_config(why: str) -> InvalidMeasurement:
    return InvalidMeasurement(
        f"what the base's gate measures cannot be told: {why}",
        code="base-gate-config",
        hint="pin a base whose gate file is right, or pass --base REV",
    )


class _Reader:
    """Turns the tables of one file into what they mean; whatever is wrong is said with the file and the key."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.hooks: dict[str, Any] = {}
        self.used: set[str] = set()

    def whole(self, document: Mapping[str, Any]) -> GateConfig:
        for text in _texts(document):
            if "\0" in text:
                raise self._wrong(f"holds a NUL character, which no program can be given: {text[:60]!r}")
        self._known(document, _TOP, "at top level")
        base = document.get("base", "")
        if not isinstance(base, str):
            raise self._wrong("base is not a string")
        common = self._tolerance(document.get("tolerance", {}), Tolerance(), "in [tolerance]")
        hooks = document.get("hook", {})
        if not isinstance(hooks, dict) or not all(isinstance(table, dict) for table in hooks.values()):
            raise self._wrong("hook is not a table of tables")
        self.hooks = hooks
        for name, table in hooks.items():
            self._known(table, {"tolerance"}, f"in hook {name!r}")
        tables = document.get("scenario", [])
        if not isinstance(tables, list) or not tables:
            raise self._wrong("has no [[scenario]]: nothing would be measured")
        scenarios = tuple(self._scenario(table, common) for table in tables)
        names = [scenario.name for scenario in scenarios]
        if len(set(names)) < len(names):
            raise self._wrong("has two scenarios of one name")
        if unused := sorted(set(hooks) - self.used):
            raise self._wrong(f"has a tolerance for the hook {unused[0]!r}, which no scenario names")
        return GateConfig(self.file, base, self._words(document.get("build", []), "build"), scenarios)

    def _scenario(self, table: Any, common: Tolerance) -> Scenario:
        name = table.get("name") if isinstance(table, dict) else None
        if not isinstance(name, str) or not name:
            raise self._wrong("has a scenario without a name")
        where = f"in scenario {name!r}"
        self._known(table, _SCENARIO, where)
        environ = table.get("env", {})
        if not isinstance(environ, dict) or not all(isinstance(value, str) for value in environ.values()):
            raise self._wrong(f"env {where} is not a table of strings")
        prepare = table.get("prepare", [])
        timeout = table.get("timeout_s", 60.0)
        if (
            not isinstance(timeout, int | float)
            or isinstance(timeout, bool)
            or not 0 < timeout <= LONGEST_TIMEOUT_S
        ):
            raise self._wrong(
                f"timeout_s {where} is no number of seconds, more than 0 and at most {LONGEST_TIMEOUT_S:g}"
            )
        allow_diff = table.get("allow_diff", False)
        if not isinstance(prepare, list) or not isinstance(allow_diff, bool):
            raise self._wrong(f"prepare {where} is not a list of commands, or allow_diff not true or false")
        argv, settings = self._started(table, where)
        return Scenario(
            name=name,
            argv=argv,
            payload=self._payload(table, where),
            tolerance=self._tolerance(table.get("tolerance", {}), self._of_hook(table, common, where), where),
            settings=settings,
            prepare=tuple(self._words(words, f"prepare {where}") for words in prepare),
            environ={key: self._filled(value) for key, value in environ.items()},
            timeout_s=float(timeout),
            exits=self._exits(table.get("exit", 0), where),
            allow_diff=allow_diff,
        )

    def _started(self, table: Mapping[str, Any], where: str) -> tuple[tuple[str, ...], Settings | None]:
        argv = self._words(table.get("argv", []), f"argv {where}")
        if "settings" not in table:
            if not argv:
                raise self._wrong(f"has no argv {where}, and no settings")
            if "handler" in table:
                raise self._wrong(f"has a handler {where}, but no settings to find it in")
            if not runs_its_own(table["argv"]):
                raise self._same_on_both(f"argv {where}", "{bin}", '"{bin}/hook"')
            return argv, None
        if argv:
            raise self._wrong(f"has argv and settings {where}: give one")
        if not runs_its_own([self._text(table, "settings", where)]):
            raise self._same_on_both(f"settings {where}", "{source}", '"{source}/.claude/settings.json"')
        return (), Settings(
            self._filled(self._text(table, "settings", where)),
            self._text(table, "event", where),
            self._text(table, "tool", where) if "tool" in table else "",
            self._text(table, "handler", where) if "handler" in table else None,
        )

    def _same_on_both(self, what: str, folder: str, example: str) -> InvalidMeasurement:
        return InvalidMeasurement(
            f"{self.file}: {what} names no side's own folder as what is run, so both sides would run the same, "
            f"whatever head does: it needs {folder} ({{bin}}, {{prefix}}, {{source}} and {{home}} are the side's)",
            code="gate-config",
            hint=f"name what is measured by its side: {example}",
        )

    def _exits(self, value: Any, where: str) -> frozenset[int]:
        codes = value if isinstance(value, list) else [value]
        if not codes or not all(type(code) is int and 0 <= code <= 255 for code in codes):
            raise self._wrong(f"exit {where} is no exit code (0 to 255), nor a list of them")
        return frozenset(codes)

    def _payload(self, table: Mapping[str, Any], where: str) -> bytes:
        if "payload_size" in table:
            size = table["payload_size"]
            if "payload" in table:
                raise self._wrong(f"has payload and payload_size {where}: give one")
            if not isinstance(size, int) or isinstance(size, bool):
                raise self._wrong(f"payload_size {where} is no number of bytes")
            try:
                return generate(self._text(table, "event", where), self._text(table, "tool", where), size)
            except OverdeckError as error:
                raise self._wrong(f"asks for a payload {where} that cannot be made: {error.message}") from None
        if "payload" not in table:
            raise self._wrong(f"has no payload {where}, and no payload_size")
        name = self._text(table, "payload", where)
        try:
            return payload_bytes(self.file.parent / name)
        except OverdeckError as error:
            raise self._wrong(f"names a payload {where} that cannot be used: {error.message}") from None
        except OSError as error:
            raise self._wrong(
                f"names the payload {name} {where}, which cannot be read: {error.strerror}"
            ) from None

    def _of_hook(self, table: Mapping[str, Any], common: Tolerance, where: str) -> Tolerance:
        if "hook" not in table:
            return common
        name = self._text(table, "hook", where)
        self.used.add(name)
        return self._tolerance(self.hooks.get(name, {}).get("tolerance", {}), common, f"in hook {name!r}")

    def _tolerance(self, table: Any, otherwise: Tolerance, where: str) -> Tolerance:
        if not isinstance(table, dict):
            raise self._wrong(f"tolerance {where} is not a table")
        self._known(table, set(Tolerance._fields), where)
        for metric, value in table.items():
            if metric == "starts":
                right = isinstance(value, int) and not isinstance(value, bool) and value >= 0
            else:
                right = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 10
            if not right:
                kind = "whole number of starts" if metric == "starts" else "share (0.03 = 3 %)"
                raise self._wrong(f"{where}: {metric} = {value!r} is no {kind}")
        return otherwise._replace(**table)

    def _text(self, table: Mapping[str, Any], key: str, where: str) -> str:
        value = table.get(key)
        if not isinstance(value, str) or not value:
            raise self._wrong(f"{key} {where} is missing, or no string")
        return value

    def _words(self, value: Any, where: str) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise self._wrong(f"{where} is not a list of strings")
        return tuple(map(self._filled, value))

    def _filled(self, word: str) -> str:
        return word.replace("{gate}", str(self.file.absolute().parent))

    def _known(self, table: Mapping[str, Any], known: set[str], where: str) -> None:
        if unknown := sorted(set(table) - known):
            raise self._wrong(f"has an unknown key {where}: {', '.join(unknown)}")

    def _wrong(self, what: str) -> InvalidMeasurement:
        return InvalidMeasurement(
            f"{self.file} {what}",
            code="gate-config",
            hint='a [[scenario]] that is right: name = "a call", argv = ["{bin}/hook"], payload = "payload.json", '
            "tolerance = { cpu = 0.05 }",
        )


def _texts(value: Any) -> Iterator[str]:
    """Every string in a TOML document, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
