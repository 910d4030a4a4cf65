"""Text that people and agents hand in, made fit for one line of a log and one line of a terminal."""

import re

from overdeck.errors import usage

TITLE_LIMIT = 300
"""Characters of a title: more than a terminal line, less than a pasted traceback."""

TEXT_LIMIT = 4_000
"""Characters of a reason or a summary."""

# Controls (an escape sequence in a title would drive the reader's terminal), marks that reorder text,
# byte order marks, and the surrogates that stand for bytes which were not UTF-8.
UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def one_line(text: str) -> str:
    """``text`` on one line: white space collapsed, every unprintable character replaced by U+FFFD.

    >>> one_line("hook  timed\\nout")
    'hook timed out'
    >>> one_line("\\x1b[31mred")
    '\\ufffd[31mred'
    """
    return UNPRINTABLE.sub("\ufffd", " ".join(text.split()))


def shown(text: str) -> str:
    """``one_line`` for printing what a log holds: logs are merged from elsewhere, nothing is assumed of them."""
    return text if text.isprintable() else one_line(text)


def accept(option: str, text: str, limit: int = TEXT_LIMIT) -> str:
    """Check and clean one text option; raises OverdeckError (usage) when it is empty or longer than ``limit``."""
    clean = one_line(text)
    if not clean.replace("\ufffd", "").strip():
        raise usage(f"{option} is empty", code="empty-text", hint=f"give {option} a line that says what happened")
    if len(clean) > limit:
        raise usage(
            f"{option} has {len(clean):,} characters; the limit is {limit:,}",
            code="too-long",
            hint=f"shorten {option}, and keep the long output in a file",
        )
    return clean
