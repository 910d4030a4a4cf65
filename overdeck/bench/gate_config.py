"""``bench/gate.toml``: what the gate measures, against which commit, and how much slower is tolerated.

    base = "<commit>"                       # pinned; moved only in a commit that says why
    build = ["sh", "-c", "make install PREFIX={prefix}"]   # optional; default: a venv and pip install .

    [tolerance]                             # of every scenario: 0.03 = 3 %
    cpu = 0.03
    wall = 0.10

    [[scenario]]
    name = "no-op call"
    argv = ["{bin}/overdeck-hook", "PreToolUse"]
    payload = "scenarios/payloads/noop.bash.json"          # beside this file
    prepare = [["{bin}/overdeck", "doctor"]]               # optional, once a side, in its HOME, off the clock
    env = { KEY = "value" }                                # optional
    tolerance = { wall = 0.2 }                             # optional
    timeout_s = 20                                         # optional
    allow_diff = true                                      # optional: the sides may print different things

``{bin}``, ``{prefix}``, ``{source}`` and ``{home}`` stand for the side's own folders in ``argv``,
``prepare``, ``env`` and ``build``. ``build`` runs in a checkout of that side and must fill ``{prefix}``.
Anything the file says wrongly makes the gate INVALID: a gate that measured less than was meant has passed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from overdeck.bench.compare import METRICS, Metric
from overdeck.errors import InvalidMeasurement, OverdeckError, usage
from overdeck.tomlfile import read_toml

_TOP = {"base", "build", "tolerance", "scenario"}
_SCENARIO = {"name", "argv", "payload", "prepare", "env", "tolerance", "timeout_s", "allow_diff"}
_TOLERANCE: dict[Metric, float] = {"cpu": 0.03, "wall": 0.10}


@dataclass(frozen=True)
class Scenario:
    """One thing a fleet does all day, measured on both sides."""

    name: str
    argv: tuple[str, ...]
    payload: bytes
    tolerance: Mapping[Metric, float]
    prepare: tuple[tuple[str, ...], ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 60.0
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
    _known(file, document, _TOP, "at top level")
    base = document.get("base", "")
    if not isinstance(base, str):
        raise _invalid(file, "base is not a string")
    tolerance = _tolerance(file, document.get("tolerance", {}), _TOLERANCE, "tolerance")
    tables = document.get("scenario", [])
    if not isinstance(tables, list) or not tables:
        raise _invalid(file, "has no [[scenario]]: nothing would be measured")
    scenarios = tuple(_scenario(file, table, tolerance) for table in tables)
    names = [scenario.name for scenario in scenarios]
    if len(set(names)) < len(names):
        raise _invalid(file, "has two scenarios of one name")
    return GateConfig(file, base, _words(file, document.get("build", []), "build"), scenarios)


def _scenario(file: Path, table: Any, tolerance: Mapping[Metric, float]) -> Scenario:
    name = table.get("name") if isinstance(table, dict) else None
    if not isinstance(name, str) or not name:
        raise _invalid(file, "has a scenario without a name")
    where = f"in scenario {name!r}"
    _known(file, table, _SCENARIO, where)
    argv = _words(file, table.get("argv", []), f"argv {where}")
    if not argv:
        raise _invalid(file, f"has no argv {where}")
    environ = table.get("env", {})
    if not isinstance(environ, dict) or not all(isinstance(value, str) for value in environ.values()):
        raise _invalid(file, f"env {where} is not a table of strings")
    prepare = table.get("prepare", [])
    timeout = table.get("timeout_s", 60.0)
    if not isinstance(timeout, int | float) or isinstance(timeout, bool) or timeout <= 0:
        raise _invalid(file, f"timeout_s {where} is not a positive number")
    allow_diff = table.get("allow_diff", False)
    if not isinstance(prepare, list) or not isinstance(allow_diff, bool):
        raise _invalid(file, f"prepare {where} is not a list of commands, or allow_diff not true or false")
    return Scenario(
        name=name,
        argv=argv,
        payload=_payload(file, table.get("payload"), where),
        tolerance=_tolerance(file, table.get("tolerance", {}), tolerance, f"tolerance {where}"),
        prepare=tuple(_words(file, argv, f"prepare {where}") for argv in prepare),
        environ=environ,
        timeout_s=float(timeout),
        allow_diff=allow_diff,
    )


def _payload(file: Path, name: Any, where: str) -> bytes:
    if not isinstance(name, str):
        raise _invalid(file, f"has no payload {where}")
    try:
        return (file.parent / name).read_bytes()
    except OSError as error:
        raise _invalid(file, f"names the payload {name} {where}, which cannot be read: {error.strerror}") from None


def _tolerance(file: Path, table: Any, default: Mapping[Metric, float], where: str) -> Mapping[Metric, float]:
    if not isinstance(table, dict):
        raise _invalid(file, f"{where} is not a table")
    _known(file, table, set(METRICS), where)
    for metric, value in table.items():
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < 10:
            raise _invalid(file, f"{where}: {metric} = {value!r} is no share (0.03 = 3 %)")
    return {**default, **cast("dict[Metric, float]", table)}


def _words(file: Path, value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise _invalid(file, f"{where} is not a list of strings")
    return tuple(value)


def _known(file: Path, table: Mapping[str, Any], known: set[str] | set[Metric], where: str) -> None:
    unknown = sorted(set(table) - set(known))
    if unknown:
        raise _invalid(file, f"has an unknown key {where}: {', '.join(unknown)}")


def _invalid(file: Path, what: str) -> InvalidMeasurement:
    return InvalidMeasurement(
        f"{file} {what}", code="gate-config", hint="see overdeck/bench/gate_config.py, or docs/plans/bench.md"
    )
