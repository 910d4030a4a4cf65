"""How the figures of an audit are written, in the terminal and on the page alike."""

import math

from overdeck.wiring.audit.cost import Cost
from overdeck.wiring.audit.hooks import HookCost

CLIENT_NAMES = {
    "claude": "Claude Code",
    "codex": "Codex",
    "gemini": "Gemini CLI",
    "opencode": "OpenCode",
    "cursor": "Cursor",
    "copilot": "Copilot",
}

PLAIN_STDOUT = ("SessionStart", "UserPromptSubmit")
"""Events at which all that a hook prints reaches the model (contract/FACTS.md, 3)."""


def client_name(client: str) -> str:
    """A client as people call it."""
    return CLIENT_NAMES.get(client, client)


def count(number: int, thing: str, things: str = "") -> str:
    """
    >>> count(1, "hook"), count(2_000, "hook"), count(2, "process", "processes")
    ('1 hook', '2,000 hooks', '2 processes')
    """
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def figure(value: float) -> str:
    """A number of milliseconds without its unit.

    >>> figure(190.4), figure(0.6), figure(48.0)
    ('190', '0.6', '48')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:g}"


def at_least(value: float, unknown: int) -> str:
    """``figure`` of a sum of which ``unknown`` parts are missing.

    >>> at_least(38, 0), at_least(38, 1), at_least(0, 1)
    ('38', '≥ 38', 'unknown')
    """
    if not unknown:
        return figure(value)
    return f"≥ {figure(value)}" if value else "unknown"


def time(ms: float | None) -> str:
    """Milliseconds in the unit that fits.

    >>> time(3.333), time(48.2), time(5012), time(791_896), time(40_000_000), time(None)
    ('3.3 ms', '48 ms', '5.0 s', '13 min', '11 h', '?')
    """
    if ms is None:
        return "?"
    if ms < 1000:
        return f"{round(ms, 1):g} ms" if ms < 10 else f"{ms:.0f} ms"
    seconds = ms / 1000
    return duration(seconds) if seconds >= 120 else f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"


def duration(seconds: float) -> str:
    """A timeout in its own unit, long sums in hours.

    >>> duration(90), duration(900), duration(98_580)
    ('90 s', '15 min', '27 h')
    """
    if math.isinf(seconds):
        return "no end"
    if seconds < 120:
        return f"{seconds:g} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


def size(number: float) -> str:
    """
    >>> size(0), size(999), size(10_240), size(5_000_000_000)
    ('0 B', '999 B', '10 KB', '5.0 GB')
    """
    for unit in ("B", "KB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "B" or number >= 10 else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"


def percent(part: int, whole: int) -> str:
    """
    >>> percent(0, 10), percent(1, 1000), percent(86, 100)
    ('0 %', '0.1 %', '86 %')
    """
    share = 100 * part / whole if whole else 0.0
    return f"{share:.1f} %" if 0 < share < 1 else f"{share:.0f} %"


def source(cost: Cost) -> str:
    """Where a cost's times come from, in the words of the table."""
    if not cost.handlers:
        return ""
    return cost.source if cost.source == cost.cpu_source else f"{cost.source}, CPU {cost.cpu_source}"


def one_line(text: str, room: int) -> str:
    """A command on one line of at most ``room`` characters; a cut shows.

    >>> one_line("a  b\\nc", 10), one_line("abcdef", 4)
    ('a b c', 'abc…')
    """
    line = " ".join(text.split())
    return line if len(line) <= room else line[: room - 1] + "…"


def remark(hook: HookCost) -> str:
    """What is most worth knowing of a hook beside its cost; empty where nothing is."""
    words = []
    if hook.why:
        words.append(hook.why)
    if hook.records and hook.killed:
        words.append(f"killed {percent(hook.killed, hook.records)}")
    if hook.records and hook.not_started and hook.state == "runs":
        words.append(f"not started {percent(hook.not_started, hook.records)}")
    if hook.calls_model:
        words.append("asks a model")
    if hook.background:
        words.append("in the background")
    if hook.injected_bytes:
        words.append(f"{size(hook.injected_bytes)} into context")
    elif hook.printed_bytes and hook.event in PLAIN_STDOUT:
        words.append(f"{size(hook.printed_bytes)} into context each time")
    return ", ".join(words)
