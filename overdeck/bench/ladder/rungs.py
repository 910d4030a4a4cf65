"""The rungs: ways to write a hook that reads its whole payload, looks for one word, and finds nothing.

They do the same work, so what differs is the start of a process and the way to its standard input. Only "module that
runs" looks for a word that is in every payload: it is what a module of the dispatcher costs when its code does run.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from overdeck.authoring.fleet import built_front, front_argv, interpreter, recipe_for, write_plans
from overdeck.bench.arm import Arm, command_arm
from overdeck.paths import Places

EVENT, TOOL = "PreToolUse", "Write"
"""A big payload at the moment a gate acts: the whole file is in the input, where the dispatcher looks for literals."""
ABSENT, PRESENT = "ladderword", "new.txt"
"""A word that no payload holds, and one that each does: the name of the file."""

Kind = Literal["floor", "native", "observer", "module", "read", "shell", "python", "runtime", "shim"]

_MODULE = f"""id = "ladder"
summary = "Looks for a word"
class = "adviser"
literals = ["{{word}}"]
[events]
{EVENT} = "{TOOL}"
"""
_OBSERVER = f"""id = "ladder"
summary = "Records that a call was made"
class = "observer"
native = ["event", "tool", "session", "in"]
[events]
{EVENT} = "{TOOL}"
"""
_CODE = "def evaluate(call):\n    return None\n"
_PYTHON = f"import sys; sys.exit(b'{ABSENT}' in sys.stdin.buffer.read())"
_JAVASCRIPT = f"process.exit(require('fs').readFileSync(0).includes('{ABSENT}') ? 1 : 0)"
_CASE = f'case "$payload" in *{ABSENT}*) exit 1;; esac'


class Rung(NamedTuple):
    """One way to write a hook; ``arm`` is None where this machine has it not, and ``missing`` says why."""

    name: str
    kind: Kind
    arm: Arm | None
    missing: str = ""


def find_rungs(folder: Path, path: str | None = None) -> list[Rung]:
    """Every rung, the floor first; plans and modules of the dispatcher's are written below ``folder``.

    ``path`` is where programs are looked for, the caller's PATH by default. Whether they work is not tried here.
    """
    path = os.environ.get("PATH", os.defpath) if path is None else path
    return [
        _command("true", "floor", "true", [], path),
        *_dispatcher(folder),
        _command("sh: read -r", "read", "sh", ["-c", f"IFS= read -r payload; {_CASE}"], path),
        _command("bash: read -rd ''", "read", "bash", ["-c", f"IFS= read -rd '' payload || :; {_CASE}"], path),
        _command("sh: $(cat)", "shell", "sh", ["-c", f"payload=$(cat); {_CASE}"], path),
        _real("python3 -I -S", "python", "python3", ["-I", "-S", "-c", _PYTHON], path),
        _real("python3", "python", "python3", ["-c", _PYTHON], path),
        _stand_in("python3 by a shim", "python3", ["-c", _PYTHON], path),
        _real("node", "runtime", "node", ["-e", _JAVASCRIPT], path),
        _stand_in("node by a shim", "node", ["-e", _JAVASCRIPT], path),
        _real("bun", "runtime", "bun", ["-e", _JAVASCRIPT], path),
    ]


def is_shim(program: Path, name: str) -> bool:
    """Whether ``program`` only looks for the real ``name``: a script, or a link to a program of another name."""
    try:
        with program.open("rb") as file:
            script = file.read(2) == b"#!"
    except OSError:
        return False
    return script or not program.resolve().name.startswith(name.rstrip("0123456789"))


def _dispatcher(folder: Path) -> Iterator[Rung]:
    """The dispatcher's rungs; without a native front its Python twin stands for it, as it does at a user's calls."""
    built = built_front()
    why = "no native front is installed here" if built is None else f"{built.path} is of another version"
    if built is not None and built.fresh:
        yield _fronted("native front", "native", folder, _MODULE.format(word=ABSENT))
        yield _fronted("native observer", "observer", folder, _OBSERVER)
    else:
        yield Rung("native front", "native", None, f"{why}: overdeck doctor")
        yield _fronted("Python front", "native", folder, _MODULE.format(word=ABSENT))
    yield _fronted("module that runs", "module", folder, _MODULE.format(word=PRESENT))


def _fronted(name: str, kind: Kind, folder: Path, manifest: str) -> Rung:
    return Rung(name, kind, command_arm(name, _front(folder / kind, manifest)))


def _front(home: Path, manifest: str) -> list[str]:
    """The front's argv with plans of this one module, everything below ``home``."""
    places = Places.from_environment({"HOME": str(home)})
    module = places.user_modules / "ladder"
    module.mkdir(parents=True)
    (module / "module.toml").write_text(manifest)
    (module / "module.py").write_text(_CODE)
    places.config_file.write_text("packs = []\n")
    recipe = recipe_for(places)
    write_plans(recipe)
    return front_argv(recipe, EVENT)


def _command(name: str, kind: Kind, program: str, words: list[str], path: str) -> Rung:
    found = shutil.which(program, path=path)
    if found is None:
        return Rung(name, kind, None, f"there is no {program} on PATH")
    return Rung(name, kind, command_arm(name, [found, *words]))


def _real(name: str, kind: Kind, program: str, words: list[str], path: str) -> Rung:
    """The first ``program`` on PATH that is itself; for Python, ours where all are shims."""
    there = _on_path(program, path)
    real = next((file for file in there if not is_shim(file, program)), None)
    if real is None and kind == "python":
        real = interpreter()
    if real is None:
        return Rung(name, kind, None, f"there is no {program} on PATH" + (", only a shim" if there else ""))
    return Rung(name, kind, command_arm(name, [str(real), *words]))


def _stand_in(name: str, program: str, words: list[str], path: str) -> Rung:
    """The first ``program`` on PATH that a version manager put there."""
    shim = next((file for file in _on_path(program, path) if is_shim(file, program)), None)
    if shim is None:
        return Rung(name, "shim", None, f"no version manager's {program} is on PATH")
    return Rung(name, "shim", command_arm(name, [str(shim), *words]))


def _on_path(program: str, path: str) -> list[Path]:
    files = [Path(folder, program) for folder in path.split(os.pathsep) if folder]
    return [file for file in files if file.is_file() and os.access(file, os.X_OK)]
