"""A comparison as Markdown: a file of its own (--export-markdown), or a piece of a CI job's page (--summary)."""

from overdeck.bench.export.measured import ArmRuns, Measured
from overdeck.bench.outcome import Metric
from overdeck.bench.report import interval, times

COLUMNS = (
    "arm",
    "command",
    "CPU median",
    "CPU ratio (95 % CI)",
    "wall median",
    "wall ratio (95 % CI)",
    "starts",
    "RSS",
    "exit",
)


class Markdown:
    """The sentence, the table, and what the measurement was."""

    appends = False

    def render(self, measured: Measured) -> bytes:
        return ("\n".join(_body(measured)) + "\n").encode(errors="replace")


class Summary:
    """The same under a heading, to stand among what other steps of a job have written."""

    appends = True

    def render(self, measured: Measured) -> bytes:
        warnings = [f"> - {inline(warning)}" for warning in measured.warnings]
        lines = [
            "### hookbench ab",
            "",
            *_body(measured),
            "",
            *(["> [!WARNING]", *warnings, ""] if warnings else []),
        ]
        return ("\n".join(lines) + "\n").encode(errors="replace")


def _body(measured: Measured) -> list[str]:
    rows = [
        f"| {' | '.join(COLUMNS)} |",
        f"|{'|'.join([':---', ':---', *['---:'] * (len(COLUMNS) - 2)])}|",
        *(f"| {' | '.join(_cells(measured, arm))} |" for arm in measured.arms),
    ]
    return [
        *(line for sentence in measured.sentences for line in (f"**{inline(sentence)}**", "")),
        *rows,
        "",
        f"{measured.pairs} blocks in random order, seed {measured.seed}; paired ratios over {measured.arms[0].name}.",
    ]


def _cells(measured: Measured, arm: ArmRuns) -> list[str]:
    return [
        arm.name,
        _code(arm.shown),
        f"{arm.median_ms('cpu'):.2f} ms",
        _ratio(measured, arm, "cpu"),
        f"{arm.median_ms('wall'):.2f} ms",
        _ratio(measured, arm, "wall"),
        arm.starts,
        arm.rss,
        arm.exits,
    ]


def _ratio(measured: Measured, arm: ArmRuns, metric: Metric) -> str:
    found = measured.ratios.get(arm.name)
    if found is None:
        return "1"
    ratio = found[metric]
    return f"{times(ratio.value)} ({interval(ratio)})"


def _code(text: str) -> str:
    """A code span that nothing in ``text`` can end: not a backtick, a ``|`` or a line end."""
    shown = " ".join(text.split()).replace("|", "\\|")
    fence = "`"
    while fence in shown:
        fence += "`"
    return f"{fence} {shown} {fence}" if "`" in shown else f"`{shown}`"


def inline(text: str) -> str:
    """Text in which no character means anything to Markdown, on one line."""
    return "".join(f"\\{char}" if char in "\\`*_[]<>|#" else char for char in " ".join(text.split()))
