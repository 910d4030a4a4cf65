"""Which paths are a system folder, a home or a disk."""

import pytest

from overdeck.dispatch.kit.places import is_device, is_root


@pytest.mark.parametrize(
    "path",
    ["/", "//", "/.", "/*", "/?", "/{a,b}",
     "~", "~/", "~/*", "~/.*", "$HOME", "${HOME}/", "~root", "~/.ssh", "~/Documents/",
     "/etc", "/etc/", "/etc/*", "/home", "/home/dev", "/home/dev/*", "/root/*",
     "/usr/lib", "/var/../etc", "/tmp/..", "../../.."],
)  # fmt: skip
def test_a_root(path: str) -> None:
    assert is_root(path, "/home/dev/proj")


@pytest.mark.parametrize(
    "path",
    ["x", "*", "./*", "..x", "../x", "/tmp", "/tmp/*", "/etc/x", "/home/dev/proj", "~/x", "~/.cache/x", "/var/lib/x",
     "$X", "$X/*", "$HOMES", "\0", "", "/usr/local/bin/x", "/srv/app/*"],
)  # fmt: skip
def test_no_root(path: str) -> None:
    assert not is_root(path, "/home/dev/proj/sub")


def test_a_folder_that_is_not_known_makes_nothing_a_root() -> None:
    assert not is_root("*", "")
    assert is_root("/", "")


@pytest.mark.parametrize("path", ["/dev/sda", "/dev/sdb1", "/dev/nvme0n1p2", "/dev/rdisk2", "//dev/vda"])
def test_a_device(path: str) -> None:
    assert is_device(path)


@pytest.mark.parametrize("path", ["/dev/null", "/dev/stderr", "/dev/shm/x", "sda", "/tmp/dev/sda", "disk0.img"])
def test_no_device(path: str) -> None:
    assert not is_device(path)
