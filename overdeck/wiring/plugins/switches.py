"""A plugin's name in the text of the client's JSON files: forgotten, or blocked; no other byte changed."""

import json
from collections.abc import Callable
from typing import Any

from overdeck.wiring import splice
from overdeck.wiring.entries import Refused
from overdeck.wiring.jsonspans import Item, JsonError, Node, line_of, scan
from overdeck.wiring.plugins.ledger import SWITCHES

Edit = Callable[[str], str]


def is_on(text: str, plugin: str) -> bool:
    """Whether a settings file's text switches the plugin on: with true, and nothing else (measured). Raises Refused."""
    tables = _root(text).named(SWITCHES)
    return any(item.node.value is True for table in tables for item in table.node.named(plugin))


def forget_switch(text: str, plugin: str) -> str:
    """A settings file's text without any word on the plugin, on or off.

    Not even ``false`` is left: what ``enabledPlugins`` names, Claude Code 2.1.197 writes back into
    ``installed_plugins.json`` when it starts, and what no file names it does not start (both measured).
    """
    while place := _member(_root(text).named(SWITCHES), plugin):
        text = splice.remove(text, *place)
    return text


def forget_installed(text: str, plugin: str) -> str:
    """``installed_plugins.json`` without the plugin."""
    while place := _member(_root(text).named("plugins"), plugin):
        text = splice.remove(text, *place)
    return text


def forget_known(text: str, plugin: str) -> str:
    """``.claude.json`` without the plugin in any table about plugins, its own and each project's.

    A table is about plugins where its key says so.
    """
    while True:
        root = _root(text)
        tables = [root, *(project.node for item in root.named("projects") for project in item.node.items)]
        about = [item for table in tables for item in table.items if "plugin" in (item.key or "").lower()]
        place = next((found for item in about if (found := _mention(item.node, plugin))), None)
        if place is None:
            return text
        text = splice.remove(text, *place)


def block(text: str, plugin: str, entry: dict[str, Any]) -> str:
    """``blocklist.json`` with ``entry`` for the plugin, where it has none."""
    root = _root(text)
    lists = root.named("plugins")
    style = splice.style_of(text, root)
    if not lists:
        return splice.append(text, style, root, [entry], key="plugins")
    if lists[-1].node.kind != "array":
        raise Refused("plugins is not a list")
    if any(
        isinstance(item.node.value, dict) and item.node.value.get("plugin") == plugin
        for item in lists[-1].node.items
    ):
        return text
    return splice.append(text, style, lists[-1].node, entry)


def mentions(text: str, plugin: str) -> bool:
    """Whether the text names the plugin, JSON escapes looked through where it is JSON."""
    if plugin in text:
        return True
    try:
        return plugin in json.dumps(json.loads(text), ensure_ascii=False)
    except (ValueError, RecursionError):
        return False


def _member(tables: list[Item], plugin: str) -> tuple[Node, int] | None:
    for table in tables:
        for index, item in enumerate(table.node.items):
            if item.key == plugin:
                return table.node, index
    return None


def _mention(node: Node, plugin: str) -> tuple[Node, int] | None:
    """The first member called ``plugin``, or list element that is it, anywhere inside."""
    for index, item in enumerate(node.items):
        if item.key == plugin or (item.key is None and item.node.value == plugin):
            return node, index
        if found := _mention(item.node, plugin):
            return found
    return None


def _root(text: str) -> Node:
    try:
        root = scan(text)
    except JsonError as error:
        raise Refused(f"it is not JSON: {error}, line {line_of(text, error.at)}") from None
    if root.kind != "object":
        raise Refused("the top level is not an object")
    return root
