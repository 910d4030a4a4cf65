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

from pathlib import Path

from overdeck.bench.gate.reader import Reader
from overdeck.bench.gate.scenario import GateConfig
from overdeck.errors import InvalidMeasurement, OverdeckError, usage
from overdeck.tomlfile import read_toml


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
    return Reader(file).whole(document)


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
