"""Adding, replacing and removing one item of a JSON text, every other byte left as it is.

``remove`` undoes ``append`` exactly: a comma goes right behind the item before, and an empty container keeps
the blanks it had. New text takes its line ends, indentation and shape from what stands around it.
"""

import json
from typing import Any, NamedTuple

from overdeck.wiring.jsonspans import Node


class Style(NamedTuple):
    """How a document is laid out: its line end, one step of indentation, and whether it has lines at all."""

    newline: str
    unit: str
    lines: bool


def style_of(text: str, root: Node) -> Style:
    """The style of a document; two blanks and line feeds where it shows none."""
    newline = "\r\n" if "\r\n" in text else "\r" if "\r" in text and "\n" not in text else "\n"
    unit = "  "
    if root.items:
        before = text[root.start + 1 : root.items[0].start]
        indent = _after_line_end(before)
        if indent and _has_lines(before):
            unit = indent
    return Style(newline, unit, not root.items or _has_lines(text[root.start : root.end]))


def append(text: str, style: Style, container: Node, value: Any, *, key: str | None = None) -> str:
    """``text`` with one more item at the end of ``container``: a member called ``key`` for an object."""
    head = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
    if container.items:
        at = len(container.items) - 1
        last = container.items[at]
        lines, indent = _layout(text, container, at)
        between = style.newline + indent if _starts_line(text, container, at) else " "
        new = "," + between + head + _render(value, style, indent if lines else None)
        return text[: last.end] + new + text[last.end :]
    blank = text[container.start + 1 : container.end - 1]
    outer = _line_indent(text, container.start)
    indent = outer + style.unit
    if blank:
        # `remove` knows by the item touching the bracket that these blanks were there before
        new = head + _render(value, style, indent if style.lines else None)
    elif style.lines:
        new = style.newline + indent + head + _render(value, style, indent) + style.newline + outer
    else:
        new = head + _render(value, style, None)
    return text[: container.start + 1] + new + text[container.start + 1 :]


def remove(text: str, container: Node, index: int) -> str:
    """``text`` without the item at ``index`` of ``container``, and without the comma it needed."""
    items = container.items
    item = items[index]
    if index > 0:
        return text[: items[index - 1].end] + text[item.end :]
    if len(items) > 1:
        return text[: item.start] + text[items[1].start :]
    touches = item.start == container.start + 1
    return text[: container.start + 1] + text[item.end if touches else container.end - 1 :]


def replace(text: str, style: Style, container: Node, index: int, value: Any) -> str:
    """``text`` with the value of one item of ``container`` replaced, laid out as the old one was."""
    node = container.items[index].node
    lines, indent = _layout(text, container, index)
    return text[: node.start] + _render(value, style, indent if lines else None) + text[node.end :]


def _layout(text: str, container: Node, index: int) -> tuple[bool, str]:
    """Whether an item like this one is written on several lines, and the indentation of its first."""
    item = container.items[index]
    alike = item.key is not None or not item.node.items  # a one-line group is followed by a one-line group
    lines = _has_lines(text[item.start : item.end]) or (_starts_line(text, container, index) and alike)
    return lines, _line_indent(text, item.start)


def _starts_line(text: str, container: Node, index: int) -> bool:
    before = container.items[index - 1].end if index else container.start + 1
    return _has_lines(text[before : container.items[index].start])


def _render(value: Any, style: Style, indent: str | None) -> str:
    """JSON on one line (``indent`` None), or on lines whose first is already indented."""
    if indent is None:
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False, indent=style.unit).replace("\n", style.newline + indent)


def _line_indent(text: str, at: int) -> str:
    """The blanks that the line of ``at`` begins with."""
    begin = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    end = begin
    while end < at and text[end] in " \t":
        end += 1
    return text[begin:end]


def _after_line_end(blank: str) -> str:
    return blank[max(blank.rfind("\n"), blank.rfind("\r")) + 1 :]


def _has_lines(text: str) -> bool:
    return "\n" in text or "\r" in text
