"""Would Python take a package of the worktree from somewhere else? Then the test says nothing about the commit.

PYTHONPATH goes before site-packages, but not before a finder of an editable install, a ``.pth`` file that puts a folder
in front, or a regular package where the worktree has one without ``__init__.py``.
"""

import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from overdeck.incidents.evidence.run import Run

_PROBE = """
import importlib.util, json, os, sys
tree, found = os.path.realpath(sys.argv[1]) + os.sep, {}
for name in sys.argv[2:]:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        continue
    places = list(spec.submodule_search_locations or [spec.origin]) if spec else []
    if places and not os.path.realpath(str(places[0])).startswith(tree):
        found[name] = str(places[0])
print("\\n" + json.dumps(found))
"""
_NO_MODULES = {"setup", "conftest", "noxfile", "tasks"}


def roots(tree: Path) -> list[Path]:
    """The folders of the worktree that hold its packages, for PYTHONPATH: its top, and ``src`` where there is one."""
    return [tree, tree / "src"] if (tree / "src").is_dir() else [tree]


def shadowed(python: str, tree: Path, test: Path | None, run: Callable[[Sequence[str]], Run]) -> dict[str, str]:
    """Package → where the interpreter ``python`` would take it from, for those that are not taken from ``tree``.

    ``run`` runs an argv as the test will be run. Packages without ``__init__.py`` count where ``test`` imports them:
    any folder would be one.
    """
    names = _modules(tree, _imported(test))
    if not names:
        return {}
    answer = run([python, "-c", _PROBE, str(tree), *names])
    try:
        found = json.loads(answer.tail.rstrip().rpartition("\n")[2])
    except ValueError:
        return {}
    return found if answer.exit == 0 and isinstance(found, dict) else {}


def _modules(tree: Path, imported: set[str]) -> list[str]:
    names = set()
    for root in roots(tree):
        for path in root.iterdir():
            name = path.name.removesuffix(".py")
            if path.is_dir():
                counts = (path / "__init__.py").is_file() or (name in imported and any(path.glob("*.py")))
            else:
                counts = path.suffix == ".py" and name not in _NO_MODULES
            if counts and name.isidentifier() and name not in sys.stdlib_module_names:
                names.add(name)
    return sorted(names)


def _imported(test: Path | None) -> set[str]:
    if test is None or test.suffix != ".py":
        return set()
    text = test.read_text("utf-8", "replace")
    return set(re.findall(r"^[ \t]*(?:from|import)[ \t]+(\w+)", text, re.MULTILINE))
