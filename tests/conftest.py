"""What every test may rely on."""

import signal

import anymachine

anymachine.load()


def pytest_configure() -> None:
    """A shell's background ignores SIGINT and ``nohup`` SIGHUP, and so would all that a test starts."""
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)
