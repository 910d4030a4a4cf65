"""How many processors there are: for us, and in the whole machine."""

import os


def cores() -> int:
    """The processors this process may run on: what parallel work is divided by."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processors() -> int:
    """The processors of the machine: what the load average, PSI and steal speak of, whoever may run where."""
    return os.cpu_count() or 1
