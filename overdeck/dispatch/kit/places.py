"""Places that a command must not destroy: what ``<root>`` and ``<device>`` mean in a command pattern.

A path is judged as it is written and where the shell would be (``cd / && rm -rf *``): nothing is looked up on disk.
"""

from __future__ import annotations

_TOP = (
    "Applications", "Library", "System", "Users", "Volumes", "bin", "boot", "dev", "etc", "home", "lib", "lib32",
    "lib64", "mnt", "nix", "opt", "private", "proc", "root", "run", "sbin", "srv", "sys", "usr", "var",
)  # fmt: skip
_BELOW = ("usr/bin", "usr/lib", "usr/local", "usr/sbin", "usr/share", "var/lib", "var/log")
_HOMES = ("home", "Users")
_KEPT = ("Desktop", "Documents", "Library", "Pictures", ".ssh", ".gnupg", ".config", ".local", ".claude")
_HOME_WRITTEN = ("~", "$HOME", "${HOME}")
DEVICES = (
    "sda", "sdb", "sdc", "sdd", "sde", "sdf", "hda", "vda", "vdb", "xvda", "xvdb", "nvme0", "nvme1", "mmcblk0",
    "disk0", "disk1", "disk2",
)  # fmt: skip
"""Disks by the names they begin with; they are also the literals of patterns that need one."""
_DEVICE_STARTS = tuple(f"/dev/{r}{name}" for name in DEVICES for r in ("", "r"))


def is_device(path: str) -> bool:
    """Whether a path names a disk or a part of one."""
    return path.startswith("/") and ("/" + "/".join(_parts(path) or [])).startswith(_DEVICE_STARTS)


def is_root(path: str, base: str) -> bool:
    """Whether a path, written in a shell that is in ``base``, is /, a system folder, a home, or all that is in one."""
    parts = _parts(joined(base, path))
    if parts is None:
        return False
    if parts[:1] == ["~"]:
        return _is_everything(parts[2:] if parts[1:] and parts[1] in _KEPT else parts[1:])
    if _is_everything(parts):
        return True
    if parts[0] in _HOMES and len(parts) > 1:
        return _is_everything(parts[2:])
    if parts[0] == "root":
        return _is_everything(parts[1:])
    if parts[0] in _TOP and _is_everything(parts[1:]):
        return True
    return "/".join(parts[:2]) in _BELOW and _is_everything(parts[2:])


def joined(base: str, path: str) -> str:
    """``path`` as seen from ``base`` (empty: not known); a path that begins at / or at a home stands by itself."""
    for home in _HOME_WRITTEN:
        if path == home or path.startswith(home + "/"):
            return "~" + path[len(home) :]
    if path.startswith(("${HOME:", "${HOME%", "${HOME#")):  # ${HOME:?}, ${HOME%/}
        return "~" + path.partition("}")[2]
    if path.startswith("~"):  # ~name: the home of somebody
        return "~/" + path.partition("/")[2]
    return path if path.startswith("/") or not base else f"{base}/{path}"


def _parts(path: str) -> list[str] | None:
    """The parts of a path with ``.`` and ``..`` resolved; None where its beginning is not known."""
    if not path.startswith(("/", "~")):
        return None
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return parts


def _is_everything(rest: list[str]) -> bool:
    """Whether what follows a folder names the folder itself or all that is in it."""
    return not rest or (
        len(rest) == 1 and (rest[0][:1] in ("*", "?", "[", "{") or rest[0][:2] in (".*", ".?", ".["))
    )
