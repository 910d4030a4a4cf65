"""What to type for a module that may go, or stay. Nothing here does it: removing is the owner's."""

import shlex
import tomllib
from dataclasses import dataclass

from overdeck.errors import usage
from overdeck.files import read_regular
from overdeck.paths import Places
from overdeck.telemetry.report import ModuleRow


@dataclass(frozen=True)
class Removal:
    """``toml`` goes into ``file``; ``command`` puts it there in a shell, empty where the file must be edited."""

    test: str
    keep: str
    file: str
    toml: str
    command: str


def removal(places: Places, row: ModuleRow) -> Removal:
    """The steps for one module; raises OverdeckError (usage) for what is no module that is on: see ``why_not``."""
    if why := why_not(row):
        raise usage(f"{row.id} cannot be switched off here: {why}", hint="overdeck fires candidates")
    toml = f"[modules.{row.id}]\nenabled = false\n"
    file = str(places.config_file)
    # Pasted twice it does nothing the second time: a second table of that name would break the config.
    line = (
        f"grep -qsF '[modules.{row.id}]' {shlex.quote(file)} || "
        f"printf '\\n[modules.{row.id}]\\nenabled = false\\n' >> {shlex.quote(file)}"
    )
    return Removal(
        test=f"overdeck hooks test {row.id}",
        keep=f'overdeck fires keep {row.id} --because "…"',
        file=file,
        toml=toml,
        command="" if _has_table(places, row.id) else line,
    )


def why_not(row: ModuleRow) -> str:
    """Why Overdeck has no removal for this row; empty where it has."""
    if not row.adopted:
        place = row.wired[0] if row.wired else None
        where = f"{place.pointer} in {place.file}" if place else "its settings file"
        return f"it is no module: take {where} out by hand, or make it a module: overdeck adopt"
    return "" if row.enabled else "it is switched off already"


def _has_table(places: Places, id: str) -> bool:
    """Whether the config says something of the module already: a second table of that name would break it."""
    try:
        config = tomllib.loads(read_regular(places.config_file).decode())
    except FileNotFoundError:
        return False
    except (OSError, ValueError, RecursionError):
        return True
    modules = config.get("modules")
    return isinstance(modules, dict) and id in modules
