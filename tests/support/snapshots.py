"""Screens as SVG files in tests/tui/snapshots: compared, or written anew with OVERDECK_SNAPSHOTS=write.

Textual draws the SVG (``export_screenshot``); what changes with every run or says nothing (ids, web fonts, window
ornaments, one background in pieces) is taken out and a line of the screen is a line of the file: a file is small, and a
difference is a difference on the screen, to be read where it is.
pytest-textual-snapshot pins syrupy 4.8, which does not work with pytest 9.
"""

import html
import os
import re
from pathlib import Path
from typing import Any

from rich.cells import cell_len
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
    """The drawing alone, a line of the file for each line of the screen: its backgrounds, then its texts.

    A style is called by what it is, not by its number: one style more changes no other line.
    """
    head, _, drawing = re.sub(r"terminal-\d+-", "", svg).partition("</style>")
    box = re.search(r'viewBox="[^"]*"', head)
    names = {number: _name(style) for number, style in re.findall(r"\.(r\d+) \{(.*?)\}", head)}
    styles = {_name(style): style.strip() for _, style in re.findall(r"\.(r\d+) \{(.*?)\}", head)}
    lines: dict[int, list[str]] = {}
    used = set()
    for fill, x, y, width in re.findall(_BACKGROUND, drawing):
        line = lines.setdefault(round((float(y) - 1.5) / _LINE_PX), [])
        start, wide = x, float(width)
        if line and (before := re.fullmatch(_MERGED, line[-1])) and before[1] == fill:
            line.pop()
            start, wide = before[2], wide + float(before[3])
        line.append(f'<rect fill="{fill}" x="{start}" y="{y}" width="{wide:.1f}"/>')
    for number, x, y, text in re.findall(_TEXT, drawing):
        if plain := text.replace("&#160;", "\N{NO-BREAK SPACE}").rstrip():
            used.add(names[number])
            line = lines.setdefault(round((float(y) - 20) / _LINE_PX), [])
            line.append(f'<text class="{names[number]}" x="{x}" y="{y}">{plain}</text>')
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {box[0] if box else ""}>',
            "<style>",
            "text { font: 20px Fira Code, monospace } rect { height: 24.65px; shape-rendering: crispEdges }",
            *(f".{name} {{ {styles[name]} }}" for name in sorted(used)),
            "</style>",
            *("".join(lines[place]) for place in sorted(lines)),
            "</svg>",
            "",
        ]
    )


_CELL_PX, _LINE_PX = 12.2, 24.4
_BACKGROUND = r'<rect fill="([^"]*)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="24.65"'
_MERGED = r'<rect fill="([^"]*)" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"/>'
_TEXT = r'<text class="(r\d+)" x="([\d.]+)" y="([\d.]+)"[^>]*>(.*?)</text>'


def _name(style: str) -> str:
    """``fill: #e4e4e4;font-weight: bold`` is ``e4e4e4-bold``."""
    return "c" + "-".join(
        re.sub(r"[^\w-]", "", part.partition(":")[2]) for part in style.split(";") if part.strip()
    )


def text_of(svg: str) -> list[str]:
    """The lines of text of a normalised drawing, each text at its column."""
    lines: dict[str, str] = {}
    for x, y, text in re.findall(r'<text [^>]*x="([\d.]+)" y="([\d.]+)"[^>]*>(.*?)</text>', svg):
        line = lines.get(y, "")
        plain = html.unescape(text).replace("\N{NO-BREAK SPACE}", " ")
        lines[y] = line + " " * (round(float(x) / _CELL_PX) - cell_len(line)) + plain
    return list(lines.values())
