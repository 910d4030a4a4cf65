"""What a call loads: the standard library only, and only the cheap part of it."""

import json
import subprocess
import sys

from fronts import Front, bash

import overdeck.dispatch.front

FORBIDDEN = [
    "json",
    "re",
    "os",
    "typing",
    "dataclasses",
    "enum",
    "pathlib",
    "subprocess",
    "contextlib",
    "signal",
    "site",
]


def test_a_call_imports_none_of_the_dear_modules(front: Front) -> None:
    front.module("gate", "return None", toml='literals = ["never"]')
    front.install()
    probe = (
        "import sys; sys.argv = ['entry.py', 'PreToolUse', '--plan', sys.argv[1]]\n"
        f"sys.path.append({front.recipe.entry.rpartition('/overdeck/')[0]!r})\n"
        "from overdeck.dispatch import front\n"
        "import posix\n"
        "leave = posix._exit\n"
        "def report(code):\n"
        f"    sys.stderr.write(' '.join(m for m in {FORBIDDEN!r} if m in sys.modules)); sys.stderr.flush()\n"
        "    leave(code)\n"
        "front.posix._exit = report\n"
        "front.main(sys.argv)\n"
    )
    done = subprocess.run(
        [front.recipe.python, "-I", "-S", "-c", probe, front.recipe.plans],
        input=json.dumps(bash("ls")).encode(), capture_output=True, env={}, check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == (b"", b"")


def test_importing_overdeck_imports_nothing() -> None:
    probe = "import sys; before = set(sys.modules); import overdeck; print(sorted(set(sys.modules) - before))"
    package = overdeck.__path__[0].rpartition("/")[0]
    code = f"import sys; sys.path.append({package!r}); {probe}"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['overdeck']"
