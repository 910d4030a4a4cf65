"""The hot path: one payload in, one JSON document or nothing out. Standard library only."""

# ``TYPE_CHECKING = False`` in these modules is what type checkers take for ``typing.TYPE_CHECKING``: they read
# what stands under it, no call imports it, because ``typing`` is dear (tests/dispatch/test_startup.py holds it).
