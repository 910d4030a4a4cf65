"""The picture (--plot): every block's ratio in the order it was measured, and how each arm's times are distributed.

No bars: a bar of a mean hides the tails, the modes and the pairing, which are what one looks at a picture for.
matplotlib is the extra ``plot`` and is loaded when something is drawn.
"""

import io
import warnings
from importlib.util import find_spec
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overdeck.bench.export.measured import ArmRuns, Measured
from overdeck.bench.report import times
from overdeck.errors import usage

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = ("svg", "png")
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's, which colour-blind readers tell apart; the first arm has the first."""
_NAMES = {"cpu": "CPU time", "wall": "wall time"}
_RC: Any = {"svg.fonttype": "none", "svg.hashsalt": "hookbench", "text.parse_math": False, "font.size": 9}
"""Text stays text, a dollar in it too, and the same runs give the same bytes."""
_LOG_FROM = 8.0
"""Times that differ by more than this factor get a logarithmic axis."""


class Plot:
    """One picture. Raises OverdeckError (usage) for an ending it does not know, or without matplotlib."""

    appends = False

    def __init__(self, path: Path) -> None:
        self.format = path.suffix.lstrip(".").lower()
        if self.format not in FORMATS:
            raise usage(
                f"a plot ends in .svg or .png, not {path.name!r}", hint=f"--plot {path.stem or 'plot'}.svg"
            )
        if find_spec("matplotlib") is None:
            raise usage(
                "--plot needs matplotlib, which is not installed",
                code="no-matplotlib",
                hint="pip install 'overdeck[plot]' (pipx: pipx inject overdeck 'matplotlib')",
            )

    def render(self, measured: Measured) -> bytes:
        import matplotlib as mpl
        from matplotlib.figure import Figure

        others = measured.arms[1:]
        with mpl.rc_context(_RC), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing")  # a box for it in a png is enough
            figure = Figure(figsize=(10, 1.2 + 2.8 * len(others)), layout="constrained")
            grid = figure.add_gridspec(len(others), 2, width_ratios=(3, 2))
            for row, arm in enumerate(others):
                _strip(figure.add_subplot(grid[row, 0]), measured, arm, _COLOURS[(row + 1) % len(_COLOURS)])
            _distribution(figure.add_subplot(grid[:, 1]), measured)
            figure.suptitle("\n".join(measured.sentences), fontsize=10)
            out = io.BytesIO()
            metadata = {"Date": None} if self.format == "svg" else {"Software": None}
            figure.savefig(out, format=self.format, dpi=150, metadata=metadata)
        return out.getvalue()


def _strip(axes: "Axes", measured: Measured, arm: ArmRuns, colour: str) -> None:
    """One dot a block, from the first at the top: drift and bursts show as a slope or a cluster."""
    ratios = [exp(one) for one in measured.log_ratios(arm)]
    found = measured.ratios[arm.name][measured.metric]
    axes.axvspan(found.low, found.high, color=colour, alpha=0.2, linewidth=0, label="95 % CI")
    axes.axvline(found.value, color=colour, label=f"Hodges–Lehmann {times(found.value)}")
    axes.axvline(1.0, color="grey", linestyle=":", label="no difference")
    axes.plot(ratios, range(len(ratios)), "o", color=colour, markersize=3.5, alpha=0.7, gid=f"blocks-{arm.name}")
    if max(ratios) / min(ratios) > _LOG_FROM:
        axes.set_xscale("log")
    axes.invert_yaxis()
    axes.set_xlabel(f"{arm.name} over {measured.arms[0].name}, {_NAMES[measured.metric]} of one block")
    axes.set_ylabel("block, in order")
    axes.legend(fontsize=7)


def _distribution(axes: "Axes", measured: Measured) -> None:
    """The share of runs that took at most so long."""
    values = [arm.times_ms(measured.metric) for arm in measured.arms]
    for number, (arm, taken) in enumerate(zip(measured.arms, values, strict=True)):
        axes.ecdf(taken, color=_COLOURS[number % len(_COLOURS)], label=f"{arm.name}: {_cut(arm.shown)}")
    if max(map(max, values)) > _LOG_FROM * max(min(map(min, values)), 1e-6):
        axes.set_xscale("log")
    axes.set_xlabel(f"{_NAMES[measured.metric]}, ms")
    axes.set_ylabel("share of runs")
    axes.legend(fontsize=7, loc="lower right")


def _cut(text: str) -> str:
    shown = " ".join(text.split())
    return shown if len(shown) <= 40 else shown[:37] + "…"
