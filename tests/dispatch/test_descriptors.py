"""What a client left open in us, by whatever number, is nothing that a module or what it starts has."""

import json
import os
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from fronts import Front, bash

HIGH = 5000
LISTS = "import os\nopen('{}', 'w').write(' '.join(os.listdir('/proc/self/fd')))\nreturn None"


@pytest.fixture
def leaked() -> Iterator[None]:
    """A descriptor that an unbounded number of others pushed up."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard <= HIGH:
        pytest.skip("so many descriptors may not be had here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (HIGH + 1, hard))
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, HIGH, inheritable=True)
    os.close(null)
    yield
    os.close(HIGH)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="descriptors are listed by /proc")
@pytest.mark.usefixtures("leaked")
def test_a_module_has_none_of_the_clients_descriptors(tmp_path: Path) -> None:
    front = Front(tmp_path)
    for id in ("one", "two"):
        front.module(id, LISTS.format(tmp_path / id))
    front.install()
    raw, env = json.dumps(bash("ls")).encode(), {"PATH": os.defpath, "HOME": str(tmp_path)}
    subprocess.run(front.argv("PreToolUse"), input=raw, env=env, close_fds=False, timeout=30, check=True)
    for id in ("one", "two"):
        assert str(HIGH) not in (tmp_path / id).read_text().split()
