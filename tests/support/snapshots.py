"""Screens as SVG files in tests/tui/snapshots: compared, or written anew with OVERDECK_SNAPSHOTS=write.

Textual draws the SVG (``export_screenshot``); what changes with every run or says nothing (ids, web fonts, window
ornaments) is taken out, so that a file is small and a difference is a difference on the screen.
pytest-textual-snapshot pins syrupy 4.8, which does not work with pytest 9.
"""

import os
import re
from pathlib import Path
from typing import Any

from textual.app import App

FOLDER = Path(__file__).parent.parent / "tui" / "snapshots"


def drawn(app: App[Any], name: str) -> None:
    """Fail where the screen is not the one in ``name``.svg; the new one is left beside the test's output."""
    found, path = normalised(app.export_screenshot(simplify=True)), FOLDER / f"{name}.svg"
    if os.environ.get("OVERDECK_SNAPSHOTS") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(found)
        return
    wanted = path.read_text() if path.exists() else ""
    if found != wanted:
        before, now = text_of(wanted), text_of(found)
        lines = [f"  was {a!r}\n  is  {b!r}" for a, b in zip(before, now, strict=False) if a != b]
        told = "\n".join(lines) or "  the texts are the same, colours or places are not"
        raise AssertionError(
            f"the screen is not {path.name}:\n{told}\nlook at it and type: OVERDECK_SNAPSHOTS=write pytest {name}"
        )


def normalised(svg: str) -> str:
    """The drawing alone, a line an element."""
    svg = re.sub(r"terminal-\d+-", "", svg)
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S)
    svg = re.sub(r"<defs>.*?</defs>", "", svg, flags=re.S)
    svg = re.sub(r' clip-path="[^"]*"| textLength="[^"]*"| shape-rendering="[^"]*"', "", svg)
    svg = re.sub(r'<rect fill="none"[^>]*/>|<circle[^>]*/>|<!--.*?-->', "", svg, flags=re.S)
    return re.sub(r"\s*\n\s*|(?<=>)(?=<)", "\n", svg).strip() + "\n"


def text_of(svg: str) -> list[str]:
    """The lines of text of a normalised drawing."""
    lines: dict[str, str] = {}
    for y, text in re.findall(r'<text [^>]*y="([\d.]+)"[^>]*>(.*?)</text>', svg):
        lines[y] = lines.get(y, "") + text.replace("&#160;", " ")
    return list(lines.values())
