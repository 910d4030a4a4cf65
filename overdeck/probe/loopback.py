"""Where a client is run: a network namespace that has loopback and nothing else, or, where there is none, a proxy."""

import fcntl
import socket
import struct
import sys
from collections.abc import Callable
from typing import Any

from overdeck.errors import ExitCode, OverdeckError
from overdeck.wiring import offline

_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1

NAMESPACE = "a network namespace of its own: it has loopback and no other interface"
PROXY = (
    "no network namespace (allowed): its provider's address and its proxy are the mock model on 127.0.0.1, which "
    "refuses and lists every other host; a client that ignores both would get out"
)


def apart(work: Callable[[], Any], *, allow_network: bool) -> tuple[Any, str]:
    """Run ``work`` in a child process with loopback alone; (its JSON result, how that was made sure).

    Nothing that ``work`` started is alive when this returns, nor after this process was killed, and its temporary
    files are gone (``offline``). Raises OverdeckError where there is no namespace and ``allow_network`` is not given,
    and where ``work`` failed.
    """
    isolated = offline.can_isolate()
    if not isolated and not allow_network:
        raise OverdeckError(
            "this machine gives us no network namespace, so the client would have the network",
            code="no-isolation",
            exit_code=ExitCode.USAGE,
            hint="overdeck probe --allow-network, if you trust the client to stay with the address it is given",
        )
    try:
        found = offline.run_in_child(lambda: _work(work, isolated), offline=isolated)
    except offline.ChildFailed as error:
        raise OverdeckError(
            f"the client could not be run: {error}",
            code="not-probed",
            exit_code=ExitCode.REJECTED,
            hint="overdeck doctor",
        ) from None
    return found, NAMESPACE if isolated else PROXY


def _work(work: Callable[[], Any], isolated: bool) -> Any:
    if isolated:
        _raise_loopback()
        strange = [name for _, name in socket.if_nameindex() if name != "lo" and _is_up(name)]
        if strange:
            raise OSError(f"the namespace has more than loopback: {', '.join(strange)}")
    return work()


def _raise_loopback() -> None:
    """Switch ``lo`` on in a namespace where it is down. Raises OSError."""
    if sys.platform != "linux":
        return
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh14x", b"lo", _flags(control, "lo") | _IFF_UP)
        fcntl.ioctl(control, _SIOCSIFFLAGS, request)


def _is_up(name: str) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        return bool(_flags(control, name) & _IFF_UP)


def _flags(control: socket.socket, name: str) -> int:
    answer = fcntl.ioctl(control, _SIOCGIFFLAGS, struct.pack("16sh14x", name.encode(), 0))
    return int(struct.unpack("16sh14x", answer)[1])
