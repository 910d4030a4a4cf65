"""The pinned clients are all that a probe knows; that each is of its version, ``test_record.py`` looks at."""

from fetch import PINS

from overdeck.probe.clients import NAMES


def test_every_client_that_a_probe_knows_is_pinned() -> None:
    assert set(PINS) == set(NAMES)
