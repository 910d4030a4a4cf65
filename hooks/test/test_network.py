"""No module calls a model or the network: this watches the processes. tests/modules/test_network_code.py reads.

Every socket that a module, or anything it starts, makes is seen by strace: none but those of this machine (AF_UNIX);
``notify`` may speak to the loopback, and to nobody else.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest
import watchedcases
from fronts import PAYLOADS, Front, bash, recorded

import overdeck
from overdeck.dispatch.manifest import read_manifest
from overdeck.paths import shipped

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="no strace")

LOOPBACK_ONLY = frozenset(("notify",))
MOST = 4
"""Cases of each module that are watched: all of them would be minutes."""
_ANNOUNCED = re.compile(rf'sun_path="{watchedcases.ANNOUNCED}([a-z0-9-]+)"')
_DOMAIN = re.compile(r"\bsocket\((\w+)")
_FAMILY = re.compile(r"sa_family=(\w+)")
_ADDRESS = re.compile(r'inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"')
_RING = re.compile(r"\bio_uring_setup\(")


def watched(argv: list[str], trace: Path, raw: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    """Run ``argv`` to the end of everything it starts, its calls of the network written to ``trace``."""
    return subprocess.run(
        ["strace", "-f", "-qq", "--seccomp-bpf", "-e", "trace=%network,io_uring_setup", "-e", "signal=none",
         "-s", "256", "-o", str(trace), *argv],
        input=raw, capture_output=True, timeout=240, check=False,
        env={"PATH": os.defpath, "HOME": str(trace.parent), "PYTHONPATH": str(Path(overdeck.__file__).parent.parent)},
    )  # fmt: skip


def reached(trace: Path) -> dict[str, list[str]]:
    """Module → the lines by which it left this machine's own sockets; "" before the first was announced."""
    found: dict[str, list[str]] = {}
    module = ""
    for line in trace.read_text("utf-8", "replace").splitlines():
        announced = _ANNOUNCED.search(line)
        if announced:
            module = announced[1]
            found[module] = []
        elif _leaves(line, loopback=module in LOOPBACK_ONLY):
            found.setdefault(module, []).append(line)
    return found


def _leaves(line: str, *, loopback: bool) -> bool:
    domain, family, address = _DOMAIN.search(line), _FAMILY.search(line), _ADDRESS.search(line)
    if loopback and address:
        return not (address[1] or address[2]).startswith(("127.", "::1"))
    kinds = {match[1] for match in (domain, family) if match} - {"AF_UNIX", "AF_UNSPEC"}
    return bool(kinds - ({"AF_INET", "AF_INET6", "AF_NETLINK"} if loopback else set()) or _RING.search(line))


def test_no_module_at_work_leaves_the_machine(tmp_path: Path) -> None:
    folders = sorted(str(path.parent) for path in Path(shipped("modules")).glob("*/module.toml"))
    trace = tmp_path / "trace"
    done = watched([sys.executable, watchedcases.__file__, str(MOST), *folders], trace)
    assert done.returncode == 0, done.stderr.decode()
    found = reached(trace)
    assert found.keys() == {Path(folder).name for folder in folders}, "each was watched"
    assert {module: lines for module, lines in found.items() if lines} == {}


def test_no_call_with_every_module_on_leaves_the_machine(native_front: Path, tmp_path: Path) -> None:
    front = Front(tmp_path, native=native_front)
    for folder in Path(shipped("modules")).glob("*/module.toml"):
        shutil.copytree(folder.parent, front.modules / folder.parent.name)
    manifests = [read_manifest(str(folder)) for folder in front.modules.iterdir()]
    front.config.write_text(f"packs = {json.dumps(sorted({manifest.pack for manifest in manifests}))}\n")
    front.install()
    lines = []
    played = set()
    for path in sorted((PAYLOADS / "claude-code").glob("*.json")):
        raw = path.read_bytes()
        event = json.loads(raw)["hook_event_name"]
        if (front.plans / f"{event}.plan").exists():
            watched(front.argv(event), tmp_path / "trace", raw)
            lines += [line for found in reached(tmp_path / "trace").values() for line in found]
            played.add(event)
    assert lines == []
    assert {"PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "Stop"} <= played
    asked = {id for call in front.calls() for id in call["ran"]}
    assert asked >= {"code-size", "memory-recall", "prompt-nudge", "recall", "stop-gate"}


REACHES = {
    "connects": "import socket; socket.socket().connect_ex(('127.0.0.1', 9)); return None",
    "sends a datagram": "import socket; socket.socket(type=2).sendto(b'x', ('127.0.0.1', 9)); return None",
    "asks for a name": "import socket\ntry: socket.getaddrinfo('a.invalid', 80)\nexcept OSError: pass\nreturn None",
    "starts a program that does": (
        "import subprocess, sys\n"
        "subprocess.run([sys.executable, '-c', 'import socket; socket.socket(socket.AF_INET6)'])\nreturn None"
    ),
    "calls by number": "import ctypes; ctypes.CDLL(None).socket(2, 1, 0); return None",
    "opens a ring": "import ctypes; ctypes.CDLL(None).syscall(425, 1, None); return None",
}


@pytest.mark.parametrize("how", REACHES)
def test_a_module_that_does_is_seen(native_front: Path, tmp_path: Path, how: str) -> None:
    front = Front(tmp_path, native=native_front)
    front.module("reaching", REACHES[how], cls="adviser")
    front.install()
    watched(front.argv("PreToolUse"), tmp_path / "trace", json.dumps(bash("ls")).encode())
    assert front.calls()[-1]["ran"]["reaching"]["end"] == "none"
    assert reached(tmp_path / "trace")[""]


def test_what_a_background_module_leaves_behind_is_seen(native_front: Path, tmp_path: Path) -> None:
    front = Front(tmp_path, native=native_front)
    code = "import socket, time; time.sleep(0.3); socket.socket()"  # not a wait: it acts after the call has ended
    front.module("leaving", f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {code!r}])\nreturn None",
                 cls="adviser", toml="background = true")  # fmt: skip
    front.install()
    watched(front.argv("PreToolUse"), tmp_path / "trace", json.dumps(bash("ls")).encode())
    assert reached(tmp_path / "trace")[""]


def answered(server: socket.socket) -> None:
    """Take one connection and say that it was well."""
    with server.accept()[0] as connection:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")


def test_a_notice_to_the_loopback_is_seen_and_goes_nowhere_else(native_front: Path, tmp_path: Path) -> None:
    front = Front(tmp_path, native=native_front)
    shutil.copytree(shipped("modules", "notify"), front.modules / "notify")
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/notify"
        front.config.write_text(f'packs = ["ambient"]\n[modules.notify]\ndesktop = ""\nurl = "{url}"\n')
        front.install()
        answering = Thread(target=answered, args=(server,), daemon=True)
        answering.start()
        watched(front.argv("Stop"), tmp_path / "trace", json.dumps(recorded("claude-code/Stop")).encode())
        answering.join(10)
        assert not answering.is_alive(), "it was spoken to"
    lines = reached(tmp_path / "trace")[""]
    assert any("sa_family=AF_INET" in line for line in lines)
    assert [line for line in lines if _leaves(line, loopback=True)] == []


def test_a_module_in_the_dark_of_its_matrix_is_seen_by_name(tmp_path: Path) -> None:
    folder = tmp_path / "code-size"
    shutil.copytree(shipped("modules", "code-size"), folder)
    code = (folder / "module.py").read_text()
    (folder / "module.py").write_text(code + "\n\nimport socket\n\nsocket.socket()\n")
    trace = tmp_path / "trace"
    done = watched([sys.executable, watchedcases.__file__, "1", str(folder)], trace)
    assert done.returncode == 0, done.stderr.decode()
    assert any("AF_INET" in line for line in reached(trace)["code-size"])


@pytest.mark.parametrize(
    ("line", "leaves"),
    [
        ('7 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = 0', False),
        (
            '7 connect(3, {sa_family=AF_INET6, sin6_port=htons(80), inet_pton(AF_INET6, "::1", &sin6_addr)}, 28) = 0',
            False,
        ),
        ("7 socket(AF_INET, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_IP) = 3", False),
        ('7 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("10.0.0.1")}, 16) = 0', True),
        ('7 connect(3, {sa_family=AF_INET6, inet_pton(AF_INET6, "fe80::1", &sin6_addr)}, 28) = 0', True),
        ("7 socket(AF_PACKET, SOCK_RAW, 0) = 3", True),
    ],
)
def test_notify_may_speak_to_the_loopback_and_to_nobody_else(line: str, leaves: bool) -> None:
    assert _leaves(line, loopback=True) is leaves
    assert _leaves(line, loopback=False)
