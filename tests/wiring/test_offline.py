"""Work in a child process, with or without a network."""

import os
import socket

import pytest

from overdeck.wiring.offline import ChildFailed, can_isolate, run_in_child


def test_the_result_comes_back():
    assert run_in_child(lambda: {"pid": os.getpid()}, offline=False)["pid"] != os.getpid()


def test_an_error_in_the_child_is_an_error_here():
    def breaks() -> None:
        raise ValueError("oh")

    with pytest.raises(ChildFailed, match="ValueError: oh"):
        run_in_child(breaks, offline=False)


def test_a_child_that_dies_is_an_error_here():
    with pytest.raises(ChildFailed, match="killed"):
        run_in_child(lambda: os._exit(3), offline=False)


@pytest.mark.skipif(not can_isolate(), reason="this machine gives us no network namespace")
def test_an_offline_child_cannot_reach_what_is_reachable_from_here():
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()

        def connects() -> bool:
            with socket.socket() as client:
                return client.connect_ex(address) == 0

        assert run_in_child(connects, offline=False)
        assert not run_in_child(connects, offline=True)


@pytest.mark.skipif(not can_isolate(), reason="this machine gives us no network namespace")
def test_an_offline_child_is_still_the_same_user():
    assert run_in_child(os.geteuid, offline=True) == os.geteuid()
