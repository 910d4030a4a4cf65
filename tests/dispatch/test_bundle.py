"""What saves time is never older than what it stands for."""

import ast
import json
import marshal
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fronts import Front, bash

from overdeck.dispatch import bundle as bundling
from overdeck.dispatch.kept import seal
from overdeck.dispatch.plan import parse

KIT = Path(bundling.__file__).parent / "kit"


def bundle_of(front: Front) -> Path:
    return Path(parse((front.plans / "PreToolUse.plan").read_bytes()).bundle)


def run_bundle(front: Front, bundle: Path) -> str:
    """What the bundle answers when it is started as the native front starts it: the payload in a file of its own."""
    payload = bundle.parent / "payload.json"
    payload.write_text(json.dumps(bash("ls")))
    with payload.open("rb") as stdin:
        done = subprocess.run(
            [front.recipe.python, "-I", "-S", str(bundle), "PreToolUse", "--plan", front.recipe.plans],
            stdin=stdin, capture_output=True, check=False, env={},
        )  # fmt: skip
    assert done.returncode == 0 and done.stderr == b""
    return done.stdout.decode()


def test_the_bundle_answers_as_the_files_do(front: Front) -> None:
    front.module("gate", "import re\nreturn deny('held')")
    front.install()
    assert run_bundle(front, bundle_of(front)) == front.call(bash("ls")).stdout


@pytest.mark.parametrize("client", ["claude", "codex"])
def test_a_bundle_that_finds_its_plan_stale_makes_it_anew(tmp_path: Path, client: str) -> None:
    front = Front(tmp_path, client=client)
    folder = front.module("gate", "return deny('held')", toml='literals = ["never"]')
    front.install()
    bundle = bundle_of(front)
    manifest = folder / "module.toml"
    manifest.write_text(manifest.read_text().replace('literals = ["never"]', ""))
    assert "held" in run_bundle(front, bundle)


def copied(front: Front, folder: Path) -> Path:
    """A dispatcher of the front's own that a test may edit; its folder."""
    package = folder / "copy" / "overdeck"
    shutil.copytree(
        Path(front.recipe.entry).parent, package / "dispatch", ignore=shutil.ignore_patterns("__pycache__")
    )
    (package / "__init__.py").touch()
    front.recipe.entry = str(package / "dispatch" / "entry.py")
    return package / "dispatch"


def test_a_bundle_whose_sources_have_changed_imports_them(front: Front, tmp_path: Path) -> None:
    dispatcher = copied(front, tmp_path)
    front.module("gate", "return deny('held')")
    front.install()
    bundle = bundle_of(front)
    merge = dispatcher / "merge.py"
    merge.write_text(
        merge.read_text().replace('f"[{outcome.id}] {outcome.text}"', 'f"<{outcome.id}> {outcome.text}"')
    )
    assert "<gate> held" in run_bundle(front, bundle)
    front.config.touch()
    front.call(bash("ls"))
    assert bundle_of(front) != bundle, "the next plan has a bundle of the new sources"


def test_what_few_calls_need_is_compiled_anew_when_its_source_has_changed(front: Front, tmp_path: Path) -> None:
    dispatcher = copied(front, tmp_path)
    front.module("gate", "from overdeck.dispatch.kit import shell\nreturn deny(str(shell.MAX_LETTERS))")
    front.install()
    shell = dispatcher / "kit" / "shell.py"
    shell.write_text(shell.read_text().replace("MAX_LETTERS = 256 << 10", "MAX_LETTERS = 1234567"))
    assert "1234567" in run_bundle(front, bundle_of(front))


@pytest.mark.parametrize("damage", ["gone", "empty", "garbage", "no code", "another file's", "a flipped letter"])
def test_kept_code_that_is_damaged_is_compiled_again(front: Front, damage: str) -> None:
    front.module("gate", "return deny('held')")
    front.install()
    other = marshal.dumps(compile("def evaluate(call): return None", "/elsewhere/module.py", "exec"))
    for kept in (front.plans / "code").iterdir():
        if damage == "gone":
            kept.unlink()
        elif damage == "a flipped letter":
            kept.write_bytes(kept.read_bytes().replace(b"held", b"hold"))
        else:
            kept.write_bytes(
                {
                    "empty": b"",
                    "garbage": b"\xff" * 100,
                    "no code": seal(b"N"),
                    "another file's": seal(other),
                }[damage]
            )
    assert "held" in front.call(bash("ls")).reason


COUNTED = """
import sys
sys.path.insert(0, ROOT)
from overdeck.authoring.fleet import write_plans
from overdeck.dispatch.planning import Recipe
seen = []
sys.addaudithook(lambda name, args: seen.append(args[1]) if name == "compile" and args[0] is not None else None)
write_plans(Recipe.load(PLANS))
print(sum(name.endswith("/dispatch/front.py") for name in seen if isinstance(name, str)))
"""


def test_the_plans_of_many_events_compile_the_dispatcher_once(front: Front) -> None:
    front.module("gate", "return None", events={"PreToolUse": "*", "PostToolUse": "*"})
    front.install("Stop")
    before = {path.name for path in front.plans.glob("*.plan")}
    root = front.recipe.entry.rpartition("/overdeck/dispatch/")[0]
    script = COUNTED.replace("ROOT", repr(root)).replace("PLANS", repr(front.recipe.plans))
    done = subprocess.run([front.recipe.python, "-c", script], capture_output=True, text=True, check=True)
    assert len({path.name for path in front.plans.glob("*.plan")}) == len(before) + 2
    assert done.stdout == "1\n"


def compiled_by_a_rebuild(front: Front) -> set[str]:
    """The files that a rebuild of the plan of PreToolUse compiles; what has been installed is left as it is."""
    script = """
import sys
sys.path.insert(0, ROOT)
from overdeck.dispatch import rebuild
seen = set()
sys.addaudithook(lambda name, args: seen.add(str(args[1])) if name == "compile" else None)
plan, said = rebuild.rebuild(PLANS, "PreToolUse", None, "")
assert plan is not None and not said, said
print("\\n".join(seen))
"""
    root = front.recipe.entry.rpartition("/overdeck/dispatch/")[0]
    script = script.replace("ROOT", repr(root)).replace("PLANS", repr(front.recipe.plans))
    done = subprocess.run([front.recipe.python, "-c", script], capture_output=True, text=True, check=True)
    return {name for name in done.stdout.splitlines() if name.endswith(("/front.py", "/shell.py", "/module.py"))}


def test_a_rebuild_compiles_nothing_that_is_kept_whole(front: Front) -> None:
    front.module("gate", "return deny('held')")
    front.install()
    assert compiled_by_a_rebuild(front) == set()


@pytest.mark.parametrize("damage", ["gone", "halved", "flipped", "writable by others", "another's", "empty"])
def test_a_rebuild_mends_a_bundle_that_is_not_whole(front: Front, damage: str) -> None:
    front.module("gate", "return deny('held')")
    front.install()
    bundle = bundle_of(front)
    good = bundle.read_bytes()
    if damage == "gone":
        bundle.unlink()
    elif damage == "writable by others":
        bundle.chmod(0o666)
    elif damage == "another's":
        other = bundling.build(front.recipe.entry, front.recipe.plans, "codex")
        Path(other).replace(bundle)
    else:
        flipped = good.replace(b"fail_side", b"fail_sibe").replace(b"deny", b"pass")
        bundle.write_bytes({"halved": good[: len(good) // 2], "flipped": flipped, "empty": b""}[damage])
    assert compiled_by_a_rebuild(front)
    assert bundle.read_bytes()[:8] == good[:8] and bundle.stat().st_mode & 0o777 == 0o600
    # by its code: the bytes of marshal differ from process to process
    assert marshal.loads(bundle.read_bytes()[16:]).co_consts == marshal.loads(good[16:]).co_consts


@pytest.mark.parametrize(
    "damage", ["gone", "empty", "cut to its digest", "a flipped letter", "writable by others"]
)
def test_a_rebuild_mends_kept_code_that_is_not_whole(front: Front, damage: str) -> None:
    front.module("gate", "return deny('held')")
    front.install()
    good = {path: path.read_bytes() for path in (front.plans / "code").iterdir()}
    for path, raw in good.items():
        if damage == "gone":
            path.unlink()
        elif damage == "writable by others":
            path.chmod(0o666)
        elif damage == "a flipped letter":
            path.write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
        else:
            path.write_bytes(b"" if damage == "empty" else raw[:16])
    assert {name.rpartition("/")[2] for name in compiled_by_a_rebuild(front)} >= {"shell.py", "module.py"}
    for path, raw in good.items():
        mended = path.read_bytes()
        assert mended == seal(mended[16:]) and path.stat().st_mode & 0o777 == 0o600
        assert marshal.loads(mended[16:]) == marshal.loads(raw[16:])


def test_imports_are_read_from_the_top_level_and_only_known_names_count(front: Front) -> None:
    folder = front.module("gate", "import os\nreturn None")
    code = folder / "module.py"
    code.write_text(
        "import re, json as j  # both\nfrom collections.abc import Sized\nimport numpy\nimport this\n"
        + code.read_text()
    )
    front.install()
    module = parse((front.plans / "PreToolUse.plan").read_bytes()).modules[0]
    assert module.imports == ["collections.abc", "json", "overdeck.dispatch.module", "re"]


def test_what_few_calls_need_is_not_made_a_module_by_the_usual_call(front: Front) -> None:
    waiting = (
        "[k for k, m in sys.modules.items() if type(m).__name__ == 'Later' and '__builtins__' not in vars(m)]"
    )
    front.module("gate", f"import sys\nreturn deny(' '.join({waiting}))")
    front.install()
    said = run_bundle(front, bundle_of(front))
    assert {name for name in bundling.LATER if f"overdeck.dispatch.{name}" not in said} == {"runner"}


def test_every_file_of_the_dispatcher_is_in_the_bundle_or_serves_planning() -> None:
    files = {path.stem for path in Path(bundling.__file__).parent.glob("*.py")}
    beside = {"__init__", "entry", "bundle", "manifest", "planning", "rebuild", "ruletables"}
    assert files - {*bundling.NOW, *bundling.LATER} == beside


def test_of_what_modules_are_built_with_the_bundle_leaves_out_what_few_import_each_on_its_own_calls() -> None:
    files = {f"kit.{path.stem}" for path in KIT.glob("*.py")}
    start = {"hooklaunchers", "lastsession", "memory", "updatecheck"}  # of a session
    beside = {"__init__", "asking", "gitcommand", "lock", "markdownlinks", "passed", "worktree", *start}
    assert files - {*bundling.LATER} == {f"kit.{name}" for name in beside}


def test_the_package_that_the_bundle_makes_without_its_file_has_no_code_in_it() -> None:
    (docstring,) = ast.parse((KIT / "__init__.py").read_text()).body
    assert isinstance(docstring, ast.Expr)


def test_importing_what_modules_are_built_with_does_nothing_but_define() -> None:
    """The dispatcher imports it before the forks: what it started or printed would be every gate's."""
    names = ", ".join(f"overdeck.dispatch.kit.{path.stem}" for path in KIT.glob("[a-z]*.py"))
    code = (
        f"import sys, subprocess, urllib.parse; sys.path.append({str(KIT.parents[2])!r})\n"
        "seen = set()\nsys.addaudithook(lambda event, of: seen.add(event))\n"
        f"import {names}\n"
        "seen.discard('os.listdir')\n"
        "print(*(event for event in seen if event.startswith(('os.', 'subprocess.', 'socket.'))))"
    )
    run = [sys.executable, "-I", "-S", "-B", "-c", code]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("\n", "")


@pytest.mark.parametrize(
    "line",
    [
        "import overdeck.dispatch.entry",
        "from overdeck.dispatch.entry import x",
        "from overdeck.dispatch import front",
        "import this",
        "from unittest.__main__ import main",
        "from json.__main__ import main",
        "import antigravity",
    ],
)
def test_no_line_of_a_module_makes_the_dispatcher_import_what_does_things(front: Front, line: str) -> None:
    folder = front.module("gate", "return deny('held')")
    code = folder / "module.py"
    code.write_text(f'"""A docstring.\n{line}\n"""\n' + code.read_text())
    front.install()
    assert front.call(bash("ls")).decision == "deny"
    assert run_bundle(front, bundle_of(front)).count("held") == 1
