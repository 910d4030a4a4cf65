"""The box in the middle of the screen that a question, or the page behind ``?``, stands in."""

from textual.containers import VerticalScroll


class Box(VerticalScroll):
    """As high as what it holds, and never larger than the screen: what does not fit is scrolled to."""

    DEFAULT_CSS = """
    Box {
        width: 76; max-width: 100%; height: auto; max-height: 100%; padding: 0 2; border: round $primary;
        background: $surface;
    }
    Box Label { width: 100%; }
    """
