"""Where a client runs: loopback and nothing else, and what is said and done where the machine has no namespace."""

import json
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from homes import Home

from overdeck.errors import OverdeckError
from overdeck.probe.loopback import NAMESPACE, PROXY, apart
from overdeck.process import argv_of
from overdeck.wiring import offline

CLIENT = """\
import http.client, json, os, sys, urllib.request
if "--version" in sys.argv:
    sys.exit(print("0.0 (a stand-in)"))
proxy = http.client.HTTPConnection(os.environ["HTTPS_PROXY"].removeprefix("http://"))
proxy.request("CONNECT", "example.invalid:443")
proxy.getresponse().read()
asked = json.dumps({"tools": [{}], "messages": [{"role": "user", "content": "please"}]}).encode()
urllib.request.urlopen(urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", asked)).read()
"""
"""A program that asks for another host, and then for one message."""

NO_NAMESPACE = 'echo 0 > /proc/sys/user/max_net_namespaces && exec "$@"'


@pytest.fixture
def no_namespace() -> list[str]:
    """A command that runs another where nobody gets a network namespace: by a limit in a user namespace of its own."""
    words = ["unshare", "-Ur", "sh", "-c", NO_NAMESPACE, "sh"]
    if (
        not shutil.which("unshare")
        or subprocess.run([*words, "true"], capture_output=True, check=False).returncode
    ):
        pytest.skip("this machine gives us no user namespace to set the limit in")
    return words


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    client = tmp_path / "bin" / "claude"
    client.parent.mkdir()
    client.write_text(f"#!{sys.executable}\n{CLIENT}")
    client.chmod(0o755)
    return home


def probe(home: Home, before: list[str], *args: str) -> tuple[int, dict[str, Any]]:
    done = subprocess.run(
        [*before, *argv_of("overdeck"), "probe", "--json", *args],
        env=home.environment(PATH=f"{home.root.parent / 'bin'}:/usr/local/bin:/usr/bin:/bin"),
        cwd=home.root, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    return done.returncode, json.loads(done.stdout)


def _reach() -> list[str]:
    """What can be reached: a listener on loopback, and an address of a documentation network."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        reached = []
        for address in (listener.getsockname(), ("192.0.2.1", 80)):
            try:
                socket.create_connection(address, timeout=2).close()
                reached.append(address[0])
            except OSError:
                continue
    return reached


@pytest.mark.skipif(not offline.can_isolate(), reason="this machine gives us no network namespace")
def test_there_is_loopback_and_nothing_else() -> None:
    assert apart(_reach, allow_network=False) == (["127.0.0.1"], NAMESPACE)


def test_work_that_fails_is_an_error_that_says_why() -> None:
    def fail() -> None:
        raise ValueError("no such thing")

    with pytest.raises(OverdeckError, match="no such thing") as failed:
        apart(fail, allow_network=True)
    assert failed.value.exit_code == 4


def test_without_a_namespace_a_probe_is_refused(home: Home, no_namespace: list[str]) -> None:
    code, document = probe(home, no_namespace)
    assert (code, document["error"]["code"]) == (2, "no-isolation")
    assert "--allow-network" in document["error"]["hint"]


def test_where_the_network_is_allowed_other_hosts_are_refused_and_listed(
    home: Home, no_namespace: list[str]
) -> None:
    _, document = probe(home, no_namespace, "--allow-network")
    assert document["data"]["isolation"] == PROXY
    assert document["data"]["sessions"][0]["other_hosts"] == ["example.invalid:443"]
    assert document["data"]["version"] == "0.0 (a stand-in)"


@pytest.mark.skipif(not offline.can_isolate(), reason="this machine gives us no network namespace")
def test_a_client_that_starts_no_hook_is_found_out(home: Home) -> None:
    code, document = probe(home, [])
    assert code == 1
    assert [one for one in document["data"]["trouble"] if one.startswith("agent-guard did not deny")]
