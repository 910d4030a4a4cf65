"""No module calls a model or the network: this reads their code, and all they can import. hooks/test watches them.

What a module may import is its own file, the dispatcher and the standard library, and what `replay` starts is of the
package ``capture``; so these files are all of it.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from networkcode import MODELS, REACH_OUT, found_in, imported

from overdeck.paths import shipped

MODULES = Path(shipped("modules"))
PACKAGE = Path(__file__).resolve().parent.parent.parent / "overdeck"
DISPATCH = PACKAGE / "dispatch"
FILES = {
    **{f"modules/{path.parent.name}/{path.name}": path for path in sorted(MODULES.glob("*/*.py"))},
    **{
        path.relative_to(PACKAGE).as_posix(): path
        for folder in ("dispatch", "capture")
        for path in sorted((PACKAGE / folder).rglob("*.py"))
    },
}

ALLOWED: dict[str, set[tuple[str, str]]] = {
    # Socket pairs of one process and its child are what a client's hooks have for pipes (contract/FACTS.md). An adopted
    # hook is the user's own program, run in a fork as its client ran it: it may do what it did before.
    "dispatch/adopted.py": {
        ("reaches", "_socket.socketpair"), ("starts", "posix.fork"), ("starts", "posix.execve"),
        ("hides", "sys.modules"), ("hides", "__dict__"), ("hides", "__import__"), ("hides", "exec"),
        ("hides", "getattr"),
    },
    # Compiles the dispatcher and the modules; names of its own constants are all it imports, to ask where they are.
    "dispatch/bundle.py": {("hides", "__import__"), ("hides", "compile"), ("hides", "__spec__"), ("hides", "getattr")},
    "dispatch/kept.py": {("hides", "compile")},
    # Fields of a class of their own, by name.
    "dispatch/planning.py": {("hides", "getattr")},
    "dispatch/writing.py": {("hides", "getattr")},
    # Runs a module's code; ctypes for one prctl, so that what a module starts dies with it.
    "dispatch/judging.py": {("hides", "exec"), ("hides", "__import__"), ("hides", "sys.modules"), ("hides", "ctypes")},
    # Runs a module in a fork.
    "dispatch/runner.py": {("starts", "posix.fork")},
    # git, with hooks and monitors off: commit-gate and generated-drift ask it what is staged.
    "dispatch/kit/worktree.py": {("starts", "subprocess.run")},
    # The generators that the owner's own config names.
    "modules/generated-drift/module.py": {("starts", "subprocess.run")},
    # The one that may speak to the loopback (its own tests hold it to that), or start the owner's program.
    "modules/notify/module.py": {("reaches", "_socket"), ("starts", "posix.fork"), ("starts", "posix.execve")},
    # Our own Python, on overdeck/capture/entry.py: read here as well.
    "modules/replay/module.py": {("starts", "posix.posix_spawn"), ("foreign", "overdeck")},
    # The installed front, on a call it must deny; the Python of an entry, on nothing.
    "modules/preflight/module.py": {("starts", "subprocess.run")},
    "dispatch/kit/hooklaunchers.py": {("starts", "subprocess.run")},
    # Its worker, in the background.
    "dispatch/kit/updatecheck.py": {("starts", "posix.fork")},
}  # fmt: skip
"""File → what is found in it and may be: exactly that, so that what is no longer needed is taken out."""


@pytest.mark.parametrize("name", FILES)
def test_nothing_in_the_file_could_reach_the_network_or_a_model(name: str) -> None:
    ours = "overdeck" if name.startswith("capture/") else "overdeck.dispatch"
    found = {(one.kind, one.what) for one in found_in(FILES[name].read_text("utf-8"), ours=ours)}
    assert found == ALLOWED.get(name, set())


def test_every_permission_is_of_a_file_that_is_there() -> None:
    assert set(ALLOWED) <= set(FILES)


def test_what_they_import_of_the_standard_library_loads_nothing_that_could() -> None:
    names = {name for path in FILES.values() for name in imported(path) if not name.startswith("_socket")}
    wanted = sorted({name.partition(".")[0] for name in names} - {"ctypes"})
    assert "subprocess" in wanted
    code = f"import sys, {', '.join(wanted)}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split() if name != "urllib.parse"} - {"urllib"}
    assert {"subprocess", "select"} <= loaded
    assert loaded & REACH_OUT == set()


def test_no_manifest_names_a_model_or_an_address_of_another_machine() -> None:
    texts = {path.parent.name: path.read_text("utf-8") for path in MODULES.glob("*/module.toml")}
    assert len(texts) > 20
    assert {id: MODELS.findall(text) for id, text in texts.items() if MODELS.search(text)} == {}


C_CALLS = re.compile(
    r"\b(socket|connect|bind|listen|sendto|sendmsg|getaddrinfo|gethostby\w+|dlopen|system|popen)\s*\(|sys/socket\.h|netdb\.h|netinet/"
)


def test_the_native_front_has_no_socket() -> None:
    texts = {path.name: path.read_text("utf-8") for path in (DISPATCH / "native").glob("*.[ch]")}
    assert "launcher.c" in texts
    assert {name: C_CALLS.findall(text) for name, text in texts.items() if C_CALLS.search(text)} == {}
    assert C_CALLS.search("fd = socket(AF_INET, SOCK_STREAM, 0);")


HOSTILE = {
    "import socket": "reaches",
    "def f():\n    from urllib.request import urlopen": "reaches",
    "import http.client as h": "reaches",
    "from _socket import socket": "reaches",
    "import asyncio": "reaches",
    "import requests": "foreign",
    "import anthropic": "foreign",
    "from overdeck.probe import loopback": "foreign",
    "from . import loopback": "foreign",
    "__import__('so' + 'cket')": "hides",
    "import importlib; importlib.import_module(name)": "hides",
    "exec(text)": "hides",
    "import ctypes; ctypes.CDLL(None).socket(2, 1, 0)": "hides",
    "import sys; sys.modules['socket']": "hides",
    "import os; getattr(os, 'sys' + 'tem')('x')": "hides",
    "import os as o; o.system('x')": "hides",
    "import os; vars(os)['system']('x')": "hides",
    "().__class__.__base__.__subclasses__()": "hides",
    "import os.path as path; path.os.system('x')": "starts",
    "from overdeck.dispatch import runner; runner.posix.fork()": "starts",
    "import subprocess; subprocess.run(['x'])": "starts",
    "from subprocess import run": "starts",
    "from os import *": "starts",
    "import os; start = os.system": "starts",
    "import posix; posix.execv(path, words)": "starts",
    "run(['curl', '-s', address], top, end)": "names",
    "run(('/usr/bin/claude', '-p', text))": "names",
    "os.system('wget -q x')": "names",
    "HOST = 'https://example.com/collect'": "names",
    "line = 'cat < /dev/tcp/10.0.0.1/80'": "names",
    "from overdeck import probe": "foreign",
    "key = environ['ANTHROPIC_API_KEY']": "names",
}


@pytest.mark.parametrize("text", HOSTILE)
def test_it_is_found(text: str) -> None:
    assert HOSTILE[text] in {found.kind for found in found_in(text)}


@pytest.mark.parametrize(
    "text",
    [
        "import posix, time, _json\nfrom overdeck.dispatch.module import deny",
        "from urllib.parse import urlsplit\nurlsplit('http://127.0.0.1:8080/x')",
        "rule = {'pattern': 'curl|wget', 'reason': 'a connection that waits'}\nfound(rule, 'curl')",
        "import posix\nposix.open(path, posix.O_RDONLY)",
        "config['run']",
    ],
)
def test_what_only_looks_like_it_is_not(text: str) -> None:
    assert found_in(text) == []
