"""What every test may rely on."""

import signal


def pytest_configure() -> None:
    """A shell starts what it puts in the background with SIGINT ignored, and so would be all that a test starts."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
