"""The wheel: with a compiler it holds the native front of this very source, without one its stub."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from homes import script

from overdeck.authoring.fleet import built_front, front_sources, source_hash
from overdeck.spawn.native import PROGRAM, NativeSpawner

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_installed_front_is_built_from_the_source_beside_it() -> None:
    if not script("overdeck-hook").exists() or built_front() is None:
        pytest.skip("no native front is installed")
    said = subprocess.run([str(script("overdeck-hook")), "--version"], capture_output=True, text=True, check=True)
    assert said.stdout == f"overdeck-hook native {source_hash()}\n"


def test_every_file_of_the_front_is_in_its_hash() -> None:
    folder = ROOT / "overdeck" / "dispatch" / "native"
    assert [path.name for path in front_sources()] == sorted(path.name for path in folder.iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="built for Linux")
def test_the_installed_spawner_is_built_from_the_source_beside_it() -> None:
    if not PROGRAM.exists():
        pytest.skip("no native spawner is installed")
    with NativeSpawner():
        pass  # raises NotOurs where it is of another source


def wheel(folder: Path, **environ: str) -> zipfile.ZipFile:
    """Build a wheel of this tree; its build backend comes from the registry, as for every installation."""
    env = {
        key: value
        for key, value in os.environ.items()
        if key.startswith("PIP_") or key in ("HOME", "PATH", "LANG")
    }
    argv = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--disable-pip-version-check",
        "--no-deps",
        "-w",
        str(folder),
    ]
    subprocess.run([*argv, str(ROOT)], check=True, env={**env, **environ}, capture_output=True)
    return zipfile.ZipFile(next(folder.glob("*.whl")))


@pytest.mark.slow
def test_without_a_compiler_the_wheel_is_pure_and_holds_the_stub(tmp_path: Path) -> None:
    built = wheel(tmp_path, OVERDECK_NO_CC="1")
    assert Path(str(built.filename)).name.endswith("-py3-none-any.whl")
    front = next(entry for entry in built.infolist() if entry.filename.endswith("scripts/overdeck-hook"))
    assert built.read(front).startswith(b"#!python\n")
    assert front.external_attr >> 16 & 0o111, "a script that cannot be executed is no front"
    assert "overdeck/spawn/overdeck-spawn" not in built.namelist()


@pytest.mark.slow
def test_the_wheel_holds_what_it_works_on(tmp_path: Path) -> None:
    built = wheel(tmp_path)
    names = set(built.namelist())
    assert {
        "overdeck/py.typed",
        *(f"overdeck/dispatch/native/{path.name}" for path in front_sources()),
        "overdeck/spawn/native/spawner.c",
        "overdeck/_shipped/modules/git-decision/matrix.jsonl",
        "overdeck/_shipped/incidents/taxonomy.toml",
        "overdeck/_shipped/incidents/playbooks/hook-timeout.md",
        "overdeck/_shipped/incidents/never-touch.md",
        "overdeck/_shipped/incidents/template/placement-map.md",
        "overdeck/_shipped/docs/skills/od-hooks/SKILL.md",
        "overdeck/_shipped/bench/scenarios/swarm/settings.json",
    } <= names
    front = next(name for name in names if name.endswith("scripts/overdeck-hook"))
    if not Path(str(built.filename)).name.endswith("-py3-none-any.whl"):
        assert built.read(front)[:4] in (b"\x7fELF", b"\xcf\xfa\xed\xfe")
    if sys.platform == "linux" and not Path(str(built.filename)).name.endswith("-py3-none-any.whl"):
        spawner = built.getinfo("overdeck/spawn/overdeck-spawn")
        assert built.read(spawner)[:4] == b"\x7fELF"
        assert spawner.external_attr >> 16 & 0o111
    assert not [name for name in names if "__pycache__" in name or name.startswith(("tests/", "hooks/"))]
