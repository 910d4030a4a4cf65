"""A count and what is counted, as people write it."""


def counted(count: int, one: str) -> str:
    """
    >>> counted(1, "error"), counted(1200, "time"), counted(0, "timeout")
    ('1 error', '1,200 times', '0 timeouts')
    """
    return f"{count:,} {one}" if count == 1 else f"{count:,} {one}s"
